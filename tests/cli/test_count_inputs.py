"""What ``compat-bpe count`` takes, and what it says of what it does not."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from compat_bpe import get_encoding
from tests.cli.running import Run, runner

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX permissions and pipes")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run ``compat-bpe count`` in a folder of its own."""
    return runner("count", tmp_path, monkeypatch)


def tokens(text: str) -> int:
    return get_encoding("gpt2").count(text)


def test_a_named_file_that_may_not_be_read_does_not_end_the_others(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As root, everything may be read: so the system's answers are replaced."""
    for name in ("a", "closed", "b"):
        Path(name).write_text("hello world")
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != "closed" and access(path, mode))

    def refuse(path: str, mode: str) -> object:
        if path == "closed":
            raise PermissionError(13, "Permission denied", path)
        return open(path, mode)

    monkeypatch.setattr("compat_bpe.files.text.open", refuse, raising=False)
    assert run("-e", "gpt2", "a", "closed", "b") == (
        2,
        " 2 a\n 2 b\n 4 total\n",
        "compat-bpe: closed: Permission denied\n",
    )
    status, out, err = run("-e", "gpt2", "--files-from", "closed")
    assert (status, out, err) == (2, "", "compat-bpe: closed: Permission denied\n")


@posix
def test_a_named_file_of_another_user(tmp_path: Path) -> None:
    """In a process that is nobody's, if this one is root's."""
    script = (
        "import os, sys\n"
        "from compat_bpe.cli import cli\n"
        "def run(*args):\n"
        "    try:\n"
        "        cli(['count', '-e', 'gpt2', *args])\n"
        "    except SystemExit as end:\n"
        "        return end.code\n"
        "run('open')\n"  # so that all modules are there
        "if os.getuid() == 0:\n"
        "    os.setgroups([])\n"
        "    os.setgid(65534)\n"
        "    os.setuid(65534)\n"
        "sys.exit(run('open', 'closed', 'open'))\n"
    )
    tmp_path.chmod(0o755)
    for name, mode in (("open", 0o644), ("closed", 0o000)):
        (tmp_path / name).write_text("hello world")
        (tmp_path / name).chmod(mode)
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        check=False,
    )
    assert done.stderr == b"compat-bpe: closed: Permission denied\n"
    assert done.stdout == b"2 open\n 2 open\n 2 open\n 4 total\n"
    assert done.returncode == 2


def test_a_filter_that_nothing_passes_is_an_error(run: Run) -> None:
    Path("d/e").mkdir(parents=True)
    Path("d/e/a.py").write_text("hello world")
    for args in ([], ["--max", "0"], ["--json"], ["--tree"], ["--errors", "skip"]):
        assert run("--include", "*.nope", *args, "d") == (
            2,
            "",
            "compat-bpe: no files to count in d: nothing matches --include '*.nope'\n",
        )
    assert run("--exclude", "e/", "d").err.endswith("1 left out by --exclude 'e/'\n")
    for name in "fgh":
        Path(name).mkdir()
    assert run("--include", "*.nope", "d", *"fgh").err.startswith(
        "compat-bpe: no files to count in d, f, g and 1 more: nothing matches"
    )
    # It is none as long as something is counted.
    Path("b.txt").write_text("hello world")
    assert run("-e", "gpt2", "--include", "*.nope", "d", "b.txt").status == 0
    assert run("-e", "gpt2", "--include", "*.nope", "b.txt").out == "2 b.txt\n"


def test_a_directory_with_nothing_to_count(run: Run) -> None:
    Path("d").mkdir()
    assert run("d") == (0, "0 total\n", "")
    assert run("--exclude", "*.nope", "d") == (0, "0 total\n", "")
    Path("d/.hidden").write_text("hello world")
    Path("e").mkdir()
    assert run("d", "e") == (
        2,
        "",
        "compat-bpe: no files to count in d, e: 1 hidden (see --hidden)\n",
    )


@pytest.mark.parametrize("args", [[], ["--json"], ["--max", "1"], ["-q"]])
def test_nothing_counted_because_all_is_skipped_is_an_error(run: Run, args: list[str]) -> None:
    Path("d").mkdir()
    Path("d/a").write_bytes(b"\0")
    status, _, err = run(*args, "d")
    assert status == 2
    assert err.endswith("compat-bpe: nothing was counted: the only file was skipped\n")
    Path("d/b").write_bytes(b"\xff")
    assert run("d").err.endswith("compat-bpe: nothing was counted: all files were skipped\n")
    # Unless it is asked for.
    assert run(*args, "--errors", "skip", "d").status == 0


