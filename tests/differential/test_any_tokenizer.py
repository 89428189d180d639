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
from hypothesis import strategies as st

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
from tests.differential.small_tokenizers import PANIC, answer, error_of, fields, file, lookups, same
from tests.examples import drawn
from tests.fit.helpers import all_found
from tests.tokenizer_files import FLAGS, added


def read_here(content: dict[str, Any]) -> Tokenizer:
    return Tokenizer("x", parse_tokenizer(parse_json(json.dumps(content).encode(), "x")))


def read_there(content: dict[str, Any]) -> Any:
    return tokenizers.Tokenizer.from_str(json.dumps(content))


def both(content: dict[str, Any]) -> tuple[Tokenizer, Any] | None:
    """Return a tokenizer in both packages; None if neither takes the file."""
    theirs, refused = answer(lambda: read_there(content))
    if refused == PANIC:
        return None
    if refused:
        with pytest.raises(ValueError, match="x: "):
            read_here(content)
        return None
    # There, a name that is normalized to nothing is found between any two bytes.
    if is_undefined_file(lambda: read_here(content)):
        return None
    return read_here(content), theirs


def same_places(ours: Any, theirs: Any, length: int) -> None:
    """Compare all fields, and what is looked up in them."""

    def all_of(found: Any) -> Any:
        return fields(found), lookups(found, length)

    same(lambda: all_of(ours()), lambda: all_of(theirs()))


def cut_by(ours: Tokenizer) -> dict[str, Any]:
    """The settings of a file, which this package applies if they are given."""
    return {"truncation": ours.truncation, "padding": ours.padding}


def check(
    ours: Tokenizer,
    theirs: Any,
    plain: Any,
    first: Any,
    second: Any,
    size: int | None,
    **options: Any,
) -> None:
    """Compare all fields as the file says, and the ids without its truncation and padding.

    Args:
        size: up to where places are looked up; None if they are not compared.
    """
    batch = [first] if second is None else [first, (first, second), [first, second]]
    for add in (False, True):
        there = {**options, "add_special_tokens": add}
        here: dict[str, Any] = {**there, "allowed_special": "all"}
        if size is not None:
            same_places(
                partial(ours.encode_with_offsets, first, second, **here, **cut_by(ours)),
                partial(theirs.encode, first, second, **there),
                size,
            )
        same(
            partial(ours.encode, first, second, **here),
            lambda: plain.encode(first, second, **there).ids,  # noqa: B023
        )
        same(
            partial(ours.encode_batch, batch, **here),
            lambda: [one.ids for one in plain.encode_batch(batch, **there)],  # noqa: B023
        )


def check_ordinary(ours: Tokenizer, bare: Any, text: str) -> None:
    """Compare the ids of plain text, and check what this package has alone."""
    expected = partial(bare.encode, text, add_special_tokens=False)
    if same(partial(ours.encode_ordinary, text), lambda: expected().ids):
        check_own(ours, text)


def check_own(ours: Tokenizer, text: str) -> None:
    """What this package has alone: counts and cut points."""
    ids = ours.core.encode(text, frozenset())
    assert ours.count(text) == len(ids)
    for fine in (False, True):
        for cut in all_found(lambda at: ours.core.next_cut_point(text, at, fine=fine)):  # noqa: B023
            left = ours.core.encode(text[:cut], frozenset())
            assert left + ours.core.continued.encode(text[cut:], frozenset()) == ids


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
    try:
        save_tokenizer_json(ours, path)
    except ValueError as error:
        # No file keeps the ids of all added tokens here: the reference's has others, too.
        assert "would not get the ids" in str(error)  # noqa: PT017
        theirs.save(str(path))
        assert tokenizers.Tokenizer.from_file(str(path)).get_vocab() != theirs.get_vocab()
        return
    saved: Any = tokenizers.Tokenizer.from_file(str(path))
    read = Tokenizer("x", parse_tokenizer(read_json(path)))
    assert (saved.truncation, saved.padding) == (theirs.truncation, theirs.padding)
    assert cut_by(read) == cut_by(ours)
    # The writer and the reader are each other's inverse.
    content = json.loads(path.read_bytes())
    save_tokenizer_json(read, path)
    assert json.loads(path.read_bytes()) == content
    for text in texts:
        expected, kind = answer(partial(theirs.encode, text))
        if kind:
            assert error_of(partial(saved.encode, text))
        else:
            assert fields(saved.encode(text)) == fields(expected)
            decoded, there = (answer(partial(one.decode, expected.ids)) for one in (saved, theirs))
            assert decoded == there
        encode = partial(read.encode_with_offsets, allowed_special="all", add_special_tokens=True)
        same(lambda: encode(text, **cut_by(read)).ids, lambda: theirs.encode(text).ids)  # noqa: B023


