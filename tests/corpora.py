"""Natural texts: the corpora beside the repository, or where there are none, its own pages."""

from __future__ import annotations

from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]

#: The folder of the corpora, which need not be there.
CORPORA = _ROOT.parent / "shared" / "corpora"

#: Files of natural text in UTF-8; there are some in any checkout.
TEXTS = sorted(path for path in CORPORA.glob("*.*") if path.is_file()) or sorted(
    (_ROOT / "docs").glob("*.md")
)
