"""The steps of merging as text, as JSON and as a page; ``show --merges`` in tests/cli/commands."""

from __future__ import annotations

import html
import json
import os
import re
from math import inf
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe import get_encoding, load
from compat_bpe.cli.token_view import _columns, _Lines
from compat_bpe.pipeline.models.explain import explain
from compat_bpe.save import save_tokenizer_json
from tests.cli.running import run
from tests.cli.shown.escaped import unescape, utf8_texts
from tests.examples import scaled
from tests.kinds import kind_path

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")


def test_as_it_looks() -> None:
    assert run("show", "--merges", "-e", "gpt2", "hugs", ' "|').out.decode().split("\n") == [
        '"hugs"',
        "  h|u|g|s  u|g 1018 < h|u 13415 < g|s 14542",
        "  h|ug|s   ug|s 10339",
        "  h|ugs",
        "  = 71 10339",
        "",
        '" \\"|"',
        '   |"|\\|   |" 366',
        '   "|\\|',
        "  = 366 91",
        "",
    ]


def test_a_whole_token_and_characters_of_several_bytes() -> None:
    out = run("show", "--merges", "-e", "deepseek_v3", "世界").out.decode()
    assert out.splitlines()[0] == '"世界"  a token as a whole, so it is not merged; if it were:'
    assert out.splitlines()[1].startswith(r"  \xe4|\xb8|\x96|\xe7|\x95|\x8c  \xe4|\xb8 275 < ")
    assert out.splitlines()[-2:] == ["  世界", "  = 3427"]
    # What stands beside the states is in one column, wide characters or not.
    assert (
        len({re.search("  [^ ]+ [0-9]+", line[2:]) is None for line in out.split("\n")[1:5]}) == 1
    )


def test_equal_pairs_are_counted_and_chunks_shown_apart() -> None:
    out = run("show", "--merges", "-e", "gpt2", "--special", "aaaaa b<|endoftext|>").out.decode()
    assert out.split("\n") == [
        '"aaaaa"',
        "  a|a|a|a|a  a|a 7252 x4",
        "  aa|a|a|a   a|a 7252 x2 < aa|a 46071",
        "  aa|aa|a    aa|aa 24794 < aa|a 46071",
        "  aaaa|a",
        "  = 24794 64",
        "",
        '" b"  a token as a whole, so it is not merged; if it were:',
        "   |b   |b 275",
        "   b",
        "  = 275",
        "",
        "\\[<|endoftext|>\\]  a special or added token",
        "  = 50256",
        "",
    ]


def test_of_a_list_of_merges_the_place_in_it_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    save_tokenizer_json(load(ROOT / "fixtures" / "gpt2_small"), path)
    merges = json.loads(path.read_bytes())["model"]["merges"]
    out = run("show", "--merges", "-e", str(path), " other").out.decode()
    (pairs,) = re.findall(r" \|o\|t\|h\|e\|r  (.*)", out)
    shown = [pair.rsplit(" #", 1) for pair in pairs.split(" < ")]
    assert [merges[int(place) - 1] for _, place in shown] == [
        pair.replace(" ", "Ġ").split("|") for pair, _ in shown
    ]
    assert [int(place) for _, place in shown] == sorted({int(place) for _, place in shown})
    (line,) = run("show", "--merges", "--json", "-e", str(path), "the").out.decode().splitlines()
    first = json.loads(line)["steps"][0]
    place, rank = first["pairs"][0]["place"], first["pairs"][0]["rank"]
    assert merges[rank] == first["parts"][place : place + 2]


