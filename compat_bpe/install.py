"""Installation of this package as ``tiktoken``, so that ``import tiktoken`` imports it."""

from __future__ import annotations

import sys
from types import ModuleType

from .encodings.encoding import Encoding

_EXTENSION = "tiktoken_ext"
_MODULE = Encoding.__module__

#: The replaced entries of ``sys.modules``, for ``uninstall_as_tiktoken``; None if not installed.
_before: dict[str, ModuleType | None] | None = None


def install_as_tiktoken(*, force: bool = False) -> None:
    """Make ``import tiktoken`` import this package, submodules included, in this process.

    Call this before anything imports tiktoken. It also installs ``tiktoken_ext.openai_public``.
    Other plug-ins in the namespace package ``tiktoken_ext`` are found. A second call does nothing.

    Args:
        force: True to install even if the real tiktoken has been imported. Modules that have
            imported names from it keep them.

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
    # Import statements let programs that collect imports, such as freezers, find these modules.
    from . import tiktoken
    from .tiktoken import _educational, _tiktoken, core, load, model, openai_public, registry

    parts = (_educational, _tiktoken, core, load, model, registry)
    modules = {f"tiktoken.{part.__name__.rpartition('.')[2]}": part for part in parts}
    modules["tiktoken"] = tiktoken
    modules[f"{_EXTENSION}.openai_public"] = openai_public
    modules[_EXTENSION] = extension = _extension_package()
    _before = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    extension.openai_public = openai_public  # type: ignore[attr-defined]
    # Pickles name this module, and programs look for "tiktoken" in the name of the type.
    Encoding.__module__ = "tiktoken.core"


def uninstall_as_tiktoken() -> None:
    """Undo ``install_as_tiktoken``. Modules that have imported names keep them."""
    global _before
    if _before is None:
        return
    for name, module in _before.items():
        if module is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = module
    Encoding.__module__ = _MODULE
    _before = None


def _extension_package() -> ModuleType:
    """Return the namespace package of plug-ins, or an empty one if there is none."""
    import importlib
    from importlib.machinery import ModuleSpec

    try:
        return importlib.import_module(_EXTENSION)
    except ImportError:
        package = ModuleType(_EXTENSION)
        package.__path__ = []
        package.__spec__ = ModuleSpec(_EXTENSION, None, is_package=True)
        return package
