"""``load``: whatever a vocabulary is kept in, by file and by folder; and what it imports."""

from __future__ import annotations

import copy
import gzip
import json
import pickle
import re
from base64 import b64encode
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import Encoding, get_encoding, list_encoding_names, load, load_gpt2, load_tiktoken
from compat_bpe.encodings.local_stores import recognise
from compat_bpe.encodings.published import PATTERNS, PUBLISHED, load_ranks
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.tiktoken import format_ranks
from compat_bpe.pipeline.byte_level import BYTE_TO_UNICODE
from compat_bpe.save import save_tiktoken, save_tokenizer_json
from tests.alone import run_alone
from tests.encodings.small_vocabularies import PATTERN, RANKS, SMALL, write_pair
from tests.formats.small_files import refusal
from tests.kinds import KINDS, kind_path

GPT2_SMALL = Path(__file__).parents[2] / "fixtures" / "gpt2_small"
FILES = GPT2_SMALL / "encoder.json", GPT2_SMALL / "vocab.bpe"

packed = partial(gzip.compress, mtime=0)
#: The usual name of CLIP's list of merges, how it begins, and a piece of SentencePiece.
CLIP_GZ = "bpe_simple_vocab_16e6.txt.gz"
CLIP_HEADING = b'"bpe_simple_vocab_16e6.txt#version: 0.2\n'
CLIP = CLIP_HEADING + b"i n\n"
PIECE = b"\n\x0e\n\x05<unk>\x15\0\0\0\0\x18"
GIT_LFS = b"version https://git-lfs.github.com/spec/v1\noid"

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
    loaded = load_gpt2(*FILES, name="small")
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
    with pytest.raises(ValueError, match=r"vocab.txt: set do_lower_case in .* the token 'The'"):
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
def test_every_function_with_a_pattern_takes_its_name(name: str) -> None:
    text = "Two words, 12345 字 and don't\n\n\u3000x"
    named, given = (load_gpt2(*FILES, pattern=one) for one in (name, PATTERNS[name]))
    assert named.encode(text) == given.encode(text) != []
    ranks = named._mergeable_ranks
    made = Encoding("mine", pat_str=name, mergeable_ranks=ranks, special_tokens={})
    assert made.encode(text) == named.encode(text)
    assert made.pattern == PATTERNS[name]


def test_a_name_of_no_pattern() -> None:
    with pytest.raises(ValueError, match=r"'cl100k-base' \(did you mean 'cl100k_base'"):
        load_gpt2(*FILES, pattern="cl100k-base")


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
    reason = r"mine.tiktoken: a rank file does not say how text is .*\(gpt2, .*, llama3, .*\)"
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
    with pytest.raises(ValueError, match=r"several vocabularies \(gpt2.tiktoken, r50k_base.t"):
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


@pytest.mark.parametrize("name", [CLIP_GZ, "clip.txt"])
def test_merges_of_clip(folder: Path, name: str) -> None:
    data = CLIP + b"t h\nth e</w>\n"
    (folder / name).write_bytes(packed(data) if name.endswith("gz") else data)
    enc = load(folder / name if name == "clip.txt" else folder)
    assert enc.n_vocab == 512 + 3 + 2
    assert enc.encode("The in") == [514, 72, 77 + 256]


@pytest.mark.parametrize("name", ["vocab.txt", CLIP_GZ])
def test_no_pattern_for_files_that_say_it_themselves(folder: Path, name: str) -> None:
    data = BERT.encode() if name == "vocab.txt" else packed(b"i n\n")
    (folder / name).write_bytes(data)
    with pytest.raises(ValueError, match="the file defines how text is split"):
        load(folder, pattern="gpt2")
    with pytest.raises(ValueError, match="special_tokens is only for rank files"):
        load(folder, special_tokens={})


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("vocab.txt", b"", "line 1: the file ends without any token"),
        ("vocab.txt", b"\0\1", r"it has no \[UNK\]"),
        (CLIP_GZ, packed(b"a b\n" * 99)[:-9], "damaged gzip"),
        (CLIP_GZ, packed(b"a b\n")[:9] + b"x" * 9, "damaged gzip"),
        (CLIP_GZ, packed(CLIP_HEADING + b"a b c\n"), "line 2: expected the two p"),
        (CLIP_GZ, packed(b"a b\n" * 2), "make the same token"),
        ("tokenizer.model", PIECE + b"\x02", "it has no piece that may be in text"),
        ("other", PIECE, "byte 1: a field is longer"),
        ("tokenizer.model", GIT_LFS, "Git LFS"),
        ("tokenizer.model", b"", "there is no unknown piece"),
        ("tokenizer.json", GIT_LFS, "Git LFS"),
        ("tokenizer.json", b"", "not a recognized vocabulary file"),
        ("mine.tiktoken", b"", "line 1: the file ends without any token"),
        ("mine.tiktoken", b"!\xff 3\n", "line 1: "),
        ("tokenizer.json", b'{"a": 1, "b": "c"}', "neither a tokenizer.json nor a vocabulary"),
        ("other", b"\x89PNG\r\n\x1a\n", "not a recognized vocabulary file"),
    ],
)
def test_what_is_no_vocabulary_is_refused(
    folder: Path, name: str, data: bytes, reason: str
) -> None:
    path = folder / name
    path.write_bytes(data)
    assert re.search(reason, refusal(path, lambda: load(path)))


