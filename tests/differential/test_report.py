"""Figures of a report, beside plain counting with tiktoken and regex."""

from __future__ import annotations

from collections import Counter

import regex

from compat_bpe.report.figures import Sizes, TokenCounts
from compat_bpe.report.measure import report
from tests.differential.reference import Pair

TEXTS = {
    "en": ["The cat sat on the mat, didn't it?\r\n\r\n  Yes. " * 3, "x = [1, 22, 333, 4444]\n\n\n"],
    "more": [
        "Привет, мир! Γειά σου",
        "你好，世界。今日は良い天気です。",
        "สวัสดีชาวโลก नमस्ते",
        "😀 naïve \u00a0 ﬁ",
    ],
    "special": ["<|endoftext|> is text"],
}


def test_report(shipped: Pair) -> None:
    found = report({"it": shipped.ours}, TEXTS, terms=["tokenization"])
    one = found.encodings["it"]
    uses: Counter[int] = Counter()
    for group, texts in TEXTS.items():
        joined = "".join(texts)
        assert found.groups[group] == Sizes(
            len(texts),
            len(joined.encode()),
            len(joined),
            sum(len(regex.findall(r"\S+", text)) for text in texts),
        )
        chunks = [chunk for text in texts for chunk in regex.findall(shipped.theirs._pat_str, text)]
        tokens = [shipped.theirs._encode_single_piece(chunk) for chunk in chunks]
        assert one.groups[group] == TokenCounts(
            sum(len(shipped.theirs.encode_ordinary(text)) for text in texts),
            len(chunks),
            sum(len(ids) == 1 for ids in tokens),
        )
        for text in texts:
            uses.update(shipped.theirs.encode_ordinary(text))
    assert {use.id: use.times for use in one.uses} == uses
    assert all(shipped.theirs.decode_single_token_bytes(use.id) == use.token for use in one.uses)
    assert one.mergeable == len(shipped.theirs._mergeable_ranks)
    assert one.unused == one.mergeable - len(uses)
    [term] = one.terms
    ids = shipped.theirs.encode_ordinary(" tokenization")
    assert term.after_space == shipped.theirs.decode_tokens_bytes(ids)
