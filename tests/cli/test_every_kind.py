"""Every command with every kind of tokenizer: the ids of the library, and no traceback."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import get_encoding, load
from compat_bpe.encodings.published import BASELINES
from tests.cli.running import command, objects, printed, refused, run, small_blocks, sweep, write
from tests.kinds import KINDS, kind_path, of_kind

TEXTS = [
    "",
    "hugs",
    " " * 9,
    "\0a\r\n",
    "[CLS] <s> <unk>",
    "The hugs,  hug\n\tpug! 中文 😀 e\u0301ｈ x",
]

texts = st.text(st.sampled_from("hugs pnblow ,!\n\t中文😀é\u0301▁ｈ½<s>0x"), max_size=30)

COMMANDS = [
    *("count", "encode", "encode --special", "encode --json", "encode --offsets"),
    *("encode --packed", "show", "show --ids", "show --color always", "show --json"),
    *("show --html", "show --merges", "show --merges --json", "truncate -n 3"),
    *("truncate -n 3 --keep ends", "split -n 5 --json"),
]
NAMES = [*KINDS, *BASELINES]


def path_of(name: str) -> str:
    return kind_path(name) if name in KINDS else name


@pytest.mark.parametrize("args", COMMANDS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("every", [3, sweep(1)])
def test_every_command(args: str, name: str, every: int) -> None:
    """By default a third of the texts: of each command, and of each kind, they are all."""
    line = f"{args} -e {path_of(name)}"
    for text in TEXTS[(COMMANDS.index(args) + NAMES.index(name)) % every :: every]:
        if args == "count" and "\0" in text:
            continue
        status, _, err = run(*line.split(), stdin=text.encode())
        assert (status, "Traceback" in err) == (0, False), (text, err)
    status, _, err = run(*line.split(), stdin=b"\xff\xfe\0\x80")
    assert (status, err.count("\n")) == (2, 1) or (args == "count" and err), err


@given(text=texts, name=st.sampled_from(KINDS), special=st.booleans(), block=st.integers(1, 40))
def test_tokens_have_the_places_of_the_library(
    text: str, name: str, special: bool, block: int
) -> None:
    encoding = of_kind(name)
    allowed: Any = "all" if special else set()
    found = encoding.encode_with_offsets(text, allowed_special=allowed, disallowed_special=())
    line = f"encode --offsets -e {kind_path(name)} {'--special' if special else ''}"
    with small_blocks(block):
        tokens = objects(line, stdin=text)
    assert [token["id"] for token in tokens] == found.ids
    assert [token["token"] for token in tokens] == found.tokens
    assert [tuple(token["characters"]) for token in tokens] == found.offsets
    unknown = encoding.core.model.unknown_id
    for token in tokens:
        start, end = token["characters"]
        assert token["bytes"] == [len(text[:place].encode()) for place in (start, end)]
        units = [len(text[:place].encode("utf-16-le")) // 2 for place in (start, end)]
        assert token["utf16"] == units
        assert token.get("unknown", False) <= (token["id"] == unknown)
        if not special:
            assert token.get("special", False) is False or token["id"] != unknown


@given(text=texts, name=st.sampled_from(NAMES))
def test_what_is_shown_is_the_text(text: str, name: str) -> None:
    """Tokens and gaps, joined, are the text, unless tokens share a character."""
    path = path_of(name)
    tokens = objects(f"encode --offsets -e {path}", stdin=text)
    places = [token["characters"] for token in tokens]
    shares = any(start == end for start, end in places) or any(
        before[1] > after[0] for before, after in zip(places, places[1:])
    )
    page = printed(f"show --html -q -e {path}", stdin=text)
    (shown,) = re.findall("<pre>(.*)</pre>", page, re.DOTALL)
    ids = re.findall("<small>([^<]*)</small>", shown)
    assert " ".join(ids).split() == [str(token["id"]) for token in tokens]
    shown = re.sub("<small>[^<]*</small>", "", shown)
    if not shares and name not in ("bytes",):
        joined = html.unescape(re.sub("<[^>]*>", "", shown))
        assert joined.replace("\\n\n", "\n").replace("\\t", "\t") == text


def test_wordpiece_as_it_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    show = f"show -e {kind_path('wordpiece')}"
    assert command(show, stdin="Hugs, hugs\n中x é").out == (
        "Hug|s|,\\( \\)hug|s\\(\\n\n\\)中|\\<x\\>\\( \\)\\<é\\>\n"
    )
    ids = command(f"{show} --ids", stdin="Hugs!").out
    assert ids.splitlines() == ['12  "Hug"  hug', ' 8  "s"  ##s', '23  "!"']
    colored = command(show, stdin="hug x hug", terminal=True).out
    assert "\x1b[30m\x1b[45mx\x1b[0m" in colored
    assert "\x1b[2m \x1b[0m" in colored
    page = command(f"{show} --html", stdin="hugs x").out
    element = '<span title="8 ##s">s<small>8</small></span><i class="gap" title="no token"> </i>'
    assert element in page
    assert '<span class="unknown" title="0 [UNK]">x<small>0</small></span>' in page
    show = f"show -e {kind_path('characters_byte_fallback')}"
    assert command(show, stdin="hug é").out == "hug| |\\{é\\}2\n"


def test_special_tokens_are_added_and_left_out() -> None:
    path = kind_path("wordpiece")
    encoded = command(f"encode --add-special-tokens -e {path}", stdin="hugs").out
    assert encoded == "1 12 8 2\n"
    assert command(f"decode -e {path}", stdin=encoded).out == "[CLS] hugs [SEP]"
    for name, ids, text in ((path, encoded, "hugs"), ("gpt2", "50256 31373 50256", "hello")):
        skipped = command(f"decode --skip-special-tokens -e {name}", stdin=ids)
        assert skipped == (0, text, "")


@given(ids=st.lists(st.integers(0, 270), max_size=40), block=st.integers(1, 9))
def test_pieces_are_decoded_as_a_whole(ids: list[int], block: int) -> None:
    name = "characters_byte_fallback"
    encoding = of_kind(name)
    ids = [token for token in ids if token <= encoding.max_token_value]
    data = " ".join(map(str, ids)).encode()
    with small_blocks(block):
        status, out, err = run("decode", "-e", kind_path(name), stdin=data)
        wrong = run("decode", "-e", kind_path(name), stdin=data + b" 999")
    assert (status, out, err) == (0, encoding.decode_bytes(ids), "")
    assert wrong.err.endswith(f"no token with the id 999 (at offset {len(data) + 1})\n")


def test_ids_of_baselines() -> None:
    said = "compat-bpe: standard input: "
    assert command("decode -e characters", stdin="110 20013").out == "n中"
    unknown = f"{said}bytes has no token with the id 256 (at offset 0)\n"
    assert command("decode -e bytes", stdin="256") == (2, "", unknown)
    err = refused("decode -e words", stdin="99999999")
    assert err.endswith("(at offset 0); ids of words are valid only within one command\n")


@pytest.mark.parametrize("args", COMMANDS)
def test_what_has_no_token_is_an_error_of_one_line(args: str) -> None:
    model = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "[UNK]"}
    tokenizer = {"model": model, "added_tokens": [], "pre_tokenizer": {"type": "Whitespace"}}
    write({"tokenizer.json": json.dumps(tokenizer), "texts/a.txt": "a zz"})
    # In a directory, too, it is an error, and not skipped like a file that is no text.
    for line in (args, "count -q texts", "count -q texts/a.txt"):
        status, _, err = command(f"{line} -e tokenizer.json", stdin="a zz")
        assert (status, err.count("\n")) == (2, 1), err
        assert "'zz' is not in the vocabulary" in err


#: Why a kind cannot be extended.
SCORES = "the scores of all pieces would change with a new one"
UNIGRAM = f"is a Unigram model, which cannot be extended: {SCORES}\n"
BASELINE = "is a baseline, which cannot be extended: it has no vocabulary\n"
NOT_EXTENDED = {
    **dict.fromkeys(["unigram", "unigram_bytes"], UNIGRAM),
    **{name: BASELINE for name in BASELINES if name != "bytes"},
}


@pytest.mark.parametrize("name", NAMES)
def test_each_kind_is_extended_or_refused(name: str) -> None:
    path = path_of(name)
    status, out, err = command(f"extend -e {path} -n 1 -o new", stdin="pugs " * 9)
    if name in NOT_EXTENDED:
        assert (status, out) == (2, "")
        assert err.endswith(NOT_EXTENDED[name])
        assert not Path("new").exists()
    else:
        assert (status, err) == (0, "")
        old = load(path) if name in KINDS else get_encoding(name)
        assert load("new").n_vocab == old.n_vocab + 1
    if name in KINDS:
        ((found,),) = objects(f"encodings --json -e {path}")
        assert found["vocabulary_size"] == of_kind(name).n_vocab
        assert found["tokens_of"] == "tokenizers"


def test_a_report_of_all_kinds() -> None:
    write({"a.txt": "hugs and 中文, pugs"})
    args = " ".join(f"-e {path_of(name)}" for name in (*NAMES, "gpt2"))
    lines = printed(f"report {args} --html page.html a.txt").splitlines()
    assert "tokens that are unknown" in lines
    assert sum("not known" in line for line in lines) == len(NAMES) - 1
    written = Path("page.html").read_text("utf-8")
    assert written.count("Unreachable tokens are not known for this kind of model.") > len(KINDS)
    (found,) = objects(f"report --json {args} a.txt")
    by_name = {one["name"]: one for one in found["encodings"]}
    # [UNK] for "and" and "pugs"; there is a token for 中, but none for 文.
    one = by_name[kind_path("wordpiece")]
    ids = of_kind("wordpiece").encode_ordinary("hugs and 中文, pugs")
    assert one["total"]["unknown"] == ids.count(0) > 1
    assert one["total"]["unknown_share"] == ids.count(0) / len(ids)
    assert one["total"]["whole_chunks"] < one["total"]["chunks"]
    assert one["vocabulary"]["unreachable"] is None
    gpt2 = by_name["gpt2"]
    assert gpt2["total"]["unknown"] is gpt2["total"]["unknown_share"] is None
    assert len(gpt2["vocabulary"]["unreachable"]) == 13
    words = by_name["words"]["vocabulary"]
    assert (words["mergeable"], words["used"], words["unused"]) == (None, 4, None)
    assert get_encoding("gpt2").core.model.unknown_id is None
