"""``load``: whatever a vocabulary is kept in, by file and by folder."""

from __future__ import annotations

import copy
import gzip
import json
import pickle
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import Encoding, get_encoding, list_encoding_names, load, load_tiktoken
from compat_bpe.encodings.published import PATTERNS
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.pipeline.byte_level import BYTE_TO_UNICODE
from compat_bpe.save import save_tiktoken, save_tokenizer_json
from tests.encodings.small_vocabularies import PATTERN, RANKS, SMALL, write_pair

GPT2_SMALL = Path(__file__).parents[2] / "fixtures" / "gpt2_small"
TEKKEN = {
    "config": {
        "pattern": PATTERN,
        "default_vocab_size": 260,
        "default_num_special_tokens": 2,
        "version": "v3",
    },
    "vocab": [
        {"rank": rank, "token_bytes": b64encode(token).decode()} for token, rank in RANKS.items()
    ],
}
#: "é" as one character and as "e" and an accent, of which only NFC makes the same.
ACCENTS = "\xe9", "e\u0301"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "My model"
    path.mkdir()
    return path


@pytest.mark.parametrize("by", ["file", "folder", "text"])
def test_tokenizer_json(folder: Path, by: str) -> None:
    save_tokenizer_json(SMALL, folder / "tokenizer.json")
    (folder / "vocab.json").write_text("damaged, but not looked at")
    path: Path | str = folder / "tokenizer.json" if by == "file" else folder
    if by == "text":
        path = str(folder)
    enc = load(path)
    assert isinstance(enc, Tokenizer)
    assert repr(enc) == "<Encoding 'My model'>"
    assert enc.encode("abc<s>", allowed_special="all") == [257, 258]
    assert load(path, name="other").name == "other"


@pytest.mark.parametrize("file", ["vocab.json", "merges.txt", ""])
def test_vocab_json_and_merges_txt(folder: Path, file: str) -> None:
    write_pair(folder)
    enc = load(folder / file)
    assert enc.name == "My model"
    assert enc.encode("abc 12", disallowed_special=()) == [257, 220, 16, 17]
    assert enc.encode("<s>a", allowed_special="all") == [258, 64]
    assert enc.decode([257, 258]) == "abc<s>"


def test_pair_of_files_with_a_name_in_front(folder: Path) -> None:
    write_pair(folder, None, "some-vocab.json", "some-merges.txt")
    (folder / "vocab.json").write_text("damaged, but not looked at")
    for name in ("some-vocab.json", "some-merges.txt"):
        assert load(folder / name).encode("abc") == [257]


@pytest.mark.parametrize("name", ["model", "version", "config", "vocab"])
def test_tokens_may_have_any_name(folder: Path, name: str) -> None:
    ids = {char: number for number, char in enumerate(BYTE_TO_UNICODE.values())}
    made = [name[:end] for end in range(2, len(name) + 1)]
    ids.update((token, number) for number, token in enumerate(made, 256))
    merges = [f"{token[:-1]} {token[-1]}\n" for token in made]
    (folder / "vocab.json").write_text(json.dumps(ids))
    (folder / "merges.txt").write_text("".join(merges))
    assert load(folder).encode(name) == [ids[name]]


@pytest.mark.parametrize("name", ["GPT2Tokenizer", "GPT2TokenizerFast", "CodeGenTokenizer"])
def test_class_that_splits_as_gpt2(folder: Path, name: str) -> None:
    write_pair(folder, {"tokenizer_class": name, "add_prefix_space": True})
    enc = load(folder)
    assert enc.encode("abc") == [220, 257]
    assert len({tuple(enc.encode(text)) for text in ACCENTS}) == 2


