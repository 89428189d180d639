"""Every surface answers a question about a tokenizer as ``encodings.resolve`` does.

Spark's are in ``tests/spark``.
"""

from __future__ import annotations

import ast
import json
import sqlite3
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from compat_bpe import encoding_for_model, get_encoding
from compat_bpe.chat import count_messages
from compat_bpe.chat.choose import TERMS as CONVERSATION
from compat_bpe.check.configuration import TERMS as CONFIGURATION
from compat_bpe.check.configuration import configuration_of
from compat_bpe.check.source import ConfigurationError, Source
from compat_bpe.cli.options.encoding import TERMS as COMMAND
from compat_bpe.columns.batches import SQL_TERMS as SQL
from compat_bpe.columns.batches import TERMS as COLUMNS
from compat_bpe.columns.batches import Carried
from compat_bpe.encodings.resolve import LIBRARY, Terms
from compat_bpe.lsp.settings import TERMS as EDITOR
from compat_bpe.mcp.calls import TERMS as AGENT
from compat_bpe.mcp.calls import Call, CallError, Roots, chosen
from compat_bpe.sql import register
from tests.cli.running import run
from tests.lsp.client import Failed, client_of
from tests.questions import ENCODINGS, EXACT, QUESTIONS, TEXT, Question, Refused, check
from web.counting_page.desk import Desk
from web.counting_page.tokenizers import TERMS as PAGE

PACKAGE = Path(__file__).parent.parent / "compat_bpe"

#: The tools' call of an agent, which reads no files.


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder without files, and a home without models."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))


def library(question: Question) -> int:
    ask_for = get_encoding if question.field == "encoding" else encoding_for_model
    kind = ValueError if question.field == "encoding" else KeyError
    try:
        return ask_for(question.name).count(TEXT)
    except kind as error:
        raise Refused(error.args[0]) from None


def command(*args: str) -> Callable[[Question], int]:
    def ask(question: Question) -> int:
        Path("text").write_text(TEXT, encoding="utf-8")
        name = [f"--{question.field}={question.name}", "--estimate"]
        status, out, err = run(*args, "--json", *name, "text")
        if status:
            raise Refused(err)
        found = json.loads(out)
        return int(found["tokens"] if "tokens" in found else found["total"]["tokens"])

    return ask


def editor(question: Question) -> int:
    with client_of() as client:
        try:
            asked = {"text": TEXT, question.field: question.name}
            return int(client.request("compatBpe/count", asked)["count"])
        except Failed as error:
            raise Refused(str(error)) from None


def agent(question: Question) -> int:
    is_model = question.field == "model"
    name, other = question.name if is_model else None, None if is_model else question.name
    call = Call(Roots(()))  # its time begins here
    try:
        return chosen(name, other, call).count(TEXT, call)
    except CallError as error:
        raise Refused(str(error)) from None


def columns(question: Question) -> int:
    try:
        return Carried(question.name).get().count(TEXT)
    except ValueError as error:
        raise Refused(str(error)) from None


class Telling(sqlite3.Connection):
    """A connection that keeps the error for which SQLite says that a function has raised one."""

    error: Exception

    def create_function(  # type: ignore[override]
        self, name: str, number: int, function: Callable[..., Any], **options: Any
    ) -> None:
        def kept(*values: Any) -> Any:
            try:
                return function(*values)
            except ValueError as error:
                self.error = error
                raise

        super().create_function(name, number, kept, **options)


def sqlite(question: Question) -> int:
    connection = sqlite3.connect(":memory:", factory=Telling)
    try:
        register(connection)
        query = connection.execute("SELECT token_count(?, ?)", (TEXT, question.name))
        return int(query.fetchone()[0])
    except sqlite3.OperationalError:
        raise Refused(str(connection.error)) from None
    finally:
        connection.close()


def configuration(question: Question) -> int:
    name = json.dumps(question.name)
    text = f"[check]\n{question.field} = {name}\n[[check.rules]]\nfiles = ['*']\nmax = 1\n"
    try:
        read = configuration_of(Source(".compat-bpe.toml", text))
    except ConfigurationError as error:
        raise Refused(str(error)) from None
    answer = read.rules[0].counted_by
    assert answer is not None
    return get_encoding(answer.encoding_name).count(TEXT)


