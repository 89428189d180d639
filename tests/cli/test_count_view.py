"""What ``compat-bpe count`` prints: the order of files, trees, and bars on a terminal."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.cli.count_view import (
    LINES,
    CountedFile,
    Rest,
    bar,
    in_order,
    largest,
    tree_lines,
)
from compat_bpe.cli.counting import Counts
from compat_bpe.files.walk import Found
from tests.cli.running import cases, command, write
from tests.files.systems import windows_paths

LISTED = [
    CountedFile(Found(path, path, 0), Counts((tokens,), tokens * 2, tokens * 3))
    for path, tokens in (("b/z", 1), ("b.py", 3), ("a/z", 3), ("b/a", 3))
]


def paths_of(files: list[CountedFile]) -> list[str]:
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
    assert paths_of(in_order(LISTED, order)) == expected


def test_of_as_many_tokens_the_first_are_the_largest() -> None:
    shown, rest = largest(LISTED, 2, 1)
    assert paths_of(shown) == ["b.py", "a/z"]
    assert rest == Rest(2, Counts((4,), 8, 12))


def test_there_may_be_fewer_than_asked_for() -> None:
    assert largest(LISTED, 9, 1) == (LISTED, Rest(0, Counts((0,), 0, 0)))
    assert largest([], 1, 1) == ([], Rest(0, Counts((0,), 0, 0)))


def test_sorted_paths_of_windows_may_be_typed_with_slashes() -> None:
    files = [
        CountedFile(Found(path, "a", 0), Counts((1,), 0, 0))
        for path in ("a/b\\z", "a\\b.py", "a/b/c")
    ]
    with windows_paths():
        assert paths_of(in_order(files, "path")) == ["a/b/c", "a/b\\z", "a\\b.py"]


def counted(files: dict[str, int], root: str = "d", argument: int = 0) -> list[CountedFile]:
    return [
        CountedFile(Found(f"{root}/{path}", root, argument), Counts((tokens,), 0, 0))
        for path, tokens in files.items()
    ]


def lines(files: list[CountedFile], *, top: int = 100, by_tokens: bool = False) -> list[str]:
    shown, _ = largest(files, top, 1)
    paths = list(dict.fromkeys(one.found.root for one in files))
    return [
        f"{tokens} {text}"
        for (tokens,), text in tree_lines(
            paths, files, shown, by_tokens=by_tokens, ascii_only=False
        )
    ]


FILES = {"a/x": 1, "a/b/y": 20, "a/b/z": 3, "c": 40}


def test_most_tokens_first() -> None:
    assert lines(counted(FILES), by_tokens=True) == [
        "64 d",
        "40 ├── c",
        "24 └── a/",
        "23     ├── b/",
        "20     │   ├── y",
        "3     │   └── z",
        "1     └── x",
    ]


def test_what_is_not_shown_is_summed_up_where_it_is() -> None:
    assert lines(counted({**FILES, "e/f/g": 2, "e/f/h": 2}), top=2) == [
        "68 d",
        "24 ├── a/",
        "23 │   ├── b/",
        "20 │   │   ├── y",
        "3 │   │   └── (1 more file)",
        "1 │   └── (1 more file)",
        "40 ├── c",
        "4 └── (2 more files)",
    ]


def test_lines_of_ascii() -> None:
    files = counted(FILES)
    drawn = [
        "".join(text for _, text in tree_lines(["d"], files, files, by_tokens=False, ascii_only=a))
        for a in (False, True)
    ]
    assert drawn[1].isascii()
    for line, ascii_line in zip(LINES, ("|-- ", "`-- ", "|   ", "    ")):
        drawn[0] = drawn[0].replace(line, ascii_line)
    assert drawn[0] == drawn[1]


def test_directories_may_be_deeper_than_calls() -> None:
    assert len(lines(counted({"/".join("x" * 3000): 1}))) == 3001


# A name is a directory's or a file's, as on a disk.
paths = st.lists(st.sampled_from("abc"), max_size=3).map(
    lambda folders: "/".join([*folders, "file"])
)


@given(
    files=st.dictionaries(paths, st.integers(0, 50), min_size=1),
    top=st.integers(1, 8),
    by_tokens=st.booleans(),
)
def test_sums_are_right_at_every_level(files: dict[str, int], top: int, by_tokens: bool) -> None:
    # The sums of the entries of each directory, by the depth at which they stand.
    found = lines(counted(files), top=top, by_tokens=by_tokens)
    stack: list[list[int]] = []
    for line in reversed(found):
        number, text = line.split(" ", 1)
        depth = (len(text) - len(text.lstrip("".join(LINES)))) // 4
        while len(stack) <= depth + 1:
            stack.append([])
        if text.endswith("/") or depth == 0:
            assert sum(stack[depth + 1]) == int(number)
            stack[depth + 1].clear()
        stack[depth].append(int(number))
    assert stack[0] == [sum(files.values())]
    named = [line for line in found if line.endswith("file")]
    assert len(named) == min(top, len(files))


def test_paths_of_windows_may_be_typed_with_slashes() -> None:
    files = [
        CountedFile(Found(path, "a/b", 0), Counts((1,), 0, 0)) for path in ("a/b\\c\\x", "a/b\\c/y")
    ]
    with windows_paths():
        assert lines(files) == ["2 a/b", "2 └── c\\", "1     ├── x", "1     └── y"]


@pytest.fixture
def _files() -> None:
    sizes = {"a/x.txt": 300, "a/b/y.txt": 99, "a/b/z.txt": 1, "d/a": 2, "d/b/c/x": 20, "d/b/y": 18}
    write({name: "the" + " the" * (tokens - 1) for name, tokens in sizes.items()})


@pytest.mark.usefixtures("_files")
@cases(
    r"""
