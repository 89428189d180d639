"""A ``tokenizer.json``, its normalizers and its Unigram models; what is damaged is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import compat_bpe
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.checked_json import Json, parse_json
from compat_bpe.formats.tokenizer_json import TokenizerDefinition, parse_tokenizer
from compat_bpe.formats.tokenizer_models import UnigramPart, read_unigram
from compat_bpe.formats.tokenizer_parts import read_normalizer
from compat_bpe.pipeline.byte_level import BYTE_TO_UNICODE
from compat_bpe.pipeline.tokenized import Padding, Truncation
from tests.formats.small_files import refusal
from tests.tokenizer_files import (
    BERT_NORMALIZER,
    BYTE_LEVEL,
    DELETED,
    added,
    bpe_model,
    load_json,
    tokenizer_file,
    with_member,
)


def short(value: object) -> str:
    """What pytest calls a parameter."""
    return ascii(value)[:60]


def good() -> dict[str, Any]:
    """A file with something of most kinds in it: 256 bytes, two merges, three added tokens."""
    names = [*BYTE_TO_UNICODE.values(), "ab", "abc"]
    replace = {"type": "Replace", "pattern": {"String": "$"}, "content": "§"}
    rule = {"pattern": {"Regex": r" ?\p{L}+|\s+"}, "behavior": "Isolated", "invert": False}
    digits = {"type": "Digits", "individual_digits": True}
    return tokenizer_file(
        added_tokens=[
            added(258, "<s>", special=True),
            added(259, "</s>", special=True),
            added(260, "zz", normalized=True),
        ],
        normalizer={"type": "Sequence", "normalizers": [{"type": "NFC"}, replace]},
        pre_tokenizer={
            "type": "Sequence",
            "pretokenizers": [digits, {"type": "Split", **rule}, BYTE_LEVEL],
        },
        post_processor={
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": "<s>", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
            ],
            "pair": [],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [258], "tokens": ["<s>"]}},
        },
        decoder=dict(BYTE_LEVEL),
        model=bpe_model(
            {name: number for number, name in enumerate(names)},
            ["a b", "ab c"],
            ignore_merges=False,
        ),
    )


changed = partial(with_member, good())


def test_the_good_file_encodes_and_decodes(tmp_path: Path) -> None:
    enc = load_json(tmp_path, good())
    ids = enc.encode("abc zz<s>12", allowed_special="all")
    assert ids == [257, 220, 260, 258, 16, 17]
    assert enc.decode(ids) == "abc zz<s>12"
    assert isinstance(enc, compat_bpe.encodings.tokenizer.Tokenizer)
    assert enc.encode("ab", add_special_tokens=True) == [258, 256]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not a recognized vocabulary file"),
        (b"{", "^line 1: not JSON: "),
        (b'{\n\n"model": }', "^line 3: not JSON: "),
        (b"\xef\xbb\xbf{}", "^line 1: not JSON: "),
        (b'{\n\n"\xff": 1}', "^line 3: not UTF-8: invalid start byte$"),
        (b"[]", "not a recognized vocabulary file"),
        (b"7", "not a recognized vocabulary file"),
        (b"null", "not a recognized vocabulary file"),
        (b'{"model": 1' + b"0" * 10_000 + b"}", "Exceeds the limit|must be an object, not an inte"),
        (b"[" * 1_000_000, "not a recognized vocabulary file"),
        (b'{"a":' * 100_000, "^nested too deeply$"),
        (b"{}", "neither a tokenizer.json nor a vocabulary"),
        (b'{"a": "b"}', "neither a tokenizer.json nor a vocabulary"),
    ],
    ids=short,
)
def test_what_is_no_such_file_is_refused(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(data)
    assert re.search(reason, refusal(path, lambda: compat_bpe.load(path)))


MODEL = ("model",)
STEPS = ("pre_tokenizer", "pretokenizers")
SPLIT = (*STEPS, 1)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("version",), "2.0", "version: version '2.0' is not known"),
        (("version",), 1.0, "version: must be a string, not a float"),
        (MODEL, None, "model: must be an object, not null"),
        (MODEL, [], "model: must be an object, not a list"),
        ((*MODEL, "type"), 3, "model.type: must be a string, not an integer"),
        ((*MODEL, "type"), "Other", "model: Other is not supported, only BPE, WordPiece"),
        ((*MODEL, "type"), None, "model.type: must be a string, not null"),
        ((*MODEL, "dropout"), 1.5, "model.dropout: must be from 0 to 1"),
        ((*MODEL, "dropout"), -1, "model.dropout: must be from 0 to 1"),
        ((*MODEL, "dropout"), False, "model.dropout: must be a number or null"),
        (
            (*MODEL, "continuing_subword_prefix"),
            "##",
            "model.merges[0]: 'b' is shorter than the pr",
        ),
        ((*MODEL, "continuing_subword_prefix"), 1, "model.continuing_subword_prefix: must be a s"),
        ((*MODEL, "end_of_word_suffix"), {}, "model.end_of_word_suffix: must be a string, not an"),
        ((*MODEL, "unk_token"), 0, "model.unk_token: must be a string, not an integer"),
        ((*MODEL, "fuse_unk"), 1, "model.fuse_unk: must be true or false, not an integer"),
        ((*MODEL, "byte_fallback"), "", "model.byte_fallback: must be true or false, not a string"),
        ((*MODEL, "ignore_merges"), [], "model.ignore_merges: must be true or false, not a list"),
        ((*MODEL, "vocab"), DELETED, "model: there is no 'vocab'"),
        ((*MODEL, "vocab"), [["a", 0]], "model.vocab: must be an object, not a list"),
        ((*MODEL, "vocab"), {}, "model.merges[0]: 'a' is not in the vocabulary"),
        ((*MODEL, "vocab", "ab"), "256", "model.vocab.ab: must be an integer, not a string"),
        ((*MODEL, "vocab", "ab"), True, "model.vocab.ab: must be an integer, not true or false"),
        ((*MODEL, "vocab", "ab"), 256.0, "model.vocab.ab: must be an integer, not a float"),
        ((*MODEL, "vocab", "ab"), -1, "model.vocab: the id of 'ab' is not from 0 to 4294967295"),
        ((*MODEL, "vocab", "ab"), 2**32, "model.vocab: the id of 'ab' is not from 0 to 4294967295"),
        ((*MODEL, "vocab", "\ud800"), 300, r"model.vocab: the token '\ud800' has a lone surroga"),
        ((*MODEL, "merges"), DELETED, "model: there is no 'merges'"),
        ((*MODEL, "merges"), {}, "model.merges: must be a list, not an object"),
        ((*MODEL, "merges", 1), "abc", "model.merges[1]: a merge must have 2 tokens, not 1"),
        ((*MODEL, "merges", 1), "a b c", "model.merges[1]: a merge must have 2 tokens, not 3"),
        ((*MODEL, "merges", 1), ["a"], "model.merges[1]: a merge must have 2 tokens, not 1"),
        ((*MODEL, "merges", 1), [*"abc"], "model.merges[1]: a merge must have 2 tokens, not 3"),
        ((*MODEL, "merges", 1), ["a", 1], "model.merges[1]: the tokens of a merge must be strings"),
        ((*MODEL, "merges", 1), ["a", []], "model.merges[1]: the tokens of a merge must be string"),
        ((*MODEL, "merges", 1), "ab ", "model.merges[1]: "),
        ((*MODEL, "merges", 1), None, "model.merges[1]: must be a list, not null"),
        ((*MODEL, "merges", 1), "ab xy", "model.merges[1]: 'xy' is not in the vocabulary"),
        ((*MODEL, "merges", 1), "ab d", "model.merges[1]: 'abd' is not in the vocabulary"),
        ((*MODEL, "merges", 0), ["\ud800", "a"], r"model.merges[0]: '\ud800' is not in the voca"),
        (("added_tokens",), {}, "added_tokens: must be a list, not an object"),
        (("added_tokens", 2), "<s>", "added_tokens[2]: must be an object, not a string"),
        (("added_tokens", 2, "id"), DELETED, "added_tokens[2]: there is no 'id'"),
        (("added_tokens", 2, "id"), "260", "added_tokens[2].id: must be an integer, not a string"),
        (("added_tokens", 2, "id"), True, "added_tokens[2].id: must be an integer, not true or fa"),
        (("added_tokens", 2, "content"), 5, "added_tokens[2].content: must be a string, not an in"),
        (("added_tokens", 2, "content"), "\ud800", "added_tokens[2].content: has a lone surro"),
        (("added_tokens", 2, "special"), 1, "added_tokens[2].special: must be true or false, not"),
        (("added_tokens", 2, "lstrip"), DELETED, "added_tokens[2]: there is no 'lstrip'"),
        (("normalizer",), [], "normalizer: must be an object, not a list"),
        (("normalizer",), {"type": "BertNormalizer"}, "normalizer: there is no 'lowercase'"),
        (("normalizer",), {"type": "Strip"}, "normalizer: there is no 'strip_left'"),
        (("normalizer", "normalizers"), None, "normalizer.normalizers: must be a list, not null"),
        (("normalizer", "normalizers", 1, "content"), 1, "normalizer[1].content: must be a string"),
        (("normalizer", "normalizers", 1, "content"), "\udfff", "normalizer[1].content: has a lon"),
        (("normalizer", "normalizers", 1, "pattern"), "$", "normalizer[1].pattern: must be an obj"),
        (("normalizer", "normalizers", 1), {"type": "X"}, "normalizer[1]: X is not supported"),
        ((*STEPS, 1), {"type": "Other"}, "pre_tokenizer[1]: Other is not supported"),
        (
            (*STEPS, 0),
            {"type": "FixedLength", "length": 0},
            "pre_tokenizer[0].length: must be at least 1",
        ),
        ((*STEPS, 0), {}, "pre_tokenizer[0]: there is no 'type'"),
        ((*STEPS, 0), {"type": []}, "pre_tokenizer[0].type: must be a string, not a list"),
        ((*STEPS, 0, "individual_digits"), 1, "pre_tokenizer[0].individual_digits: must be true o"),
        ((*STEPS, 0), {"type": "CharDelimiterSplit", "delimiter": "ab"}, "pre_tokenizer[0].delim"),
        ((*STEPS, 2, "use_regex"), "no", "pre_tokenizer[2].use_regex: must be true or false, not"),
        ((*STEPS, 2, "add_prefix_space"), DELETED, "pre_tokenizer[2]: there is no 'add_prefix_s"),
        ((*SPLIT, "behavior"), "isolated", "pre_tokenizer[1].behavior: must be one of Isolated, "),
        ((*SPLIT, "invert"), None, "pre_tokenizer[1].invert: must be true or false, not null"),
        ((*SPLIT, "pattern"), {}, "pre_tokenizer[1].pattern: must be "),
        ((*SPLIT, "pattern", "String"), "a", "pre_tokenizer[1].pattern: must be "),
        ((*SPLIT, "pattern", "Regex"), 1, "pre_tokenizer[1].pattern.Regex: must be a string, not"),
        ((*SPLIT, "pattern", "Regex"), "a(b", "pre_tokenizer[1].pattern.Regex: pattern 'a(b', ch"),
        ((*SPLIT, "pattern", "Regex"), "[z-a]", "pre_tokenizer[1].pattern.Regex: pattern '[z-a]"),
        ((*SPLIT, "pattern", "Regex"), r"(a)\1", "pre_tokenizer[1].pattern.Regex: pattern '(a)"),
        ((*SPLIT, "pattern", "Regex"), "(" * 50_000, "pre_tokenizer[1].pattern.Regex: pattern"),
        ((*SPLIT, "pattern", "Regex"), "(a*)*", "pre_tokenizer[1].pattern.Regex: pattern '(a*)*'"),
        ((*SPLIT, "pattern", "Regex"), "\ud800", "pre_tokenizer[1].pattern.Regex: has a lone su"),
        (("post_processor",), "no", "post_processor: must be an object, not a string"),
        (("post_processor",), {"type": "Other"}, "post_processor: Other is not supported"),
        (("post_processor", "single", 0), 5, "post_processor.single[0]: must be an object, not an"),
        (("truncation",), {"max_length": 1}, "truncation: there is no 'stride'"),
        (("padding",), {"strategy": 9}, 'padding.strategy: must be "BatchLongest" or {"Fixed"'),
        (
            ("post_processor", "special_tokens", "<s>", "ids"),
            ["a"],
            "post_processor.special_tokens.<s>.ids[0]: must be an integer, not a string",
        ),
        (
            ("post_processor",),
            {"type": "RobertaProcessing", "sep": ["</s>"], "cls": ["<s>", 258]},
            "post_processor.sep: must be a token and its id",
        ),
        (("decoder",), 1, "decoder: must be an object, not an integer"),
        (("decoder", "type"), DELETED, "decoder: there is no 'type'"),
    ],
    ids=short,
)
def test_message_names_the_place_and_the_reason(
    tmp_path: Path, path: tuple[Any, ...], value: Any, message: str
) -> None:
    file = changed(path, value)
    reason = refusal(tmp_path / "tokenizer.json", lambda: load_json(tmp_path, file))
    assert reason.startswith(message)


@pytest.mark.parametrize("part", ["normalizer", "pre_tokenizer", "post_processor", "decoder"])
@pytest.mark.parametrize("depth", [100, 450, 1000, 3000])
def test_sequences_in_sequences_are_read_or_refused(tmp_path: Path, part: str, depth: int) -> None:
    """Newer Pythons read JSON that is nested more deeply than their functions may be."""
    name = {
        "normalizer": "normalizers",
        "pre_tokenizer": "pretokenizers",
        "post_processor": "processors",
        "decoder": "decoders",
    }[part]
    inner = {"type": "NFC"} if part == "normalizer" else BYTE_LEVEL
    nested = f'{{"type": "Sequence", "{name}": [' * depth + json.dumps(inner) + "]}" * depth
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({**good(), part: "HERE"}).replace('"HERE"', nested))
    try:
        compat_bpe.load(path).encode("ab")
    except ValueError as error:
        assert str(error).startswith(f"{path}: ")  # noqa: PT017


@pytest.mark.parametrize(
    ("decoder", "text"),
    [
        (None, "abc Ġ"),
        ({"type": "Fuse"}, "abcĠ"),
        ({"type": "Sequence", "decoders": []}, "abcĠ"),
        ({"type": "Sequence", "decoders": [BYTE_LEVEL]}, "abc "),
        ({"type": "Strip", "content": "Ġ", "start": 1, "stop": 0}, "abc"),
    ],
)
def test_other_decoders(tmp_path: Path, decoder: Any, text: str) -> None:
    enc = load_json(tmp_path, changed(("decoder",), decoder))
    assert enc.encode("abc ") == [257, 220]
    assert enc.decode([257, 220]) == text


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (("post_processor", "special_tokens"), {}, "there are no tokens for '<s>'"),
        (("post_processor", "single"), [{"Sequence": {"id": "B", "type_id": 0}}], "needs a second"),
    ],
)
def test_templates_that_no_text_fits(
    tmp_path: Path, path: tuple[Any, ...], value: Any, reason: str
) -> None:
    enc = load_json(tmp_path, changed(path, value))
    assert isinstance(enc, Tokenizer)
    with pytest.raises(ValueError, match=f"tokenizer.json: post_processor: .*{reason}"):
        enc.encode("abc", add_special_tokens=True)


def test_settings_are_read_and_not_applied(tmp_path: Path) -> None:
    file = good()
    file["truncation"] = {"max_length": 1, "strategy": "OnlyFirst", "stride": 0}
    file["padding"] = {
        "strategy": {"Fixed": 9},
        "direction": "Left",
        "pad_to_multiple_of": None,
        "pad_id": 3,
        "pad_type_id": 1,
        "pad_token": "!",
    }
    enc = load_json(tmp_path, file)
    assert isinstance(enc, Tokenizer)
    assert enc.truncation == Truncation(1, 0, "only_first", "right")
    assert enc.padding == Padding(9, "left", 3, 1, "!")
    assert enc.encode("abcab 7") == [257, 256, 220, 22]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((*MODEL, "merges"), [["a", "b"], ["ab", "c"]]),
        ((*MODEL, "merges"), ["a b", ["ab", "c"]]),
        ((*MODEL, "type"), DELETED),
        (("version",), DELETED),
        (("truncation",), {"max_length": 1, "strategy": "LongestFirst", "stride": 0}),
        (("added_tokens",), DELETED),
        ((*MODEL, "dropout"), 0.0),
        ((*MODEL, "dropout"), 0.5),
        ((*MODEL, "unk_token"), "abc"),
    ],
    ids=short,
)
def test_what_makes_no_difference_to_the_ids(
    tmp_path: Path, path: tuple[Any, ...], value: Any
) -> None:
    enc = load_json(tmp_path, changed(path, value))
    assert enc.encode("abcab 7") == [257, 256, 220, 22]


def test_vocabulary_without_a_token_in_the_byte_alphabet(tmp_path: Path) -> None:
    model = {**good()["model"], "vocab": {"中": 0}, "merges": []}
    enc = load_json(tmp_path, {**good(), "added_tokens": [], "model": model})
    assert (enc.encode("ab"), enc.n_vocab) == ([], 1)


def test_highest_id_may_be_of_a_token_outside_the_byte_alphabet(tmp_path: Path) -> None:
    file = changed((*MODEL, "vocab", "中"), 300)
    enc = load_json(tmp_path, {**file, "added_tokens": []})
    assert enc.decode([300]) == "中"
    assert enc.n_vocab == 301


def places(value: Any) -> Iterator[tuple[Any, ...]]:
    """All places in a JSON value, but for most of the 256 bytes."""
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for key, member in list(members)[-20:]:
        yield (key,)
        if isinstance(member, (dict, list)):
            yield from ((key, *rest) for rest in places(member))


NAMES = ["", " ", "a", "ab", "a b", "<s>", "BPE", "ByteLevel", "Sequence", "Regex", "[", "a*", "中"]
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(250, 270)
    | st.floats()
    | st.sampled_from(NAMES)
    | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(NAMES) | st.text(), inner),
    max_leaves=5,
)


@given(path=st.sampled_from(sorted(places(good()), key=str)), value=values | st.just(DELETED))
def test_a_damaged_file_gives_an_encoding_or_a_value_error(
    tmp_path_factory: pytest.TempPathFactory, path: tuple[Any, ...], value: Any
) -> None:
    folder = tmp_path_factory.getbasetemp()
    try:
        enc = load_json(folder, changed(path, value))
    except ValueError as error:
        assert str(error).startswith(str(folder / "tokenizer.json"))  # noqa: PT017
    else:
        enc.encode("abc zz <s>12 $ é", disallowed_special=())


BERT = BERT_NORMALIZER


def read_part(part: dict[str, Any]) -> Any:
    return read_normalizer(Json(part, "tokenizer.json", "normalizer"))


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (BERT, "e 中 "),
        ({**BERT, "type": "Bert"}, "e 中 "),
        ({key: value for key, value in BERT.items() if key != "strip_accents"}, "e 中 "),
        ({**BERT, "strip_accents": False}, "é 中 "),
        ({**BERT, "lowercase": False}, "É 中 "),
        ({**BERT, "strip_accents": True, "lowercase": False}, "E 中 "),
        ({**BERT, "handle_chinese_chars": False}, "e中"),
        ({**BERT, "clean_text": False}, "\x01e\u200b 中 "),
        ({"type": "StripAccents"}, "\x01É\u200b中"),
        ({"type": "Nmt"}, "É 中"),
        ({"type": "ByteLevel"}, "āÃīâĢĭä¸Ń"),
    ],
)
def test_options(part: dict[str, Any], expected: str) -> None:
    assert read_part(part)("\x01É\u200b中") == expected


@pytest.mark.parametrize(
    ("part", "message"),
    [
        *(
            ({other: value for other, value in BERT.items() if other != key}, f"no '{key}'")
            for key in ("clean_text", "handle_chinese_chars", "lowercase")
        ),
        ({**BERT, "strip_accents": 1}, "strip_accents: must be true or false, not an integer"),
        ({**BERT, "lowercase": None}, "lowercase: must be true or false, not null"),
        ({"type": "Precompiled"}, "there is no 'precompiled_charsmap'"),
        *(
            ({"type": "Precompiled", "precompiled_charsmap": value}, f"precompiled_charsmap: {why}")
            for value, why in [
                (None, "must be a string, not null"),
                ("", "the character map is shorter than its size field"),
                ("????", "not base64"),
                ("AAAA\n", "not base64"),
                ("é", "not base64"),
                ("AAAAAA==", "the character map is shorter than its size field"),
            ]
        ),
    ],
)
def test_wrong_parts_are_named_with_their_place(part: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=r"^tokenizer.json: normalizer") as error:
        read_part(part)
    assert message in str(error.value)
    with pytest.raises(ValueError, match=r"^tokenizer.json: normalizer\[0\]"):
        read_part({"type": "Sequence", "normalizers": [part]})


UNIGRAM: dict[str, Any] = {
    "type": "Unigram",
    "unk_id": 0,
    "vocab": [["<unk>", 0.0], ["a", -1.5], ["ab", -2.5]],
    "byte_fallback": True,
}


def read_model(text: str) -> UnigramPart:
    return read_unigram(Json(parse_json(text.encode(), "u.json").value, "u.json", "model"))


def test_model() -> None:
    part = read_model(json.dumps(UNIGRAM))
    assert part.unknown == 0
    assert part.byte_fallback
    assert part.vocabulary == {"<unk>": 0, "a": 1, "ab": 2}
    assert list(part.scores) == [0.0, -1.5, -2.5]
    assert part.written(part.vocabulary) == UNIGRAM
    definition = part.define([], "u.json")
    assert definition.tokens() == {b"<unk>": 0, b"a": 1, b"ab": 2}
    assert definition.other_tokens() == {}
    assert definition.model.encode("aab") == (1, 2)


def test_what_may_be_left_out() -> None:
    part = read_model('{"vocab": [["a", -1]]}')
    assert part == UnigramPart(["a"], [-1.0], None)
    assert type(part.scores[0]) is float
    assert not part.byte_fallback
    assert read_model('{"vocab": []}').vocabulary == {}


def test_a_piece_that_occurs_twice() -> None:
    part = read_model('{"vocab": [["a", -1.5], ["b", -1.5], ["a", -2.5]]}')
    assert part.vocabulary == {"a": 2, "b": 1}
    assert part.size == 3
    definition = part.define([], "u.json")
    assert definition.tokens() == {b"a": 2, b"b": 1}
    assert definition.other_tokens() == {0: b"a"}
    assert part.written(part.vocabulary)["vocab"] == [["a", -1.5], ["b", -1.5], ["a", -2.5]]


def test_scores_are_read_as_tokenizers_reads_them() -> None:
    part = read_model('{"vocab": [["k", -7.4715776443481445], ["l", 12345678901234567890123]]}')
    assert list(part.scores) == [-7.471577644348144, 1.2345678901234568e22]
    written = json.dumps(part.written(part.vocabulary))
    assert list(read_model(written).scores) == list(part.scores)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("vocab", DELETED, "model: there is no 'vocab'"),
        ("vocab", {}, "model.vocab: must be a list, not an object"),
        ("vocab", [1], "model.vocab[0]: must be a list, not an integer"),
        ("vocab", [["a", 1.0], ["b"]], "model.vocab[1]: must be a piece and its score, not 1 val"),
        ("vocab", [["a", 1.0, 2]], "model.vocab[0]: must be a piece and its score, not 3 values"),
        ("vocab", [["a", "1"]], "model.vocab[0][1]: the score of 'a' must be a number"),
        ("vocab", [["a", None]], "model.vocab[0][1]: the score of 'a' must be a number"),
        ("vocab", [["a", True]], "model.vocab[0][1]: the score of 'a' must be a number"),
        ("vocab", [["a", 10**400]], "model.vocab[0][1]: 10000"),
        ("vocab", [[1, 1.0]], "model.vocab[0][0]: must be a string, not an integer"),
        ("vocab", [["\ud800", 1.0]], "model.vocab[0][0]: has a lone surrogate"),
        ("vocab", [["\ud83d", 1.0], ["\ude00", 1.0]], "model.vocab[0][0]: has a lone surrogate"),
        ("vocab", [], "model.vocab: there are no pieces, not even the unknown one"),
        ("unk_id", 3, "model.unk_id: must be from 0 to 2"),
        ("unk_id", -1, "model.unk_id: must be from 0 to 2"),
        ("unk_id", 0.0, "model.unk_id: must be an integer, not a float"),
        ("unk_id", "0", "model.unk_id: must be an integer, not a string"),
        ("byte_fallback", None, "model.byte_fallback: must be true or false, not null"),
        ("byte_fallback", 1, "model.byte_fallback: must be true or false, not an integer"),
    ],
)
def test_errors_name_the_place(name: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(f'u.json: {message}')}"):
        read_model(json.dumps(with_member(UNIGRAM, [name], value)))


def test_it_cannot_be_extended() -> None:
    part = read_model(json.dumps(UNIGRAM))
    with pytest.raises(ValueError, match="Unigram vocabulary cannot be extended"):
        TokenizerDefinition(part, (), {}, "u.json").extended("more", {b"c": 3}, [])
    with pytest.raises(ValueError, match="Unigram vocabulary cannot be extended"):
        part.written({**part.vocabulary, "c": 3})


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"vocab": {"a": 0}, "merges": []}, "ListedModel"),
        ({"vocab": {"a": 0}, "merges": [], "unk_token": "a"}, "ListedModel"),
        (
            {
                "vocab": {"a": 0},
                "unk_token": "a",
                "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100,
            },
            "WordPiecePart",
        ),
        ({"vocab": {"a": 0}, "unk_token": "a"}, "WordLevelPart"),
        ({"vocab": [["a", -1.0]], "unk_id": 0}, "UnigramPart"),
        ({"vocab": [["a", -1.0]]}, "UnigramPart"),
    ],
)
def test_a_model_without_its_type(fields: dict[str, Any], kind: str) -> None:
    file = parse_tokenizer(Json({"model": fields}, "t.json"))
    assert type(file.model).__name__ == kind


def test_a_model_of_no_type() -> None:
    with pytest.raises(ValueError, match=r"t\.json: model: there is no 'type', and no 'vocab'"):
        parse_tokenizer(Json({"model": {}}, "t.json"))


def test_no_pieces_and_no_added_tokens() -> None:
    model = {"type": "Unigram", "vocab": []}
    tokenizer = Tokenizer("x", parse_tokenizer(Json({"model": model}, "x")))
    assert (tokenizer.n_vocab, tokenizer.encode(""), tokenizer.decode([])) == (0, [], "")
    with pytest.raises(ValueError, match="unk"):
        tokenizer.encode("a")
