"""Questions about a tokenizer with their answers, for every surface that is asked one.

A surface is a function from a question to the tokens of ``TEXT``; it raises ``Refused`` with the
message that its users read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from compat_bpe.encodings.resolve import Terms, UnresolvedError, resolve

TEXT = "The tokens of a text, counted by every surface: 世界は広い."


class Refused(Exception):
    """A surface that refuses a question, with its message."""


class Question(NamedTuple):
    """A question, and its answer.

    Args:
        field: what the name is given as.
        name: the name.
        encoding: the name of the encoding that counts; ``"characters"`` for an estimate; None if
            the question is refused.
        reason: the words that the refusal must have, on every surface.
    """

    field: str
    name: str
    encoding: str | None = None
    reason: str = ""

    @property
    def tokens(self) -> int | None:
        """The tokens of ``TEXT`` by the library's own encodings; None if it is refused."""
        from compat_bpe import get_encoding

        if self.encoding is None:
            return None
        if self.encoding == "characters":
            return -(-len(TEXT) * 2 // 7)  # 3.5 characters to a token
        return get_encoding(self.encoding).count(TEXT)

    def message(self, terms: Terms, *, files: bool = True) -> str:
        """What a surface says that refuses it, in its terms."""
        try:
            resolve(self.name, self.field, files=files)  # type: ignore[arg-type]
        except UnresolvedError as error:
            return error.message(terms)
        raise AssertionError(self)


QUESTIONS = (
    Question("encoding", "o200k_base", "o200k_base"),
    Question("encoding", "deepseek_v3", "deepseek_v3"),
    Question("encoding", "words", "words"),
    Question("encoding", "gpt-4o", None, "that is a model"),
    Question("encoding", "openai/gpt-4o", None, "that is a model"),
    Question("encoding", "claude-sonnet-4-5", None, "that is a model"),
    Question("encoding", "o200k", None, "(did you mean 'o200k_base'?)"),
    Question("encoding", "nothing-like-it", None, "the encodings are gpt2, "),
    Question(
        "encoding", "Qwen/Qwen3-8B", None, "uses the tokenizer of Qwen 3, which is not included"
    ),
    Question("encoding", "", None, "unknown encoding ''"),
    Question("encoding", "x" * 100_000, None, "unknown encoding 'xxx"),
    Question("encoding", "a\0b", None, "unknown encoding 'a\\x00b'"),
    Question("model", "gpt-4o", "o200k_base"),
    Question("model", "gpt-4o-2099-01-01", "o200k_base"),
    Question("model", "azure/eu/gpt-4o", "o200k_base"),
    Question("model", "deepseek-chat", "deepseek_v4"),
    Question("model", "claude-sonnet-4-5", "characters"),
    Question("model", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "characters"),
    Question("model", "cl100k_base", None, "that is an encoding"),
    Question("model", "hf:acme/Other", None, "that is a file or folder"),
    Question("model", "sonnet", None, "(did you mean 'claude-sonnet-4-5'?)"),
    Question("model", "qwen", None, "did you mean 'qwen"),
    Question("model", "llama3", None, "uses the tokenizer of Llama 3, which is not included"),
    Question("model", "qwen3:8b", None, "uses the tokenizer of Qwen 3, which is not included"),
    Question("model", "deepseek-v3-nonsense", None, "unknown model 'deepseek-v3-nonsense'"),
    Question("model", "gpt-nope", None, "unknown model 'gpt-nope'"),
    Question("model", "doubao-pro", None, "for which no public tokenizer is known"),
)

#: The questions of surfaces that make no estimates, and of those that take no models.
EXACT = [one for one in QUESTIONS if one.encoding != "characters"]
ENCODINGS = [one for one in QUESTIONS if one.field == "encoding"]


def check(question: Question, ask: Callable[[Question], int], message: str) -> None:
    """Compare the answer of a surface with that of the table.

    Args:
        question: the question.
        ask: the surface.
        message: what it says if it refuses the question.
    """
    if question.tokens is not None:
        assert ask(question) == question.tokens
        return
    with pytest.raises(Refused) as refused:
        ask(question)
    found = str(refused.value)
    assert question.reason in found
    assert message in found
    assert len(found) < 1_000