NOT_TEXT = {"binary": b"PNG\0", "latin-1": b"caf\xe9", "text": b"hello world"}
REASONS = {
    "binary": "binary: NUL byte at offset 3; --text takes it as text",
    "latin-1": "not UTF-8: byte 0xe9 at offset 3; convert it to UTF-8",
}


@pytest.mark.parametrize(
    ("errors", "named", "failed", "skipped"),
    [
        (None, False, [], ["binary", "latin-1"]),
        (None, True, ["binary", "latin-1"], []),
        ("strict", False, ["binary", "latin-1"], []),
        ("strict", True, ["binary", "latin-1"], []),
        ("replace", False, [], ["binary"]),
        ("replace", True, ["binary"], []),
        ("skip", False, [], ["binary", "latin-1"]),
        ("skip", True, [], ["binary", "latin-1"]),
    ],
)
def test_what_is_no_text(
    run: Run, errors: str | None, named: bool, failed: list[str], skipped: list[str]
) -> None:
    Path("d").mkdir()
    for name, data in NOT_TEXT.items():
        Path("d", name).write_bytes(data)
    args = ["-v", "-e", "gpt2", *(["--errors", errors] if errors else [])]
    paths = [f"d/{name}" for name in NOT_TEXT] if named else ["d"]
    status, out, err = run("--json", *args, *paths)
    result = json.loads(out)
    assert result["errors"] == [{"path": f"d/{name}", "error": REASONS[name]} for name in failed]
    assert result["skipped"] == [{"path": f"d/{name}", "reason": REASONS[name]} for name in skipped]
    counted = {file["path"]: file["tokens"] for file in result["files"]}
    expected = {"d/text": 2}
    if errors == "replace":
        expected["d/latin-1"] = tokens("caf\ufffd")
    assert counted == expected
    assert status == (2 if failed else 0)
    advice = f"compat-bpe: {len(failed)} PATHs cannot be counted as text: --errors skip leaves "
    assert sorted(err.splitlines()) == sorted(
        [f"compat-bpe: d/{name}: {REASONS[name]}" for name in failed]
        + [f"compat-bpe: d/{name}: skipped: {REASONS[name]}" for name in skipped]
        + [f"{advice}such files out"] * bool(named and failed and errors is None)
    )


def test_everything_can_be_counted_if_asked(run: Run) -> None:
    data = b"\xff\xfea\0"
    Path("a").write_bytes(data)
    expected = tokens(data.decode("utf-8", "replace"))
    assert run("-e", "gpt2", "--text", "--errors", "replace", "a").out == f"{expected} a\n"


@pytest.mark.parametrize("name", ["utf-16", "utf-16-le", "cp1252", "utf-8"])
def test_text_in_another_encoding_is_counted_if_asked(run: Run, name: str) -> None:
    text = "“naïve” café\r\n" * 30_000
    Path("d").mkdir()
    Path("d/a").write_bytes(text.encode(name))
    Path("d/b.gz").write_bytes(gzip.compress(text.encode(name)))
    args = ("-e", "gpt2", "--json", "--encoding-of-file", name)
    result = json.loads(run(*args, "-z", "-j", "2", "d").out)
    counts = {"tokens": tokens(text), "bytes": len(text.encode()), "characters": len(text)}
    assert [{**file, "path": ""} for file in result["files"]] == [{"path": "", **counts}] * 2


def test_what_is_not_in_the_encoding_is_not_counted(run: Run) -> None:
    Path("a").write_bytes(b"ab\x81")
    args = ("-e", "gpt2", "--encoding-of-file", "cp1252")
    status, out, err = run(*args, "a")
    assert (status, out) == (2, "")
    assert err == "compat-bpe: a: not cp1252: byte 0x81 at offset 2; is it another encoding?\n"
    assert run(*args, "--errors", "replace", "a").out == f"{tokens('ab' + chr(0xFFFD))} a\n"
    status, _, err = run("--encoding-of-file", "base64", "a")
    assert status == 2
    assert "unknown encoding of text 'base64'" in err


