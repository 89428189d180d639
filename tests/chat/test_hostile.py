"""Hostile chat templates and requests end soon, within their memory, with a sentence."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe.chat import ChatTemplate, count_messages, count_parts, count_request, fit_messages
from compat_bpe.chat.sandbox import budget
from compat_bpe.chat.sandbox.budget import Budget, TooMuch
from compat_bpe.chat.sandbox.costs import METHODS
from tests.chat.hostile import HOSTILE
from tests.chat.random_requests import request
from tests.examples import scaled

CHAT = [{"role": "user", "content": "x"}]


def results(part: int, memory: int, seconds: int) -> dict[str, tuple[float, str]]:
    """Render all of them in a process that is killed when it has computed for so long."""
    pytest.importorskip("resource")
    program = [sys.executable, "-m", "tests.chat.hostile", *map(str, (part, memory, seconds))]
    printed = subprocess.run(program, stdout=subprocess.PIPE, text=True).stdout
    lines = map(json.loads, printed.splitlines())
    return {name: (taken, said) for name, taken, said in lines}


@pytest.fixture(scope="module")
def with_a_part() -> dict[str, tuple[float, str]]:
    return results(60, 1 << 30, 60)


@pytest.mark.parametrize("name", HOSTILE)
def test_each_ends(name: str, with_a_part: dict[str, tuple[float, str]]) -> None:
    assert name in with_a_part, "it or one before it does not end"
    taken, said = with_a_part[name]
    if name == "for in the source" and sys.implementation.name == "pypy":
        assert said == "made 0"  # there, loops may be nested as deeply
        return
    assert said.startswith(("the chat template ", "chat template: ")), said
    assert "memory" not in said
    assert taken < 5


@pytest.mark.sweep
def test_each_ends_within_the_real_bounds() -> None:
    found = results(1, 3 << 30, 600)
    assert list(found) == list(HOSTILE)
    assert max(taken for taken, _ in found.values()) < 30
    assert not any("memory" in said for _, said in found.values())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux hands on a peak")
def test_the_memory_of_the_program_before_is_not_that_of_this_one() -> None:
    """A process that a large one starts would else be said to grow by nothing."""
    peak = "from compat_bpe.chat.sandbox.budget import _peak; print(_peak())"
    large = (
        "import os, sys; large = b'x' * (300 << 20);"
        f"os.execv(sys.executable, [sys.executable, '-c', {peak!r}])"
    )
    printed = subprocess.run([sys.executable, "-c", large], stdout=subprocess.PIPE, check=True)
    assert 1 << 20 < int(printed.stdout) < 300 << 20


LOOPS = (
    "{% for a in range(99999) %}{% for b in range(99999) %}{{ 'x'.strip() }}{% endfor %}"
    "{% endfor %}"
)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs an alarm")
def test_an_alarm_is_the_callers_own() -> None:
    def ring(*_: Any) -> None:
        raise TimeoutError("rung")

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(TimeoutError, match=r"^rung$"):
            ChatTemplate(LOOPS).render(CHAT)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=6,
)


@given(VALUES)
@settings(max_examples=scaled(50))
def test_what_a_value_is_shown_as_is_never_longer_than_counted(value: Any) -> None:
    bound = Budget().size(value).shown
    for shown in (str(value), json.dumps(value), json.dumps(value, ensure_ascii=False)):
        assert len(shown) * (1 if shown.isascii() else 4) <= bound


@given(st.data(), st.text(alphabet="ab \n<{}世ﬃ"), st.sampled_from(sorted(METHODS[str])))
@settings(max_examples=scaled(300))
def test_methods_of_texts_are_those_of_python(data: Any, text: str, name: str) -> None:
    part = st.text(alphabet="ab <世", max_size=2)
    one: Any = st.none() | part | st.integers(-3, 9) | st.lists(part) | st.tuples(part, part)
    arguments = data.draw(st.lists(one, max_size=3))
    try:
        expected = getattr(text, name)(*arguments)
    except (TypeError, ValueError, LookupError) as error:
        expected = type(error)
    try:
        found = METHODS[str][name](Budget(), text, *arguments)
    except TooMuch:  # a format that is more than names
        assert name == "format"
        return
    except (TypeError, ValueError, LookupError) as error:
        found = type(error)
    assert found == expected


def test_more_messages_may_take_more_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "STEPS", 1_000)
    form = "{% for m in messages %}" + "{{ m.role.strip() }}" * 30 + "{% endfor %}"
    chat = [{"role": "user", "content": "x"}] * 500
    assert len(ChatTemplate(form).render(chat)) == 4 * 30 * 500
    with pytest.raises(ValueError, match=r"it exceeds the step limit"):
        ChatTemplate(form.replace("messages", "range(500)").replace("m.role", "'x'")).render(CHAT)


_GIF = "data:image/png;base64,R0lGODlhAAIAAg=="  # that it is no PNG changes nothing
JUNK: list[Any] = [
    *[None, True, 0, -1, 1.5, float("nan"), 10**400, "", "\ud800", b"x", [], {}, (1,), {1: 2}],
    *["data:image/png;base64,AAAA", "[1]", {"type": "text"}, {"type": "image_url"}, {"$ref": "#"}],
    {"type": "image_url", "image_url": {"url": _GIF, "detail": "high"}},
    {"type": "input_image", "image_url": 5, "detail": []},
    {"id": "1", "function": {"name": "f", "arguments": "{"}},
    {"function": {"name": "f", "arguments": {"a": [1, {}]}}},
    {"type": ["object"], "properties": {"a": 5}, "enum": None},
]
MEMBERS = ["content", "role", "tool_calls", "name", "enum", "$ref", "anyOf", "type", "properties"]
TEMPLATE = ChatTemplate(
    "{% for one in messages %}{{ one.role }}{{ one.content }}{% endfor %}"
    "{{ tools_ts_str or tools }}{{ response_format }}"
)
CHOSEN: list[dict[str, Any]] = [
    *[{"model": name} for name in ("gpt-4o", "gpt-5.4", "gpt-oss-20b")],
    *[{"model": f"deepseek-{name}"} for name in ("v3", "v3.1", "v3.2", "v4-pro", "v4.1-flash")],
    {"encoding": "gpt2", "template": TEMPLATE},
    {"model": "claude-sonnet-4-5", "estimate": True},
]
SCHEMA = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}


def damaged(random: Random, value: Any) -> Any:
    """The value with junk in some places."""
    if random.random() < 0.08:
        return random.choice(JUNK)
    if isinstance(value, dict):
        found = {name: damaged(random, one) for name, one in value.items()}
        if random.random() < 0.1:
            found[random.choice(MEMBERS)] = random.choice(JUNK)
        return found
    return [damaged(random, one) for one in value] if isinstance(value, list) else value


def body_of(random: Random) -> dict[str, Any]:
    """A request, mostly damaged."""
    body = {
        **request(random.randrange(10**6)),
        "response_format": random.choice([None, {"type": "json_object"}, SCHEMA]),
        "variables": random.choice([None, {"thinking": True, "reasoning_effort": "max"}]),
    }
    return {name: damaged(random, value) for name, value in body.items()}


def whole(random: Random, body: dict[str, Any]) -> dict[str, Any]:
    """A request as a service gets it, with more that may be damaged."""
    body["chat_template_kwargs"] = body.pop("variables")
    if random.random() < 0.5:
        body["input"] = body.pop("messages")
    for name in ("system", "instructions", "text", "prompt", "functions"):
        if random.random() < 0.1:
            body[name] = damaged(random, random.choice(JUNK))
    return body


@pytest.mark.parametrize("seeds", [60, pytest.param(2000, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("is_whole", [False, True])
@pytest.mark.parametrize("chosen", CHOSEN, ids=lambda chosen: chosen.get("model", "template"))
def test_anything_in_any_place(chosen: dict[str, Any], is_whole: bool, seeds: int) -> None:
    counted = 0
    longest = 0
    for seed in range(seeds):
        random = Random(seed)
        body = body_of(random)
        try:
            if is_whole:
                count_request(whole(random, body), **chosen)
                counted += 1
                continue
            count = count_messages(**body, **chosen)
            assert sum(part.tokens for part in count_parts(**body, **chosen)) == count
            counted += 1
            if "estimate" not in chosen:
                drop: Any = {"drop_first": ["images", "tool_results"], "parts": "message"}
                fit_messages(limit=max(0, count - 5), **body, **chosen, **drop)
        except ValueError as error:
            longest = max(longest, len(str(error)))
    assert counted
    assert 0 < longest < 1000
