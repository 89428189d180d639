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
from tests.differential.any_tokenizer import MODELS, any_file, any_text, is_undefined, odd_places
from tests.differential.tokenized import error_of, fields


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
            same(lambda: fields(located()), lambda: fields(expected()))  # noqa: B023
        encode = partial(ours.encode, allowed_special="all", add_special_tokens=add)
        expected = partial(plain.encode, first, second, add_special_tokens=add)
        is_same = same(partial(encode, first, second), lambda: expected().ids)  # noqa: B023
        if is_same and second is None:
            batch = ours.encode_batch([first], allowed_special="all", add_special_tokens=add)
            assert batch == [encode(first)]
    expected = partial(bare.encode, first, add_special_tokens=False)
    if same(partial(ours.encode_ordinary, first), lambda: expected().ids):
        check_own(ours, first)


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
