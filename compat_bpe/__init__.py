"""A byte-pair encoder in pure Python that gives exactly tiktoken's tokens."""

from .encodings.encoding import Encoding as Encoding
from .encodings.load import load as load
from .encodings.load import load_gpt2 as load_gpt2
from .encodings.load import load_tiktoken as load_tiktoken
from .encodings.model_names import encoding_name_for_model as encoding_name_for_model
from .encodings.registry import encoding_for_model as encoding_for_model
from .encodings.registry import get_encoding as get_encoding
from .encodings.registry import list_encoding_names as list_encoding_names
from .encodings.registry import unload as unload
from .install import install_as_tiktoken as install_as_tiktoken
from .install import uninstall_as_tiktoken as uninstall_as_tiktoken

__version__ = "0.1.0"
