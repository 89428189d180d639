"""Templates of fill-in-the-middle prompts: by the tokens of an encoding, or by a model's name."""

from __future__ import annotations

import re

from .text_encoder import TextEncoder, check_encoding

#: Templates of models: OpenAI's and Qwen's, StarCoder's, SantaCoder's, DeepSeek's, Mistral's, Code
#: Llama's, Seed-Coder's.
_TEMPLATES = (
    "<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>",
    "<fim_prefix>{prefix}<fim_suffix>{suffix}<fim_middle>",
    "<fim-prefix>{prefix}<fim-suffix>{suffix}<fim-middle>",
    "<｜fim▁begin｜>{prefix}<｜fim▁hole｜>{suffix}<｜fim▁end｜>",
    "[SUFFIX]{suffix}[PREFIX]{prefix}",
    "▁<PRE>{prefix}▁<SUF>{suffix}▁<MID>",
    "<[fim-suffix]>{suffix}<[fim-prefix]>{prefix}<[fim-middle]>",
)

#: The template in words, for models that talk and have no tokens for this.
_IN_WORDS = (
    "Fill in the text at <CURSOR>. Answer with the missing text only.\n\n{prefix}<CURSOR>{suffix}"
)

#: Beginnings of the names of models that take it, without the maker's name and a slash.
_TALKING = re.compile(
    r"(ft:)?(gpt-(3\.5|35|4|5|6|oss)|chatgpt|o[134](-|$)|claude|gemini|deepseek|command-|grok|kimi|"
    r"llama-?[34]|mi[sx]tral|ministral|magistral|phi-[34]|qwen|gemma|glm)",
    re.IGNORECASE,
)


def fim_template(encoding: TextEncoder, model: str | None = None, *, in_words: bool = False) -> str:
    """Return the template with an encoding's own fill-in-the-middle tokens, or one in words.

    The token for the beginning of a text is not in it. Some models want that token first, and
    most servers add it. Put its name in front to have it in the prompt.

    Args:
        encoding: the model's encoding.
        model: the name of the model. If the encoding has no fill-in-the-middle tokens, and this is
            a model that one talks to, the template says in words what to do.
        in_words: True if it does so for any model, and for none.

    Raises:
        ValueError: the encoding has no fill-in-the-middle tokens, or none known here; and no model
            that one talks to is given, nor ``in_words``.

    >>> from compat_bpe import get_encoding
    >>> fim_template(get_encoding("cl100k_base"))
    '<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>'
    >>> print(fim_template(get_encoding("o200k_base"), "gpt-4o"))
    Fill in the text at <CURSOR>. Answer with the missing text only.
    <BLANKLINE>
    {prefix}<CURSOR>{suffix}
    """
    check_encoding(encoding)
    names = encoding.core.special.keys()
    for template in _TEMPLATES:
        if names >= set(filter(None, re.split(r"\{prefix\}|\{suffix\}", template))):
            return template
    if in_words or (model is not None and _TALKING.match(model.rpartition("/")[2])):
        return _IN_WORDS
    of_model = "" if model is None else f", and no template is known for model {model!r}"
    raise ValueError(
        f"encoding {encoding.name!r} has no fill-in-the-middle tokens{of_model}; "
        "give a template that contains {prefix} and {suffix}"
    )