@pytest.mark.parametrize("name", ["Qwen2Tokenizer", "Qwen2TokenizerFast"])
def test_class_that_splits_as_qwen2(folder: Path, name: str) -> None:
    flags = dict.fromkeys(("normalized", "lstrip", "rstrip", "single_word"), False)
    tokens = {
        "259": {"content": "</s>", "special": True, **flags},
        "258": {"content": "<s>", "special": False, **flags},
    }
    write_pair(folder, {"tokenizer_class": name, "added_tokens_decoder": tokens})
    enc = load(folder)
    assert len({tuple(enc.encode(text)) for text in ACCENTS}) == 1
    assert enc.encode("abc<s>") == [257, 258]
    # The class itself has the other one.
    assert enc.special_tokens_set == {"</s>", "<|endoftext|>"}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ([], "must be an object, not a list"),
        ({"tokenizer_class": "LlamaTokenizer"}, "tokenizer_class: LlamaTokenizer is not supported"),
        ({"tokenizer_class": 1}, "tokenizer_class: must be a string, not an integer"),
        ({"add_prefix_space": "no"}, "add_prefix_space: must be true or false, not a string"),
        ({"added_tokens_decoder": []}, "added_tokens_decoder: must be an object, not a list"),
        ({"added_tokens_decoder": {"x": {}}}, "added_tokens_decoder: 'x' is not an id"),
        ({"added_tokens_decoder": {"9" * 5000: {}}}, "added_tokens_decoder: "),
        ({"added_tokens_decoder": {"1": 2}}, "added_tokens_decoder.1: must be an object, not an i"),
        ({"added_tokens_decoder": {"1": {"id": "x"}, "2": {}}}, ""),
    ],
)
def test_bad_configuration_is_refused(folder: Path, config: Any, message: str) -> None:
    write_pair(folder, config)
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        load(folder)
    start = folder / ("tokenizer_config.json: " + message if message else "")
    assert str(caught.value).startswith(str(start))


@pytest.mark.parametrize("file", ["encoder.json", "vocab.bpe", ""])
def test_encoder_json_and_vocab_bpe(file: str) -> None:
    enc = load(GPT2_SMALL / file)
    assert (enc.name, enc.encode("the"), enc.eot_token) == ("gpt2_small", [83, 258], 384)


def test_half_of_a_pair_says_what_is_missing(folder: Path) -> None:
    write_pair(folder)
    (folder / "merges.txt").rename(folder / "elsewhere")
    with pytest.raises(ValueError, match=r"vocab.json: .*merges.txt or vocab.bpe"):
        load(folder)


def test_rank_file_needs_a_pattern(folder: Path) -> None:
    for name in ("mine.tiktoken", "tokenizer.model"):
        save_tiktoken(SMALL, folder / name)
    reason = r"mine.tiktoken: a rank file does not say how text is .* gpt2, .*, llama3, .*\)"
    with pytest.raises(ValueError, match=reason):
        load(folder)
    enc = load(folder, pattern="gpt2", special_tokens={"<s>": 300})
    assert enc.name == "mine"
    assert enc._pat_str == get_encoding("gpt2")._pat_str
    assert enc.encode("abc<s>", allowed_special="all") == [257, 300]
    enc = load(folder / "tokenizer.model", pattern=PATTERN)
    assert (enc.name, enc._pat_str, enc._special_tokens) == ("My model", PATTERN, {})


@pytest.mark.parametrize("name", PATTERNS)
def test_pattern_by_name(folder: Path, name: str) -> None:
    path = folder / "tokenizer.model"
    save_tiktoken(SMALL, path)
    assert load(path, pattern=name)._pat_str == PATTERNS[name]
    if name in list_encoding_names():
        assert PATTERNS[name] == get_encoding(name)._pat_str


@pytest.mark.parametrize("name", ["llama-3", "Llama3", "deepseek_v3", "qwen2.5"])
def test_unknown_name_of_a_pattern_is_no_pattern(folder: Path, name: str) -> None:
    path = folder / "tokenizer.model"
    save_tiktoken(SMALL, path)
    for read in (load, load_tiktoken):
        with pytest.raises(ValueError, match=rf"unknown pattern '{name}'.*cl100k_base.*llama3"):
            read(path, pattern=name)


def test_shipped_vocabulary_is_recognised(folder: Path) -> None:
    shipped = get_encoding("cl100k_base")
    save_tiktoken(shipped, folder / "cl100k_base.tiktoken")
    (folder / "cl100k_base.tiktoken").rename(folder / "renamed.tiktoken")
    enc = load(folder)
    assert enc._pat_str == shipped._pat_str
    assert enc._special_tokens == shipped._special_tokens
    assert enc._mergeable_ranks == shipped._mergeable_ranks
    assert load(folder, special_tokens={}, name="x")._special_tokens == {}
    # What a program does to one of them is not done to the others.
    enc._special_tokens.clear()
    enc._mergeable_ranks.clear()
    assert load(folder).encode("<|endoftext|>", allowed_special="all") == [100257]


