"""``python -m compat_bpe``: the command ``compat-bpe`` where it is not on the path."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    try:
        import click  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        print(
            "compat-bpe: the command needs click; install it with: python -m pip install click",
            file=sys.stderr,
        )
        sys.exit(2)

    from .cli import program

    program()
