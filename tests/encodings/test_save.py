"""What is saved is read back the same, and what cannot be saved leaves everything as it was."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding, load, load_gpt2
from compat_bpe.encodings.sentencepiece import SentencePiece
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.gpt2 import format_vocab_bpe
from compat_bpe.formats.sentencepiece import SentencePieceModel, sentencepiece_bytes
from compat_bpe.formats.tiktoken import format_ranks, read_ranks
from compat_bpe.formats.tokenizer_bpe import RankedModel
from compat_bpe.pipeline.byte_level import BYTE_TO_UNICODE
from compat_bpe.pipeline.models.sentencepiece.base import NORMAL, UNKNOWN
from compat_bpe.save import save_gpt2, save_sentencepiece, save_tiktoken, save_tokenizer_json
from compat_bpe.train import SentencePieceSettings, train
from compat_bpe.train.sentencepiece.trainer import save_trained_sentencepiece
from compat_bpe.unicode.surrogates import repair
from tests.examples import scaled
from tests.strategies import texts
from tests.tokenizer_files import load_json

Save = Callable[[Encoding, Path], None]

TEXT = (
    "Hello wörld, it's 12345 字 😀\n\n  def f(x): pass<|endoftext|> <｜User｜>hi<think>"
    "<|fim_prefix|>\u200b\x00 don't STOP'LL <s> abc abcabc"
)
LARGE = ["cl100k_base", "deepseek_v4"]
#: One, and in a sweep one of each kind.
SHIPPED = ["gpt2", *(pytest.param(name, marks=pytest.mark.sweep) for name in LARGE)]
BYTES = {bytes([byte]): number for number, byte in enumerate(BYTE_TO_UNICODE)}
RANKS = {**BYTES, b"ab": 256, b"abc": 257, b" ab": 258, b"bc": 259}


def small(
    ranks: dict[bytes, int] = RANKS,
    special: dict[str, int] | None = None,
    pattern: str = r" ?\p{L}+|\s|[^\s\p{L}]",
) -> Encoding:
    return Encoding(
        "small", pat_str=pattern, mergeable_ranks=ranks, special_tokens=dict(special or {})
    )


SMALL = {
    "plain": small(),
    "numbered on": small(RANKS, {"<s>": 260, "ab ": 261}),
    "holes": small({**BYTES, b"ab": 300, b"abc": 302}, {"<s>": 301, "ab ": 1000}),
    "leaves out": small(RANKS, {"<s>": 260}, r"\p{L}+|\d"),
    "lookahead": small(pattern=r"\p{Lu}?\p{Ll}+|\s+(?!\S)|\s+|(?i:'s|'ll)|\p{N}{1,3}|."),
    "folds": small(pattern=r"(?i:ss|'(?:s))|(?i:f)i|\p{L}|\s+|."),
    "before its parts": small({**BYTES, b"abc": 256, b"ab": 257, b"bcd": 258, b"cd": 259}),
    "not trained": small({**BYTES, b"abcd": 256, b"ab": 257}),
}
HARD_OF_SMALL = st.text("abcd \n'sLé1<>ßﬁ", max_size=40)


def named(name: str) -> Encoding:
    return SMALL[name] if name in SMALL else get_encoding(name)


def ids(enc: Encoding, text: str) -> list[int]:
    return enc.encode(text, allowed_special="all")


@pytest.mark.sweep
@pytest.mark.hypothesis
@pytest.mark.parametrize("name", [*SHIPPED, *SMALL])
def test_tokenizer_json_is_read_back(tmp_path: Path, name: str) -> None:
    """By this package, by tokenizers, and as a rank file; of large files each is read once."""
    enc, path = named(name), tmp_path / "tokenizer.json"
    save_tokenizer_json(enc, path)
    assert list(tmp_path.iterdir()) == [path]
    read = load(path)
    assert isinstance(read, Tokenizer)
    assert ids(read, TEXT) == ids(enc, TEXT)
    assert read.encode_ordinary(TEXT) == enc.encode_ordinary(TEXT)
    assert read.decode(ids(read, TEXT)) == enc.decode(ids(enc, TEXT))
    assert read._special_tokens == enc._special_tokens
    assert read.n_vocab == enc.n_vocab
    if name in SMALL:
        save_tokenizer_json(read, tmp_path / "again.json")
        assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
    elif name == "deepseek_v4":
        save_tiktoken(read, tmp_path / "again.tiktoken")
        assert read_ranks(tmp_path / "again.tiktoken") == enc.core.encoder
    reference = pytest.importorskip("tokenizers").Tokenizer.from_file(str(path))

    @settings(max_examples=scaled(20))
    @given(text=texts | HARD_OF_SMALL)
    def tokenizers_gives_the_same_ids(text: str) -> None:
        text = repair(text)
        found = reference.encode(text, add_special_tokens=False).ids
        assert found == ids(enc, text)
        assert found == ids(read, text)

    tokenizers_gives_the_same_ids()


@pytest.mark.parametrize("name", ["gpt2", *SMALL])
def test_rank_file_is_read_back(tmp_path: Path, name: str) -> None:
    enc, path = named(name), tmp_path / "mine.tiktoken"
    save_tiktoken(enc, path)
    read = load(path, pattern=enc._pat_str, special_tokens=enc._special_tokens)
    assert read._mergeable_ranks == enc._mergeable_ranks
    assert ids(read, TEXT) == ids(enc, TEXT)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "name", [pytest.param("gpt2", marks=pytest.mark.sweep), "plain", "numbered on"]
)
def test_gpt2_files_are_read_back(tmp_path: Path, name: str) -> None:
    enc = named(name)
    paths = tmp_path / "encoder.json", tmp_path / "vocab.bpe"
    save_gpt2(enc, *paths)
    read = load_gpt2(*paths, pattern=enc._pat_str, special_tokens=enc._special_tokens)
    assert read._mergeable_ranks == enc._mergeable_ranks
    assert ids(read, TEXT) == ids(enc, TEXT)
    assert sorted(tmp_path.iterdir()) == sorted(paths)


def test_gpt2_files_are_recognised_in_a_folder(
    tmp_path: Path, gpt2_files: tuple[Path, Path]
) -> None:
    """Also when, as in GPT-2, one of the tokens is called "model", and one "version"."""
    enc = get_encoding("gpt2")
    for file, name in zip(gpt2_files, ("vocab.json", "merges.txt")):
        shutil.copy(file, tmp_path / name)
    read = load(tmp_path)
    assert isinstance(read, Tokenizer)
    assert ids(read, TEXT) == ids(enc, TEXT)


def merged_by_list(folder: Path) -> Encoding:
    """A tokenizer whose list of merges no ranks can stand for."""
    names = [*BYTE_TO_UNICODE.values(), "ab", "bc", "abc"]
    vocabulary = {name: number for number, name in enumerate(names)}
    merges = "#version: 0.2\na b\nb c\na bc\n"
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "merges.txt").write_text(merges)
    return load(folder)


def test_list_of_merges_is_kept(tmp_path: Path) -> None:
    (tmp_path / "from").mkdir()
    enc = merged_by_list(tmp_path / "from")
    assert enc.encode("abc bc") == [256, 66, 220, 257]
    save_tokenizer_json(enc, tmp_path / "tokenizer.json")
    save_gpt2(enc, tmp_path / "vocab.json", tmp_path / "merges.txt")
    assert load(tmp_path / "tokenizer.json").encode("abc bc") == [256, 66, 220, 257]
    assert load(tmp_path / "vocab.json").encode("abc bc") == [256, 66, 220, 257]
    tokenizers = pytest.importorskip("tokenizers")
    reference = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert reference.encode("abc bc").ids == [256, 66, 220, 257]


def of_characters(folder: Path) -> Any:
    """A BPE over characters."""
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}
    return load_json(folder, {"version": "1.0", "added_tokens": [], "model": model})


def of_sentencepiece(_: Path) -> Encoding:
    """A model of SentencePiece."""
    types = bytes([UNKNOWN, NORMAL])
    return SentencePiece("small", SentencePieceModel(["<unk>", "a"], [0.0, -1.0], types))


def save_pair(enc: Encoding, path: Path) -> None:
    save_gpt2(enc, path, path.with_name("other"))


@pytest.mark.parametrize(
    ("save", "make", "reason"),
    [
        (save_tiktoken, merged_by_list, "merging by rank does not give"),
        (save_pair, lambda _: small({**BYTES, b"abc": 256}), "no merge makes the token b'abc'"),
        (save_pair, lambda _: small(RANKS, {"ab": 300}), "written the same"),
        (save_tokenizer_json, lambda _: small(RANKS, {"<s>": 9, "<t>": 9}), "the same id"),
        (save_tokenizer_json, lambda _: small(RANKS, {"<s>": 259}), "the id of an ordinary one"),
        (save_tokenizer_json, lambda _: small(RANKS, {"ab": 300}), "is also an ordinary token"),
        # That is the id that "ab" would get by itself, were it not an ordinary token.
        (save_tokenizer_json, lambda _: small(RANKS, {"ab": 260}), "is also an ordinary token"),
        (save_tokenizer_json, lambda _: small({**RANKS, b"": 300}), "empty token"),
        (save_tokenizer_json, lambda _: small(pattern="a*"), "may match the empty text"),
        (save_tokenizer_json, lambda _: small(RANKS, {"\ud800": 300}), "surrogate"),
        (save_pair, lambda _: small(RANKS, {"\ud800": 300}), "surrogate"),
        (save_tiktoken, lambda _: get_encoding("words"), "is not byte-level BPE"),
        (save_pair, lambda _: get_encoding("characters"), "is not byte-level BPE"),
        (save_tokenizer_json, lambda _: get_encoding("categories"), "is not byte-level BPE"),
        (save_tiktoken, of_characters, "is not byte-level BPE"),
        (save_pair, of_characters, "is not byte-level BPE"),
        (save_tiktoken, of_sentencepiece, "is not byte-level BPE"),
        (save_pair, of_sentencepiece, "is not byte-level BPE"),
        (save_tokenizer_json, of_sentencepiece, "save_sentencepiece writes it"),
        (save_sentencepiece, lambda _: small(), "is not a SentencePiece model"),
    ],
)
def test_what_a_format_cannot_hold_leaves_files_as_they_were(
    tmp_path: Path, save: Save, make: Callable[[Path], Encoding], reason: str
) -> None:
    (tmp_path / "from").mkdir()
    enc = make(tmp_path / "from")
    folder = tmp_path / "to"
    folder.mkdir()
    for name in ("file", "other"):
        (folder / name).write_text("as it was")
    with pytest.raises(ValueError, match=reason):
        save(enc, folder / "file")
    found = {file.name: file.read_text() for file in folder.iterdir()}
    assert found == dict.fromkeys(["file", "other"], "as it was")


def test_files_that_are_there_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text("x" * 100_000)
    save_tokenizer_json(small(), path)
    assert ids(load(path), "abc") == [257]


@pytest.mark.parametrize("save", [save_tiktoken, save_tokenizer_json, save_pair])
def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path, save: Save) -> None:
    with pytest.raises(FileNotFoundError):
        save(small(), tmp_path / "nowhere" / "file")
    (tmp_path / "file").mkdir()  # in the way
    with pytest.raises(OSError, match="file"):
        save(small(), tmp_path / "file")
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def like_a_shader() -> Encoding:
    """Return a vocabulary with a merge whose line in a list of merges looks like its heading."""
    ranks = dict(BYTES)
    for end in range(2, len(b"#versions") + 1):
        ranks[b"#versions"[:end]] = len(ranks)
    return small(ranks, pattern=r"#?\p{L}+|\s|[^\s\p{L}]")


@pytest.mark.parametrize("names", [("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe")])
def test_a_merge_like_a_heading_is_in_no_list_of_merges(
    tmp_path: Path, names: tuple[str, str]
) -> None:
    ids, merges = (tmp_path / name for name in names)
    with pytest.raises(ValueError, match=rf"{names[1]}: .*'#version' and 's'.* heading"):
        save_gpt2(like_a_shader(), ids, merges)
    assert list(tmp_path.iterdir()) == []
    save_tiktoken(like_a_shader(), tmp_path / "a.tiktoken")
    save_tokenizer_json(like_a_shader(), tmp_path / "tokenizer.json")
    expected = like_a_shader().encode("#version\n#versions")
    pattern = like_a_shader().pattern
    assert load(tmp_path / "a.tiktoken", pattern=pattern).encode("#version\n#versions") == expected
    assert load(tmp_path / "tokenizer.json").encode("#version\n#versions") == expected
    # So it is with a list that was read, too.
    with pytest.raises(ValueError, match="heading"):
        save_gpt2(load(tmp_path / "tokenizer.json"), ids, merges)


def test_no_merges_by_dropout_are_in_no_list(tmp_path: Path) -> None:
    save_tokenizer_json(small(), tmp_path / "tokenizer.json")
    file = json.loads((tmp_path / "tokenizer.json").read_bytes())
    file["model"] |= {"dropout": 1.0, "ignore_merges": False}
    (tmp_path / "tokenizer.json").write_text(json.dumps(file))
    enc = load(tmp_path / "tokenizer.json")
    assert enc.encode("ab") != small().encode("ab")
    with pytest.raises(ValueError, match=r"merges.txt: .*dropout"):
        save_gpt2(enc, tmp_path / "vocab.json", tmp_path / "merges.txt")
    save_tokenizer_json(enc, tmp_path / "again.json")
    assert load(tmp_path / "again.json").encode("abc") == enc.encode("abc")
    save_tiktoken(enc, tmp_path / "a.tiktoken")
    assert load(tmp_path / "a.tiktoken", pattern=small().pattern).encode("abc") == enc.encode("abc")


def test_the_empty_token_is_in_a_rank_file_as_whispers_have_it(tmp_path: Path) -> None:
    enc = small({**RANKS, b"": 260})
    save_tiktoken(enc, tmp_path / "a.tiktoken")
    assert (tmp_path / "a.tiktoken").read_bytes().endswith(b"\n= 260\n")
    assert read_ranks(tmp_path / "a.tiktoken") == {**RANKS, b"": 260}


@pytest.mark.parametrize("save", [save_tiktoken, save_pair, save_tokenizer_json])
def test_a_file_that_gives_other_ids_is_not_put_in_place(
    tmp_path: Path, save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the writer does wrong: here each leaves out or changes the last merge."""

    def last_merge_lost(ranks: dict[bytes, int]) -> bytes:
        return format_vocab_bpe(ranks).rsplit(b"\n", 2)[0] + b"\n"

    def last_tokens_changed(ranks: dict[bytes, int]) -> bytes:
        return format_ranks({**ranks, b"bc": 258, b" ab": 259})

    def unmerged(model: RankedModel, vocabulary: dict[str, int]) -> dict[str, Any]:
        return {**model.listed().written(vocabulary), "merges": []}

    monkeypatch.setattr("compat_bpe.encodings.save.format_vocab_bpe", last_merge_lost)
    monkeypatch.setattr("compat_bpe.encodings.save.format_ranks", last_tokens_changed)
    monkeypatch.setattr(RankedModel, "written", unmerged)
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(
        ValueError, match=r"(file|other): not written, since .* would not get the ids"
    ):
        save(small(), path)
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("file", b"old")]


def test_a_model_that_gives_other_ids_is_not_put_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reversed_scores(model: SentencePieceModel) -> bytes:
        return sentencepiece_bytes(model._replace(scores=[-score for score in model.scores]))

    enc = train(["hug pug hugs", "hug pun bun"] * 9, SentencePieceSettings(24))
    writer = "compat_bpe.encodings.save.sentencepiece_bytes"
    monkeypatch.setattr(writer, reversed_scores)
    with pytest.raises(ValueError, match=r"a\.model: not written, since .* would not get the ids"):
        save_sentencepiece(enc, tmp_path / "a.model")
    with pytest.raises(ValueError, match=r"b\.model: not written, since .* would not get the ids"):
        save_trained_sentencepiece(enc, tmp_path / "b")
    assert list(tmp_path.iterdir()) == []