def check_seed(draw: Random, folder: Path) -> None:
    content = any_file(draw)
    made = both(content)
    if made is None:
        return
    ours, theirs = made
    uncut = {**content, "truncation": None, "padding": None}
    plain, bare = read_there(uncut), read_there({**uncut, "post_processor": None})
    bare.encode_special_tokens = True
    texts = [any_text(draw, content) for _ in range(6)]
    odd = odd_places(content)
    for first in texts:
        second = draw.choice([None, None, any_text(draw, content)])
        size = None if odd else max(len(first), len(second or ()))
        check(ours, theirs, plain, first, second, size)
        check_ordinary(ours, bare, first)
    for _ in range(3):
        words = [draw.choice(texts)[: draw.choice([0, 1, 3, 9])] for _ in range(draw.randint(0, 5))]
        more = draw.choice([None, words[1:], tuple(any_text(draw, content).split(" "))])
        size = None if odd else sum(map(len, words))
        check(ours, theirs, plain, words, more, size, is_pretokenized=True)
    check_vocabulary(ours, theirs)
    top = theirs.get_vocab_size(with_added_tokens=True) + 3
    for _ in range(4):
        check_decoding(ours, theirs, [draw.randrange(top) for _ in range(draw.randrange(12))])
    check_saved(ours, theirs, texts, folder / "tokenizer.json")


def check_adding(draw: Random, folder: Path) -> None:
    """Tokens that are added make of a tokenizer what they make of the reference's."""
    content = {**any_file(draw), "truncation": None, "padding": None}
    made = both(content)
    if made is None:
        return
    ours, theirs = made
    bare = read_there({**content, "post_processor": None})
    bare.encode_special_tokens = True
    texts = [any_text(draw, content) for _ in range(3)]
    for _ in range(draw.randint(1, 3)):
        fresh = added_tokens(draw, list(ours.get_vocab()))
        for token in fresh[:1]:  # what a name alone means
            token.update(dict.fromkeys(FLAGS, False), normalized=True)
        tokens = fresh + content["added_tokens"][: draw.choice([0, 0, 1, 3])]
        # One whose id another token took gets a new id here; there it takes its own back.
        added_before = {one["content"] for one in content["added_tokens"]}
        lost = {name for name in added_before if ours.token_to_id(name) is None}
        if _are_changed_back(tokens, ours) or lost & {one["content"] for one in tokens}:
            continue
        kinds: tuple[Any, Any] = (AddedToken, tokenizers.AddedToken)
        new, theirs_new = (
            [one(token["content"], **{name: token[name] for name in FLAGS}) for token in tokens]
            for one in kinds
        )
        if fresh:
            new[0] = theirs_new[0] = fresh[0]["content"]
        before = ours.get_vocab(), ours.core
        try:
            count = ours.add_tokens(new)
        except ValueError as error:
            assert " becomes empty when normalized" in str(error)  # noqa: PT017
            assert (ours.get_vocab(), ours.core) == before
            return
        assert count == theirs.add_tokens(theirs_new) == bare.add_tokens(theirs_new)
        if is_undefined(ours):
            return
        content["added_tokens"] = content["added_tokens"] + tokens
        texts += [any_text(draw, content) for _ in range(2)]
        check_decoding(ours, theirs, list(range(len(ours.get_vocab()) + 3)))
        for text in texts:
            check(ours, theirs, theirs, text, None, None if odd_places(content) else len(text))
            check_ordinary(ours, bare, text)
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


