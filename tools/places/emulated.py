"""Other processors, emulated by QEMU, with Debian's Python for them."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from .debian import runnable, unpacked
from .kit import Kit, PlaceError, Row

#: The architectures of Debian, the names of QEMU's programs, and what is special.
PROCESSORS = {
    "s390x": ("s390x", "s390x, big endian"),
    "i386": ("i386", "i386, 32 bits"),
    "armhf": ("arm", "armhf, 32 bits"),
    "arm64": ("aarch64", "arm64"),
    "riscv64": ("riscv64", "riscv64"),
}

#: The quick ones: a processor of the other byte order, and one with other sizes.
QUICK = ("s390x", "i386")

#: The suites of Debian to take from, the first that can be had: a mirror may be changing.
SUITES = ("trixie", "bookworm", "sid")


def fetch(kit: Kit) -> tuple[Path, dict[str, tuple[Path, str]]]:
    """Return the folder of the emulators, and for each processor that of a Python and its suite.

    They are fetched if they are not there.
    """
    own = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
    packages = ["python3-minimal", "libpython3-stdlib"]
    wanted = QUICK if kit.quick else tuple(PROCESSORS)
    return _unpacked(kit, own, ["qemu-user"])[0], {
        architecture: _unpacked(kit, architecture, packages) for architecture in wanted
    }


def rows(kit: Kit) -> Iterator[Row]:
    """Yield a row for each processor."""
    qemu, pythons = fetch(kit)
    kit.every = max(kit.every * 4, 10)
    for architecture, (root, suite) in pythons.items():
        program, place = PROCESSORS[architecture]
        target = root / "usr/bin/python3"
        emulator = qemu / "usr" / "bin" / f"qemu-{program}"
        python = runnable(
            root, architecture, str(target.resolve().relative_to(root.resolve())), emulator
        )
        ran = kit.run([python], *kit.sample, timeout=3600)
        had = f"Debian {suite}'s {ran.python.split(',')[0]}, emulated"
        yield Row(place, had, f"{ran.answers:,} answers")


def _unpacked(kit: Kit, architecture: str, packages: list[str]) -> tuple[Path, str]:
    """Return a folder with packages for a processor, and the suite that they are of.

    Raises:
        PlaceError: no suite has them.
    """
    *first, last = SUITES
    for suite in first:
        with suppress(PlaceError):
            folder = kit.kept / f"{suite}-{architecture}"
            return unpacked(folder, suite, architecture, packages), suite
    return unpacked(kit.kept / f"{last}-{architecture}", last, architecture, packages), last
