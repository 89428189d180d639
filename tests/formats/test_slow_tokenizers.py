"""``vocab.txt``, ``vocab.json`` and ``merges.txt``, with the files of transformers beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compat_bpe.formats import vocab_merges, vocab_txt
from compat_bpe.formats.checked_json import Json
from compat_bpe.formats.tokenizer_models import WordPiecePart
from compat_bpe.formats.vocab_txt import read_vocab_txt
from compat_bpe.pipeline.byte_level import BYTE_TO_UNICODE
from compat_bpe.unicode.properties import white_space
from tools.slow_tokenizers import FIXTURE

FOLDERS: list[dict[str, Any]] = json.loads(FIXTURE.read_bytes())


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).write_bytes(text.encode())


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the ``tokenizer.json`` that is made of some files, before it is parsed."""

    def unparsed(file: Json) -> Any:
        return file.value

    for module in (vocab_txt, vocab_merges):
        monkeypatch.setattr(module, "parse_tokenizer", unparsed)

    def make(files: dict[str, str]) -> Any:
        write(tmp_path, files)
        if "vocab.txt" in files:
            return vocab_txt.read_vocab_txt(tmp_path / "vocab.txt")
        return vocab_merges.read_vocab_merges(tmp_path / "vocab.json", tmp_path / "merges.txt")

    return make


def complete(file: dict[str, Any]) -> dict[str, Any]:
    """A file as ``tokenizers`` writes it: with the members that may be left out."""
    model = dict(file["model"])
    if model["type"] == "BPE":
        model["merges"] = [
            merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"]
        ]
        flags = dict.fromkeys(("fuse_unk", "byte_fallback", "ignore_merges"), False)
        texts = ("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix")
        model = {**dict.fromkeys(texts), **flags, **model}
        for name in texts:
            model[name] = model[name] or None
    tokens = sorted(file["added_tokens"], key=lambda token: token["id"])
    parts = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
    return {"model": model, "added_tokens": tokens, **{name: file[name] for name in parts}}


@pytest.mark.parametrize("number", range(len(FOLDERS)))
def test_made_as_by_transformers(made: Any, number: int) -> None:
    folder = FOLDERS[number]
    assert complete(made(folder["files"])) == complete(folder["tokenizer"])


BYTES = {char: number for number, char in enumerate(BYTE_TO_UNICODE.values())}
PAIR = {
    "gpt2": ({**BYTES, "ab": 256}, "a b"),
    "gpt1": ({"<unk>": 0, "a": 1, "b": 2, "a</w>": 3, "b</w>": 4, "ab</w>": 5}, "a b</w>"),
    "clip": (
        {"a": 0, "b</w>": 1, "ab</w>": 2, "<|startoftext|>": 3, "<|endoftext|>": 4},
        "a b</w>",
    ),
    # A token that is the text "</w>".
    "markup": (
        {**BYTES, "</": 256, "w>": 257, "</w>": 258, "</w><": 259},
        "< /\nw >\n</ w>\n</w> <",
    ),
}


def pair(name: str, **files: Any) -> dict[str, str]:
    vocab, merges = PAIR[name]
    return {
        "vocab.json": json.dumps(vocab),
        "merges.txt": f"#version: 0.2\n{merges}\n",
        **{f"{file}.json": json.dumps(content) for file, content in files.items()},
    }


@pytest.mark.parametrize(
    ("name", "suffix", "pre_tokenizer"),
    [
        ("gpt2", None, "ByteLevel"),
        ("markup", None, "ByteLevel"),
        ("gpt1", "</w>", "BertPreTokenizer"),
        ("clip", "</w>", "Sequence"),
    ],
)
def test_class_is_told_from_the_tokens(
    made: Any, name: str, suffix: str | None, pre_tokenizer: str
) -> None:
    files = pair(name)
    if name == "gpt1":  # known by its size: others of this kind do not lowercase
        with pytest.raises(ValueError, match="its tokens mark the ends of words"):
            made(files)
        more = {f"{number}": number for number in range(len(PAIR[name][0]), 40_478)}
        files["vocab.json"] = json.dumps({**PAIR[name][0], **more})
    file = made(files)
    assert file["model"].get("end_of_word_suffix") == suffix
    assert file["pre_tokenizer"]["type"] == pre_tokenizer


