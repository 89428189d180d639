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
                            "executionSuccessful": report.status != "error",
                            "toolExecutionNotifications": [
                                {"level": "error", "message": {"text": _text(f"{name}: {reason}")}}
                                for name, reason in (
                                    *report.errors,
                                    *((one.name, one.reason) for one in report.unmatched),
                                )
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
    path, line = posixpath.normpath(report.prefix + result.path), result.line
    if not result.path and result.place is not None:  # a total is nowhere; its limit is
        path, line = report.path_of(result.place), result.place.line
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


def _text(text: str) -> str:
    """Return a text without what is no character: bytes of a file's name are written out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
