"""A real VS Code in a browser: code-server's build of it, from npm, kept between runs.

``python -m tests.vscode.program`` installs it. What it starts listens on 127.0.0.1 only,
and all that it writes is in a new folder.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from tests.clients.environments import ROOT, RUNNING, run_well

VERSION = "4.100.3"
PLUGIN = ROOT / "editors/vscode"
_NATIVE = ["@vscode/spdlog", "native-watchdog", "@parcel/watcher"]
_STARTED = re.compile(r"listening on (\d+)")
_NPM = ["--no-audit", "--no-fund", "--loglevel=error"]


def install() -> Path:
    """Return the folder of VS Code's server; install it if it is not there.

    It is kept in the folder that COMPAT_BPE_VSCODE names, or in ``~/.cache``.
    """
    kept = os.environ.get("COMPAT_BPE_VSCODE") or os.path.expanduser("~/.cache/compat-bpe-tests")
    folder = Path(kept) / f"code-server-{VERSION}"
    if not (folder / "done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "package.json").write_text('{"private": true}')
        # Without its scripts: those build parts that only passwords and logins need.
        _npm(folder, "install", f"code-server@{VERSION}", "--ignore-scripts")
        inner = folder / "node_modules/code-server/lib/vscode"
        _npm(inner, "install", "--omit=dev", "--ignore-scripts")
        _npm(inner, "rebuild", *_NATIVE)
        (folder / "done").touch()
    return folder / "node_modules/code-server/lib/vscode"


def _npm(folder: Path, *arguments: str) -> None:
    npm = shutil.which("npm")
    assert npm, "npm is missing: apt-get install npm"
    run_well([npm, *arguments, *_NPM], folder)


def package(folder: Path) -> Path:
    """Return the extension as it is published, built in a copy of the checkout's."""
    copy = folder / "editors/vscode"
    leave = shutil.ignore_patterns("node_modules", "out", "packages", "*.vsix", "__pycache__")
    shutil.copytree(PLUGIN, copy, ignore=leave)
    # The package and what its wheel is made of.
    for name in ("compat_bpe", "pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        (folder / name).symlink_to(ROOT / name)
    _npm(copy, "ci")
    _npm(copy, "run", "package")
    return copy / "compat-bpe.vsix"


class Program:
    """VS Code's server with the extension, for use in a ``with`` statement.

    Args:
        folder: where everything that it writes goes.
        extension: the ``.vsix``.
        settings: the user's.
        path: where programs are looked for, such as Python; the tests' own by default.
    """

    def __init__(
        self, folder: Path, extension: Path, settings: Mapping[str, object], path: str | None = None
    ) -> None:
        node = shutil.which("node") or "nodejs"
        main = [node, str(install() / "out/server-main.js"), f"--server-data-dir={folder}"]
        environment = {**os.environ, "HOME": str(folder), "PATH": path or os.environ["PATH"]}
        environment.pop("PYTHONPATH", None)  # the extension brings its own package
        added = run_well([*main, f"--install-extension={extension}"], ROOT, environment, RUNNING)
        assert "successfully installed" in added
        self.settings = folder / "data/User/settings.json"
        self.settings.parent.mkdir(parents=True, exist_ok=True)
        self.settings.write_text(json.dumps({**_QUIET, **settings}))
        self.folder = folder
        with (folder / "log.txt").open("w") as log:
            self._process = subprocess.Popen(
                [
                    *main,
                    "--host=127.0.0.1",
                    "--port=0",
                    "--without-connection-token",
                    "--force-disable-user-env",
                ],
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            self.port = self._port()
        except BaseException:
            self.stop()
            raise

    def _port(self) -> int:
        end = time.monotonic() + 120
        while time.monotonic() < end:
            if found := _STARTED.search((self.folder / "log.txt").read_text()):
                return int(found[1])
            time.sleep(0.1)
        raise AssertionError((self.folder / "log.txt").read_text())

    def address(self, folder: Path) -> str:
        """Return where a folder is opened."""
        return f"http://127.0.0.1:{self.port}/?folder={folder}"

    def stop(self) -> None:
        """End the server and all that it has started."""
        os.killpg(self._process.pid, signal.SIGTERM)
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(timeout=10)

    def __enter__(self) -> Program:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


#: No page of welcome, no dialogs, no look-ups.
_QUIET: dict[str, object] = {
    "workbench.startupEditor": "none",
    "workbench.enableExperiments": False,
    "security.workspace.trust.enabled": False,
    "security.workspace.trust.startupPrompt": "never",
    "security.workspace.trust.banner": "never",
    "telemetry.telemetryLevel": "off",
    "git.enabled": False,
    "update.mode": "none",
    "extensions.autoCheckUpdates": False,
    "chat.commandCenter.enabled": False,
}

if __name__ == "__main__":
    sys.stdout.write(f"{install()}\n")
