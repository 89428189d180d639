"""The forms of a report, also of names that would break them."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.check.for_people import annotation, github_lines, markdown_lines, table_lines
from compat_bpe.check.for_programs import json_lines, junit_lines, sarif_lines
from compat_bpe.check.results import Change, Kind, Report, Result, Status, Unmatched
from compat_bpe.check.source import Place

HOSTILE = "a|b`<img src=x>*[x](y)\n::error::%0A\x1b[31m,:\x00]]>\"'&\u202e\udce9.md"


def result(status: Status, kind: Kind = "file", path: str = "a.md", **fields: object) -> Result:
    values = {
        "kind": kind,
        "status": status,
        "path": "" if kind == "total" else path,
        "line": 7 if kind == "section" else 1,
        "heading": "Examples" if kind == "section" else "",
        "rule": "skills",
        "encoding": "gpt2",
        "tokens": 5210,
        "limit": 5000,
        "place": Place("/x/.compat-bpe.toml", 4, ()),
    }
    return Result(**{**values, **fields})  # type: ignore[arg-type]


@pytest.fixture
def report() -> Report:
    return Report(
        "/x/.compat-bpe.toml",
        "sub/",
        [
            result("ok"),
            result("near", "section"),
            result("over"),
            result("over", "total"),
            result("over", "growth", "b.md"),
            result("exempt", path="c.md", reason="old"),
        ],
        files=3,
    )


def test_parts_of_files_are_named() -> None:
    kinds: list[Kind] = ["file", "front_matter", "body", "growth"]
    assert [result("over", kind).name for kind in kinds] == [
        "a.md",
        "a.md § front matter",
        "a.md § body",
        "a.md",
    ]
    assert result("over", "section", heading="").name == "a.md § "
    report = Report("/x", "", [result("over", kind) for kind in kinds])
    (run,) = json.loads("".join(sarif_lines(report)))["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert [rules[one["ruleIndex"]] for one in run["results"]] == [f"tokens/{one}" for one in kinds]


@pytest.fixture
def hostile() -> Report:
    results = [
        result("over", "section", HOSTILE, heading=HOSTILE, rule=HOSTILE),
        result("exempt", path=HOSTILE, reason=HOSTILE),
    ]
    change = Change(HOSTILE, "", 0, 3, "gpt2")
    return Report(
        "/x", "", results, 1, errors=[(HOSTILE, "not UTF-8")], base="f00", changes=[change]
    )


def test_github(report: Report) -> None:
    assert list(github_lines(report)) == [
        "::error file=sub/a.md,line=1,title=token budget::"
        "a.md: 5,210 tokens (gpt2), over the limit of 5,000",
        "::error title=token budget::total of skills: 5,210 tokens (gpt2), over the limit of 5,000",
        "::error file=sub/b.md,line=1,title=token budget::"
        "b.md: +5,210 tokens since the base (gpt2), over the limit of +5,000",
        "::warning file=sub/a.md,line=7,title=token budget::"
        "a.md § Examples: 5,210 tokens (gpt2), near the limit of 5,000",
        "3 files: 2 over a limit, 1 exempt, 1 total over",
    ]


def test_github_has_one_command_a_line(hostile: Report) -> None:
    first, second, last = github_lines(hostile)
    for line in (first, second):
        assert "\n" not in line
        assert line.startswith("::error file=a|b`<img src=x>*[x](y)%0A%3A%3Aerror%3A%3A%250A\x1b")
        file = line.partition("file=")[2].partition(",")[0]
        assert ":" not in file
    assert last == "1 file: 1 over a limit, 1 not counted"


def test_no_line_of_github_is_another_command() -> None:
    """A runner looks for ``##[…]`` anywhere in a line that is no command of ``::``."""
    for name in ("##[stop-commands]x", "::stop-commands::x", "\r##[add-mask]a", "a\n::debug::"):
        found = Report("x", results=[result("over", path=name)], errors=[(name, name)])
        *commands, last = github_lines(found)
        assert len(commands) == 2
        for command in commands:
            assert re.match("::error [^:]*::[^\r\n]*$", command)
        assert "[" not in last
        assert re.match("::notice title=token budget::[^\r\n]*$", annotation("notice", name))


