"""The process that tries the cases of one attack, and the one that watches it."""

from __future__ import annotations

import multiprocessing
import os
import time
import traceback
from importlib import import_module
from multiprocessing.connection import Connection
from random import Random
from types import ModuleType

try:
    import resource
except ImportError:  # Windows: the memory is not limited there
    resource = None  # type: ignore[assignment]

#: The seconds and the bytes of memory that a case may take where the attack does not say.
SECONDS = 20
MEMORY = 2 << 30

#: The seconds that a process may take to start.
_START = 60


def module_of(name: str) -> ModuleType:
    """Return the module of an attack: one of this folder, or one with a dotted name."""
    return import_module(name if "." in name else f"{__package__}.{name}")


def try_case(name: str, seed: int, number: int) -> None:
    """Try one case of an attack in this process."""
    module_of(name).attack(Random(f"{seed} {name} {number}"))


def attack(name: str, seed: int, seconds: float) -> tuple[int, str | None]:
    """Try cases for some seconds; return how many were right, and what is wrong with the next."""
    limit = getattr(module_of(name), "SECONDS", SECONDS)
    here, there = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(
        target=_try_cases, args=(name, seed, seconds, there)
    )
    process.start()
    there.close()
    right, wait = 0, float(_START)
    try:
        while here.poll(wait):
            told = here.recv()
            if not isinstance(told, int):
                return right, told
            right, wait = told, limit
        return right, f"it takes more than {wait:g} seconds"
    except EOFError:
        return right, "the process died"
    finally:
        process.kill()
        process.join()


def _try_cases(name: str, seed: int, seconds: float, told: Connection) -> None:
    """Tell the number of each case before it is tried; at the end None, or what is wrong."""
    memory = getattr(module_of(name), "MEMORY", MEMORY)
    if resource is not None and memory is not None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    # What is wrong is told; the references write pages of panics.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    ends = time.monotonic() + seconds
    number = 0
    while True:
        told.send(number)
        if time.monotonic() > ends:
            break
        try:
            try_case(name, seed, number)
        except BaseException:
            told.send(traceback.format_exc())
            return
        number += 1
    told.send(None)
