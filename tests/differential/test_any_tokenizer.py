"""Whole random tokenizers and odd files against tokenizers, and what is saved of them."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
import tokenizers

from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.checked_json import parse_json, read_json
from compat_bpe.formats.tokenizer_json import parse_tokenizer
from compat_bpe.save import save_tokenizer_json
from compat_bpe.tokenizer import AddedToken
from tests.differential.any_tokenizer import (
    MODELS,
    added_tokens,
    any_file,
    any_text,
    is_undefined,
    is_undefined_file,
    mutated,
    odd_places,
    with_shared_ids,
    with_uneven_templates,
)
from tests.differential.small_tokenizers import error_of, fields, file, lookups
from tests.tokenizer_files import FLAGS, added


def both(content: dict[str, Any]) -> tuple[Tokenizer, Any] | None:
    """Return a tokenizer in both packages; None if neither takes the file."""
    text = json.dumps(content)
    made: list[Any] = []
    refused = error_of(lambda: made.append(tokenizers.Tokenizer.from_str(text)))
    if refused == "PanicException":
        return None
    if refused:
        with pytest.raises(ValueError, match="x: "):
            Tokenizer("x", parse_tokenizer(parse_json(text.encode(), "x")))
        return None
    try:
        return Tokenizer("x", parse_tokenizer(parse_json(text.encode(), "x"))), made[0]
    except ValueError as error:
        # There, such a name is found between any two bytes.
        assert " is normalized to nothing" in str(error)  # noqa: PT017
        return None


def same(ours: Any, theirs: Any) -> bool:
    """Compare two calls; False if tokenizers raises an error or panics."""
    expected: list[Any] = []
    if kind := error_of(lambda: expected.append(theirs())):
        if kind != "PanicException":
            assert error_of(ours) == "ValueError"
        else:
            assert error_of(ours) in ("", "ValueError")
        return False
    assert ours() == expected[0]
    return True


def same_places(ours: Any, theirs: Any, length: int) -> None:
    """Compare all fields, and what is looked up in them."""

    def all_of(found: Any) -> Any:
        return fields(found), lookups(found, length)

    same(lambda: all_of(ours()), lambda: all_of(theirs()))


def check(
    ours: Tokenizer,
    theirs: Any,
    variants: tuple[Any, Any],
    first: str,
    second: str | None,
    places: bool,
) -> None:
    """Compare all fields as the file says, and the ids without its truncation and padding."""
    plain, bare = variants
    for add in (False, True):
        located = partial(
            ours.encode_with_offsets,
            *(first, second),
            allowed_special="all",
            add_special_tokens=add,
            truncation=ours.truncation,
            padding=ours.padding,
        )
        expected = partial(theirs.encode, first, second, add_special_tokens=add)
        if places:
            same_places(located, expected, max(len(first), len(second or ())))
        encode = partial(ours.encode, allowed_special="all", add_special_tokens=add)
        expected = partial(plain.encode, first, second, add_special_tokens=add)
        is_same = same(partial(encode, first, second), lambda: expected().ids)  # noqa: B023
        if is_same and second is None:
            batch = ours.encode_batch([first], allowed_special="all", add_special_tokens=add)
            assert batch == [encode(first)]
    expected = partial(bare.encode, first, add_special_tokens=False)
    if same(partial(ours.encode_ordinary, first), lambda: expected().ids):
        check_own(ours, first)


def check_words(
    ours: Tokenizer, theirs: Any, plain: Any, first: Any, second: Any, places: bool
) -> None:
    """Compare what is made of texts that are split into words already."""
    for add in (False, True):
        options: dict[str, Any] = {"is_pretokenized": True, "add_special_tokens": add}
        located = partial(
            ours.encode_with_offsets,
            *(first, second),
            **options,
            allowed_special="all",
            truncation=ours.truncation,
            padding=ours.padding,
        )
        expected = partial(theirs.encode, first, second, **options)
        if places:
            same_places(located, expected, sum(map(len, first)))
        encode = partial(ours.encode, allowed_special="all", **options)
        same(partial(encode, first, second), lambda: plain.encode(first, second, **options).ids)  # noqa: B023
        batch = [first] if second is None else [first, (first, second), [first, second]]
        same(
            lambda: ours.encode_batch(batch, allowed_special="all", **options),  # noqa: B023
            lambda: [one.ids for one in plain.encode_batch(batch, **options)],  # noqa: B023
        )


def check_own(ours: Tokenizer, text: str) -> None:
    """What this package has alone: counts and cut points."""
    ids = ours.core.encode(text, frozenset())
    assert ours.count(text) == len(ids)
    for fine in (False, True):
        cut = ours.core.next_cut_point(text, fine=fine)
        while cut is not None:
            left = ours.core.encode(text[:cut], frozenset())
            assert left + ours.core.continued.encode(text[cut:], frozenset()) == ids
            cut = ours.core.next_cut_point(text, cut, fine=fine)


def check_decoding(ours: Tokenizer, theirs: Any, ids: list[int]) -> None:
    known = [number for number in ids if theirs.id_to_token(number) is not None]
    for number in known:
        assert ours.id_to_token(number) == theirs.id_to_token(number)
    for skip in (False, True):
        same(
            partial(ours.decode, known, skip_special_tokens=skip),
            partial(theirs.decode, known, skip_special_tokens=skip),
        )


def check_vocabulary(ours: Tokenizer, theirs: Any, *names: str) -> bool:
    """Compare the vocabularies; False if tokens share an id, of which the last one is its name."""
    assert ours.get_vocab(False) == theirs.get_vocab(False)
    expected = theirs.get_vocab()
    if len(set(expected.values())) < len(expected):
        return False
    assert ours.get_vocab() == ours.get_vocab(True) == expected
    for name in [*expected, *names]:
        assert ours.token_to_id(name) == theirs.token_to_id(name)
    return True


def check_saved(ours: Tokenizer, theirs: Any, texts: list[str], path: Path) -> None:
    """A file that is written gives what the one that was read gives, in both packages."""
    save_tokenizer_json(ours, path)
    saved: Any = tokenizers.Tokenizer.from_file(str(path))
    read = Tokenizer("x", parse_tokenizer(read_json(path)))
    for text in texts:
        if error_of(partial(theirs.encode, text)):
            assert error_of(partial(saved.encode, text))
        else:
            assert fields(saved.encode(text)) == fields(theirs.encode(text))
        encode = partial(read.encode_with_offsets, allowed_special="all", add_special_tokens=True)
        located = partial(encode, text, truncation=read.truncation, padding=read.padding)
        same(lambda: located().ids, lambda: theirs.encode(text).ids)  # noqa: B023


def check_seed(seed: int, folder: Path, kind: str | None = None) -> None:
    draw = Random(seed)
    content = any_file(draw, kind)
    made = both(content)
    if made is None or is_undefined(made[0]):
        return
    ours, theirs = made
    uncut = {**content, "truncation": None, "padding": None}
    plain: Any = tokenizers.Tokenizer.from_str(json.dumps(uncut))
    bare: Any = tokenizers.Tokenizer.from_str(json.dumps({**uncut, "post_processor": None}))
    bare.encode_special_tokens = True
    texts = [any_text(draw, content) for _ in range(6)]
    for first in texts:
        second = draw.choice([None, None, any_text(draw, content)])
        check(ours, theirs, (plain, bare), first, second, not odd_places(content))
    for _ in range(3):
        words = [draw.choice(texts)[: draw.choice([0, 1, 3, 9])] for _ in range(draw.randint(0, 5))]
        more = draw.choice([None, words[1:], tuple(any_text(draw, content).split(" "))])
        check_words(ours, theirs, plain, words, more, not odd_places(content))
    check_vocabulary(ours, theirs)
    top = theirs.get_vocab_size(with_added_tokens=True) + 3
    for _ in range(4):
        check_decoding(ours, theirs, [draw.randrange(top) for _ in range(draw.randrange(12))])
    check_saved(ours, theirs, texts, folder / "tokenizer.json")


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("seed", range(12))
def test_random_tokenizers(kind: str, seed: int, tmp_path: Path) -> None:
    check_seed(seed, tmp_path, kind)


@pytest.mark.sweep
@pytest.mark.parametrize("hundred", range(4))
def test_many_random_tokenizers(hundred: int, tmp_path: Path) -> None:
    for seed in range(hundred * 100, (hundred + 1) * 100):
        check_seed(seed, tmp_path)


def check_adding(seed: int, folder: Path, kind: str | None = None) -> None:
    """Tokens that are added make of a tokenizer what they make of the reference's."""
    draw = Random(seed)
    content = {**any_file(draw, kind), "truncation": None, "padding": None}
    made = both(content)
    if made is None or is_undefined(made[0]):
        return
    ours, theirs = made
    bare: Any = tokenizers.Tokenizer.from_str(json.dumps({**content, "post_processor": None}))
    bare.encode_special_tokens = True
    texts = [any_text(draw, content) for _ in range(3)]
    for _ in range(draw.randint(1, 3)):
        fresh = added_tokens(draw, list(ours.get_vocab()))
        for token in fresh[:1]:  # what a name alone means
            token.update(dict.fromkeys(FLAGS, False), normalized=True)
        tokens = fresh + content["added_tokens"][: draw.choice([0, 0, 1, 3])]
        if _are_changed_back(tokens, ours):
            continue
        options = [{name: token[name] for name in FLAGS} for token in tokens]
        names = [token["content"] for token in tokens]
        new: list[Any] = [AddedToken(name, **flags) for name, flags in zip(names, options)]
        theirs_new: list[Any] = [
            tokenizers.AddedToken(name, **flags) for name, flags in zip(names, options)
        ]
        if fresh:
            new[0] = theirs_new[0] = names[0]
        before = ours.get_vocab(), ours.core
        try:
            count = ours.add_tokens(new)
        except ValueError as error:
            assert " is normalized to nothing" in str(error)  # noqa: PT017
            assert (ours.get_vocab(), ours.core) == before
            return
        assert count == theirs.add_tokens(theirs_new) == bare.add_tokens(theirs_new)
        if is_undefined(ours):
            return
        content["added_tokens"] = content["added_tokens"] + tokens
        texts += [any_text(draw, content) for _ in range(2)]
        check_decoding(ours, theirs, list(range(len(ours.get_vocab()) + 3)))
        for text in texts:
            check(ours, theirs, (theirs, bare), text, None, not odd_places(content))
    if check_vocabulary(ours, theirs, "no token"):
        check_saved(ours, theirs, texts, folder / "tokenizer.json")