def test_skipped_files_are_summed_up(run: Run) -> None:
    Path("d").mkdir()
    Path("d/text").write_text("hello world")
    Path("d/zero").write_bytes(b"\0")
    Path("d/latin-1").write_bytes(b"caf\xe9")
    assert run("-e", "gpt2", "d").err == (
        "compat-bpe: 1 binary file skipped: d/zero\n"
        "compat-bpe: 1 file that is not UTF-8 skipped: d/latin-1\n"
    )
    for number in range(7):
        Path(f"d/{number}").write_bytes(b"\0")
    Path("d/utf-16").write_bytes("hello".encode("utf-16"))
    status, out, err = run("-e", "gpt2", "--json", "d")
    assert (status, err) == (
        0,
        "compat-bpe: 8 binary files skipped: d/0, d/1, d/2 and 5 more (--verbose names them)\n"
        "compat-bpe: 2 files that are not UTF-8 skipped: d/latin-1, d/utf-16\n",
    )
    assert len(json.loads(out)["skipped"]) == 10
    named = run("-e", "gpt2", "-v", "d").err.splitlines()
    assert len(named) == 10
    assert (
        "compat-bpe: d/0: skipped: binary: NUL byte at offset 0; --text takes it as text" in named
    )
    # --text would not count it, so that is not said.
    assert (
        "compat-bpe: d/utf-16: skipped: not UTF-8: UTF-16 byte-order mark at offset 0; "
        "convert it to UTF-8"
    ) in named
    assert run("-e", "gpt2", "-q", "d").err == ""


def test_what_is_named_and_skipped_is_named(run: Run) -> None:
    Path("zero").write_bytes(b"\0")
    reason = "skipped: binary: NUL byte at offset 0; --text takes it as text"
    assert run("--errors", "skip", "zero").err == f"compat-bpe: zero: {reason}\n"
    assert run("--errors", "skip", "-q", "zero").err == ""


def test_advice_is_true_of_what_it_is_said_of(run: Run) -> None:
    Path("picture").write_bytes(b"PNG\0\xff")
    assert "--text" not in run("picture").err
    assert run("--text", "picture").status == 2
    assert "; --text takes it as text" in run("--errors", "replace", "picture").err
    assert run("--text", "--errors", "replace", "picture").status == 0


