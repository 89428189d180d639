"""Hostile and damaged files: read as the reference does, or refused in bounded time and memory."""

from __future__ import annotations

import json
import sys
from array import array
from base64 import b64encode
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import compat_bpe
from compat_bpe.files.whole import read_whole
from compat_bpe.formats import checked_json
from compat_bpe.formats.checked_json import Json, is_unicode, parse_json, read_float, read_json
from compat_bpe.formats.sentencepiece import SentencePieceModel, sentencepiece_bytes
from compat_bpe.formats.tokenizer_models import written_float
from compat_bpe.pipeline.normalizers.base import MOST_MORE, MOST_TIMES
from compat_bpe.pipeline.normalizers.charsmap import Charsmap
from compat_bpe.pipeline.tokenized import Padding
from compat_bpe.unicode.text import LONGEST_MESSAGE
from tests.examples import scaled
from tests.formats.small_files import BYTES, NAME, PATTERN, TEKKEN_TOKENS, WHOLE, grok, run, tekken
from tests.tokenizer_files import load_json


def load(folder: Path, **parts: Any) -> Any:
    """Load a ``tokenizer.json`` of one byte-level token, "a", with some parts."""
    file = {"added_tokens": [], "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, **parts}
    return load_json(folder, file)


def unused(blocks: int) -> array[int]:
    """Return units that no byte leads to."""
    return array("I", [0xFF if place % 256 < 0xFF else 0xFE for place in range(256 * blocks)])


def shared_trie(layers: int) -> bytes:
    """Return a map of ``layers`` characters of three bytes in a row, whose nodes are shared."""
    units = unused(3 * layers + 2)

    def put(place: int, byte: int, below: int, leaf: int = 0) -> None:
        units[place + byte] = (place + byte ^ below) << 10 | leaf << 8 | byte

    units[0] = 256 << 10
    for block in range(1, 3 * layers + 1):
        is_end = block == 3 * layers
        for byte in range(0xE1, 0xED) if block % 3 == 1 else range(0x80, 0xC0):
            put(block * 256, byte, (block + 1) * 256, int(is_end))
    units[(3 * layers + 1) * 256] = 1 << 31
    return (4 * len(units)).to_bytes(4, "little") + units.tobytes() + b"x\0"


def long_replacement(size: int) -> bytes:
    """Return a map of "a" to a text of some bytes."""
    units = unused(3)
    units[0] = 256 << 10
    units[256 + 97] = (256 + 97 ^ 512) << 10 | 1 << 8 | 97
    units[512] = 1 << 31
    return (4 * len(units)).to_bytes(4, "little") + units.tobytes() + b"x" * size + b"\0"


def test_small_maps_work() -> None:
    assert Charsmap(long_replacement(1024)).replace("a") == "x" * 1024


@pytest.mark.parametrize(
    ("blob", "reason"),
    [
        (shared_trie(7), "the trie of the character map shares its nodes too often"),
        (long_replacement(1025), "a replacement of the character map has more than 1024 bytes"),
        (long_replacement(1 << 22), "a replacement of the character map has more than 1024 bytes"),
    ],
)
def test_character_maps(tmp_path: Path, blob: bytes, reason: str) -> None:
    part = {"type": "Precompiled", "precompiled_charsmap": b64encode(blob).decode()}
    with pytest.raises(ValueError, match=f"precompiled_charsmap: {reason}"):
        load(tmp_path, normalizer=part)


def replace(old: str, new: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": old}, "content": new}


def in_order(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "normalizers": list(steps)}


@pytest.mark.parametrize(
    "normalizer",
    [
        in_order(*[replace("a", "aa")] * 40),
        in_order(*[replace("a", "a" * 50)] * 7),
        in_order(*[{"type": "Prepend", "prepend": "a" * 9000}] * 20),
        replace("a", "a" * 100_000),
        {"type": "Replace", "pattern": {"Regex": ""}, "content": "b" * 50_000},
    ],
)
@pytest.mark.parametrize("text", ["a", "a" * 1000])
def test_text_that_grows(tmp_path: Path, normalizer: dict[str, Any], text: str) -> None:
    loaded = load(tmp_path, normalizer=normalizer)
    for method in (loaded.encode, loaded.encode_with_offsets, loaded.count):
        with pytest.raises(
            ValueError, match=r"the normalizer turns [0-9]+ characters into [0-9]+ or"
        ):
            method(text)


def test_text_may_grow(tmp_path: Path) -> None:
    loaded = load(tmp_path, normalizer=in_order(*[replace("a", "aa")] * 6))
    assert loaded.encode("a" * 5000) == [0] * 5000 * MOST_TIMES
    loaded = load(tmp_path, normalizer=replace("b", "a" * MOST_MORE))
    assert loaded.encode("b") == [0] * MOST_MORE


def test_decoders(tmp_path: Path) -> None:
    decoder = {"type": "Sequence", "decoders": [replace("a", "aa")] * 40}
    with pytest.raises(
        ValueError, match="decoder: the decoders may turn a character into 1099511627776"
    ):
        load(tmp_path, decoder=decoder).decode([0])


@pytest.mark.parametrize(
    ("count", "ids", "reason"),
    [(2000, 1, "single: has 2000 pieces, more than 1024"), (1000, 1000, "adds more than 65536")],
)
def test_templates(tmp_path: Path, count: int, ids: int, reason: str) -> None:
    token = {"id": "a", "ids": [0] * ids, "tokens": ["a"] * ids}
    template = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "a", "type_id": 0}}] * count,
        "pair": [],
        "special_tokens": {"a": token},
    }
    with pytest.raises(ValueError, match=f"post_processor.*{reason}"):
        load(tmp_path, post_processor=template).encode("a")


