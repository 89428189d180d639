"""Chat templates: a conversation as the text that a model was trained with.

They are found beside a vocabulary, as ``transformers`` finds them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..encodings.encoding import Encoding
from ..encodings.local_stores import find_stored
from ..files.whole import open_regular, read_whole, utf8_text
from ..formats.checked_json import Json
from ..formats.settings_beside import settings_beside
from .base import ChatFormat, MessageCount, Request
from .kimi import declared, in_order
from .messages import REASONING, Object, Plain, fail, reasoning_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import jinja2

#: The mark after the text that the model goes on with: it marks the end in the rendered text. No
#: filter changes its characters, and the space at its end shows whether a template strips texts.
_MARK = "THE_MODEL_GOES_ON_HERE_3F61C09D "

_NO_FORM = (
    "the chat template does not show response_format to the model; words that servers add for it "
    "are not counted"
)

#: The variables that every template has; they are arguments of ``render``.
_GIVEN = frozenset(("messages", "tools", "documents", "add_generation_prompt"))


class ChatTemplate:
    """The chat template of a model, or several by name.

    It renders the text of ``apply_chat_template`` in ``transformers``. It needs the extra
    ``compat-bpe[chat]``. A template is a program, mostly from outside. It runs in the sandbox of
    jinja2, without access to files and the like, and with a bound on its time.

    Args:
        templates: the text of the template in Jinja; or templates by name, of which ``"default"``
            is used, and ``"tool_use"`` if there are tools.
        special_tokens: the special tokens by their roles, such as ``{"bos_token": "<s>"}``.

    >>> template = ChatTemplate(
    ...     "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{{ eos_token }}{% endfor %}"
    ...     "{% if add_generation_prompt %}<|assistant|>{% endif %}",
    ...     {"eos_token": "</s>"},
    ... )
    >>> template.render([{"role": "user", "content": "hi"}])
    '<|user|>hi</s><|assistant|>'
    """

    def __init__(
        self, templates: Mapping[str, str] | str, special_tokens: Mapping[str, str] | None = None
    ) -> None:
        by_name = {"default": templates} if isinstance(templates, str) else dict(templates)
        if not by_name or not all(isinstance(one, str) for one in by_name.values()):
            raise ValueError("a chat template must be a string, or several by name")
        self.templates: dict[str, str] = by_name
        self.special_tokens: dict[str, str] = dict(special_tokens or {})
        self._compiled: dict[str, jinja2.Template] = {}

    def __repr__(self) -> str:
        return f"<ChatTemplate {', '.join(self.templates)}>"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_compiled": {}}

    def named(self, name: str) -> ChatTemplate:
        """Return the single template of a name, such as ``"rag"``.

        Raises:
            KeyError: there is none.
        """
        if name not in self.templates:
            raise KeyError(f"no chat template {name!r}; there are {', '.join(self.templates)}")
        return ChatTemplate(self.templates[name], self.special_tokens)

    def render(
        self,
        messages: Sequence[Object],
        *,
        tools: Sequence[Object] | None = None,
        documents: Sequence[Object] | None = None,
        add_generation_prompt: bool = True,
        continue_final_message: bool | str = False,
        variables: Mapping[str, Any] | None = None,
    ) -> str:
        """Return the text of a conversation.

        Args:
            messages, tools, documents, add_generation_prompt, continue_final_message, variables:
                as in ``count_messages``.

        Raises:
            ImportError: jinja2 is not installed.
            ValueError: a message or tool is wrong; or the template is wrong, refuses the messages,
                or takes too long.
        """
        return self.render_request(
            Request.checked(
                messages, tools, documents, add_generation_prompt, continue_final_message, variables
            )
        )

    def render_request(self, request: Request) -> str:
        """Return the text of a request that is checked already.

        Raises:
            ImportError, ValueError: as in ``render``.
        """
        twice = sorted(_GIVEN & request.variables.keys())
        if twice:
            fail("variables", f"has {', '.join(twice)}; pass them as arguments of their own")
        name = self._name(request)
        messages = [_with_reasoning(message) for message in request.messages]
        said = ""
        if request.continue_final_message:
            said = _mark_end(messages[-1], request.continue_final_message, self.templates[name])
        extra: dict[str, Any] = {}
        if request.response_format is not None and self.shows(request, "response_format"):
            extra["response_format"] = request.response_format.given
        tools = request.tools
        if tools and self.shows(request, "tools_ts_str"):
            tools = in_order(tools)
            declaration = declared(tools)
            if declaration is not None:
                extra["tools_ts_str"] = declaration
        text = _sandbox().render_template(
            self._template(name),
            {
                **self.special_tokens,
                **extra,
                **request.variables,
                "messages": messages,
                "tools": tools,
                "documents": request.documents,
                "add_generation_prompt": request.add_generation_prompt,
            },
        )
        return _cut_at_mark(text, said) if request.continue_final_message else text

    def shows(self, request: Request, name: str) -> bool:
        """Return True if the template for a request uses a variable of this name."""
        return name in self.templates[self._name(request)]

    def _name(self, request: Request) -> str:
        if request.tools is not None and "tool_use" in self.templates:
            return "tool_use"
        if "default" in self.templates:
            return "default"
        raise ValueError(
            f"none of the chat templates {', '.join(self.templates)} is the default; "
            "choose one with named()"
        )

    def _template(self, name: str) -> jinja2.Template:
        if name not in self._compiled:
            self._compiled[name] = _sandbox().compile_template(self.templates[name])
        return self._compiled[name]


class TemplateFormat(ChatFormat):
    """The count of a request to a model with a chat template.

    Args:
        encoding: the model's encoding.
        template: its chat template.
    """

    def __init__(self, encoding: Encoding, template: ChatTemplate) -> None:
        super().__init__(encoding)
        self._template = template

    def count(self, request: Request) -> MessageCount:
        """Return the number of tokens of a request; special tokens in the text are tokens.

        Raises:
            ImportError, ValueError: as in ``ChatTemplate.render``.
        """
        text = self._template.render_request(request)
        is_hidden = request.response_format is not None and not self._template.shows(
            request, "response_format"
        )
        return MessageCount(
            len(self.encoding.encode(text, allowed_special="all")), _NO_FORM if is_hidden else ""
        )


def _sandbox() -> Any:
    """Return the module that renders.

    Raises:
        ImportError: jinja2 is not installed, or too old.
    """
    try:
        from . import sandbox
    except ImportError as error:
        raise ImportError(
            "a chat template needs jinja2: pip install '.[chat]' in a checkout of compat-bpe"
        ) from error
    return sandbox


def _with_reasoning(message: Plain) -> Plain:
    """Return a message without members that are None; its thoughts get all names in use."""
    message = {name: value for name, value in message.items() if value is not None}
    thought = reasoning_of(message)
    if thought is None:
        return message
    return {"thinking": thought, **message, "reasoning_content": thought}


def _mark_end(message: Plain, member: bool | str, template: str) -> str:
    """Put a mark after the text of a message that the model goes on with; return the text.

    Raises:
        ValueError: there is no such text, or the template does not use it.
    """
    name = member if isinstance(member, str) else "content"
    said = message.get(name)
    if said is None:
        raise ValueError(f"continue_final_message: the last message has no {name!r}")
    names = [name]
    if name in REASONING:
        names = [one for one in REASONING if message.get(one) == said]
    if not any(one in template for one in names):
        raise ValueError(f"continue_final_message: the chat template does not use {name!r}")
    if isinstance(said, str):
        for one in names:
            message[one] = said + _MARK
        return said
    parts = said if isinstance(said, (list, tuple)) else []
    for part in reversed(parts):
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            text: str = part["text"]
            part["text"] = text + _MARK
            return text
    raise ValueError(f"continue_final_message: {name!r} of the last message has no text")


def _cut_at_mark(text: str, said: str) -> str:
    """Return a rendered conversation up to the mark.

    Raises:
        ValueError: the mark, or the text before it, is missing.
    """
    at = text.rfind(_MARK.strip())
    if at < 0 or said.strip() not in text:
        raise ValueError("continue_final_message: the chat template leaves the last message out")
    # A template that strips its messages would have stripped this one, too. It may use the message
    # more than once.
    if text.startswith(_MARK, at):
        return text[:at].replace(_MARK, "")
    return text[:at].rstrip().replace(_MARK.strip(), "")


#: The largest template that is read, in bytes.
_SIZE_LIMIT = 1 << 22


def load_chat_template(path: str | os.PathLike[str]) -> ChatTemplate:
    """Load the chat template of a model from its folder.

    It is in ``chat_template.jinja``, and others by name in ``additional_chat_templates``; or else
    in ``tokenizer_config.json``, as one template or a list of them. The special tokens that it
    uses are in ``tokenizer_config.json`` or ``special_tokens_map.json``. A GGUF file contains all
    of them.

    Args:
        path: the folder, any file in it, a name like ``hf:OWNER/NAME`` (see ``load``), or a
            template by itself (``*.jinja``).

    Raises:
        OSError: a file cannot be read.
        ValueError: there is no template, or a file is damaged.

    >>> load_chat_template("fixtures/gpt2_small")
    Traceback (most recent call last):
    ValueError: fixtures/gpt2_small: there is no chat template in this folder
    """
    template = find_chat_template(path)
    if template is None:
        found = Path(find_stored(os.fspath(path)).path)
        folder = found if found.is_dir() else found.parent
        raise ValueError(f"{folder}: there is no chat template in this folder")
    return template


def find_chat_template(path: str | os.PathLike[str]) -> ChatTemplate | None:
    """Load the chat template of a model; return None if there is none.

    Raises:
        OSError, ValueError: as in ``load_chat_template``.
    """
    given = Path(find_stored(os.fspath(path)).path)
    in_gguf = _of_gguf(given) if _is_gguf(given) else None
    if in_gguf is not None:
        return in_gguf
    folder = given if given.is_dir() else given.parent
    settings = settings_beside(folder / "tokenizer_config.json")
    templates: dict[str, str] = {}
    single = given if given.suffix == ".jinja" else folder / "chat_template.jinja"
    if single == given or single.is_file():
        templates["default"] = _read(single)
    for file in sorted((folder / "additional_chat_templates").glob("*.jinja")):
        templates[file.stem] = _read(file)
    if not templates:
        in_config = settings.config.get("chat_template")
        if in_config is None:
            files = list(given.glob("*.gguf"))  # there are none if it is a file
            return _of_gguf(files[0]) if len(files) == 1 else None
        templates = _templates(in_config)
    tokens = {role: one["content"] for role, one in settings.special_tokens({}).items()}
    return ChatTemplate(templates, tokens)


def _is_gguf(path: Path) -> bool:
    """Return True if a path leads to a GGUF file; Ollama's have no such ending."""
    if not path.is_file():
        return False
    with open_regular(path) as file:
        return file.read(4) == b"GGUF"


def _of_gguf(path: Path) -> ChatTemplate | None:
    """Return the template in a GGUF file; None if there is none."""
    from ..formats.gguf.container import read_templates  # few models have such files

    templates, tokens = read_templates(path)
    return ChatTemplate(templates, tokens) if templates else None


def _templates(part: Json) -> dict[str, str]:
    """Return the templates of a ``tokenizer_config.json`` by name."""
    if isinstance(part.value, str):
        return {"default": part.text()}
    if isinstance(part.value, dict):
        return {name: part[name].text() for name in part.mapping()} or part.fail("is empty")
    templates = {one["name"].text(): one["template"].text() for one in part.items()}
    return templates or part.fail("is empty")


def _read(path: Path) -> str:
    # As a file of text is read: line ends of all kinds become "\n".
    text = utf8_text(read_whole(path, _SIZE_LIMIT), str(path))
    return text.replace("\r\n", "\n").replace("\r", "\n")
