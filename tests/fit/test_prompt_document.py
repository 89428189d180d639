"""Prompts of a ``Document``, which are those of its text; and templates by a model's name."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from compat_bpe.fit.document import Document
from compat_bpe.fit.prompt import fit_prompt
from compat_bpe.fit.prompt_template import fim_template
from tests.fit.prompts import encodings, short_texts, templates


@given(encodings, templates, short_texts, st.integers(0, 200), st.integers(0, 40), st.floats(0, 1))
def test_a_document_gives_the_same_prompt(
    encoding: Encoding, parts: list[str], text: str, place: int, limit: int, share: float
) -> None:
    document = Document(encoding, text * 3)
    offset = place % (len(document) + 1)
    whole = document.text
    template = "".join(parts)
    try:
        expected = fit_prompt(
            encoding, whole[:offset], whole[offset:], limit, template=template, share=share
        )
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error))):
            fit_prompt(document, offset, limit=limit, template=template, share=share)
        return
    assert fit_prompt(document, offset, limit=limit, template=template, share=share) == expected


@pytest.mark.parametrize("unit", ["word ", "x", " ", "\n", "def f(x):\n    return x\n\n\n", "世界"])
def test_a_document_of_anything(unit: str) -> None:
    encoding = get_encoding("cl100k_base")
    document = Document(encoding, unit * (200 // len(unit)))
    whole = document.text
    for offset in (0, 99, len(whole)):
        expected = fit_prompt(encoding, whole[:offset], whole[offset:], 8)
        assert fit_prompt(document, offset, limit=8) == expected


def test_tokens_that_are_long() -> None:
    """Then more of the text has to be looked at than usual."""
    encoding = get_encoding("cl100k_base")
    document = Document(encoding, " administration" * 500)
    whole, middle = document.text, 15 * 250
    for limit in (20, 50, 100):
        prompt = fit_prompt(document, middle, limit=limit, boundary="char")
        assert prompt == fit_prompt(
            encoding, whole[:middle], whole[middle:], limit, boundary="char"
        )
        assert prompt.count == limit


def test_a_document_is_not_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    encoding = get_encoding("cl100k_base")
    document = Document(encoding, "The quick brown fox, 42 of them.\n" * 20_000)
    monkeypatch.setattr(Document, "text", property(lambda _: pytest.fail("all of it")))
    taken = []
    part = Document.slice

    def slice_(self: Document, start: int, end: int) -> str:
        taken.append(end - start)
        return part(self, start, end)

    monkeypatch.setattr(Document, "slice", slice_)
    prompt = fit_prompt(document, 300_000, limit=1000)
    assert 990 <= prompt.count <= 1000
    assert sum(taken) < 20_000


@pytest.mark.parametrize(
    ("arguments", "error", "reason"),
    [
        ((6,), IndexError, "range 6 to 6 is outside of the document, which has 5 characters"),
        ((-1,), IndexError, "is outside of the document"),
        (("ab",), TypeError, "cannot be interpreted as an integer"),
        ((1, "x"), TypeError, "takes an offset and no texts"),
    ],
)
def test_wrong_arguments_for_a_document(
    arguments: tuple[Any, ...], error: type[Exception], reason: str
) -> None:
    document = Document(get_encoding("cl100k_base"), "hello")
    with pytest.raises(error, match=reason):
        fit_prompt(document, *arguments, limit=10)


def test_arguments_that_are_missing() -> None:
    encoding = get_encoding("cl100k_base")
    with pytest.raises(TypeError, match="needs a limit"):
        fit_prompt(encoding, "a", "b")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="needs a prefix and a suffix that are str"):
        fit_prompt(encoding, "a", limit=10)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="needs a prefix and a suffix that are str"):
        fit_prompt(encoding, 3, "b", 10)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "model",
    ["gpt-4o", "gpt-5.1", "o3-mini", "ft:gpt-4o:acme", "chatgpt-4o-latest", "gpt-oss-20b"]
    + ["claude-sonnet-4", "gemini-2.5-pro", "mistralai/Mistral-7B", "meta-llama/Llama-3.1-8B"],
)
def test_a_template_in_words_for_models_that_talk(model: str) -> None:
    encoding = get_encoding("o200k_base")
    template = fim_template(encoding, model)
    assert template.count("{prefix}") == template.count("{suffix}") == 1
    prompt = fit_prompt(encoding, "def f(", "):\n", 100, model=model)
    text = encoding.decode(prompt.ids)
    assert text == template.replace("{prefix}", "def f(").replace("{suffix}", "):\n")
    # Where the encoding has tokens for it, the model makes no difference.
    with_tokens = get_encoding("cl100k_base")
    assert fim_template(with_tokens, model) == fim_template(with_tokens)


@pytest.mark.parametrize(
    "model", ["gpt2", "text-embedding-3-small", "starcoder", "octopus", "davinci"]
)
def test_other_models_have_no_template_in_words(model: str) -> None:
    with pytest.raises(ValueError, match=f"no template is known for model '{model}'; give a templ"):
        fim_template(get_encoding("o200k_base"), model)


@pytest.mark.parametrize(
    "template",
    [
        "▁<PRE>{prefix}▁<SUF>{suffix}▁<MID>",
        "<[fim-suffix]>{suffix}<[fim-prefix]>{prefix}<[fim-middle]>",
    ],
)
def test_templates_by_tokens(template: str) -> None:
    names = re.split(r"\{prefix\}|\{suffix\}", template)
    encoding = Encoding(
        "own",
        pat_str=r"[\s\S]",
        mergeable_ranks={bytes([i]): i for i in range(256)},
        special_tokens={name: 256 + at for at, name in enumerate(filter(None, names))},
    )
    assert fim_template(encoding) == template
