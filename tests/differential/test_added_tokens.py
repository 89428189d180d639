"""Normalizers, added tokens, flags of the model and templates, against tokenizers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import compat_bpe
from compat_bpe.pipeline.added_tokens import normalized_content
from compat_bpe.pipeline.special_tokens import FEW
from compat_bpe.save import save_tokenizer_json
from compat_bpe.unicode.surrogates import repair
from tests.differential.small_tokenizers import Both, file, sequence, small_model
from tests.examples import scaled
from tests.strategies import MARKS, OTHER_LETTERS, RECENT
from tests.strategies import texts as any_texts
from tests.tokenizer_files import BYTE_LEVEL, FLAGS, added

texts = any_texts.map(repair)

NORMALIZERS: dict[str, dict[str, Any]] = {
    **{form: {"type": form} for form in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase")},
    "strip": {"type": "Strip", "strip_left": True, "strip_right": True},
    "strip left": {"type": "Strip", "strip_left": True, "strip_right": False},
    "replace": {"type": "Replace", "pattern": {"String": "a"}, "content": "\\1 e\u0301"},
    "replace pattern": {"type": "Replace", "pattern": {"Regex": r"\s+|ll?"}, "content": ""},
    "replace nothing": {"type": "Replace", "pattern": {"Regex": "x*"}, "content": "-"},
    "prepend": {"type": "Prepend", "prepend": "▁"},
    "none": {"type": "Sequence", "normalizers": []},
}

#: Letters with marks: what is composed, decomposed and put in order.
marked = st.lists(
    st.one_of(
        st.sampled_from("aeiouASDdjkq\u0645\u06d2\u1100\u1161\u11a8\uac00\ud7a3"),
        st.sampled_from("\u0300\u0301\u0307\u0323\u0327\u0338\u0345\u05b0\u3099\u0f71\u0f72"),
        st.sampled_from(MARKS + OTHER_LETTERS + RECENT),
        st.sampled_from("ﬁﬀ①Ⅷℌ㍿ｱﾞ\u2126\u212b\u0340\u0344\u0958\ufb1d\U0001d15e\U0002f800"),
        # Composed or reordered since Unicode 10, 13 and 16.
        st.sampled_from("\U00011935\U00011930\U00011938\U000105d2\U000105c9\u0898\u1abf\u1dfa"),
        st.characters(codec="utf-8"),
    ),
    max_size=12,
).map("".join)


def normalizer(*names: str) -> dict[str, Any]:
    return {"type": "Sequence", "normalizers": [NORMALIZERS[name] for name in names]}


@pytest.mark.parametrize("name", ["NFC", "NFKD", "Lowercase", "strip"])
def test_every_code_point_in_each_normalizer(name: str, code_points: str) -> None:
    made = Both(file(normalizer=NORMALIZERS[name]))
    normalize = made.ours.core.added.normalize
    assert normalize is not None
    for start in range(0, len(code_points), 1 << 12):
        # After a letter, and between two marks that would change places.
        text = "".join(f"a\u0345{char}\u0316" for char in code_points[start : start + (1 << 12)])
        assert normalize(text) == made.theirs.normalizer.normalize_str(text)


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", NORMALIZERS)
def test_texts_in_each_normalizer(name: str) -> None:
    made = Both(file(normalizer=NORMALIZERS[name]))

    @given(st.one_of(texts, marked))
    def check(text: str) -> None:
        # It does where nothing is replaced at the end of a text.
        if not made.panics(text):
            made.check(text)

    check()


@settings(max_examples=scaled(300))
@given(st.lists(st.sampled_from(sorted(NORMALIZERS)), max_size=4), st.lists(marked, max_size=4))
def test_texts_in_any_sequence_of_normalizers(names: list[str], several: list[str]) -> None:
    made = Both(file(normalizer=normalizer(*names)))
    for text in several:
        if not made.panics(text):
            made.check(text)


#: Names that overlap, hold white space, stand in the vocabulary or change when normalized.
NAMES = ["<s>", "</s>", "<s", "s>", "<A>", " a", "a ", "é", "e\u0301", "he", "Ġt", "x", "\n"]
added_tokens = st.dictionaries(
    st.sampled_from(NAMES),
    st.fixed_dictionaries({flag: st.booleans() for flag in FLAGS}),
    max_size=6,
)
near_names = st.lists(
    st.one_of(st.sampled_from([*NAMES, " ", "b", "_", "1", "\u3000", "É"]), texts), max_size=12
).map("".join)


@given(
    added_tokens,
    st.sampled_from([[], ["NFC"], ["Lowercase"], ["prepend"], ["Lowercase", "NFD"]]),
    st.booleans(),
    st.lists(near_names, max_size=4),
)
def test_added_tokens(
    tokens: dict[str, dict[str, bool]], names: list[str], prefix: bool, several: list[str]
) -> None:
    listed = [added(1000 + i, name, **flags) for i, (name, flags) in enumerate(tokens.items())]
    made = Both(
        file(
            added_tokens=listed,
            normalizer=normalizer(*names),
            pre_tokenizer={**BYTE_LEVEL, "use_regex": True, "add_prefix_space": prefix},
        )
    )
    # Of two tokens that are normalized to the same, tokenizers takes now one and now the other.
    normalize = made.ours.core.added.normalize
    looked_for = [
        normalized_content(token, normalize) for token in made.ours.added_tokens if token.normalized
    ]
    assume(len(set(looked_for)) == len(looked_for))
    for text in several:
        # It does at white space that two tokens take.
        if not made.panics(text):
            made.check(text)


def test_ids_of_added_tokens_are_those_that_tokenizers_gives() -> None:
    model = small_model()
    size = len(model["vocab"])
    listed = [added(7000, "<a>"), added(model["vocab"]["he"], "he"), added(6000, "<b>")]
    made = Both(file(added_tokens=listed))
    made.check("<a>the<b>")
    assert made.ours.encode("<a><b>") == [size, size + 1]


def test_added_tokens_that_come_twice() -> None:
    listed = [
        added(1000, "<a>", special=True),
        added(1000, "<b>"),  # the id of another
        added(1001, "<a>", rstrip=True, normalized=True),
        added(1001, "<a>", rstrip=True, normalized=True),
        added(1002, "he", special=True),
        added(1003, "he", lstrip=True),
    ]
    made = Both(file(added_tokens=listed))
    for text in ("<a>  the <b> he", "he<a> ", "<a><b>"):
        made.check(text)
    size = len(small_model()["vocab"])
    assert made.ours.encode("<a> <b>", allowed_special="all") == [size, size + 1]
    assert [token.special for token in made.ours.added_tokens] == [True, False, True]


def test_added_tokens_numbered_onto_ids_of_the_vocabulary(tmp_path: Path) -> None:
    model = small_model()
    size = len(model["vocab"])
    vocab = {**model["vocab"], "zzz": size + 3}
    listed = [added(1, "<a>"), added(2, "<b>"), added(3, "<c>"), added(4, "zzz")]
    made = Both(file(added_tokens=listed, model={**model, "vocab": vocab}))
    for text in ("<a><b><c>", "zzz he<c>", "the"):
        made.check(text)
    # Here the token of the vocabulary comes first, or is no added one, and the id is the other's.
    for tokens in (listed[3:] + listed[:3], listed[:3]):
        made = Both(file(added_tokens=tokens, model={**model, "vocab": vocab}))
        for text in ("<a><b><c>", "zzz he<c>", "the"):
            made.check(text)
        for name in ("<a>", "<c>", "zzz", "he", "?", "??"):
            assert made.ours.token_to_id(name) == made.theirs.token_to_id(name)
        assert made.ours.id_to_token(size + 3) == made.theirs.id_to_token(size + 3) == "<c>"
        assert made.ours.token_to_id("<c>") == made.ours.token_to_id("zzz") == size + 3
    path = tmp_path / "tokenizer.json"
    save_tokenizer_json(made.ours, path)
    saved = tokenizers.Tokenizer.from_file(str(path))
    assert saved.encode("<a><b><c>").ids == made.theirs.encode("<a><b><c>").ids


#: What a model may do with the bytes that it has no token for.
UNKNOWN = [
    {"unk_token": unk_token, "fuse_unk": fuse, "byte_fallback": fallback}
    for unk_token in (None, "<unk>")
    for fuse in (False, True)
    for fallback in (False, True)
]


@given(st.sampled_from(UNKNOWN), st.sets(st.sampled_from("abeth"), max_size=3), st.data())
def test_models_that_lack_bytes(unknown: dict[str, Any], lacking: set[str], data: Any) -> None:
    model = small_model()
    names = [name for name in model["vocab"] if not lacking & set(name)]
    names += ["<unk>", "<unk>e", "<0x61>", "<0x62>", "<0x61><0x62>", "<0x74>"]
    merges = [merge for merge in model["merges"] if not lacking & set(merge)]
    merges += ["<unk> e", "<0x61> <0x62>"] if "e" not in lacking else ["<0x61> <0x62>"]
    ids = {name: number for number, name in enumerate(names)}
    made = Both(file(model={**model, **unknown, "vocab": ids, "merges": merges}))
    made.check(data.draw(st.one_of(texts, st.text("abeth <>x061", max_size=12))))


@given(st.data(), st.booleans(), st.booleans())
def test_random_merges(data: Any, ignore_merges: bool, as_lists: bool) -> None:
    """Merges in any order, of parts that merging by rank would not leave, made in several ways."""
    alphabet = "abc"
    model = small_model()
    pairs: list[tuple[str, str]] = []
    known = list(alphabet)
    for _ in range(data.draw(st.integers(0, 12))):
        left, right = data.draw(st.tuples(*[st.sampled_from(known)] * 2))
        if len(left + right) < 9:
            pairs.append((left, right))
            known.append(left + right)
    shuffled = data.draw(st.permutations(pairs))
    others = data.draw(st.lists(st.text(alphabet, min_size=2, max_size=5), max_size=4))
    single = [name for name in model["vocab"] if len(name) == 1]
    names = list(dict.fromkeys([*single, *data.draw(st.permutations([*known, *others]))]))
    made = Both(
        file(
            model={
                **model,
                "vocab": {name: number for number, name in enumerate(names)},
                "merges": [list(pair) if as_lists else " ".join(pair) for pair in shuffled],
                "ignore_merges": ignore_merges,
            },
            pre_tokenizer=BYTE_LEVEL,
        )
    )
    for text in data.draw(st.lists(st.text(alphabet, max_size=40), max_size=5)):
        made.check(text)


@pytest.mark.parametrize(
    "processor",
    [
        None,
        BYTE_LEVEL,
        {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": "<s>", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "</s>", "type_id": 0}},
                {"SpecialToken": {"id": "</s>", "type_id": 0}},
            ],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}],
            "special_tokens": {
                "<s>": {"id": "<s>", "ids": [7, 8], "tokens": ["a", "b"]},
                "</s>": {"id": "</s>", "ids": [9], "tokens": ["c"]},
            },
        },
        {
            "type": "RobertaProcessing",
            "sep": ["</s>", 9],
            "cls": ["<s>", 7],
            "trim_offsets": True,
            "add_prefix_space": True,
        },
        {"type": "BertProcessing", "sep": ["</s>", 9], "cls": ["<s>", 7]},
    ],
)
def test_templates(processor: dict[str, Any] | None) -> None:
    made = Both(file(post_processor=processor))
    for text in ("", "a", "hello world", " <s>"):
        made.check(text)
    if processor is not None:
        several = {"type": "Sequence", "processors": [BYTE_LEVEL, processor]}
        Both(file(post_processor=several)).check("ab")


def test_an_unknown_id_is_an_error_here() -> None:
    with pytest.raises(KeyError, match=re.escape("4000 is not in the vocabulary")):
        Both(file()).ours.decode([4000])


@pytest.mark.parametrize("pre_tokenizer", [BYTE_LEVEL, sequence()])
def test_a_long_text_in_one_piece(pre_tokenizer: dict[str, Any]) -> None:
    Both(file(pre_tokenizer=pre_tokenizer)).check("the hat " * 2000 + "中文" * 500)


@pytest.mark.hypothesis
@pytest.mark.parametrize("prefix", [False, True])
def test_vocab_json_and_merges_txt(tmp_path: Path, prefix: bool) -> None:
    model = small_model()
    vocab, merges = tmp_path / "vocab.json", tmp_path / "merges.txt"
    vocab.write_text(json.dumps(model["vocab"]), "utf-8")
    merges.write_text("\n".join(["#version: 0.2", *model["merges"], ""]), "utf-8")
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": prefix})
    )
    # It has no added tokens, and transformers gives this class <|endoftext|>.
    theirs = tokenizers.ByteLevelBPETokenizer.from_file(
        str(vocab), str(merges), add_prefix_space=prefix
    )
    ours = compat_bpe.load(tmp_path)

    @given(texts)
    def check(text: str) -> None:
        assert ours.encode_ordinary(text) == theirs.encode(text).ids

    check()


ALPHABETS = st.sampled_from(["ab ", "a", "aé<|", "a\n]^-\\", "a\U0001f600\uffff "])


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[dict[str, Any]], str]:
    alphabet = draw(ALPHABETS)
    names = draw(st.sets(st.text(alphabet, min_size=1, max_size=5), min_size=1, max_size=20))
    # So many that no pattern of them all is made.
    names |= {f"x{number}" for number in range(FEW)}
    flags = st.sets(st.sampled_from(FLAGS)).map(lambda chosen: dict.fromkeys(chosen, True))
    tokens = [added(300 + at, name, **draw(flags)) for at, name in enumerate(sorted(names))]
    parts = st.one_of(st.text(alphabet + "Ax1", max_size=6), st.sampled_from(sorted(names)))
    return tokens, "".join(draw(st.lists(parts, max_size=8)))


@settings(max_examples=scaled(150))
@given(cases(), st.sampled_from([None, {"type": "Lowercase"}]))
def test_random_names(case: tuple[list[dict[str, Any]], str], normalizer: Any) -> None:
    tokens, text = case
    Both(file(added_tokens=tokens, normalizer=normalizer)).check(text)


BEGINNING = "<|reserved_special_token_"


@pytest.mark.parametrize("flag", ["special", "normalized", "single_word"])
@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([f"{BEGINNING}{at}|>" for at in range(2000)], f"{BEGINNING * 9}77|>{BEGINNING}2000|>"),
        ([f"a{at:04}" for at in range(2000)], "a" * 400 + "a1999a2000a0"),
        (["a" * length for length in range(1, 500)], ("a" * 520 + "b ") * 4),
        (["a" * length + "b" for length in range(800)], "a" * 4000),
        (["a" + "b" * length for length in range(800)], "ac" * 400 + "a" + "b" * 900),
        ([chr(at) for at in range(0x4E00, 0x5600)], "一丁x\u5600\u55ff"),
    ],
    ids=["one beginning", "one letter", "prefixes", "tails", "short in long", "many beginnings"],
)
def test_hostile_names(names: list[str], text: str, flag: str) -> None:
    tokens = [added(300 + at, name, **{flag: True}) for at, name in enumerate(names)]
    Both(file(added_tokens=tokens)).check(text)
