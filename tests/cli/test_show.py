"""``compat-bpe show``: the output says exactly what the tokens are, and how pairs are merged."""

from __future__ import annotations

import html
import json
import os
import re
from html.parser import HTMLParser
from math import inf
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe import get_encoding, load
from compat_bpe.cli.token_view import _columns, _Lines
from compat_bpe.pipeline.models.explain import explain
from compat_bpe.save import save_tokenizer_json
from tests.cli.running import (
    FIXTURES,
    cases,
    command,
    ids_of,
    printed,
    read_json,
    run,
    small_blocks,
    write,
)
from tests.examples import scaled
from tests.kinds import kind_path
from tests.strategies import utf8_texts

COLOR = re.compile(
    "\x1b\\[30m\x1b\\[(4[136])m((?:(?!\x1b).)+)\x1b\\[0m|\n|\x1b\\[2m([⁰¹²³⁴-⁹]+)\x1b\\[0m"
)


@pytest.fixture(autouse=True)
def _a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")


def unescape(shown: str) -> bytes:
    """The bytes of a token, read as the help says how they are shown."""
    data = b""
    for escaped, plain in re.findall(
        r"\\(x..|u.{4}|U.{8}|n\n?|[tr\\|\"])|(.)", shown.replace("\\n\n", "\\n")
    ):
        if plain:
            assert plain.isprintable()
            data += plain.encode()
        elif escaped[0] == "x":
            data += bytes([int(escaped[1:], 16)])
        elif escaped[0] in "uU":
            data += chr(int(escaped[1:], 16)).encode()
        else:
            data += {"n": b"\n", "t": b"\t", "r": b"\r"}.get(escaped[0], escaped[0].encode())
    return data


def unit(shown: str) -> tuple[int, bytes]:
    """The number of tokens that are shown together, and their bytes."""
    several = re.fullmatch(r"\\\{(.*)\\\}(\d+)", shown, re.DOTALL)
    return (int(several[2]), unescape(several[1])) if several else (1, unescape(shown))


def together(tokens: list[bytes]) -> list[tuple[int, bytes]]:
    """The same of the tokens of a text: those that share a character are together."""
    found: list[tuple[int, bytes]] = []
    for token in tokens:
        if found and found[-1][1].decode("utf-8", "ignore").encode() != found[-1][1]:
            number, before = found.pop()
            found.append((number + 1, before + token))
        else:
            found.append((1, token))
    return found


@given(
    text=utf8_texts,
    name=st.sampled_from(["gpt2", "p50k_edit"]),
    charset=st.sampled_from(["utf-8", "ascii", "latin-1"]),
    block=st.integers(1, 50),
)
def test_tokens_can_be_read_from_what_is_shown(
    text: str, name: str, charset: str, block: int
) -> None:
    with small_blocks(block):
        shown = printed(f"show -q -e {name}", stdin=text, charset=charset)
    assert shown.endswith("\n") == bool(text)
    # No line ends but after a newline that is shown, and at the end.
    assert re.fullmatch(r"(?:(?:[^\\\n]|\\[^n])|\\n\n)*\n?", shown)
    # A separator has no escape before it, and an escape is never cut.
    parts = re.findall(r"((?:\\.|[^\\|])+)(?:\||\Z)", shown.removesuffix("\n"), re.DOTALL)
    encoding = get_encoding(name)
    expected = encoding.decode_tokens_bytes(encoding.encode_ordinary(text))
    assert list(map(unit, parts)) == together(expected)


@given(text=utf8_texts, special=st.booleans())
def test_ids(text: str, special: bool) -> None:
    out = printed(f"show -q -e p50k_edit --ids {'--special' if special else ''}", stdin=text)
    encoding = get_encoding("p50k_edit")
    ids = ids_of(encoding, text, special)
    lines = out.split("\n")[:-1]
    assert [int(line[:5]) for line in lines] == ids
    rest = iter(zip(ids, lines))
    for count, data in together(encoding.decode_tokens_bytes(ids)):
        own = b""
        for number in range(1, count + 1):
            token, line = next(rest)
            if encoding.is_special_token(token):
                assert (line[5:9], line[-2:]) == ("  \\[", "\\]")
                assert unescape(line[9:-2]) == data
                continue
            match = re.fullmatch(r'  "((?:\\.|[^\\"])*)"(?:  (\d+/\d+)  "(.*)")?', line[5:])
            assert match
            assert unescape(match[1]) == data
            assert match[2] == (f"{number}/{count}" if count > 1 else None)
            own += unescape(match[3] or "")
        assert own == (data if count > 1 else b"")


