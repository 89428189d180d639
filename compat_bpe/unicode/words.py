"""The words of a text: what white space separates."""

from __future__ import annotations

import re

_split_on_pypy = re.compile(r"\S+").findall

#: ``words_of(text)`` returns the words of a text, as CPython's ``str.split`` does. PyPy's does not
#: cut at U+001C to U+001F, but does at U+180E, unlike ``str.isspace``.
words_of = str.split if str.split("a\x1cb") == ["a", "b"] else _split_on_pypy
