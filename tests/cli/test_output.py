"""What the command writes and replaces, and how it ends by an error that nobody expects."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import nullcontext
from pathlib import Path
from unittest import mock

import pytest

from compat_bpe.cli import app
from compat_bpe.cli.commands import count as count_module
from compat_bpe.cli.output import CommandError, check_new_file, check_outputs
from tests.cli.running import FIXTURES, cases, command, posix, refused, run, run_process, write
from tests.kinds import kind_path

_TEXT = "hug pug hugs\n"


@cases(
    rf"""
new →  → ours
a.md →  → ours → a\\.md: the file exists; --force overwrites it
a.md → force → ours
page.html →  → ours
page.html →  → other → the file exists
link →  → ours → the file exists
. → force → ours → the path is a directory
no/page.html → force → ours → there is no directory
{os.devnull} →  → other
""",
    "path force own said",
)
def test_a_file_that_is_there(path: str, force: str, own: str, said: str) -> None:
    """What is new, an own earlier output, and a device, which writing does not overwrite."""
    write({"a.md": "precious", "page.html": "ours, from yesterday"})
    Path("link").symlink_to("nowhere")
    with pytest.raises(CommandError, match=said) if said else nullcontext():
        check_new_file(path, force=bool(force), is_own=lambda data: data.startswith(own.encode()))
    assert Path("a.md").read_bytes() == b"precious"


def test_an_input_is_refused_by_whatever_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"folder/a": "a", "b": "b"})
    os.symlink("folder/a", "link")
    for inputs in (["b", "folder/a"], ["folder"], ["link"], ["../" + tmp_path.name + "/folder/a"]):
        with pytest.raises(CommandError, match=r"folder/a: the file is one of the inputs[,;]"):
            check_outputs(["new", "folder/a"], inputs)
    check_outputs(["new", "folder/a"], ["b", "missing", "-"])
    check_outputs(["missing"], ["folder", "missing"])
    with pytest.raises(CommandError, match="folder: the path is a directory"):
        check_outputs(["folder"], [])
    said = "^b: the file is one of the inputs, as standard input;"
    with open("b") as file:
        monkeypatch.setattr("sys.stdin", file)
        with pytest.raises(CommandError, match=said):
            check_outputs(["b"], ["-"])
    monkeypatch.setattr("sys.stdin", None)
    check_outputs(["b"], ["-"])


#: The commands that write files, and one of the files of each.
_WRITING = {
    "split": ("split -e gpt2 -n2 --suffix .tsv -o p-", "p-0001.tsv"),
    "packed": ("split --files -n60 --suffix .tsv -o p-", "p-0001.tsv"),
    "counts": ("corpus counts -o c.tsv", "c.tsv"),
    "merge": ("corpus counts --merge -o c.tsv", "c.tsv"),
    "report": ("report -e gpt2 --html page.tsv", "page.tsv"),
    "train": ("train -n 260 -o . --name v", "merges.txt"),
    "extend": ("extend -e bytes -n 1 -o .", "tokenizer.json"),
}


@pytest.mark.parametrize("name", _WRITING)
@pytest.mark.parametrize("how", ["path", "standard input", "a hard link"])
def test_no_command_overwrites_its_input(name: str, how: str) -> None:
    arguments, output = _WRITING[name]
    content = "chunk\tcount\nhug\t3\n"
    write({output: content})
    inputs = [] if how == "standard input" else [output]
    if name == "packed" and not inputs:
        inputs = ["-"]
    if how == "a hard link":
        os.link(output, "other.tsv")
        inputs = ["other.tsv"]
    with open(output, "rb") as source:
        done = run(*arguments.split(), "--force", *inputs, stdin=source)
    assert done[:2] == (2, b"")
    assert "the file is one of the inputs" in done.err
    assert Path(output).read_text() == content
    assert len(os.listdir()) == 1 + (how == "a hard link")


@cases(
    """
