"""This package on the executors, where it need not be installed."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import zipfile
from pathlib import Path

from ..files.write import written_whole
from ..version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The time that the zip has for all files, so that the same files make the same zip.
_TIME = (1980, 1, 1, 0, 0, 0)

#: The package, which may itself be in a zip.
_PACKAGE = Path(__file__).parent.parent


def ship(spark: SparkSession) -> str:
    """Put this package on the executors, for the jobs that follow.

    The executors need Python of the driver's version, and PyArrow. They take this package before
    one that is installed there.

    Args:
        spark: the session.

    Returns:
        The path of the zip, which is removed when the driver ends.
    """
    folder = tempfile.mkdtemp(prefix="compat_bpe-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = os.path.join(folder, f"compat_bpe-{__version__}.zip")
    write_zip(path)
    spark.addArtifacts(path, pyfile=True)
    return path


def write_zip(path: str | os.PathLike[str]) -> None:
    """Write this package as a zip, for ``spark-submit --py-files`` for instance; whole or not.

    Raises:
        OSError: it cannot be written.
        ValueError: the package is neither in a folder nor in a zip.
    """
    with (
        written_whole(os.fspath(path)) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made,
    ):
        for name, data in sorted(_files().items()):
            info = zipfile.ZipInfo(f"{_PACKAGE.name}/{name}", _TIME)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            made.writestr(info, data)


def _files() -> dict[str, bytes]:
    """Return the files of the package, by their paths in it."""
    if _PACKAGE.is_dir():
        return {
            path.relative_to(_PACKAGE).as_posix(): path.read_bytes()
            for path in _PACKAGE.rglob("*")
            if path.is_file() and path.suffix != ".pyc"
        }
    archive = _PACKAGE.parent
    if not zipfile.is_zipfile(archive):
        raise ValueError(f"{_PACKAGE} is neither in a folder nor in a zip")
    start = f"{_PACKAGE.name}/"
    with zipfile.ZipFile(archive) as own:
        return {
            name[len(start) :]: own.read(name)
            for name in own.namelist()
            if name.startswith(start) and not name.endswith(("/", ".pyc"))
        }
