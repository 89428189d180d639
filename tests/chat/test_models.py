"""What is known of models beside their encodings: limits, and the factors of estimates."""

from __future__ import annotations

import re
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.chat import MessageCount, context_limit, count_messages, fit_messages
from compat_bpe.chat.limits import DATE, TABLE, known_limits
from compat_bpe.encodings.estimates import FACTORS, Factor
from compat_bpe.encodings.families import FAMILIES, NotPublic
from compat_bpe.encodings.model_names import resolve_model
from compat_bpe.encodings.resolve import UnresolvedError, resolve


@pytest.mark.parametrize(
    ("model", "row", "context", "output"),
    [
        ("gpt-4o", "gpt-4o", 128_000, 16_384),
        ("gpt-4o-2024-11-20", "gpt-4o", 128_000, 16_384),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-05-13", 128_000, 4_096),
        ("gpt-4-0613", "gpt-4", 8_192, 4_096),
        ("gpt-3.5-turbo-0125", "gpt-3.5-turbo", 16_385, 4_096),
        ("ft:gpt-4o-mini-2024-07-18:acme::1", "gpt-4o-mini", 128_000, 16_384),
        ("azure/eu/GPT-4o-2024-11-20", "gpt-4o", 128_000, 16_384),
        ("openrouter/openai/gpt-4.1-mini:online", "gpt-4.1-mini", 1_047_576, 32_768),
        ("o3-2025-04-16", "o3", 200_000, 100_000),
        ("deepseek-ai/DeepSeek-V4-Pro", "deepseek-v4-pro", 1_000_000, 393_216),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5", 200_000, 64_000),
        ("claude-opus-5-5", "claude-opus-5-5", 1_000_000, 128_000),
        ("openrouter/anthropic/claude-opus-4.1", "claude-opus-4-1", 200_000, 32_000),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5", 200_000, 64_000),
        ("vertex_ai/claude-haiku-4-5@20251001", "claude-haiku-4-5", 200_000, 64_000),
        ("gemini/gemini-2.5-pro", "gemini-2.5-pro", 1_048_576, 65_536),
        ("gemini-4-argon", "gemini-4-argon", 1_048_576, None),
        ("xai/grok-4-0709", "grok-4", 256_000, None),
        ("x-ai/grok-4.20", "grok-4.20", 1_000_000, None),
        ("dashscope/qwen3-max-2026-01-23", "qwen3-max", 262_144, 65_536),
        ("Qwen/Qwen3-30B-A3B-Instruct-2507", "qwen3-30b-a3b-instruct-2507", 262_144, None),
    ],
)
def test_limits(model: str, row: str, context: int, output: int | None) -> None:
    found = context_limit(model)
    assert found[:2] == (row, context)
    assert found.output == output
    assert found.date == DATE


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("gpt-9", "the limits of model 'gpt-9' are not known"),
        ("gpt4o", "(did you mean 'gpt-4o'"),
        ("gpt-4o-realtime-preview", "are not known"),
        ("gpt-4o-20241120", "are not known"),
        ("claude-2", "are not known"),
        ("claude-3-5-sonnet", "are not known"),  # services limit its replies differently
        ("qwen-plus", "are not known"),  # it stands for another model every few months
        ("qwen3:8b", "are not known"),  # Ollama sets a context of its own
        ("ollama/qwen3-max", "are not known"),
        ("someone/claude-opus-5", "are not known"),
        ("", "the limits of model '' are not known"),
        ("gpt-9", f"the table is from {DATE}"),
    ],
)
def test_unknown_models_say_so(model: str, reason: str) -> None:
    with pytest.raises(KeyError, match=re.escape(reason)):
        context_limit(model)


def test_the_table_is_sound() -> None:
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", DATE)
    names = [name for rows in TABLE.values() for *_, names in rows for name in names.split()]
    assert len(set(names)) == len(names) == len(known_limits())
    for name, limit in known_limits().items():
        assert resolve_model(name) is not None
        assert context_limit(name) == limit
        assert limit.model == name
        assert limit.source.startswith("https://")
        assert 1_000 < limit.input <= limit.context
        assert limit.output is None or 0 <= limit.output <= limit.context


CLAUDE = "claude-sonnet-4-5"


def estimate(*messages: dict[str, Any], **arguments: Any) -> MessageCount:
    return count_messages(messages, model=CLAUDE, estimate=True, **arguments)


