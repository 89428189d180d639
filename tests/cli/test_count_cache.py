"""Counting files again: the same results with the cache as without, whatever it holds."""

from __future__ import annotations

import io
import os
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding, load
from compat_bpe.cli import counting
from compat_bpe.cli.counting import FileCounter, Outcome, count_files
from compat_bpe.cli.progress import FileProgress
from compat_bpe.corpus import count_cache
from compat_bpe.corpus.count_cache import CountCache
from compat_bpe.files.walk import Walk
from tests.cli.running import (
    command,
    commit,
    environment,
    posix,
    printed,
    run_process,
    started,
    write,
)
from tests.examples import shared_fixture
from tests.kinds import model_path

gpt2 = get_encoding("gpt2")
BYTES = {bytes([byte]): byte for byte in range(256)}
#: Two vocabularies that differ in the rank of one token, and count "abc" and "bcd" otherwise.
SIMILAR = [
    Encoding(
        "similar",
        pat_str=r"\w+|\W",
        mergeable_ranks={**BYTES, b"ab": 256, b"bc": bc, b"abcd": 258, b"cd": 259},
        special_tokens={},
    )
    for bc in (257, 255 + 400)
]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the cache, which is used however small the files are."""
    monkeypatch.setattr(counting, "_WORTH_CACHE", 0)
    monkeypatch.setenv("COMPAT_BPE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that were counted in this process, and not found."""
    paths: list[str] = []
    count = FileCounter.count

    def noted(
        self: FileCounter, part: counting.Part, advance: Callable[[int], None] = lambda _: None
    ) -> Outcome:
        paths.append(part.path)
        return count(self, part, advance)

    monkeypatch.setattr(FileCounter, "count", noted)
    return paths


def outcomes(*encodings: Encoding, cached: bool, jobs: int = 1, **options: bool) -> list[Outcome]:
    progress = FileProgress(0, 0, io.StringIO())
    counter = FileCounter(*encodings, **options)  # type: ignore[arg-type]
    files = list(Walk().find(["d"]))
    cache = counter.cache(files) if cached else None
    with cache or nullcontext():
        found = list(count_files(counter, files, jobs, progress, cache=cache))
    return [one._replace(digest=b"") for one in found]


def rows_in(folder: Path) -> int:
    with closing(sqlite3.connect(next(folder.iterdir()))) as connection:
        ((rows,),) = connection.execute("SELECT count(*) FROM counts")
    return int(rows)


names = st.sampled_from(["d/a", "d/b", "d/c/a", "d/c/b.ipynb"])
contents = st.text("abcd ", max_size=12).map(str.encode) | st.sampled_from([b"\xff", b"a\0"])

Change = tuple[str, str, object]


def changes(
    names: st.SearchStrategy[str], contents: st.SearchStrategy[bytes]
) -> st.SearchStrategy[list[Change]]:
    return st.lists(
        st.one_of(
            st.tuples(st.just("edit"), names, contents),
            st.tuples(st.just("rename"), names, names),
            st.tuples(st.just("swap"), names, names),
            st.tuples(st.just("truncate"), names, st.integers(0, 6)),
            st.tuples(st.just("restore"), names, st.none()),
        ),
        max_size=4,
    )


def change(some: list[Change], before: dict[str, bytes]) -> None:
    """Change files, all of which have one time then; ``before`` has what was edited."""
    for kind, name, value in some:
        path = Path(name)
        data = path.read_bytes() if path.exists() else b""
        if kind == "edit":
            assert isinstance(value, bytes)
            write({name: value})
            before[name] = data
        elif kind == "restore":
            write({name: before.get(name, data)})
        elif kind == "truncate":
            assert isinstance(value, int)
            write({name: data[:value]})
        else:
            other = Path(str(value))
            if kind == "swap":
                write({name: other.read_bytes() if other.exists() else b""})
            elif path.exists() and path != other:
                path.unlink()
            write({str(value): data})
        for file in Path("d").rglob("*"):
            os.utime(file, (1, 1))


