"""The modules that are imported at once where Python 3.9 runs the package from a zip file.

There, a thread can see a module that another thread is still importing. So every module that
several threads may need at the same time is imported before any thread starts.
"""

from .encodings import batch as batch
from .encodings import model_names as model_names
from .encodings import unstable as unstable
from .pattern import cut_points as cut_points
from .pattern import parser as parser
from .pattern import prepared_large as prepared_large
from .pattern import translation as translation
from .pattern import tree as tree
from .pipeline.decoders import bytes as bytes
from .pipeline.models.bpe import unspaced as unspaced
from .pipeline.normalizers import forms as forms