@pytest.mark.parametrize("check_one", [check_seed, check_adding])
@drawn(150, seed=st.integers(0, 1 << 32))
def test_random_tokenizers(
    tmp_path_factory: pytest.TempPathFactory, check_one: Any, seed: int
) -> None:
    check_one(Random(seed), tmp_path_factory.getbasetemp())


@pytest.mark.sweep
@pytest.mark.parametrize("check_one", [check_seed, check_adding])
@pytest.mark.parametrize("hundred", range(4))
def test_many_random_tokenizers(check_one: Any, hundred: int, tmp_path: Path) -> None:
    for seed in range(hundred * 100, (hundred + 1) * 100):
        check_one(Random(seed), tmp_path)


# Odd files: what tokenizers loads is loaded, what it refuses is an error

#: What is refused here only: a part that is written as the list of its members' values, which
#: the reader of tokenizers takes by chance; an added token that is normalized to nothing, which
#: tokenizers finds everywhere; and patterns that ``re`` cannot match in the same way.
_REFUSED_HERE = re.compile(
    r"x: (normalizer|pre_tokenizer|post_processor|decoder)[^:]*: must be an object, not a list"
    r"|x: added_tokens: .* becomes empty when normalized"
    r"|x: .*(Regex|String): "
)


def check_ids(content: dict[str, Any], text: str) -> None:
    """Compare the ids of a text; where tokenizers raises an error it is a ``ValueError`` here."""
    mine, other = read_here(content), read_there(content)
    for add in (False, True):
        expected, kind = answer(lambda: other.encode(text, add_special_tokens=add).ids)  # noqa: B023
        if kind == PANIC:
            continue
        options: dict[str, Any] = {"allowed_special": "all", "add_special_tokens": add}
        found, refused = answer(
            lambda: mine.encode_with_offsets(text, **options, **cut_by(mine)).ids  # noqa: B023
        )
        assert refused == ("ValueError" if kind else "")
        assert found == expected
        if not kind and mine.truncation is None and mine.padding is None:
            assert mine.encode(text, **options) == expected


def check_mutated(seed: int) -> None:
    draw = Random(seed)
    content = mutated(draw, any_file(draw))
    model = content.get("model")
    if isinstance(model, dict) and model.get("continuing_subword_prefix"):
        return  # It may end the process.
    other, message = error_of(lambda: read_there(content)), ""
    try:
        read_here(content)
    except ValueError as error:
        message = str(error)
    assert not message or message.startswith("x: ")
    assert other or not message or _REFUSED_HERE.match(message), message


@pytest.mark.parametrize("seed", range(40))
def test_what_tokenizers_loads_is_loaded(seed: int) -> None:
    check_mutated(seed)


@pytest.mark.sweep
def test_what_tokenizers_loads_is_loaded_in_many_files() -> None:
    for seed in range(40, 4000):
        check_mutated(seed)


def of_model(**members: Any) -> dict[str, Any]:
    return file(model=members, pre_tokenizer=None, decoder=None)


WORDS: dict[str, Any] = {"vocab": {"a": 0}, "unk_token": "a"}
PREFIXED = {**WORDS, "continuing_subword_prefix": "##", "max_input_chars_per_word": 10}
SCORES: dict[str, Any] = {"vocab": [["a", -1.0], ["b", -2.0]]}


