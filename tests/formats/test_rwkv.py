"""RWKV's list of tokens: literals are parsed, and bad lines are refused by number."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import compat_bpe
from compat_bpe.encodings.local_stores import recognise
from compat_bpe.encodings.tokenizer import Rwkv
from compat_bpe.formats.rwkv import parse_rwkv
from compat_bpe.save import save_tiktoken, save_tokenizer_json
from compat_bpe.train.extend_pieces import growing_tokens
from tests.examples import scaled
from tests.formats.small_files import BYTES, NAME, WHOLE, listed


def load(folder: Path, data: bytes = WHOLE) -> compat_bpe.Encoding:
    path = folder / NAME
    path.write_bytes(data)
    return compat_bpe.load(path)


def test_longest_tokens(tmp_path: Path) -> None:
    enc = load(tmp_path)
    assert isinstance(enc, Rwkv)
    assert (enc.name, enc.n_vocab, enc.eot_token) == (tmp_path.name, 264, 0)
    assert enc.encode("so he said 中文") == [116, 112, 257, 33, 258, 33, 260]
    assert enc.encode("a<|endoftext|>", allowed_special="all") == [98, 0]
    assert enc.encode("<|endoftext|>", disallowed_special=())[0] == 1 + ord("<")
    assert enc.decode([257, 0, 262]) == " he<|endoftext|>\x80😀"
    assert enc.decode([257, 0], skip_special_tokens=True) == " he"
    assert enc.decode_single_token_bytes(261) == b"\xe4\xb8"
    assert (enc.id_to_token(257), enc.token_to_id("Ġhe")) == ("Ġhe", 257)
    found = enc.encode_with_offsets("so he中")
    assert found.ids == [116, 112, 257, 261, 174]
    assert found.offsets == [(0, 1), (1, 2), (2, 5), (5, 6), (5, 6)]


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_ends_of_lines(tmp_path: Path, ending: bytes, last: bool) -> None:
    data = WHOLE.replace(b"\n", ending)
    enc = load(tmp_path, data if last else data[: -len(ending)])
    assert enc.encode("said  ") == [258, 263]


def test_in_a_folder(tmp_path: Path) -> None:
    load(tmp_path)
    (tmp_path / "vocab.txt").write_text("damaged, but not looked at")
    assert compat_bpe.load(tmp_path).encode("said") == [258]


def test_it_is_known_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_bytes(WHOLE)
    assert compat_bpe.load(path).encode("said") == [258]
    assert recognise(NAME, b"") == "rwkv"
    assert recognise("vocab.txt", b"1 b'\\x00' 1\r\n2") == "rwkv"
    assert recognise("vocab.txt", b"1 a 1\n[UNK]\n[CLS]\n") == "vocab.txt"


def test_copies_and_batches(tmp_path: Path) -> None:
    enc = load(tmp_path)
    twin = pickle.loads(pickle.dumps(enc))
    assert isinstance(twin, Rwkv)
    make, arguments = enc.recipe()
    texts = ["so he said", "中文", ""]
    ids = [enc.encode(text) for text in texts]
    for one in (twin, make(**arguments), enc.with_special({"x"})):
        assert one.encode_batch(texts) == ids
    assert enc.count("so he said") == 5


def test_what_cannot_be_done_is_refused(tmp_path: Path) -> None:
    enc = load(tmp_path)
    with pytest.raises(ValueError, match=r"cannot be extended"):
        enc.extended("x", {b"ab": 300}, [(b"a", b"b")])
    with pytest.raises(ValueError, match=r"is a list of RWKV's, which cannot be extended"):
        growing_tokens(enc)
    with pytest.raises(ValueError, match=r"a tokenizer.json cannot hold a list of RWKV"):
        save_tokenizer_json(enc, tmp_path / "tokenizer.json")
    with pytest.raises(ValueError, match=r"no byte-level BPE"):
        save_tiktoken(enc, tmp_path / "x.tiktoken")
    with pytest.raises(ValueError, match=r"it says itself how text is split"):
        compat_bpe.load(tmp_path / NAME, pattern="gpt2")


@given(st.text(min_size=1, max_size=20) | st.binary(min_size=1, max_size=20))
@settings(max_examples=scaled(500))
def test_every_literal_of_python(token: str | bytes) -> None:
    value = token.encode("utf-8", "replace") if isinstance(token, str) else token
    if value in BYTES:
        return
    for written in (repr(token), ascii(token)):
        line = f"257 {written} {len(value)}\n".encode("utf-8", "replace")
        if isinstance(token, str) and any("\ud800" <= char < "\ue000" for char in token):
            with pytest.raises(ValueError, match=r"line 257: "):
                parse_rwkv(listed(BYTES) + line, NAME)
        else:
            assert parse_rwkv(listed(BYTES) + line, NAME).tokens[value] == 257


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", "expected an id, a literal of Python's and its length"),
        ("257", "expected an id, a literal of Python's and its length"),
        ("257 ab 2", "expected an id, a literal of Python's and its length"),
        ("257 'ab 2", "expected an id, a literal of Python's and its length"),
        ("257 'ab'", "expected an id, a literal of Python's and its length"),
        ("257 'ab' ", "expected an id, a literal of Python's and its length"),
        ("257  'ab' 2", "expected an id, a literal of Python's and its length"),
        ("257 'ab' 2 ", "expected an id, a literal of Python's and its length"),
        ("257 'a''b' 2", "expected an id, a literal of Python's and its length"),
        ("257 'a'+'b' 2", "expected an id, a literal of Python's and its length"),
        ("257 r'ab' 2", "expected an id, a literal of Python's and its length"),
        ("257 '''ab''' 2", "expected an id, a literal of Python's and its length"),
        ("257 ('ab') 2", "expected an id, a literal of Python's and its length"),
        ("257 'ab\\' 2", "expected an id, a literal of Python's and its length"),
        ("257 __import__('os') 2", "expected an id, a literal of Python's and its length"),
        ("٢٥٧ 'ab' 2", "expected an id, a literal of Python's and its length"),
        ("99999999999 'ab' 2", "expected an id, a literal of Python's and its length"),
        ("258 'ab' 2", "the id is 258, not 257"),
        ("256 'ab' 2", "the id is 256, not 257"),
        ("0257 'ab' 2", "the id is 0257, not 257"),
        ("257 'ab' 3", "the token has 2 bytes, not 3"),
        ("257 'é' 1", "the token has 2 bytes, not 1"),
        ("257 'a' 1", r"the token b'a' is already in line 98"),
        ("257 b'a' 1", r"the token b'a' is already in line 98"),
        ("257 '' 0", "the token must have from 1 to 256 bytes"),
        (f"257 '{'a' * 257}' 257", "the token must have from 1 to 256 bytes"),
        ("257 b'é' 2", "a literal of bytes must be ASCII"),
        ("257 '\\ud800' 3", "the literal has a lone surrogate"),
        ("257 '\\q' 2", r"'\\\\q' is no escape that is known"),
        ("257 '\\7' 1", r"'\\\\7' is no escape that is known"),
        ("257 '\\N{DIGIT ONE}' 1", r"'\\\\N' is no escape that is known"),
        ("257 '\\x1' 1", r"'\\\\x' is no escape that is known"),
        ("257 '\\U00110000' 4", r"'\\\\U00110000' is no escape that is known"),
        ("257 b'\\u0041a' 2", r"'\\\\u0041' is no escape that is known"),
    ],
)
def test_bad_lines_are_refused(tmp_path: Path, line: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as caught:
        load(tmp_path, listed(BYTES) + line.encode() + b"\n258 'x' 1\n")
    assert str(caught.value).startswith(f"{tmp_path / NAME}: line 257: ")


def test_damaged_text_and_missing_bytes(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"txt: line 257: not UTF-8: "):
        load(tmp_path, listed(BYTES) + b"257 '\xff' 1\n")
    with pytest.raises(ValueError, match=r"txt: line 255: the file ends without .* 0xFF"):
        load(tmp_path, listed(BYTES[:-1]))
    with pytest.raises(ValueError, match=r"txt: line 1: the file ends without .* 0x00"):
        load(tmp_path, b"")
