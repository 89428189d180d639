"""The help of each command, whole and on one screen, and the manual pages that are made of it."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import shutil
import struct
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import click
import pytest

from compat_bpe import load
from compat_bpe.cli import cli
from compat_bpe.cli.app import GroupedCommand, help_parts
from compat_bpe.save import save_tokenizer_json
from tests.cli.running import (
    FIXTURES,
    command,
    environment,
    on_terminal,
    posix,
    printed,
    refused,
    run,
    run_process,
    write,
)
from tools.build_man import TARGET, generate

COMMANDS = cli.list_commands(click.Context(cli))

#: All commands that have options.
WITH_EXAMPLES = ["", *COMMANDS, "corpus counts"]
all_commands = pytest.mark.parametrize("name", WITH_EXAMPLES)

#: Commands that run until they are told to end: tests/lsp and tests/mcp run them.
SERVERS = {"lsp", "mcp"}

PLAIN_COMMANDS = ["truncate", "split", "show", "encode", "decode"]
PLAIN_COMMANDS += ["encodings", "models", "completion"]

TEXT = "The quick brown fox, 42 of them.\nNaïve “friends” of 世界.\n" * 20

#: Programs that examples use and that need not be there, or do what a test should not do.
STUBS = {
    "git": "test $1 = ls-files && printf 'docs/a.md\\0notes.txt\\0' || echo '+one line more'",
    "jq": "cat > jq-input; test -s jq-input",
    "less": "cat",
    "pip": 'test -n "$2"',
    "summarize": 'test -n "$1"',
    "compat-bpe": f'exec {shlex.quote(sys.executable)} -m compat_bpe "$@"',
}


@cache
def help_of(name: str) -> str:
    return printed(f"{name} --help")


def examples(shown: str) -> list[str]:
    """Return the command lines in the help of a command."""
    return re.findall(r"^ +\$ (.*)$", re.sub(r"\\\n\s*", "", shown), re.MULTILINE)


@pytest.fixture
def _example_files() -> None:
    """The files that examples name."""
    texts = (
        "README.md a.txt book.txt corpus.txt log.txt notes.txt prompt.txt abstracts/a.txt "
        "docs/a.md src/a.py x.py corpus/en/a.txt corpus/fr/a.txt corpus/zh/a.txt"
    )
    lines = [json.dumps({"text": TEXT, "lang": lang}) + "\n" for lang in ("en", "zh")]
    write(dict.fromkeys(texts.split(), TEXT))
    write(dict.fromkeys(("drugs.txt", "names.txt"), "paracetamol\nibuprofen\n"))
    write({"chat.json": '[{"role": "user", "content": "hello"}]'})
    write({"corpus.bin": struct.pack("<2I", 31373, 995)})
    write({"counts.tsv.gz": gzip.compress(b"the\t3\n cat\t2\n")})
    for name, text in (("texts.gz", TEXT), ("wiki.jsonl.gz", "".join(lines))):
        write({name: gzip.compress(text.encode())})
    save_tokenizer_json(load(FIXTURES / "gpt2_small"), "tokenizer.json")
    for folder in ("own", "path/to"):
        write({f"{folder}/tokenizer.json": Path("tokenizer.json").read_bytes()})
    Path("home/.config/fish/completions").mkdir(parents=True)
    for name, script in STUBS.items():
        write({f"bin/{name}": f"#!/bin/sh\n{script}\n"})
        Path("bin", name).chmod(0o755)


@pytest.mark.sweep
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.usefixtures("_example_files")
@pytest.mark.parametrize("name", [name for name in WITH_EXAMPLES if name not in SERVERS])
def test_examples_run(name: str, tmp_path: Path) -> None:
    path = f"{tmp_path / 'bin'}:{environment()['PATH']}"
    for example in examples(help_of(name)):
        # Each example may write a folder or file of the same name.
        for target in re.findall(r"-o (\S+)", example):
            shutil.rmtree(target, ignore_errors=True)
            Path(target).unlink(missing_ok=True)
        env = environment(PATH=path, HOME=str(tmp_path / "home"))
        done = run_process("-o", "pipefail", "-c", example, program=["bash"], env=env)
        assert done.returncode == 0, (example, done.stderr.decode())


#: The row by which the first example is there, in the full help.
FIRST_ROWS = 8


@all_commands
def test_help_has_short_lines_and_an_example_soon(name: str) -> None:
    rows = help_of(name).splitlines()
    assert max(map(len, rows)) <= 100
    [first] = [row for row in rows if row.strip() in ("Example:", "Examples:")]
    assert rows.index(first) < FIRST_ROWS
    assert any(f"compat-bpe {name}".strip() in example for example in examples(help_of(name)))


@pytest.mark.parametrize("name", PLAIN_COMMANDS)
def test_texts_say_what_is_done(name: str) -> None:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    helps = [found.help or ""]
    helps += [one.help or "" for one in found.params if isinstance(one, click.Option)]
    assert len(helps) == 1 + sum(isinstance(one, click.Option) for one in found.params)
    for text in helps:
        assert re.match(r"[A-Z][a-z]+ ", text), text
        assert not re.match("(Whether|How|What|Where|That|Which|The|A|So)\\b", text), text


#: Charsets of consoles, most of Windows, and that of the locale C.
CHARSETS = ["cp1252", "cp437", "cp850", "cp932", "cp936", "cp1251", "ascii"]


@pytest.mark.parametrize("charset", CHARSETS)
def test_every_console_can_show_it(charset: str) -> None:
    # What the charset does not have is escaped; click takes ASCII for UTF-8 set up badly.
    known = "utf-8" if charset == "ascii" else charset
    for name in WITH_EXAMPLES:
        out = run(*name.split(), "--help", charset=charset).out
        assert out == help_of(name).encode(known, "backslashreplace")
    wrong = "trune → count -e '日本 é…😀' → count '日本 é…😀.txt' → show --日本é…"
    for line in f"{wrong} → truncate -n 日本é…😀 → decode 日本é…😀".split(" → "):
        err = refused(line, charset=charset)
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
    assert b"Default: %b for --keep ends" % marker in b" ".join(done.stdout.split())


@all_commands
def test_h_fits_one_screen(name: str) -> None:
    shown = printed(f"{name} -h")
    lines = shown.splitlines()
    assert len(lines) < 24
    path = " ".join(["compat-bpe", *name.split()])
    assert lines[0].startswith(f"Usage: {path}")
    is_group = name in ("", "corpus")
    ask = "COMMAND -h shows more, --help all." if is_group else "--help shows everything."
    assert lines[-1] == f"{path} {ask}"
    assert examples(shown) == examples(help_of(name))[:3] or name in ("", "corpus")
    # Only what is quoted from an example may be wider than a terminal.
    assert all(len(line) <= 80 for line in lines if not line.startswith(("  $", "      ")))


#: All commands in one process: what is tested is what a terminal of some size shows.
_SHORT_HELP = """
import sys
from compat_bpe.cli import cli
for name in sys.argv[1:]:
    cli([*name.split(), "-h"], prog_name="compat-bpe", standalone_mode=False)
    print("=====")
