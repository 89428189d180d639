"""Encodings read from files are those that ship."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compat_bpe import Encoding, get_encoding, load, load_gpt2, load_tiktoken
from compat_bpe.encodings.published import PATTERNS, PUBLISHED, load_ranks
from compat_bpe.formats.tiktoken import format_ranks
from compat_bpe.pipeline.byte_level import BYTE_TO_UNICODE

GPT2_SMALL = Path(__file__).parents[2] / "fixtures" / "gpt2_small"

TEXT = "Hello wörld, it's 12345 字 😀\n\n  def f(x): pass<|endoftext|>"


def same(a: Encoding, b: Encoding) -> None:
    assert a._mergeable_ranks == b._mergeable_ranks
    assert a._special_tokens == b._special_tokens
    assert a._pat_str == b._pat_str
    assert a.encode(TEXT, allowed_special="all") == b.encode(TEXT, allowed_special="all")


def test_gpt2_files(gpt2_files: tuple[Path, Path]) -> None:
    loaded = load_gpt2(*gpt2_files)
    assert loaded.name == "encoder"
    same(loaded, get_encoding("gpt2"))


@pytest.mark.parametrize("by_name", [True, False])
def test_rank_file(tmp_path: Path, by_name: bool) -> None:
    path = tmp_path / "mine.tiktoken"
    path.write_bytes(format_ranks(load_ranks("p50k_base")))
    published = PUBLISHED["p50k_edit"]
    loaded = load_tiktoken(
        path,
        pattern="p50k_edit" if by_name else published.pattern,
        special_tokens=published.special_tokens,
    )
    assert loaded.name == "mine"
    same(loaded, get_encoding("p50k_edit"))


def test_small_files_of_the_repository() -> None:
    folder = Path(__file__).parents[2] / "fixtures" / "gpt2_small"
    loaded = load_gpt2(folder / "encoder.json", folder / "vocab.bpe", name="small")
    assert repr(loaded) == "<Encoding 'small'>"
    assert loaded.decode(loaded.encode(TEXT, disallowed_special=())) == TEXT


def test_missing_files_say_which(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load_tiktoken(tmp_path / "nowhere", pattern="gpt2")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load_gpt2(tmp_path / "nowhere", tmp_path / "nowhere")


def pair(folder: Path, vocabulary: dict[str, int], merges: list[str]) -> Path:
    """Write vocab.json and merges.txt as ``save_model`` of tokenizers does, with nothing beside."""
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *merges, ""]))
    return folder


@pytest.mark.parametrize(
    ("tokens", "merges", "reason"),
    [
        # SentencePieceBPETokenizer, and BPE with WhitespaceSplit.
        (["<unk>", "▁", "a", "b", "▁a"], ["▁ a"], "of the 256 bytes"),
        (["a", "b", "ab"], ["a b"], "of the 256 bytes"),
        # One byte alone is missing, whose characters would be dropped.
        ([*sorted(set(BYTE_TO_UNICODE.values()) - {"Ġ"}), "ab"], ["a b"], r"1 of the .*'Ġ'\)"),
        # CharBPETokenizer: neither GPT-1, which lowercases, nor CLIP.
        (["<unk>", "A", "a</w>", "Aa</w>"], ["A a</w>"], "tokenizer_class"),
        (["<unk>", "a", "a</w>", "aa</w>"], ["a a</w>"], "tokenizer_class"),
    ],
)
def test_a_pair_of_another_library_is_not_taken_for_gpt2s(
    tmp_path: Path, tokens: list[str], merges: list[str], reason: str
) -> None:
    folder = pair(tmp_path, {token: number for number, token in enumerate(tokens)}, merges)
    for path in (folder, folder / "vocab.json", folder / "merges.txt"):
        with pytest.raises(ValueError, match=f"vocab.json and merges.txt: .*{reason}"):
            load(path)
    if "</w>" not in merges[0]:
        with pytest.raises(ValueError, match=reason):
            load(folder, pattern="gpt2")


def test_a_class_that_is_named_is_believed(tmp_path: Path) -> None:
    pair(tmp_path, {"a": 0, "b": 1, "ab": 2}, ["a b"])
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "GPT2Tokenizer"}')
    assert load(tmp_path).encode("abc ab") == [2, 2]


def test_a_cased_vocab_txt_is_not_lowercased_by_a_guess(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\nThe\n")
    with pytest.raises(ValueError, match=r"vocab.txt: .*'The'.* do_lower_case"):
        load(path)
    for lower, ids in (("true", [5, 5]), ("false", [6, 5])):
        (tmp_path / "tokenizer_config.json").write_text(f'{{"do_lower_case": {lower}}}')
        assert load(path).encode("The the") == ids


def test_each_file_of_two_pairs_goes_with_its_own(tmp_path: Path) -> None:
    bytes_ = {char: number for number, char in enumerate(BYTE_TO_UNICODE.values())}
    pair(tmp_path, {**bytes_, "ab": 256}, ["a b"])
    (tmp_path / "encoder.json").write_text(json.dumps({**bytes_, "cd": 256}))
    (tmp_path / "vocab.bpe").write_text("#version: 0.2\nc d\n")
    for name, text in (
        ("vocab.json", "ab"), ("merges.txt", "ab"), ("encoder.json", "cd"), ("vocab.bpe", "cd")
    ):  # fmt: skip
        assert load(tmp_path / name).encode(text) == [256], name


@pytest.mark.parametrize("name", PATTERNS)
def test_every_function_with_a_pattern_takes_its_name(tmp_path: Path, name: str) -> None:
    files = GPT2_SMALL / "encoder.json", GPT2_SMALL / "vocab.bpe"
    text = "Two words, 12345 字 and don't\n\n\u3000x"
    named, given = (load_gpt2(*files, pattern=one) for one in (name, PATTERNS[name]))
    assert named.encode(text) == given.encode(text) != []
    ranks = named._mergeable_ranks
    made = Encoding("mine", pat_str=name, mergeable_ranks=ranks, special_tokens={})
    assert made.encode(text) == named.encode(text)
    assert made.pattern == PATTERNS[name]


def test_a_name_of_no_pattern(tmp_path: Path) -> None:
    files = GPT2_SMALL / "encoder.json", GPT2_SMALL / "vocab.bpe"
    with pytest.raises(ValueError, match=r"'cl100k-base' \(did you mean 'cl100k_base'"):
        load_gpt2(*files, pattern="cl100k-base")
