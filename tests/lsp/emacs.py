"""Sessions of a real Emacs without a screen, with the package as it is installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "editors/emacs/compat-bpe.el"


def emacs(*arguments: str | Path, folder: Path, **environment: str) -> str:
    """Run Emacs; return what it said."""
    program = shutil.which("emacs")
    assert program, "Emacs is missing: apt-get install emacs-nox elpa-eglot elpa-lsp-mode"
    done = subprocess.run(
        [program, "--batch", *map(str, arguments)],
        cwd=folder,
        env={
            **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder),
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def session(name: str, folder: Path, text: str = "", **environment: str) -> dict[str, Any]:
    """Run a function of ``emacs_session.el``; return what it has written."""
    file, output = folder / "file.txt", folder / "output.json"
    file.write_bytes(text.encode())
    said = emacs(
        *("--eval", "(package-initialize)", "-L", PACKAGE.parent),
        *("-l", Path(__file__).with_name("emacs_session.el"), "--eval", f'(test-run "{name}")'),
        folder=folder,
        **{"TEST_FILE": str(file), "TEST_OUTPUT": str(output), **environment},
    )
    written: dict[str, Any] = json.loads(output.read_text())
    assert "failed" not in written, (written["failed"], said)
    return {"said": said, **written}