def test_colors_mark_what_is_joined() -> None:
    out = run("show", "--merges", "-e", "gpt2", "hugs", terminal=True).out.decode()
    joined = re.findall("\x1b\\[30m\x1b\\[43m([^\x1b]*)\x1b\\[0m", out)
    chosen = re.findall("\x1b\\[1m([^\x1b]*)\x1b\\[0m", out)
    assert joined == ["u|g", "ug|s"]
    assert chosen == ["u|g 1018", "ug|s 10339"]
    plain = run("show", "--merges", "-e", "gpt2", "hugs").out.decode()
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
    monkeypatch.setenv("COLUMNS", "50")
    out = run("show", "--merges", "-e", "gpt2", "antidisestablishment").out.decode()
    lines = out.splitlines()
    assert lines[1] == "  …|i|s|h|m|e|n|t  e|n 268 < i|s 271 x2 … 15 more"
    assert max(map(len, lines[:-2])) <= 50
    monkeypatch.setenv("COLUMNS", "")
    out = run("show", "--merges", "-e", "gpt2", "antidisestablishment").out.decode()
    assert "…" not in out
    assert max(map(len, out.splitlines())) > 200
    monkeypatch.setattr("shutil.get_terminal_size", lambda *_, **__: os.terminal_size((50, 20)))
    args = ("show", "--merges", "-e", "gpt2", "antidisestablishment", "--color", "never")
    assert run(*args, terminal=True).out.decode().splitlines() == lines


@settings(max_examples=scaled(50))
@given(text=utf8_texts)
def test_json_says_what_the_ids_are(text: str) -> None:
    args = ("show", "--merges", "--json", "-e", "p50k_edit")
    status, out, err = run(*args, stdin=text.encode())
    assert (status, err) == (0, "")
    encoding = get_encoding("p50k_edit")
    found = [json.loads(line) for line in out.decode().split("\n")[:-1]]
    ids = encoding.encode(text, disallowed_special=())
    assert [token for one in found for token in one["ids"]] == ids
    for one in found:
        last = list(map(unescape, one["steps"][-1]["parts"]))
        assert b"".join(last) == unescape(one["chunk"])
        if not one["is_token"]:
            assert last == encoding.decode_tokens_bytes(one["ids"])


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ("--merges", "--ids", "a"),
            "--ids, --merges, --json and --html exclude each other, but for --merges --json and "
            "--merges --html.",
        ),
        (("--merges", "\udce9"), "it is not UTF-8."),
    ],
)
def test_wrong_usage(args: tuple[str, ...], message: str) -> None:
    status, out, err = run("show", *args)
    assert (status, out) == (2, b"")
    assert err.endswith(f"{message}\n")


TEXT = ["hugs", " naïve 世界<|endoftext|>", "a<b&c"]


def sections(*args: str) -> list[str]:
    status, out, err = run("show", "--merges", "--html", *args)
    assert (status, err) == (0, "")
    page = out.decode()
    assert page.endswith("</main>\n</body>\n</html>\n")
    return re.findall("<section>\n(.*?)</section>\n", page, re.DOTALL)


def objects(*args: str) -> list[Any]:
    return [json.loads(line) for line in run("show", "--merges", "--json", *args).out.splitlines()]


def parts(row: str) -> list[str]:
    return [html.unescape(part) for part in re.findall("<span[^>]*>(.*?)</span>", row, re.DOTALL)]


@pytest.mark.parametrize("name", ["gpt2", "deepseek_v3"])
def test_the_page_has_each_state_and_each_pair(name: str) -> None:
    args = ["-e", name, "--special", *TEXT]
    shown, expected = sections(*args), objects(*args)
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
                joined = step["pairs"][0]
                place = joined["place"]
                pair = step["parts"][place : place + 2]
                assert [html.unescape(part) for part in marked] == pair
                [bold] = re.findall("<b>(.*?)</b>", items)
                assert html.unescape(bold).startswith("|".join(pair) + " ")
            else:
                assert not marked
                assert not items


@pytest.mark.parametrize("kind", ["wordpiece", "unigram", "word_level", "characters_end_of_word"])
def test_a_page_of_other_models(kind: str) -> None:
    args = ["-e", kind_path(kind), "hugs hug"]
    shown, expected = sections(*args), objects(*args)
    assert len(shown) == len(expected) > 0
    for section, one in zip(shown, expected):
        assert f"<p>Ids: {' '.join(map(str, one['ids']))}</p>" in section


def test_of_very_many_pairs_the_first_and_the_taken_one_are_listed() -> None:
    [section] = sections("-e", "gpt2", "uncopyrightableqazwsxedcrfvtgbyhnujmik")
    rows = re.findall("<tr><td>.*?</td><td>(.*?)</td></tr>", section, re.DOTALL)
    assert re.search(r" … \d+ more$", rows[0])
    assert all(row.count("|") <= 9 for row in rows)
    assert all("<b>" in row for row in rows[:-1])