@pytest.mark.parametrize(
    "files",
    [
        {"config": {"model_type": "openai-gpt"}},
        {"config": {"tokenizer_class": "OpenAIGPTTokenizerFast"}},
        {
            "tokenizer_config": {"tokenizer_class": "OpenAIGPTTokenizer"},
            "config": {"model_type": "clip"},
        },
    ],
)
def test_class_is_named_in_either_file(made: Any, files: dict[str, Any]) -> None:
    assert made(pair("gpt1", **files))["decoder"] == {"type": "BPEDecoder", "suffix": "</w>"}


def test_special_tokens_of_a_file_replace_those_of_the_class(made: Any) -> None:
    settings = {"tokenizer_class": "HerbertTokenizer", "additional_special_tokens": ["<x>"]}
    names = {
        token["content"] for token in made(pair("gpt1", tokenizer_config=settings))["added_tokens"]
    }
    assert "<x>" in names
    assert "<special0>" not in names


def test_files_beside_count_without_a_class(made: Any) -> None:
    files = pair(
        "gpt2", added_tokens={"<z>": 258, "<y>": 257}, special_tokens_map={"pad_token": "<z>"}
    )
    files["vocab.json"] = files["vocab.json"].replace("256}", '256, "<x>": 257}')
    tokens = {token["content"]: token for token in made(files)["added_tokens"]}
    assert {name: (token["id"], token["special"]) for name, token in tokens.items()} == {
        "<y>": (258, False),
        "<z>": (259, True),
        "<x>": (257, True),
    }


def test_clip_has_no_more_merges(made: Any) -> None:
    files = {**pair("clip"), "merges.txt": "a b</w>\n" * 50_000}
    assert len(made(files)["model"]["merges"]) == 48_894


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("XLMTokenizer", ": it splits text into words by Moses"),
        ("FlaubertTokenizer", ": it splits text into words by Mo"),
        ("CTRLTokenizer", ": it writes tokens with @@"),
        ("EsmTokenizer", r" \(only GPT2Tokenizer, .*CLIPTokenizer"),
    ],
)
def test_other_classes_are_refused(made: Any, name: str, reason: str) -> None:
    match = f"tokenizer_config.json: tokenizer_class: {name} is not supported{reason}"
    with pytest.raises(ValueError, match=match):
        made(pair("gpt1", tokenizer_config={"tokenizer_class": name}))


def test_ends_of_words_of_an_unknown_kind(made: Any) -> None:
    files = pair("gpt1")
    files["vocab.json"] = files["vocab.json"].replace('"<unk>": 0', '"<unk>": 0, "<s>": 9')
    with pytest.raises(
        ValueError, match=r"tokens mark the ends of words \(</w>\), as in several kinds"
    ):
        made(files)


def test_no_pattern_for_tokens_that_end_words(tmp_path: Path) -> None:
    write(tmp_path, pair("gpt1"))
    with pytest.raises(
        ValueError, match="its tokens mark the ends of words; leave out the pattern"
    ):
        vocab_merges.read_vocab_merges(tmp_path / "vocab.json", tmp_path / "merges.txt", "a")


CONFIG = "tokenizer_config"


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("config", [], "must be an object"),
        ("config", {"model_type": 1}, "model_type: must be a string"),
        ("config", {"tokenizer_class": 1}, "tokenizer_class: must be a string"),
        ("special_tokens_map", 1, "must be an object"),
        ("special_tokens_map", {"unk_token": 1}, "unk_token: must be a s"),
        ("special_tokens_map", {"unk_token": {}}, "unk_token: there is n"),
        ("added_tokens", {"x": "y"}, "x: must be an integer"),
        ("added_tokens", [], "must be an object"),
        (CONFIG, {"unk_token": {"content": "a", "lstrip": 1}}, "unk_token.lstrip: must be true"),
        (CONFIG, {"additional_special_tokens": 1}, "additional_special_tokens: must be a list"),
    ],
)
def test_damaged_files_beside_it(made: Any, name: str, content: Any, reason: str) -> None:
    files = {"config": {"model_type": "openai-gpt"}, name: content}
    with pytest.raises(ValueError, match=f"{name}.json: {reason}"):
        made(pair("gpt1", **files))


SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def vocabulary(folder: Path, data: str | bytes, **config: Any) -> dict[str, int]:
    path = folder / "vocab.txt"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    if config:
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
    model = read_vocab_txt(path).model
    assert isinstance(model, WordPiecePart)
    return model.vocabulary