def conversation(question: Question) -> int:
    given = {question.field: question.name}
    try:
        return count_messages([{"role": "user", "content": TEXT}], **given)  # type: ignore[arg-type]
    except (KeyError, ValueError) as error:
        raise Refused(error.args[0]) from None


def web_page(question: Question) -> int:
    """Ask the Python side of the page; ``tests/web`` asks the page itself."""

    def answer(ask: str, **more: object) -> Any:
        found = json.loads(desk.answer(json.dumps({"ask": ask, **more})))
        if "error" in found:
            raise Refused(found["error"])
        return found["value"]

    desk = Desk()
    found = answer("find", name=question.name, field=question.field)
    answer("choose", keys=[found["key"]], special=False)
    figures = answer("edit", start=0, end=0, text=TEXT)
    assert bool(figures["notes"][0]) == (question.encoding == "characters")
    return int(figures["counts"][0])


class Surface(NamedTuple):
    """A surface: what asks it, the questions, and the terms in which it refuses one.

    ``files`` has the fields whose names may be those of files.
    """

    ask: Callable[[Question], int]
    questions: Iterable[Question]
    terms: Terms
    files: Collection[str] = ()


BOTH = ("encoding", "model")
NAMES = [one for one in QUESTIONS if "\0" not in one.name]  # no argument has a NUL
AT_COMMAND = COMMAND._replace(estimate="--estimate")
REFUSED = {
    field: [one for one in EXACT if (one.field, one.encoding) == (field, None)] for field in BOTH
}

SURFACES = {
    "library": Surface(library, EXACT, LIBRARY),
    "count": Surface(command("count"), NAMES, AT_COMMAND, BOTH),
    "truncate": Surface(command("truncate", "-n", "9k"), NAMES, AT_COMMAND, BOTH),
    "split": Surface(command("split", "-n", "9k"), NAMES, AT_COMMAND, BOTH),
    "editors": Surface(editor, QUESTIONS, EDITOR, ("model",)),
    "agents": Surface(agent, QUESTIONS, AGENT),
    "columns": Surface(columns, ENCODINGS, COLUMNS, BOTH),
    "SQLite": Surface(sqlite, ENCODINGS, SQL),
    "configurations": Surface(configuration, [one for one in EXACT if one.name], CONFIGURATION),
    "conversations": Surface(conversation, REFUSED["model"], CONVERSATION),
    "encodings of conversations": Surface(conversation, REFUSED["encoding"], LIBRARY, BOTH),
    "page": Surface(web_page, QUESTIONS, PAGE),
}


@pytest.mark.parametrize(
    ("surface", "question"),
    [
        pytest.param(
            surface,
            one,
            id=f"{name}: {one.field}={one.name[:30]!r}",
            marks=[pytest.mark.sweep] if name in ("truncate", "split") else [],
        )
        for name, surface in SURFACES.items()
        for one in surface.questions
    ],
)
def test_a_surface_gives_the_answer(surface: Surface, question: Question) -> None:
    message = ""
    if question.tokens is None:
        message = question.message(surface.terms, files=question.field in surface.files)
    check(question, surface.ask, message)


def test_no_other_module_decides_what_a_name_means() -> None:
    deciders = {"resolve_model", "in_hugging_face", "STORES", "factor_of"}
    callers: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if not any(name in source for name in deciders):
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ImportFrom):
                for name in deciders.intersection(one.name for one in node.names):
                    callers.setdefault(name, set()).add(path.relative_to(PACKAGE).as_posix())
    assert callers == {
        # Beside the resolver: what lists models, and what knows the limits of a family.
        "resolve_model": {
            "chat/limits.py",
            "cli/commands/listing.py",
            "encodings/local_stores.py",
            "encodings/registry.py",
            "encodings/resolve.py",
            "mcp/server.py",
        },
        "in_hugging_face": {"encodings/resolve.py"},
        "STORES": {"encodings/load.py", "encodings/resolve.py", "lsp/settings.py"},
        "factor_of": {"encodings/resolve.py"},
    }