@pytest.mark.parametrize(
    "model",
    [
        *({**WORDS, "merges": merges} for merges in (["a"], "x", [["a", "z"]])),
        *({**WORDS, "merges": [], name: 7} for name in ("fuse_unk", "x")),
        {"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"], "unk_token": "a"},
        {"vocab": {"a": 0, "b": 1}, "unk_token": "a"},
        PREFIXED,
        {**PREFIXED, "vocab": {"a": 0, "b": 1, "##b": 2}},
        {**PREFIXED, **SCORES},
        *({**SCORES, **more} for more in ({}, {"unk_id": None}, {"unk_id": 1, "other": 5})),
        {**PREFIXED, "max_input_chars_per_word": "x"},
        {**PREFIXED, "continuing_subword_prefix": 5},
        {**SCORES, "unk_token": "a"},
        {**SCORES, "unk_token": "a", "merges": []},
        {**SCORES, "unk_token": "a", "unk_id": 0},
    ],
)
def test_a_model_without_a_type_is_of_the_first_that_fits(model: dict[str, Any]) -> None:
    for text in ("a", "ab", "ba"):
        check_ids(of_model(**model), text)


@pytest.mark.parametrize(
    "model",
    [
        *({"vocab": {"a": 0}, **more} for more in ({}, {"unk_token": None})),
        {"vocab": {"a": 0}, "merges": [], "dropout": 7},
        *({**WORDS, "merges": [], "type": name} for name in (None, 5, "bpe", "X")),
    ],
)
def test_a_model_that_fits_no_type(model: dict[str, Any]) -> None:
    assert error_of(lambda: read_there(of_model(**model)))
    with pytest.raises(ValueError, match="x: model"):
        read_here(of_model(**model))


@pytest.mark.parametrize("flag", ["normalized", "lstrip", "rstrip", "single_word", "special"])
def test_an_added_token_that_is_normalized_to_nothing(flag: str) -> None:
    removed = {"type": "Replace", "pattern": {"String": "x"}, "content": ""}
    token = added(9, "x", **{"normalized": True, flag: True})
    content = file(added_tokens=[token], normalizer=removed)
    # It is found between any two bytes there, in the middle of a character, too.
    assert flag == "single_word" or error_of(lambda: read_there(content).encode("aé")) == PANIC
    with pytest.raises(ValueError, match="x: added_tokens: 'x' becomes empty when normalized"):
        read_here(content)


def test_nothing_before_a_text_takes_a_place_away() -> None:
    nothing, letter = ({"type": "Prepend", "prepend": text} for text in ("", "a"))
    double = {"type": "Replace", "pattern": {"String": "a"}, "content": "bb"}
    others = [nothing, letter, double, {"type": "NFD"}, {"type": "Lowercase"}, {"type": "NFC"}]
    chains = [[nothing], *([nothing, one] for one in others), *([one, nothing] for one in others)]
    chains += [[nothing, nothing, double], [double, nothing, letter], [letter, nothing, nothing]]
    compared = 0
    for chain in chains:
        # Before ByteLevel, tokenizers writes the text twice or fails.
        steps = {"type": "Sequence", "normalizers": chain}
        content = file(normalizer=steps, pre_tokenizer=None)
        mine, other = read_here(content), read_there(content)
        for text in ("", "a", "ab", "é", "cAb", "Éa", " a"):
            expected, kind = answer(lambda: other.encode(text))  # noqa: B023
            if kind != PANIC:
                found = mine.encode_with_offsets(text)
                assert (found.ids, found.offsets) == (expected.ids, expected.offsets), (chain, text)
                assert mine.encode(text) == expected.ids
                compared += 1
    assert compared > 80


def check_shared_ids(kind: str, seed: int) -> None:
    draw = Random(seed)
    content = with_shared_ids(draw, any_file(draw, kind))
    if error_of(lambda: read_there(content)) == PANIC or is_undefined_file(
        lambda: read_here(content)
    ):
        return
    mine = read_here(content)
    for _ in range(4):
        text = any_text(draw, content)
        check_ids(content, text)
        ids, kind = answer(lambda: mine.encode(text, allowed_special="all"))  # noqa: B023
        if not kind:
            assert mine.encode_with_offsets(text, allowed_special="all").ids == ids
            # Names that are plain text may be unknown.
            ordinary, refused = answer(lambda: mine.encode_ordinary(text))  # noqa: B023
            assert answer(lambda: mine.count(text)) == (  # noqa: B023
                (None, refused) if refused else (len(ordinary), "")
            )
    names = {**content["model"]["vocab"], **{one.content: one.id for one in mine.added_tokens}}
    for number in set(names.values()):
        assert mine.id_to_token(number) is not None
        assert mine.decode([number]) is not None


