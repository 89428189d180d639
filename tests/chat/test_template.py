"""Chat templates: what they may use, and where they are found."""

from __future__ import annotations

import json
import pickle
import re
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import get_encoding
from compat_bpe.chat import ChatTemplate, count_messages, load_chat_template
from compat_bpe.chat.sandbox import budget
from compat_bpe.save import save_tokenizer_json
from compat_bpe.train import train_bpe
from tests.chat.families import SPECIAL_TOKENS, TEMPLATES

CHAT: list[dict[str, Any]] = [
    {"role": "user", "content": " Hi "},
    {"role": "assistant", "content": "Hello!"},
    {"role": "user", "content": "Bye"},
]
CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": {"a": "<é>"}}}
TOOL = {"type": "function", "function": {"name": "f", "description": "It's <b>"}}

#: What transformers 5.23.0 makes of ``CHAT`` with each template.
EXPECTED = {
    "chatml": "<|im_start|>system\nBe helpful.<|im_end|>\n<|im_start|>user\n Hi <|im_end|>\n"
    "<|im_start|>assistant\nHello!<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n"
    "<|im_start|>assistant\n",
    "llama 2": "<s>[INST] Hi [/INST]\n Hello! </s>\n<s>[INST] Bye [/INST]\n",
    "llama 3": "<s><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\nHello!<|eot_id|>"
    "<|start_header_id|>user<|end_header_id|>\n\nBye<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\n",
    "mistral": "<s>[INST]  Hi [/INST] Hello!</s>[INST] Bye[/INST]",
    "gemma": "<s><start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\nHello!<end_of_turn>\n"
    "<start_of_turn>user\nBye<end_of_turn>\n<start_of_turn>model\n",
    "phi": "<|user|>\n Hi <|end|>\n<|assistant|>\nHello!<|end|>\n<|user|>\nBye<|end|>\n"
    "<|assistant|>\n",
    "qwen": "<|im_start|>user\n Hi <|im_end|>\n<|im_start|>assistant\nHello!<|im_end|>\n"
    "<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n",
    "deepseek": "<s><｜User｜> Hi <｜Assistant｜>Hello!</s><｜User｜>Bye<｜Assistant｜>",
    "rag": "user:  Hi  -- nobodyassistant: Hello! -- nobodyuser: Bye -- nobody",
}


def render(text: str, messages: list[dict[str, Any]] = CHAT, **arguments: Any) -> str:
    return ChatTemplate(text, SPECIAL_TOKENS).render(messages, **arguments)


@pytest.mark.parametrize("name", TEMPLATES)
def test_each_family(name: str) -> None:
    assert render(TEMPLATES[name]) == EXPECTED[name]


def test_blocks_take_their_line() -> None:
    form = "a\n  {% if true %}\n  b\n  {% endif %}\nc{# d #}\n"
    assert render(form) == "a\n  b\nc"


def test_tools_are_given_as_json_without_escapes_for_html() -> None:
    chat = [{"role": "assistant", "content": None, "tool_calls": [CALL]}]
    form = "{{ tools[0] | tojson }}|{{ messages[0].tool_calls[0] | tojson(indent=1) }}"
    first, second = render(form, chat, tools=[TOOL]).split("|")
    assert first == json.dumps(TOOL)
    assert second.startswith('{\n "id": "1",\n')
    assert '"a": "<é>"' in second


def test_tojson_has_its_parameters() -> None:
    chat = [{"role": "user", "content": "é", "b": 1, "a": [1]}]
    form = "{{ messages[0] | tojson(ensure_ascii=true, separators=(',', ':'), sort_keys=true) }}"
    assert render(form, chat) == '{"a":[1],"b":1,"content":"\\u00e9","role":"user"}'


def test_members_that_are_none_are_left_out() -> None:
    form = "{% for m in messages %}{{ m.content is defined }} {{ m.keys() | list }};{% endfor %}"
    assert render(form, [{"role": "a", "content": None}]) == "False ['role'];"


def test_thoughts_have_each_name() -> None:
    form = "{{ messages[0].thinking }}|{{ messages[0].reasoning_content }}"
    for name in ("reasoning", "thinking", "reasoning_content"):
        assert render(form, [{"role": "a", "content": "", name: "hm"}]) == "hm|hm"


