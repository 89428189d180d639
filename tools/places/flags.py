"""This Python with flags, and with little in its environment."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from .kit import Kit, Row

FLAGS = {
    "`python -S`": ["-S"],
    "`python -I`": ["-I"],
    "`python -OO`": ["-OO"],
}


def rows(kit: Kit) -> Iterator[Row]:
    """Yield a row for each flag, and one for an empty environment."""
    for place, flags in FLAGS.items():
        ran = kit.run([sys.executable, *flags])
        yield Row(place, ran.python.split(",")[0], f"{ran.answers:,} answers")
    ran = kit.run([sys.executable], environment={"LC_ALL": "C.UTF-8"})
    yield Row(
        "no `HOME`, an empty environment", ran.python.split(",")[0], f"{ran.answers:,} answers"
    )