--tree --depth 0 d → 40 d/\n
--tree --depth 1 d → 40 d/\n 2 ├── a\n38 └── b/\n
--tree --depth 2 d → 40 d/\n 2 ├── a\n38 └── b/\n20     ├── c/\n18     └── y\n
--tree --depth 9 d → 40 d/\n 2 ├── a\n38 └── b/\n20     ├── c/\n20     │   └── x\n
    18     └── y\n
--tree --percent --depth 1 d → 40 100.0% d/\n 2   5.0% ├── a\n38  95.0% └── b/\n
--percent --top 2 d → 20  50.0% d/b/c/x\n18  45.0% d/b/y\n 2   5.0% (1 more file)\n
    40 100.0% total\n
--percent d/a d/b/y →  2  10.0% d/a\n18  90.0% d/b/y\n20 100.0% total\n
--percent /dev/null → 0   0.0% /dev/null\n
--total-only d d/a → 42\n
--total-only --per-file --max 20 d → 40\n
--max 4 d/a d/a →  2 d/a\n 2 d/a\n 4 total\n
--max 0 /dev/null → 0 /dev/null\n
--max 3 d/a d/a →  2 d/a\n 2 d/a\n 4 total\n → total: 4 tokens, over the limit of 3\n
--total-only --per-file --limit 17 d → 40\n → d/b/c/x: 20 tokens, over the limit of 17\n
    compat-bpe: d/b/y: 18 tokens, over the limit of 17\n
--max 1 --top 1 --tree d/a → 2 d/a\n → total: 2 tokens, over the limit of 1\n
""",
    "args out over",
)
def test_as_it_looks(args: str, out: str, over: str) -> None:
    said = f"compat-bpe: {over}" if over else ""
    assert command(f"count -e gpt2 {args}") == (int(bool(over)), out, said)


@pytest.mark.usefixtures("_files")
def test_a_limit_of_standard_input_and_of_what_cannot_be_read() -> None:
    total = "count -e gpt2 --total-only"
    assert command(f"{total} -", stdin="hello world") == (0, "2\n", "")
    one = "compat-bpe: standard input: 1 token, over the limit of 0\n"
    assert command(f"{total} --per-file -q --limit 0", stdin="hello") == (1, "1\n", one)
    assert command("count -e gpt2 --max 0").status == 0
    assert command("count -e gpt2 --max 0 --json d/a").status == 1
    # What is over the limit and cannot be read is unreadable.
    assert command(f"{total} d gone").out == "40\n"
    for args in ("--per-file --max 0 d/a gone", "--max 1 d/a gone"):
        assert command(f"{total} {args}").status == 2


@pytest.mark.usefixtures("_files")
def test_bars_on_a_terminal() -> None:
    tree = "count --tree -e gpt2 -q a"
    assert command(tree, terminal=True).out.splitlines() == [
        "400 ██████████ a/",
        "100 ██▌        ├── b/",
        " 99 ██▌        │   ├── y.txt",
        "  1 ▏          │   └── z.txt",
        "300 ███████▌   └── x.txt",
    ]
    percent = command(f"{tree} --percent --top 1", terminal=True).out.splitlines()
    assert percent == [
        "400 100.0% ██████████ a/",
        "300  75.0% ███████▌   ├── x.txt",
        "100  25.0% ██▌        └── (2 more files)",
    ]
    assert command(tree, terminal=True, charset="ascii").out.splitlines()[1:4] == [
        "100 ##         |-- b/",
        " 99 ##         |   |-- y.txt",
        "  1 #          |   `-- z.txt",
    ]
    # None elsewhere.
    assert command("count --tree -e gpt2 a").out.splitlines()[0] == "400 a/"
    assert "█" not in command("count -e gpt2 -q a/x.txt a/b/z.txt", terminal=True).out


@pytest.mark.usefixtures("_files")
def test_separators_on_a_terminal_alone() -> None:
    write({"a.txt": "hello " * 1999 + "hello", "b.txt": "hello"})
    for args, lines in {
        "a.txt b.txt": " 2,000 a.txt\n     1 b.txt\n 2,001 total\n",
        "a.txt": "2,000 a.txt\n",
        "--tree a.txt b.txt": (
            "2,000 ██████████ a.txt\n    1 ▏          b.txt\n2,001 ██████████ total\n"
        ),
        "--total-only a.txt b.txt": "2001\n",
    }.items():
        assert command(f"count -q -e gpt2 {args}", terminal=True).out == lines
        piped = command(f"count -e gpt2 {args}").out
        assert "," not in piped
        assert re.findall(r"\d+", piped) == re.findall(r"\d+", lines.replace(",", ""))


@given(parts=st.lists(st.integers(0, 1000), min_size=1), ascii_only=st.booleans())
def test_a_bar_is_as_long_as_its_share(parts: list[int], ascii_only: bool) -> None:
    total = sum(parts)
    for tokens in (*parts, total):
        shown = bar(tokens, total, ascii_only=ascii_only)
        assert len(shown) == 10
        cells = shown.rstrip(" ")
        assert bool(cells) == bool(tokens)
        if ascii_only:
            length = float(len(cells))
        else:
            length = sum(" ▏▎▍▌▋▊▉█".index(cell) for cell in cells) / 8
        share = tokens / total * 10 if total else 0
        assert abs(length - share) <= (0.5 if not tokens or length > 1 else 1)
    assert bar(total, total, ascii_only=ascii_only).strip() in ("", "█" * 10, "#" * 10)
