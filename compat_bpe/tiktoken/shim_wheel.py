"""A wheel called tiktoken that hands over to this package.

It serves programs whose metadata requires tiktoken:
``pip install ./tiktoken-….whl that-program``.

The wheel is written here, without a build tool, so it can be made wherever this package runs.
Format: https://packaging.python.org/en/latest/specifications/binary-distribution-format/
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import pkgutil
import zipfile

from .. import version as own
from ..files.write import write_files
from . import __path__ as _path
from . import __version__ as _tiktoken_version

# The last two imports serve readers and type checkers. They also serve a thread that imports
# tiktoken while another one does: CPython gives it this module, not the one in sys.modules
# afterwards.
_INIT = '''\
"""compat_bpe, standing in for tiktoken."""

import compat_bpe

# "import tiktoken" gives what stands in sys.modules once this file has run: not this module.
compat_bpe.install_as_tiktoken(force=True)

from compat_bpe.tiktoken import *  # noqa: E402, F403
from compat_bpe.tiktoken import __version__ as __version__  # noqa: E402
'''

_SUBMODULE = '''\
"""compat_bpe, standing in for tiktoken: for tools that look for files."""

from compat_bpe.tiktoken.{name} import *  # noqa: F403
'''

_OPENAI_PUBLIC = '''\
"""compat_bpe, standing in for tiktoken: the encodings that it ships."""

import tiktoken  # noqa: F401  # puts compat_bpe's module in place of this one

from compat_bpe.tiktoken.openai_public import *  # noqa: F403
'''

_METADATA = """\
Metadata-Version: 2.1
Name: tiktoken
Version: {version}
Summary: compat-bpe, standing in for tiktoken
License: MIT
Requires-Python: >=3.9
Requires-Dist: compat-bpe>={required}
Provides-Extra: blobfile
Requires-Dist: blobfile>=3; extra == "blobfile"

`import tiktoken` gives compat_bpe, a byte-pair encoder in pure Python with the tokens of tiktoken.
"""

_WHEEL = """\
Wheel-Version: 1.0
Generator: compat-bpe {version}
Root-Is-Purelib: true
Tag: py3-none-any
"""


def write_shim_wheel(folder: str | os.PathLike[str]) -> str:
    """Write a wheel called tiktoken that requires this package and hands over to it.

    Its version is tiktoken's with a local label (PEP 440), so that it satisfies the requirements of
    programs and can be told from tiktoken. The same version of this package always writes the same
    bytes. The folder is created if it is missing, and a file of the same name (``wheel_name``) is
    replaced whole.

    Returns:
        The path of the wheel.

    Raises:
        OSError: the wheel cannot be written. Then no part of it is left.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_shim_wheel(folder)
    >>> os.path.basename(path).startswith("tiktoken-0.14.0+compat.")
    True
    """
    folder = os.fspath(folder)
    name, content = _make_wheel()
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    write_files([(path, content)])
    return path


def wheel_name() -> str:
    """Return the file name of the wheel.

    >>> wheel_name().startswith("tiktoken-0.14.0+compat.")
    True
    """
    return f"tiktoken-{_version()}-py3-none-any.whl"


def is_shim_wheel(beginning: bytes) -> bool:
    """Return True if the beginning of a file is that of a wheel of ``write_shim_wheel``."""
    return beginning.startswith(b"PK") and _INIT.partition("\n")[0].encode() in beginning


def _version() -> str:
    public, _, local = own.__version__.partition("+")
    label = f"{public}.{local}" if local else public  # a version has only one "+"
    return f"{_tiktoken_version}+compat.{label}"


def _make_wheel() -> tuple[str, bytes]:
    """Return the wheel's file name and content."""
    public = own.__version__.partition("+")[0]
    version = _version()
    info = f"tiktoken-{version}.dist-info"

    files = {"tiktoken/__init__.py": _INIT, "tiktoken/py.typed": ""}
    for module in pkgutil.iter_modules(_path):
        if module.name != "openai_public":
            files[f"tiktoken/{module.name}.py"] = _SUBMODULE.format(name=module.name)
    # Without an __init__.py: tiktoken_ext is a namespace package, which plug-ins extend.
    files["tiktoken_ext/openai_public.py"] = _OPENAI_PUBLIC
    files[f"{info}/METADATA"] = _METADATA.format(version=version, required=public)
    files[f"{info}/WHEEL"] = _WHEEL.format(version=own.__version__)
    record = "".join(f"{name},{_hash_and_size(text)}\n" for name, text in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n"

    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:  # stored: zlibs differ in their bytes
        for name, text in files.items():
            entry = zipfile.ZipInfo(name)  # of 1980, when zip's time begins
            entry.create_system = 3  # Unix, wherever it is written
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, text.encode())
    return wheel_name(), content.getvalue()


def _hash_and_size(text: str) -> str:
    """Return the hash and the size of a file, as RECORD has them.

    >>> _hash_and_size("")
    'sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0'
    """
    data = text.encode()
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"sha256={digest},{len(data)}"