def test_nothing_to_read(folder: Path) -> None:
    with pytest.raises(ValueError, match="My model: the folder has no vocabulary"):
        load(folder)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load(folder / "nowhere")


def test_a_pattern_is_for_files_that_do_not_say_how_text_is_split(folder: Path) -> None:
    save_tokenizer_json(SMALL, folder / "tokenizer.json")
    with pytest.raises(ValueError, match="the file defines how text is split"):
        load(folder, pattern="gpt2")
    for path in (folder, GPT2_SMALL):
        with pytest.raises(ValueError, match="special_tokens is only for rank files"):
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


#: The modules that a type of model has for itself.
MODULES: dict[str, set[str]] = {
    "BPE": {"formats.tokenizer_bpe"},
    "WordPiece": set(),  # one file has this and WordLevel
    "WordLevel": set(),
    "Unigram": {"pipeline.models.unigram"},
}
#: What takes milliseconds to import; a character map and files beside the one need some of it.
HEAVY = {"hashlib", "pathlib", "string", "tempfile", "urllib.parse", "zipfile"}


def imported(path: str) -> set[str]:
    """The modules of a process that has loaded a file and encoded a text."""
    script = f"import compat_bpe\ncompat_bpe.load({path!r}).encode('the cat')\nprint(*sys.modules)"
    return set(run_alone(script).split())


def test_only_the_kinds_of_the_file_are_imported() -> None:
    for model in MODULES:
        name = next(
            kind
            for kind in KINDS
            if json.loads(Path(kind_path(kind)).read_bytes())["model"]["type"] == model
            and "recompiled" not in Path(kind_path(kind)).read_text("utf-8")
        )
        found = imported(kind_path(name))
        assert not HEAVY & found
        for other, modules in MODULES.items():
            assert {f"compat_bpe.{one}" in found for one in modules} <= {other == model}
        for name in ("sentencepiece", "json_ranks", "vocab_txt", "gguf", "tokenizer_writing"):
            assert f"compat_bpe.formats.{name}" not in found


PIECES = b"[PAD]\n[unused0]\n[UNK]\r\n[CLS]\r\n"


@pytest.mark.parametrize(
    ("name", "beginning", "kind"),
    [
        ("tokenizer.json", b'\xef\xbb\xbf\n {"a": 1}', "json"),
        ("vocab.txt", b'{"a": 1}', "json"),
        ("vocab.txt", b"", "vocab.txt"),
        ("vocab.txt", b"\0\xff", "vocab.txt"),
        ("bert-base-uncased-vocab.txt", b"hello\n", "vocab.txt"),
        # The pieces of such a file may look like ranks.
        ("vocab.txt", b"abc 12\n", "vocab.txt"),
        ("pieces", PIECES, "vocab.txt"),
        ("mine.tiktoken", b"", "ranks"),
        ("tokenizer.model", b"\nIQ== 0\n", "ranks"),
        ("merges.txt", b"", "merges"),
        ("x-merges.txt", b"#version: 0.2\n", "merges"),
        ("vocab.bpe", b"a b\n", "merges"),
        (CLIP_GZ, packed(CLIP), "clip"),
        ("clip", CLIP, "clip"),
    ],
)
def test_kind_of_a_file(name: str, beginning: bytes, kind: str) -> None:
    assert recognise(Path("folder", name), beginning) == kind


@pytest.mark.parametrize(
    ("name", "beginning", "reason"),
    [
        ("pieces", b"[UNK]\nhello\n", "not a recognized vocabulary file"),
        ("other.gz", packed(CLIP), "not a recognized vocabulary file"),
        (CLIP_GZ, b"", "not a recognized vocabulary file"),
        ("tokenizer.json", GIT_LFS, "Git LFS"),
    ],
)
def test_no_known_kind(name: str, beginning: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=rf"^folder.{name}: .*{reason}"):
        recognise(Path("folder", name), beginning)
