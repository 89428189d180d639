"""Programs of Debian for any suite and processor, unpacked or built; nothing is installed.

apt fetches the packages and checks their signatures, with lists and a state of its own in the
folder. So no rights are needed, and the machine's own packages stay as they are.
"""

from __future__ import annotations

import os
import subprocess
import tarfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from .kit import PlaceError, Word, need, output

#: The suite whose sources are built.
SUITE = "trixie"

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


def source(folder: Path, package: str) -> Path:
    """Return the unpacked source of a package, without Debian's own changes."""
    if not (folder / "complete").exists():
        archives = folder / "archives"
        archives.mkdir(parents=True, exist_ok=True)
        environment = _apt(folder, SUITE, "amd64", sources=True)
        fetch = ["apt-get", "-qq", "--download-only", "source", package]
        output(fetch, 600, cwd=archives, env=environment)
        found = sorted(archives.glob("*.orig.tar.*z"))
        if not found:
            raise PlaceError(f"the source of {package} has no archive")
        with tarfile.open(found[0]) as archive:
            archive.extractall(folder / "unpacked", filter="data")
        (folder / "complete").touch()
    return next(path for path in (folder / "unpacked").iterdir() if path.is_dir())


def built(
    folder: Path,
    name: str,
    flags: Sequence[Word] = (),
    environment: Mapping[str, str] | None = None,
) -> Path:
    """Return a Python that was built here, or build it, which takes some minutes.

    Args:
        folder: a folder for it, which is kept.
        name: the name of its program, such as ``"python3.13"``.
        flags: the flags of ``configure``.
        environment: variables for ``configure``, such as the compiler.
    """
    program = folder / "installed" / "bin" / name
    if program.exists():
        return program
    for tool in ("gcc", "make"):
        need(tool, "builds CPython")
    build = folder / "build"
    build.mkdir(exist_ok=True)
    env = {**os.environ, **(environment or {})}
    configure = source(folder / "source", "python3.13") / "configure"
    own = [f"--prefix={folder / 'installed'}", "--without-ensurepip", "--disable-test-modules"]
    output([configure, *own, *flags], 1800, cwd=build, env=env)
    output(["make", f"-j{os.cpu_count()}"], 7200, cwd=build, env=env)
    output(["make", "install"], 1800, cwd=build, env=env)
    if not program.exists():
        raise PlaceError(f"{program} was not built")
    return program


def built_for_musl(folder: Path) -> Path:
    """Return a Python on musl, the C library of Alpine Linux, with a zlib that is built for it."""
    libraries = folder / "zlib" / "installed"
    if not (libraries / "lib" / "libz.a").exists():
        code = source(folder / "zlib", "zlib")
        env = {**os.environ, "CC": "musl-gcc", "CFLAGS": "-fPIC -O2"}
        output(["./configure", "--static", f"--prefix={libraries}"], 300, cwd=code, env=env)
        output(["make", "install"], 600, cwd=code, env=env)
    compiler = folder / "musl-cc"
    triplet = "$(uname -m)-linux-musl"  # what configure asks for
    compiler.write_text(
        f'#!/bin/sh\n[ "$1" != --print-multiarch ] || exec echo {triplet}\nexec musl-gcc "$@"\n'
    )
    compiler.chmod(0o755)
    settings = {"ZLIB_CFLAGS": f"-I{libraries}/include", "ZLIB_LIBS": f"-L{libraries}/lib -lz"}
    # The machine's own libraries are for another C library.
    environment = {"CC": str(compiler), **settings, "PKG_CONFIG": "false"}
    return built(folder, "python3.13", environment=environment)


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
    update = ["apt-get", "-qq", "update"]
    try:
        output(update, 300, env=environment)
    except PlaceError:
        time.sleep(20)  # a mirror may be changing
        output(update, 300, env=environment)
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