def test_number_of_a_line_is_the_id(tmp_path: Path) -> None:
    lines = [*SPECIAL, "hello", "##lo", "中", "a b", "\u2028x"]
    for text in ("\n".join(lines), "\n".join([*lines, ""]), "\r\n".join([*lines, ""])):
        assert vocabulary(tmp_path, text) == {line: number for number, line in enumerate(lines)}


def test_white_space_at_the_end_is_no_part_of_a_piece(tmp_path: Path) -> None:
    spaces = [
        chr(point) for first, last in white_space().ranges() for point in range(first, last + 1)
    ]
    lines = [
        *SPECIAL,
        *(f"x{number}{char}{char}" for number, char in enumerate(spaces) if char != "\n"),
    ]
    found = vocabulary(tmp_path, "\n".join(lines))
    assert len(spaces) == 25
    assert all(name.isprintable() and " " not in name for name in found)
    # What only Python takes for white space.
    assert "y\x1c" in vocabulary(tmp_path, "\n".join([*SPECIAL, "y\x1c", "y\ufeff"]))


def test_last_of_equal_lines_counts(tmp_path: Path) -> None:
    found = vocabulary(tmp_path, "\n".join([*SPECIAL, "a", "b", "a ", "", " "]))
    assert found == {**{name: number for number, name in enumerate(SPECIAL)}, "a": 7, "b": 6, "": 9}


def test_definition(tmp_path: Path) -> None:
    vocabulary(tmp_path, "\n".join([*SPECIAL, "a"]))
    read = read_vocab_txt(tmp_path / "vocab.txt")
    assert [(token.content, token.id, token.special) for token in read.added_tokens] == [
        (name, SPECIAL.index(name), True) for name in ("[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]")
    ]
    assert isinstance(read.model, WordPiecePart)
    assert read.model[1:] == ("[UNK]", "##", 100)
    assert read.parts["normalizer"]["lowercase"] is True
    assert read.parts["normalizer"]["strip_accents"] is None


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", r"vocab.txt: line 1: the file ends without any token"),
        (b"\n\n \n", r"vocab.txt: line 1: the file ends without any token"),
        (b"[UNK]\na\xff\n", r"vocab.txt: line 2: not UTF-8"),
        (b"\x89PNG\r\n\x1a\n\0\0", r"vocab.txt: line 1: not UTF-8"),
        (b"\0\1\2\3", r"vocab.txt: it has no \[UNK\], so it is not a BERT vocabulary"),
        (b"hello\n", r"vocab.txt: it has no \[UNK\], so it is not a BERT vocabulary"),
        (b"[UNK]\n[CLS]\nhello\n", r"vocab.txt: it has no \[SEP\], so it is not a BERT vocabulary"),
    ],
)
def test_damaged_files(tmp_path: Path, data: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as caught:
        vocabulary(tmp_path, data)
    assert str(caught.value).startswith(str(tmp_path))


def test_tokens_of_a_named_class_may_be_missing(tmp_path: Path) -> None:
    """They get ids after the vocabulary, and only a text with an unknown word needs one."""
    assert vocabulary(tmp_path, "a\n", tokenizer_class="BertTokenizerFast") == {"a": 0}
    read = read_vocab_txt(tmp_path / "vocab.txt")
    assert sorted(token.id for token in read.added_tokens) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("model", "kind"), [("mpnet", "MPNet"), ("gpt2", "BERT"), ("xlm", "BERT"), ("other", "BERT")]
)
def test_type_of_model_says_the_class_if_it_fits(tmp_path: Path, model: str, kind: str) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": model}))
    vocabulary(tmp_path, "\n".join([*SPECIAL, "<s>", "</s>", "<pad>", "<mask>"]))
    read = read_vocab_txt(tmp_path / "vocab.txt")
    names = {token.content for token in read.added_tokens}
    assert ("<s>" in names, "[CLS]" in names) == (kind == "MPNet", kind == "BERT")


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (
            {"tokenizer_class": "EsmTokenizer"},
            r"tokenizer_class: EsmTokenizer is not supported for",
        ),
        ({"do_lower_case": "no"}, "do_lower_case: must be true or false, not a string"),
        ({"strip_accents": 1}, "strip_accents: must be true or false, not an integer"),
        ({"tokenizer_class": "BertTokenizer", "cls_token": None}, "there is no cls_token"),
        ({"added_tokens_decoder": {"x": {}}}, "added_tokens_decoder: 'x' is not an id"),
    ],
)
def test_bad_settings_are_refused(tmp_path: Path, config: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=f"tokenizer_config.json: {reason}"):
        vocabulary(tmp_path, "\n".join(SPECIAL), **config)
