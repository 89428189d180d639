"""The encoding of each model, by the model's name or by a prefix of it.

The table for OpenAI's models is that of tiktoken 0.14.0. The order of the prefixes counts, since
the first one that fits is taken.
"""

from __future__ import annotations

from collections.abc import Iterable

#: The name of a model → the name of its encoding.
MODEL_TO_ENCODING: dict[str, str] = {
    "o1": "o200k_base",
    "o3": "o200k_base",
    "o4-mini": "o200k_base",
    "gpt-5": "o200k_base",
    "gpt-4.1": "o200k_base",
    "gpt-4o": "o200k_base",
    "gpt-4": "cl100k_base",
    "gpt-3.5-turbo": "cl100k_base",
    "gpt-3.5": "cl100k_base",
    "gpt-35-turbo": "cl100k_base",  # as Azure spells it
    "davinci-002": "cl100k_base",
    "babbage-002": "cl100k_base",
    "text-embedding-ada-002": "cl100k_base",
    "text-embedding-3-small": "cl100k_base",
    "text-embedding-3-large": "cl100k_base",
    "text-davinci-003": "p50k_base",
    "text-davinci-002": "p50k_base",
    "text-davinci-001": "r50k_base",
    "text-curie-001": "r50k_base",
    "text-babbage-001": "r50k_base",
    "text-ada-001": "r50k_base",
    "davinci": "r50k_base",
    "curie": "r50k_base",
    "babbage": "r50k_base",
    "ada": "r50k_base",
    "code-davinci-002": "p50k_base",
    "code-davinci-001": "p50k_base",
    "code-cushman-002": "p50k_base",
    "code-cushman-001": "p50k_base",
    "davinci-codex": "p50k_base",
    "cushman-codex": "p50k_base",
    "text-davinci-edit-001": "p50k_edit",
    "code-davinci-edit-001": "p50k_edit",
    "text-similarity-davinci-001": "r50k_base",
    "text-similarity-curie-001": "r50k_base",
    "text-similarity-babbage-001": "r50k_base",
    "text-similarity-ada-001": "r50k_base",
    "text-search-davinci-doc-001": "r50k_base",
    "text-search-curie-doc-001": "r50k_base",
    "text-search-babbage-doc-001": "r50k_base",
    "text-search-ada-doc-001": "r50k_base",
    "code-search-babbage-code-001": "r50k_base",
    "code-search-ada-code-001": "r50k_base",
    "gpt2": "gpt2",
    "gpt-2": "gpt2",
}

#: The prefix of the name of a dated, fine-tuned or otherwise derived model → its encoding.
MODEL_PREFIX_TO_ENCODING: dict[str, str] = {
    "o1-": "o200k_base",
    "o3-": "o200k_base",
    "o4-mini-": "o200k_base",
    "gpt-5": "o200k_base",
    "gpt-4.5-": "o200k_base",
    "gpt-4.1-": "o200k_base",
    "chatgpt-4o-": "o200k_base",
    "gpt-4o-": "o200k_base",
    "gpt-4-": "cl100k_base",
    "gpt-3.5-turbo-": "cl100k_base",
    "gpt-35-turbo-": "cl100k_base",
    "gpt-oss-": "o200k_harmony",  # the only encoding that no full name leads to
    "ft:gpt-4o": "o200k_base",
    "ft:gpt-4": "cl100k_base",
    "ft:gpt-3.5-turbo": "cl100k_base",
    "ft:davinci-002": "cl100k_base",
    "ft:babbage-002": "cl100k_base",
}

#: The name of a model that is not OpenAI's → its encoding; tiktoken does not know these.
#: ``deepseek-chat`` and ``deepseek-reasoner`` name whatever model DeepSeek's service uses. Plain
#: text has the same number of tokens in each of DeepSeek's encodings.
OTHER_MODEL_TO_ENCODING: dict[str, str] = {
    "deepseek-chat": "deepseek_v3",
    "deepseek-reasoner": "deepseek_r1",
    "deepseek-r1": "deepseek_r1",
    "deepseek-r1-zero": "deepseek_r1",
    "deepseek-ai/DeepSeek-R1": "deepseek_r1",
    "deepseek-ai/DeepSeek-R1-Zero": "deepseek_r1",
}
#: The prefix of the name of a model that is not OpenAI's → its encoding. ``deepseek-r1-`` is not
#: among them: the distilled models, whose names begin like that, have another model's vocabulary.
OTHER_MODEL_PREFIX_TO_ENCODING: dict[str, str] = {
    "deepseek-v3": "deepseek_v3",
    "deepseek-r1-0": "deepseek_r1",
    "deepseek-v4": "deepseek_v4",
    "deepseek-ai/DeepSeek-V3": "deepseek_v3",
    "deepseek-ai/DeepSeek-R1-0": "deepseek_r1",
    "deepseek-ai/DeepSeek-V4": "deepseek_v4",
}


def model_names() -> list[str]:
    """Return the names of all known models, but no prefixes.

    >>> "gpt-4o" in model_names()
    True
    """
    return [*MODEL_TO_ENCODING, *OTHER_MODEL_TO_ENCODING]


def encoding_name_for_model(model_name: str) -> str:
    """Return the name of the encoding that a model uses, OpenAI's or another's.

    For a name that is in none of the tables, the first prefix that fits decides. So new versions
    of a model need no new entry, and models that do not exist can have an encoding.

    Args:
        model_name: for instance ``"gpt-4o"`` or ``"gpt-4o-2024-05-13"``; case counts.

    Raises:
        KeyError: no name and no prefix fits; the message lists similar names.

    >>> encoding_name_for_model("gpt-4o"), encoding_name_for_model("deepseek-v3-0324")
    ('o200k_base', 'deepseek_v3')
    """
    found = _find(model_name, OTHER_MODEL_TO_ENCODING, OTHER_MODEL_PREFIX_TO_ENCODING)
    return openai_encoding_name(model_name) if found is None else found


def openai_encoding_name(model_name: str) -> str:
    """Return the name of the encoding that a model of OpenAI uses; for any name, as in tiktoken.

    Raises:
        KeyError: as in ``encoding_name_for_model``.

    >>> openai_encoding_name("gpt-4o"), openai_encoding_name("ft:gpt-3.5-turbo:acme::1")
    ('o200k_base', 'cl100k_base')
    """
    found = _find(model_name, MODEL_TO_ENCODING, MODEL_PREFIX_TO_ENCODING)
    if found is None:
        raise KeyError(
            f"unknown model {model_name!r}{did_you_mean(model_name, model_names())}; "
            "get_encoding takes the name of an encoding"
        )
    return found


def _find(model_name: str, names: dict[str, str], prefixes: dict[str, str]) -> str | None:
    found = names.get(model_name)
    if found is None:
        found = next(
            (prefixes[prefix] for prefix in prefixes if model_name.startswith(prefix)), None
        )
    return found


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return words for an error message that list the similar known names; empty if none are.

    >>> did_you_mean("GPT4o", ["gpt-4o", "o1"])
    " (did you mean 'gpt-4o'?)"
    """
    from difflib import get_close_matches  # only errors need it

    close = get_close_matches(name.lower(), list(known))
    return f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""
