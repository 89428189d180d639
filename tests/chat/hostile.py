"""Hostile chat templates: each takes hours or all memory where it is not bounded.

Run as a program, it renders them all, and prints a line of JSON after each.
"""

from __future__ import annotations

import json
import sys
import time

#: A list that is small, but has 2 ** 40 items when it is walked; and another one like it.
DOUBLED = (
    "{% set ns = namespace(x=[1], y=[1]) %}{% for i in range(40) %}"
    "{% set ns.x = [ns.x, ns.x] %}{% set ns.y = [ns.y, ns.y] %}{% endfor %}"
)
TUPLES = DOUBLED.replace("[ns.x, ns.x]", "(ns.x, ns.x)").replace("x=[1]", "x=(1,)")
LONG = "{% set a = 'a' * 33000000 %}"


def keep(value: str) -> str:
    """Return a template that makes a value again and again, and keeps all of them."""
    return (
        "{% set ns = namespace(x=0) %}{% for i in range(99999) %}{% for j in range(99) %}"
        f"{{% set ns.x = [ns.x, {value}] %}}{{% endfor %}}{{% endfor %}}"
    )


def macro(body: str) -> str:
    """Return a template with a macro that calls itself."""
    return f"{{% macro f(n) %}}{body}{{% endmacro %}}{{{{ f(99) }}}}"


