"""``fit_messages(drop_first=…)``: images and results of tools are left out before messages are."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.chat import FittedMessages, count_messages, fit_messages
from tests.chat.random_requests import messages

#: An image of 512 x 512 pixels: 255 tokens to gpt-4o.
IMAGE = {
    "type": "image_url",
    "image_url": {
        "url": "data:image/gif;base64,R0lGODlhAAIAAg==",
        "detail": "high",
    },
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


@pytest.mark.parametrize("wrong", ["images", ["image"], [["images"]], [None], {"x": 1}])
def test_wrong_names(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"^drop_first is .*; it must be a list of some of images"):
        fit_messages(CHAT, 1000, model="gpt-4o", drop_first=wrong)


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