@pytest.mark.usefixtures("kept")
@shared_fixture()
@given(
    changed=st.lists(changes(names, contents), min_size=2, max_size=5),
    ways=st.lists(
        st.tuples(st.sampled_from([SIMILAR[:1], SIMILAR[1:], SIMILAR]), st.booleans()),
        min_size=5,
        max_size=5,
    ),
    notebooks=st.booleans(),
)
def test_whatever_changes_counts_are_those_without_it(
    changed: list[list[Change]],
    ways: list[tuple[list[Encoding], bool]],
    notebooks: bool,
) -> None:
    before: dict[str, bytes] = {}
    write({"d/a": "abcd abc", "d/c/b.ipynb": '{"cells": [{"source": "abcd bcd"}]}'})
    for some, (encodings, replace) in zip(changed, ways):
        change(some, before)
        options = {"replace": replace, "notebooks": notebooks}
        assert outcomes(*encodings, cached=True, **options) == outcomes(
            *encodings, cached=False, **options
        )


def test_what_was_counted_is_not_counted_again(kept: Path, counted: list[str]) -> None:
    write({f"d/{number}": "hello wörld " * number for number in range(20)})
    write({"d/binary": b"\0", "d/latin": b"\xff"})
    expected = outcomes(gpt2, cached=False)
    counted.clear()
    assert outcomes(gpt2, cached=True) == expected
    assert len(counted) == 22
    for jobs in (1, 2):
        counted.clear()
        assert outcomes(gpt2, cached=True, jobs=jobs) == expected
        assert sorted(counted) == ["d/binary", "d/latin"]  # what is no text has no count
    # A file of another name, and one with another time.
    write({"d/new": "hello wörld " * 7})
    os.utime("d/3", (1, 1))
    os.rename("d/4", "d/44")
    counted.clear()
    outcomes(gpt2, cached=True)
    assert sorted(counted) == ["d/binary", "d/latin"]
    # Options that decide what a text is, or what it counts as.
    outcomes(gpt2, cached=True, replace=True)
    assert len(counted) == 2 + 23
    write({"d/note.ipynb": '{"cells": []}'})
    for _ in range(2):
        outcomes(gpt2, cached=True, notebooks=True)
    assert counted.count("d/note.ipynb") == 2  # what is not counted as it is has no count, either


@pytest.mark.usefixtures("kept")
def test_what_may_not_be_text_is_not_taken_for_text_that_was_counted() -> None:
    write({"d/a": b"a\0"})
    (text,) = outcomes(gpt2, cached=True, allow_nul=True)
    assert text.counts is not None
    (binary,) = outcomes(gpt2, cached=True)
    assert (binary.counts, binary.is_binary) == (None, True)


@pytest.mark.usefixtures("kept")
def test_a_part_is_no_file_with_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "WORTH_WORKERS", 100)
    monkeypatch.setattr(counting, "_PART", 100)
    monkeypatch.setattr(counting, "_SHARE", 100)
    encoding = load(model_path("bpe_bytes.model"))  # with a space before a text
    write({"d/large": "hello there " * 100})
    _, (part, size), *_ = counting.parts_of(FileCounter(encoding), "d/large", 1200)
    write({"d/small": Path("d/large").read_bytes()[part.start : part.start + size]})
    expected = outcomes(encoding, cached=False)
    assert expected[1].counts != counting.FileCounter(encoding).count(part).counts
    for _ in range(2):
        assert outcomes(encoding, cached=True, jobs=2) == expected


def test_parts_of_a_large_file_are_kept(
    kept: Path, counted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "WORTH_WORKERS", 100)
    monkeypatch.setattr(counting, "_PART", 1_000)
    monkeypatch.setattr(counting, "_SHARE", 1_000)
    text = "".join(f"hello {number} " for number in range(2_000))
    write({"d/large": text, "d/small": "hello"})
    expected = outcomes(gpt2, cached=False)
    assert outcomes(gpt2, cached=True, jobs=2) == expected
    assert rows_in(kept) > 10
    counted.clear()
    assert outcomes(gpt2, cached=True, jobs=2) == expected
    # Only the parts about a change are counted again, and here: they are no work for workers.
    write({"d/large": text[:500] + "x" + text[501:]})
    expected = outcomes(gpt2, cached=False)
    counted.clear()
    monkeypatch.setattr(counting, "WORTH_WORKERS", 3_000)
    assert outcomes(gpt2, cached=True, jobs=2) == expected
    assert 1 <= len(counted) <= 2


