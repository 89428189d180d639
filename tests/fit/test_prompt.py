"""Fill-in-the-middle prompts, of texts and of a ``Document``, compared with trying every place."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from compat_bpe.encodings.tokenizer import Rwkv, Tokenizer
from compat_bpe.fit import prompt as prompt_module
from compat_bpe.fit.boundary import BOUNDARIES, Boundary, rule_of
from compat_bpe.fit.edited_document import Document
from compat_bpe.fit.longest_part import longest_suffix
from compat_bpe.fit.prompt import fim_template, fit_prompt
from tests.drawn_models import BYTES, own_encoding
from tests.fit.hard_encodings import NAMES, encoding_of
from tests.fit.helpers import Counted
from tests.strategies import texts

#: Nothing may be cut anywhere, and a longer text often has fewer tokens.
_TOKENS = [b"ab", b"cd", b"\n\n", b"b\n", b"abcd", b"abcdab", b"xabcdab"]
ONE_CHUNK = own_encoding(
    r"[\s\S]+",
    {token: rank for rank, token in enumerate([*BYTES, *_TOKENS])},
    {"<|endoftext|>": 300, "<b>": 301},
)

#: Their added tokens are parts of those of the templates.
ODD = ("word pieces", "unigram, first", "word level", "llama, always", "llama, names")
encodings = st.sampled_from([*(name for name in NAMES if name not in ODD), "one chunk"]).map(
    lambda name: ONE_CHUNK if name == "one chunk" else encoding_of(name)
)

#: Templates by their parts, of which each is a token to some encodings and text to others.
templates = st.sampled_from(
    [
        ["<|fim_prefix|>", "{prefix}", "<|fim_suffix|>", "{suffix}", "<|fim_middle|>"],
        ["<｜fim▁begin｜>", "{prefix}", "<｜fim▁hole｜>", "{suffix}", "<｜fim▁end｜>"],
        ["<|endoftext|>", "{suffix}", "<|endoftext|>", "{prefix}"],
        ["<b>", "{prefix}", "<b>", "{suffix}"],
        ["{prefix}", "{suffix}"],
        ["{suffix}", "ab", "{prefix}", "<b>", "x"],
        ["Fill {} in:\n", "{prefix}", "<|fim_", "{suffix}", "prefix|>\n{0} ok"],
        ["it's", "<|endoftext|>", "a", "{prefix}", "'", "<|endoftext|>", "\n", "{suffix}", "b"],
    ]
)
NAMES_OF_TOKENS = ["<｜fim▁hole｜>", "<|endoftext|>", "<|fim_prefix|>", "<b>", "x<b>", "<", "b>"]

#: So short that every place can be tried.
short_texts = st.one_of(
    texts.map(lambda text: text[:60]),
    st.text("abcd \n\r", max_size=40),
    st.lists(st.sampled_from([*NAMES_OF_TOKENS, "a", "\n"]), max_size=6).map("".join),
)


def special_ids(encoding: Encoding) -> dict[str, int]:
    """All names that are a token somewhere."""
    names = set(encoding.special_tokens_set)
    if isinstance(encoding, Tokenizer):
        names |= {token.content for token in encoding.added_tokens}
    return {name: encoding.encode_single_token(name) for name in names}


@cache
def without(encoding: Encoding, names: frozenset[str]) -> Encoding:
    """An encoding that has not these names."""
    if not isinstance(encoding, Tokenizer) or isinstance(encoding, Rwkv) or not names:
        return encoding  # Its names are tokens only where they are allowed.
    left = tuple(token for token in encoding.added_tokens if token.content not in names)
    return Tokenizer("without", encoding.definition._replace(added_tokens=left))


def expected_ids(encoding: Encoding, parts: list[str], prefix: str, suffix: str) -> list[int]:
    """The template's tokens, and what is between two of them as one plain text."""
    special = special_ids(encoding)
    plain = without(encoding, frozenset(special.keys() & parts))
    ids: list[int] = []
    text = ""
    for part in parts:
        if part in special:
            ids += [*plain.encode_ordinary(text), special[part]]
            text = ""
        else:
            text += {"{prefix}": prefix, "{suffix}": suffix}.get(part, part)
    return ids + plain.encode_ordinary(text)


def finer(boundary: Boundary) -> list[Boundary]:
    return [*BOUNDARIES[: BOUNDARIES.index(boundary) + 1]][::-1]


