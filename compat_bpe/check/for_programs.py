"""A report for programs: JSON, JUnit and SARIF."""

from __future__ import annotations

import json
import os
import posixpath
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

from ..version import __version__
from .results import Change, Report, Result, Unmatched


def json_lines(report: Report) -> Iterator[str]:
    """Yield the object as one line."""
    yield json.dumps(
        {
            "configuration": report.configuration,
            "status": report.status,
            "files": report.files,
            "over": len(report.of("over")),
            "near": len(report.of("near")),
            "results": [_json_result(one) for one in report.results],
            "base": report.base,
            "changes": [_json_change(one) for one in report.changes],
            "errors": [
                *({"path": path, "error": reason} for path, reason in report.errors),
                *map(_unmatched, report.unmatched),
            ],
            "skipped": [{"path": path, "reason": reason} for path, reason in report.skipped],
        }
    )


def _json_result(result: Result) -> dict[str, Any]:
    place = result.place
    return {
        "kind": result.kind,
        "status": result.status,
        "path": result.path or None,
        "line": result.line,
        "heading": result.heading if result.kind == "section" else None,
        "rule": result.rule,
        "encoding": result.encoding,
        "tokens": result.tokens,
        "estimate": result.estimate or None,
        "limit": result.limit,
        "reason": result.reason or None,
        "limit_at": place and {"path": place.file, "line": place.line},
    }


def _unmatched(one: Unmatched) -> dict[str, Any]:
    path, line = (one.place.file, one.place.line) if one.place else (one.name, None)
    return {"path": path, "line": line, "error": one.reason}


def _json_change(change: Change) -> dict[str, Any]:
    paths = {"path": change.path or None, "before_path": change.before_path or None}
    return {"kind": change.kind, **change._asdict(), **paths}


#: The characters that no XML may have, not even escaped.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_lines(report: Report) -> Iterator[str]:
    """Yield the lines of a file: a case for each result, a failure for each one over its limit."""
    problems = report.problems
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
    outcome = {"over": 'failure type="over"', "exempt": "skipped"}.get(result.status)
    if outcome is not None:
        yield from (f"{case}>", f"<{outcome} message={message}/>", "</testcase>")
    else:
        yield f"{case}/>"


def _attribute(text: str) -> str:
    quoted = quoteattr(_ILLEGAL.sub(lambda match: f"\\u{ord(match[0]):04x}", text))
    # ASCII is the same in all charsets that standard output may have.
    return quoted.encode("ascii", "xmlcharrefreplace").decode("ascii")


_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_SARIF_LEVELS = {"over": "error", "near": "warning"}
_RULES = {
    "file": "A file has more tokens than its limit.",
    "section": "A section of a Markdown file has more tokens than its limit.",
    "front_matter": "The front matter of a file has more tokens than its limit.",
    "body": "The body of a file, after its front matter, has more tokens than its limit.",
    "total": "The files of a group have more tokens than their limit.",
    "growth": "A file has grown by more tokens than its limit.",
}


def sarif_lines(report: Report) -> Iterator[str]:
    """Yield the log as one line."""
    yield json.dumps(
        {
            "$schema": _SCHEMA,
            "version": "2.1.0",
            "runs": [
                {
                    "tool": {
                        "driver": {
                            "name": "compat-bpe check",
                            "version": __version__,
                            "rules": [
                                {"id": f"tokens/{kind}", "shortDescription": {"text": text}}
                                for kind, text in _RULES.items()
                            ],
                        }
                    },
                    "invocations": [
                        {
                            "executionSuccessful": report.status != "error",
                            "toolExecutionNotifications": [
                                {"level": "error", "message": {"text": _text(f"{name}: {reason}")}}
                                for _, name, reason in report.problems
                            ],
                        }
                    ],
                    "columnKind": "unicodeCodePoints",
                    "results": [_sarif_result(report, one) for one in report.of("over", "near")],
                }
            ],
        }
    )


def _sarif_result(report: Report, result: Result) -> dict[str, Any]:
    path, line = posixpath.normpath(report.prefix + result.path), result.line
    if not result.path and result.place is not None:  # a total is nowhere; its limit is
        path, line = report.path_of(result.place), result.place.line
    return {
        "ruleId": f"tokens/{result.kind}",
        "ruleIndex": list(_RULES).index(result.kind),
        "level": _SARIF_LEVELS[result.status],
        "message": {"text": _text(f"{result.name}: {result.message}")},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": quote(os.fsencode(path)), "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": line},
                }
            }
        ],
        "partialFingerprints": {
            "budget/v1": _text(f"{result.kind}:{path}:{result.heading}:{result.rule}")
        },
    }


def _text(text: str) -> str:
    """Return a text of valid characters: bytes of a file's name that are not text are escaped."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
