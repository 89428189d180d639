"""What ``compat-bpe count`` takes, and what it says of what it does not."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from compat_bpe import get_encoding
from tests.cli.running import TextResult, cases, command, objects, posix, printed, refused, write

HELLO = "hello world"


def count(line: str = "", *more: str, stdin: str | bytes = b"") -> TextResult:
    return command(f"count -e gpt2 {line}", *more, stdin=stdin)


def tokens(text: str) -> int:
    return get_encoding("gpt2").count(text)


def paths(line: str, *more: str, stdin: str | bytes = b"") -> list[str]:
    """The paths of the files that are counted, in their order."""
    (found,) = objects(f"count -e gpt2 --json {line}", *more, stdin=stdin)
    return [one["path"] for one in found["files"]]


def test_a_filter_that_nothing_passes_is_an_error() -> None:
    write({"d/e/a.py": HELLO, "b.txt": HELLO})
    said = "compat-bpe: no files to count in d: nothing matches --include '*.nope'\n"
    for args in ("", "--max 0", "--json", "--tree", "--errors skip"):
        assert count(f"--include *.nope {args} d") == (2, "", said)
    assert count("--exclude e/ d").err.endswith("1 left out by --exclude 'e/'\n")
    for name in "fgh":
        Path(name).mkdir()
    several = "compat-bpe: no files to count in d, f, g and 1 more: nothing matches"
    assert count("--include *.nope d f g h").err.startswith(several)
    # It is none as long as something is counted.
    assert count("--include *.nope d b.txt").status == 0
    assert count("--include *.nope b.txt").out == "2 b.txt\n"


def test_a_directory_with_nothing_to_count() -> None:
    Path("e").mkdir()
    assert count("--exclude *.nope e") == (0, "0 total\n", "")
    write({"d/.hidden": HELLO})
    hidden = "compat-bpe: no files to count in d, e: 1 hidden (see --hidden)\n"
    assert count("d e") == (2, "", hidden)


@pytest.mark.parametrize("args", ["", "--json", "--max 1", "-q"])
def test_nothing_counted_because_all_is_skipped_is_an_error(args: str) -> None:
    nothing = "compat-bpe: nothing was counted: "
    write({"d/a": b"\0"})
    status, _, err = count(f"{args} d")
    assert status == 2
    assert err.endswith(f"{nothing}the only file was skipped\n")
    write({"d/b": b"\xff"})
    assert count("d").err.endswith(f"{nothing}all files were skipped\n")
    # Unless it is asked for.
    assert count(f"{args} --errors skip d").status == 0


def test_a_limit_of_nothing_is_not_kept() -> None:
    Path("empty").mkdir()
    said = "compat-bpe: nothing was counted, so --max was not checked (--errors skip allows it)\n"
    for line in ("--files-from -", "empty"):
        assert count(line).status == 0
        assert count(f"{line} --max 10")[::2] == (2, said)
        assert count(f"{line} --max 10 --errors skip").status == 0


NOT_TEXT: dict[str, str | bytes]
NOT_TEXT = {"d/binary": b"PNG\0", "d/latin-1": b"caf\xe9", "d/text": HELLO}
REASONS = {
    "d/binary": "binary: NUL byte at offset 3; --text reads it as text",
    "d/latin-1": "not UTF-8: byte 0xe9 at offset 3; convert it to UTF-8",
}


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("errors", ["", "strict", "replace", "skip"])
def test_what_is_no_text(errors: str, named: bool) -> None:
    write(NOT_TEXT)
    option = f"--errors {errors}" if errors else ""
    status, out, err = count(f"-v {option} --json", *(NOT_TEXT if named else ["d"]))
    result = json.loads(out)
    wrong = ["d/binary"] if errors == "replace" else [*REASONS]
    is_error = errors == "strict" or (named and errors != "skip")
    failed, skipped = (wrong, []) if is_error else ([], wrong)
    assert result["errors"] == [{"path": name, "error": REASONS[name]} for name in failed]
    assert result["skipped"] == [{"path": name, "reason": REASONS[name]} for name in skipped]
    expected = {"d/text": 2, **({"d/latin-1": tokens("caf\ufffd")} if errors == "replace" else {})}
    assert {file["path"]: file["tokens"] for file in result["files"]} == expected
    assert status == 2 * bool(failed)
    advice = f"compat-bpe: {len(failed)} PATHs cannot be counted as text: --errors skip leaves "
    assert sorted(err.splitlines()) == sorted(
        [f"compat-bpe: {name}: {REASONS[name]}" for name in failed]
        + [f"compat-bpe: {name}: skipped: {REASONS[name]}" for name in skipped]
        + [f"{advice}such files out"] * bool(named and failed and not errors)
    )


def test_skipped_files_are_summed_up() -> None:
    write({"d/text": HELLO, "d/zero": b"\0", "d/latin-1": b"caf\xe9"})
    assert count("d").err == (
        "compat-bpe: 1 binary file skipped: d/zero\n"
        "compat-bpe: 1 file that is not UTF-8 skipped: d/latin-1\n"
    )
    write({f"d/{number}": b"\0" for number in range(7)})
    write({"d/utf-16": "hello".encode("utf-16")})
    status, out, err = count("--json d")
    assert (status, err) == (
        0,
        "compat-bpe: 8 binary files skipped: d/0, d/1, d/2 and 5 more (--verbose names them)\n"
        "compat-bpe: 2 files that are not UTF-8 skipped: d/latin-1, d/utf-16\n",
    )
    assert len(json.loads(out)["skipped"]) == 10
    named = count("-v d").err.splitlines()
    assert len(named) == 10
    nul = "skipped: binary: NUL byte at offset 0; --text reads it as text"
    # --text would not count the other, so that is not said.
    mark = "skipped: not UTF-8: UTF-16 byte-order mark at offset 0; convert it to UTF-8"
    assert {f"compat-bpe: d/0: {nul}", f"compat-bpe: d/utf-16: {mark}"} <= set(named)
    assert count("-q d").err == ""
    # What is named and skipped is named.
    assert count("--errors skip d/zero").err == f"compat-bpe: d/zero: {nul}\n"
    assert count("--errors skip -q d/zero").err == ""


def test_advice_is_true_of_what_it_is_said_of() -> None:
    write({"picture": b"PNG\0\xff", "utf-16": b"\xff\xfea\0", "top.py": HELLO})
    assert "--text" not in count("picture").err
    assert count("--text picture").status == 2
    assert "; --text reads it as text" in count("--errors replace picture").err
    # Everything can be counted if it is asked for.
    data = Path("utf-16").read_bytes().decode("utf-8", "replace")
    assert count("--text --errors replace utf-16").out == f"{tokens(data)} utf-16\n"
    advice = "compat-bpe: 1 PATH cannot be counted as text: --errors skip leaves such files out\n"
    assert count("top.py picture").err.endswith(advice)
    assert count("--files-from -", stdin="top.py\npicture\n").err.endswith(advice)
    for line in ("picture", "-q top.py picture", "--errors strict . picture"):
        assert "skip leaves" not in count(line).err
    assert count("--errors skip top.py picture").status == 0


@pytest.mark.parametrize("name", ["utf-16", "utf-16-le", "cp1252", "utf-8"])
def test_text_in_another_encoding_is_counted_if_asked(name: str) -> None:
    text = "“naïve” café\r\n" * 9_000
    write({"d/a": text.encode(name), "d/b.gz": gzip.compress(text.encode(name))})
    result = json.loads(count(f"--json --encoding-of-file {name} -z -j 2 d").out)
    counts = {"tokens": tokens(text), "bytes": len(text.encode()), "characters": len(text)}
    assert [{**file, "path": ""} for file in result["files"]] == [{"path": "", **counts}] * 2


def test_what_is_not_in_the_encoding_is_not_counted() -> None:
    write({"a": b"ab\x81"})
    wrong = "compat-bpe: a: not cp1252: byte 0x81 at offset 2; is it another encoding?\n"
    assert count("--encoding-of-file cp1252 a") == (2, "", wrong)
    replaced = count("--encoding-of-file cp1252 --errors replace a")
    assert replaced.out == f"{tokens('ab' + chr(0xFFFD))} a\n"


def test_paths_from_a_list() -> None:
    write({"a": HELLO, " b c": HELLO, "-": HELLO})
    write({"list": "a\n\n b c\n./-", "nulls": "a\0 b c\0", "dash": "-\n"})
    for line, stdin, out in (
        ("--files-from list", "", " 2 a\n 2  b c\n 2 ./-\n 6 total\n"),
        ("--files-from -", "a", "2 a\n"),
        ("--files-from list a", "", " 2 a\n 2 a\n 2  b c\n 2 ./-\n 8 total\n"),
        ("-0 --files-from nulls", "", " 2 a\n 2  b c\n 4 total\n"),
        ("--files-from -", "", "0 total\n"),
        # Standard input is the list or is on it, not both.
        ("--files-from dash", "hello", "1 -\n"),
    ):
        assert count(line, stdin=stdin) == (0, out, "")
    nul = "compat-bpe: nulls: there is a NUL byte in the list: give --null, too\n"
    assert count("--files-from nulls") == (2, "", nul)


@posix
@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
@pytest.mark.parametrize("quoted", ["true", "false"])
def test_names_as_git_quotes_them(quoted: str) -> None:
    names = ["café.txt", "a\nb", 'say "so"', "back\\slash", "\x01\x7f\a\b\f\r\t\v", "plain", "\r"]
    names += ["日本.md", "a b", "'q'", '"a"', '"', '\\"']
    write(dict.fromkeys(names, HELLO))
    with suppress(OSError):  # a file system that takes only UTF-8
        write({os.fsdecode(b"caf\xe9"): HELLO})
        names.append(os.fsdecode(b"caf\xe9"))
    for line in ("init -q", f"config core.quotePath {quoted}", "add ."):
        subprocess.run(["git", *line.split()], check=True)
    for end in (b"\n", b"\r\n"):
        listed = subprocess.run(["git", "ls-files"], capture_output=True, check=True).stdout
        found = paths("--files-from -", stdin=listed.replace(b"\n", end))
        assert sorted(found) == sorted(names)
    assert paths("-0 --files-from -", stdin=b"\0".join(map(os.fsencode, names))) == names


@posix
def test_a_name_that_looks_quoted_is_taken_if_there_is_such_a_file() -> None:
    literal = ['"a"', '"caf\\303\\251"', "b\r", '"c"\r', '"d', '"e" f"', '"\\q"', '"\\000"', '""']
    literal.append("\ufeffg")
    write(dict.fromkeys(literal, HELLO))
    for name in literal:
        assert paths("--files-from -", stdin=f"{name}\n") == [name]
        assert paths("-0 --files-from -", stdin=f"{name}\0") == [name]
    # Both are there: the list does not say which is meant.
    for name, other in (('"a"', "a"), ("b\r", "b"), ("\ufeffg", "g"), ('"caf\\303\\251"', "café")):
        write({other: HELLO})
        listed = name if name == "\ufeffg" else f"\n{name}\n"
        err = refused("count --files-from -", stdin=listed)
        assert "may stand for two files that exist" in err
        assert "--null" in err
        assert paths("-0 --files-from -", stdin=f"{name}\0") == [name]
        Path(name).unlink()
        assert paths("--files-from -", stdin=name) == [other]
    # Neither is: the name without quotes is missing.
    missing = count("--files-from -", stdin='"no\\303\\251"\r\n')
    assert missing[::2] == (2, "compat-bpe: noé: No such file or directory\n")


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "cut"]
)
def test_a_list_of_another_program(encoding: str) -> None:
    write(dict.fromkeys(("café", "b c", "日本"), HELLO))
    mark = "\ufeff" if encoding.startswith(("utf-16", "utf-32")) else ""
    text = f"{mark}café\r\nb c\r\n\r\n日本"
    line = "count -e gpt2 --files-from -"
    if encoding == "cut":
        err = refused(line, stdin=b"\xff\xfe" + text.encode("utf-16-le")[:-1])
        assert err.endswith(": standard input: the list is damaged UTF-16; write it as UTF-8\n")
    elif "32" in encoding:
        err = refused(line, stdin=text.encode(encoding))
        assert "not UTF-8: UTF-32 byte-order mark at offset 0; convert it to UTF-8" in err
    else:
        out = printed(line, stdin=text.encode(encoding))
        assert out == " 2 café\n 2 b c\n 2 日本\n 6 total\n"


@pytest.mark.parametrize("text", ["a\n", "a", "ab\r\nc\r\n", "é日\nb"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_list_in_utf_16_without_a_mark_is_named(text: str, encoding: str) -> None:
    err = refused("count --files-from -", stdin=text.encode(encoding))
    nul = (
        "there is a NUL byte in the list: give --null, too, or convert it to UTF-8 if it is UTF-16"
    )
    assert err == f"compat-bpe: standard input: {nul}\n"


def test_a_file_that_is_named_like_an_option_changes_no_option() -> None:
    """As of a hook or of ``count *``, which give names of files that somebody else has chosen."""
    write({"large.txt": "hello world " * 100})
    limit = "--max 10 --per-file -q"
    assert count(f"{limit} large.txt").status == 1
    for name in ("--max=99999999", "--help", "-s", "--files-from=large.txt"):
        write({name: ""})
        err = refused(f"count {limit} {name} large.txt")
        assert f"{name!r} is both an option and a file here: write ./{name} for the file" in err
        assert count(f"{limit} ./{name} large.txt").status == 1
        assert count(f"{limit} -- {name} large.txt").status == 1
        Path(name).unlink()
    write({"--files-from=/list": ""})
    assert count(f"{limit} --files-from=/list large.txt").status == 2
    # Neither standard input nor what comes after an option that is alone is such a file.
    write({"-": ""})
    assert count("--max 10 -q -", stdin="hello").status == 0


def test_globs_have_braces_and_say_what_matches_nothing() -> None:
    write(dict.fromkeys(("a.py", "b.c", "c.json", "d,e.c"), "hello"))
    assert paths("--include *.{py,json} .") == ["./a.py", "./c.json"]
    assert paths("--exclude {*.py,*.json} .") == ["./b.c", "./d,e.c"]
    assert json.loads(count("--json --include d,e.* .").out)["files"][0]["path"] == "./d,e.c"
    status, out, err = count("--json --exclude *.json,*.c .")
    assert (status, len(json.loads(out)["files"])) == (0, 4)
    assert "--exclude '*.json,*.c' is one glob with a comma in it" in err
    assert "write '{*.json,*.c}' or repeat the option" in err


@pytest.fixture
def _globbed() -> None:
    names = ("top.py", "src/a.py", "src/b.md", "src/sub/c.py", "src/.hidden/d.py", ".e.py")
    write(dict.fromkeys(names, HELLO))


@pytest.mark.usefixtures("_globbed")
@cases(
    """
