"""DeepSeek's encodings: V3, R1 and V4.

They share one vocabulary and one list of merges, and differ in their added tokens. All data is
from the ``tokenizer.json`` files of R1 and V4, which are under the MIT licence. ``deepseek_v3`` is
``deepseek_r1`` by another name: V3 has had the added tokens of R1 since its version 3.1. No earlier
file of V3 was compared.

Merging by rank gives the same ids as the listed merges; ``tools/build_packs.py`` proves it for each
merge.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..formats.tokenizer_bpe import RankedModel
from ..formats.tokenizer_json import TokenizerDefinition
from ..formats.tokenizer_writing import byte_level_part, pre_tokenizers_part, split_part
from ..pattern import DEEPSEEK
from ..pipeline.added_tokens import AddedToken
from .published import load_ranks

PACK = "deepseek"

#: The steps besides the model, as in the files.
PARTS: dict[str, Any] = {
    "normalizer": {"type": "Sequence", "normalizers": []},
    "pre_tokenizer": pre_tokenizers_part(
        *map(split_part, DEEPSEEK),
        byte_level_part(use_regex=False),
    ),
    "post_processor": byte_level_part(add_prefix_space=True, trim_offsets=False),
    "decoder": byte_level_part(add_prefix_space=True),
}

_SENTENCE = ["<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜▁pad▁｜>"]
#: The tokens from 128800 on, in all three encodings.
_DIALOGUE = """
    <｜fim▁hole｜> <｜fim▁begin｜> <｜fim▁end｜> <｜User｜> <｜Assistant｜> <|EOT|>
    <｜tool▁calls▁begin｜> <｜tool▁calls▁end｜> <｜tool▁call▁begin｜> <｜tool▁call▁end｜>
    <｜tool▁outputs▁begin｜> <｜tool▁outputs▁end｜> <｜tool▁output▁begin｜> <｜tool▁output▁end｜>
    <｜tool▁sep｜>
"""
#: The tokens from 128815 on, in V4.
_V4_NORMALIZED = """
    <｜begin▁of▁repo▁name｜> <｜end▁of▁repo▁name｜> <｜begin▁of▁file▁name｜>
    <｜end▁of▁file▁name｜> <｜begin▁of▁file｜> <｜end▁of▁file｜> <think> </think>
    <｜place▁holder▁for▁copy｜> <｜place▁holder▁for▁pointer▁replace｜> ｜DSML｜ <｜begin▁sys｜>
    <｜end▁sys｜> <｜latest_reminder｜> <｜action｜> <｜query｜> <｜authority｜> <｜domain｜>
    <｜task｜> <｜political｜> <｜entity｜> <｜title｜> <｜safety｜> <｜answer｜> <｜search｜>
    <dsml: </dsml: <｜search▁begin｜> <｜search▁end｜> <｜extracted_url｜> <｜read_url｜>
"""
#: The tokens from 129262 on, in V4; the third to the ninth are not special.
_V4_IMAGE = """
    <｜rl_image_pad｜> <｜rl_image_start｜> <｜image2｜> <｜/table>｜ <｜table｜> <｜/td｜>
    <｜td｜> <｜/tr｜> <｜tr｜> <｜/polygon｜> <｜polygon｜> <｜/point｜> <｜point｜> <｜/box｜>
    <｜box｜> <｜/ref｜> <｜ref｜> <｜image｜>
"""


def _special(names: list[str], first: int) -> Iterator[AddedToken]:
    return (AddedToken(name, id_, special=True) for id_, name in enumerate(names, first))


def _normalized(names: list[str], first: int) -> Iterator[AddedToken]:
    return (AddedToken(name, id_, normalized=True) for id_, name in enumerate(names, first))


def _placeholders(end: int) -> Iterator[AddedToken]:
    return _special([f"<｜place▁holder▁no▁{index}｜>" for index in range(end)], 128000)


def _r1() -> Iterator[AddedToken]:
    yield from _special(_SENTENCE, 0)
    yield from _placeholders(798)
    yield from _normalized(["<think>", "</think>"], 128798)
    for token in _normalized(_DIALOGUE.split(), 128800):
        yield token._replace(special=token.content == "<|EOT|>")


def _v4() -> Iterator[AddedToken]:
    yield from _special(_SENTENCE, 0)
    yield from _placeholders(800)
    yield from _normalized(_DIALOGUE.split(), 128800)
    yield from _normalized(_V4_NORMALIZED.split(), 128815)
    yield from _special(["<｜end_of_query｜>"], 128846)
    spans = [f"<|place_holder_mm_span_{index:04}|>" for index in range(21, 436)]
    yield from _special(spans, 128847)
    for token in _special(_V4_IMAGE.split(), 129262):
        yield token._replace(special=token.id < 129264 or token.id > 129270)


_ADDED_TOKENS = {"deepseek_v3": _r1, "deepseek_r1": _r1, "deepseek_v4": _v4}


def definition(name: str) -> TokenizerDefinition:
    """Return the definition of a shipped encoding.

    Raises:
        KeyError: no encoding has that name.
        OSError, ValueError: the package's own file is missing or damaged.
    """
    added = tuple(_ADDED_TOKENS[name]())
    return TokenizerDefinition(RankedModel(load_ranks(PACK)), added, PARTS, name)