def test_every_factor_has_a_family_a_source_and_a_date() -> None:
    assert FACTORS.keys() <= {one.name for one in FAMILIES if isinstance(one, NotPublic)}
    for factor in FACTORS.values():
        assert factor.source.startswith("https://")
        for part in (factor.maker, f"{factor.characters} ", factor.source, factor.seen):
            assert part in factor.reason


@pytest.mark.parametrize(
    ("model", "characters"),
    [
        ("claude-3-opus-20240229", 3.5),
        ("anthropic/claude-opus-4-7", 3.5),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 3.5),
        ("gemini-live-2.5-flash-native", 4),
    ],
)
def test_the_factor_of_a_model(model: str, characters: float) -> None:
    factor = resolve(model, "model", estimate=True).estimate
    assert isinstance(factor, Factor)
    assert factor.characters == characters


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("claude-opus-4-5", 10),
        ("claude-3-haiku", 10),
        ("claude-opus-4-7", 13),
        ("us.anthropic.claude-sonnet-5-v1:0", 13),
        ("claude-fable-5", 13),
    ],
)
def test_newer_models_make_more_tokens(model: str, tokens: int) -> None:
    answer = resolve(model, "model", estimate=True)
    assert answer.tokens(35) == tokens
    assert ("30 percent" in answer.note) is (tokens == 13)
    assert answer.tokens(answer.limit(tokens)) == tokens < answer.tokens(answer.limit(tokens) + 1)


def test_a_model_that_has_a_tokenizer_is_not_estimated() -> None:
    assert resolve("gpt-4o", "model", estimate=True).estimate is None
    for model in ("qwen3:8b", "gemini-2.5-pro", "no-such-model"):
        with pytest.raises(UnresolvedError):
            resolve(model, "model", estimate=True)


@given(st.integers(0, 10**15))
def test_rounded_up(characters: int) -> None:
    factor = FACTORS["Claude's models"]
    assert factor.tokens(characters) == -(-characters * 2 // 7)


def test_only_when_asked() -> None:
    messages = [{"role": "user", "content": "Hello!"}]
    with pytest.raises(KeyError, match="no public tokenizer"):
        count_messages(messages, model=CLAUDE)
    count = count_messages(messages, model=CLAUDE, estimate=True)
    assert (count, count.is_estimate) == (ceil(len("userHello!") / 3.5), True)
    for words in (
        "3.5 English characters",
        "2026-11-23",
        "the number covers texts, roles and tools",
    ):
        assert words in count.note


def test_exact_counts_stay() -> None:
    messages = [{"role": "user", "content": "Hello!"}]
    for arguments in ({"model": "gpt-4o"}, {"model": "o3"}, {"encoding": "o200k_base"}):
        exact = count_messages(messages, **arguments)  # type: ignore[arg-type]
        asked = count_messages(messages, estimate=True, **arguments)  # type: ignore[arg-type]
        assert (asked, asked.note) == (exact, exact.note)


def test_no_factor() -> None:
    with pytest.raises(KeyError, match="it cannot be estimated"):
        count_messages([{"role": "user", "content": "x"}], model="grok-4", estimate=True)


def test_all_messages_are_divided_at_once() -> None:
    """7 messages of 5 characters are 10 tokens; each alone would be 2."""
    assert estimate(*[{"role": "user", "content": "x"}] * 7) == 10


def test_tools_and_their_calls_are_in_it() -> None:
    message = {"role": "user", "content": "x" * 3}  # 2 tokens
    assert estimate(message) == 2
    tool = {"name": "ab", "input_schema": {"type": "object"}}
    as_json = len('{"name": "ab", "input_schema": {"type": "object"}}')
    assert estimate(message, tools=[tool]) == ceil((7 + as_json) / 3.5)
    call = {"type": "tool_use", "id": "1", "name": "ab", "input": {"é": 1}}
    result = {"type": "tool_result", "tool_use_id": "1", "content": "12"}
    with_text = {**result, "content": [{"type": "text", "text": "12"}]}
    asking = {"role": "user", "content": [call]}
    for one in (result, with_text):
        answer = {"role": "user", "content": [one]}
        assert estimate(asking, answer) == ceil(
            (len("userab") + len('{"é": 1}') + len("user12")) / 3.5
        )
    calls = [{"function": {"name": "ab"}}]
    asked = {"role": "assistant", "content": None, "tool_calls": calls}
    expected = len("assistant") + len('[{"function": {"name": "ab"}}]')
    assert estimate(asked) == ceil(expected / 3.5)


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ([{"type": "image"}], r"messages\[0\]\.content\[0\]: a part of type 'image'"),
        (
            [{"type": "tool_result", "content": [{"type": "image"}]}],
            r"messages\[0\]\.content\[0\]\.content\[0\]: a part of type 'image'",
        ),
        (["x"], r"messages\[0\]\.content\[0\]: must be an object"),
        (3, r"messages\[0\]\.content: must be a string or a list of parts"),
    ],
)
def test_what_cannot_be_counted(content: Any, place: str) -> None:
    with pytest.raises(ValueError, match=place):
        estimate({"role": "user", "content": content}, strict=True)
    if isinstance(content, list) and isinstance(content[0], dict):
        found = estimate(
            {"role": "user", "content": [*content, {"type": "text", "text": "x" * 10}]}
        )
        assert found == 4
        assert re.search(rf"not counted: {place.partition(':')[0]} \(image\)", found.note)


