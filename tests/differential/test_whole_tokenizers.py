"""Published tokenizers of each kind against tokenizers: fields, decoded text, and when saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import compat_bpe
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.pipeline.tokenized import Truncation
from compat_bpe.save import save_tokenizer_json
from compat_bpe.unicode.surrogates import repair
from tests.differential.tokenized import fields
from tests.examples import scaled
from tests.strategies import texts as any_texts
from tools.reference_tokenizers import reference_tokenizer

#: A small one of each kind, and in a sweep all others.
NAMES = ["bert_uncased", "kyoto_unigram", "xlnet_like"]
LARGE = [
    "clip",
    "llama_2",
    "mistral_v3",
    "albert_like",
    "llama_2_first",
    "mistral_v1",
    "t5_like",
    "xlm_r",
    "xlm_r_metaspace",
]
TEXTS = [
    "Hello, world! It isn't what you've seen , do not worry . é 東京 2, 😀",
    " two  spaces\n\n\tand a tab ",
    "",
    "<s> [CLS]</s><pad> [MASK] <unk> <0x41>",
    "\u1e69\u0323\u0307 ﬁ Ⅷ \u3000 ½ e\u0301",
]
texts = st.one_of(any_texts.map(repair), st.sampled_from(TEXTS))


def both(path: Path) -> tuple[Tokenizer, Any]:
    ours = compat_bpe.load(path)
    assert isinstance(ours, Tokenizer)
    return ours, tokenizers.Tokenizer.from_file(str(path))


def check(ours: Tokenizer, theirs: Any, first: str, second: str | None) -> None:
    for add in (False, True):
        expected = theirs.encode(first, second, add_special_tokens=add)
        found = ours.encode_with_offsets(
            first, second, allowed_special="all", add_special_tokens=add
        )
        assert fields(found) == fields(expected)
        ids = ours.encode(first, second, allowed_special="all", add_special_tokens=add)
        assert ids == expected.ids
        assert [ours.id_to_token(number) for number in ids] == list(map(theirs.id_to_token, ids))
        for skip in (False, True):
            expected_text = theirs.decode(ids, skip_special_tokens=skip)
            assert ours.decode(ids, skip_special_tokens=skip) == expected_text


@pytest.mark.hypothesis
@pytest.mark.parametrize(
    "name", [*NAMES, *(pytest.param(name, marks=pytest.mark.sweep) for name in LARGE)]
)
def test_published_tokenizer(name: str, tmp_path: Path) -> None:
    ours, theirs = both(reference_tokenizer(name))

    @settings(max_examples=scaled(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(texts, st.one_of(st.none(), texts))
    def run(first: str, second: str | None) -> None:
        check(ours, theirs, first, second)

    for first in TEXTS:
        for second in (None, TEXTS[0]):
            check(ours, theirs, first, second)
    run()
    whole = [fields(theirs.encode(text)) for text in TEXTS]
    theirs.enable_truncation(12, stride=2)
    expected = theirs.encode(TEXTS[0], TEXTS[1])
    found = ours.encode_with_offsets(
        TEXTS[0],
        TEXTS[1],
        allowed_special="all",
        add_special_tokens=True,
        truncation=Truncation(12, stride=2),
    )
    assert fields(found) == fields(expected)
    path = tmp_path / "tokenizer.json"
    save_tokenizer_json(ours, path)
    saved = both(path)
    for first in TEXTS:
        check(*saved, first, TEXTS[0])
    assert [fields(saved[1].encode(text)) for text in TEXTS] == whole