@given(encodings, templates, short_texts, short_texts, st.data())
def test_no_place_is_better(
    encoding: Encoding, parts: list[str], prefix: str, suffix: str, data: st.DataObject
) -> None:
    def count(start: int, end: int) -> int:
        return len(expected_ids(encoding, parts, prefix[start:], suffix[:end]))

    everything, nothing = count(0, len(suffix)), count(len(prefix), 0)
    limit = data.draw(st.integers(nothing, max(nothing, everything + 1)))
    boundary = data.draw(st.sampled_from(BOUNDARIES))
    share = data.draw(st.sampled_from([0.0, 0.5, 0.75, 1.0]))
    fitted = fit_prompt(
        encoding, prefix, suffix, limit, template="".join(parts), share=share, boundary=boundary
    )
    start, end = fitted.prefix_start, fitted.suffix_end

    # What is in it.
    assert fitted.prefix == prefix[start:]
    assert fitted.suffix == suffix[:end]
    assert fitted.prefix_was_cut == (start > 0)
    assert fitted.suffix_was_cut == (end < len(suffix))
    assert fitted.ids == expected_ids(encoding, parts, fitted.prefix, fitted.suffix)
    assert fitted.count == len(fitted.ids) <= limit
    if everything <= limit:
        assert (start, end) == (0, len(suffix))

    # Each side is kept up to the furthest place that fits with the other.
    def best_start(end: int, limit: int) -> int:
        for may_cut in map(rule_of, finer(boundary)):
            for place in range(len(prefix)):
                if (place == 0 or may_cut(prefix, place)) and count(place, end) <= limit:
                    return place
        return len(prefix)

    def best_end(start: int) -> int:
        for may_cut in map(rule_of, finer(boundary)):
            for place in range(len(suffix), 0, -1):
                at_end = place == len(suffix)
                if (at_end or may_cut(suffix, place)) and count(start, place) <= limit:
                    return place
        return 0

    assert start == best_start(end, limit)
    assert end == best_end(start)
    # The prefix has its share.
    assert start <= best_start(0, nothing + int(share * (limit - nothing)))


@given(encodings, templates, short_texts, short_texts)
def test_no_token_of_the_template_comes_of_the_text(
    encoding: Encoding, parts: list[str], prefix: str, suffix: str
) -> None:
    special = special_ids(encoding)
    # Some added tokens are tokens in any text.
    ids = {
        special[part]
        for part in parts
        if part in special and special[part] not in encoding.encode_ordinary(part)
    }
    alone = expected_ids(encoding, parts, "", "")
    fitted = fit_prompt(encoding, prefix, suffix, 10_000, template="".join(parts))
    assert [n for n in fitted.ids if n in ids] == [n for n in alone if n in ids]


@pytest.mark.parametrize(
    ("name", "begin", "middle", "end"),
    [
        ("cl100k_base", "<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"),
        ("p50k_edit", "<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"),
        ("deepseek_v3", "<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"),
        ("deepseek_v4", "<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"),
    ],
)
def test_an_encoding_has_its_own_template(name: str, begin: str, middle: str, end: str) -> None:
    encoding = get_encoding(name)
    prefix, suffix = f"x = '{middle}'\n", "\n# <|endoftext|>\n"
    fitted = fit_prompt(encoding, prefix, suffix, 100)
    assert encoding.decode(fitted.ids) == begin + prefix + middle + suffix + end
    tokens = {encoding.encode_single_token(part) for part in (begin, middle, end)}
    assert sum(number in tokens for number in fitted.ids) == 3
    if not isinstance(encoding, Tokenizer):
        assert encoding.eot_token not in fitted.ids


@pytest.mark.parametrize(
    ("names", "template"),
    [
        (
            ["<fim_middle>", "<fim_prefix>", "<fim_suffix>"],
            "<fim_prefix>{prefix}<fim_suffix>{suffix}<fim_middle>",
        ),
        (["[SUFFIX]", "[PREFIX]"], "[SUFFIX]{suffix}[PREFIX]{prefix}"),
    ],
)
def test_templates_of_other_models(names: list[str], template: str) -> None:
    special = {name: 1000 + number for number, name in enumerate(names)}
    encoding = own_encoding(r"\w+|\W", special=special)
    assert fim_template(encoding) == template
    assert encoding.decode(fit_prompt(encoding, "ab", "cd", 9).ids) == template.format(
        prefix="ab", suffix="cd"
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"limit": -1}, "limit is -1; it must be 0 or more"),
        ({"limit": 2}, "limit is 2, but the template alone has 3 tokens"),
        ({"template": "<|fim_prefix|>{prefix}"}, r"the template has \{suffix\} 0 times"),
        ({"template": "{prefix}{suffix}{prefix}"}, r"the template has \{prefix\} 2 times"),
        ({"share": 1.5}, "share is 1.5; it must be from 0 to 1"),
        ({"share": -0.5}, "share is -0.5; it must be from 0 to 1"),
        ({"share": float("nan")}, "share is nan"),
        ({"boundary": "page"}, "unknown boundary 'page'"),
        ({"encoding": get_encoding("o200k_base")}, "'o200k_base' has no fill-in-the-middle tokens"),
    ],
)
def test_mistakes_are_named(changes: dict[str, Any], message: str) -> None:
    arguments = {"encoding": get_encoding("cl100k_base"), "limit": 10, **changes}
    with pytest.raises(ValueError, match=message):
        fit_prompt(prefix="a", suffix="b", **arguments)


