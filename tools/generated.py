"""The command line of scripts that write generated files: write them, or check them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path


def write_or_check(description: str | None, generate: Callable[[], Mapping[Path, str]]) -> int:
    """Write all files, or with ``--check`` only compare them; return the exit status.

    Args:
        description: the docstring of the script.
        generate: returns the text of each file.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if a file differs")
    check = parser.parse_args().check
    status = 0
    for path, text in generate().items():
        data = text.encode()
        if check:
            is_current = path.exists() and path.read_bytes() == data
            print(f"{path}: {'ok' if is_current else 'differs'}", file=sys.stderr)
            status |= not is_current
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            print(f"{path}: {len(data):,} bytes", file=sys.stderr)
    return status
