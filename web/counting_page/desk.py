"""``Desk``: every question of the page, as JSON, and its answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable

from .edited import EditedText
from .file_counts import count_file
from .loading import Encodings
from .token_facts import facts_of


class Desk:
    """Answers the questions of one page.

    A question is a JSON object with the name of what is asked, ``ask``, and its arguments. The
    answer is ``{"value": …}``, or ``{"error": …}`` with a message for the visitor.
    """

    def __init__(self) -> None:
        self._encodings = Encodings()
        self._text = EditedText()
        self._chosen: list[str] = []
        self._questions: dict[str, Callable[..., Any]] = {
            "choose": self._choose,
            "edit": self._edit,
            "blocks": self._text.blocks,
            "ids": self._text.ids,
            "cut": self._text.cut,
            "facts": self._facts,
            "size": self._size,
            "decode": self._decode,
            "sides": self._sides,
            "part": self._part,
            "steps": self._steps,
            "model": self._model,
            "conversation": self._conversation,
        }

    def answer(self, question: str) -> str:
        """Return the answer to a question.

        >>> desk = Desk()
        >>> desk.answer('{"ask": "choose", "keys": ["gpt2"], "special": false}')
        '{"value": {"counts": [0], "characters": 0, "bytes": 0, "lines": 0}}'
        """
        asked = json.loads(question)
        return _answer(lambda: self._questions[asked.pop("ask")](**asked))

    def count_file(self, data: bytes) -> str:
        """Return the counts of a file by the chosen encodings, as JSON."""
        return json.dumps(count_file([self._encodings.get(key) for key in self._chosen], data))

    def load(self, folder: str, pattern: str | None) -> str:
        """Load an encoding from the files in a folder; return the answer with its key."""
        return _answer(lambda: self._encodings.load(Path(folder), pattern or None))

    def _choose(self, keys: list[str], special: bool) -> dict[str, Any]:
        self._text.choose([self._encodings.get(key) for key in keys], special=special)
        self._chosen = keys
        return self._figures()

    def _edit(self, start: int, end: int, text: str) -> dict[str, Any]:
        self._text.replace(start, end, text)
        return self._figures()

    def _figures(self) -> dict[str, Any]:
        return {"counts": self._text.counts(), **self._text.sizes()}

    def _facts(self, key: str, ids: list[int]) -> list[dict[str, Any]]:
        encoding = self._encodings.get(key)
        return [facts_of(encoding, one) for one in ids]

    def _size(self, key: str) -> int:
        return self._encodings.get(key).n_vocab

    def _part(self, start: int, end: int) -> list[int]:
        return self._text.count_part(start, end)

    def _steps(self, key: str, text: str, special: bool) -> list[dict[str, Any]]:
        from .word_steps import steps_of

        return steps_of(self._encodings.get(key), text, special=special)

    def _model(self, model: str) -> str:
        from .conversation import encoding_of

        return encoding_of(model)

    def _conversation(self, model: str, **request: Any) -> dict[str, Any]:
        from .conversation import count_conversation, encoding_of

        return count_conversation(self._encodings.get(encoding_of(model)), model, **request)

    def _decode(self, key: str, ids: list[int]) -> dict[str, Any]:
        from .sides import decoded

        return decoded(self._encodings.get(key), ids)

    def _sides(self, key: str, texts: list[str]) -> list[dict[str, Any]]:
        from .sides import sides_of_texts

        return sides_of_texts(self._encodings.get(key), texts)


def _answer(call: Callable[[], Any]) -> str:
    try:
        return json.dumps({"value": call()})
    except (ValueError, OSError, ImportError) as error:
        return json.dumps({"error": str(error)})
