"""Other processors, emulated by QEMU, with Debian's Python for them."""

from __future__ import annotations

import platform
from collections.abc import Iterator

from .debian import runnable, unpacked
from .kit import Kit, Row

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

SUITE = "trixie"


def rows(kit: Kit) -> Iterator[Row]:
    """Yield a row for each processor."""
    own = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
    qemu = unpacked(kit.kept / "qemu", SUITE, own, ["qemu-user"])
    kit.every = max(kit.every * 4, 10)
    for architecture, (program, place) in PROCESSORS.items():
        if kit.quick and architecture not in QUICK:
            continue
        root = unpacked(
            kit.kept / architecture, SUITE, architecture, ["python3-minimal", "libpython3-stdlib"]
        )
        target = root / "usr/bin/python3"
        emulator = qemu / "usr" / "bin" / f"qemu-{program}"
        python = runnable(
            root, architecture, str(target.resolve().relative_to(root.resolve())), emulator
        )
        ran = kit.run([python], *kit.sample, timeout=3600)
        had = f"Debian {SUITE}'s {ran.python.split(',')[0]}, emulated"
        yield Row(place, had, f"{ran.answers:,} answers")
