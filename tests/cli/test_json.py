"""The JSON of every command is as ``docs/json-schema.json`` and ``docs/json.md`` say.

Each case is a command as a user would type it, in a folder with the files of the documentation and
a few that are damaged. Here, a schema allows no other members than it names, and each member that
it names is in the output of some case.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
from jsonschema import Draft202012Validator

from compat_bpe.cli import cli
from tests.cli.running import git, run, write
from tests.kinds import kind_path

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs/json-schema.json").read_bytes())
DEFINITIONS: Mapping[str, Any] = SCHEMA["$defs"]

REQUEST = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}
CHECK = """\
[check]
encoding = "gpt2"
[[check.rules]]
name = "pages"
files = ["*.md"]
max = 60
total = 1000
[[check.rules]]
files = ["none/*.md"]
max = 10
[[check.rules]]
files = ["prompt.txt"]
max = 1
[[check.exempt]]
files = ["prompt.txt"]
reason = "it is old"
"""


class Case(NamedTuple):
    """A command, the definition of its JSON, and the status that it ends with."""

    definition: str
    command: str
    status: int = 0
    stdin: bytes = b""


CASES = [
    Case("count", "count --json prompt.txt"),
    Case("count", "count --format json -m gpt-4o -m gpt-4 --price 2.50 --context --top 1 src"),
    Case("count", "count --json -m gpt-4o --price 2 --context --max 1 src", 1),
    Case("count", "count --json --max 1 --per-file -e gpt2 -e bytes src", 1),
    Case("count", "count --json -m claude-sonnet-4-5 --estimate src"),
    Case("count", "count --json damaged damaged/latin1 missing", 2),
    Case("count", "count --json -", 0, b"hi"),
    Case("count", "count --json -c hi"),
    Case("count_messages", "count --json --messages chat.json"),
    Case(
        "count_messages", "count --json --messages chat.json --parts --context --price 1 --max 1", 1
    ),
    Case(
        "count_messages", "count --json --messages chat.json -m gpt-4o -m gpt-4 --context --price 1"
    ),
    Case("count_requests", "count --json --messages chat.jsonl -m gpt-4o -e gpt2", 2),
    Case("count_requests", "count --json --messages chat.jsonl -m gpt-4o --price 1 --max 1", 2),
    Case("check", "check --json", 2),
    Case("check", "check --json --base HEAD --growth 0 --allow-empty", 2),
    Case(
        "report",
        "report --json -e gpt2 -e words -e my-bert --terms names.txt --errors skip texts damaged",
    ),
    Case("report", "report --json -e gpt2 texts missing", 2),
    Case("report", "report --json -m claude-sonnet-4-5 --estimate texts"),
    Case("corpus_counts", "corpus counts --json -o counts.tsv texts missing", 2),
    Case("corpus_counts", "corpus counts --json -o more.tsv --merge some.tsv"),
    Case("manifest", "train --json -n 300 -o a --errors skip texts damaged --counts some.tsv"),
    Case("manifest", "train --json --model unigram -n 300 -o b texts missing", 2),
    Case("manifest", "extend --json -e small -n 2 -o c --errors skip texts damaged"),
    Case("encodings", "encodings --json"),
    Case("models", "models --json"),
    Case("models", "models --json gpt-4o gpt9", 2),
    Case("models_limits", "models --json --limits gpt-4o claude-sonnet-4-5"),
    Case("models_families", "models --json --families"),
    Case("ids", "encode --json prompt.txt"),
    Case("ids", "encode --format json prompt.txt"),
    Case("token", "encode --json --offsets -", 0, "a 😀\udcff".encode("utf-8", "surrogateescape")),
    Case("token", "encode --json --offsets -e gpt2 --special -", 0, b"a<|endoftext|>"),
    Case("token", "show --json prompt.txt x.py"),
    Case("token", "show --json -e my-bert -", 0, "Hügs 世".encode()),
    *(
        Case("merges", f"show --merges --json -e {name} --special hugs 世界<|endoftext|>")
        for name in ("gpt2", "kind:unigram", "kind:wordpiece", "kind:word_level")
    ),
    Case("part", "split --json -n 20 -", 0, b"a b c \xff d e f g"),
    Case("part", "split --json -n 20 --files src"),
    Case("part", "split --json -n 20 -o part- prompt.txt"),
    Case("truncate", "truncate --json -n 3 prompt.txt"),
    Case("truncate", "truncate --json -n 3 -", stdin=b"a"),
    Case("truncate", "truncate --json -n 3 -", stdin=b"\xe9"),
]
#: The definitions of what is printed a line each.
LINES = ("token", "merges", "part")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the documentation, some damaged ones, and a repository with budgets."""
    folder = tmp_path_factory.mktemp("json") / "files"
    shutil.copytree(ROOT / "fixtures/docs", folder)
    shutil.copytree(ROOT / "fixtures/gpt2_small", folder / "small")
    files: dict[str, str | bytes] = {
        "damaged/binary": b"\0",
        "damaged/latin1": b"caf\xe9",
        "damaged/lines.jsonl": b'{"text": "hi"}\n{"text": "caf\xe9"}\n',
        "chat.json": json.dumps(REQUEST),
        "chat.jsonl": f'{json.dumps(REQUEST)}\n{{"messages": []}}\n',
        ".compat-bpe.toml": CHECK,
        "some.tsv": "chunk\tcount\nhi\t3\n",
        "binary.md": b"\0",
        "damaged.md": b"caf\xe9",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write(files)
        for line in ("init -q", "add notes.md", "commit -qm a"):
            git(*line.split())
    with (folder / "notes.md").open("a") as file:
        file.write("more\n" * 60)
    (folder / "new.md").write_text("new\n")
    return folder


def strict(schema: Any) -> Any:
    """The same schema, by which an object has no other members than those that are named."""
    if isinstance(schema, list):
        return list(map(strict, schema))
    if not isinstance(schema, dict):
        return schema
    made = {key: strict(value) for key, value in schema.items()}
    if schema.get("type") in ("object", ["object", "null"]) and "properties" in schema:
        made["additionalProperties"] = False
    return made


STRICT = strict(DEFINITIONS)


def values(case: Case) -> list[Any]:
    """What a command prints, as values."""
    arguments = [
        str(kind_path(word[5:])) if word.startswith("kind:") else word
        for word in case.command.split(" ")
    ]
    status, out, err = run(*arguments, stdin=case.stdin)
    assert status == case.status, err
    return list(map(json.loads, out.splitlines() if case.definition in LINES else [out]))


@pytest.fixture(scope="module")
def printed(folder: Path) -> list[tuple[Case, list[Any]]]:
    """What all commands print."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
        return [(case, values(case)) for case in CASES]


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert {case.definition for case in CASES} <= DEFINITIONS.keys()


def test_output_is_as_the_schema_says(printed: list[tuple[Case, list[Any]]]) -> None:
    for case, found in printed:
        assert found, case
        schema = {"$ref": f"#/$defs/{case.definition}", "$defs": STRICT}
        for value in found:
            for error in Draft202012Validator(schema).iter_errors(value):
                raise AssertionError(f"{case.command}: {error.json_path}: {error.message}")


def own_members(schema: Any) -> Iterator[str]:
    """The names of the members in a schema, without those of other definitions."""
    if isinstance(schema, dict):
        yield from schema.get("properties", ())
        for key, value in schema.items():
            yield from own_members(list(value.values()) if key == "properties" else value)
    elif isinstance(schema, list):
        for one in schema:
            yield from own_members(one)


def definitions_in(definition: str) -> set[str]:
    """The names of a definition, and of all that it refers to."""
    names = {definition}
    for name in re.findall(r'"#/\$defs/(\w+)"', json.dumps(DEFINITIONS[definition])):
        names |= definitions_in(name)
    return names


def members(value: Any) -> Iterator[str]:
    """The names of all members in a value."""
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from members(one)


def test_each_member_of_the_schema_is_printed(printed: list[tuple[Case, list[Any]]]) -> None:
    found: dict[str, set[str]] = {name: set() for name in DEFINITIONS}
    for case, values in printed:
        names = set(members(values))
        for definition in definitions_in(case.definition):
            found[definition] |= names
    unseen = {
        (definition, name)
        for definition, schema in DEFINITIONS.items()
        for name in own_members(schema)
        if name not in found[definition]
    }
    assert not unseen


def test_every_command_with_json_is_here() -> None:
    def with_json(command: click.Command, name: str) -> Iterator[str]:
        context = click.Context(command)
        if isinstance(command, click.Group):
            for below in command.list_commands(context):
                one = command.get_command(context, below)
                assert one is not None
                yield from with_json(one, f"{name} {below}".strip())
        elif any("--json" in parameter.opts for parameter in command.params):
            yield name

    names = set(with_json(cli, ""))
    assert names == {name for name in names for case in CASES if case.command.startswith(name)}
    assert len(names) > 10


def test_the_page_names_every_member() -> None:
    page = (ROOT / "docs/json.md").read_text("utf-8")
    named = set(re.findall(r"`([a-z_0-9]+)`", page))
    for definition in DEFINITIONS:
        assert f"`{definition}`" in page, definition
    assert {*own_members(list(DEFINITIONS.values()))} <= named
