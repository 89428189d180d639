"""Inlay hints: counts at the ends of lines, where an editor shows hints but no lenses."""

from __future__ import annotations

from itertools import islice
from typing import Any

from .params import Params
from .parts import parts
from .places import offsets_of, position_at, read_range
from .session import Session
from .shown import MOST_PARTS, refuse_if_outdated, share


def hints(session: Session, params: Params) -> list[dict[str, Any]] | None:
    """Return the hints in a range: the document's count on its first line, and its parts'."""
    opened = session.document(params)
    if not session.settings.shown["inlayHints"]:
        return None
    refuse_if_outdated(session, opened)
    document = opened.document
    start, end = offsets_of(document, read_range(params.inner("range")), session.unit)
    places = [(0, len(document)), *islice(parts(opened), MOST_PARTS)]
    found = []
    for number, (first, last) in enumerate(places):
        at = document.line_range(document.position(first).line)[1]
        if start <= at <= end:
            count = opened.in_words(first, last)
            label = count if number else f"file: {count}{share(opened)}"
            place = position_at(document, at, session.unit)
            found.append({"position": place, "label": label, "paddingLeft": True})
    return found