def test_what_one_side_does_not_need_is_the_others() -> None:
    encoding = get_encoding("cl100k_base")
    lines = "".join(f"x{number} = f({number})\n" for number in range(1000))
    short = "y = 1\n"
    both = fit_prompt(encoding, lines, lines, 400)
    before, after = encoding.count(both.prefix), encoding.count(both.suffix)
    assert before + after + 3 == both.count
    assert 0.7 < before / both.count < 0.8
    for prefix, suffix in [(short, lines), (lines, short)]:
        fitted = fit_prompt(encoding, prefix, suffix, 400)
        assert 380 < fitted.count <= 400
        assert (fitted.prefix_was_cut, fitted.suffix_was_cut) == (prefix is lines, suffix is lines)


def test_all_is_kept_if_it_fits_though_no_step_leads_there() -> None:
    encoding = own_encoding("c+", {**BYTES, b"cc": 1000, b"cccc": 1001})
    # Neither "cc|cccc" with one more before it nor with one more after it fits.
    fitted = fit_prompt(
        encoding, "ccc", "ccccc", 2, template="{prefix}{suffix}", share=0.5, boundary="char"
    )
    assert fitted.ids == [1001, 1001]
    # A token after them takes room, too.
    assert fit_prompt(ONE_CHUNK, "x", "y", 2, template="{prefix}{suffix}<b>").count == 2


def test_a_longer_prefix_of_fewer_tokens_makes_room_for_the_suffix() -> None:
    # "cd" first, then "abcd", "abcdab" and only then "xabcdab", all of which are one token.
    fitted = fit_prompt(
        ONE_CHUNK, "xab", "cdabx", 1, template="{prefix}{suffix}", share=0, boundary="char"
    )
    assert (fitted.prefix, fitted.suffix, fitted.count) == ("xab", "cdab", 1)
    with pytest.raises(AttributeError):
        fitted.prefix = ""  # type: ignore[misc]


def test_text_of_the_template_may_become_one_token_with_what_is_beside_it() -> None:
    template = "{prefix}cd<b>ab{suffix}"
    fitted = fit_prompt(ONE_CHUNK, "xxab", "cdx", 3, template=template, boundary="char")
    assert (fitted.prefix, fitted.suffix) == ("ab", "cd")
    assert fitted.ids == expected_ids(ONE_CHUNK, ["{prefix}", "cd", "<b>", "abcd"], "ab", "")


def test_a_name_in_all_texts_is_plain_text_in_each() -> None:
    encoding, parts = encoding_of("added tokens"), ["{prefix}", "<b>", "{suffix}"]
    fitted = fit_prompt(encoding, "a<b>c", "<b>d", 100, template="".join(parts))
    assert fitted.ids == expected_ids(encoding, parts, "a<b>c", "<b>d")
    assert fitted.ids.count(encoding.encode_single_token("<b>")) == 1


def test_a_line_that_is_too_long_is_cut_within() -> None:
    encoding = get_encoding("cl100k_base")
    fitted = fit_prompt(encoding, "import re\n" + "word " * 500, ", word" * 500 + "\nend", 100)
    assert 90 < fitted.count <= 100
    assert set(re.findall(r"\w+", fitted.prefix + fitted.suffix)) == {"word"}
    assert min(len(fitted.prefix), len(fitted.suffix)) > 40
    word = fit_prompt(encoding, "ab" * 500, "", 20)
    assert 0 < len(word.prefix) < 100


@pytest.mark.parametrize("template", [None, "Complete this:\n{prefix}<HERE>{suffix}\nThanks."])
@pytest.mark.parametrize("name", ["cl100k_base", "deepseek_v3"])
def test_the_cost_does_not_grow_with_the_texts(
    name: str, template: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoding = get_encoding(name)
    counted = Counted(encoding, monkeypatch)

    def searching(encoding: Encoding, text: str, *args: Any, **options: Any) -> int | None:
        # Some tokens have 128 bytes; these texts have up to three million characters.
        assert len(text) < 500 * 130
        return longest_suffix(encoding, text, *args, **options)

    monkeypatch.setattr(prompt_module, "longest_suffix", searching)
    costs = []
    for times in (1_000, 100_000):
        counted.characters = 0
        text = "def f(x):\n    return g(x, 1)\n\n" * times
        fitted = fit_prompt(encoding, text, text, 500, template=template)
        assert 450 < fitted.count <= 500
        costs.append(counted.characters)
    # Some six times what is kept.
    assert max(costs) < 10_000


def test_surrogates_stay_together() -> None:
    encoding = get_encoding("cl100k_base")
    for limit in range(3, 30):
        fitted = fit_prompt(encoding, "\ud83d\ude00" * 9, "\ud83d\ude00" * 9, limit)
        assert len(fitted.prefix) % 2 == len(fitted.suffix) % 2 == 0
        assert fitted.count <= limit


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
        ((1, "x"), TypeError, "needs an offset, not texts"),
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
    special = {name: 256 + at for at, name in enumerate(filter(None, names))}
    encoding = own_encoding(r"[\s\S]", special=special)
    assert fim_template(encoding) == template
