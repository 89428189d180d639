"""Tokenizers in pure Python, with exactly the ids of tiktoken, tokenizers and sentencepiece."""

try:
    from .encodings.encoding import Encoding as Encoding
    from .encodings.load import load as load
    from .encodings.load import load_gpt2 as load_gpt2
    from .encodings.load import load_tiktoken as load_tiktoken
    from .encodings.registry import encoding_for_model as encoding_for_model
    from .encodings.registry import encoding_name_for_model as encoding_name_for_model
    from .encodings.registry import get_encoding as get_encoding
    from .encodings.registry import list_encoding_names as list_encoding_names
    from .encodings.registry import unload as unload
    from .install import install_as_tiktoken as install_as_tiktoken
    from .install import uninstall_as_tiktoken as uninstall_as_tiktoken
    from .version import __version__ as __version__
except KeyboardInterrupt:
    import os
    import sys

    words = getattr(sys, "orig_argv", sys.argv)  # Python 3.9 does not record -m
    name = os.path.basename(sys.argv[0] if sys.argv else "")
    if name in ("compat-bpe", "compat-bpe.exe") or {"-m", __name__} <= {*words}:
        # The command was interrupted while it started: exit without a traceback.
        raise SystemExit(130) from None
    raise

if not hasattr(__spec__.loader, "exec_module"):
    from . import in_a_zip as _in_a_zip  # noqa: F401