def test_what_matched_nothing_is_in_each_form(report: Report, hostile: Report) -> None:
    rule = Unmatched("/x/.compat-bpe.toml:4", "none", Place("/x/.compat-bpe.toml", 4, ()))
    report.unmatched = [rule, Unmatched("b.txt", "no rule", None)]
    assert report.status == "error"
    assert list(github_lines(report))[-3:] == [
        "::error file=sub/.compat-bpe.toml,line=4,title=token budget::/x/.compat-bpe.toml:4: none",
        "::error title=token budget::b.txt: no rule",
        "3 files: 2 over a limit, 1 exempt, 1 total over, 2 rules or paths matched nothing",
    ]
    assert list(markdown_lines(report))[-2:] == [
        "- Nothing checked: `/x/.compat-bpe.toml:4`: `none`",
        "- Nothing checked: `b.txt`: `no rule`",
    ]
    suite = ElementTree.fromstring("\n".join(junit_lines(report)))[0]
    assert (suite.get("tests"), suite.get("errors")) == ("8", "2")
    assert suite[-1].attrib == {"classname": "nothing checked", "name": "b.txt"}
    (invocation,) = json.loads(*sarif_lines(report))["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    notes = [one["message"]["text"] for one in invocation["toolExecutionNotifications"]]
    assert notes == ["/x/.compat-bpe.toml:4: none", "b.txt: no rule"]
    assert json.loads(*json_lines(report))["errors"] == [
        {"path": "/x/.compat-bpe.toml", "line": 4, "error": "none"},
        {"path": "b.txt", "line": None, "error": "no rule"},
    ]
    # No name breaks a form.
    hostile.unmatched = [Unmatched(HOSTILE, HOSTILE, None)]
    assert all("\n" not in line for line in (*github_lines(hostile), *markdown_lines(hostile)))
    ElementTree.fromstring("\n".join(junit_lines(hostile)))
    json.loads(*sarif_lines(hostile))


def test_sarif(report: Report) -> None:
    (log,) = map(json.loads, sarif_lines(report))
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    results = run["results"]
    assert [(one["ruleId"], one["level"]) for one in results] == [
        ("tokens/file", "error"),
        ("tokens/total", "error"),
        ("tokens/growth", "error"),
        ("tokens/section", "warning"),
    ]
    assert all(rules[one["ruleIndex"]] == one["ruleId"] for one in results)
    places = [one["locations"][0]["physicalLocation"] for one in results]
    assert [
        (place["artifactLocation"]["uri"], place["region"]["startLine"]) for place in places
    ] == [("sub/a.md", 1), ("sub/.compat-bpe.toml", 4), ("sub/b.md", 1), ("sub/a.md", 7)]


def test_the_limit_of_a_total_is_where_it_is_written(report: Report) -> None:
    # The configuration in sub/ extends one above it.
    report.results = [result("over", "total", place=Place("/shared.toml", 9, ()))]
    (log,) = map(json.loads, sarif_lines(report))
    place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "shared.toml"
    assert place["region"]["startLine"] == 9


def test_sarif_is_utf8_with_uris(hostile: Report) -> None:
    (line,) = sarif_lines(hostile)
    json.dumps(json.loads(line), ensure_ascii=False).encode()
    run = json.loads(line)["runs"][0]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert re.fullmatch(r"[A-Za-z0-9._~/%-]+", place["artifactLocation"]["uri"])
    assert place["artifactLocation"]["uri"].endswith("%E2%80%AE%E9.md")
    assert run["invocations"][0]["executionSuccessful"] is False


def test_junit(report: Report) -> None:
    suite = ElementTree.fromstring("\n".join(junit_lines(report)))[0]
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "6",
        "failures": "3",
        "errors": "0",
        "skipped": "1",
    }
    assert [[child.tag for child in case] for case in suite] == [
        [],
        [],
        ["failure"],
        ["failure"],
        ["failure"],
        ["skipped"],
    ]
    assert suite[1].attrib == {
        "classname": "skills",
        "name": "a.md § Examples (section)",
        "file": "sub/a.md",
        "line": "7",
    }


def test_junit_is_xml(hostile: Report) -> None:
    text = "\n".join(junit_lines(hostile))
    assert text.isascii()
    suite = ElementTree.fromstring(text)[0]
    assert suite.get("errors") == "1"
    shown = HOSTILE.replace("\x1b", "\\u001b").replace("\0", "\\u0000").replace("\udce9", "\\udce9")
    assert [case.get("name") for case in suite] == [
        f"{shown} § {shown} (section)",
        f"{shown} (file)",
        shown,
    ]


def test_markdown(report: Report) -> None:
    report.base = "f00"
    report.changes = [Change("b.md", "a.md", 1, 5000, "gpt2")]
    assert "\n".join(markdown_lines(report)) == (
        "### Token budgets\n\n3 files: 2 over a limit, 1 exempt, 1 total over.\n\n"
        "| | what | tokens | limit | encoding |\n|---|---|--:|--:|---|\n"
        "| ❌ over | `a.md` | 5,210 | 5,000 | `gpt2` |\n"
        "| ❌ over | total of `skills` | 5,210 | 5,000 | `gpt2` |\n"
        "| ❌ over | `b.md` | +5,210 | +5,000 | `gpt2` |\n"
        "| ⚠️ near | `a.md` § `Examples` | 5,210 | 5,000 | `gpt2` |\n\n"
        "| change | file | before | now | |\n|---|---|--:|--:|--:|\n"
        "| renamed | `a.md` → `b.md` | 1 | 5,000 | +4,999 |"
    )


