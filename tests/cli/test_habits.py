"""What users type by habit: each works, or gets the sentence that helps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import Result, Terminal, environment, posix, run, started

TEXT = "hello world\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("src/sub").mkdir(parents=True)
    Path("src/.hidden").mkdir()
    for path in ("top.py", "src/a.py", "src/b.md", "src/sub/c.py", "src/.hidden/d.py", ".e.py"):
        Path(path).write_text(TEXT)
    Path("pic.png").write_bytes(b"\x89PNG\r\n\0")
    return tmp_path


def count(*args: str, stdin: bytes = b"") -> Result:
    return run("count", "-e", "gpt2", *args, stdin=stdin)


def paths(*args: str) -> list[str]:
    """The paths of the files that are counted, in their order."""
    done = count("--json", *args)
    assert done.status == 0, done.err
    return [file["path"] for file in json.loads(done.out)["files"]]


@pytest.mark.parametrize(
    ("limit", "status"), [("1k", 1), ("2k", 0), ("1.999k", 1), ("2K", 0), ("0.002M", 0), ("1M", 0)]
)
@pytest.mark.parametrize("name", ["-n", "--max", "--limit"])
def test_a_limit_in_thousands_has_one_name(name: str, limit: str, status: int) -> None:
    Path("long.txt").write_text("a" + " a" * 1999)
    assert count(name, limit, "-q", "long.txt").status == status
    cut = run("truncate", "-e", "gpt2", name, limit, "--exit-code", "long.txt")
    assert cut.status == status
    parts = run("split", "-e", "gpt2", name, limit, "--json", "long.txt")
    assert len(parts.out.splitlines()) == 1 + status


@pytest.mark.parametrize(
    "args",
    [
        ("count", "--max"),
        ("truncate", "--max"),
        ("split", "--overlap"),
        ("train", "--vocab-size"),
        ("extend", "--number"),
        ("check", "--growth"),
    ],
)
def test_a_number_of_tokens_that_is_none(args: tuple[str, ...]) -> None:
    for wrong in ("128,000", "8 k", "1.5", "0.0001k"):
        done = run(*args, wrong)
        assert done.status == 2
        assert f"'{wrong}' is not a number of tokens, such as 8000" in done.err


def test_a_vocabulary_in_thousands() -> None:
    assert "9 merges, not 44" in run("train", "-n", "0.3k", "-o", "v", "src/b.md").err


@pytest.mark.parametrize(
    ("globs", "matches"),
    [
        (["*.py"], ["top.py"]),
        (["./*.py"], ["./top.py"]),
        (["src/*"], ["src/a.py", "src/b.md", "src/sub/c.py"]),
        (["**/*.py"], ["src/a.py", "src/sub/c.py", "top.py"]),
        (["src/**/*.py"], ["src/a.py", "src/sub/c.py"]),
        (["src/**"], ["src/a.py", "src/b.md", "src/sub/c.py"]),
        (["s*/**/**/c.p?"], ["src/sub/c.py"]),
        (["src/*.{md,py}"], ["src/b.md", "src/a.py"]),
        (["src/[!b].*"], ["src/a.py"]),
        ([".*.py"], [".e.py"]),
        (["src/.*/*"], ["src/.hidden/d.py"]),
        (["src/b.md", "t*.py"], ["src/b.md", "top.py"]),
        (["src/sub/../*.md"], ["src/sub/../b.md"]),
    ],
)
def test_a_quoted_glob_is_expanded(globs: list[str], matches: list[str]) -> None:
    assert paths(*globs) == matches


@posix
def test_a_file_of_that_name_is_no_glob(folder: Path) -> None:
    Path("*.py").write_text(TEXT)
    assert paths("*.py") == ["*.py"]
    Path("src/loop").symlink_to(folder)
    assert paths("src/**/*.py") == ["src/a.py", "src/sub/c.py"]
    assert paths(f"{folder}/t*.py") == [f"{folder}/top.py"]


@pytest.mark.parametrize("command", ["encode", "decode", "truncate", "split", "show"])
def test_a_glob_for_commands_of_one_file(command: str) -> None:
    limit = ["-n", "9", *["--json"] * (command == "split")] if command[-1] in "et" else []
    limit = limit if command in ("truncate", "split") else []
    Path("top.py").write_text("1")
    one, many = (run(command, "-e", "gpt2", *limit, glob) for glob in ("t*.py", "src/*"))
    assert one.status == 0
    assert one.out
    assert many.status == 2
    words = {"split": "is a second PATH", "show": "src/sub: Is a directory"}
    assert words.get(command, f"matches 3 files; {command} takes one.") in many.err


def error(*args: str) -> str:
    done = run(*args)
    assert done.status == 2
    return done.err.splitlines()[-1].removeprefix("compat-bpe: ")


def test_a_path_that_is_none() -> None:
    no = "No such file or directory"
    url = "https://example.com/a.txt?x=1"
    assert error("count", url) == (
        f"{url}: {no}; URLs are not fetched: curl -L URL | compat-bpe count"
    )
    assert error("corpus", "counts", url).endswith("curl -L URL | compat-bpe corpus counts")
    text = "How many tokens is this?"
    assert error("count", text) == f"{text}: {no}; for a text, use -c TEXT"
    assert error("show", text) == f"{text}: {no}; for a text, use echo TEXT | compat-bpe show"
    assert error("count", "a text. " * 99).endswith("for a text, use -c TEXT")
    assert error("count", "*.zip") == f"*.zip: {no}; no file matches this pattern"
    for plain in ("nothing.txt", "My documents.txt"):
        assert error("count", plain) == f"{plain}: {no}"


def test_a_directory_where_a_file_is_read() -> None:
    for args, advice in (
        (("encode",), "encode takes one file, and count a directory"),
        (("decode",), "decode takes one file"),
        (("show",), "give the files in it, such as src/*"),
        (("truncate", "-n", "5"), "truncate takes one file, and split --files a directory"),
        (("split", "-n", "5", "--json"), "--files takes a directory"),
    ):
        assert error(*args, "src/") == f"src/: Is a directory; {advice}"


def test_an_ending_as_a_glob() -> None:
    nothing = "nothing matches --include '.py'; to match by ending: '*.py'"
    assert (
        error("count", "--include", ".py", "src/sub") == f"no files to count in src/sub: {nothing}"
    )
    assert nothing in error("train", "-n", "300", "-o", "v", "--include", ".py", "src/sub")


def test_errors_skip_is_named_where_binary_files_are() -> None:
    advice = "compat-bpe: 1 PATH cannot be counted as text: --errors skip leaves such files out\n"
    assert count("top.py", "pic.png").err.endswith(advice)
    assert count("--files-from", "-", stdin=b"top.py\npic.png\n").err.endswith(advice)
    for args in (
        ["pic.png"],
        ["-q", "top.py", "pic.png"],
        ["--errors", "strict", "src", "pic.png"],
    ):
        assert "skip" not in count(*args).err
    assert count("--errors", "skip", "top.py", "pic.png").status == 0
    binary = "pic.png: binary: NUL byte at offset 6"
    train = ("train", "-n", "300", "-o", "v")
    assert error(*train, "top.py", "pic.png") == f"{binary}; --errors skip leaves such files out"
    assert error(*train, "pic.png") == binary


def test_files_in_a_directory_that_are_no_text_are_named() -> None:
    for number in range(4):
        Path(f"src/{number}.bin").write_bytes(b"\0")
    Path("src/latin.txt").write_bytes(b"caf\xe9")
    note = (
        "compat-bpe: 4 binary files skipped: src/0.bin, src/1.bin, src/2.bin and 1 more "
        "(--verbose names them)\n"
        "compat-bpe: 1 file that is not UTF-8 skipped: src/latin.txt\n"
    )
    assert count("src").err == note
    trained = run("train", "-n", "258", "-o", "v", "src")
    assert (trained.status, trained.err) == (0, note)


def test_truncate_prints_its_object() -> None:
    done = run("truncate", "-e", "gpt2", "-n", "1", "--json", "top.py")
    assert (done.status, done.err) == (0, "")
    assert json.loads(done.out) == {
        "text": "hello",
        "cut": True,
        "tokens": 1,
        "characters": 5,
        "bytes": 5,
        "kept": [[0, 5]],
        "boundary": "char",
        "input": {"characters": 12, "bytes": 12},
        "estimate": None,
    }
    odd = json.loads(run("truncate", "-n", "9", "--json", stdin=b"caf\xe9").out)
    assert (odd["hex"], odd["bytes"], "text" in odd) == ("636166e9", 4, False)


@posix
@pytest.mark.parametrize("args", [[], ["--top", "3"], ["--tree"], ["-n", "1k"]])
def test_count_on_a_terminal_counts_the_current_directory(args: list[str], folder: Path) -> None:
    terminal = Terminal()
    streams = {"stdin": terminal.fd, "stdout": terminal.fd, "stderr": terminal.fd}
    with started("count", "-q", *args, cwd=folder, env=environment(), **streams) as process:
        assert process.wait(120) == 0
    shown = terminal.text().decode()
    assert "a.py" in shown
    if args != ["--tree"]:
        assert count(*args, stdin=b"hello").out == b"1\n"