train corpus -n 270 -o . --mask merges.txt → merges.txt
train corpus --like like/tokenizer.json -n 40 -o like → like/tokenizer.json
train small -n 270 -o small → small/encoder.json
report -e small --terms terms.txt --html terms.txt corpus → terms.txt
report -e small --html small/vocab.bpe corpus → small/vocab.bpe
report -e gpt2 --html corpus/b.txt corpus → corpus/b.txt
extend -e small -n 1 -o small corpus → small/vocab.bpe
extend -e small/vocab.bpe -n 1 -o small corpus → small/vocab.bpe
extend -e small --terms changes.json -o . → changes.json
""",
    "args path",
)
def test_nor_what_options_name(args: str, path: str) -> None:
    small = {f"small/{one.name}": one.read_bytes() for one in (FIXTURES / "gpt2_small").iterdir()}
    texts = dict.fromkeys(("merges.txt", "terms.txt", "changes.json"), "dog → D\n")
    write({**small, **texts, "corpus/a.txt": _TEXT, "corpus/b.txt": _TEXT})
    write({"like/tokenizer.json": Path(kind_path("wordpiece")).read_bytes()})
    before = {one: one.read_bytes() for one in Path().rglob("*") if one.is_file()}
    assert f"{path}: the file is one of the inputs; " in refused(f"{args} --force")
    assert {one: one.read_bytes() for one in Path().rglob("*") if one.is_file()} == before


def test_standard_output_is_no_file_that_is_replaced() -> None:
    write({"a.txt": _TEXT})
    with open("page.html", "wb") as out:
        arguments = ("report", "-e", "gpt2", "--html", "page.html", "--force", "a.txt")
        done = run_process(*arguments, stdout=out)
    said = b"compat-bpe: page.html: standard output goes to this file, too; write to another file\n"
    assert (done.returncode, done.stderr) == (2, said)


@posix
@pytest.mark.parametrize("name", ["counts", "report"])
def test_the_mode_of_an_output_is_kept(name: str) -> None:
    arguments, output = _WRITING[name]
    write({"in": _TEXT, output: "old"})
    Path(output).chmod(0o600)
    assert command(f"{arguments} --force in").status == 0
    assert stat.S_IMODE(Path(output).stat().st_mode) == 0o600


@posix
@pytest.mark.parametrize("args", ["count .", "train -n 260 -o v", "corpus counts -o c.tsv"])
def test_a_current_directory_that_is_gone(args: str, tmp_path: Path) -> None:
    write({"a.txt": _TEXT})
    os.mkdir("gone")
    os.chdir("gone")
    Path("../gone").rmdir()
    message = "compat-bpe: the current directory: No such file or directory\n"
    assert command(args, str(tmp_path / "a.txt")) == (2, "", message)


def test_an_error_that_is_not_expected_is_a_line_and_status_2(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    errors = {
        MemoryError(): "there is not enough memory for this",
        RecursionError(): "something in the input is nested too deeply",
        OverflowError("too large"): "a number is too large: too large",
        OSError(5, "broken", "a"): "a: broken",
    }
    for error, message in errors.items():
        monkeypatch.setattr(count_module, "chosen_answer", mock.Mock(side_effect=error))
        assert command("count --max 1", stdin="hug") == (2, "", f"compat-bpe: {message}\n")


def test_a_mistake_of_ours_is_a_traceback_and_status_2(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count_module, "chosen_answer", None)
    err = refused("count --max 1", stdin="hug")
    assert "TypeError: 'NoneType' object is not callable" in err


def test_a_closed_pipe_of_windows_is_a_closed_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "_CLOSED_PIPE", (errno.EPIPE, errno.EINVAL))
    for code in (errno.EPIPE, errno.EINVAL, errno.ENOSPC):
        fail = mock.Mock(side_effect=OSError(code, "of standard output"))
        monkeypatch.setattr(count_module, "chosen_answer", fail)
        if code == errno.ENOSPC:
            with pytest.raises(OSError, match="of standard output"):
                command("count --max 1", stdin="hug")
        else:
            assert command("count --max 1", stdin="hug").status == 1