def test_quiet_draws_no_bar(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a").write_text("hello world")
    monkeypatch.setattr("compat_bpe.cli.progress._DELAY", 0)
    monkeypatch.setattr("compat_bpe.cli.progress.Progress._is_terminal", lambda self: True)
    assert "of 1 file" in run("-e", "gpt2", "a").err
    assert run("-e", "gpt2", "-q", "a") == (0, "2 a\n", "")


def test_text_that_is_given_itself(run: Run) -> None:
    assert run("-e", "gpt2", "-c", "hello world") == (0, "2\n", "")
    assert run("-e", "gpt2", "--string", "", "--max", "0") == (0, "0\n", "")
    text = "naïve <|endoftext|>\n"
    status, out, err = run("-e", "gpt2", "--json", "-c", text)
    assert json.loads(out)["files"] == [
        {"path": None, "tokens": tokens(text), "bytes": len(text.encode()), "characters": len(text)}
    ]
    assert run("-e", "gpt2", "-c", "hello world", "--max", "1", "--per-file") == (
        1,
        "2\n",
        "compat-bpe: the text: 2 tokens, over the limit of 1\n",
    )
    for args in (["a"], ["-"], ["--files-from", "a"], ["--tree"]):
        status, out, err = run("-c", "hello", *args)
        assert (status, out) == (2, "")
        assert "--string and" in err
    status, out, err = run("-c", "\udcff")
    assert (status, out) == (2, "")
    assert "not UTF-8" in err


def test_paths_from_a_list(run: Run) -> None:
    for name in ("a", " b c", "-"):
        Path(name).write_text("hello world")
    Path("list").write_text("a\n\n b c\n./-")
    assert run("-e", "gpt2", "--files-from", "list").out == " 2 a\n 2  b c\n 2 ./-\n 6 total\n"
    assert run("-e", "gpt2", "--files-from", "-", stdin=b"a").out == "2 a\n"
    assert run("-e", "gpt2", "--files-from", "list", "a").out.startswith(" 2 a\n 2 a\n")
    Path("nulls").write_bytes(b"a\0 b c\0")
    assert run("-e", "gpt2", "-0", "--files-from", "nulls").out == " 2 a\n 2  b c\n 4 total\n"
    assert run("--files-from", "-", stdin=b"") == (0, "0 total\n", "")
    # Standard input is the list or is on it, not both.
    Path("dash").write_text("-\n")
    assert run("-e", "gpt2", "--files-from", "dash", stdin=b"hello").out == "1 -\n"
    status, out, err = run("--files-from", "-", stdin=b"a\n-\n")
    assert (status, out) == (2, "")
    assert err == (
        "compat-bpe: standard input: it has the list of files, so it cannot be one of them\n"
    )
    status, out, err = run("--files-from", "nulls")
    assert (status, out) == (2, "")
    assert err == "compat-bpe: nulls: there is a NUL byte in the list: give --null, too\n"
    assert run("--files-from", "gone").err == "compat-bpe: gone: No such file or directory\n"


@posix
@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
@pytest.mark.parametrize("quoted", ["true", "false"])
def test_names_as_git_quotes_them(run: Run, quoted: str) -> None:
    names = ["café.txt", "a\nb", 'say "so"', "back\\slash", "\x01\x7f\a\b\f\r\t\v", "plain", "\r"]
    names += ["日本.md", "a b", "'q'", '"a"', '"', '\\"']
    for name in names:
        Path(name).write_text("hello world")
    try:
        Path(os.fsdecode(b"caf\xe9")).write_text("hello world")
        names.append(os.fsdecode(b"caf\xe9"))
    except OSError:  # a file system that takes only UTF-8
        pass
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run(["git", "config", "core.quotePath", quoted], check=True)
    subprocess.run(["git", "add", "."], check=True)
    for end in (b"\n", b"\r\n"):
        listed = subprocess.run(["git", "ls-files"], capture_output=True, check=True).stdout
        status, out, err = run("--json", "--files-from", "-", stdin=listed.replace(b"\n", end))
        assert (status, err) == (0, "")
        assert sorted(one["path"] for one in json.loads(out)["files"]) == sorted(names)


@posix
def test_a_name_that_looks_quoted_is_taken_if_there_is_such_a_file(run: Run) -> None:
    def paths(listed: bytes, *args: str) -> list[str]:
        status, out, err = run("--json", *args, "--files-from", "-", stdin=listed)
        assert (status, err) == (0, "")
        return [one["path"] for one in json.loads(out)["files"]]

    literal = [
        '"a"',
        '"caf\\303\\251"',
        "b\r",
        '"c"\r',
        '"d',
        '"e" f"',
        '"\\q"',
        '"\\000"',
        '""',
        "\ufeffg",
    ]
    for name in literal:
        Path(name).write_text("hello world")
    for name in literal:
        assert paths(name.encode() + b"\n") == [name]
        assert paths(name.encode() + b"\0", "-0") == [name]
    # Both are there: the list does not say which is meant.
    for name, other in (('"a"', "a"), ("b\r", "b"), ("\ufeffg", "g"), ('"caf\\303\\251"', "café")):
        Path(other).write_text("hello world")
        status, out, err = run("--files-from", "-", stdin=b"\n" + name.encode() + b"\n"
                               if name != "\ufeffg" else name.encode())  # fmt: skip
        assert (status, out) == (2, "")
        assert "it may stand for two files that are there" in err
        assert "--null" in err
        assert paths(name.encode() + b"\0", "-0") == [name]
        Path(name).unlink()
        assert paths(name.encode()) == [other]
    # Neither is: the name without quotes is missing.
    status, out, err = run("--files-from", "-", stdin=b'"no\\303\\251"\r\n')
    assert (status, err) == (2, "compat-bpe: noé: No such file or directory\n")


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "cut"]
)
def test_a_list_of_another_program(run: Run, encoding: str) -> None:
    for name in ("café", "b c", "日本"):
        Path(name).write_text("hello world")
    text = "café\r\nb c\r\n\r\n日本"
    mark = "\ufeff" if encoding.startswith(("utf-16", "utf-32")) else ""
    data = (mark + text).encode("utf-16-le" if encoding == "cut" else encoding)
    data = b"\xff\xfe" + data[:-1] if encoding == "cut" else data
    status, out, err = run("-e", "gpt2", "--files-from", "-", stdin=data)
    if encoding == "cut":
        assert (status, out) == (2, "")
        assert err == "compat-bpe: standard input: the list is damaged UTF-16; write it as UTF-8\n"
    elif "32" in encoding:
        assert (status, out) == (2, "")
        assert "not UTF-8: UTF-32 byte-order mark at offset 0; convert it to UTF-8" in err
    else:
        assert (status, out, err) == (0, " 2 café\n 2 b c\n 2 日本\n 6 total\n", "")


