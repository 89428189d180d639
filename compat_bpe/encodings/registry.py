"""The encodings by name, each loaded on first use."""

from __future__ import annotations

from .encoding import Encoding
from .published import BASELINES, DEEPSEEK_NAMES, ENCODINGS, LOCK, all_encoding_names, load_ranks
from .published import list_encoding_names as list_encoding_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .resolve import Answer


def get_encoding(encoding_name: str) -> Encoding:
    """Return the encoding with a name, from the package's own files; always the same object.

    Several threads may call it at the same time.

    Raises:
        ValueError: no encoding has the name. The message lists the known names.

    >>> get_encoding("gpt2").encode("hello world")
    [31373, 995]
    """
    if isinstance(encoding_name, str):
        encoding: Encoding | None = ENCODINGS.get(encoding_name)
        if encoding is not None:
            return encoding
    if not isinstance(encoding_name, str) or encoding_name not in all_encoding_names():
        from .resolve import resolve  # imported here: only errors need it

        resolve(encoding_name, files=False)
    with LOCK:
        encoding = ENCODINGS.get(encoding_name)
        if encoding is None:
            # An encoding that was unpickled meanwhile may be registered already.
            encoding = ENCODINGS.setdefault(encoding_name, make_encoding(encoding_name))
        return encoding


def make_encoding(name: str) -> Encoding:
    """Return a new object for a shipped encoding; encodings share the ranks of a vocabulary."""
    if name in DEEPSEEK_NAMES:
        from .tokenizer import Tokenizer  # most programs need no tokenizer of several steps

        return Tokenizer.shipped(name)
    if name in BASELINES:
        from .baselines import Baseline

        return Baseline.shipped(name)
    return Encoding.shipped(name)


def unload() -> None:
    """Remove all loaded encodings and vocabularies; unused ones free their memory.

    >>> unload()
    """
    with LOCK:
        ENCODINGS.clear()
        load_ranks.cache_clear()


def encoding_name_for_model(model_name: str) -> str:
    """Return the name of the encoding that a model uses, of OpenAI or another maker.

    The name may be as services write it: with the provider and the region before it
    (``azure/eu/gpt-4o``), and with a variant, a version or a date behind it. Case does not matter.
    A name that is in no table gets the encoding of the first prefix that fits. So new versions of
    a model need no new entry, and models that do not exist can have an encoding.

    Args:
        model_name: for instance ``"gpt-4o"``, ``"gpt-4o-2024-05-13"`` or ``"openai/gpt-4o"``.

    Raises:
        KeyError: the model is not known, and the message lists similar names; or its vocabulary
            does not ship, and the message gives a way to count its tokens.

    >>> encoding_name_for_model("gpt-4o"), encoding_name_for_model("deepseek-v3-0324")
    ('o200k_base', 'deepseek_v3')
    >>> encoding_name_for_model("openrouter/openai/gpt-oss-20b:free")
    'o200k_harmony'
    """
    from .model_names import resolve_model  # imported here: encodings by name do not need it

    resolved = resolve_model(model_name)
    if isinstance(resolved, str):
        return resolved
    from .resolve import resolve  # imported here, as above

    return resolve(model_name, "model", files=False).encoding_name


def encoding_for_model(model_name: str) -> Encoding:
    """Return the encoding that a model uses.

    Args:
        model_name: as in ``encoding_name_for_model``.

    Raises:
        KeyError: the model is not known, or its vocabulary does not ship. The message gives a way
            to count its tokens.

    >>> encoding_for_model("gpt-4o").name
    'o200k_base'
    """
    return get_encoding(encoding_name_for_model(model_name))


def encoding_of(answer: Answer, pattern: str | None = None) -> Encoding:
    """Return the encoding of an answer of ``resolve``.

    Args:
        answer: the answer.
        pattern: as in ``load``, for a file.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is damaged or not supported.
    """
    if answer.path is None:
        return get_encoding(answer.encoding_name)
    from .load import load  # imported here: encodings by name do not need it

    return load(answer.path, pattern=pattern)