@pytest.mark.parametrize(
    ("part", "counted", "left_out"),
    [
        ({"type": "thinking", "thinking": "x" * 7, "signature": "s" * 99}, 7, ""),
        ({"type": "redacted_thinking", "data": "x"}, 0, "content[0] (redacted_thinking)"),
        ({"type": "document", "title": "T", "source": {"type": "text", "data": "x" * 6}}, 7, ""),
        (
            {"type": "document", "source": {"type": "base64", "data": "x"}},
            0,
            "content[0].source (base64)",
        ),
        (
            {
                "type": "search_result",
                "source": "abc",
                "title": "d",
                "content": [{"type": "text", "text": "efg"}],
            },
            7,
            "",
        ),
        ({"type": "server_tool_use", "id": "1", "name": "abc", "input": "efgh"}, 7, ""),
        ({"type": "web_search_tool_result"}, 0, "content[0] (web_search_tool_result)"),
        (
            {"type": "text", "text": "x" * 7, "cache_control": {"a": 1}},
            7,
            "content[0].cache_control",
        ),
    ],
)
def test_parts_of_anthropics_requests(part: dict[str, Any], counted: int, left_out: str) -> None:
    found = estimate({"role": "user", "content": [part]})
    assert found == ceil((len("user") + counted) / 3.5)
    named = f"not counted: messages[0].{left_out}"
    assert (named in found.note) if left_out else ("not counted" not in found.note)


def test_members_that_are_no_text_are_named() -> None:
    message = {"role": "user", "content": "x", "metadata": {"a": 1}, "cache_control": {"b": 2}}
    found = estimate({**message, "annotations": [{"a": "b"}]})
    assert found == 2
    assert "not counted: messages[0].metadata, messages[0].cache_control" in found.note


@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text(max_size=60)), min_size=1),
    st.integers(1, 60),
    st.sampled_from(["head", "tail", "ends", None]),
)
def test_a_conversation_is_fitted_by_the_estimate(
    said: list[tuple[str, str]], limit: int, cut: Any
) -> None:
    messages = [{"role": role, "content": text} for role, text in said]
    try:
        fitted = fit_messages(messages, limit, model=CLAUDE, estimate=True, cut=cut)
    except ValueError:
        assert estimate(*messages) > limit
        return
    assert fitted.count <= limit
    assert fitted.count == estimate(*fitted.messages)
    assert "3.5 English characters" in fitted.count.note
    if estimate(*messages) <= limit:
        assert fitted.messages == messages


def test_the_longest_text_that_fits_is_kept() -> None:
    messages = [{"role": "user", "content": "a" * 1000}, {"role": "user", "content": "b"}]
    fitted = fit_messages(messages, 100, model=CLAUDE, estimate=True, cut="head", marker="")
    kept = fitted.messages[0]["content"]
    assert estimate({"role": "user", "content": kept + "a"}, messages[1]) > 100
    assert (fitted.count, fitted.cut) == (100, (0,))
    with pytest.raises(KeyError, match="estimate=True estimates it"):
        fit_messages(messages, 100, model=CLAUDE)


def test_an_image_is_named_once_in_the_note() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    messages = [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, image]}]
    fitted = fit_messages(messages, 100, model=CLAUDE, estimate=True)
    assert fitted.count.note == estimate(*messages).note
    assert fitted.count.note.count("1 image not counted") == 1
