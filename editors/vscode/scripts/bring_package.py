"""Put the Python package and the libraries of its command into ``server/packages``.

All are pure Python, for the oldest Python that the package runs on, with their licences.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PLUGIN = Path(__file__).parents[1]
ROOT = PLUGIN.parents[1]
TARGET = PLUGIN / "server/packages"
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
#: Wheels without compiled parts, that the oldest Python takes.
ANYWHERE = ["--python-version=3.9", "--implementation=py", "--abi=none", "--platform=any"]


def bring() -> None:
    """Install the package from this checkout, and what its command needs."""
    shutil.rmtree(TARGET, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        wheel = ["wheel", "--no-deps", f"--wheel-dir={folder}", str(ROOT)]
        subprocess.run([*PIP, *wheel], check=True, timeout=300)
        (made,) = Path(folder).glob("*.whl")
        install = ["install", f"--target={TARGET}", "--no-compile", "--only-binary=:all:"]
        subprocess.run([*PIP, *install, *ANYWHERE, str(made)], check=True, timeout=300)
    shutil.rmtree(TARGET / "bin", ignore_errors=True)  # of no use there
    compiled = [path for path in TARGET.rglob("*") if path.suffix in {".so", ".pyd", ".dylib"}]
    if compiled:
        sys.exit(f"not pure Python: {', '.join(map(str, compiled))}")


if __name__ == "__main__":
    bring()
