"""The post-processors of a ``tokenizer.json``."""

from __future__ import annotations

from ..checked_json import Json
from .kind import kind

#: The ids before a text, and those after it.
Template = tuple[list[int], list[int]]


def template(part: Json | None) -> Template:
    """Return the ids that a ``post_processor`` puts before and after a text."""
    if part is None:
        return [], []
    found = kind(
        part,
        ["TemplateProcessing", "ByteLevel", "RobertaProcessing", "BertProcessing", "Sequence"],
    )
    if found == "ByteLevel":
        return [], []  # It changes the tokens' offsets in the text, not the tokens.
    if found == "TemplateProcessing":
        return _template_processing(part)
    if found != "Sequence":
        return [_id_of_pair(part["cls"])], [_id_of_pair(part["sep"])]
    before: list[int] = []
    after: list[int] = []
    for item in part["processors"].items(part.place):
        outer = template(item)
        before, after = outer[0] + before, after + outer[1]
    return before, after


def _template_processing(part: Json) -> Template:
    ids_of = part["special_tokens"]
    halves: list[list[int]] = [[]]
    for item in part["single"].items():
        if "Sequence" in item.mapping():
            halves.append([])
            continue
        name = item["SpecialToken"]["id"].text()
        ids = ids_of[name]["ids"]
        for number in ids.items():
            halves[-1].append(number.number())
    if len(halves) != 2:
        part["single"].fail("a template must have the text exactly once")
    return halves[0], halves[1]


def _id_of_pair(part: Json) -> int:
    items = list(part.items())
    if len(items) != 2:
        part.fail("must be a token and its id")
    return items[1].number()
