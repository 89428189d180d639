"""Hostile chat templates end soon, take no more memory than is said, and are a ``ValueError``."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe.chat import ChatTemplate
from compat_bpe.chat.sandbox import budget
from compat_bpe.chat.sandbox.budget import Budget, TooMuch
from compat_bpe.chat.sandbox.methods import METHODS
from tests.chat.hostile import HOSTILE
from tests.examples import scaled

CHAT = [{"role": "user", "content": "x"}]


def results(part: int, memory: int, seconds: float) -> dict[str, tuple[float, str]]:
    """Render all of them in a process that is killed at the end of the time."""
    pytest.importorskip("resource")
    program = [sys.executable, "-m", "tests.chat.hostile", str(part), str(memory)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        try:
            printed, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            printed, _ = process.communicate()
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
    with pytest.raises(ValueError, match=r"it takes more steps than it may"):
        ChatTemplate(form.replace("messages", "range(500)").replace("m.role", "'x'")).render(CHAT)