def _are_changed_back(tokens: list[dict[str, Any]], ours: Tokenizer) -> bool:
    """Return True if a token that is normalized, or special, is added again as one that is not.

    tokenizers goes on showing the normalized name of the first. The second stays special, though
    its flag there says otherwise, so a third one may count as new.
    """
    before = {one.content: (one.special, one.normalized) for one in ours.added_tokens}
    for token in tokens:
        flags = token["special"], token["normalized"]
        old = before.setdefault(token["content"], flags)
        if old[0] > flags[0] or old[1] > flags[1]:
            return True
        before[token["content"]] = flags
    return False


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("seed", range(12))
def test_tokens_are_added(kind: str, seed: int, tmp_path: Path) -> None:
    check_adding(seed, tmp_path, kind)


@pytest.mark.sweep
@pytest.mark.parametrize("hundred", range(4))
def test_many_tokens_are_added(hundred: int, tmp_path: Path) -> None:
    for seed in range(hundred * 100, (hundred + 1) * 100):
        check_adding(seed, tmp_path)


#: What is refused here only: a part that is written as the list of its members' values, which
#: the reader of tokenizers takes by chance; an added token that is normalized to nothing, which
#: tokenizers finds everywhere; and patterns that ``re`` cannot match in the same way.
_REFUSED_HERE = re.compile(
    r"x: (normalizer|pre_tokenizer|post_processor|decoder)[^:]*: must be an object, not a list"
    r"|x: added_tokens: .* is normalized to nothing: "
    r"|x: .*(Regex|String): "
)


