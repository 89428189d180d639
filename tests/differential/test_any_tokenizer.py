"""Whole random tokenizers against tokenizers: all parts together, and what is saved of them."""

from __future__ import annotations

import json
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
    odd_places,
)
from tests.differential.tokenized import error_of, fields, lookups
from tests.tokenizer_files import FLAGS


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
