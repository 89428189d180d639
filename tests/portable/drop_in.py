"""The package in place of tiktoken."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO

from .place import TEXT, Check, Place


def in_place_of_tiktoken(place: Place) -> Iterator[Check]:
    tokens = place.module()
    ids = tokens.get_encoding("cl100k_base").encode_ordinary(TEXT)
    tokens.install_as_tiktoken()
    try:
        tiktoken = import_module("tiktoken")
        core, registry = import_module("tiktoken.core"), import_module("tiktoken.registry")
        encoding = tiktoken.encoding_for_model("gpt-4")
        yield Check("ids", encoding.encode_ordinary(TEXT), ids)
        yield Check("class", [type(encoding) is core.Encoding, core.Encoding.__module__])
        yield Check("registry", registry.list_encoding_names() == tiktoken.list_encoding_names())
        constructor = import_module("tiktoken_ext.openai_public").ENCODING_CONSTRUCTORS["gpt2"]
        own = tiktoken.Encoding(**constructor())
        yield Check("own", own.encode_ordinary(TEXT))
        simple = import_module("tiktoken._educational").SimpleBytePairEncoding
        with redirect_stdout(StringIO()):
            merging = simple.train("aaabdaaabac" * 4, 259, r"\w+")
        yield Check("educational", merging.encode("aaabdaaabac", visualise=None))
        raw = import_module("tiktoken._tiktoken").CoreBPE({b"a": 0, b"b": 1, b"ab": 2}, {}, ".+")
        yield Check("core", raw.encode_ordinary("abab"))
    finally:
        tokens.uninstall_as_tiktoken()
    yield Check("undone", tokens.Encoding.__module__.startswith(place.package), True)


def own_name(place: Place) -> Iterator[Check]:
    tiktoken = place.module("tiktoken")
    ids = place.module().get_encoding("gpt2").encode_ordinary(TEXT)
    yield Check("ids", tiktoken.get_encoding("gpt2").encode_ordinary(TEXT), ids)
    yield Check("model", tiktoken.encoding_name_for_model("gpt-4o"))