def test_where_most_is_new_it_is_left_to_workers(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "_TRIED", 100)
    write({f"d/{number:03}": f"{number} hello " * 10 for number in range(100)})
    write({"d/000": "a count that is known"})
    for number in (0, 99):
        write({f"e/{number:03}": Path(f"d/{number:03}").read_bytes()})
    os.rename("d", "f")
    os.rename("e", "d")
    outcomes(gpt2, cached=True)
    os.rename("d", "e")
    os.rename("f", "d")
    read: list[str] = []
    digest = FileCounter.digest

    def noted(self: FileCounter, part: counting.Part) -> bytes:
        read.append(part.path)
        return digest(self, part)

    monkeypatch.setattr(FileCounter, "digest", noted)
    expected = outcomes(gpt2, cached=False)
    assert outcomes(gpt2, cached=True) == expected
    assert len(read) < 10
    read.clear()
    assert outcomes(gpt2, cached=True) == expected
    assert len(read) == 100


def test_small_inputs_and_quick_counts_have_no_cache(kept: Path) -> None:
    write({"d/a": "hello"})
    for line in ("count --no-cache d", "count -e characters d"):
        assert command(line).status == 0
        assert not kept.exists()
    assert command("count d").status == 0
    assert kept.exists()
    script = """
import atexit, sys
from compat_bpe.cli import cli
atexit.register(lambda: print("sqlite3" in sys.modules, "hashlib" in sys.modules))
cli(["count", "d"], standalone_mode=False)
"""
    assert run_process(code=script).stdout.endswith(b"False False\n")


#: Limits for files, front matter, bodies, sections and growth. Two rules have other vocabularies.
RULES = """\
[check]
encoding = "gpt2"
[[check.rules]]
files = ["d/**"]
max = 8
total = 20
front_matter = 2
body = 4
growth = 1
[[check.rules.sections]]
heading = "*"
max = 3
[[check.rules]]
files = ["d/**"]
encoding = "cl100k_base"
max = 8
body = 4
[[check.rules]]
files = ["d/*"]
model = "claude-sonnet-4-5"
estimate = true
max = 9
growth = 0
"""
NO_GIT = shutil.which("git") is None or os.name == "nt"
prompts = st.sampled_from(["d/a.md", "d/b.md", "d/c/a.md", "d/c/b.ipynb"])
texts = st.lists(
    st.sampled_from(["---", "a: b", "# abcd", "## bcd", "abcd abc", "bcd", "", "\u20ac"]),
    max_size=9,
).map(lambda lines: "\n".join(lines).encode())


@pytest.fixture
def project(kept: Path) -> Path:
    """A project with prompts, in a repository if there is git."""
    write({".compat-bpe.toml": RULES, "d/c/b.ipynb": '{"cells": [{"source": "abcd bcd"}]}'})
    write({"d/a.md": "---\na: b\n---\n# abcd\nabcd abc\n## bcd\nbcd\n"})
    write({"d/b.md": "abcd\n====\nbcd\n"})
    if not NO_GIT:
        commit("init -q .")
    return kept


@pytest.mark.usefixtures("project")
@shared_fixture()
@given(
    changed=st.lists(changes(prompts, texts | contents), min_size=2, max_size=4),
    options=st.lists(st.sampled_from([*[""] * 3, "--base HEAD"]), min_size=4, max_size=4),
    notebooks=st.booleans(),
)
def test_whatever_changes_a_check_is_the_one_without_it(
    changed: list[list[Change]], options: list[str], notebooks: bool
) -> None:
    before: dict[str, bytes] = {}
    for some, more in zip(changed, options):
        change(some, before)
        source = "--notebooks source" if notebooks else ""
        line = f"check --json {more if not NO_GIT else ''} {source}"
        found = command(line)
        assert found == command(f"{line} --no-cache")
        assert found.out, "it checks something"


