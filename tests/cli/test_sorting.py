from __future__ import annotations

import pytest

from compat_bpe.cli.counting import Counts
from compat_bpe.cli.sorting import Counted, Rest, in_order, largest
from compat_bpe.files.walk import Found
from tests.files.systems import windows_paths

FILES = [
    Counted(Found(path, path, 0), Counts(tokens, tokens * 2, tokens * 3))
    for path, tokens in (("b/z", 1), ("b.py", 3), ("a/z", 3), ("b/a", 3))
]


def paths(files: list[Counted]) -> list[str]:
    return [one.found.path for one in files]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (None, ["b/z", "b.py", "a/z", "b/a"]),
        ("name", ["b/a", "b.py", "a/z", "b/z"]),
        ("path", ["a/z", "b/a", "b/z", "b.py"]),
        ("tokens", ["b.py", "a/z", "b/a", "b/z"]),
    ],
)
def test_orders(order: str | None, expected: list[str]) -> None:
    assert paths(in_order(FILES, order)) == expected


def test_of_as_many_tokens_the_first_are_the_largest() -> None:
    shown, rest = largest(FILES, 2)
    assert paths(shown) == ["b.py", "a/z"]
    assert rest == Rest(2, Counts(4, 8, 12))


def test_there_may_be_fewer_than_asked_for() -> None:
    assert largest(FILES, 9) == (FILES, Rest(0, Counts(0, 0, 0)))
    assert largest([], 1) == ([], Rest(0, Counts(0, 0, 0)))


def test_paths_of_windows_may_be_typed_with_slashes() -> None:
    files = [
        Counted(Found(path, "a", 0), Counts(1, 0, 0)) for path in ("a/b\\z", "a\\b.py", "a/b/c")
    ]
    with windows_paths():
        assert paths(in_order(files, "path")) == ["a/b/c", "a/b\\z", "a\\b.py"]
