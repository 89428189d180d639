"""``compat-bpe show --merges --html``: the page has what the lines of JSON have."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest

from tests.cli.exact import run
from tests.kinds import kind_path

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
