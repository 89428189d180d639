"""``vocab.txt``: its lines, and what is wrong with damaged ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compat_bpe.formats.models.base import WordPiecePart
from compat_bpe.formats.vocab_txt import read_vocab_txt
from compat_bpe.unicode.properties import white_space

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
        (b"\0\1\2\3", r"vocab.txt: it has no \[UNK\], so it is no vocabulary of BERT"),
        (b"hello\n", r"vocab.txt: it has no \[UNK\], so it is no vocabulary of BERT"),
        (b"[UNK]\n[CLS]\nhello\n", r"vocab.txt: it has no \[SEP\], so it is no vocabulary of BERT"),
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
