"""``fit_messages``: what is left out, what never is, and that the result fits."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.chat import (
    ChatTemplate,
    FittedMessages,
    MessageCount,
    count_messages,
    fit_messages,
)
from compat_bpe.chat.fit import units_of
from compat_bpe.chat.openai import _Counter
from tests.chat.families import LLAMA_2, TEMPLATES
from tests.chat.random_requests import messages, tool

FORMATS: list[dict[str, Any]] = [
    {"model": "gpt-4o"},
    {"model": "gpt-oss-20b"},
    {"model": "deepseek-v3"},
    {"encoding": "gpt2", "template": ChatTemplate(TEMPLATES["chatml"])},
    {"encoding": "gpt2", "template": ChatTemplate(TEMPLATES["qwen"])},
]
chats = st.integers(0, 10_000).map(lambda seed: messages(Random(seed)))
options = st.fixed_dictionaries(
    {},
    optional={
        "parts": st.sampled_from(["turn", "message"]),
        "keep_last": st.integers(1, 3),
        "cut": st.sampled_from(["head", "tail", "ends"]),
        "marker": st.sampled_from(["…", " [cut] "]),
    },
)
#: The importance of each message, by its number.
importances = st.none() | st.lists(st.integers(-2, 2), min_size=40, max_size=40)


def least(chat: list[dict[str, Any]], chosen: dict[str, Any], **more: Any) -> int:
    """The tokens of what must stay."""
    by_turn, keep_last = more.get("parts", "turn") == "turn", more.get("keep_last", 1)
    units = units_of(chat, by_turn=by_turn, keep_last=keep_last)
    stay = sorted(at for unit in units if unit.must_stay for at in unit.numbers)
    return count_messages([chat[at] for at in stay], **chosen)


@given(chats, st.sampled_from(FORMATS), options, importances, st.integers(0, 300), st.booleans())
def test_the_result_fits_and_keeps_what_it_must(
    chat: list[dict[str, Any]],
    chosen: dict[str, Any],
    more: dict[str, Any],
    importance: list[int] | None,
    room: int,
    with_tools: bool,
) -> None:
    if with_tools:
        chosen = {**chosen, "tools": [tool(Random(1))]}
    before = copy.deepcopy(chat)
    numbers = {id(message): at for at, message in enumerate(chat)}
    if importance is not None:
        more["priority"] = lambda message: importance[chat.index(message)]
    needed = least(chat, chosen, **more)
    limit = needed + room - 5
    if limit < needed and count_messages(chat, **chosen) > limit:
        if limit >= 0:
            with pytest.raises(ValueError, match="but the messages that must stay"):
                fit_messages(chat, limit, **chosen, **more)
        return
    fitted = fit_messages(chat, limit, **chosen, **more)
    assert chat == before
    assert not numbers.keys() & set(map(id, fitted.messages))
    check(chat, fitted, limit, chosen, more)


def check(
    chat: list[dict[str, Any]],
    fitted: FittedMessages,
    limit: int,
    chosen: dict[str, Any],
    more: dict[str, Any],
) -> None:
    # It fits, and the count is that of the messages.
    assert fitted.count == count_messages(fitted.messages, **chosen) <= limit
    # The order is kept, and each message is there or not.
    assert list(fitted.kept) == sorted(fitted.kept)
    assert sorted([*fitted.kept, *fitted.dropped]) == list(range(len(chat)))
    assert set(fitted.cut) <= set(fitted.kept)
    for at, message in zip(fitted.kept, fitted.messages):
        if at in fitted.cut:
            assert {**message, "content": ""} == {**chat[at], "content": ""}
            assert message["content"] != chat[at]["content"]
        else:
            assert message == chat[at]
    # What must stay is whole.
    whole = set(fitted.kept) - set(fitted.cut)
    assert {at for at, one in enumerate(chat) if one["role"] in ("system", "developer")} <= whole
    assert len(chat) - 1 in whole
    assert max(at for at, one in enumerate(chat) if one["role"] == "user") in whole
    # A call is there with all its results, or with none.
    kept = set(fitted.kept)
    for at, message in enumerate(chat):
        for call in message.get("tool_calls", ()):
            results = [n for n, one in enumerate(chat) if one.get("tool_call_id") == call["id"]]
            assert {n in kept for n in [at, *results]} == {at in kept}
    # Nothing that was left out would fit beside the rest.
    if not fitted.cut:
        by_turn = more.get("parts", "turn") == "turn"
        for unit in units_of(chat, by_turn=by_turn, keep_last=1):
            if not kept & set(unit.numbers):
                back = [chat[at] for at in sorted(kept | set(unit.numbers))]
                assert count_messages(back, **chosen) > limit


@given(
    chats,
    st.sampled_from(FORMATS),
    st.sampled_from(["turn", "message"]),
    importances,
    st.integers(0, 300),
)
def test_each_part_is_added_in_its_order_if_it_still_fits(
    chat: list[dict[str, Any]],
    chosen: dict[str, Any],
    parts: str,
    importance: list[int] | None,
    room: int,
) -> None:
    more: dict[str, Any] = {"parts": parts}
    rank = [0 if importance is None else importance[chat.index(one)] for one in chat]
    if importance is not None:
        more["priority"] = lambda message: rank[chat.index(message)]
    limit = least(chat, chosen, parts=parts) + room
    units = units_of(chat, by_turn=parts == "turn", keep_last=1)
    taken = {at for unit in units if unit.must_stay for at in unit.numbers}
    if count_messages(chat, **chosen) <= limit:
        taken = set(range(len(chat)))
    for unit in sorted(units, key=lambda one: (max(rank[at] for at in one[0]), one[0][-1]))[::-1]:
        more_taken = sorted(taken.union(unit.numbers))
        if count_messages([chat[at] for at in more_taken], **chosen) <= limit:
            taken.update(more_taken)
    assert fit_messages(chat, limit, **chosen, **more).kept == tuple(sorted(taken))


def chat_of(*words: int) -> list[dict[str, Any]]:
    """A system message, and turns whose questions have so many words; each answer has one."""
    found: list[dict[str, Any]] = [{"role": "system", "content": "s"}]
    for number in words:
        found.append({"role": "user", "content": "x" + " x" * (number - 1)})
        found.append({"role": "assistant", "content": "y"})
    return found[:-1]


def kept(chat: list[dict[str, Any]], room: int, **more: Any) -> list[int]:
    """The kept ones of all messages, where there is room for so many tokens beside what stays."""
    limit = least(chat, {"model": "gpt-4o"}, **more) + room
    return list(fit_messages(chat, limit, model="gpt-4o", **more).kept)


# A turn of n words takes n + 9 tokens: 4 for each message beside its text, and the answer's.


def test_what_is_older_goes_first() -> None:
    chat = chat_of(1, 1, 1, 1)
    assert kept(chat, 30) == [0, 1, 2, 3, 4, 5, 6, 7]
    assert kept(chat, 29) == [0, 3, 4, 5, 6, 7]
    assert kept(chat, 20) == [0, 3, 4, 5, 6, 7]
    assert kept(chat, 19) == [0, 5, 6, 7]
    assert kept(chat, 9) == [0, 7]
    assert kept(chat, 9, keep_last=2) == [0, 5, 6, 7]
    assert kept(chat, 10, keep_last=2) == [0, 3, 4, 5, 6, 7]


def test_room_that_is_left_is_for_what_is_older_still() -> None:
    chat = chat_of(1, 50, 1, 1)
    assert kept(chat, 20) == [0, 1, 2, 5, 6, 7]


def test_priority_comes_before_age() -> None:
    chat = chat_of(1, 1, 1, 1)
    chat[2]["content"] = "important"

    def priority(message: Mapping[str, Any]) -> float:
        return float(message["content"] == "important")

    assert kept(chat, 10, priority=priority) == [0, 1, 2, 7]
    assert kept(chat, 20, priority=priority) == [0, 1, 2, 5, 6, 7]
    assert kept(chat, 10, priority=lambda message: -len(message["content"])) == [0, 5, 6, 7]


def test_messages_one_by_one() -> None:
    chat = chat_of(1, 1, 1)
    assert kept(chat, 5, parts="message") == [0, 4, 5]
    assert kept(chat, 10, parts="message") == [0, 3, 4, 5]


def test_a_call_stays_with_its_results() -> None:
    call = {"function": {"name": "f", "arguments": "{}"}}
    chat: list[dict[str, Any]] = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "tool_calls": [{"id": "a", **call}, {"id": "b", **call}]},
        {"role": "tool", "tool_call_id": "b", "content": "x " * 50},
        {"role": "user", "content": "hurry"},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "assistant", "function_call": {"name": "f"}},
        {"role": "function", "name": "f", "content": "2"},
        {"role": "assistant", "content": "done"},
    ]
    numbers = [unit.numbers for unit in units_of(chat, by_turn=False, keep_last=1)]
    assert numbers == [(0,), (3,), (1, 2, 4), (5, 6), (7,)]
    assert [unit.numbers for unit in units_of(chat, by_turn=True, keep_last=1)] == [tuple(range(8))]
    assert kept(chat, 30, parts="message") == [0, 3, 5, 6, 7]


def test_results_without_a_call() -> None:
    chat = [{"role": "tool", "content": "1"}, {"role": "user", "content": "x"}]
    assert [unit.numbers for unit in units_of(chat, by_turn=False, keep_last=1)] == [(0,), (1,)]
    chat = [{"role": "system", "content": "s"}, {"role": "function", "content": "1"}]
    assert [unit.numbers for unit in units_of(chat, by_turn=True, keep_last=1)] == [(0,), (1,)]


def test_texts_are_cut() -> None:
    chat = chat_of(1, 50, 1)
    assert kept(chat, 30) == [0, 1, 2, 5]
    needed = least(chat, {"model": "gpt-4o"})
    fitted = fit_messages(chat, needed + 30, model="gpt-4o", cut="tail", marker="… ")
    assert (fitted.kept, fitted.cut, fitted.count) == ((0, 3, 4, 5), (3,), needed + 30)
    text = fitted.messages[1]["content"]
    assert text.startswith("…")
    assert text.count("x") == 20
    # Calls are never cut, and a part in which nothing can be is left out.
    parts = [{"type": "text", "text": "x " * 50}]
    chat[3]["content"] = parts
    fitted = fit_messages(chat, needed + 12, model="gpt-4o", cut="tail")
    assert (fitted.cut, fitted.kept) == ((), (0, 1, 2, 5))


def test_as_much_of_a_text_is_kept_as_fits() -> None:
    """Beside what a template makes of it, which joins with the text around it."""
    form = "{% for m in messages %}{{ m.content }} {% endfor %}"
    chosen: dict[str, Any] = {"encoding": "gpt2", "template": ChatTemplate(form)}
    chat = [{"role": "user", "content": "one two three four"}, {"role": "user", "content": "x"}]
    for limit in range(3, 6):
        fitted = fit_messages(chat, limit, cut="head", **chosen)
        assert (fitted.count, fitted.cut) == (limit, (0,))


def test_turns_suit_templates_in_which_roles_alternate() -> None:
    template = ChatTemplate(LLAMA_2, {"bos_token": "<s>", "eos_token": "</s>"})
    chat = chat_of(1, 5, 1, 9, 1)
    chosen: dict[str, Any] = {"encoding": "gpt2", "template": template}
    for limit in range(least(chat, chosen), count_messages(chat, **chosen)):
        fitted = fit_messages(chat, limit, **chosen)
        assert fitted.dropped
        assert fitted.count <= limit
        # With single messages, what the template refuses counts as what does not fit.
        assert fit_messages(chat, limit, parts="message", **chosen).count <= limit


def test_a_message_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    real, counted = _Counter._message, []

    def message(self: _Counter, one: dict[str, Any], *rest: Any) -> int:
        counted.append(one)
        return real(self, one, *rest)

    monkeypatch.setattr(_Counter, "_message", message)
    chat = [{"role": "user", "content": f"{at} " * (at % 7 + 1)} for at in range(200)]
    fitted = fit_messages(chat, 600, model="gpt-4o", parts="message")
    # Each of the others was tried after those that fit.
    assert 20 < len(fitted.kept) < 180
    assert len(counted) == len(chat)


def test_images_are_put_back_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole conversation is not counted for each."""
    real, lengths = _Counter.count, []

    def count(self: _Counter, conversation: list[dict[str, Any]]) -> MessageCount:
        lengths.append(len(conversation))
        return real(self, conversation)

    chat = [asked("x" * (at % 7)) for at in range(400)]
    limit = count_messages(chat, model="gpt-4o") * 2 // 3
    monkeypatch.setattr(_Counter, "count", count)
    fitted = fit_messages(chat, limit, model="gpt-4o", drop_first=["images"])
    assert (fitted.dropped, len(fitted.without_images)) == ((), 139)
    assert sum(lengths) < 20 * len(chat)


