"""The names of ``tiktoken`` 0.14, for ``import compat_bpe.tiktoken as tiktoken``."""

from ..encodings.encoding import Encoding as Encoding
from .model import encoding_for_model as encoding_for_model
from .model import encoding_name_for_model as encoding_name_for_model
from .registry import get_encoding as get_encoding
from .registry import list_encoding_names as list_encoding_names

#: The version of tiktoken whose behaviour this package has.
__version__ = "0.14.0"
