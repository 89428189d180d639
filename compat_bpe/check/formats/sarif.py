"""SARIF 2.1.0, which code scanning reads."""

from __future__ import annotations

import json
import os
import posixpath
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from ...version import __version__
from ..results import Report, Result

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"over": "error", "near": "warning"}
_RULES = {
    "file": "A file has more tokens than its limit.",
    "section": "A section of a Markdown file has more tokens than its limit.",
    "front_matter": "The front matter of a file has more tokens than its limit.",
    "body": "What follows the front matter of a file has more tokens than its limit.",
    "total": "The files of a group have more tokens than their limit.",
    "growth": "A file has grown by more tokens than its limit.",
}


def lines(report: Report) -> Iterator[str]:
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
                            "executionSuccessful": not report.errors,
                            "toolExecutionNotifications": [
                                {"level": "error", "message": {"text": _text(f"{path}: {reason}")}}
                                for path, reason in report.errors
                            ],
                        }
                    ],
                    "columnKind": "unicodeCodePoints",
                    "results": [_result(report, one) for one in report.of("over", "near")],
                }
            ],
        }
    )


def _result(report: Report, result: Result) -> dict[str, Any]:
    path, line = result.path, result.line
    if not path and result.place is not None:  # a total is nowhere; the place of its limit is
        path, line = _limit_path(report, result.place.file), result.place.line
    path = posixpath.normpath(report.prefix + path)
    return {
        "ruleId": f"tokens/{result.kind}",
        "ruleIndex": list(_RULES).index(result.kind),
        "level": _LEVELS[result.status],
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


def _limit_path(report: Report, file: str) -> str:
    """Return the path of a limit's file, relative to the configuration's folder."""
    folder = os.path.realpath(os.path.dirname(report.configuration))
    return os.path.relpath(os.path.realpath(file), folder).replace(os.sep, "/")


def _text(text: str) -> str:
    """Return a text without what is no character: bytes of a file's name are written out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
