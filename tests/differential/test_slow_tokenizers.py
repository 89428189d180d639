"""Vocabularies in older formats, loaded here and by tokenizers."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import compat_bpe
from compat_bpe.formats.tokenizer_models import WordPiecePart
from compat_bpe.formats.vocab_txt import read_vocab_txt
from compat_bpe.unicode.surrogates import repair
from tests.strategies import NO_WHITE_SPACE, WHITE_SPACE
from tests.strategies import texts as any_texts
from tools.reference_files import reference_file
from tools.reference_tokenizers import reference_tokenizer
from tools.slow_tokenizers import FIXTURE

texts = any_texts.map(repair)
lines = st.lists(
    st.text("ab#é" + WHITE_SPACE + NO_WHITE_SPACE, max_size=5), min_size=1, max_size=12
)


@given(lines, st.sampled_from(["", "\n", "\r\n", "\r"]))
def test_lines_of_a_vocab_txt(
    tmp_path_factory: pytest.TempPathFactory, several: list[str], end: str
) -> None:
    # Otherwise it is no vocabulary of BERT.
    path = tmp_path_factory.getbasetemp() / "vocab.txt"
    path.write_bytes(
        ("\n".join(["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]", *several]) + end).encode()
    )
    read = read_vocab_txt(path).model
    assert isinstance(read, WordPiecePart)
    assert read.vocabulary == tokenizers.models.WordPiece.read_file(str(path))


@cache
def bert(lowercase: bool) -> tuple[Any, Any]:
    path = reference_tokenizer("bert_vocab")
    theirs = tokenizers.BertWordPieceTokenizer(str(path), lowercase=lowercase)
    return compat_bpe.load(path), theirs


@given(texts)
def test_vocab_txt_of_bert(text: str) -> None:
    ours, theirs = bert(True)
    assert (
        ours.encode(text, allowed_special="all")
        == theirs.encode(text, add_special_tokens=False).ids
    )
    found = ours.encode(text, allowed_special="all", add_special_tokens=True)
    assert found == theirs.encode(text).ids


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("strip", [None, False, True])
@pytest.mark.parametrize("chinese", [False, True])
def test_settings_of_bert(tmp_path: Path, lower: bool, strip: bool | None, chinese: bool) -> None:
    path = tmp_path / "vocab.txt"
    path.write_bytes(reference_tokenizer("bert_vocab").read_bytes())
    settings = {"do_lower_case": lower, "strip_accents": strip, "tokenize_chinese_chars": chinese}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    ours: Any = compat_bpe.load(tmp_path)
    theirs = tokenizers.BertWordPieceTokenizer(
        str(path), lowercase=lower, strip_accents=strip, handle_chinese_chars=chinese
    )
    for text in ("Héllo wörld", "中文 abc中", "[CLS] NAÏVE [MASK]x", "e\u0301É\u0301"):
        assert ours.encode(text, allowed_special="all") == (
            theirs.encode(text, add_special_tokens=False).ids
        )


@cache
def clip() -> tuple[Any, Any]:
    path = reference_tokenizer("clip")
    return compat_bpe.load(reference_file("clip_merges")), tokenizers.Tokenizer.from_file(str(path))


def test_vocabulary_of_clip() -> None:
    ours, theirs = clip()
    assert ours.definition.model.vocabulary == theirs.get_vocab()


@given(texts)
def test_merges_of_clip(text: str) -> None:
    ours, theirs = clip()
    ids = theirs.encode(text, add_special_tokens=False).ids
    assert ours.encode(text, allowed_special="all") == ids


FOLDERS: list[dict[str, Any]] = json.loads(FIXTURE.read_bytes())


@pytest.mark.parametrize("number", range(len(FOLDERS)))
def test_folder_of_each_class(tmp_path: Path, number: int) -> None:
    for name, text in FOLDERS[number]["files"].items():
        (tmp_path / name).write_bytes(text.encode())
    ours: Any = compat_bpe.load(tmp_path)
    theirs: Any = tokenizers.Tokenizer.from_str(json.dumps(FOLDERS[number]["tokenizer"]))
    known = [*theirs.get_vocab(), "ab", "a b", "hello", " ", "  ", "Ab", "abab"]

    @given(st.lists(st.sampled_from(known), max_size=8).map("".join))
    def check(text: str) -> None:
        for whole in (False, True):
            try:
                ids = theirs.encode(text, add_special_tokens=whole).ids
            except Exception as error:
                assert "unk" in str(error).lower()  # noqa: PT017
                with pytest.raises(ValueError, match="token for what is unknown"):
                    ours.encode(text, allowed_special="all")
            else:
                found = ours.encode(text, allowed_special="all", add_special_tokens=whole)
                assert found == ids

    check()