def test_name_tells_vocabularies_that_are_the_same_apart(folder: Path) -> None:
    for name in ("gpt2", "r50k_base"):
        path = folder / f"{name}.tiktoken"
        save_tiktoken(get_encoding("gpt2"), path)
        assert load(path).name == name
    with pytest.raises(ValueError, match=r"there are gpt2.tiktoken, r50k_base.tiktoken: name the"):
        load(folder)


@pytest.mark.parametrize("file", ["tekken.json", ""])
def test_tekken_json(folder: Path, file: str) -> None:
    (folder / "tekken.json").write_text(json.dumps(TEKKEN))
    assert load(folder / file).encode("abc<s>", allowed_special="all") == [259, 1]


def test_tekken_json_comes_before_a_tokenizer_json(folder: Path) -> None:
    (folder / "tekken.json").write_text(json.dumps(TEKKEN))
    for other in ("tokenizer.json", "tokenizer.model", "tokenizer.model.v7"):
        (folder / other).write_text("damaged, but not looked at")
    assert load(folder).encode("abc") == [259]


BERT = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nhello\n##lo\nhel\n!\n"


@pytest.mark.parametrize("file", ["vocab.txt", "", "renamed"])
def test_vocab_txt(folder: Path, file: str) -> None:
    (folder / "vocab.txt").write_text(BERT)
    if file == "renamed":
        (folder / "vocab.txt").rename(folder / file)
    enc = load(folder / file)
    assert isinstance(enc, Tokenizer)
    assert enc.name == "My model"
    assert enc.encode("Hello hello!") == [5, 5, 8]
    assert enc.encode("hello", add_special_tokens=True) == [2, 5, 3]
    assert enc.encode("hello[MASK]", allowed_special="all") == [5, 4]


def test_settings_beside_a_vocab_txt(folder: Path) -> None:
    (folder / "vocab.txt").write_text(BERT)
    config = {"tokenizer_class": "BertTokenizer", "do_lower_case": False}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    assert load(folder).encode("Hello hello") == [1, 5]


@pytest.mark.parametrize("name", ["bpe_simple_vocab_16e6.txt.gz", "clip.txt"])
def test_merges_of_clip(folder: Path, name: str) -> None:
    data = b'"bpe_simple_vocab_16e6.txt#version: 0.2\ni n\nt h\nth e</w>\n'
    packed = gzip.compress(data) if name.endswith("gz") else data
    (folder / name).write_bytes(packed)
    enc = load(folder / name if name == "clip.txt" else folder)
    assert enc.n_vocab == 512 + 3 + 2
    assert enc.encode("The in") == [514, 72, 77 + 256]


@pytest.mark.parametrize("name", ["vocab.txt", "bpe_simple_vocab_16e6.txt.gz"])
def test_no_pattern_for_files_that_say_it_themselves(folder: Path, name: str) -> None:
    data = BERT.encode() if name == "vocab.txt" else gzip.compress(b"i n\n", mtime=0)
    (folder / name).write_bytes(data)
    with pytest.raises(ValueError, match="it says itself how text is split"):
        load(folder, pattern="gpt2")
    with pytest.raises(ValueError, match="only a rank file is given special tokens"):
        load(folder, special_tokens={})