def test_named_templates() -> None:
    template = ChatTemplate({"default": "usual", "tool_use": "tools", "rag": "{{ documents }}"})
    assert template.render(CHAT) == "usual"
    assert template.render(CHAT, tools=[]) == "tools"
    assert template.named("rag").render(CHAT, documents=[{"a": "b"}]) == "[{'a': 'b'}]"
    with pytest.raises(KeyError, match="no chat template 'x'; there are default, tool_use, rag"):
        template.named("x")
    with pytest.raises(ValueError, match="none of the chat templates a, b is the default"):
        ChatTemplate({"a": "", "b": ""}).render(CHAT)
    for wrong in ({}, {"default": 3}):
        with pytest.raises(ValueError, match="a chat template must be a string"):
            ChatTemplate(wrong)  # type: ignore[arg-type]


def test_variables() -> None:
    form = "{{ bos_token }}{{ thinks }}{{ add_generation_prompt }}"
    assert render(form, variables={"thinks": [0]}) == "<s>[0]True"
    assert render(form, variables={"bos_token": "B"}, add_generation_prompt=False) == "BFalse"
    with pytest.raises(ValueError, match="variables: has messages; pass them as arguments of"):
        render(form, variables={"messages": []})


def test_the_date() -> None:
    form = "{{ strftime_now('%Y-%m-%d') }}"
    before = datetime.now().strftime("%Y-%m-%d")
    assert render(form) in (before, datetime.now().strftime("%Y-%m-%d"))


class TestContinuing:
    CHAT = (CHAT[0], {"role": "assistant", "content": "The answer is "})

    def test_the_end_is_open(self) -> None:
        found = render(TEMPLATES["qwen"], list(self.CHAT), continue_final_message=True)
        assert found.endswith("<|im_start|>assistant\nThe answer is ")

    def test_a_template_that_strips_ends(self) -> None:
        found = render(TEMPLATES["llama 3"], list(self.CHAT), continue_final_message=True)
        assert found.endswith("<|end_header_id|>\n\nThe answer is")

    def test_the_last_text_part(self) -> None:
        parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, {"type": "image"}]
        form = "{% for p in messages[-1].content %}{{ p.text }}.{% endfor %}"
        chat = [{"role": "assistant", "content": parts}]
        assert render(form, chat, continue_final_message=True) == "a.b"
        assert parts[1] == {"type": "text", "text": "b"}

    def test_another_member(self) -> None:
        form = "<{{ messages[0].thinking }}>{{ messages[0].content }}"
        chat = [{"role": "assistant", "content": "x", "reasoning_content": "so"}]
        assert render(form, chat, continue_final_message="reasoning_content") == "<so"

    @pytest.mark.parametrize("trim", ["", " | trim"])
    def test_a_message_that_is_used_twice_is_not_marked(self, trim: str) -> None:
        form = (
            f"{{{{ messages[-1].content{trim} }}}} again: {{{{ messages[-1].content{trim} }}}}<end>"
        )
        chat = [{"role": "assistant", "content": "a b"}]
        assert render(form, chat, continue_final_message=True) == "a b again: a b"

    @pytest.mark.parametrize(
        ("form", "message", "reason"),
        [
            ("{{ messages[0].content }}", {"role": "a"}, "the last message has no 'content'"),
            ("{{ messages }}", {"role": "a", "content": "x"}, "does not use 'content'"),
            ("{# content #}", {"role": "a", "content": "x"}, "leaves the last message out"),
            ("content", {"role": "a", "content": []}, "'content' of the last message has no text"),
            ("content", {"role": "a", "content": 3}, "'content' of the last message has no text"),
        ],
    )
    def test_nothing_to_go_on_with(self, form: str, message: dict[str, Any], reason: str) -> None:
        with pytest.raises(ValueError, match=f"^continue_final_message: .*{reason}"):
            render(form, [message], continue_final_message=True)


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ("{{ raise_exception('Only users!') }}", "the chat template rejects the request: Only us"),
        ("\n{% if %}", "chat template: line 2: Expected an expression"),
        ("{{ 'x' | nothing }}", "chat template: line 1: No filter named 'nothing'."),
        ("{{ messages.x.y }}", "the chat template fails: 'list object' has no attribute 'x'"),
        ("{{ 'a' + 1 }}", "the chat template fails: TypeError: "),
        ("{{ 1 / 0 }}", "the chat template fails: ZeroDivisionError: division by zero"),
        ("{{ messages.__class__.__mro__ }}", "the chat template fails: access to attribute '__cla"),
        ("{{ messages.append(1) }}", "the chat template fails: access to attribute 'append' of 'l"),
        ("{% set ns = namespace(__x=1) %}", "the chat template fails: a namespace has no att"),
        ("{% set ns = namespace() %}{% set ns.__x = 1 %}", "the chat template fails: a namespace"),
        ("{% include 'x' %}", "chat template: line 1: 'include' is not allowed"),
        ("{% autoescape true %}{% endautoescape %}", "chat template: line 1: 'autoescape' is not"),
        ("{{ 'x'.ljust(9) }}", "the chat template fails: access to attribute 'ljust' of 'str"),
        ("{{ 'x' | pprint }}", "chat template: line 1: No filter named 'pprint'."),
        ("{{ lipsum() }}", "the chat template fails: 'lipsum' is undefined"),
        ("{{ 'x'() }}", "the chat template fails: a str cannot be called"),
        ("{{ missing + 'x' }}", "the chat template fails: 'missing' is undefined"),
        ("{{ 'x' + missing }}", "the chat template fails: 'missing' is undefined"),
        ("{{ missing[1:] }}", "the chat template fails: 'missing' is undefined"),
        ("{{ missing() }}", "the chat template fails: 'missing' is undefined"),
        ("{{ {}.keys() - [] }}", "the chat template fails: TypeError: unsupported operand type"),
        ("{" * 3, "chat template: line 1: "),
        ("(" * 9, ""),
        ("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", "chat template: nested too deeply"),
    ],
)  # fmt: skip
def test_templates_that_fail(form: str, reason: str) -> None:
    if not reason:
        assert render(form) == form
        return
    with pytest.raises(ValueError, match=f"^{re.escape(reason)}"):
        render(form)