def test_what_all_of_it_is_refused_for_is_said() -> None:
    chat = chat_of(1, 1)
    chat.insert(1, {"role": "assistant", "content": "x"})
    with pytest.raises(
        ValueError, match="the chat template rejects the request: roles must alternate"
    ):
        fit_messages(chat, 10, encoding="gpt2", template="{% set bos_token = '' %}" + LLAMA_2)


#: An image of 512 x 512 pixels: 255 tokens to gpt-4o.
IMAGE = {
    "type": "image_url",
    "image_url": {"url": "data:image/gif;base64,R0lGODlhAAIAAg==", "detail": "high"},
}
CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
RESULT = "Sunny. " * 100


def asked(text: str, images: int = 1) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}, *[IMAGE] * images]}


def called(identity: str, result: str = RESULT) -> list[dict[str, Any]]:
    return [
        {"role": "assistant", "content": None, "tool_calls": [{**CALL, "id": identity}]},
        {"role": "tool", "tool_call_id": identity, "content": result},
        {"role": "assistant", "content": "Fine."},
    ]


CHAT = [
    {"role": "system", "content": "Be brief."},
    asked("one"),
    *called("1"),
    asked("two"),
    *called("2"),
    asked("last"),
]
ALL = count_messages(CHAT, model="gpt-4o")


