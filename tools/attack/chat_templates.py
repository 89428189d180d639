"""Hostile chat templates: they end soon, within their memory, and with nothing but ``ValueError``.

The bounds are a twentieth of the real ones here, so that what is not counted stands out.
"""

from __future__ import annotations

import time
from random import Random
from typing import Any

from compat_bpe.chat import ChatTemplate
from compat_bpe.chat.sandbox import budget
from compat_bpe.chat.sandbox.costs import FILTERS, METHODS, TESTS

SECONDS = 20
MEMORY = 1 << 30

#: The bounds of a rendering here, and the processor's seconds that it may take then.
_STEPS = budget.STEPS // 20
_MADE = budget.MADE // 8
_TIME = 4.0

_MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "What is ﬃ <b>&amp;</b>?\n\n 世界 😀 %s %60000d {0:>9}"},
    {"role": "assistant", "content": None, "tool_calls": [{"function": {"arguments": {"a": [1]}}}]},
    {"role": "tool", "content": [{"type": "text", "text": "x\t" * 500}], "n": 10**300, "f": 1e300},
]

_FILTERS = [*FILTERS] * 20
_FILTERS += [
    "attr",
    "batch",
    "center",
    "pprint",
    "random",
    "slice",
    "urlize",
    "wordwrap",
    "xmlattr",
]
_TESTS = [*TESTS, "in", "lambda"]
_METHODS = [*METHODS[str]] * 20
_METHODS += ["expandtabs", "format_map", "ljust", "translate", "zfill", "__class__", "encode"]
_KEYWORDS = [
    *("attribute", "base", "blank", "boolean", "case_sensitive", "chars", "count", "d", "default"),
    *("default_value", "ensure_ascii", "first", "indent", "keepends", "length", "maxsplit", "new"),
    *("old", "precision", "reverse", "s", "sep", "separators", "sort_keys", "start", "value"),
    *("width", "fill_with", "by", "method"),
]
_NUMBERS = ["0", "1", "-1", "2", "7", "99999", "10 ** 300", "-99999", "0.5", "1e308", "true"]
_TEXTS = [
    *("''", "'a'", "'ab'", "'\\n'", "'<'", "'%s'", "'%60000d'", "'%(a)s'", "'{}'", "'{0:>{1}}'"),
    *("'a.b.c'", "'role'", "'%Y-%9999d'", "'世界'", "'ﬃ' * 99", "messages[0].content"),
    *(
        "'a' * 9999999",
        "'ab' * 99999",
        "'\\n' * 99999",
        "' <' * 9999",
        "'\\t' * 9999",
        "'%s' * 999",
    ),
]
_LISTS = [
    *("[]", "()", "{}", "[1, 2]", "{'a': 1}", "range(99999)", "messages", "messages[0]"),
    *("[1] * 99999", "('a' * 9999) | list", "['ab' * 999] * 999", "messages[2].content"),
    *("[[1, 2]] * 9999", "[{'a': 'b' * 999}] * 999", "(messages[0].items() | list)"),
]
_NAMES = ["ns.x", "ns.x", "ns.y", "v", "w", "missing", "ns", "f", "loop", "none"]
_FUNCTIONS = ["range", "dict", "namespace", "cycler", "joiner", "strftime_now", "raise_exception"]
_FUNCTIONS += ["f", "f", "loop", "loop.cycle", "loop.changed", "caller", "cycler(v, w).next", "v"]


