"""Chat templates run in jinja2's sandbox, with the filters and tags that transformers adds.

A chat template is a program from outside. It may use only the operations that ``environment`` and
``costs`` list. Each step is counted before it is done (``budget``), so its time and its memory are
bounded.

It needs jinja2, so it is imported only when a template is rendered.
"""

from .environment import compile_template as compile_template
from .environment import render_template as render_template