@pytest.mark.parametrize("kind", sorted(MODELS.keys() - {"unigram"}))
@pytest.mark.parametrize(
    "seeds", [*([n] for n in range(4)), pytest.param(range(4, 80), marks=pytest.mark.sweep)]
)
def test_tokens_that_share_an_id(kind: str, seeds: Any) -> None:
    for seed in seeds:
        check_shared_ids(kind, seed)


def test_a_merge_is_one_of_ids() -> None:
    vocab = {"a": 0, "b": 0, "c": 1, "ac": 2, "aca": 0, "d": 3, "bd": 3}
    merges = [["a", "c"], ["ac", "a"], ["b", "d"], ["a", "c"]]
    content = of_model(type="BPE", vocab=vocab, merges=merges)
    for text in ("acbcab", "bca", "acacac", "bdadd", "cabdac" * 20):
        check_ids(content, text)
    found = read_here(content).encode_with_offsets("bcbd")
    assert found.offsets == read_there(content).encode("bcbd").offsets


def test_pieces_of_a_word_that_share_an_id_have_their_places() -> None:
    vocab = {"ab": 0, "##c": 0, "##cd": 1, "[UNK]": 0}
    limits = {"continuing_subword_prefix": "##", "max_input_chars_per_word": 400}
    content = of_model(type="WordPiece", vocab=vocab, unk_token="[UNK]", **limits)
    for text in ("abc", "abcdc", "x", "ab" + "c" * 300):
        expected = read_there(content).encode(text)
        found = read_here(content).encode_with_offsets(text)
        assert (found.ids, found.tokens) == (expected.ids, expected.tokens)
        assert found.offsets == expected.offsets


EMPTY: dict[str, dict[str, Any]] = {
    "BPE": {"vocab": {}, "merges": []},
    "WordPiece": {**PREFIXED, "vocab": {}, "unk_token": "x"},
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
    made = None if error_of(lambda: read_there(content)) else both(content)
    for _ in range(6 if made else 0):
        assert made is not None
        mine, other = made
        text = any_text(draw, content)
        check_ids(content, text)
        expected, kind = answer(lambda: other.encode(text))  # noqa: B023
        if not odd_places(content) and not kind:
            options: dict[str, Any] = {"allowed_special": "all", "add_special_tokens": True}
            found = mine.encode_with_offsets(text, **options, **cut_by(mine))
            assert fields(found) == fields(expected)


def with_dropout(dropout: Any, **fields: Any) -> dict[str, Any]:
    vocab = {"a": 0, "b": 1, "ab": 2, "aba": 3}
    merges = [["a", "b"], ["ab", "a"]]
    return of_model(type="BPE", vocab=vocab, merges=merges, dropout=dropout, **fields)


@pytest.mark.parametrize("dropout", [0, 0.0, -1e-60, 1, 1.0, 0.99999999999, 1.00000001])
@pytest.mark.parametrize("ignore_merges", [False, True])
def test_dropout_that_leaves_nothing_to_chance(dropout: float, ignore_merges: bool) -> None:
    for text in ("aba", "ab", "abab" * 9):
        check_ids(with_dropout(dropout, ignore_merges=ignore_merges), text)


@pytest.mark.parametrize("dropout", [-0.1, 1.1, 1e300, "0.5", True, [0.5]])
def test_dropout_of_any_kind_is_refused_alike(dropout: Any) -> None:
    content = with_dropout(dropout)
    assert error_of(lambda: read_there(content))
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
