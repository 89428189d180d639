"""JUnit's XML, which most servers of continuous integration read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.sax.saxutils import quoteattr

from ..results import Report, Result

#: The characters that no XML may have, not even escaped.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def lines(report: Report) -> Iterator[str]:
    """Yield the lines of a file: a case for each result, a failure for what is over."""
    problems = [("not counted", path, reason) for path, reason in report.errors]
    problems += [("nothing checked", one.name, one.reason) for one in report.unmatched]
    failures, errors = len(report.of("over")), len(problems)
    skipped = len(report.of("exempt"))
    counts = f'tests="{len(report.results) + errors}" failures="{failures}" errors="{errors}"'
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites name="compat-bpe check" {counts}>'
    yield f'<testsuite name="token budgets" {counts} skipped="{skipped}">'
    for one in report.results:
        yield from _case(report, one)
    for what, name, reason in problems:
        yield f'<testcase classname="{what}" name={_attribute(name)}>'
        yield f"<error message={_attribute(reason)}/>"
        yield "</testcase>"
    yield "</testsuite>"
    yield "</testsuites>"


def _case(report: Report, result: Result) -> Iterator[str]:
    name = f"{result.name} ({result.kind})"
    case = f"<testcase classname={_attribute(result.rule)} name={_attribute(name)}"
    if result.path:
        case += f' file={_attribute(report.prefix + result.path)} line="{result.line}"'
    message = _attribute(result.message)
    if result.status == "over":
        yield f"{case}>"
        yield f'<failure type="over" message={message}/>'
        yield "</testcase>"
    elif result.status == "exempt":
        yield f"{case}>"
        yield f"<skipped message={message}/>"
        yield "</testcase>"
    else:
        yield f"{case}/>"


def _attribute(text: str) -> str:
    quoted = quoteattr(_ILLEGAL.sub(lambda match: f"\\u{ord(match[0]):04x}", text))
    # ASCII is the same in all charsets that standard output may have.
    return quoted.encode("ascii", "xmlcharrefreplace").decode("ascii")