def fitted(limit: int, *drop_first: Any, **more: Any) -> FittedMessages:
    found = fit_messages(CHAT, limit, model="gpt-4o", drop_first=drop_first, **more)
    assert found.count <= limit
    assert found.count == count_messages(found.messages, model="gpt-4o")
    return found


def test_no_more_is_left_out_than_is_needed() -> None:
    before = copy.deepcopy(CHAT)
    whole = fitted(ALL, "images", "tool_results")
    assert whole.messages == CHAT
    assert (whole.dropped, whole.without_images, whole.without_results) == ((), (), ())
    one = fitted(ALL - 1, "images", "tool_results")
    assert (one.dropped, one.without_images, one.without_results) == ((), (1,), ())
    assert one.messages[1]["content"] == [
        {"type": "text", "text": "one"},
        {"type": "text", "text": "[image left out]"},
    ]
    more = fitted(ALL - 450, "images", "tool_results")
    assert (more.dropped, more.without_images, more.without_results) == ((), (1, 5), ())
    most = fitted(ALL - 600, "images", "tool_results")
    assert (most.dropped, most.without_images, most.without_results) == ((), (1, 5), (3,))
    assert most.messages[3]["content"] == "[result left out]"
    assert before == CHAT


def test_the_order_is_the_one_that_is_given() -> None:
    results = fitted(ALL - 100, "tool_results", "images")
    assert (results.without_images, results.without_results) == ((), (3,))
    only = fitted(ALL - 100, "tool_results")
    assert only.without_results == (3,)
    assert fitted(ALL - 100).dropped == (1, 2, 3, 4)


