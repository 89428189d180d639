"""A plug-in copies the core under a name of its own, and all of it works there."""

from __future__ import annotations

import shutil
from pathlib import Path

import compat_bpe
from tests.alone import run_alone
from tests.portable.run import TESTS

PACKAGE = Path(compat_bpe.__file__).parent
#: The packages that encoding, fitting and the drop-in do not need, and modules that export
#: their names.
ABOVE = {"cli", "pyinstaller", "spark", "lsp", "mcp", "train", "report", "check", "corpus"}
ABOVE |= {"columns", "chat", "__main__.py", "pandas.py", "polars.py", "sql.py"}
#: The portable tests of these packages.
OF_ABOVE = ("command.", "training.", "files.trained", "fitting.prompts", "workers.processes")


def test_the_core_by_itself_under_another_name(tmp_path: Path) -> None:
    """In a Python with the plug-in and no compat_bpe; whole copies are tried in the places."""
    assert all((PACKAGE / name).exists() for name in ABOVE)
    vendor = tmp_path / "plugin" / "_vendor"
    # With what Python has compiled, which is the same under any name.
    shutil.copytree(PACKAGE, vendor / "tokens", ignore=shutil.ignore_patterns(*ABOVE))
    for folder in (tmp_path / "plugin", vendor):
        (folder / "__init__.py").touch()
    files = [path for path in (vendor / "tokens").rglob("*.*") if path.suffix != ".pyc"]
    size = sum(path.stat().st_size for path in files)
    assert size < 5_000_000  # as docs/guide-editors.md says
    names = [name for name in TESTS if not name.startswith(OF_ABOVE)]
    script = (
        f"sys.path.append({str(Path(__file__).parent)!r})\n"
        "from portable.run import main\n"
        f"status = main(['--package', 'plugin._vendor.tokens', '--every', '64', *{names!r}])\n"
        "assert not [name for name in sys.modules if name.startswith('compat_bpe')]\n"
        "sys.exit(status)\n"
    )
    assert " answers, 0 wrong" in run_alone(script, tmp_path, "-W", "error")
