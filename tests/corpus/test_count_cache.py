"""The file of the cache of counts: its keys, its size, and all that may be wrong with it."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import Encoding, get_encoding, load
from compat_bpe.corpus import count_cache
from compat_bpe.corpus.count_cache import CountCache, cache_folder, identity, new_hash
from tests.formats import small_files
from tests.formats.small_files import NAME, WHOLE
from tests.kinds import KINDS, SMALL_MODELS, kind_path, model_path

gpt2, o200k = get_encoding("gpt2"), get_encoding("o200k_base")
PROGRAM = Path(__file__).resolve().parents[2]


def digest(data: bytes) -> bytes:
    hashed = new_hash()
    hashed.update(data)
    return hashed.digest()


TEXTS = {digest(b"%d" % number): [(number, 7, 10**number)] for number in range(40)}


def filled(folder: Path, *encodings: Encoding, **options: Any) -> CountCache:
    """A cache with the counts of ``TEXTS``, which is written."""
    with CountCache(str(folder), encodings or [gpt2], **options) as cache:
        for one, numbers in TEXTS.items():
            cache.keep(one, numbers * len(encodings or [gpt2]))
    assert not cache.problem
    return cache


def found(folder: Path, *encodings: Encoding, **options: Any) -> dict[bytes, Any]:
    with CountCache(str(folder), encodings or [gpt2], **options) as cache:
        return cache.find(list(TEXTS))


def problem_of(folder: Path) -> str:
    """What is wrong with a cache that finds nothing and takes what it is to keep."""
    with CountCache(str(folder), [gpt2]) as cache:
        assert cache.find(list(TEXTS)) == {}
        cache.keep(digest(b"a"), [(1, 1, 1)])
    return cache.problem


def test_it_finds_what_was_kept_for_the_same_vocabulary_and_options(tmp_path: Path) -> None:
    assert found(tmp_path) == {}
    filled(tmp_path)
    assert found(tmp_path) == TEXTS
    assert found(tmp_path, options=b"replace") == found(tmp_path, o200k) == {}
    # By each of two encodings, only what both have.
    assert found(tmp_path, gpt2, o200k) == {}
    filled(tmp_path, o200k)
    assert found(tmp_path, o200k, gpt2) == {one: some * 2 for one, some in TEXTS.items()}
    with CountCache(str(tmp_path), [gpt2]) as cache:
        other = new_hash(True)
        other.update(b"1")
        assert cache.find([other.digest()]) == {}


RANKS = {bytes([byte]): byte for byte in range(256)}


def of_ranks(name: str = "a", pattern: str = r"\w+|\W", **ranks: int) -> Encoding:
    more = {token.encode(): rank for token, rank in ranks.items()}
    return Encoding(name, pat_str=pattern, mergeable_ranks={**RANKS, **more}, special_tokens={})


def test_an_identity_is_of_what_decides_ids_and_of_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    same = [of_ranks(ab=256, bc=257), of_ranks("b", ab=256, bc=257)]
    others = [of_ranks(ab=257, bc=256), of_ranks(ab=256), of_ranks(pattern=r"\w+|\W+", ab=256)]
    shipped = [get_encoding(name) for name in ("gpt2", "cl100k_base", "deepseek_v3", "words")]
    assert len(set(map(identity, same))) == 1
    assert len(set(map(identity, [*same, *others, *shipped]))) == 8
    # The code decides ids, too.
    before = identity(gpt2)
    monkeypatch.setattr(count_cache, "_DECIDING", ("unicode",))
    count_cache._code.cache_clear()
    assert identity(gpt2) != before
    count_cache._code.cache_clear()


def test_identities_are_the_same_in_each_process(tmp_path: Path) -> None:
    rwkv, grok = tmp_path / NAME, tmp_path / "tokenizer.tok.json"
    rwkv.write_bytes(WHOLE)
    grok.write_text(json.dumps(small_files.grok()))
    paths = [*map(kind_path, KINDS), *map(model_path, SMALL_MODELS), "fixtures/gpt2_small"]
    paths += [str(rwkv), str(grok)]
    script = (
        "import sys; from compat_bpe import load\n"
        "from compat_bpe.corpus.count_cache import identity\n"
        "for path in sys.argv[1:]: print(identity(load(path)).hex())\n"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", script, *paths],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(PROGRAM)},
            cwd=PROGRAM,
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in "12"
    }
    assert len(printed) == 1
    identities = printed.pop().split()
    assert len(identities) == len(set(identities)) == len(paths)
    assert identity(load(paths[0])).hex() == identities[0]


def test_nothing_of_a_text_or_a_name_is_in_the_file(tmp_path: Path) -> None:
    secret = of_ranks("a name of a vocabulary", secret=256)
    with CountCache(str(tmp_path), [secret]) as cache:
        cache.keep(digest(b"a secret text"), [(1, 2, 3)])
    (file,) = tmp_path.iterdir()
    data = file.read_bytes()
    assert b"secret" not in data
    assert b"name of" not in data
    assert digest(b"a secret text") not in data  # another vocabulary's key says nothing of it


@pytest.mark.parametrize("size", [0, 1, 100, 5000])
def test_a_file_cut_short_is_begun_anew(tmp_path: Path, size: int) -> None:
    path = Path(str(filled(tmp_path).path))
    path.write_bytes(path.read_bytes()[:size])
    assert found(tmp_path).items() <= TEXTS.items()
    with CountCache(str(tmp_path), [gpt2]) as cache:
        cache.find(list(TEXTS))
        assert size or not cache.problem  # another process may just have made the file
        for one, numbers in TEXTS.items():
            cache.keep(one, numbers)
    assert found(tmp_path) == TEXTS


@pytest.mark.parametrize("step", [37, pytest.param(1, marks=pytest.mark.sweep)])
def test_damage_never_changes_a_count(tmp_path: Path, step: int) -> None:
    path = Path(str(filled(tmp_path).path))
    data = path.read_bytes()
    for at in range(0, len(data), step):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x11]) + data[at + 1 :])
        rows = found(tmp_path)
        assert rows.items() <= TEXTS.items(), at
    # Numbers of another type, and a checksum of something else.
    path.write_bytes(data)
    connection = sqlite3.connect(path)
    for column, value in (("numbers", "9 9 9"), ("numbers", 9), ("checksum", "x"), ("day", "x")):
        connection.execute(f"UPDATE counts SET {column} = ?", (value,))
        connection.commit()
        rows = found(tmp_path)
        assert rows.items() <= TEXTS.items()
    connection.close()


def test_a_folder_that_cannot_be_written_is_left_alone(tmp_path: Path) -> None:
    tmp_path.joinpath("file").touch()
    for folder in (tmp_path / "file", tmp_path / "file/folder", tmp_path / "nul\0"):
        assert problem_of(folder)
    with CountCache(None, [gpt2]) as cache:
        cache.keep(digest(b"a"), [(1, 1, 1)])
        assert cache.find([digest(b"a")]) == {}
    assert not cache.problem


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_in_its_place_is_left_alone_and_so_is_its_target(tmp_path: Path) -> None:
    place = Path(str(filled(tmp_path).path))
    own = tmp_path / "own"
    for content in (place.read_bytes(), b"a text", b"", None):
        place.unlink()
        if content is None:
            own.unlink()
        else:
            own.write_bytes(content)
        place.symlink_to(own)
        assert "not a regular file" in problem_of(tmp_path)
        assert place.is_symlink()
        assert (own.read_bytes() if own.exists() else None) == content
        assert not Path(f"{own}-journal").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_what_can_only_be_read_is_used(tmp_path: Path) -> None:
    path = Path(str(filled(tmp_path, day=1).path))
    path.chmod(stat.S_IRUSR)
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert found(tmp_path, day=2) == TEXTS
    finally:
        tmp_path.chmod(stat.S_IRWXU)


def test_a_locked_file_is_not_waited_for_long(tmp_path: Path) -> None:
    path = filled(tmp_path).path
    other = sqlite3.connect(str(path), isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert "locked" in problem_of(tmp_path)
    other.execute("ROLLBACK")
    other.close()
    assert found(tmp_path) == TEXTS


def test_a_python_without_sqlite_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path)
    monkeypatch.setitem(sys.modules, "sqlite3", None)
    assert "sqlite3" in problem_of(tmp_path)


def test_what_was_not_used_for_longest_leaves_first(tmp_path: Path) -> None:
    limit = 60_000
    for day in range(1, 40):
        with CountCache(str(tmp_path), [gpt2], limit=limit, day=day) as cache:
            assert len(cache.find(list(TEXTS))) == (40 if day > 1 else 0)  # used each day
            for one, numbers in TEXTS.items() if day == 1 else ():
                cache.keep(one, numbers)
            for number in range(50):
                cache.keep(digest(b"%d %d" % (day, number)), [(day, 1, 1)])
    size, rows = cache.size()
    assert size < 2 * limit
    assert rows is not None
    assert 200 < rows < 39 * 50
    one_of_each = [digest(b"%d 0" % day) for day in range(1, 40)]
    with CountCache(str(tmp_path), [gpt2]) as cache:
        kept = cache.find(one_of_each)
    days = [one in kept for one in one_of_each]
    assert days == sorted(days)
    assert days[-1]
    # A run that alone has too many keeps as many as there is room for.
    with CountCache(str(tmp_path), [gpt2], limit=limit) as cache:
        for number in range(5_000):
            cache.keep(digest(b"x%d" % number), [(1, 1, 1)])
    assert cache.size()[0] < 4 * limit


def test_threads_and_processes_share_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count_cache, "_PATIENCE", 60)  # a busy machine may take long

    def use(part: int) -> str:
        with CountCache(str(tmp_path), [gpt2]) as cache:
            cache.find(list(TEXTS))
            for one, numbers in list(TEXTS.items())[part::4]:
                cache.keep(one, numbers)
        return cache.problem

    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(use, range(4))) == {""}
    assert found(tmp_path) == TEXTS


@pytest.mark.parametrize(
    ("system", "variables", "expected"),
    [
        ("linux", {"COMPAT_BPE_CACHE_DIR": "/c", "XDG_CACHE_HOME": "/x"}, "/c"),
        ("linux", {"COMPAT_BPE_CACHE_DIR": "", "XDG_CACHE_HOME": "/x"}, "/x/compat-bpe"),
        ("linux", {"HOME": "/home/me", "XDG_CACHE_HOME": ""}, "/home/me/.cache/compat-bpe"),
        ("darwin", {"HOME": "/Users/me"}, "/Users/me/Library/Caches/compat-bpe"),
        ("win32", {"LOCALAPPDATA": "/L"}, "/L/compat-bpe/Cache"),
        ("win32", {}, None),
        ("emscripten", {"COMPAT_BPE_CACHE_DIR": "/c"}, None),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="the paths are those of other systems")
def test_the_folder_is_where_the_system_has_caches(
    system: str,
    variables: dict[str, str],
    expected: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("COMPAT_BPE_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", system)
    assert cache_folder() == expected
