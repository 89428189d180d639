"""The help of each command, whole and on one screen, and its sections."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import shutil
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import pytest

from compat_bpe import load
from compat_bpe.cli import cli
from compat_bpe.cli.app import GroupedCommand
from compat_bpe.save import save_tokenizer_json
from tests.cli.running import TIMEOUT, Terminal, environment, posix, run, run_process

ROOT = Path(__file__).parents[2]

COMMANDS = cli.list_commands(click.Context(cli))

#: All commands that have options.
WITH_EXAMPLES = ["", *COMMANDS, "corpus counts"]

#: Commands that run until they are told to end: tests/lsp and tests/mcp run them.
SERVERS = {"lsp", "mcp"}

PLAIN_COMMANDS = [
    "truncate",
    "split",
    "show",
    "encode",
    "decode",
    "encodings",
    "models",
    "completion",
]

TEXT = "The quick brown fox, 42 of them.\nNaïve “friends” of 世界.\n" * 20

#: Programs that examples use and that need not be there, or do what a test should not do.
STUBS = {
    "git": "test $1 = ls-files && printf 'docs/a.md\\0notes.txt\\0' || echo '+one line more'",
    "jq": "cat > jq-input; test -s jq-input",
    "less": "cat",
    "pip": 'test -n "$2"',
    "summarize": 'test -n "$1"',
}


def examples(name: str) -> list[str]:
    """Return the command lines in the help of a command."""
    shown = run(*name.split(), "--help").out.decode()
    joined = re.sub(r"\\\n\s*", "", shown)
    return re.findall(r"^ +\$ (.*)$", joined, re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the files that examples name."""
    for name in (
        *("README.md", "a.txt", "book.txt", "corpus.txt", "log.txt", "notes.txt", "prompt.txt"),
        *("abstracts/a.txt", "docs/a.md", "src/a.py", "x.py"),
        *("corpus/en/a.txt", "corpus/fr/a.txt", "corpus/zh/a.txt"),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(TEXT, encoding="utf-8")
    for name in ("drugs.txt", "names.txt"):
        (tmp_path / name).write_text("paracetamol\nibuprofen\n")
    (tmp_path / "chat.json").write_text('[{"role": "user", "content": "hello"}]')
    (tmp_path / "corpus.bin").write_bytes(struct.pack("<2I", 31373, 995))
    (tmp_path / "texts.gz").write_bytes(gzip.compress(TEXT.encode()))
    (tmp_path / "counts.tsv.gz").write_bytes(gzip.compress(b"the\t3\n cat\t2\n"))
    lines = [json.dumps({"text": TEXT, "lang": lang}) + "\n" for lang in ("en", "zh")]
    (tmp_path / "wiki.jsonl.gz").write_bytes(gzip.compress("".join(lines).encode()))
    vocabulary = load(ROOT / "fixtures" / "gpt2_small")
    for name in (
        "tokenizer.json",
        "own/tokenizer.json",
        "path/to/tokenizer.json",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        save_tokenizer_json(vocabulary, path)
    (tmp_path / "home" / ".config" / "fish" / "completions").mkdir(parents=True)
    programs = tmp_path / "bin"
    programs.mkdir()
    command = f'exec {shlex.quote(sys.executable)} -m compat_bpe "$@"'
    for name, script in {**STUBS, "compat-bpe": command}.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)
    return tmp_path


@pytest.mark.sweep
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize("name", [name for name in WITH_EXAMPLES if name not in SERVERS])
def test_examples_run(name: str, folder: Path) -> None:
    found = examples(name)
    assert found
    path = f"{folder / 'bin'}:{environment()['PATH']}"
    for example in found:
        # Each example may write a folder or file of the same name.
        for target in re.findall(r"-o (\S+)", example):
            shutil.rmtree(folder / target, ignore_errors=True)
            (folder / target).unlink(missing_ok=True)
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", example],
            cwd=folder,
            env=environment(PATH=path, HOME=str(folder / "home")),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
        assert done.returncode == 0, (example, done.stderr.decode())


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_lines_are_short(name: str) -> None:
    shown = run(*name.split(), "--help").out.decode()
    assert max(map(len, shown.splitlines())) <= 100


@pytest.mark.parametrize("name", PLAIN_COMMANDS)
def test_texts_say_what_is_done(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    helps = [command.help or ""]
    helps += [one.help or "" for one in command.params if isinstance(one, click.Option)]
    assert len(helps) == 1 + sum(isinstance(one, click.Option) for one in command.params)
    for text in helps:
        assert re.match(r"[A-Z][a-z]+ ", text), text
        assert not re.match("(Whether|How|What|Where|That|Which|The|A|So)\\b", text), text


#: Charsets of consoles, most of Windows, and that of the locale C.
CHARSETS = ["cp1252", "cp437", "cp850", "cp932", "cp936", "cp1251", "ascii"]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_every_console_can_show_it(name: str) -> None:
    shown = run(*name.split(), "--help").out.decode()
    for charset in CHARSETS:
        status, out, err = run(*name.split(), "--help", charset=charset)
        assert (status, err) == (0, "")
        # What the charset does not have is escaped; click takes ASCII for UTF-8 set up badly.
        known = "utf-8" if charset == "ascii" else charset
        assert out == shown.encode(known, "backslashreplace")


@pytest.mark.parametrize("charset", CHARSETS)
@pytest.mark.parametrize(
    "args",
    [
        ["trune"],
        ["count", "-e", "日本 é…😀"],
        ["count", "日本 é…😀.txt"],
        ["show", "--日本é…"],
        ["truncate", "-n", "日本é…😀"],
        ["decode", "日本é…😀"],
    ],
)
def test_every_console_can_show_errors(charset: str, args: list[str]) -> None:
    status, out, err = run(*args, charset=charset)
    assert (status, out) == (2, b"")
    assert len(err) > 20
    assert "Traceback" not in err


@posix
@pytest.mark.parametrize(
    ("settings", "marker"),
    [
        ({"PYTHONIOENCODING": "cp437"}, b"\\u2026"),
        ({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, "…".encode()),
    ],
)
def test_help_on_a_console_of_few_characters(settings: dict[str, str], marker: bytes) -> None:
    done = run_process("truncate", "--help", env=environment(**settings))
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"is %b for --keep ends" % marker in b" ".join(done.stdout.split())


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_h_fits_one_screen(name: str) -> None:
    shown = run(*name.split(), "-h").out.decode()
    lines = shown.splitlines()
    assert len(lines) < 24
    path = " ".join(["compat-bpe", *name.split()])
    assert lines[0].startswith(f"Usage: {path}")
    ask = "--help" if name not in ("", "corpus") else "COMMAND -h says more; --help"
    assert lines[-1] == f"{path} {ask} says all."
    commands = re.findall(r"^ +\$ (.*)$", re.sub(r"\\\n\s*", "", shown), re.MULTILINE)
    assert commands == examples(name)[:3] or name in ("", "corpus")
    # Only what is quoted from an example may be wider than a terminal.
    assert all(len(line) <= 80 for line in lines if not line.startswith(("  $", "      ")))


@posix
@pytest.mark.parametrize("columns", [80, 50])
def test_h_fits_a_terminal(columns: int) -> None:
    """All commands in one process: what is tested is what a terminal of this size shows."""
    script = (
        "import sys\n"
        "from compat_bpe.cli import cli\n"
        "for name in sys.argv[1:]:\n"
        "    cli([*name.split(), '-h'], prog_name='compat-bpe', standalone_mode=False)\n"
        "    print('=====')\n"
    )
    terminal = Terminal(columns)
    subprocess.run(
        [sys.executable, "-c", script, *WITH_EXAMPLES],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=terminal.fd,
        stderr=terminal.fd,
        timeout=TIMEOUT,
        check=True,
    )
    pages = terminal.text().decode().split("=====\n")[:-1]
    assert len(pages) == len(WITH_EXAMPLES)
    for name, page in zip(WITH_EXAMPLES, pages):
        rows = sum(max(1, -(-len(line) // columns)) for line in page.splitlines())
        assert rows < 24, (name, page)  # the prompt takes the last one
        assert page.startswith(f"Usage: {' '.join(['compat-bpe', *name.split()])}")
        assert "$ compat-bpe" in page or "$(compat-bpe" in page or "Commands:" in page
        assert page.endswith("--help says all.\n") or "COMMAND -h says more" in page


#: The row by which the first example is there, in the help that says all.
FIRST_ROWS = 8


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_come_first(name: str) -> None:
    rows = run(*name.split(), "--help").out.decode().splitlines()
    [first] = [row for row in rows if row.strip() in ("Example:", "Examples:")]
    assert rows.index(first) < FIRST_ROWS


def test_summaries_of_commands_are_whole() -> None:
    for shown in (run("-h"), run("--help")):
        listed = shown.out.decode().partition("Commands:")[2]
        assert listed
        assert not re.search(r"\.\.\.$|…$", listed, re.MULTILINE)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (["conut"], "there is no command 'conut' (did you mean 'count'?)"),
        (["xyz"], "there is no command 'xyz'"),
        (["help", "trian"], "there is no command 'trian' (did you mean 'train'?)"),
        (["help", "count", "more"], "compat-bpe count has no commands"),
        (["corpus", "count"], "'count'"),
        ([str(ROOT)], f"; that is a file or folder: compat-bpe count {ROOT}"),
    ],
)
def test_a_command_that_does_not_exist(typed: list[str], message: str) -> None:
    ran = run(*typed)
    assert (ran.status, ran.out) == (2, b"")
    assert message in ran.err


def test_a_group_without_a_command_shows_its_help() -> None:
    ran = run("corpus")
    assert ran.status in (0, 2)  # the newer click calls it an error
    shown = ran.out.decode() + ran.err
    assert "\n    $ compat-bpe corpus counts -o counts.tsv.gz corpus/\n" in shown


@pytest.mark.parametrize("name", ["", "count", "corpus counts"])
def test_help_of_a_command(name: str) -> None:
    assert run("help", *name.split()).out == run(*name.split(), "--help").out


def _command(groups: Mapping[str, Sequence[str]]) -> click.Command:
    @click.command(cls=GroupedCommand, groups=groups)
    @click.argument("paths", nargs=-1)
    @click.option("-o", "--output", metavar="FILE", required=True, help="Write there.")
    @click.option("--a-long-name", metavar="NUMBER", help="Take so many.")
    @click.option("--color/--no-color", help="Use colors.")
    @click.option("--secret", hidden=True)
    def command(**_: object) -> None:
        """Do it."""

    return command


def _help(command: click.Command) -> str:
    return command.get_help(click.Context(command, info_name="x"))


def test_sections_come_in_order_and_the_rest_last() -> None:
    text = _help(_command({"Output": ["--color", "-o"], "Input": ["--a-long-name"]}))
    assert text == (
        "Usage: x [OPTIONS] [PATHS]...\n"
        "\n"
        "  Do it.\n"
        "\n"
        "Output:\n"
        "  --color / --no-color  Use colors.\n"
        "  -o, --output FILE     Write there.  [required]\n"
        "\n"
        "Input:\n"
        "  --a-long-name NUMBER  Take so many.\n"
        "\n"
        "Other options:\n"
        "  --help                Show this message and exit."
    )


def test_a_section_of_hidden_options_is_not_there() -> None:
    assert "Secrets" not in _help(_command({"Secrets": ["--secret"]}))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"Input": ["--nope"]}, "no such option"),
        ({"Input": ["paths"]}, "no such option"),
        ({"Input": ["-o"], "Output": ["--output"]}, "in a group already"),
    ],
)
def test_a_mistake_in_the_groups_is_an_error(groups: dict[str, list[str]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _command(groups)
