"""The Python side of the page, as it runs on any Python."""

from __future__ import annotations

import json
import re
from errno import EIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe import (
    Encoding,
    get_encoding,
    list_encoding_names,
    load,
)
from compat_bpe.chat import count_parts, count_request
from compat_bpe.chat.limits import context_limit
from compat_bpe.encodings.families import FAMILIES, NeedsFile
from compat_bpe.encodings.model_names import model_names
from compat_bpe.encodings.published import PATTERNS
from compat_bpe.fit import Document
from compat_bpe.unicode.clusters import long_clusters
from tests.chat.images import address
from tests.formats.small_gguf import gguf, gpt2
from tests.kinds import KINDS, kind_path, of_kind
from web.counting_page.desk import Desk
from web.counting_page.explained import LONGEST, facts_of, steps_of
from web.counting_page.text import EditedText, Whole, cells_of, decoded, side_of
from web.counting_page.tokenizers import find, packs
from web.model_list import models

GPT2 = get_encoding("gpt2")
#: Text with what is hard: several tokens a character, several characters a cluster, surrogates.
texts = st.lists(
    st.sampled_from(
        [*"ab \n", "é", "\u0301", "\u200d", "👩", "🇩", "世", "<|endoftext|>", "\ud800"]
    ),
    max_size=40,
).map("".join)
names = st.sampled_from(["gpt2", *KINDS])


def encoding_of(name: str) -> Any:
    return GPT2 if name == "gpt2" else of_kind(name)


def edited_text(text: str, *encodings: Any, special: bool = False) -> EditedText:
    """Return a text that is counted by some encodings."""
    edited = EditedText()
    edited.choose(list(encodings), special=special)
    edited.replace(0, 0, text)
    return edited


def utf16(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@given(names, texts, st.data())
def test_cells_have_each_token_once_and_cut_nothing(
    name: str, text: str, data: st.DataObject
) -> None:
    encoding = encoding_of(name)
    tokens = Document(encoding, text).tokens(0, len(text))
    cells = cells_of(text, 0, tokens)
    assert [one for cell in cells for one in cell.ids] == [token.id for token in tokens]
    assert [cell.number for cell in cells] == [
        tokens[sum(len(before.ids) for before in cells[:at])].number for at in range(len(cells))
    ]
    for cell, after in zip(cells, cells[1:]):
        assert cell.end <= after.start
    for start, end in long_clusters(text):
        for cell in cells:
            assert not start < cell.start < end or cell is cells[0]
    for token in tokens:
        assert any(cell.start <= token.start and token.end <= cell.end for cell in cells)


@given(names, st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9), texts), max_size=6))
def test_edits_in_utf16_count_as_the_text_does(
    name: str, edits: list[tuple[int, int, str]]
) -> None:
    encoding = encoding_of(name)
    edited = edited_text("", encoding, GPT2)
    text = ""
    for start, length, new in edits:
        start = min(start, len(text))
        end = min(start + length, len(text))
        edited.replace(utf16(text[:start]), utf16(text[:end]), new)
        text = text[:start] + new + text[end:]
        assert edited.counts() == [encoding.count(text), GPT2.count(text)]
        size = utf16(text)
        for column, side in enumerate(edited.blocks([(0, size)])[0]):
            ids = [one for cell in side["cells"] for one in cell[3]]
            assert len(ids) <= edited.counts()[column]
            assert all(0 <= cell[0] <= cell[1] <= size for cell in side["cells"])


@given(names, texts, st.lists(st.tuples(st.integers(0, 40), st.integers(0, 9)), max_size=4))
@example("gpt2", "<|endoftext|>", [(0, 0), (3, 0)])  # nothing, within a token
def test_blocks_asked_for_at_once_are_those_asked_for_one_by_one(
    name: str, text: str, parts: list[tuple[int, int]]
) -> None:
    encoding = encoding_of(name)
    edited = edited_text(text, encoding, GPT2)
    ranges = [
        (utf16(text[: min(start, len(text))]), utf16(text[: min(start + length, len(text))]))
        for start, length in parts
    ]
    together = edited.blocks(ranges)
    assert together == [edited.blocks([one])[0] for one in ranges]
    document = Document(encoding, text)
    for (start, length), sides in zip(parts, together):
        begin, stop = min(start, len(text)), min(start + length, len(text))
        ids = [one for cell in sides[0]["cells"] for one in cell[3]]
        assert ids == [one.id for one in document.tokens(begin, stop)]


