"""Standing in for ``tiktoken``: ``import tiktoken`` gives this package."""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

from .encodings.encoding import Encoding

_SUBMODULES = ("_educational", "_tiktoken", "core", "load", "model", "registry")
_EXTENSION = "tiktoken_ext"

#: What stood in ``sys.modules`` before, for ``uninstall_as_tiktoken``; None: not installed.
_before: dict[str, ModuleType | None] | None = None


def install_as_tiktoken(*, force: bool = False) -> None:
    """Make ``import tiktoken`` and its submodules give this package, from now on in this process.

    To be called before anything imports tiktoken.  It also puts ``tiktoken_ext.openai_public``
    in place, and finds other plug-ins in the namespace package ``tiktoken_ext``.  Calling it
    again does nothing.

    Args:
        force: also if the real tiktoken has been imported; who has names from it keeps them.

    Raises:
        RuntimeError: the real tiktoken has been imported, and ``force`` is not set.

    >>> install_as_tiktoken(force=True)
    >>> import tiktoken
    >>> type(tiktoken.get_encoding("gpt2"))
    <class 'tiktoken.core.Encoding'>
    >>> uninstall_as_tiktoken()
    """
    global _before
    if _before is not None:
        return
    if "tiktoken._tiktoken" in sys.modules and not force:
        raise RuntimeError(
            "tiktoken has been imported already; call install_as_tiktoken before that, or with "
            "force=True"
        )
    modules = {"tiktoken": importlib.import_module("compat_bpe.tiktoken")}
    for name in _SUBMODULES:
        modules[f"tiktoken.{name}"] = importlib.import_module(f"compat_bpe.tiktoken.{name}")
    public = importlib.import_module("compat_bpe.tiktoken.openai_public")
    modules[f"{_EXTENSION}.openai_public"] = public
    modules[_EXTENSION] = extension = _extension_package()
    _before = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    extension.openai_public = public  # type: ignore[attr-defined]
    # Pickles name it, and programs look for "tiktoken" in the name of its type.
    Encoding.__module__ = "tiktoken.core"


def uninstall_as_tiktoken() -> None:
    """Undo ``install_as_tiktoken``; who has imported names meanwhile keeps them."""
    global _before
    if _before is None:
        return
    for name, module in _before.items():
        if module is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = module
    Encoding.__module__ = "compat_bpe.encodings.encoding"
    _before = None


def _extension_package() -> ModuleType:
    """The namespace package of plug-ins; an empty one if there are none."""
    try:
        return importlib.import_module(_EXTENSION)
    except ImportError:
        package = ModuleType(_EXTENSION)
        package.__path__ = []
        package.__spec__ = ModuleSpec(_EXTENSION, None, is_package=True)
        return package