@pytest.mark.parametrize("settings", [{"length": 1 << 60}, {"pad_to_multiple_of": 1 << 60}])
def test_padding(tmp_path: Path, settings: dict[str, Any]) -> None:
    found = load(tmp_path).encode_with_offsets("a")
    with pytest.raises(
        ValueError, match="padding to 1152921504606846976 tokens exceeds the limit of"
    ):
        Padding(**settings).applied([found])


def nested_pieces(count: int) -> list[str]:
    return ["<unk>", *("a" * length for length in range(1, count + 1))]


def test_unigram_pieces_nested_in_each_other(tmp_path: Path) -> None:
    """Each place of a text has as many ways on as there are: 6,000 took half a minute a page."""
    path = tmp_path / "spiece.model"

    def model(count: int) -> dict[str, Any]:
        vocab = [[piece, -float(number)] for number, piece in enumerate(nested_pieces(count))]
        return {"type": "Unigram", "unk_id": 0, "vocab": vocab}

    def write_model(count: int) -> None:
        pieces = nested_pieces(count)
        types = bytes([2] + [1] * count)
        scores = [-float(number) for number in range(len(pieces))]
        path.write_bytes(sentencepiece_bytes(SentencePieceModel(pieces, scores, types)))

    assert load(tmp_path, model=model(1_000)).encode("a" * 1_000)
    write_model(1_000)
    assert compat_bpe.load(path).encode("a" * 900)
    reason = "more than 1,024 pieces that begin with each other"
    with pytest.raises(ValueError, match=rf"tokenizer\.json: .*{reason}"):
        load(tmp_path, model=model(1_100))
    write_model(1_100)
    with pytest.raises(ValueError, match=rf"spiece\.model: .*{reason}"):
        compat_bpe.load(path)


LONG = "x" * 10**6


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tokenizer.json", json.dumps({"model": {"type": LONG}})),
        ("tokenizer.json", json.dumps({"model": {"type": "BPE", "merges": [], LONG: 1}})),
        ("vocab.txt", f"[UNK]\n{LONG}\n{LONG}\n"),
        ("a.tiktoken", f"YQ== 0\n{LONG} 1\n"),
        ("a.gguf", f"GGUF\3\0\0\0{8 * chr(0)}\1{7 * chr(0)}{LONG}"),
    ],
)
def test_no_message_is_as_long_as_the_file(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=f"{name}") as raised:
        compat_bpe.load(tmp_path / name, pattern="gpt2" if name.endswith("tiktoken") else None)
    assert len(str(raised.value)) <= LONGEST_MESSAGE


#: One bit each: a digit or a letter becomes its neighbour, a letter changes its case, a byte is no
#: longer ASCII.
MASKS = (0x01, 0x20, 0x80)


#: The bytes from one damage to the next: a prime, so that each field is hit somewhere.
_STEP = 7