class _Writer:
    """A writer of random templates."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._left = random.choice([5, 15, 40, 120])

    def template(self) -> str:
        texts, lists = self._random.choice(_TEXTS), self._random.choice(_LISTS)
        start = f"{{% set ns = namespace(x={self._random.choice([texts, lists])}, y={lists}) %}}"
        start += f"{{% set v = {texts} %}}{{% set w = {lists} %}}"
        doubled = self._random.choice(
            [
                *("[ns.x, ns.x]", "(ns.x, ns.x)", "ns.x ~ ns.x", "ns.x + ns.x", "(ns.x,)"),
                *("{'a': ns.x, 'b': ns.x}", "[ns.x | string, v]", "namespace(x=ns.x, y=v)"),
            ]
        )
        if self._random.random() < 0.5:
            times = self._random.choice([3, 16, 40, 500])
            start += f"{{% for i in range({times}) %}}{{% set ns.x = {doubled} %}}{{% endfor %}}"
        if self._random.random() < 0.3:
            start += "{% set ns.y = ns.x %}"
        return start + self.block(0)

    def block(self, depth: int) -> str:
        count = self._random.randrange(1, 4)
        return "".join(self.statement(depth) for _ in range(count))

    def statement(self, depth: int) -> str:
        self._left -= 1
        if depth > 5 or self._left < 0:
            return f"{{{{ {self.value(0)} }}}}"
        value = self.value(2)
        kind = self._random.randrange(14)
        if kind < 4:
            return f"{{{{ {value} }}}}"
        if kind < 6:
            return f"{{% set ns.{self._random.choice('xy')} = {value} %}}"
        inner = self.block(depth + 1)
        if kind == 6:
            return f"{{% set v = {value} %}}{inner}"
        if kind == 7:
            test = f" if {self.value(1)}" if self._random.random() < 0.3 else ""
            recursive = " recursive" if self._random.random() < 0.2 else ""
            return f"{{% for w in {value}{test}{recursive} %}}{inner}{{% endfor %}}"
        if kind == 8:
            return (
                f"{{% for v in range({self._random.choice([3, 99, 9999])}) %}}{inner}{{% endfor %}}"
            )
        if kind == 9:
            return f"{{% macro f(v, w=1) %}}{inner}{{% endmacro %}}{{{{ f({value}) }}}}"
        if kind == 10:
            return f"{{% set v %}}{inner}{{% endset %}}"
        if kind == 11:
            return f"{{% filter {self._random.choice(_FILTERS)} %}}{inner}{{% endfilter %}}"
        if kind == 12:
            return f"{{% if {value} %}}{inner}{{% else %}}{self.block(depth + 1)}{{% endif %}}"
        kinds = [
            f"{{% call f({value}) %}}{inner}{{% endcall %}}",
            f"{{% generation %}}{inner}{{% endgeneration %}}",
            f"{{% with v = {value} %}}{inner}{{% endwith %}}",
            f"{inner}{{% continue %}}",
        ]
        if self._random.random() < 0.1:
            kinds = [
                f"{{% autoescape true %}}{inner}{{% endautoescape %}}",
                f"{{% include {value} %}}",
                f"{{% import {value} as v %}}",
                f"{{% block b %}}{inner}{{% endblock %}}",
            ]
        return self._random.choice(kinds)

    def value(self, depth: int) -> str:
        """Return an expression of at most so many levels."""
        random = self._random
        self._left -= 1
        if depth <= 0 or self._left < -20:
            return random.choice(random.choice([_TEXTS, _LISTS, _NUMBERS, _NAMES, _NAMES]))
        one = self.value(depth - random.randrange(1, 3))
        kind = random.randrange(12)
        if kind < 3:
            return f"({one} | {random.choice(_FILTERS)}{self._arguments(depth)})"
        if kind < 5:
            owner = random.choice([random.choice(_TEXTS), f"({one} | string)", "v"])
            return f"({owner}).{random.choice(_METHODS)}({self._inside(depth, 'text')})"
        other = self.value(depth - random.randrange(1, 3))
        if kind == 5:
            return f"({one} is {random.choice(_TESTS)}({self._inside(depth)}))"
        if kind == 6:
            operator = random.choice(["+", "-", "*", "/", "//", "%", "**", "~", "~"])
            return f"({one} {operator} {other})"
        if kind == 7:
            operator = random.choice(["==", "!=", "<", ">=", "in", "not in", "and", "or"])
            return f"({one} {operator} {other})"
        if kind == 8:
            return f"{random.choice(_FUNCTIONS)}({self._inside(depth)})"
        if kind == 9:
            ends = random.choice(["::-1", "1:", ":-1", "'a'", "0", one, f"{one}:{other}:2"])
            return f"({other})[{ends}]"
        if kind == 10:
            return random.choice([f"[{one}, {other}]", f"({one}, {other})"])
        return random.choice(
            [f"{{{one}: {other}}}", f"({one} if {other})", f"(({other}).get({one}))"]
        )

    def _arguments(self, depth: int) -> str:
        return f"({self._inside(depth)})" if self._random.random() < 0.6 else ""

    def _inside(self, depth: int, kind: str = "") -> str:
        random = self._random
        given = [self.value(depth - 2) for _ in range(random.choice([0, 1, 1, 2, 3]))]
        if kind == "text":
            given = [random.choice(random.choice([_TEXTS, ["v", "ns.x", "w"]])) for _ in given]
        elif random.random() < 0.3:
            given.insert(0, f"'{random.choice([*FILTERS, *TESTS, 'in', 'a', 'role', '0'])}'")
        if random.random() < 0.2:
            given.append(f"{random.choice(_KEYWORDS)}={self.value(depth - 2)}")
        if random.random() < 0.05:
            given.append(f"*{self.value(depth - 2)}")
        return ", ".join(given)


def attack(random: Random) -> None:
    """Render a random template within bounds that are smaller than the real ones."""
    budget.STEPS, budget.MADE = _STEPS, _MADE
    text = _Writer(random).template()
    begun = time.process_time()
    try:
        ChatTemplate(text).render(_MESSAGES)
    except ValueError as error:
        message = str(error)
        assert "memory" not in message, f"{message}: {text}"
    taken = time.process_time() - begun
    assert taken < _TIME, f"{taken:.1f} seconds: {text}"
