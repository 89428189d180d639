"""Tokenizers in pure Python, with exactly the ids of tiktoken, tokenizers and sentencepiece."""

try:
    from .encodings.encoding import Encoding as Encoding
    from .encodings.load import load as load
    from .encodings.load_by_ranks import load_gpt2 as load_gpt2
    from .encodings.load_by_ranks import load_tiktoken as load_tiktoken
    from .encodings.model_names import encoding_name_for_model as encoding_name_for_model
    from .encodings.registry import encoding_for_model as encoding_for_model
    from .encodings.registry import get_encoding as get_encoding
    from .encodings.registry import list_encoding_names as list_encoding_names
    from .encodings.registry import unload as unload
    from .install import install_as_tiktoken as install_as_tiktoken
    from .install import uninstall_as_tiktoken as uninstall_as_tiktoken
    from .version import __version__ as __version__
except KeyboardInterrupt:
    import os
    import sys

    words = getattr(sys, "orig_argv", sys.argv)  # Python 3.9 does not tell of -m
    name = os.path.basename(sys.argv[0] if sys.argv else "")
    if name in ("compat-bpe", "compat-bpe.exe") or {"-m", __name__} <= {*words}:
        # The command is interrupted while it starts, which is no error to show.
        raise SystemExit(130) from None
    raise

if not hasattr(__spec__.loader, "exec_module"):
    # In a zip, Python 3.9 lets a thread see a module that another one is still importing.  So what
    # several may be the first to need is imported now.
    from .encodings import batch as _batch  # noqa: F401
    from .encodings import unstable as _unstable  # noqa: F401
    from .pattern import cuts as _cuts  # noqa: F401
    from .pattern import parser as _pattern  # noqa: F401
    from .pattern import prepared_large as _large  # noqa: F401
    from .pattern import reach as _reach  # noqa: F401
    from .pattern import stand_ins as _stand_ins  # noqa: F401
    from .pipeline.decoders import byte_decoder as _decoder  # noqa: F401
    from .pipeline.models.bpe import by_character as _unspaced  # noqa: F401