def test_markdown_shows_names_as_they_are(hostile: Report) -> None:
    lines = list(markdown_lines(hostile))
    assert not [line for line in lines if "\n" in line or "\0" in line or "\x1b" in line]
    (row,) = [line for line in lines if "over |" in line]
    assert "\u202e" not in row
    shown = HOSTILE.replace("\n", "\\n").replace("\0", "\\x00").replace("\x1b", "\\x1b")
    shown = shown.replace("\u202e", "\\u202e")
    _, _, name, *_ = cells(row)
    assert code_spans(name) == (f"{CODE} § {CODE}", [shown, shown])
    assert code_spans(lines[-1]) == (f"- Not counted: {CODE}: {CODE}", [shown, "not UTF-8"])


CODE = "<code>"


def cells(row: str) -> list[str]:
    """The cells of a table's row, as GitHub finds them: a backslash takes the next character."""
    found = re.findall(r"((?:\\[^\n]|[^\\|])*)(?:\||$)", row)
    return [cell.strip().replace("\\|", "|") for cell in found[:-1]]


def code_spans(text: str) -> tuple[str, list[str]]:
    """The text with a word for each span of code, and the spans, as CommonMark 0.31 has them."""
    rest, spans, at = "", [], 0
    while at < len(text):
        if text[at] != "`":
            rest, at = rest + text[at], at + 1
            continue
        mark = re.match("`+", text[at:])[0]  # type: ignore[index]
        end = re.search(rf"(?<!`){mark}(?!`)", text[at + len(mark) :])
        assert end is not None, "a span without an end"
        span = text[at + len(mark) :][: end.start()]
        if span[0] == span[-1] == " " and span.strip(" "):
            span = span[1:-1]
        spans.append(span)
        rest, at = rest + CODE, at + len(mark) + end.start() + len(mark)
    return rest, spans


NAMES = st.text(st.sampled_from("a`|\\ *<@\n[]"), min_size=1, max_size=12)


@given(NAMES, NAMES)
def test_no_name_leaves_its_span_of_code(path: str, heading: str) -> None:
    one = result("over", "section", path, heading=heading)
    lines = list(markdown_lines(Report("x", results=[one])))
    assert len(lines) == 7
    found = cells(lines[-1])
    assert len(found) == 6
    shown = [re.sub(r"(?<=\\)\|", r"\\x7c", name).replace("\n", "\\n") for name in (path, heading)]
    assert code_spans(found[2]) == (f"{CODE} § {CODE}", shown)


def test_markdown_is_not_too_long_for_a_comment(report: Report) -> None:
    report.results = [result("over", path="a" * 4000)] * 90
    report.errors = [("b" * 4000, "c")] * 90
    report.changes = [Change("d" * 4000, "e" * 4000, 1, 2, "gpt2")] * 90
    text = "\n".join(markdown_lines(report))
    assert len(text) < 65_536
    assert text.count("… and 86 more.") == 2
    assert text.count("… and 88 more.") == 1


def test_markdown_has_an_end(report: Report) -> None:
    report.results *= 100
    report.changes = [Change("", f"{number}", 1, 0, "gpt2") for number in range(500)]
    text = "\n".join(markdown_lines(report))
    assert "… and 300 more." in text
    assert "… and 400 more." in text


def test_json(report: Report, hostile: Report) -> None:
    (line,) = json_lines(report)
    found = json.loads(line)
    assert (found["status"], found["over"], found["near"], found["files"]) == ("over", 3, 1, 3)
    assert found["results"][3]["path"] is None
    assert found["results"][5]["reason"] == "old"
    (line,) = json_lines(hostile)
    assert json.loads(line)["results"][0]["path"] == HOSTILE
    assert json.loads(line)["status"] == "error"


def test_table(report: Report) -> None:
    assert list(table_lines(report)) == [
        "over   5,210 /  5,000  a.md",
        "over   5,210 /  5,000  total of skills",
        "over  +5,210 / +5,000  b.md",
        "near   5,210 /  5,000  a.md § Examples",
        "3 files: 2 over a limit, 1 exempt, 1 total over",
    ]
    assert "exempt   5,210 /  5,000  c.md (old)" in list(table_lines(report, all_results=True))
    assert list(table_lines(Report("x"))) == ["0 files: nothing was checked"]
