"""The package in place of tiktoken."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO

from .place import TEXT, Check, Place

#: They are there only while the package stands in for tiktoken.
_MODULES = (
    "tiktoken",
    "tiktoken.core",
    "tiktoken.registry",
    "tiktoken._educational",
    "tiktoken._tiktoken",
    "tiktoken_ext.openai_public",
)


def in_place_of_tiktoken(place: Place) -> Iterator[Check]:
    tokens = place.module()
    ids = tokens.get_encoding("cl100k_base").encode_ordinary(TEXT)
    tokens.install_as_tiktoken()
    try:
        tiktoken, core, registry, educational, rust, public = map(import_module, _MODULES)
        encoding = tiktoken.encoding_for_model("gpt-4")
        yield Check("ids", encoding.encode_ordinary(TEXT), ids)
        yield Check("class", [type(encoding) is core.Encoding, core.Encoding.__module__])
        yield Check("registry", registry.list_encoding_names() == tiktoken.list_encoding_names())
        own = tiktoken.Encoding(**public.ENCODING_CONSTRUCTORS["gpt2"]())
        yield Check("own", own.encode_ordinary(TEXT))
        with redirect_stdout(StringIO()):
            simple = educational.SimpleBytePairEncoding.train("aaabdaaabac" * 4, 259, r"\w+")
        yield Check("educational", simple.encode("aaabdaaabac", visualise=None))
        core_bpe = rust.CoreBPE({b"a": 0, b"b": 1, b"ab": 2}, {}, ".+")
        yield Check("core", core_bpe.encode_ordinary("abab"))
    finally:
        tokens.uninstall_as_tiktoken()
    yield Check("undone", tokens.Encoding.__module__.startswith(place.package), True)


def own_name(place: Place) -> Iterator[Check]:
    tiktoken = place.module("tiktoken")
    ids = place.module().get_encoding("gpt2").encode_ordinary(TEXT)
    yield Check("ids", tiktoken.get_encoding("gpt2").encode_ordinary(TEXT), ids)
    yield Check("model", tiktoken.encoding_name_for_model("gpt-4o"))