def test_turns_are_left_out_when_that_is_not_enough() -> None:
    stay = count_messages([CHAT[0], CHAT[-1]], model="gpt-4o")
    few = fitted(stay + 40, "images", "tool_results")
    assert few.dropped == (1, 2, 3, 4)
    assert (few.without_images, few.without_results) == ((5,), (7,))
    assert few.messages[-1] == CHAT[-1]  # what must stay is whole
    with pytest.raises(ValueError, match=f"limit is {stay - 1}, but the messages that must stay"):
        fitted(stay - 1, "images", "tool_results")
    # With a turn left out, there is room for a result again.
    again = fitted(stay + 240, "images", "tool_results")
    assert again.dropped == ()
    assert fitted(stay + 40, "images", parts="message").dropped


def test_results_of_several_calls_are_put_back() -> None:
    """They are one text in ASCII to OpenAI's models, in which each has more tokens than alone."""
    calls = [{**CALL, "id": one} for one in "ab"]
    long, short = "晴れ " * 30, "[result left out]"

    def turns(first: str, second: str) -> list[dict[str, Any]]:
        return [
            asked("one", 0),
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": "a", "content": first},
            {"role": "tool", "tool_call_id": "b", "content": second},
            asked("last", 0),
        ]

    def size(*results: str) -> int:
        return count_messages(turns(*results), model="gpt-4o")

    chat = [{"role": "user", "content": "long " * 500}, *turns(long, long)]
    answers = {
        size(short, short): ((0,), (3, 4)),
        size(short, long): ((0,), (3,)),
        size(long, long): ((0,), ()),
    }
    for limit in range(min(answers), max(answers) + 1):
        fitted = fit_messages(chat, limit, model="gpt-4o", drop_first=["tool_results"])
        assert fitted.count == max(count for count in answers if count <= limit)
        assert (fitted.dropped, fitted.without_results) == answers[fitted.count]


