"""Hostile chat templates: they end soon, within their memory, and with nothing but ``ValueError``.

The bounds are a twentieth of the real ones here, so that what is not counted stands out.
"""

from __future__ import annotations

import re
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

#: What a name in angle brackets may stand for. A block and a value are deeper by a level each time,
#: and simple at last.
_GRAMMAR: dict[str, list[str]] = {
    "template": ["{% set ns = namespace(x=<text>, y=<list>) %}<named><grown><block>"] * 2
    + ["{% set ns = namespace(x=<list>, y=<list>) %}<named><grown>{% set ns.y = ns.x %}<block>"],
    "named": ["{% set v = <text> %}{% set w = <list> %}"],
    "grown": ["", *("{% for i in range(<times>) %}{% set ns.x = <doubled> %}{% endfor %}",) * 2],
    "times": ["3", "16", "40", "500"],
    "doubled": [
        "[ns.x, ns.x]",
        "(ns.x, ns.x)",
        "ns.x ~ ns.x",
        "ns.x + ns.x",
        "(ns.x,)",
        "{'a': ns.x, 'b': ns.x}",
        "[ns.x | string, v]",
        "namespace(x=ns.x, y=v)",
    ],
    "block": ["<statement>", "<statement><statement>", "<statement><statement><statement>"],
    "statement": [
        *("{{ <value> }}",) * 8,
        *("{% set ns.x = <value> %}", "{% set ns.y = <value> %}") * 2,
        *("{% set v = <value> %}<block>", "{% for v in range(<times>) %}<block>{% endfor %}") * 2,
        *("{% for w in <value> %}<block>{% endfor %}",) * 2,
        "{% for w in <value> if <value> recursive %}<block>{% endfor %}",
        *("{% macro f(v, w=1) %}<block>{% endmacro %}{{ f(<value>) }}",) * 2,
        *("{% set v %}<block>{% endset %}", "{% filter <filter> %}<block>{% endfilter %}") * 2,
        *("{% if <value> %}<block>{% else %}<block>{% endif %}",) * 2,
        "{% call f(<value>) %}<block>{% endcall %}",
        "<block>{% continue %}",
        "{% generation %}<block>{% endgeneration %}",
        "{% with v = <value> %}<block>{% endwith %}",
        "<odd>",
    ],
    "odd": [
        *("<statement>",) * 20,
        "{% include <value> %}",
        "{% import <value> as v %}",
        "{% block b %}<block>{% endblock %}",
        "{% autoescape true %}<block>{% endautoescape %}",
    ],
    "value": [
        *("<simple>", "<simple>", "(<value> | <filter>)"),
        *("(<value> | <filter>(<arguments>))",) * 2,
        *(
            "(<text>).<method>(<texts>)",
            "(<value> | string).<method>(<texts>)",
            "v.<method>(<texts>)",
        ),
        "(<value> is <test>(<arguments>))",
        "(<value> <operator> <value>)",
        "(<value> <comparison> <value>)",
        "<function>(<arguments>)",
        *("(<value>)[<slice>]", "[<value>, <value>]", "(<value>, <value>)", "{<value>: <value>}"),
        *("(<value> if <value>)", "((<value>).get(<value>))"),
    ],
    "simple": ["<text>", "<list>", "<number>", "<name>", "<name>"],
    "arguments": [
        "",
        "<value>",
        "<value>",
        "<value>, <value>",
        "'<called>', <value>",
        "*<value>",
        "<value>, <keyword>=<value>",
        "'<called>'",
    ],
    "texts": ["", "<part>", "<part>", "<part>, <part>", "<part>, <part>, <part>"],
    "part": ["<text>", "v", "ns.x", "w"],
    "called": ["<filter>", "<test>", "in", "a", "role", "0"],
    "slice": ["::-1", "1:", ":-1", "'a'", "0", "<value>", "<value>:<value>:2"],
    "operator": ["+", "-", "*", "/", "//", "%", "**", "~", "~"],
    "comparison": ["==", "!=", "<", ">=", "in", "not in", "and", "or"],
    "number": ["0", "1", "-1", "2", "7", "99999", "10 ** 300", "-99999", "0.5", "1e308", "true"],
    "text": [
        *("''", "'a'", "'ab'", "'\\n'", "'<'", "'%s'", "'%60000d'", "'%(a)s'", "'{}'"),
        *("'{0:>{1}}'", "'a.b.c'", "'role'", "'%Y-%9999d'", "'世界'", "'ﬃ' * 99", "'%s' * 999"),
        *("messages[0].content", "'a' * 9999999", "'ab' * 99999", "'\\n' * 99999"),
        *("' <' * 9999", "'\\t' * 9999"),
    ],
    "list": [
        *("[]", "()", "{}", "[1, 2]", "{'a': 1}", "range(99999)", "messages", "messages[0]"),
        *("[1] * 99999", "('a' * 9999) | list", "['ab' * 999] * 999", "messages[2].content"),
        *("[[1, 2]] * 9999", "[{'a': 'b' * 999}] * 999", "(messages[0].items() | list)"),
    ],
    "name": ["ns.x", "ns.x", "ns.y", "v", "w", "missing", "ns", "f", "loop", "none"],
    "function": [
        *("range", "dict", "namespace", "cycler", "joiner", "strftime_now", "raise_exception"),
        *("f", "f", "loop", "v", "loop.cycle", "loop.changed", "caller", "cycler(v, w).next"),
    ],
    "filter": [*FILTERS] * 20
    + ["attr", "batch", "center", "pprint", "random", "slice", "urlize", "wordwrap", "xmlattr"],
    "test": [*TESTS, "in", "lambda"],
    "method": [*METHODS[str]] * 20
    + ["expandtabs", "format_map", "ljust", "translate", "zfill", "__class__", "encode"],
    "keyword": """
        attribute base blank boolean case_sensitive chars count d default default_value ensure_ascii
        first indent keepends length maxsplit new old precision reverse s sep separators sort_keys
        start value width fill_with by method
    """.split(),
}

_NAMED = re.compile("<([a-z]+)>")


def _template(random: Random) -> str:
    """Return a random template of the grammar."""
    left = random.choice([5, 15, 40, 120])

    def written(name: str, depth: int) -> str:
        nonlocal left
        deeper = depth + (name in ("block", "value"))
        left -= name in ("statement", "value")
        if name == "value" and (deeper > 6 or left < -20):
            name = "simple"
        elif name == "statement" and (deeper > 5 or left < 0):
            return f"{{{{ {written('simple', depth)} }}}}"
        return _NAMED.sub(lambda found: written(found[1], deeper), random.choice(_GRAMMAR[name]))

    return written("template", 0)


def attack(random: Random) -> None:
    """Render a random template within bounds that are smaller than the real ones."""
    budget.STEPS, budget.MADE = _STEPS, _MADE
    text = _template(random)
    begun = time.process_time()
    try:
        ChatTemplate(text).render(_MESSAGES)
    except ValueError as error:
        message = str(error)
        assert "memory" not in message, f"{message}: {text}"
    taken = time.process_time() - begun
    assert taken < _TIME, f"{taken:.1f} seconds: {text}"