@given(texts, st.integers(0, 12))
def test_the_cut_is_that_of_truncate(text: str, limit: int) -> None:
    edited = edited_text(text, GPT2)
    cut = edited.cut(0, limit)
    truncated = GPT2.truncate(text, limit)
    assert cut == (utf16(truncated.text) if truncated.was_cut else None)


@given(texts, st.integers(0, 12))
def test_names_of_special_tokens_are_tokens_where_that_is_chosen(text: str, limit: int) -> None:
    edited = edited_text(text, GPT2, special=True)
    ids = GPT2.encode(text, allowed_special="all")
    assert edited.counts() == [len(ids)]
    cut = edited.cut(0, limit)
    assert (cut is None) == (len(ids) <= limit)
    if cut is not None:
        kept = text.encode("utf-16-le", "surrogatepass")[: 2 * cut].decode(
            "utf-16-le", "surrogatepass"
        )
        assert len(GPT2.encode(kept, allowed_special="all")) <= limit


@given(texts, st.integers(0, 40), st.integers(0, 40))
def test_a_part_of_a_whole_text_has_its_tokens(text: str, start: int, end: int) -> None:
    whole = Whole(GPT2, text, {"<|endoftext|>"})
    everything = whole.tokens(0, len(text))
    assert whole.tokens(start, end) == [
        one for one in everything if start < end and one.start < end and one.end > start
    ]


def test_a_text_that_is_refused_changes_nothing() -> None:
    only = Encoding("ab", pat_str=r"\w+", mergeable_ranks={b"a": 0, b"b": 1}, special_tokens={})
    edited = edited_text("ab", GPT2, only)
    with pytest.raises((ValueError, KeyError)):
        edited.replace(1, 1, "x")
    assert edited.text == "ab"
    assert edited.counts() == [1, 2]
    edited.replace(1, 2, "a")
    assert edited.counts() == [1, 2]


def loaded(desk: Desk, folder: Path, files: dict[str, bytes], pattern: str = "") -> Any:
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return json.loads(desk.load(str(folder), pattern))


def test_encodings_of_files_have_keys_of_their_own(tmp_path: Path) -> None:
    desk = Desk()
    assert "error" in loaded(desk, tmp_path / "a", {"tokenizer.json": b"{}"})
    pair = {"vocab.json": b'{"a": 0, "b": 1}', "merges.txt": b""}
    # Without the bytes as tokens it is GPT-2's only if a file says so.
    assert "error" in loaded(desk, tmp_path / "d", pair)
    pair["tokenizer_config.json"] = b'{"tokenizer_class": "GPT2Tokenizer"}'
    assert loaded(desk, tmp_path / "b", pair) == {"value": "file:1"}
    assert loaded(desk, tmp_path / "c", {"m.gguf": gguf(gpt2())}) == {"value": "file:2"}
    desk.answer('{"ask": "choose", "keys": ["file:2", "file:1"], "special": false}')
    assert json.loads(desk.count_file(b"hello"))["counts"] == [1, 0]


@given(names, texts, st.booleans())
def test_all_ids_are_those_of_the_text(name: str, text: str, special: bool) -> None:
    encoding = encoding_of(name)
    edited = edited_text(text, encoding, special=special)
    assert len(edited.ids(0)) == edited.counts()[0]
    if name == "gpt2":
        allowed = {"<|endoftext|>"} if special else set[str]()
        assert edited.ids(0) == GPT2.encode(text, allowed_special=allowed, disallowed_special=())