@pytest.mark.skipif(NO_GIT, reason="there is no git")
def test_check_counts_with_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write({"d/a.md": "# abcd\nbcd bcd\n# x\nabc\n"})
    counted: list[str] = []
    count = Encoding.count

    def noted(self: Encoding, text: str, **options: Any) -> int:
        if self.reference != "baseline":  # an estimate is as quick as a look-up
            counted.append(text)
        return count(self, text, **options)

    monkeypatch.setattr(Encoding, "count", noted)
    line = "check --all --base HEAD"
    first = command(f"{line} --no-cache")
    number = len(counted)
    assert not project.exists()
    assert command(line) == first
    counted.clear()
    assert command(line) == first
    assert counted == []
    assert command(f"{line} --no-cache") == first
    assert len(counted) == number


@pytest.mark.skipif(NO_GIT, reason="there is no git")
@pytest.mark.parametrize("what", ["file", "damaged", "locked", "full", "read-only"])
def test_check_is_the_same_whatever_is_wrong_with_it(
    project: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"d/a.md": "# abcd\nbcd bcd\n# x\nabc\n"})
    line = "check --json --base HEAD"
    first = command(f"{line} --no-cache")
    if what == "file":
        project.touch()
    elif what == "full":
        fail = mock.Mock(side_effect=sqlite3.OperationalError("database or disk is full"))
        monkeypatch.setattr(CountCache, "_write", fail)
    else:
        assert command(line) == first
        write({"d/b.md": "# abcd\nabcd\n"})
        first = command(f"{line} --no-cache")
        (file,) = project.iterdir()
        if what == "damaged":
            file.write_bytes(file.read_bytes()[:5_000] + b"damaged " * 1_000)
        elif what == "read-only":
            file.chmod(0o400)
            project.chmod(0o500)
        else:
            monkeypatch.setattr(count_cache, "_PATIENCE", 0.01)
            other = sqlite3.connect(file, isolation_level=None)
            other.execute("BEGIN EXCLUSIVE")
    try:
        assert command(line) == command(line) == first
    finally:
        if what == "read-only":
            project.chmod(0o700)
        elif what == "locked":
            other.close()


def test_what_is_wrong_with_it_is_said_if_asked(kept: Path) -> None:
    kept.touch()
    write({"d/a": "hello", "d/b": "a"})
    expected = command("count --no-cache d")
    assert command("count d") == expected
    told = command("count -v d")
    assert told._replace(err="") == expected
    assert told.err.startswith(f"compat-bpe: the cache of counts: {kept}")
    assert told.err.count("\n") == 1


def test_two_processes_at_once(tmp_path: Path) -> None:
    write({f"d/{number}": f"hello {number} world " * 900 for number in range(100)})
    line = ("count", "-v", "--total-only", "d")
    env = environment(COMPAT_BPE_CACHE_DIR=str(tmp_path / "cache"))
    for _ in range(2):
        with started(*line, env=env) as one, started(*line, env=env) as other:
            said = {process.communicate() for process in (one, other)}
        assert [err for _, err in said] == [b""]


@posix
def test_what_is_done_stays_if_it_is_interrupted(tmp_path: Path) -> None:
    write({f"d/{number:03}": f"hello {number} world " * 3_000 for number in range(30)})
    os.mkfifo("z")
    env = environment(COMPAT_BPE_CACHE_DIR=str(tmp_path / "cache"))
    with started("count", "-j", "1", "d", "z", env=env) as process:
        assert process.stdout is not None
        for _ in range(30):
            process.stdout.readline()
        time.sleep(0.2)  # it waits for the pipe
        process.send_signal(signal.SIGINT)
        process.communicate()
    assert rows_in(tmp_path / "cache") == 30


def test_the_command_says_where_it_is_and_clears_it(kept: Path) -> None:
    assert printed("cache --folder") == f"{kept}\n"
    empty = command("cache")
    assert empty.out.splitlines()[2:] == ["0 counts"]
    assert printed("cache --clear") == ""
    write({"d/a": "hello", "d/b": "a"})
    command("count d")
    first, size, counts = printed("cache").splitlines()
    assert (first, counts) == (f"folder: {kept}", "2 counts")
    assert size.startswith("size: ")
    next(kept.iterdir()).write_bytes(b"damaged " * 100)
    damaged = command("cache")
    assert damaged.status == 2
    assert damaged.err.endswith("not a database; --clear removes it\n")
    assert printed("cache --clear") == ""
    assert command("cache") == empty
    assert command("cache --clear --folder").status == 2
