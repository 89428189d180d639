"""The names of ``tiktoken`` 0.14 over this package: ``import compat_bpe.tiktoken as tiktoken``."""

from compat_bpe.encoding import Encoding as Encoding
from compat_bpe.tiktoken.model import encoding_for_model as encoding_for_model
from compat_bpe.tiktoken.model import encoding_name_for_model as encoding_name_for_model
from compat_bpe.tiktoken.registry import get_encoding as get_encoding
from compat_bpe.tiktoken.registry import list_encoding_names as list_encoding_names

#: The version of tiktoken whose behaviour this is.
__version__ = "0.14.0"
