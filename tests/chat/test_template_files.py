"""Chat templates in the files of a model, as transformers reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compat_bpe.chat import ChatTemplate, count_messages, load_chat_template
from compat_bpe.save import save_tokenizer_json
from compat_bpe.train import train_bpe

CHAT = [{"role": "user", "content": "hi"}]


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
        assert template.render(CHAT) == "<s></s>"


def test_a_list_of_templates(tmp_path: Path) -> None:
    listed = [{"name": "default", "template": "a"}, {"name": "tool_use", "template": "b"}]
    template = load_chat_template(folder_with(tmp_path, {"chat_template": listed}))
    assert template.templates == {"default": "a", "tool_use": "b"}
    assert template.render(CHAT, tools=[]) == "b"


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
    assert load_chat_template(path).render(CHAT) == "x1"


def test_special_tokens_of_older_folders(tmp_path: Path) -> None:
    folder_with(tmp_path, {"chat_template": "{{ bos_token }}"})
    (tmp_path / "special_tokens_map.json").write_text('{"bos_token": "<b>"}')
    assert load_chat_template(tmp_path).render(CHAT) == "<b>"


def test_an_encoding_by_its_path_has_the_template_beside_it(tmp_path: Path) -> None:
    made = train_bpe(["hi"], 258, special_tokens=["<|user|>"])
    save_tokenizer_json(made, tmp_path / "tokenizer.json")
    form = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"
    folder_with(tmp_path, {}, chat_template=form)
    assert count_messages(CHAT, encoding=tmp_path) == 2
    assert count_messages(CHAT, encoding=str(tmp_path / "tokenizer.json")) == 2
    own = ChatTemplate("{{ messages[0].content }}")
    assert count_messages(CHAT, encoding=tmp_path, template=own) == 1


def test_a_model_and_a_template_beside_the_encoding_are_not_both_taken(tmp_path: Path) -> None:
    save_tokenizer_json(train_bpe(["a"], 256, pattern="gpt2"), tmp_path / "tokenizer.json")
    folder_with(tmp_path, {"chat_template": "{{ messages[0].content }}"})
    assert count_messages(CHAT, encoding=tmp_path) == 2
    with pytest.raises(ValueError, match="'gpt-4o' says one format, and the chat template beside"):
        count_messages(CHAT, encoding=tmp_path, model="gpt-4o")
    own = load_chat_template(tmp_path)
    assert count_messages(CHAT, encoding=tmp_path, model="gpt-4o", template=own) == 2


def test_no_template(tmp_path: Path) -> None:
    save_tokenizer_json(train_bpe(["hi"], 257), tmp_path / "tokenizer.json")
    with pytest.raises(ValueError, match="there is no chat template in this folder"):
        load_chat_template(tmp_path)
    with pytest.raises(ValueError, match="no chat format is known for it; give template="):
        count_messages(CHAT, encoding=tmp_path)
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
