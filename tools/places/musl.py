"""CPython on musl, the C library of Alpine Linux, built with Debian's musl."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from .built import python, source
from .kit import Kit, Row, need, output


def zlib(folder: Path) -> Path:
    """Return the folder with zlib, built for musl, which reads the vocabularies."""
    installed = folder / "installed"
    if not (installed / "lib" / "libz.a").exists():
        code = source(folder, "zlib")
        env = {**os.environ, "CC": "musl-gcc", "CFLAGS": "-fPIC -O2"}
        output(["./configure", "--static", f"--prefix={installed}"], 300, cwd=code, env=env)
        output(["make", "install"], 600, cwd=code, env=env)
    return installed


def compiler(folder: Path) -> Path:
    """Return musl-gcc, which says here that it compiles for musl."""
    script = folder / "musl-cc"
    triplet = "$(uname -m)-linux-musl"
    script.write_text(
        f'#!/bin/sh\n[ "$1" != --print-multiarch ] || exec echo {triplet}\nexec musl-gcc "$@"\n'
    )
    script.chmod(0o755)
    return script


def rows(kit: Kit) -> Iterator[Row]:
    """Yield the row."""
    need("musl-gcc", "builds for musl: apt-get install musl-tools")
    libraries = zlib(kit.kept / "zlib")
    environment = {
        "CC": str(compiler(kit.kept)),
        "ZLIB_CFLAGS": f"-I{libraries}/include",
        "ZLIB_LIBS": f"-L{libraries}/lib -lz",
        # The machine's own libraries are for another C library.
        "PKG_CONFIG": "false",
    }
    built = python(kit.kept, "python3.13", environment=environment)
    ran = kit.run([built])
    had = f"{ran.python.split(',')[0]}, built with Debian's musl-gcc"
    yield Row("CPython on musl", had, f"{ran.answers:,} answers")