def spread_damage(data: bytes) -> Iterator[bytes]:
    """Beginnings of a file, and the file with a byte changed by a mask in turn, all over it."""
    for end in range(0, len(data), _STEP):
        yield data[:end]
    for place in range(0, len(data), _STEP):
        yield flipped(data, place, MASKS[place % len(MASKS)])


def some_damage(data: bytes) -> st.SearchStrategy[bytes]:
    """Some of these."""
    places = st.integers(0, len(data) - 1)
    flips = st.builds(flipped, st.just(data), places, st.sampled_from(MASKS))
    return flips | places.map(lambda end: data[:end])


def flipped(data: bytes, place: int, mask: int) -> bytes:
    return data[:place] + bytes([data[place] ^ mask]) + data[place + 1 :]


class Small(NamedTuple):
    """A small file, and what holds of any vocabulary that is left of it.

    Args:
        data: its content.
        text: a text with all that the tokens are of, and more.
        sizes: the numbers of ids that it may have.
        drops_text: True if text that a damaged pattern does not match is dropped.
    """

    data: bytes
    text: str
    sizes: range
    drops_text: bool = False


TEXT = "he said 123\r\n\x07é中 \x80"
SMALL = {
    "tekken.json": Small(
        json.dumps(tekken(), separators=(",", ":")).encode(),
        "abc said 123\r\n\x07é中 \x80",
        range(len(TEKKEN_TOKENS) + 11),
        drops_text=True,
    ),
    "o200k_base.json": Small(
        json.dumps(
            {
                "explicit_n_vocab": 259,
                "pat_str": PATTERN,
                "special_tokens": {"<s>": 258},
                "bpe_ranks": "\n".join([run(0, *BYTES), run(256, b"he", b"she")]),
            }
        ).encode(),
        TEXT,
        range(258, 262),
        drops_text=True,
    ),
    "tokenizer.tok.json": Small(
        json.dumps(grok(vocab_size=261), separators=(",", ":")).encode(), TEXT, range(261, 262)
    ),
    NAME: Small(WHOLE, "so he said 123\r\n\x07é中文 \x80", range(257, 265)),
}


def check(path: Path, small: Small, data: bytes) -> None:
    """A damaged file is refused by name, or what is loaded is right."""
    path.write_bytes(data)
    try:
        enc = compat_bpe.load(path)
    except ValueError as error:
        assert str(error).startswith(f"{path}: ")  # noqa: PT017
    else:
        text = small.text
        kept = "".join(enc.core.splitter.chunks(text)) if small.drops_text else text
        assert enc.decode(enc.encode_ordinary(text)) == kept, data
        assert enc.n_vocab in small.sizes, data


