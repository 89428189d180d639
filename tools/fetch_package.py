"""Packages of PyPI and npm as they are, fetched by the registries' own clients; nothing is run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Collection
from pathlib import Path

SDIST = " (sdist)"

# pip asks a source for its metadata before it keeps it, and so would run its build. These modules
# stand in for those that build: they answer from the metadata that a source brings.
_BACKENDS = ("setuptools/build_meta.py", "scikit_build_core/build.py")
_BACKEND = '''\
"""A build backend that builds nothing."""
import pathlib
import sys
from email.parser import HeaderParser

def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    text = pathlib.Path("PKG-INFO").read_text(encoding="utf-8")
    info = HeaderParser().parsestr(text)
    name = info["Name"].replace("-", "_")
    folder = pathlib.Path(metadata_directory, f"{name}-{info['Version']}.dist-info")
    folder.mkdir()
    (folder / "METADATA").write_text(text, encoding="utf-8")
    return folder.name

def build_wheel(*args, **kwargs):
    raise NotImplementedError

__legacy__ = sys.modules[__name__]
'''


def fetch_package(package: str, folder: Path) -> Path:
    """Fetch a package into an empty folder, and return its archive.

    ``name==version`` is a wheel of PyPI, ``name==version (sdist)`` its source, ``name@version``
    (or ``@scope/name@version``) a package of npm.

    Raises:
        OSError: it cannot be fetched.
    """
    if "==" in package:
        command, environment = _pip(package, folder)
    else:
        command, environment = _npm(package), dict(os.environ)
    into = folder / "archive"
    into.mkdir()
    done = subprocess.run(command, cwd=into, env=environment, stdout=subprocess.PIPE, check=False)
    found = list(into.iterdir())
    if done.returncode or len(found) != 1:
        sys.stderr.buffer.write(done.stdout)
        raise OSError(f"{package} cannot be fetched: {command[0]} gave {done.returncode}")
    return found[0]


def read_members(archive: Path, members: Collection[str]) -> dict[str, bytes]:
    """Read files of a ``.whl``, ``.tar.gz`` or ``.tgz``; one that is not there is left out."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as zipped:
            return {name: zipped.read(name) for name in members if name in zipped.NameToInfo}
    read = {}
    with tarfile.open(archive, "r|gz") as tar:
        for entry in tar:
            if entry.name in members and (file := tar.extractfile(entry)) is not None:
                read[entry.name] = file.read()
                if len(read) == len(members):
                    break
    return read


def _pip(package: str, folder: Path) -> tuple[list[str], dict[str, str]]:
    # It is read, not installed: what Python it needs does not matter.
    options = ["download", "--quiet", "--no-deps", "--ignore-requires-python"]
    environment = dict(os.environ)
    name = package
    if package.endswith(SDIST):
        name = package[: -len(SDIST)]
        options += ["--no-binary", ":all:", "--use-pep517", "--no-build-isolation"]
        backends = folder / "backends"
        for module in _BACKENDS:
            (backends / module).parent.mkdir(parents=True)
            (backends / module).with_name("__init__.py").touch()
            (backends / module).write_text(_BACKEND, encoding="utf-8")
        environment["PYTHONPATH"] = str(backends)
    return [sys.executable, "-m", "pip", *options, name], environment


def _npm(package: str) -> list[str]:
    npm = shutil.which("npm")
    if npm is None:
        raise OSError(f"{package} is fetched by npm, and there is no npm: install Node.js")
    return [npm, "pack", "--silent", "--ignore-scripts", package]