def test_a_template_that_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "SECONDS", -1)
    with pytest.raises(ValueError, match=r"^the chat template fails: it takes more than"):
        render("{% for m in range(9999) %}{% endfor %}")


def test_a_long_conversation_is_no_endless_one() -> None:
    chat = [{"role": ("user", "assistant")[at % 2], "content": "x" * 100} for at in range(5_000)]
    assert len(render(TEMPLATES["qwen"], chat)) > 500_000


def test_the_count() -> None:
    encoding = get_encoding("deepseek_v3")
    template = ChatTemplate(TEMPLATES["deepseek"], {"eos_token": "<｜end▁of▁sentence｜>"})
    ids = encoding.encode(template.render(CHAT), allowed_special="all")
    # Special tokens in the text are tokens.
    assert len(ids) == 11
    assert encoding.encode_single_token("<｜end▁of▁sentence｜>") in ids
    found = count_messages(CHAT, encoding=encoding, template=template)
    assert found == 11
    assert not found.is_estimate
    by_text = count_messages(CHAT, model="deepseek-v3", template="{{ messages[1].content }}")
    assert by_text == encoding.count("Hello!")


def test_a_template_can_be_sent() -> None:
    template = ChatTemplate(TEMPLATES["gemma"], SPECIAL_TOKENS)
    template.render(CHAT)
    assert pickle.loads(pickle.dumps(template)).render(CHAT) == EXPECTED["gemma"]
    assert repr(template) == "<ChatTemplate default>"


WITHOUT_JINJA = """
import sys
sys.modules["jinja2"] = None
from compat_bpe.chat import ChatTemplate, count_messages, load_chat_template
chat = [{"role": "user", "content": "hi"}]
print(count_messages(chat, model="gpt-4o"), count_messages(chat, model="deepseek-v3"))
try:
    ChatTemplate("x").render(chat)
except ImportError as error:
    print(error)
"""


def test_only_rendering_needs_jinja2() -> None:
    printed = subprocess.run(
        [sys.executable, "-c", WITHOUT_JINJA], capture_output=True, text=True, check=True
    ).stdout
    install = "pip install '.[chat]' in a checkout of compat-bpe"
    assert printed == f"8 4\na chat template needs jinja2: {install}\n"


GREETING = [{"role": "user", "content": "hi"}]


def folder_with(folder: Path, config: dict[str, Any], **files: str) -> Path:
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path = path.with_name(path.name + ".jinja")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode())
    return folder


def test_a_template_in_the_config(tmp_path: Path) -> None:
    config = {
        "chat_template": "{{ bos_token }}{{ eos_token }}{{ pad_token }}",
        "bos_token": "<s>",
        "eos_token": {"content": "</s>", "lstrip": False},
        "pad_token": None,
    }
    folder_with(tmp_path, config)
    for path in (tmp_path, tmp_path / "tokenizer.json", str(tmp_path)):
        template = load_chat_template(path)
        assert template.special_tokens == {"bos_token": "<s>", "eos_token": "</s>"}
        assert template.render(GREETING) == "<s></s>"