@pytest.mark.parametrize("name", SMALL)
@given(draw=st.data())
@settings(max_examples=scaled(1000))
def test_some_damage(
    tmp_path_factory: pytest.TempPathFactory, name: str, draw: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / name
    check(path, SMALL[name], draw.draw(some_damage(SMALL[name].data)))


@pytest.mark.sweep
@pytest.mark.parametrize("name", SMALL)
def test_damage_all_over(tmp_path: Path, name: str) -> None:
    for data in spread_damage(SMALL[name].data):
        check(tmp_path / name, SMALL[name], data)


VALUES: dict[str, Any] = {
    "an object": {"a": 1},
    "a list": [1],
    "a string": "a",
    "null": None,
    "true or false": False,
    "an integer": 1,
}
#: For each reader the kind that it takes.
READERS = {
    "mapping": "an object",
    "sequence": "a list",
    "text": "a string",
    "truth": "true or false",
    "number": "an integer",
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", VALUES)
def test_each_kind_is_read_by_its_reader_alone(reader: str, kind: str) -> None:
    value = Json(VALUES[kind], "x.json", "a.b")
    if kind == READERS[reader]:
        assert getattr(value, reader)() == VALUES[kind]
    else:
        reason = f"must be {READERS[reader]}, not {kind}"
        with pytest.raises(ValueError, match=rf"^x\.json: a\.b: {reason}$"):
            getattr(value, reader)()


def test_a_fraction_is_no_whole_number() -> None:
    with pytest.raises(ValueError, match=r"^x: must be an integer, not a float$"):
        Json(1.0, "x").number()


def test_a_text_must_be_unicode() -> None:
    with pytest.raises(ValueError, match=r"^x: has a lone surrogate$"):
        Json("a\ud800", "x").text()
    assert [is_unicode(text) for text in ("", "a", "é😀", "\ud800")] == [True, True, True, False]


def test_members_know_their_place() -> None:
    value = Json({"a": {"b": None, "c": [{"d": 1}]}}, "x")
    assert value["a"]["c"].place == "a.c"
    [item] = value["a"]["c"].items()
    assert (item.value, item.source, item.place) == ({"d": 1}, "x", "a.c[0]")
    [item] = value["a"]["c"].items("tokens")
    assert item["d"].place == "tokens[0].d"
    assert value["a"]["b"].value is None
    assert value["a"]["b"].place == "a.b"
    assert value["a"].get("b") is None
    assert value.get("z") is None
    with pytest.raises(ValueError, match=r"^x: there is no 'z'$"):
        value["z"]


@pytest.mark.skipif(not hasattr(sys, "set_int_max_str_digits"), reason="numbers have no bound yet")
def test_a_number_of_thousands_of_digits_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^x: Exceeds the limit"):
        parse_json(b"9" * 5000, "x")


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'{"a": 1}')
    monkeypatch.setattr(checked_json, "read_whole", partial(read_whole, limit=8))
    read = read_json(path)
    assert (read.value, read.source) == ({"a": 1}, str(path))
    monkeypatch.setattr(checked_json, "read_whole", partial(read_whole, limit=7))
    with pytest.raises(ValueError, match=r"a\.json: larger than 7 bytes$"):
        read_json(path)
    with pytest.raises(FileNotFoundError):
        read_json(tmp_path / "b.json")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text("aé\ud800"),
        lambda inner: st.lists(inner) | st.dictionaries(st.text("ab"), inner),
    )
)
def test_any_value_is_read_back(value: Any) -> None:
    assert parse_json(json.dumps(value).encode(), "x").value == value


#: What tokenizers 0.23.3 has read.
READ = {
    "-7.4715776443481445": -7.471577644348144,
    "-10.0": -10.0,
    "0.1": 0.1,
    "-0.0": -0.0,
    "1e22": 1e22,
    "123456789012345678.5e-3": 123456789012345.67,
    "18446744073709551615.5": 1.8446744073709552e19,
    "18446744073709551616.5": 1.8446744073709552e19,
    "1e-400": 0.0,
    "-1e-99999999999": -0.0,
    "0e99999999999": 0.0,
    "0.0e400": 0.0,
    "5e-324": 5e-324,
    "0." + "0" * 400 + "1e400": 0.1,
}


@pytest.mark.parametrize("text", READ, ids=lambda text: text[:20])
def test_numbers(text: str) -> None:
    assert repr(read_float(text)) == repr(READ[text])


@pytest.mark.parametrize("text", ["1e309", "-1e400", "1e99999999999", "9" * 309 + ".0", "179e307"])
def test_numbers_out_of_range(text: str) -> None:
    with pytest.raises(ValueError, match="is out of range"):
        read_float(text)
    with pytest.raises(ValueError, match=r"a\.json: .* is out of range"):
        parse_json(text.encode(), "a.json")


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity"])
def test_names_are_no_numbers(name: str) -> None:
    with pytest.raises(ValueError, match=rf"a\.json: not JSON: {name} is not a number in JSON"):
        parse_json(f'{{"a": {name}}}'.encode(), "a.json")


def test_what_is_no_number_at_all() -> None:
    with pytest.raises(ValueError, match="'x' is not a number"):
        read_float("x")


@given(st.floats(-1e300, 1e300).filter(lambda value: value == 0 or abs(value) > 1e-280))
def test_a_number_of_15_digits_is_what_python_reads(value: float) -> None:
    text = f"{value:.14e}"
    mantissa, _, exponent = text.partition("e")
    if abs(int(exponent)) <= 7:
        assert read_float(text) == float(text)
    assert read_float(mantissa) == float(mantissa)


@given(st.floats(-200, 200).map(lambda value: read_float(repr(value))))
def test_what_is_written_is_read_again(value: float) -> None:
    assert read_float(repr(written_float(value))) == value
