"""Chat templates render as in jinja2's own sandbox, as transformers sets it up.

``tests/clients/test_chat.py`` compares with transformers itself.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

import jinja2
import pytest
from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from compat_bpe.chat import ChatTemplate
from tests.chat.families import SPECIAL_TOKENS, TEMPLATES
from tests.chat.random_requests import request
from tools.reference_files import reference_file

#: Vocabularies whose tokenizer_config.json has a template.
PUBLISHED = """
    cohere deepseek_r1 deepseek_v2 internlm_2 llama_3_1 mistral_nemo qwen_3
""".split()

#: Forms that published templates rarely have.
ODD = {
    "safe texts": "{{ ('<' | safe) + messages[0].content + '<' }}{{ ('<b>' | safe).split('b') }}",
    "filters": "{{ messages | map(attribute='role') | unique | sort | join('<', attribute='x') }}"
    "{{ messages | groupby('role') | map('first') | list | tojson }}{{ [3, 1] | max }}"
    "{{ {'b': 1, 'A': 2} | dictsort }}{{ ['a', 'B'] | sort(reverse=true, case_sensitive=true) }}"
    "{{ 'a\nb' | indent(2, true) }}{{ '%05.2f %s' | format(1, [1]) }}{{ 2.5 | round }}"
    "{{ [1, 2] | sum }}{{ 'a b' | title }}{{ messages | selectattr('role', 'eq', 'user') | list }}",
    "reversed": "{{ 'ab' | reverse }}{{ [1, 2] | reverse | list }}{{ [1] | map('abs') | reverse }}",
    "iterators": "{{ ([1, 2] | map('abs')) is sequence }}{{ [1, 2] | select('odd') | first }}",
    "comparisons": "{{ 1 < 2 < 3 }}{{ 1 < 3 < 2 }}{{ 'a' in messages[0] }}{{ 'a' not in 'abc' }}"
    "{{ [1] == [1] }}{{ (1, 2) < (1, 3) }}{{ 1 in [1, 2] and 2 not in (1,) }}{{ missing == none }}",
    "slices": "{{ messages[::-1] | length }}{{ 'abc'[1:] }}{{ [1, 2, 3][:-1] }}{{ 'abc'[-1] }}",
    "loops": "{% for a in [[1, [2]], [3]] recursive %}{% if a is number %}{{ a }}{% else %}"
    "{{ loop(a) }}{% endif %}{{ loop.cycle('x', 'y') }}{{ loop.changed(1) }}{% endfor %}",
    "loops with a test": "{% for m in messages if m.role == 'user' %}{{ loop.index }}/"
    "{{ loop.length }}{% else %}none{% endfor %}",
    "macros": "{% macro f(a, b=2) %}{{ a }}{{ b }}{{ varargs }}{{ kwargs }}{{ caller() }}"
    "{% endmacro %}{% call f(*[1, 2, 3], **{'c': 4}) %}x{% endcall %}",
    "blocks": "{% set a | upper %}x{{ 1 }}{% endset %}{{ a }}{% filter upper %}y{% endfilter %}"
    "{% with b = 1 %}{{ b }}{% endwith %}{% set c, d = 1, 2 %}{{ c }}{{ d }}",
    "numbers": "{{ 7 // 2 }}{{ 7 % 4 }}{{ 2 ** 9 }}{{ -7 / 2 }}{{ '7' | int + 1 }}"
    "{{ 'x' | float }}",
    "shown": "{{ none }}{{ true }}{{ [1, 'a', {'b': none}] }}{{ {}.items() }}{{ 1.0 }}"
    "{{ missing }}",
    "undefined": "{{ missing | default('x') }}{{ messages[99] is defined }}{{ missing | list }}",
    "texts": "{{ '%s and %5d' % ('a', 3) }}{{ '{} {b} {}'.format(1, 2, b=3) }}{{ 'x' ~ 1 ~ none }}"
    "{{ ' a '.strip() }}{{ 'a,b'.split(',', 1) }}{{ 'ab'.replace('a', 'b', 1) }}{{ 'a' * 3 }}",
    "a dict of the template's": "{{ {'a': 1, 2: [3], (4, 5): 6}[(4, 5)] }}"
    "{{ dict(a=1, **{'b': 2}) }}",
}


class _Generation(Extension):
    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.Scope(body, lineno=line)


def expected(text: str, variables: dict[str, Any]) -> str | None:
    """Return what jinja2 makes of a template; None if it is an error."""

    def to_json(value: Any, ensure_ascii: bool = False, **rest: Any) -> str:
        return json.dumps(value, ensure_ascii=ensure_ascii, **rest)

    def refuse(message: str) -> None:
        raise jinja2.TemplateError(message)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols]
    )
    environment.filters["tojson"] = to_json
    environment.globals["raise_exception"] = refuse
    environment.globals["strftime_now"] = lambda form: "the date"
    try:
        return environment.from_string(text).render(**variables)
    except (jinja2.TemplateError, TypeError, ValueError, LookupError, ArithmeticError):
        return None


def check(text: str, requests: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Compare a template on so many requests, and return how many it takes."""
    monkeypatch.setattr("compat_bpe.chat.sandbox.costs.date_now", lambda form: "the date")
    template = ChatTemplate(text, SPECIAL_TOKENS)
    taken = 0
    for number, thinks in itertools.product(range(requests), (True, False)):
        body = json.loads(json.dumps(request(number)))
        messages = [
            {name: value for name, value in message.items() if value is not None}
            for message in body["messages"]
        ]
        for message in messages:
            if thinks and "reasoning_content" in message:
                message["thinking"] = message["reasoning_content"]
            if not thinks:
                message.pop("reasoning_content", None)
            for call in message.get("tool_calls", ()) if thinks else ():
                call["function"]["arguments"] = json.loads(call["function"]["arguments"])
        variables = {"enable_thinking": thinks}
        given = {"messages": messages, "tools": body.get("tools"), "documents": None}
        wanted = expected(
            text, {**SPECIAL_TOKENS, **variables, **given, "add_generation_prompt": True}
        )
        try:
            found = template.render(messages, tools=given["tools"], variables=variables)
        except ValueError:
            found = None
        assert found == wanted, (number, thinks)
        taken += found is not None
    return taken


@pytest.mark.parametrize("name", [*TEMPLATES, *ODD])
def test_templates_of_the_tests(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check({**TEMPLATES, **ODD}[name], 6, monkeypatch)


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_templates(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    config = json.loads(reference_file(f"{name}_config").read_text(encoding="utf-8"))
    templates = config["chat_template"]
    if isinstance(templates, str):
        templates = [{"template": templates}]
    assert sum(check(one["template"], 6, monkeypatch) for one in templates)