def read_here(content: dict[str, Any]) -> Tokenizer:
    return Tokenizer("x", parse_tokenizer(parse_json(json.dumps(content).encode(), "x")))


def read_there(content: dict[str, Any]) -> Any:
    return tokenizers.Tokenizer.from_str(json.dumps(content))


def check_ids(content: dict[str, Any], text: str) -> None:
    """Compare the ids of a text; where tokenizers raises an error it is a ``ValueError`` here."""
    mine, other = read_here(content), read_there(content)
    for add in (False, True):
        expected: list[Any] = []
        kind = error_of(
            lambda: expected.append(other.encode(text, add_special_tokens=add))  # noqa: B023
        )
        arguments: dict[str, Any] = {"allowed_special": "all", "add_special_tokens": add}
        cut: dict[str, Any] = {"truncation": mine.truncation, "padding": mine.padding}
        if kind == "PanicException":
            continue
        if kind:
            with pytest.raises(ValueError, match=r"\w"):
                mine.encode_with_offsets(text, **arguments, **cut)
            continue
        found = mine.encode_with_offsets(text, **arguments, **cut)
        assert found.ids == expected[0].ids
        if mine.truncation is None and mine.padding is None:
            assert mine.encode(text, **arguments) == expected[0].ids


def check_mutated(seed: int) -> None:
    draw = Random(seed)
    content = mutated(draw, any_file(draw))
    model = content.get("model")
    if isinstance(model, dict) and model.get("continuing_subword_prefix"):
        return  # It may end the process.
    other, mine, message = error_of(lambda: read_there(content)), "", ""
    try:
        read_here(content)
    except ValueError as error:
        mine, message = "ValueError", str(error)
    assert not message or message.startswith("x: ")
    assert other or not mine or _REFUSED_HERE.match(message), message


