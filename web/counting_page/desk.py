"""``Desk``: every question of the page, as JSON, and its answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable

from compat_bpe.files.text import check_beginning, not_utf8

from .text import EditedText, decoded, sides_of_texts
from .tokenizers import Tokenizer, Tokenizers, find


class Desk:
    """Answers the questions of one page.

    A question is a JSON object with the name of what is asked, ``ask``, and its arguments. The
    answer is ``{"value": …}``, or ``{"error": …}`` with a message for the visitor.
    """

    def __init__(self) -> None:
        self._tokenizers = Tokenizers()
        self._text = EditedText()
        self._chosen: list[Tokenizer] = []
        self._questions: dict[str, Callable[..., Any]] = {
            "find": find,
            "choose": self._choose,
            "edit": self._edit,
            "blocks": self._blocks,
            "ids": self._ids,
            "cut": self._cut,
            "split": self._split,
            "part": self._part,
            "everywhere": self._everywhere,
            "facts": self._facts,
            "size": lambda key: self._tokenizers.get(key).encoding.n_vocab,
            "decode": lambda key, ids: decoded(self._tokenizers.get(key).vocabulary, ids),
            "sides": self._sides,
            "steps": self._steps,
            "request": self._request,
            "conversation": self._conversation,
        }

    def answer(self, question: str) -> str:
        """Return the answer to a question.

        >>> desk = Desk()
        >>> print(desk.answer('{"ask": "choose", "keys": ["gpt2"], "special": false}'))
        {"value": {"counts": [0], "notes": [""], "characters": 0, "bytes": 0, "lines": 0}}
        """
        asked = json.loads(question)
        return _answer(lambda: self._questions[asked.pop("ask")](**asked))

    def count_file(self, data: bytes) -> str:
        """Return the counts of a file by the chosen tokenizers, as JSON."""
        return json.dumps(count_file(self._chosen, data))

    def load(self, folder: str, pattern: str | None) -> str:
        """Load an encoding from the files in a folder; return the answer with its key."""
        return _answer(lambda: self._tokenizers.load(Path(folder), pattern or None))

    def _choose(self, keys: list[str], special: bool) -> dict[str, Any]:
        chosen = list(map(self._tokenizers.get, keys))
        self._text.choose([one.encoding for one in chosen], special=special)
        self._chosen = chosen
        return self._figures()

    def _edit(self, start: int, end: int, text: str) -> dict[str, Any]:
        self._text.replace(start, end, text)
        return self._figures()

    def _figures(self) -> dict[str, Any]:
        notes = [one.answer.note for one in self._chosen]
        return {"counts": self._tokens(self._text.counts()), "notes": notes, **self._text.sizes()}

    def _tokens(self, numbers: list[int]) -> list[int]:
        return [one.answer.tokens(number) for one, number in zip(self._chosen, numbers)]

    def _blocks(self, ranges: list[tuple[int, int]]) -> list[list[dict[str, Any]]]:
        return [list(map(_side, self._chosen, sides)) for sides in self._text.blocks(ranges)]

    def _ids(self, column: int) -> list[int]:
        assert self._chosen[column].vocabulary
        return self._text.ids(column)

    def _cut(self, column: int, limit: int) -> int | None:
        return self._text.cut(column, self._chosen[column].answer.limit(limit))

    def _split(self, limit: int) -> list[tuple[int, int]]:
        return self._text.split(0, self._chosen[0].answer.limit(limit))

    def _part(self, start: int, end: int) -> list[int]:
        return self._tokens(self._text.count_part(start, end))

    def _everywhere(self, keys: list[str]) -> list[int]:
        return [self._tokenizers.get(key).encoding.count(self._text.text) for key in keys]

    def _facts(self, key: str, ids: list[int]) -> list[dict[str, Any]]:
        from .explained import facts_of  # imported here: the first count does without

        encoding = self._tokenizers.get(key).vocabulary
        return [facts_of(encoding, one) for one in ids]

    def _steps(self, key: str, text: str, special: bool) -> list[dict[str, Any]]:
        from .explained import steps_of  # imported here, as above

        return steps_of(self._tokenizers.get(key).vocabulary, text, special=special)

    def _sides(self, key: str, texts: list[str]) -> list[dict[str, Any]]:
        tokenizer = self._tokenizers.get(key)
        return [
            {
                "text": one["text"],
                "side": _side(tokenizer, one["side"]),
                "count": tokenizer.answer.tokens(one["count"]),
            }
            for one in sides_of_texts(tokenizer.encoding, texts)
        ]

    def _request(self, text: str) -> dict[str, Any]:
        from .conversation import read_request  # imported here, as above

        return read_request(text)

    def _conversation(self, key: str, model: str | None, request: dict[str, Any]) -> dict[str, Any]:
        from .conversation import count_conversation  # imported here, as above

        return count_conversation(self._tokenizers.get(key), model, request)


def _answer(call: Callable[[], Any]) -> str:
    try:
        return json.dumps({"value": call()})
    except (ValueError, OSError, ImportError) as error:
        return json.dumps({"error": str(error)})


def _side(tokenizer: Tokenizer, side: dict[str, Any]) -> dict[str, Any]:
    """Return a side as it is drawn: without tokens for an estimate."""
    return {"first": 0, "cells": []} if tokenizer.is_estimate else side


def count_file(tokenizers: list[Tokenizer], data: bytes) -> dict[str, Any]:
    r"""Return the counts of a file as it is: UTF-8, and no line end translated.

    Returns:
        ``bytes``; and either ``counts``, one for each tokenizer, or ``error``, the reason for which
        it is not counted.

    >>> from compat_bpe import get_encoding
    >>> count_file([Tokenizer(get_encoding("gpt2"))], b"hello world\r\n")
    {'bytes': 13, 'counts': [4]}
    >>> count_file([], b"\0")["error"]
    'binary: NUL byte at offset 0'
    """
    try:
        check_beginning(data)
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise not_utf8(error) from None
        counts = [one.answer.tokens(one.encoding.count(text)) for one in tokenizers]
        return {"bytes": len(data), "counts": counts}
    except ValueError as error:
        return {"bytes": len(data), "error": str(error)}
