"""A byte-pair encoder in pure Python that gives exactly tiktoken's tokens."""

from compat_bpe.encoding import Encoding as Encoding
from compat_bpe.install import install_as_tiktoken as install_as_tiktoken
from compat_bpe.install import uninstall_as_tiktoken as uninstall_as_tiktoken
from compat_bpe.load import load as load
from compat_bpe.load import load_gpt2 as load_gpt2
from compat_bpe.load import load_tiktoken as load_tiktoken
from compat_bpe.models import encoding_name_for_model as encoding_name_for_model
from compat_bpe.registry import encoding_for_model as encoding_for_model
from compat_bpe.registry import get_encoding as get_encoding
from compat_bpe.registry import list_encoding_names as list_encoding_names
from compat_bpe.registry import unload as unload

__version__ = "0.1.0"

if not hasattr(__spec__.loader, "exec_module"):
    # In a zip, Python 3.9 lets a thread see a module that another one is still importing.  So what
    # several may be the first to need is imported now.
    from compat_bpe import batch as _batch  # noqa: F401
    from compat_bpe.engine import decoder as _decoder  # noqa: F401
    from compat_bpe.engine import pattern as _pattern  # noqa: F401
    from compat_bpe.engine import reach as _reach  # noqa: F401
    from compat_bpe.engine import stand_ins as _stand_ins  # noqa: F401
    from compat_bpe.engine import unspaced as _unspaced  # noqa: F401
    from compat_bpe.engine import unstable as _unstable  # noqa: F401
