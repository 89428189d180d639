"""Accessibility by axe-core, of the page that a browser shows."""

from __future__ import annotations

import tarfile

import pytest

from web.runtime import npm_archive

AXE = "axe-core@4.14.1"
AXE_INTEGRITY = (
    "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3N"
    "PjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
)

#: What a page is asked for once axe-core is in it: each violation with its element and reason.
VIOLATIONS = (
    "return axe.run().then(({ violations }) => violations.flatMap(one =>"
    " one.nodes.map(node => [one.id, node.html, node.failureSummary])))"
)


@pytest.fixture(scope="module")
def axe() -> str:
    """The script that makes axe-core the page's ``axe``."""
    with tarfile.open(npm_archive(AXE, AXE_INTEGRITY), "r:gz") as tar:
        member = tar.extractfile("package/axe.min.js")
        assert member is not None
        return member.read().decode() + ";globalThis.axe = axe"
