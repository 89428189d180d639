"""Programs of Debian for any suite and processor, unpacked into a folder; nothing is installed.

apt fetches the packages and checks their signatures, with lists and a state of its own in the
folder. So no rights are needed, and the machine's own packages stay as they are.
"""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from .kit import PlaceError, output

_KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"

_SETTINGS = """
Dir::Etc::sourcelist "{folder}/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "{folder}/lists";
Dir::State::status "{folder}/status";
Dir::Cache "{folder}/cache";
APT::Architecture "{architecture}";
APT::Architectures {{ "{architecture}"; }};
APT::Install-Recommends "false";
APT::Sandbox::User "";
APT::Update::Post-Invoke-Success "";
Acquire::Languages "none";
Acquire::Retries "3";
Debug::NoLocking "true";
DPkg::Post-Invoke "";
"""

#: The triplet that Debian's libraries and loaders are named by.
TRIPLETS = {
    "amd64": "x86_64-linux-gnu",
    "arm64": "aarch64-linux-gnu",
    "armhf": "arm-linux-gnueabihf",
    "i386": "i386-linux-gnu",
    "riscv64": "riscv64-linux-gnu",
    "s390x": "s390x-linux-gnu",
}


#: The seconds to wait before lists of packages are fetched again: a mirror may be changing.
_PAUSES = (20,)


def unpacked(folder: Path, suite: str, architecture: str, packages: list[str]) -> Path:
    """Return a folder with packages and all that they depend on.

    Args:
        folder: a folder for it, which is kept.
        suite: the suite, such as ``"sid"``.
        architecture: the architecture, as Debian calls it.
        packages: the names of packages.

    Raises:
        PlaceError: there is no apt, or a package cannot be had.
    """
    root = folder / "root"
    if (folder / "complete").exists():
        return root
    root.mkdir(parents=True, exist_ok=True)
    environment = _apt(folder, suite, architecture)
    install = ["apt-get", "-qqy", "--download-only", "install", *packages]
    output(install, 600, env=environment)
    for package in sorted((folder / "cache/archives").glob("*.deb")):
        output(["dpkg-deb", "-x", package, root], 120)
    # A package that is not needed otherwise makes these links.
    for name in ("bin", "lib", "lib64"):
        if (root / "usr" / name).is_dir() and not (root / name).exists():
            (root / name).symlink_to(f"usr/{name}")
    (folder / "complete").touch()
    return root


def fetched_source(folder: Path, suite: str, package: str) -> Path:
    """Fetch the source of a package, and return the folder with its archives."""
    archives = folder / "archives"
    if not (folder / "complete").exists():
        archives.mkdir(parents=True, exist_ok=True)
        environment = _apt(folder, suite, "amd64", sources=True)
        fetch = ["apt-get", "-qq", "--download-only", "source", package]
        output(fetch, 600, cwd=archives, env=environment)
        (folder / "complete").touch()
    return archives


def _apt(folder: Path, suite: str, architecture: str, sources: bool = False) -> dict[str, str]:
    """Return an environment in which apt knows the packages of a suite, and keeps all in a folder.

    With ``sources``, it knows the sources, too.
    """
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    entry = f"[signed-by={_KEYS}] {_mirror()} {suite} main\n"
    kinds = ("deb", "deb-src") if sources else ("deb",)
    (folder / "sources.list").write_text("".join(f"{kind} {entry}" for kind in kinds))
    settings = folder / "apt.conf"
    settings.write_text(_SETTINGS.format(folder=folder, architecture=architecture))
    environment = {**os.environ, "APT_CONFIG": str(settings), "LC_ALL": "C.UTF-8"}
    for pause in _PAUSES:
        try:
            output(["apt-get", "-qq", "update"], 300, env=environment)
            break
        except PlaceError:
            time.sleep(pause)
    else:
        output(["apt-get", "-qq", "update"], 300, env=environment)
    return environment


def runnable(root: Path, architecture: str, program: str, emulator: Path | None = None) -> Path:
    """Return a program with the name of a Python that runs a program of a folder.

    It stands beside that program, which therefore finds its library, and starts itself once more
    by ``sys.executable``.

    Args:
        root: the folder.
        architecture: its architecture.
        program: the program within it.
        emulator: an emulator of the processor, unless it is this machine's.
    """
    target = root / program
    script = target.with_name(f"python-{target.name}")
    if emulator is not None:
        start = f'"{emulator}" -L "{root}" -0 "$0" "{target}"'
    else:
        folders = [root / place / TRIPLETS[architecture] for place in ("usr/lib", "lib")]
        loaders = sorted(path for folder in folders for path in folder.glob("ld-linux*.so.*"))
        if not loaders:
            raise PlaceError(f"{root} has no loader of programs")
        libraries = ":".join(map(str, folders))
        start = f'"{loaders[0]}" --argv0 "$0" --library-path "{libraries}" "{target}"'
    script.write_text(f'#!/bin/sh\nexec {start} "$@"\n')
    script.chmod(0o755)
    return script


def _mirror() -> str:
    """Return the address of Debian's packages that this machine uses."""
    try:
        found = subprocess.run(
            ["apt-get", "indextargets", "--format", "$(SUITE) $(REPO_URI)", "Origin: Debian"],
            capture_output=True,
            text=True,
            check=False,
        ).stdout
    except OSError as error:
        raise PlaceError(f"Debian's packages are fetched by apt-get: {error}") from None
    for line in found.splitlines():
        suite, _, address = line.partition(" ")
        if not suite.endswith(("-security", "-updates")):
            return address
    raise PlaceError("this machine has no source of Debian's packages")
