"""Pieces that arrive one after another, as from a network."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

T = TypeVar("T")


async def arriving(pieces: Iterable[T]) -> AsyncIterator[T]:
    for piece in pieces:
        await asyncio.sleep(0)
        yield piece


async def gathered(items: AsyncIterator[T]) -> list[T]:
    return [item async for item in items]