def test_vocab_json_without_merges_is_refused(folder: Path) -> None:
    # As of Wav2Vec2.
    (folder / "vocab.json").write_text(json.dumps({"<pad>": 0, "|": 1, "E": 2}))
    with pytest.raises(ValueError, match=r"vocab.json: .*merges.txt or vocab.bpe"):
        load(folder)


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("vocab.txt", b"", "line 1: the file ends without any token"),
        ("vocab.txt", b"\0\1", r"it has no \[UNK\]"),
        (
            "bpe_simple_vocab_16e6.txt.gz",
            gzip.compress(b"a b\n" * 99, mtime=0)[:-9],
            "damaged gzip",
        ),
        (
            "bpe_simple_vocab_16e6.txt.gz",
            gzip.compress(b"a b\n", mtime=0)[:9] + b"x" * 9,
            "damaged gzip",
        ),
        (
            "bpe_simple_vocab_16e6.txt.gz",
            gzip.compress(b'"bpe_simple_vocab_16e6.txt#version: 0.2\na b c\n', mtime=0),
            "line 2: expected the two p",
        ),
        (
            "bpe_simple_vocab_16e6.txt.gz",
            gzip.compress(b"a b\n" * 2, mtime=0),
            "make the same token",
        ),
        ("tokenizer.model", b"\n\x0e\n\x05<unk>\x15\0\0\0\0\x18\x02", "no piece may be in text"),
        ("other", b"\n\x0e\n\x05<unk>\x15\0\0\0\0\x18", "byte 1: a field is longer"),
        ("tokenizer.model", b"version https://git-lfs.github.com/spec/v1\noid", "Git LFS"),
        ("tokenizer.model", b"", "no piece is the unknown one"),
        ("tokenizer.json", b"version https://git-lfs.github.com/spec/v1\noid", "Git LFS"),
        ("tokenizer.json", b"", "no vocabulary of a kind known"),
        ("mine.tiktoken", b"", "line 1: the file ends without any token"),
        ("mine.tiktoken", b"!\xff 3\n", "line 1: "),
        ("tokenizer.json", b'{"a": 1, "b": "c"}', "neither a tokenizer.json nor a vocabulary"),
        ("other", b"\x89PNG\r\n\x1a\n", "no vocabulary of a kind known"),
    ],
)
def test_what_is_no_vocabulary_is_refused(
    folder: Path, name: str, data: bytes, reason: str
) -> None:
    path = folder / name
    path.write_bytes(data)
    with pytest.raises(ValueError, match=reason) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_nothing_to_read(folder: Path) -> None:
    with pytest.raises(ValueError, match="My model: no vocabulary is in it"):
        load(folder)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load(folder / "nowhere")


def test_a_pattern_is_for_files_that_do_not_say_how_text_is_split(folder: Path) -> None:
    save_tokenizer_json(SMALL, folder / "tokenizer.json")
    with pytest.raises(ValueError, match="it says itself how text is split"):
        load(folder, pattern="gpt2")
    for path in (folder, GPT2_SMALL):
        with pytest.raises(ValueError, match="only a rank file is given special tokens"):
            load(path, special_tokens={})


@pytest.mark.parametrize("pattern", ["cl100k_base", r"[a-z]+| "])
@pytest.mark.parametrize("names", [("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe")])
def test_a_pattern_for_a_vocabulary_and_its_merges(
    folder: Path, names: tuple[str, str], pattern: str
) -> None:
    write_pair(folder, {"tokenizer_class": "LlamaTokenizer"}, *names)
    written = PATTERNS.get(pattern, pattern)
    expected = Encoding("x", pat_str=written, mergeable_ranks=RANKS, special_tokens={})
    text = "ab 12345 don't  the\n\tthe abc"
    for path in (folder, *map(folder.joinpath, names)):
        found = load(path, pattern=pattern).encode_ordinary(text)
        assert found == expected.encode_ordinary(text)


def test_copies_of_a_tokenizer_encode_the_same(folder: Path) -> None:
    save_tokenizer_json(SMALL, folder / "tokenizer.json")
    enc = load(folder)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        twin = pickle.loads(pickle.dumps(enc, protocol))
        assert isinstance(twin, Tokenizer)
        assert (twin.name, twin.encode("abc"), twin.decode([257])) == (enc.name, [257], "abc")
    for twin in (copy.copy(enc), copy.deepcopy(enc)):
        assert twin.encode("abc<s>", allowed_special="all") == [257, 258]


def test_shipped_tokenizer_is_pickled_by_name() -> None:
    enc = get_encoding("deepseek_v3")
    data = pickle.dumps(enc)
    assert len(data) < 200
    for twin in (pickle.loads(data), copy.deepcopy(enc)):
        assert twin.encode("<｜User｜>hello") == [128803, 33310]
