"""Every published vocabulary counts the corpora as its reference does.

This is of a part of each corpus: ``python tools/whole_corpora.py`` counts them whole.
"""

from __future__ import annotations

import pytest

from tools.whole_corpora import VOCABULARIES, read_corpora

#: The parts, in characters: one of all text, as one, and where it begins.
PART, AT = 12_000, 300_000


@pytest.mark.sweep
@pytest.mark.parametrize("name", VOCABULARIES)
def test_corpora_are_counted_as_by_the_reference(name: str) -> None:
    both = VOCABULARIES[name]()
    corpora = read_corpora()
    texts = {corpus: text[min(AT, len(text) // 2) :][:PART] for corpus, text in corpora.items()}
    ours = {corpus: both.ours(text) for corpus, text in texts.items()}
    assert ours == {corpus: both.theirs(text) for corpus, text in texts.items()}