*.py → top.py
./*.py → ./top.py
src/* → src/a.py src/b.md src/sub/c.py
**/*.py → src/a.py src/sub/c.py top.py
src/**/*.py → src/a.py src/sub/c.py
src/** → src/a.py src/b.md src/sub/c.py
s*/**/**/c.p? → src/sub/c.py
src/*.{md,py} → src/b.md src/a.py
src/[!b].* → src/a.py
.*.py → .e.py
src/.*/* → src/.hidden/d.py
src/b.md t*.py → src/b.md top.py
src/sub/../*.md → src/sub/../b.md
""",
    "globs matches",
)
def test_a_quoted_glob_is_expanded(globs: str, matches: str) -> None:
    assert paths(globs) == matches.split()


@posix
@pytest.mark.usefixtures("_globbed")
def test_a_file_of_that_name_is_no_glob(tmp_path: Path) -> None:
    # A glob that one file matches is for commands of one file, too.
    write({"top.py": "1"})
    for args in ("encode", "decode", "truncate -n 9", "split -n 9 --json", "show"):
        status, out, _ = command(f"{args} -e gpt2 t*.py")
        assert (status, bool(out)) == (0, True)
    write({"*.py": HELLO})
    assert paths("*.py") == ["*.py"]
    Path("src/loop").symlink_to(tmp_path)
    assert paths("src/**/*.py") == ["src/a.py", "src/sub/c.py"]
    assert paths(f"{tmp_path}/t*.py") == [f"{tmp_path}/top.py"]


def test_a_message_is_of_bounded_length() -> None:
    """What is wrong may be as large as a file: the beginning and the end say what and where."""
    write({"tokenizer.json": json.dumps({"model": {"type": "x" * 900_000}})})
    for named, shortened in (("tokenizer.json", "xxx…xxx"), ("x" * 100_000, "xxx…")):
        err = refused("count -c a -e", named)
        assert len(err) < 2200
        assert shortened in err


@pytest.mark.parametrize("name", ["-n", "--max", "--limit"])
def test_a_limit_in_thousands_has_one_name(name: str) -> None:
    write({"long.txt": "a" + " a" * 1999})
    for limit in ("1k", "1.999k", "2k", "2K", "0.002M", "1M"):
        status = int(limit[0] == "1" and limit[-1] == "k")
        limited = f"-e gpt2 {name} {limit} long.txt"
        assert command(f"count -q {limited}").status == status
        assert command(f"truncate --exit-code {limited}").status == status
        assert len(command(f"split --json {limited}").out.splitlines()) == 1 + status
