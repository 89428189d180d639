"""The tokens that OpenAI's service adds to the texts of a request, by model and endpoint.

The numbers for plain messages are those of OpenAI's notebook "How to count tokens with tiktoken".
All others are derived from recorded requests and the tokens that were billed for them, which are
the cases of ``tests/usage``; ``docs/billed.md`` has how far they agree.

https://github.com/openai/openai-cookbook/blob/main/examples/How_to_count_tokens_with_tiktoken.ipynb
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .base import Endpoint


class Rule(NamedTuple):
    """The tokens beside the texts of a request.

    Args:
        reply: those with which the reply begins.
        per_message: those of each message.
        per_name: those of each name.
        tools: those beside the text of the tools, without a message of the system's.
        tools_beside_system: the same with one; its text then ends in a line break if ``pads`` is
            True.
        pads: see above.
        no_parameters: what is added if no tool has parameters.
        by_lines: True if the tools are written in the style of June 2023.
        choice: True if ``tool_choice`` has tokens.
        call: those of each call of a tool.
        form: those beside the text of a ``response_format``.
        form_beside_tools: the same if there are tools.
        counts_system: False if messages of the system's are left out.
        per_answer: what is added for each text of the assistant's.
    """

    reply: int = 3
    per_message: int = 3
    per_name: int = 1
    tools: int = 9
    tools_beside_system: int = 5
    pads: bool = True
    no_parameters: int = 0
    by_lines: bool = False
    choice: bool = True
    call: int = 3
    form: int = 7
    form_beside_tools: int = 1
    counts_system: bool = True
    per_answer: int = 0


_CHAT = Rule()
_REASONING = Rule(
    reply=2, tools=10, tools_beside_system=9, choice=False, call=9, form=4, form_beside_tools=4
)
_SEARCH = Rule(reply=2, counts_system=False)


class Known(NamedTuple):
    """The models whose names a pattern matches.

    Args:
        models: the pattern.
        like: the model whose rule this is, for notes.
        chat, responses: the rule at each endpoint.
        recorded_in_chat: a pattern of those whose plain requests at Chat Completions are published
            or recorded; all others are estimates.
        recorded_in_responses: the same at Responses.
    """

    models: str
    like: str
    chat: Rule
    responses: Rule
    recorded_in_chat: str
    recorded_in_responses: str = r"(?!)"


_RESPONSES = Rule(tools=3, tools_beside_system=3, pads=False, call=1, form=1)
_REASONING_RESPONSES = _REASONING._replace(
    tools=6, tools_beside_system=6, pads=False, call=7, form=0, form_beside_tools=0
)
_GPT_5_RESPONSES = _REASONING_RESPONSES._replace(
    tools=9, tools_beside_system=9, no_parameters=-1, per_answer=2
)
_BY_LINES = _CHAT._replace(by_lines=True)
_DATE = r"(-20\d\d-\d\d-\d\d)?"

#: The first that fits is taken.
_MODELS = (
    Known(
        r"gpt-(3\.5|35)-turbo-0301",
        "gpt-3.5-turbo-0301",
        Rule(per_message=4, per_name=-1, by_lines=True),
        _RESPONSES,
        r".*",
    ),
    # gpt-4 is another name of gpt-4-0613.
    Known(
        r"(ft:)?gpt-(3\.5|35)-turbo(-16k)?-0613.*|(ft:)?gpt-4(-32k)?(-0314|-0613)?(:.*)?",
        "gpt-4",
        _BY_LINES,
        _RESPONSES,
        r".*",
    ),
    Known(
        r"(ft:)?gpt-(3\.5|35|4-).*",
        "gpt-4",
        _CHAT,
        _RESPONSES,
        r"(ft:)?gpt-(3\.5|35)-turbo(-16k)?(-1106|-0125)?(:.*)?",
    ),
    Known(r"gpt-4o(-mini)?-search-.*", "gpt-4o-search-preview", _SEARCH, _SEARCH, r"(?!)"),
    Known(
        r"(ft:|chat)?gpt-4.*|gpt-5[^:]*-chat.*|gpt-(audio|realtime).*|",
        "gpt-4o",
        _CHAT,
        _RESPONSES,
        rf"((ft:)?gpt-4o(-mini)?{_DATE}(:.*)?|gpt-4\.1-(mini|nano){_DATE}|gpt-4\.5-preview{_DATE})",
        rf"(gpt-4o(-mini)?|gpt-4\.1(-mini|-nano)?){_DATE}",
    ),
    Known(
        r"gpt-5.*",
        "gpt-5",
        _REASONING._replace(tools=91, tools_beside_system=90, no_parameters=-1),
        _GPT_5_RESPONSES,
        rf"gpt-5(-mini|\.6-sol)?{_DATE}",
        rf"gpt-5(-mini|-pro|\.[2456]|\.6-sol)?{_DATE}",
    ),
    Known(
        r".*",
        "o4-mini",
        _REASONING,
        _REASONING_RESPONSES,
        rf"o[34]-mini{_DATE}",
        rf"o(3|3-mini|4-mini){_DATE}",
    ),
)


def rule_for(model: str, endpoint: Endpoint) -> tuple[Rule, str]:
    """Return the rule of a model, and the reason for which it is an estimate for plain messages.

    >>> rule_for("gpt-4o", "chat_completions")[1]
    ''
    >>> rule_for("o1", "responses")[1]
    'no request to o1 at Responses is published or recorded; the rule of o4-mini is taken'
    """
    known = next(one for one in _MODELS if re.fullmatch(one.models, model))
    in_chat = endpoint == "chat_completions"
    recorded = known.recorded_in_chat if in_chat else known.recorded_in_responses
    rule = known.chat if in_chat else known.responses
    if re.fullmatch(recorded, model):
        return rule, ""
    where = "Chat Completions" if in_chat else "Responses"
    whose = "its own rule, of two requests," if known.like == model else f"the rule of {known.like}"
    return rule, f"no request to {model} at {where} is published or recorded; {whose} is taken"