@pytest.mark.parametrize("seed", range(40))
def test_what_tokenizers_loads_is_loaded(seed: int) -> None:
    check_mutated(seed)


@pytest.mark.sweep
def test_what_tokenizers_loads_is_loaded_in_many_files() -> None:
    for seed in range(40, 4000):
        check_mutated(seed)


def untyped(**members: Any) -> dict[str, Any]:
    return file(model=members, pre_tokenizer=None, decoder=None)


WORDS: dict[str, Any] = {"vocab": {"a": 0}, "unk_token": "a"}
PREFIXED = {**WORDS, "continuing_subword_prefix": "##", "max_input_chars_per_word": 10}
SCORES: dict[str, Any] = {"vocab": [["a", -1.0], ["b", -2.0]]}


@pytest.mark.parametrize(
    "model",
    [
        {**WORDS, "merges": ["a"]},
        {**WORDS, "merges": "x"},
        {**WORDS, "merges": [["a", "z"]]},
        {**WORDS, "merges": [], "fuse_unk": 7},
        {**WORDS, "merges": [], "x": 1},
        PREFIXED,
        {**PREFIXED, "max_input_chars_per_word": "x"},
        {**PREFIXED, "continuing_subword_prefix": 5},
        {**PREFIXED, **SCORES},
        {**SCORES, "unk_token": "a"},
        {**SCORES, "unk_token": "a", "merges": []},
        {**SCORES, "unk_id": 0, "unk_token": "a"},
    ],
)
def test_a_model_without_a_type_is_of_the_first_that_fits(model: dict[str, Any]) -> None:
    content = untyped(**model)
    for text in ("a", "ab", "ba"):
        check_ids(content, text)


@pytest.mark.parametrize(
    "model",
    [
        {"vocab": {"a": 0}},
        {"vocab": {"a": 0}, "unk_token": None},
        {"vocab": {"a": 0}, "merges": [], "dropout": 7},
        *({**WORDS, "merges": [], "type": name} for name in (None, 5, "bpe", "X")),
    ],
)
def test_a_model_that_fits_no_type(model: dict[str, Any]) -> None:
    assert error_of(lambda: read_there(untyped(**model)))
    with pytest.raises(ValueError, match="x: model"):
        read_here(untyped(**model))


@pytest.mark.parametrize("flag", [None, "lstrip", "rstrip", "single_word", "special"])
def test_an_added_token_that_is_normalized_to_nothing(flag: str | None) -> None:
    removed = {"type": "Replace", "pattern": {"String": "x"}, "content": ""}
    flags = {} if flag is None else {flag: True}
    token = added(9, "x", **{"normalized": True, **flags})
    content = file(added_tokens=[token], normalizer=removed)
    # It is found between any two bytes there, in the middle of a character, too.
    assert flag == "single_word" or error_of(lambda: read_there(content).encode("aé")) == (
        "PanicException"
    )
    with pytest.raises(ValueError, match="x: added_tokens: 'x' is normalized to nothing"):
        read_here(content)