def test_results_as_short_as_the_text_in_their_place_stay() -> None:
    chat = [*CHAT[:2], *called("1", "ok"), CHAT[-1]]
    limit = count_messages(chat, model="gpt-4o") - 1
    found = fit_messages(chat, limit, model="gpt-4o", drop_first=["tool_results"])
    assert (found.dropped, found.without_results) == ((1, 2, 3, 4), ())


def test_images_of_responses() -> None:
    part = {"type": "input_image", "image_url": IMAGE["image_url"]["url"], "detail": "high"}  # type: ignore[index]
    chat = [{"role": "user", "content": [part]}, CHAT[4], {"role": "user", "content": "last"}]
    limit = count_messages(chat, model="gpt-4o") - 1
    found = fit_messages(chat, limit, model="gpt-4o", drop_first=["images"])
    assert found.messages[0]["content"] == [{"type": "input_text", "text": "[image left out]"}]


def with_images(seed: int) -> list[dict[str, Any]]:
    random = Random(seed)
    chat = messages(random)
    for message in chat:
        if message["role"] == "user" and random.random() < 0.5:
            message["content"] = [{"type": "text", "text": message["content"]}, IMAGE]
        if message["role"] == "tool" and random.random() < 0.7:
            message["content"] = "word " * random.randrange(60)
    return chat


@given(
    st.integers(0, 10_000).map(with_images),
    st.integers(0, 100),
    st.lists(st.sampled_from(["images", "tool_results"]), max_size=2),
    st.sampled_from(["turn", "message"]),
    st.sampled_from([None, "head"]),
)
def test_the_result_says_all_that_is_left_out(
    chat: list[dict[str, Any]], percent: int, drop_first: list[Any], parts: Any, cut: Any
) -> None:
    limit = count_messages(chat, model="gpt-4o") * percent // 100
    arguments: dict[str, Any] = {"drop_first": drop_first, "parts": parts, "cut": cut}
    try:
        found = fit_messages(chat, limit, model="gpt-4o", **arguments)
    except ValueError as error:
        if "the messages that must stay" not in str(error):
            raise
        return
    assert found.count == count_messages(found.messages, model="gpt-4o") <= limit
    assert sorted((*found.kept, *found.dropped)) == list(range(len(chat)))
    changed = {*found.cut, *found.without_images, *found.without_results}
    assert changed <= set(found.kept)
    for at, message in zip(found.kept, found.messages):
        if at not in changed:
            assert message == chat[at]
            continue
        assert {**message, "content": None} == {**chat[at], "content": None}
        if at in found.without_images:
            assert "[image left out]" in str(message["content"])
        if at in found.without_results and at not in found.cut:
            assert message["content"] == "[result left out]"
    # What was left out of a message would not fit beside the rest.
    for at in {*found.without_images, *found.without_results} - {*found.cut}:
        whole = [chat[one] if one == at else kept for one, kept in zip(found.kept, found.messages)]
        both = at in found.without_images and at in found.without_results
        assert both or count_messages(whole, model="gpt-4o") > limit
