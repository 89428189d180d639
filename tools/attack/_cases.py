"""The process that tries the cases of one attack."""

from __future__ import annotations

import time
import traceback
from importlib import import_module
from multiprocessing.connection import Connection
from random import Random

try:
    import resource
except ImportError:  # Windows: the memory is not limited there
    resource = None  # type: ignore[assignment]

#: The bytes of memory that a case may take where the attack does not say.
MEMORY = 2 << 30


def case(name: str, seed: int, number: int) -> None:
    """Try one case of an attack."""
    import_module(f".{name}", __package__).attack(Random(f"{seed} {name} {number}"))


def try_cases(name: str, seed: int, first: int, ends: float, told: Connection) -> None:
    """Try cases until the time is over; tell the number of each before it, or what is wrong."""
    module = import_module(f".{name}", __package__)
    memory = getattr(module, "MEMORY", MEMORY)
    if resource is not None and memory is not None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    number = first
    while time.monotonic() < ends:
        told.send(number)
        try:
            case(name, seed, number)
        except BaseException:
            told.send(traceback.format_exc())
            return
        number += 1
    told.send(None)