def test_errors_of_a_tokenizer_name_the_file_as_the_visitor_does(tmp_path: Path) -> None:
    answer = loaded(Desk(), tmp_path / "one", {"tokenizer.json": b"{"})
    assert answer["error"].startswith("tokenizer.json:")
    assert str(tmp_path) not in answer["error"]
    with patch("compat_bpe.load", side_effect=OSError(EIO, "I/O error")):
        answer = loaded(Desk(), tmp_path / "two", {"b.gguf": b"", "a.json": b""})
    assert answer["error"].startswith("a.json, b.gguf: cannot be read: was it changed or removed")


@pytest.mark.parametrize("kind", KINDS)
def test_facts_and_steps_are_there_for_every_kind(kind: str) -> None:
    encoding = load(kind_path(kind))
    for token in encoding.encode("the dog, 世界"):
        facts = facts_of(encoding, token)
        assert facts["id"] == token
        assert bytes.fromhex(facts["bytes"]) == encoding.decode_single_token_bytes(token)
    found = steps_of(encoding, "the dog", special=False)
    assert [one for chunk in found for one in chunk["ids"]] == encoding.encode("the dog")


def test_a_request_is_counted_with_all_that_it_has() -> None:
    """With its images, tools and the form of the reply, as ``count_request`` does."""
    image = {"type": "image_url", "image_url": {"url": address()}}
    messages = [{"role": "user", "content": [{"type": "text", "text": "hello"}, image]}]
    tools = [{"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}}]
    form = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}
    request: dict[str, Any] = {"messages": messages, "tools": tools, "response_format": form}
    asked = {"ask": "conversation", "key": "o200k_base", "model": "gpt-4o", "request": request}
    value = json.loads(Desk().answer(json.dumps(asked)))["value"]
    expected = count_request(request, model="gpt-4o")
    assert (value["count"], value["note"]) == (int(expected), expected.note)
    parts = {one.name: one.tokens for one in count_parts(**request, model="gpt-4o")}
    assert value["parts"] == {name: parts[name] for name in ("response_format", "tools", "images")}


def test_too_long_a_word_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 200"):
        steps_of(GPT2, "x" * (LONGEST + 1), special=False)


def test_every_encoding_has_its_pack() -> None:
    folder = Path(__file__).parents[2] / "compat_bpe" / "encodings" / "packs"
    assert set(packs().values()) == {path.stem for path in folder.glob("*.pack")}


def test_the_page_offers_every_encoding_and_known_patterns() -> None:
    site = Path(__file__).parents[2] / "web" / "site"
    shipped = re.findall(r"^  \['(\w+)', '", (site / "js" / "models.js").read_text("utf-8"), re.M)
    assert sorted(shipped) == sorted(list_encoding_names())
    listed = re.search(r'id="patterns">(.*?)</datalist>', (site / "index.html").read_text("utf-8"))
    assert listed is not None
    for name in re.findall(r'value="(\w+)"', listed[1]):
        assert name in PATTERNS


def test_the_picker_says_what_the_package_knows() -> None:
    rows = {row[0]: row[1:] for family in models() for row in family["models"] if row[1]}
    assert set(model_names()) <= set(rows)
    for name, (key, context, _) in rows.items():
        assert find(name)["key"] == key
        if context is not None:
            assert context == context_limit(name).context
    # Every family is in it, with what to do.
    hints = {row[0]: row[3] for family in models() for row in family["models"] if not row[1]}
    for one in FAMILIES:
        if isinstance(one, NeedsFile) or not one.examples:
            assert hints[one.name]
    assert all(key or hint for family in models() for _, key, _, hint in family["models"])


@given(texts)
def test_ids_become_the_text_and_cells_with_each_token_once(text: str) -> None:
    text = text.replace("\ud800", "")
    ids = GPT2.encode_ordinary(text)
    found = decoded(GPT2, ids)
    assert found["text"] == text
    assert found["side"] == side_of(GPT2, text, 0, Document(GPT2, text).tokens(0, len(text)))


@pytest.mark.parametrize(
    ("ids", "reason"),
    [([50257], "no token with the id 50257"), ([187], "not whole characters: byte 0")],
)
def test_ids_that_are_no_text_are_refused(ids: list[int], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        decoded(GPT2, ids)
