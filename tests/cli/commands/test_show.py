"""``compat-bpe show``: the output says exactly what the tokens are."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import get_encoding
from tests.cli.running import run, small_blocks
from tests.cli.shown.escaped import unescape, utf8_texts

COLOR = re.compile(
    "\x1b\\[30m\x1b\\[(4[136])m((?:(?!\x1b).)+)\x1b\\[0m|\n|\x1b\\[2m([⁰¹²³⁴-⁹]+)\x1b\\[0m"
)


@pytest.fixture(autouse=True)
def _a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")


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
        status, out, err = run("show", "-q", "-e", name, stdin=text.encode(), charset=charset)
    shown = out.decode(charset)
    assert (status, err) == (0, "")
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
    args = ("--special",) if special else ()
    status, out, err = run("show", "-q", "-e", "p50k_edit", "--ids", *args, stdin=text.encode())
    encoding = get_encoding("p50k_edit")
    ids = encoding.encode(text, allowed_special="all" if special else set(), disallowed_special=())
    lines = out.decode().split("\n")[:-1]
    assert (status, err) == (0, "")
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
    out = run("show", "--ids", "-e", "words", stdin=b"a  b", terminal=True).out.decode()
    # Words are numbered as they come in a process, so their ids are left out here.
    shown = [line[line.index("\x1b") :] for line in out.splitlines()[1:]]
    assert shown == [
        "\x1b[30m\x1b[46ma\x1b[0m",
        "\x1b[2m  \x1b[0m",
        "\x1b[30m\x1b[43mb\x1b[0m",
    ]


@given(text=utf8_texts)
def test_colors(text: str) -> None:
    args = ("show", "-q", "-e", "p50k_edit", "--special")
    status, out, err = run(*args, stdin=text.encode(), terminal=True)
    shown = out.decode()
    assert (status, err) == (0, "")
    # Nothing is outside of a color, and no other escape sequence is in it.
    assert COLOR.sub("", shown) == ""
    encoding = get_encoding("p50k_edit")
    ids = encoding.encode(text, allowed_special="all")
    shown_units = together(encoding.decode_tokens_bytes(ids))
    special = {name.encode() for name in encoding.special_tokens_set}
    rest = COLOR.finditer(shown)
    for number, (count, unit_data) in enumerate(shown_units):
        color = "41" if unit_data in special else ["46", "43"][number % 2]
        data = b""
        # A unit with newlines in it has several parts of one color.
        while data != unit_data:
            match = next(rest)
            if match[1]:
                assert match[1] == color
                data += unescape(match[2])
        if count > 1:
            [raised] = [match[3] for match in [next(rest)]]
            assert int(raised.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789"))) == count
    assert not [match for match in rest if match[1] or match[3]]


def test_as_it_looks() -> None:
    text = "a\tb | c\\n\r\n  naïve 世 \x1b[31mred<|endoftext|>\n\nend\x85\u200b"
    assert run("show", "-e", "p50k_edit", stdin=text.encode()).out.decode() == (
        "a|\\t|b| \\|| c|\\\\|n|\\r|\\n\n"
        "| | naïve| |\\{世\\}2| |\\x1b|[|31|m|red|<|\\||end|of|text|\\||>|\\n\n"
        "|\\n\n"
        "|end|\\{\\u0085\\}2|\\u200b\n"
    )
    args = ("show", "-q", "-e", "p50k_edit", "--special")
    assert run(*args, stdin=b"hi<|endoftext|>") == (0, b"hi|\\[<|endoftext|>\\]\n", "")
    assert run("show", "-e", "gpt2", "--ids", stdin=b'a "\n').out == (
        b'   64  "a"\n  366  " \\""\n  198  "\\n"\n'
    )
    assert run("show", "-e", "gpt2", "--ids", stdin="世".encode()).out.decode() == (
        '10310  "世"  1/2  "\\xe4\\xb8"\n  244  "世"  2/2  "\\x96"\n'
    )
    assert run("show", "-q") == (0, b"", "")


@pytest.mark.parametrize(
    ("option", "terminal", "environment", "colored"),
    [
        ((), True, {}, True),
        ((), False, {}, False),
        ((), True, {"NO_COLOR": "1"}, False),
        ((), True, {"NO_COLOR": ""}, True),
        ((), True, {"TERM": "dumb"}, False),
        (("--color", "auto"), False, {}, False),
        (("--color", "always"), False, {"NO_COLOR": "1"}, True),
        (("--color", "never"), True, {}, False),
    ],
)
def test_when_there_are_colors(
    monkeypatch: pytest.MonkeyPatch,
    option: tuple[str, ...],
    terminal: bool,
    environment: dict[str, str],
    colored: bool,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    out = run("show", "-q", "-e", "gpt2", *option, stdin=b"hello world", terminal=terminal).out
    expected = b"\x1b[30m\x1b[46mhello\x1b[0m\x1b[30m\x1b[43m world\x1b[0m\n"
    assert out == (expected if colored else b"hello| world\n")


def test_nothing_of_a_text_reaches_the_terminal_as_a_control() -> None:
    text = "".join(map(chr, range(0x300))) + "\u2028\u202e\u2066\ufeff\U000e0041"
    for args in ((), ("--ids",), ("--color", "always"), ("--ids", "--color", "always")):
        shown = run("show", "-e", "gpt2", *args, stdin=text.encode()).out.decode()
        assert shown.replace("\n", "").replace("\x1b", "").isprintable()
        assert "\x1b" not in re.sub("\x1b\\[(?:0|2|30|43|46)m", "", shown)


def test_what_is_not_utf8_is_one_line() -> None:
    status, _, err = run("show", "--errors", "strict", stdin=b"caf\xe9")
    assert (status, err) == (
        2,
        "compat-bpe: standard input: not UTF-8: byte 0xe9 at offset 3; convert it to UTF-8\n",
    )


def test_a_line_has_the_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("naïve", encoding="utf-8")
    args = ("show", "-e", "gpt2", "--color", "never")
    shown = "na|ïve\n".encode()
    assert run(*args, "a.txt") == (0, shown, "compat-bpe: a.txt: 2 tokens, 5 characters\n")
    # On a terminal, they are above the tokens.
    assert run(*args, "a.txt", terminal=True) == (0, b"2 tokens, 5 characters\n" + shown, "")
    assert run(*args, "--ids", stdin=b"a").err == (
        "compat-bpe: standard input: 1 token, 1 character\n"
    )
    assert run(*args, terminal=True).out == b"0 tokens, 0 characters\n"
    assert run(*args, "-q", "a.txt") == (0, shown, "")


def test_several_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_bytes(b"hello world")
    Path("b.txt").write_bytes(b"caf\xe9")
    files = ("a.txt", "missing", "-", "b.txt", "a.txt")
    args = ("-e", "gpt2", "--errors", "strict")
    status, out, err = run("show", "-q", *args, *files, stdin=b"x\n")
    assert status == 2
    assert out.decode() == (
        "==> a.txt <==\nhello| world\n\n"
        "==> standard input <==\nx|\\n\n\n"
        "==> b.txt <==\n\n"
        "==> a.txt <==\nhello| world\n"
    )
    assert err == (
        "compat-bpe: missing: No such file or directory\n"
        "compat-bpe: b.txt: not UTF-8: byte 0xe9 at offset 3; convert it to UTF-8\n"
    )
    status, out, err = run("show", "--json", *args, *files, stdin=b"x\n")
    assert status == 2
    assert [json.loads(line)["path"] for line in out.splitlines()] == [
        *["a.txt"] * 2,
        *"--",
        *["a.txt"] * 2,
    ]


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
    args = ("show", "--html", "-e", "p50k_edit", "--special")
    status, out, err = run(*args, stdin=text.encode(), charset="ascii")
    assert (status, err) == (0, "")
    encoding = get_encoding("p50k_edit")
    ids = encoding.encode(text, allowed_special="all")
    page = _Page(out.decode())
    assert page.tags == {
        *("html", "head", "meta", "title", "style", "body", "main", "input", "label"),
        *("section", "h1", "h2", "pre", "span", "small", "p"),
    }
    # The ids are in the text of the page, too, so that they can be copied.
    assert [one for found, _, _ in page.tokens for one in found] == page.listed == ids
    for found, special, _ in page.tokens:
        assert special == (len(found) == 1 and encoding.is_special_token(found[0]))
    shown = [(len(found), unescape(part)) for found, _, part in page.tokens]
    assert shown == together(encoding.decode_tokens_bytes(ids))
    assert out.decode().replace("\n", "").isprintable()
    numbers = f'<p class="total">{len(ids)} tokens, {len(text)} characters</p>'
    assert numbers in out.decode()
    assert "http" not in out.decode().partition("<body>")[0]


def test_html_of_a_file_with_a_strange_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = "<b>&\n.txt"
    Path(name).write_bytes(b"a")
    out = run("show", "--html", "-q", "-e", "gpt2", name, "missing\udce9").out.decode()
    assert "<h2>&lt;b&gt;&amp;\\n.txt</h2>" in out
    assert out.endswith("</html>\n")
    assert "characters" not in out
    assert run("show", "--html", "missing\udce9").status == 2


@pytest.mark.parametrize(
    "args", [("--ids", "--html"), ("--json", "--ids"), ("--json", "--html"), ("--merges", "--ids")]
)
def test_forms_exclude_each_other(args: tuple[str, ...]) -> None:
    status, out, err = run("show", *args, stdin=b"a")
    assert (status, out) == (2, b"")
    assert "--ids, --merges, --json and --html exclude each other" in err


@pytest.mark.parametrize(
    "args",
    [
        ("show",),
        ("show", "--ids"),
        ("show", "--html"),
        ("show", "--json"),
        ("show", "--merges", "--special"),
        ("show", "--merges", "--special", "--json"),
        ("encode", "--offsets"),
    ],
)
def test_a_decoder_of_any_kind(args: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    parts = {"pre_tokenizer": byte_level, "decoder": {"type": "Fuse"}}
    model = {"type": "BPE", "vocab": {"a": 0}, "merges": []}
    added = {"id": 1, "content": "<b>", "special": True}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    path.write_text(json.dumps({"model": model, **parts, "added_tokens": [{**added, **flags}]}))
    status, out, err = run(*args, "--special", "-e", str(path), stdin=b"<b>a")
    assert (status, err.count("\n")) == (0, 1 if args in [("show",), ("show", "--ids")] else 0)
    assert b"<b>" in out or b"&lt;b&gt;" in out


@pytest.mark.parametrize("args", [(), ("--ids",), ("--html",), ("--json",)])
def test_what_is_before_an_error_is_shown(args: tuple[str, ...]) -> None:
    with small_blocks(1):
        status, out, err = run(
            "show", "-e", "gpt2", "--errors", "strict", *args, stdin=b"some words \xff"
        )
    assert status == 2
    assert err == (
        "compat-bpe: standard input: not UTF-8: byte 0xff at offset 11; convert it to UTF-8\n"
    )
    assert b"some" in out
    assert b"words" in out
    if args == ("--html",):
        assert b"</pre>\n" in out
        assert out.endswith(b"</html>\n")