"""


@posix
@pytest.mark.parametrize("columns", [80, 50])
def test_h_fits_a_terminal(columns: int) -> None:
    pages = on_terminal(*WITH_EXAMPLES, code=_SHORT_HELP, columns=columns).split("=====\n")[:-1]
    assert len(pages) == len(WITH_EXAMPLES)
    for name, page in zip(WITH_EXAMPLES, pages):
        rows = sum(max(1, -(-len(line) // columns)) for line in page.splitlines())
        assert rows < 24, (name, page)  # the prompt takes the last one
        assert page.startswith(f"Usage: {' '.join(['compat-bpe', *name.split()])}")
        assert "$ compat-bpe" in page or "$(compat-bpe" in page or "Commands:" in page
        assert page.endswith(("--help shows everything.\n", "COMMAND -h shows more, --help all.\n"))


def test_all_commands_are_listed() -> None:
    listed = help_of("").partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in listed] == COMMANDS
    assert {"count", "truncate", "encode", "decode", "show", "split"} <= set(COMMANDS)
    for shown in (command("-h").out, help_of("")):
        assert not re.search(r"\.\.\.$|…$", shown.partition("Commands:")[2], re.MULTILINE)


def test_help_as_a_command_and_of_a_group() -> None:
    for name in ("", "count", "corpus counts"):
        assert command(f"help {name}").out == help_of(name)
    status, out, err = command("corpus")
    assert status in (0, 2)  # the newer click calls it an error
    assert "\n    $ compat-bpe corpus counts -o counts.tsv.gz corpus/\n" in out + err


def _grouped(groups: Mapping[str, Sequence[str]]) -> click.Command:
    @click.command(cls=GroupedCommand, groups=groups)
    @click.argument("paths", nargs=-1)
    @click.option("-o", "--output", metavar="FILE", required=True, help="Write there.")
    @click.option("--a-long-name", metavar="NUMBER", help="Take so many.")
    @click.option("--color/--no-color", help="Use colors.")
    @click.option("--secret", hidden=True)
    def grouped(**_: object) -> None:
        """Do it."""

    return grouped


def _help(groups: Mapping[str, Sequence[str]]) -> str:
    found = _grouped(groups)
    return found.get_help(click.Context(found, info_name="x"))


def test_sections_come_in_order_and_the_rest_last() -> None:
    assert _help({"Output": ["--color", "-o"], "Input": ["--a-long-name"]}) == (
        "Usage: x [OPTIONS] [PATHS]...\n\n"
        "  Do it.\n\n"
        "Output:\n"
        "  --color / --no-color  Use colors.\n"
        "  -o, --output FILE     Write there.  [required]\n\n"
        "Input:\n"
        "  --a-long-name NUMBER  Take so many.\n\n"
        "Other options:\n"
        "  --help                Show this message and exit."
    )
    # A section of hidden options is not there.
    assert "Secrets" not in _help({"Secrets": ["--secret"]})


def test_a_mistake_in_the_groups_is_an_error() -> None:
    for groups, message in (
        ({"Input": ["--nope"]}, "no such option"),
        ({"Input": ["paths"]}, "no such option"),
        ({"Input": ["-o"], "Output": ["--output"]}, "in a group already"),
    ):
        with pytest.raises(ValueError, match=message):
            _grouped(groups)


# The manual pages: written from the texts of the help, without a fault, and as they are meant.

#: How roff writes characters, and what changes the letters.
_ESCAPE = re.compile(r"\\(?:f[BR]|&|(?P<one>[-e])|\((?P<two>..)|\[u(?P<code>[0-9A-F]+)\])")
_NAMED = {"-": "-", "e": "\\", "aq": "'", "ga": "`", "ha": "^", "ti": "~"}


def page_of(name: str) -> Path:
    return TARGET / f"{'-'.join(['compat-bpe', *name.split()])}.1"


def command_of(name: str) -> tuple[click.Command, click.Context]:
    ctx = click.Context(cli, info_name="compat-bpe")
    for part in name.split():
        assert isinstance(ctx.command, click.Group)
        found = ctx.command.get_command(ctx, part)
        assert found is not None
        ctx = click.Context(found, parent=ctx, info_name=part)
    return ctx.command, ctx


def _escaped(found: re.Match[str]) -> str:
    if found["code"]:
        return chr(int(found["code"], 16))
    return _NAMED.get(found["one"] or found["two"], "")


@cache
def lines_of(name: str) -> list[str]:
    """The lines of text and the headings of a page, without what else roff is told."""
    lines = []
    for line in page_of(name).read_text("ascii").splitlines():
        request, _, text = line.partition(" ") if line.startswith(".") else ("", "", line)
        if request in ("", ".SH", ".SS"):
            lines.append(_ESCAPE.sub(_escaped, text))
    return lines


def flowing(name: str) -> str:
    return " ".join(" ".join(lines_of(name)).split())


def test_pages_are_current() -> None:
    pages = generate()
    assert set(pages) == set(TARGET.iterdir()) == set(map(page_of, WITH_EXAMPLES))
    for path, text in pages.items():
        assert path.read_text("ascii") == text, "run tools/build_man.py"


@all_commands
def test_a_page_has_the_texts_of_the_help(name: str) -> None:
    found, ctx = command_of(name)
    parts = help_parts(found)
    lines = [line.strip() for line in lines_of(name)]
    for example in parts.examples:
        assert set(example) <= set(lines)
    for paragraph in parts.details:
        assert " ".join(paragraph.text.split()) in flowing(name)
    options = [param for param in found.get_params(ctx) if isinstance(param, click.Option)]
    assert options
    for option in options:
        record = option.get_help_record(ctx)
        assert record is not None
        assert " ".join(" ".join(record).split()) in flowing(name)
    titles = {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "SEE ALSO"}
    assert titles <= set(lines)


def test_a_page_of_a_group_names_its_commands() -> None:
    for name in COMMANDS:
        assert f"compat-bpe-{name}(1)" in flowing("")
    assert "compat-bpe-corpus-counts(1)" in flowing("corpus")
    assert "compat-bpe-corpus(1)" in flowing("corpus counts")


def mandoc(*args: str | Path) -> str:
    done = run_process(*args, program=["mandoc"])
    assert (done.returncode, done.stderr) == (0, b""), done.stdout.decode()
    # A letter in bold is written twice, one over the other.
    return re.sub("\b.", "", done.stdout.decode())


@pytest.mark.skipif(
    shutil.which("mandoc") is None and (os.name == "nt" or "CI" not in os.environ),
    reason="mandoc, which reads manual pages, is not installed (apt-get install mandoc)",
)
def test_mandoc_finds_no_fault_and_shows_what_the_pages_say() -> None:
    assert mandoc("-T", "lint", *sorted(TARGET.iterdir())) == ""
    for name in WITH_EXAMPLES:
        shown = mandoc("-T", "utf8", "-O", "width=200", page_of(name)).splitlines()
        # The first line and the last have the title and the date.
        assert " ".join(" ".join(shown[1:-1]).split()) == flowing(name)
