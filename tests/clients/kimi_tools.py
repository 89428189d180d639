"""Tools drawn at random, with all that changes how Kimi's tokenizer declares them."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.chat.random_requests import text

_KINDS = ["string", "number", "integer", "boolean", "array", "object", "null", "odd"]
_NAMES = ["city", "unit", "x-y", "n", "é"]
_VALUES = ["a", 'b"c', "", 1, 2.5, None, True, ["x"], {"k": "é"}]


def tools_of(seed: int) -> list[dict[str, Any]]:
    """The tools of a number; one in five or so has something that the tokenizer does not show."""
    random = Random(seed)
    odd = random.random() < 0.2
    return [_tool(random, odd) for _ in range(random.randrange(1, 4))]


def _tool(random: Random, odd: bool) -> dict[str, Any]:
    function: dict[str, Any] = {"name": random.choice("abc")}
    if random.random() < 0.7:
        function["description"] = text(random)
    if random.random() < 0.9:
        function["parameters"] = {**_schema(random, odd, 0), "type": "object"}
        if random.random() < 0.3:
            function["parameters"]["$defs"] = {
                name: _schema(random, odd, 1) for name in random.sample(["A", "B"], 2)
            }
    if odd and random.random() < 0.1:
        return {"type": random.choice(["function", "_plugin"])}
    return {"type": "function", "function": function}


def _schema(random: Random, odd: bool, depth: int) -> Any:
    if depth and random.random() < 0.05:
        return random.choice([True, False, {}, *([None, "x", [], 3] if odd else [])])
    found: dict[str, Any] = {"type": random.choice(_KINDS if odd else _KINDS[:7])}
    if random.random() < 0.1:
        found["type"] = random.sample(_KINDS if odd else _KINDS[:7], random.randrange(3))
    if odd and random.random() < 0.1:
        del found["type"]
    if random.random() < 0.4:
        found["description"] = random.choice([text(random), "a\n\nb"])
    if random.random() < 0.2:
        found["default"] = random.choice(_VALUES)
    if random.random() < 0.15:
        found["enum"] = random.choices(_VALUES if odd else ["a", 'b"c', None], k=2)
    for name in ("maxLength", "minLength", "pattern", "maximum", "minimum", "maxItems", "minItems"):
        if random.random() < 0.15:
            found[name] = random.choice([1, 0.5, "^a$"])
    if depth and random.random() < 0.1:
        references = ["#", "#/$defs/A", "#/$defs/B", *(["#/$defs/no", "x", 1] if odd else [])]
        found["$ref"] = random.choice(references)
    if depth < 3:
        if random.random() < 0.6:
            found["items"] = _schema(random, odd, depth + 1)
        if random.random() < 0.8:
            names = random.sample(_NAMES, random.randrange(4))
            found["properties"] = {name: _schema(random, odd, depth + 1) for name in names}
            found["required"] = random.sample(_NAMES, random.randrange(3))
        if random.random() < 0.2:
            found["additionalProperties"] = random.choice([True, False, {}, {"type": "string"}])
        if depth and random.random() < 0.15:
            found["anyOf"] = [
                _schema(random, odd, depth + 1) for _ in range(random.randrange(1, 3))
            ]
    if odd and random.random() < 0.1:
        name = random.choice(["additionalProperties", "description", "required", "properties"])
        found[name] = random.choice([1, "x", None, ["city"], [1, {}], {"a": {}}])
    return found
