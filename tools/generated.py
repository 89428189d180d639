"""The command line of scripts that write generated files: write them, or check them."""

from __future__ import annotations

import argparse
import operator
import sys
from collections.abc import Callable, Mapping
from pathlib import Path


def write_or_check(
    description: str | None,
    generate: Callable[[], Mapping[Path, str | bytes]],
    is_current: Callable[[bytes, bytes], bool] = operator.eq,
) -> int:
    """Write all files, or with ``--check`` only compare them; return the exit status.

    Args:
        description: the docstring of the script.
        generate: returns the content of each file.
        is_current: compares the bytes of a file with what would be written.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if a file differs")
    check = parser.parse_args().check
    status = 0
    for path, content in generate().items():
        data = content.encode() if isinstance(content, str) else content
        if check:
            is_right = path.exists() and is_current(path.read_bytes(), data)
            print(f"{path}: {'ok' if is_right else 'differs'}", file=sys.stderr)
            status |= not is_right
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            print(f"{path}: {len(data):,} bytes", file=sys.stderr)
    return status
