from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.cli.counting import Counts
from compat_bpe.cli.sorting import Counted, largest
from compat_bpe.cli.tree import LINES, tree_lines
from compat_bpe.files.walk import Found
from tests.files.systems import windows_paths


def counted(files: dict[str, int], root: str = "d", argument: int = 0) -> list[Counted]:
    return [
        Counted(Found(f"{root}/{path}", root, argument), Counts(tokens, 0, 0))
        for path, tokens in files.items()
    ]


def lines(files: list[Counted], *, top: int = 100, by_tokens: bool = False) -> list[str]:
    shown, _ = largest(files, top)
    paths = list(dict.fromkeys(one.found.root for one in files))
    return [
        f"{tokens} {text}"
        for tokens, text in tree_lines(paths, files, shown, by_tokens=by_tokens, ascii_only=False)
    ]


FILES = {"a/x": 1, "a/b/y": 20, "a/b/z": 3, "c": 40}


def test_directories_have_the_sum_of_what_is_in_them() -> None:
    assert lines(counted(FILES)) == [
        "64 d",
        "24 ├── a/",
        "1 │   ├── x",
        "23 │   └── b/",
        "20 │       ├── y",
        "3 │       └── z",
        "40 └── c",
    ]


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


def test_each_path_has_a_tree_and_a_file_is_one() -> None:
    file = Counted(Found("f", "f", 1), Counts(5, 0, 0))
    assert lines([*counted({"a": 1}), file, *counted({"a": 2}, "e", 2)]) == [
        "1 d",
        "1 └── a",
        "5 f",
        "2 e",
        "2 └── a",
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
    files = [Counted(Found(path, "a/b", 0), Counts(1, 0, 0)) for path in ("a/b\\c\\x", "a/b\\c/y")]
    with windows_paths():
        assert lines(files) == ["2 a/b", "2 └── c\\", "1     ├── x", "1     └── y"]