def test_colors_of_lines_alternate_by_token() -> None:
    out = command("show --ids -e words", stdin="a  b", terminal=True).out
    # Words are numbered as they come in a process, so their ids are left out here.
    colored = [line[line.index("\x1b") : -4] for line in out.splitlines()[1:]]
    assert colored == ["\x1b[30m\x1b[46ma", "\x1b[2m  ", "\x1b[30m\x1b[43mb"]


@given(text=utf8_texts)
def test_colors(text: str) -> None:
    shown = printed("show -q -e p50k_edit --special", stdin=text, terminal=True)
    # Nothing is outside of a color, and no other escape sequence is in it.
    assert COLOR.sub("", shown) == ""
    encoding = get_encoding("p50k_edit")
    ids = encoding.encode(text, allowed_special="all")
    special = {name.encode() for name in encoding.special_tokens_set}
    rest = COLOR.finditer(shown)
    for number, (count, unit_data) in enumerate(together(encoding.decode_tokens_bytes(ids))):
        color = "41" if unit_data in special else ["46", "43"][number % 2]
        data = b""
        # A unit with newlines in it has several parts of one color.
        while data != unit_data:
            match = next(rest)
            if match[1]:
                assert match[1] == color
                data += unescape(match[2])
        if count > 1:
            raised = next(rest)[3]
            assert int(raised.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789"))) == count
    assert not [match for match in rest if match[1] or match[3]]


@pytest.mark.parametrize(
    ("args", "text", "out"),
    [
        (
            "-e p50k_edit",
            "a\tb | c\\n\r\n  naïve 世 \x1b[31mred<|endoftext|>\n\nend\x85\u200b",
            "a|\\t|b| \\|| c|\\\\|n|\\r|\\n\n"
            "| | naïve| |\\{世\\}2| |\\x1b|[|31|m|red|<|\\||end|of|text|\\||>|\\n\n"
            "|\\n\n"
            "|end|\\{\\u0085\\}2|\\u200b\n",
        ),
        ("-e p50k_edit --special", "hi<|endoftext|>", "hi|\\[<|endoftext|>\\]\n"),
        ("-e gpt2 --ids", 'a "\n', '   64  "a"\n  366  " \\""\n  198  "\\n"\n'),
        ("-e gpt2 --ids", "世", '10310  "世"  1/2  "\\xe4\\xb8"\n  244  "世"  2/2  "\\x96"\n'),
        ("", "", ""),
    ],
)
def test_as_it_looks(args: str, text: str, out: str) -> None:
    assert command(f"show -q {args}", stdin=text) == (0, out, "")


@cases(
    """
 → terminal →  → colored
 →  →  → plain
 → terminal → NO_COLOR=1 → plain
 → terminal → NO_COLOR= → colored
 → terminal → TERM=dumb → plain
--color auto →  →  → plain
--color always →  → NO_COLOR=1 → colored
--color never → terminal →  → plain
""",
    "option terminal variable look",
)
def test_when_there_are_colors(
    monkeypatch: pytest.MonkeyPatch, option: str, terminal: str, variable: str, look: str
) -> None:
    if variable:
        monkeypatch.setenv(*variable.split("="))
    out = printed(f"show -q -e gpt2 {option}", stdin="hello world", terminal=bool(terminal))
    colored = "\x1b[30m\x1b[46mhello\x1b[0m\x1b[30m\x1b[43m world\x1b[0m\n"
    assert out == (colored if look == "colored" else "hello| world\n")


def test_nothing_of_a_text_reaches_the_terminal_as_a_control() -> None:
    text = "".join(map(chr, range(0x300))) + "\u2028\u202e\u2066\ufeff\U000e0041"
    for args in ("", "--ids", "--color always", "--ids --color always"):
        shown = command(f"show -e gpt2 {args}", stdin=text).out
        assert shown.replace("\n", "").replace("\x1b", "").isprintable()
        assert "\x1b" not in re.sub("\x1b\\[(?:0|2|30|43|46)m", "", shown)


def test_a_line_has_the_numbers() -> None:
    write({"a.txt": "naïve"})
    args, shown = "show -e gpt2 --color never", "na|ïve\n"
    assert command(f"{args} a.txt") == (0, shown, "compat-bpe: a.txt: 2 tokens, 5 characters\n")
    # On a terminal, they are above the tokens.
    above = f"2 tokens, 5 characters\n{shown}"
    assert command(f"{args} a.txt", terminal=True) == (0, above, "")
    one = "compat-bpe: standard input: 1 token, 1 character\n"
    assert command(f"{args} --ids", stdin="a").err == one
    assert command(args, terminal=True).out == "0 tokens, 0 characters\n"
    assert command(f"{args} -q a.txt") == (0, shown, "")


def test_several_files() -> None:
    write({"a.txt": "hello world", "b.txt": b"caf\xe9"})
    files = "-e gpt2 --errors strict a.txt missing - b.txt a.txt"
    first = "==> a.txt <==\nhello| world\n"
    out = f"{first}\n==> standard input <==\nx|\\n\n\n==> b.txt <==\n\n{first}"
    err = (
        "compat-bpe: missing: No such file or directory\n"
        "compat-bpe: b.txt: not UTF-8: byte 0xe9 at offset 3; convert it to UTF-8\n"
    )
    assert command(f"show -q {files}", stdin="x\n") == (2, out, err)
    status, out, _ = command(f"show --json {files}", stdin="x\n")
    paths = [json.loads(line)["path"] for line in out.splitlines()]
    assert (status, paths) == (2, ["a.txt", "a.txt", "-", "-", "a.txt", "a.txt"])


class _Page(HTMLParser):
    """The tokens of a page, and every tag in it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.tokens: list[tuple[list[int], bool, str]] = []
        self.listed: list[int] = []
        self._token: tuple[list[int], bool] | None = None
        self._tag = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self._tag = tag
        found = dict(attrs)
        if tag == "span":
            ids = list(map(int, (found["title"] or "").split()))
            assert found.get("data-tokens") == (str(len(ids)) if len(ids) > 1 else None)
            self._token = ids, found.get("class") == "special"
            self.tokens.append((*self._token, ""))

    def handle_endtag(self, tag: str) -> None:
        self._tag = ""
        if tag == "span":
            self._token = None

    def handle_data(self, data: str) -> None:
        if self._tag == "small":
            self.listed += map(int, data.split())
        elif self._token is not None:
            number, special, before = self.tokens[-1]
            self.tokens[-1] = (number, special, before + data)


@given(text=utf8_texts)
def test_html_has_the_tokens_and_no_other_markup(text: str) -> None:
    text += "<script>alert('&amp;')</script>\x00\x1b[31m\u202e<|endoftext|>"
    data = run(*"show --html -e p50k_edit --special".split(), stdin=text.encode(), charset="ascii")
    out = data.out.decode()
    assert data[::2] == (0, "")
    encoding = get_encoding("p50k_edit")
    ids = encoding.encode(text, allowed_special="all")
    page = _Page(out)
    tags = "html head meta title style body main input label section h1 h2 pre span small p"
    assert page.tags == set(tags.split())
    # The ids are in the text of the page, too, so that they can be copied.
    assert [one for found, _, _ in page.tokens for one in found] == page.listed == ids
    for found, special, _ in page.tokens:
        assert special == (len(found) == 1 and encoding.is_special_token(found[0]))
    shown = [(len(found), unescape(part)) for found, _, part in page.tokens]
    assert shown == together(encoding.decode_tokens_bytes(ids))
    assert out.replace("\n", "").isprintable()
    assert f'<p class="total">{len(ids)} tokens, {len(text)} characters</p>' in out
    assert "http" not in out.partition("<body>")[0]


def test_html_of_a_file_with_a_strange_name() -> None:
    name = "<b>&\n.txt"
    write({name: "a"})
    out = run("show", "--html", "-q", "-e", "gpt2", name, "missing\udce9").out.decode()
    assert "<h2>&lt;b&gt;&amp;\\n.txt</h2>" in out
    assert out.endswith("</html>\n")
    assert "characters" not in out
    assert run("show", "--html", "missing\udce9").status == 2


@pytest.mark.parametrize("args", ["", "--ids", "--html", "--json"])
def test_what_is_before_an_error_is_shown(args: str) -> None:
    with small_blocks(1):
        status, out, err = command(f"show -e gpt2 --errors strict {args}", stdin=b"some words \xff")
    said = "compat-bpe: standard input: not UTF-8: byte 0xff at offset 11; convert it to UTF-8\n"
    assert (status, err) == (2, said)
    assert "some" in out
    assert "words" in out
    if args == "--html":
        assert "</pre>\n" in out
        assert out.endswith("</html>\n")


# The steps of merging.


@cases(
    r"""
-e gpt2 hugs ' "|' → "hugs"\n
      h|u|g|s  u|g 1018 < h|u 13415 < g|s 14542\n
      h|ug|s   ug|s 10339\n
      h|ugs\n
      = 71 10339\n
    \n
    " \\"|"\n
       |"|\\|   |" 366\n
       "|\\|\n
      = 366 91\n
-e gpt2 --special 'aaaaa b<|endoftext|>' → "aaaaa"\n
      a|a|a|a|a  a|a 7252 x4\n
      aa|a|a|a   a|a 7252 x2 < aa|a 46071\n
      aa|aa|a    aa|aa 24794 < aa|a 46071\n
      aaaa|a\n
      = 24794 64\n
    \n
    " b"  the whole chunk is a token and is not merged; merging would give:\n
       |b   |b 275\n
       b\n
      = 275\n
    \n
    \\[<|endoftext|>\\]  a special or added token\n
      = 50256\n
""",
    "args out",
)
def test_merges_as_they_look(args: str, out: str) -> None:
    """Equal pairs are counted, and chunks shown apart."""
    assert command(f"show --merges {args}") == (0, out, "")


def test_a_whole_token_and_characters_of_several_bytes() -> None:
    lines = command("show --merges -e deepseek_v3 世界").out.splitlines()
    assert lines[0] == '"世界"  the whole chunk is a token and is not merged; merging would give:'
    assert lines[1].startswith(r"  \xe4|\xb8|\x96|\xe7|\x95|\x8c  \xe4|\xb8 275 < ")
    assert lines[-2:] == ["  世界", "  = 3427"]
    # What stands beside the states is in one column, wide characters or not.
    assert len({re.search("  [^ ]+ [0-9]+", line[2:]) is None for line in lines[1:5]}) == 1


def test_of_a_list_of_merges_the_place_in_it_is_shown() -> None:
    save_tokenizer_json(load(FIXTURES / "gpt2_small"), "tokenizer.json")
    merges = read_json("tokenizer.json")["model"]["merges"]
    out = command("show --merges -e tokenizer.json", " other").out
    (pairs,) = re.findall(r" \|o\|t\|h\|e\|r  (.*)", out)
    shown = [pair.rsplit(" #", 1) for pair in pairs.split(" < ")]
    places = [int(place) for _, place in shown]
    assert places == sorted(set(places))
    for place, (pair, _) in zip(places, shown):
        assert merges[place - 1] == pair.replace(" ", "Ġ").split("|")
    (found,) = merged("tokenizer.json", "the")
    first = found["steps"][0]
    place, rank = first["pairs"][0]["place"], first["pairs"][0]["rank"]
    assert merges[rank] == first["parts"][place : place + 2]


def test_colors_mark_what_is_joined() -> None:
    out = command("show --merges -e gpt2 hugs", terminal=True).out
    joined = re.findall("\x1b\\[30m\x1b\\[43m([^\x1b]*)\x1b\\[0m", out)
    chosen = re.findall("\x1b\\[1m([^\x1b]*)\x1b\\[0m", out)
    assert (joined, chosen) == (["u|g", "ug|s"], ["u|g 1018", "ug|s 10339"])
    plain = command("show --merges -e gpt2 hugs").out
    assert re.sub("\x1b\\[[0-9]+m", "", out) == plain


@given(
    word=st.text(st.sampled_from("abcestion世 é"), min_size=2, max_size=40),
    width=st.integers(20, 120),
)
def test_lines_keep_to_the_width_and_say_what_is_left_out(word: str, width: int) -> None:
    encoding = get_encoding("p50k_edit")
    lines = _Lines(colored=False, width=width)
    for row in explain(encoding.core.model, word).rows():
        if not row.items:
            continue
        parts = list(map(lines._part, row.parts))
        left, _ = row.marked
        state, columns = lines._state(row)
        assert columns == _columns(state)
        shown = state.split("|")
        before, after = shown[0] == "…", shown[-1] == "…"
        inner = shown[before : len(shown) - after]
        (first,) = {
            n for n in range(left + 1) if parts[n : n + len(inner)] == inner and (n > 0) == before
        } & set(range(left + 2 - len(inner), left + 1)) or {-1}
        assert first >= 0
        assert (first + len(inner) < len(parts)) == after
        assert columns <= lines._room_for_state() <= width // 2 or len(inner) == 2

        room = width - 4 - columns
        full, cut = lines._items(row, inf), lines._items(row, room)
        found = re.fullmatch(r"(.*) … ([0-9]+) more", cut)
        if found is None:
            assert cut == full
            assert _columns(cut) <= room or len(set(re.findall(" [<=] ", cut))) == 0
            continue
        assert full.startswith(found[1])
        rest = full[len(found[1]) :]
        assert rest.startswith((" < ", " = "))
        assert len(re.findall(" [<=] ", rest)) == int(found[2])
        assert _columns(cut) <= room or not re.search(" [<=] ", cut)


def test_a_long_word_in_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    args = "show --merges -e gpt2 antidisestablishment"
    monkeypatch.setenv("COLUMNS", "50")
    lines = command(args).out.splitlines()
    assert lines[1] == "  …|i|s|h|m|e|n|t  e|n 268 < i|s 271 x2 … 15 more"
    assert max(map(len, lines[:-2])) <= 50
    monkeypatch.setenv("COLUMNS", "")
    out = command(args).out
    assert "…" not in out
    assert max(map(len, out.splitlines())) > 200
    monkeypatch.setattr("shutil.get_terminal_size", lambda *_, **__: os.terminal_size((50, 20)))
    assert command(f"{args} --color never", terminal=True).out.splitlines() == lines


@settings(max_examples=scaled(50))
@given(text=utf8_texts)
def test_json_says_what_the_ids_are(text: str) -> None:
    encoding = get_encoding("p50k_edit")
    found = merged("p50k_edit", stdin=text)
    assert [token for one in found for token in one["ids"]] == ids_of(encoding, text, False)
    for one in found:
        last = list(map(unescape, one["steps"][-1]["parts"]))
        assert b"".join(last) == unescape(one["chunk"])
        if not one["is_token"]:
            assert last == encoding.decode_tokens_bytes(one["ids"])


def sections(*args: str) -> list[str]:
    page = printed("show --merges --html -e", *args)
    assert page.endswith("</main>\n</body>\n</html>\n")
    return re.findall("<section>\n(.*?)</section>\n", page, re.DOTALL)


def merged(*args: str, stdin: str = "") -> list[Any]:
    out = printed("show --merges --json -e", *args, stdin=stdin)
    return list(map(json.loads, out.split("\n")[:-1]))


def parts(row: str) -> list[str]:
    return [html.unescape(part) for part in re.findall("<span[^>]*>(.*?)</span>", row, re.DOTALL)]


@pytest.mark.parametrize("name", ["gpt2", "deepseek_v3"])
def test_the_page_has_each_state_and_each_pair(name: str) -> None:
    args = [name, "--special", "hugs", " naïve 世界<|endoftext|>", "a<b&c"]
    shown, expected = sections(*args), merged(*args)
    assert len(shown) == len(expected) > 5
    for section, one in zip(shown, expected):
        title = re.search("<h2>(.*)</h2>", section)
        assert title
        assert html.unescape(title[1]) == one.get("chunk", one.get("special"))
        assert f"<p>Ids: {' '.join(map(str, one['ids']))}</p>" in section
        rows = re.findall("<tr><td>(.*?)</td><td>(.*?)</td></tr>", section, re.DOTALL)
        steps = one.get("steps", [])
        if "steps" in one:
            assert [parts(row) for row, _ in rows] == [step["parts"] for step in steps]
        for (row, items), step in zip(rows, steps):
            marked = re.findall('<span class="marked">(.*?)</span>', row)
            if step["pairs"]:
                place = step["pairs"][0]["place"]
                pair = step["parts"][place : place + 2]
                assert [html.unescape(part) for part in marked] == pair
                [bold] = re.findall("<b>(.*?)</b>", items)
                assert html.unescape(bold).startswith("|".join(pair) + " ")
            else:
                assert not marked
                assert not items


@pytest.mark.parametrize("kind", ["wordpiece", "unigram", "word_level", "characters_end_of_word"])
def test_a_page_of_other_models(kind: str) -> None:
    args = [kind_path(kind), "hugs hug"]
    shown, expected = sections(*args), merged(*args)
    assert len(shown) == len(expected) > 0
    for section, one in zip(shown, expected):
        assert f"<p>Ids: {' '.join(map(str, one['ids']))}</p>" in section


def test_of_very_many_pairs_the_first_and_the_taken_one_are_listed() -> None:
    [section] = sections("gpt2", "uncopyrightableqazwsxedcrfvtgbyhnujmik")
    rows = re.findall("<tr><td>.*?</td><td>(.*?)</td></tr>", section, re.DOTALL)
    assert re.search(r" … \d+ more$", rows[0])
    assert all(row.count("|") <= 9 for row in rows)
    assert all("<b>" in row for row in rows[:-1])
