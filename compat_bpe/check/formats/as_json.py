"""One JSON object."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..results import Change, Report, Result, Unmatched


def lines(report: Report) -> Iterator[str]:
    """Yield the object as one line."""
    yield json.dumps(
        {
            "configuration": report.configuration,
            "status": report.status,
            "files": report.files,
            "over": len(report.of("over")),
            "near": len(report.of("near")),
            "results": [_result(one) for one in report.results],
            "base": report.base,
            "changes": [_change(one) for one in report.changes],
            "errors": [
                *({"path": path, "error": reason} for path, reason in report.errors),
                *map(_unmatched, report.unmatched),
            ],
            "skipped": [{"path": path, "reason": reason} for path, reason in report.skipped],
        }
    )


def _result(result: Result) -> dict[str, Any]:
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


def _change(change: Change) -> dict[str, Any]:
    return {
        "kind": change.kind,
        "path": change.path or None,
        "before_path": change.before_path or None,
        "before": change.before,
        "after": change.after,
        "encoding": change.encoding,
    }
