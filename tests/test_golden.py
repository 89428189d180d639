"""The ids that the real libraries gave for hard texts: all that the portable tests have of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.portable.place import Place
from tests.portable.run import Run

FIXTURES = Path(__file__).parents[1] / "fixtures"


@pytest.mark.parametrize(
    ("name", "least"),
    [("golden.encodings", 3_600), ("golden.tokenizers", 150), ("golden.sentencepiece", 100)],
)
def test_ids_of_the_real_libraries(name: str, least: int, tmp_path: Path) -> None:
    run = Run(Place("compat_bpe", FIXTURES, tmp_path))
    run.test(name)
    assert run.failures == []
    assert run.checks >= least


def test_kinds_of_every_model() -> None:
    kinds = [json.loads(path.read_bytes()) for path in (FIXTURES / "kinds").glob("*.json")]
    assert {kind["tokenizer"]["model"]["type"] for kind in kinds} == {
        "BPE",
        "Unigram",
        "WordLevel",
        "WordPiece",
    }