@pytest.mark.parametrize("text", ["a\n", "a", "ab\r\nc\r\n", "é日\nb"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_list_in_utf_16_without_a_mark_is_named(run: Run, text: str, encoding: str) -> None:
    assert run("--files-from", "-", stdin=text.encode(encoding)) == (
        2,
        "",
        "compat-bpe: standard input: there is a NUL byte in the list: give --null, too, or "
        "convert it to UTF-8 if it is UTF-16\n",
    )


@posix
def test_names_in_a_list_may_be_any_bytes(run: Run) -> None:
    name = b"caf\xe9\n\xff"
    try:
        Path(os.fsdecode(name)).write_text("hello world")
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    found = json.loads(run("-0", "--json", "--files-from", "-", stdin=name + b"\0").out)["files"]
    assert [os.fsencode(file["path"]) for file in found] == [name]


@pytest.mark.parametrize(
    "args",
    [
        ["-q", "-v", "a"],
        ["--total-only", "--tree", "a"],
        ["--total-only", "--json", "a"],
        ["--total-only", "--top", "1", "a"],
        ["--total-only", "--percent", "a"],
        ["--json", "--percent", "a"],
        ["--depth", "0", "a"],
        ["-0", "a"],
        ["--per-file", "a"],
        ["--string", "", "--tree"],
    ],
)
def test_options_that_exclude_or_need_each_other(run: Run, args: list[str]) -> None:
    Path("a").write_text("hello world")
    status, out, err = run(*args)
    assert (status, out) == (2, "")
    assert "exclude each other." in err or " needs --" in err


def test_a_file_that_is_named_like_an_option_changes_no_option(run: Run) -> None:
    """As of a hook or of ``count *``, which give names of files that somebody else has chosen."""
    Path("large.txt").write_text("hello world " * 100)
    limit = ("--max", "10", "--per-file", "-q")
    assert run(*limit, "large.txt").status == 1
    for name in ("--max=99999999", "--help", "-s", "--files-from=large.txt"):
        Path(name).write_text("")
        status, out, err = run(*limit, name, "large.txt")
        assert (status, out) == (2, "")
        assert f"{name!r} is both an option and a file here: write ./{name} for the file" in err
        assert run(*limit, f"./{name}", "large.txt").status == 1
        assert run(*limit, "--", name, "large.txt").status == 1
        Path(name).unlink()
    Path("--files-from=").mkdir()
    Path("--files-from=/list").write_text("")
    assert run(*limit, "--files-from=/list", "large.txt").status == 2
    # Neither standard input nor what comes after an option that is alone is such a file.
    Path("-").write_text("")
    assert run("--max", "10", "-q", "-", stdin=b"hello").status == 0


def test_globs_have_braces_and_say_what_matches_nothing(run: Run) -> None:
    for name in ("a.py", "b.c", "c.json", "d,e.c"):
        Path(name).write_text("hello")

    def found(*options: str) -> tuple[list[str], str]:
        status, out, err = run("-e", "gpt2", "--json", *options, ".")
        assert status == 0
        return [os.path.basename(one["path"]) for one in json.loads(out)["files"]], err

    assert found("--include", "*.{py,json}") == (["a.py", "c.json"], "")
    assert found("--exclude", "{*.py,*.json}") == (["b.c", "d,e.c"], "")
    names, err = found("--exclude", "*.json,*.c")
    assert names == ["a.py", "b.c", "c.json", "d,e.c"]
    assert "--exclude '*.json,*.c' is one glob with a comma in it" in err
    assert "write '{*.json,*.c}' or repeat the option" in err
    assert found("--include", "d,e.*")[0] == ["d,e.c"]
    for glob, reason in (("[a", "ends within a set"), ("{a,b}" * 9, "more than 256 patterns")):
        status, out, err = run("--include", glob, ".")
        assert (status, out) == (2, "")
        assert f"{glob!r} matches nothing" in err
        assert reason in err


def test_a_message_is_of_bounded_length(run: Run) -> None:
    """What is wrong may be as large as a file: the beginning and the end say what and where."""
    Path("tokenizer.json").write_text(json.dumps({"model": {"type": "x" * 900_000}}))
    for named, shortened in (("tokenizer.json", "xxx…xxx"), ("x" * 100_000, "xxx…")):
        status, out, err = run("-e", named, "-c", "a")
        assert (status, out) == (2, "")
        assert len(err) < 2200
        assert shortened in err


def test_a_limit_of_nothing_is_not_kept(run: Run) -> None:
    Path("empty").mkdir()
    for arguments in (["--files-from", "-"], ["empty"]):
        assert run(*arguments, stdin=b"").status == 0
        status, _, err = run(*arguments, "--max", "10", stdin=b"")
        assert status == 2
        assert err == (
            "compat-bpe: nothing was counted, so --max was not checked (--errors skip allows it)\n"
        )
        assert run(*arguments, "--max", "10", "--errors", "skip", stdin=b"").status == 0