def test_a_list_of_templates(tmp_path: Path) -> None:
    listed = [{"name": "default", "template": "a"}, {"name": "tool_use", "template": "b"}]
    template = load_chat_template(folder_with(tmp_path, {"chat_template": listed}))
    assert template.templates == {"default": "a", "tool_use": "b"}
    assert template.render(GREETING, tools=[]) == "b"


def test_files_come_before_the_config(tmp_path: Path) -> None:
    folder_with(
        tmp_path,
        {"chat_template": "old"},
        chat_template="a\r\nb",
        additional_chat_templates__rag="c",
    )
    assert load_chat_template(tmp_path).templates == {"default": "a\nb", "rag": "c"}


def test_a_template_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "mine.jinja"
    path.write_text("x{{ messages | length }}")
    assert load_chat_template(path).render(GREETING) == "x1"


def test_special_tokens_of_older_folders(tmp_path: Path) -> None:
    folder_with(tmp_path, {"chat_template": "{{ bos_token }}"})
    (tmp_path / "special_tokens_map.json").write_text('{"bos_token": "<b>"}')
    assert load_chat_template(tmp_path).render(GREETING) == "<b>"


def test_an_encoding_by_its_path_has_the_template_beside_it(tmp_path: Path) -> None:
    made = train_bpe(["hi"], 258, special_tokens=["<|user|>"])
    save_tokenizer_json(made, tmp_path / "tokenizer.json")
    form = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"
    folder_with(tmp_path, {}, chat_template=form)
    assert count_messages(GREETING, encoding=tmp_path) == 2
    assert count_messages(GREETING, encoding=str(tmp_path / "tokenizer.json")) == 2
    own = ChatTemplate("{{ messages[0].content }}")
    assert count_messages(GREETING, encoding=tmp_path, template=own) == 1


def test_a_model_and_a_template_beside_the_encoding_are_not_both_taken(tmp_path: Path) -> None:
    save_tokenizer_json(train_bpe(["a"], 256, pattern="gpt2"), tmp_path / "tokenizer.json")
    folder_with(tmp_path, {"chat_template": "{{ messages[0].content }}"})
    assert count_messages(GREETING, encoding=tmp_path) == 2
    with pytest.raises(ValueError, match="'gpt-4o' has a chat format of its own"):
        count_messages(GREETING, encoding=tmp_path, model="gpt-4o")
    own = load_chat_template(tmp_path)
    assert count_messages(GREETING, encoding=tmp_path, model="gpt-4o", template=own) == 2


def test_no_template(tmp_path: Path) -> None:
    save_tokenizer_json(train_bpe(["hi"], 257), tmp_path / "tokenizer.json")
    with pytest.raises(ValueError, match="there is no chat template in this folder"):
        load_chat_template(tmp_path)
    with pytest.raises(ValueError, match=r"no chat format is known for .*; pass template="):
        count_messages(GREETING, encoding=tmp_path)
    with pytest.raises(FileNotFoundError):
        load_chat_template(tmp_path / "none.jinja")


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"chat_template": 3}, "chat_template: must be a list, not an integer"),
        ({"chat_template": []}, "chat_template: is empty"),
        ({"chat_template": {}}, "chat_template: is empty"),
        ({"chat_template": [{"name": "a"}]}, r"chat_template\[0\]: there is no 'template'"),
        ({"chat_template": [{"name": 1, "template": ""}]}, r"chat_template\[0\].name: must be a"),
        ({"chat_template": "x", "bos_token": 3}, "bos_token: must be a string"),
    ],
)
def test_damaged_configs(tmp_path: Path, config: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=f"tokenizer_config.json: {reason}"):
        load_chat_template(folder_with(tmp_path, config))


def test_damaged_files(tmp_path: Path) -> None:
    path = tmp_path / "chat_template.jinja"
    path.write_bytes(b"a\nb\xff")
    with pytest.raises(ValueError, match=r"chat_template.jinja: line 2: not UTF-8"):
        load_chat_template(tmp_path)
    path.write_bytes(b"x" * (1 << 22) + b"x")
    with pytest.raises(ValueError, match=r"chat_template.jinja: larger than 4,194,304 bytes"):
        load_chat_template(tmp_path)
