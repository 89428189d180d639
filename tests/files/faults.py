"""Calls to the system that go wrong, one of them at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Callable

import pytest

#: The calls that writing makes.
CALLS = ("replace", "link", "fsync", "open", "remove", "chmod", "rename", "mkdir")


@contextmanager
def failing(number: int, error: BaseException) -> Iterator[list[str]]:
    """Let the call of a number raise an error; yields the names of the calls so far."""
    called: list[str] = []

    def wrapped(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            called.append(name)
            if len(called) == number:
                raise error
            return real(*args, **options)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in CALLS:
            # Waiting for the disk shows nothing.
            real = (lambda _: None) if name == "fsync" else getattr(os, name)
            patch.setattr(os, name, wrapped(name, real))
        yield called