def test_nothing_before_a_text_takes_a_place_away() -> None:
    nothing, letter = ({"type": "Prepend", "prepend": text} for text in ("", "a"))
    double = {"type": "Replace", "pattern": {"String": "a"}, "content": "bb"}
    others = [nothing, letter, double, {"type": "NFD"}, {"type": "Lowercase"}, {"type": "NFC"}]
    chains = [[nothing], *([nothing, one] for one in others), *([one, nothing] for one in others)]
    chains += [[nothing, nothing, double], [double, nothing, letter], [letter, nothing, nothing]]
    compared = 0
    for chain in chains:
        steps = {"type": "Sequence", "normalizers": chain}
        # Before ByteLevel, tokenizers writes the text twice or fails.
        content = file(normalizer=steps, pre_tokenizer=None)
        mine, other = read_here(content), read_there(content)
        for text in ("", "a", "ab", "é", "cAb", "Éa", " a"):
            if error_of(lambda: other.encode(text)) == "PanicException":  # noqa: B023
                continue
            found, expected = mine.encode_with_offsets(text), other.encode(text)
            assert (found.ids, found.offsets) == (expected.ids, expected.offsets), (chain, text)
            assert mine.encode(text) == expected.ids
            compared += 1
    assert compared > 80


def check_shared_ids(kind: str, seed: int) -> None:
    draw = Random(seed)
    content = with_shared_ids(draw, any_file(draw, kind))
    if error_of(lambda: read_there(content)) == "PanicException" or is_undefined_file(
        lambda: read_here(content)
    ):
        return
    mine = read_here(content)
    for _ in range(4):
        text = any_text(draw, content)
        check_ids(content, text)
        if not error_of(lambda: mine.encode(text, allowed_special="all")):  # noqa: B023
            located = mine.encode_with_offsets(text, allowed_special="all")
            assert located.ids == mine.encode(text, allowed_special="all")
            assert mine.count(text) == len(mine.encode_ordinary(text))
    names = {**content["model"]["vocab"], **{one.content: one.id for one in mine.added_tokens}}
    for number in set(names.values()):
        token = mine.id_to_token(number)
        assert token is not None
        assert mine.decode([number]) is not None


@pytest.mark.parametrize("kind", sorted(MODELS.keys() - {"unigram"}))
@pytest.mark.parametrize("seed", range(4))
def test_tokens_that_share_an_id(kind: str, seed: int) -> None:
    check_shared_ids(kind, seed)


@pytest.mark.sweep
@pytest.mark.parametrize("kind", sorted(MODELS.keys() - {"unigram"}))
def test_tokens_that_share_an_id_in_many_files(kind: str) -> None:
    for seed in range(4, 80):
        check_shared_ids(kind, seed)


def test_a_merge_is_one_of_ids() -> None:
    vocab = {"a": 0, "b": 0, "c": 1, "ac": 2, "aca": 0, "d": 3, "bd": 3}
    merges = [["a", "c"], ["ac", "a"], ["b", "d"], ["a", "c"]]
    content = file(
        model={"type": "BPE", "vocab": vocab, "merges": merges}, pre_tokenizer=None, decoder=None
    )
    for text in ("acbcab", "bca", "acacac", "bdadd", "cabdac" * 20):
        check_ids(content, text)
    found = read_here(content).encode_with_offsets("bcbd")
    assert found.offsets == read_there(content).encode("bcbd").offsets


def test_pieces_of_a_word_that_share_an_id_have_their_places() -> None:
    vocab = {"ab": 0, "##c": 0, "##cd": 1, "[UNK]": 0}
    model = {
        "type": "WordPiece",
        "vocab": vocab,
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 400,
    }
    content = file(model=model, pre_tokenizer=None, decoder=None)
    for text in ("abc", "abcdc", "x", "ab" + "c" * 300):
        expected = read_there(content).encode(text)
        found = read_here(content).encode_with_offsets(text)
        assert (found.ids, found.tokens) == (expected.ids, expected.tokens)
        assert found.offsets == expected.offsets