TIME = {
    **{
        f"doubled: {name}": DOUBLED + "{{ " + form + " }}"
        for name, form in {
            "printed": "ns.x",
            "joined": "ns.x | join",
            "beside a text": "'x' ~ ns.x",
            "equal": "ns.x == ns.y",
            "less": "ns.x < ns.y",
            "in a row": "ns.x < ns.y < ns.x",
            "test": "ns.x is eq(ns.y)",
            "in": "ns.x in [ns.y]",
            "in values": "ns.x in {'a': ns.y}.values()",
            "index": "[ns.x].index(ns.y)",
            "sorted": "[ns.x, ns.y] | sort | length",
            "greatest": "[ns.x, ns.y] | max | length",
            "grouped": "[{'a': ns.x}, {'a': ns.y}] | groupby('a') | length",
            "as JSON": "ns.x | tojson",
            "string": "ns.x | string | length",
            "form": "'%s' % ns.x",
            "format": "'{}'.format(ns.x)",
            "filter format": "'%s' | format(ns.x)",
            "upper": "ns.x | upper",
            "is upper": "ns.x is upper",
            "replaced": "'x' | replace('x', ns.x)",
            "refused": "raise_exception(ns.x)",
            "refused by keyword": "raise_exception(message=ns.x)",
            "the name of a filter": "[1] | map(ns.x) | list",
        }.items()
    },
    **{
        f"tuples: {name}": TUPLES + "{{ " + form + " }}"
        for name, form in {
            "key": "{ns.x: 1}",
            "item": "{}[ns.x]",
            "get": "{}.get(ns.x)",
            "in": "ns.x in {}",
            "unique": "[ns.x] | unique | list | length",
            "dict": "dict([(ns.x, 1)])",
            "filter": "ns.x is filter",
            "the name of a filter": "[1] | map(ns.x) | list",
            "the way to round": "1.5 | round(1, ns.x)",
            "an attribute": "[{}] | map(attribute=ns.x) | list",
        }.items()
    },
    "rfind": LONG + "{{ a.rfind('ab' ~ 'a' * 16000000) }}",
    "rsplit": LONG + "{{ a.rsplit('b' ~ 'a' * 16000000) | length }}",
    "strip": LONG + "{{ a.strip('b' * 16000000) | length }}",
    "number of hexadecimal digits": "{% set n = ('f' * 4000000) | int(0, 16) %}"
    "{% for i in range(900) %}{% set m = n // (n // 3 + 1) %}{% endfor %}",
    "select in": "{% set b = range(99999) | list %}{{ b | select('in', b) | list | length }}",
    "sum of lists": "{{ ([[1] * 99] * 1000000) | sum(start=[]) | length }}",
    "sort of lists": "{{ ([[0] * 500000] * 1000000) | sort | length }}",
    "title": "{% for i in range(999) %}{% set x = ('a ' * 9999999) | title %}{% endfor %}",
    "slices": "{% set a = [1] * 999999 %}{% for i in range(99999) %}{% set b = a[1:] %}"
    "{% endfor %}",
    "spread": "{% for i in range(99999) %}{{ loop.cycle(*(['x'] * 999999)) }}{% endfor %}",
    "loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "loops with a test": "{% for a in range(99999) %}{% for b in range(99999) if no %}{% endfor %}"
    "{% endfor %}",
    "loop.changed": DOUBLED + "{% for i in [1] %}{{ loop.changed(ns.x) }}{% endfor %}",
    "a loop into itself": "{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}",
    "macro": macro("{{ f(n) }}"),
    "macro twice": macro("{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}"),
    "much in a turn": "{% for a in range(99999) %}{% for b in range(99999) %}"
    + "{% set x = a %}" * 999
    + "{% endfor %}{% endfor %}",
    "statements": "{% set a = b %}" * 100_000,
    "sets and branches": "".join(
        f"{{% set a{number} = 1 %}}{{% if x %}}{{% endif %}}" for number in range(9_000)
    ),
    "sum in the source": "{{ a" + " + a" * 100_000 + " }}",
    "filters in the source": "{{ a" + " | e" * 100_000 + " }}",
    "elif in the source": "{% if a %}" + "{% elif b %}" * 50_000 + "{% endif %}",
    "brackets": "{{ " + "(" * 50_000,
    "for in the source": "{% for a in b %}" * 90 + "{% endfor %}" * 90,
    "digits in the source": "{{ " + "9" * 3_000_000 + " }}",
    "words without an end": "{%" + " raw" * 900_000,
}
MEMORY = {
    "width": "{{ '%99999999999d' % 1 }}",
    "width of 60000": "{{ ('%60000d' * 60000) % ([1] * 60000) }}",
    "width as an argument": "{{ '%*d' % (99999999999, 1) }}",
    "width of a filter": "{{ '%99999999999d' | format(1) }}",
    "width in a test": "{{ '%60000d' is odd }}{{ '%9999999999d' is divisibleby(1) }}",
    "names": "{{ ('%(a)s' * 99999) % {'a': 'x' * 9999999} }}",
    "format": "{{ '{:>4000000000}'.format('x') | length }}",
    "nested format": "{{ '{:>{w}}'.format('x', w=4000000000) | length }}",
    "format_map": "{{ '{x:>4000000000}'.format_map({'x': 1}) | length }}",
    "format many": "{{ ('{0}' * 99999).format('x' * 9999999) | length }}",
    "replace": LONG + "{{ a.replace('a', a) | length }}",
    "replace by a filter": LONG + "{{ a | replace('a', a) | length }}",
    "replace with swapped keywords": LONG + "{{ a | replace(new=a, old='a') | length }}",
    "expandtabs": "{{ ('\\t' * 600000).expandtabs(60000) | length }}",
    "indent": "{{ ('\\n' * 600000) | indent(60000) | length }}",
    "indent by a text": LONG + "{{ ('\\n' * 600000) | indent(width=a) | length }}",
    "wordwrap": "{{ ('a ' * 999999) | wordwrap(1, wrapstring='x' * 900000) | length }}",
    "indent of JSON": "{{ messages | tojson(indent=99999999999) }}",
    "indent of JSON by a text": "{{ range(9999) | list | tojson(indent='x' * 900000) | length }}",
    "separators of JSON": "{{ range(9999) | list | tojson(separators=('x' * 900000, ':')) }}",
    "translate": LONG + "{{ a.translate({97: a}) | length }}",
    "join": LONG + "{{ a.join(a) | length }}",
    "join by a filter": LONG + "{{ a | join(a) | length }}",
    "join of a generator": LONG + "{{ ', '.join(([a] * 1000) | map('string')) | length }}",
    "ljust": keep("'x'.ljust(65536)"),
    "center": "{{ 'x' | center(99999999999) }}",
    "to_bytes": "{{ (1).to_bytes(4000000000, 'big') | length }}",
    "split": LONG + "{% set b = a.split('a') %}{% set c = a.split('a') %}{{ a | list | length }}",
    "lines": "{% set b = ('\\n' * 33000000).splitlines() %}",
    "date": "{{ strftime_now('%2000000000d') | length }}",
    "escaped": "{% set ns = namespace(x='<' * 3000000) %}{% for i in range(20) %}"
    "{% set ns.x = ns.x | e | string %}{% endfor %}",
    "escaped by a sum": keep("('a' | safe) + '<' * 9999999"),
    "round": "{{ 1 | round(-999999999) }}{{ 2.5 | round(99999999, 'ceil') }}",
    "power": "{{ 9 ** 99999999 }}",
    "squares": "{% set ns = namespace(x=9) %}{% for i in range(99) %}"
    "{% set ns.x = ns.x * ns.x %}{% endfor %}",
    "copies": "{{ 'x' * 99999999999 }}",
    "copies of a list": "{{ [1] * 99999999999 }}",
    "a text that doubles": "{% set ns = namespace(x='ab') %}{% for i in range(99) %}"
    "{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
    "a sum that doubles": "{% set ns = namespace(x='ab') %}{% for i in range(99) %}"
    "{% set ns.x = ns.x + ns.x %}{% endfor %}",
    "a list that doubles": "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}"
    "{% set ns.x = ns.x + ns.x %}{% endfor %}",
    "a block that doubles": "{% set ns = namespace(x='ab') %}{% for i in range(99) %}"
    "{% set y %}{{ ns.x }}{{ ns.x }}{% endset %}{% set ns.x = y %}{% endfor %}",
    "output": "{% for i in range(99999) %}{{ 'x' * 9999 }}{% endfor %}",
    "output of a macro": macro("{% for i in range(99999) %}{{ 'x' * 999999 }}{% endfor %}"),
    "pieces of output": macro(
        "{% for i in range(99999) %}{% for j in range(99) %}{{ 'a' }}{{ 'b' }}{% endfor %}"
        "{% endfor %}"
    ),
    "texts": keep("'x' * 30000000"),
    "wide texts": keep("'世' * 9000000"),
    "lists": keep("[0, 0, 0, 0, 0, 0, 0, 0]"),
    "dicts": keep("{0: 1, 1: 2, 2: 3}"),
    "namespaces": keep("namespace(a=1, b=2)"),
    "a long list": keep("range(99999) | list"),
    "batches": "{{ [1] | batch(99999999999, 0) | list }}",
    "range": "{{ range(99999999999) | list }}",
    "nested deeply": keep("1") + "{{ ns.x }}",
    "tuples nested deeply": keep("1").replace("[ns.x, 1]", "(ns.x,)") + "{{ {ns.x: 1} }}",
}
HOSTILE = {**TIME, **MEMORY}


def main(names: list[str]) -> None:
    """Render the templates of these names."""
    from compat_bpe.chat import ChatTemplate

    for name in names:
        begun = time.process_time()
        try:
            said = f"made {len(ChatTemplate(HOSTILE[name]).render([{'role': 'user'}]))}"
        except ValueError as error:
            said = str(error)
        print(json.dumps([name, time.process_time() - begun, said]), flush=True)


if __name__ == "__main__":
    import resource

    from compat_bpe.chat.sandbox import budget

    part, memory, seconds = map(int, sys.argv[1:])
    budget.STEPS //= part
    budget.MADE //= part
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    main(list(HOSTILE))
