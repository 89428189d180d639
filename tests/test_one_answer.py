"""Every surface answers a question about a tokenizer as ``encodings.resolve`` does."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from compat_bpe import encoding_for_model, get_encoding
from compat_bpe.chat import count_messages
from compat_bpe.chat.choose import TERMS as CONVERSATION
from compat_bpe.check.configuration import TERMS as CONFIGURATION
from compat_bpe.check.configuration import configuration_of
from compat_bpe.check.source import ConfigurationError, Source
from compat_bpe.cli.options.encoding import TERMS as COMMAND
from compat_bpe.columns.batches import encoding_named
from compat_bpe.columns.encoding_for_workers import TERMS as COLUMNS
from compat_bpe.columns.encoding_for_workers import Carried
from compat_bpe.encodings.resolve import LIBRARY, Terms
from compat_bpe.lsp.encodings import TERMS as EDITOR
from compat_bpe.mcp.encodings import TERMS as AGENT
from tests.cli.running import run
from tests.lsp.client import Client, Failed, client_of
from tests.questions import QUESTIONS, TEXT, Question, Refused

PACKAGE = Path(__file__).parent.parent / "compat_bpe"

Surface = Callable[[Question], int]


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder without files, and a home without models."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))


def check(question: Question, ask: Surface, terms: Terms, *, files: bool = True) -> None:
    """Compare the answer of a surface with that of the table."""
    if question.tokens is not None:
        assert ask(question) == question.tokens
        return
    with pytest.raises(Refused) as refused:
        ask(question)
    message = str(refused.value)
    assert question.reason in message
    assert question.message(terms, files=files) in message
    assert len(message) < 1_000


#: The questions of surfaces that make no estimates, and of those that take no models.
EXACT = [one for one in QUESTIONS if one.encoding != "characters"]
ENCODINGS = [one for one in QUESTIONS if one.field == "encoding"]


def named(question: Question) -> str:
    return f"{question.field}={question.name[:30]!r}"


@pytest.mark.parametrize("question", EXACT, ids=named)
def test_library(question: Question) -> None:
    def ask(question: Question) -> int:
        ask_for = get_encoding if question.field == "encoding" else encoding_for_model
        kind = ValueError if question.field == "encoding" else KeyError
        try:
            return ask_for(question.name).count(TEXT)
        except kind as error:
            raise Refused(error.args[0]) from None

    check(question, ask, LIBRARY, files=False)


@pytest.mark.parametrize("question", [one for one in QUESTIONS if "\0" not in one.name], ids=named)
@pytest.mark.parametrize(
    "command",
    ["count", *(pytest.param(one, marks=pytest.mark.sweep) for one in ("truncate", "split"))],
)
def test_command(question: Question, command: str) -> None:
    Path("text").write_text(TEXT, encoding="utf-8")
    options = {"count": ["--json"], "truncate": ["--json", "-n", "9k"], "split": ["--json"]}
    more = ["-n", "9k"] if command == "split" else []

    def ask(question: Question) -> int:
        name = [f"--{question.field}={question.name}", "--estimate"]
        status, out, err = run(command, *name, *options[command], *more, "text")
        if status:
            raise Refused(err)
        found = json.loads(out)
        return int(found["total"]["tokens"] if command == "count" else found["tokens"])

    check(question, ask, COMMAND._replace(estimate="--estimate"))


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with client_of() as client:
        yield client


@pytest.mark.parametrize("question", QUESTIONS, ids=named)
def test_editors(question: Question, client: Client) -> None:
    def ask(question: Question) -> int:
        try:
            asked = {"text": TEXT, question.field: question.name}
            return int(client.request("compatBpe/count", asked)["count"])
        except Failed as error:
            raise Refused(str(error)) from None

    check(question, ask, EDITOR, files=question.field != "encoding")


@pytest.mark.parametrize("question", QUESTIONS, ids=named)
def test_agents(question: Question) -> None:
    from compat_bpe.mcp.calls import Call, CallError, Roots
    from compat_bpe.mcp.encodings import chosen

    call = Call(Roots(()))

    def ask(question: Question) -> int:
        try:
            name, is_model = question.name, question.field == "model"
            by = chosen(name if is_model else None, None if is_model else name, call)
            return by.count(TEXT, call)
        except CallError as error:
            raise Refused(str(error)) from None

    check(question, ask, AGENT, files=False)


@pytest.mark.parametrize("question", ENCODINGS, ids=named)
def test_columns_and_spark(question: Question) -> None:
    def ask(question: Question) -> int:
        try:
            return Carried(question.name).get().count(TEXT)
        except ValueError as error:
            raise Refused(str(error)) from None

    check(question, ask, COLUMNS)


@pytest.mark.parametrize("question", ENCODINGS, ids=named)
def test_sql(question: Question) -> None:
    def ask(question: Question) -> int:
        try:
            return encoding_named(question.name, {}).count(TEXT)
        except ValueError as error:
            raise Refused(str(error)) from None

    check(question, ask, COLUMNS, files=False)


@pytest.mark.parametrize("question", [one for one in EXACT if one.name], ids=named)
def test_configurations(question: Question) -> None:
    def ask(question: Question) -> int:
        name = json.dumps(question.name)
        text = f"[check]\n{question.field} = {name}\n[[check.rules]]\nfiles = ['*']\nmax = 1\n"
        try:
            configuration = configuration_of(Source(".compat-bpe.toml", text))
        except ConfigurationError as error:
            raise Refused(str(error)) from None
        answer = configuration.rules[0].counted_by
        assert answer is not None
        return get_encoding(answer.encoding_name).count(TEXT)

    check(question, ask, CONFIGURATION, files=False)


@pytest.mark.parametrize("question", [one for one in QUESTIONS if one.encoding is None], ids=named)
def test_conversations(question: Question) -> None:
    def ask(question: Question) -> int:
        given = {question.field: question.name}
        try:
            return count_messages([{"role": "user", "content": TEXT}], **given)  # type: ignore[arg-type]
        except (KeyError, ValueError) as error:
            raise Refused(error.args[0]) from None

    terms = CONVERSATION if question.field == "model" else LIBRARY
    check(question, ask, terms, files=question.field == "encoding")


@pytest.mark.parametrize("question", [one for one in EXACT if one.field == "model"], ids=named)
def test_page(question: Question) -> None:
    from web.counting_page import conversation as page

    def ask(question: Question) -> int:
        try:
            return get_encoding(page.encoding_of(question.name)).count(TEXT)
        except ValueError as error:
            raise Refused(str(error)) from None

    check(question, ask, page.TERMS, files=False)


def test_no_other_module_decides_what_a_name_means() -> None:
    deciders = {
        "resolve_model",
        "in_hugging_face",
        "STORES",
        "factor_of",
    }
    callers: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
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
        "STORES": {
            "encodings/load.py",
            "encodings/resolve.py",
            "lsp/encodings.py",
        },
        "factor_of": {"encodings/resolve.py"},
    }