EMPTY: dict[str, dict[str, Any]] = {
    "BPE": {"vocab": {}, "merges": []},
    "WordPiece": {
        "vocab": {},
        "unk_token": "x",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
    },
    "WordLevel": {"vocab": {}, "unk_token": "x"},
    "Unigram": {"vocab": []},
}


@pytest.mark.parametrize("kind", EMPTY)
@pytest.mark.parametrize("tokens", [[], [added(7, "ab", special=True), added(9, "c")]])
def test_an_empty_vocabulary(kind: str, tokens: list[Any], tmp_path: Path) -> None:
    model = {"type": kind, **EMPTY[kind]}
    for parts in ({}, {"pre_tokenizer": None, "decoder": None}):
        content = file(model=model, added_tokens=tokens, **parts)
        for text in ("", "ab", "abc", "x", "cab c"):
            check_ids(content, text)
        mine = read_here(content)
        size: int = read_there(content).get_vocab_size(with_added_tokens=True)
        assert mine.n_vocab == size == len(tokens)
        assert (mine.count(""), mine.decode([])) == (0, "")
        assert mine.truncate("", 3).text == ""
        save_tokenizer_json(mine, tmp_path / "tokenizer.json")
        saved: Any = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
        assert saved.get_vocab() == read_there(content).get_vocab()


@pytest.mark.parametrize("seed", range(6))
def test_templates_with_as_many_ids_as_they_like(seed: int) -> None:
    draw = Random(seed)
    content = any_file(draw)
    while (content["post_processor"] or {}).get("type") != "TemplateProcessing":
        content = any_file(draw)
    content = with_uneven_templates(draw, content)
    if error_of(lambda: read_there(content)) or is_undefined_file(lambda: read_here(content)):
        return
    mine, other = read_here(content), read_there(content)
    for _ in range(6):
        text = any_text(draw, content)
        check_ids(content, text)
        if not odd_places(content) and not error_of(lambda: other.encode(text)):  # noqa: B023
            cut: dict[str, Any] = {"truncation": mine.truncation, "padding": mine.padding}
            found: Any = mine.encode_with_offsets(
                text, allowed_special="all", add_special_tokens=True, **cut
            )
            assert fields(found) == fields(other.encode(text))


def with_dropout(dropout: float | None, **fields: Any) -> dict[str, Any]:
    model = {
        "type": "BPE",
        "vocab": {"a": 0, "b": 1, "ab": 2, "aba": 3},
        "merges": [["a", "b"], ["ab", "a"]],
        "dropout": dropout,
        **fields,
    }
    return file(model=model, pre_tokenizer=None, decoder=None)


@pytest.mark.parametrize("dropout", [0, 0.0, -1e-60, 1, 1.0, 0.99999999999, 1.00000001])
@pytest.mark.parametrize("ignore_merges", [False, True])
def test_dropout_that_leaves_nothing_to_chance(dropout: float, ignore_merges: bool) -> None:
    content = with_dropout(dropout, ignore_merges=ignore_merges)
    for text in ("aba", "ab", "abab" * 9):
        check_ids(content, text)


def test_dropout_of_any_kind_is_refused_alike() -> None:
    for dropout in (-0.1, 1.1, 1e300, "0.5", True, [0.5]):
        content = with_dropout(dropout)  # type: ignore[arg-type]
        assert error_of(lambda: read_there(content))  # noqa: B023
        with pytest.raises(ValueError, match=r"x: model\.dropout: must be "):
            read_here(content)


def test_other_dropout_is_not_applied_unasked(tmp_path: Path) -> None:
    content = with_dropout(0.5)
    mine = read_here(content)
    assert mine.encode("abaab") == read_here(with_dropout(None)).encode("abaab") == [3, 2]
    save_tokenizer_json(mine, tmp_path / "tokenizer.json")
    assert json.loads((tmp_path / "tokenizer.json").read_bytes())["model"]["dropout"] == 0.5
    # tokenizers draws anew for each text, so that all it can give is among what may be left.
    assert read_there(content).encode("ab").ids in ([2], [0, 1])
