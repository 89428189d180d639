"""Byte-level BPE: learning, and going on from a vocabulary; ``differential`` has the reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import Encoding, load
from compat_bpe.encodings.load import DEEPSEEK
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.pipeline.byte_level import BYTE_TO_UNICODE
from compat_bpe.pipeline.core import parts_of_text
from compat_bpe.save import save_gpt2, save_tiktoken, save_tokenizer_json
from compat_bpe.train import Convergence, Trained, TrainingSettings, train_bpe
from compat_bpe.train.bpe import learner as merges_module
from compat_bpe.train.bpe.byte_level import limits_of
from compat_bpe.train.bpe.growing import BYTES, make_encoding
from compat_bpe.train.bpe.learner import Learner, Merge
from tests.train.plain import COURSE, join, trained


def train(texts: Any, *args: Any, **options: Any) -> Trained:
    found = trained(TrainingSettings(*args, **options), texts)
    assert isinstance(found, Trained)
    return found


def test_ids_are_those_of_bytes_then_merges_then_special_tokens() -> None:
    enc = train_bpe(["hug hug hugs"], 260, special_tokens=["<|a|>", "<|b|>"], name="mine")
    assert (enc.name, enc.n_vocab) == ("mine", 260)
    assert [enc.decode_single_token_bytes(i) for i in range(256)] == [
        bytes([byte]) for byte in BYTE_TO_UNICODE
    ]
    assert [enc.decode([256]), enc.decode([257])] == ["hu", "hug"]
    assert enc.special_tokens == {"<|a|>": 258, "<|b|>": 259}
    assert enc.encode("hug<|b|>", allowed_special="all") == [257, 259]


def test_it_stops_where_it_is_told_to() -> None:
    text = ["hug hug pug pug bun"]
    assert len(train(text, 258).merges) == 2
    assert len(train(text, num_merges=3).merges) == 3
    assert len(train(text, 300, num_merges=1).merges) == 1
    assert train(text, 258).stopped == train(text, num_merges=3).stopped == "size"
    everything = train(text, 300)
    assert everything.stopped == "nothing left"
    assert {merge.left + merge.right for merge in everything.merges} >= {b" pug", b" bun"}
    twice = train(text, 300, min_frequency=2)
    assert twice.stopped == "nothing left"
    assert min(merge.frequency for merge in twice.merges) == 2
    short = train(text, 300, max_token_length=3)
    assert max(len(merge.left + merge.right) for merge in short.merges) == 3
    assert train(text, 256).merges == []


def test_what_it_says_of_the_corpus() -> None:
    found = train(["hug hug", "naïve"], 259)
    assert (found.bytes, found.chunks, found.distinct_chunks) == (7 + 6, 3, 3)


@given(st.lists(st.text("ab cï", max_size=30), min_size=1), st.integers(256, 280))
def test_the_tokens_that_are_left_are_those_of_encoding(texts: list[str], size: int) -> None:
    texts = [*texts, "a"]
    found = train(texts, size)
    assert found.tokens == sum(map(found.encoding.count, texts))


def test_the_steps_of_deepseek() -> None:
    enc = train_bpe(["abc 12345 世界"] * 3, 270, pattern="deepseek", special_tokens=["<|a|>"])
    assert isinstance(enc, Tokenizer)
    assert enc.encode("<|a|>", allowed_special="all") == [enc.n_vocab - 1]
    assert enc.decode(enc.encode("abc 12345 世界")) == "abc 12345 世界"


def test_a_large_group_does_not_drown_a_small_one() -> None:
    texts = {"large": ["aa "] * 1000, "small": ["bb "] * 10}
    plain = [m.left for m in train(texts, num_merges=3).merges]
    assert plain.index(b"a") < plain.index(b"b")
    weighted = train(texts, num_merges=3, weights={"small": 2})
    assert weighted.merges[0][:2] == (b"b", b"b")
    # So that the bytes of the small group are twice those of the large one.
    assert weighted.factors == {"large": 1, "small": 200}
    assert (weighted.merges[0].frequency, weighted.bytes) == (2000, 3030)
    # No pair is made rarer by weights.
    rarer = train(texts, num_merges=3, weights={"small": 0.001})
    assert rarer.factors == {"large": 10, "small": 1}


def test_texts_by_group() -> None:
    enc = train_bpe({"a": iter(["aa "] * 9), "b": ["bb "]}, 257, weights={"b": 9})
    assert enc.decode([256]) == "bb"


ALL_BYTES = [bytes([byte]) for byte in range(256)]
BytePair = tuple[bytes, bytes]

words_of_few_letters = st.dictionaries(
    st.one_of(st.text("ab", max_size=12), st.text("abcde", max_size=8)),
    st.integers(1, 40),
    max_size=30,
)


def learn_merges(
    words: dict[str, int], tokens: list[bytes], **limits: int | None
) -> Iterator[Merge]:
    return iter(Learner(words, tokens, **limits).step, None)  # type: ignore[arg-type]


def by_the_rule(
    words: Mapping[bytes, int],
    tokens: list[bytes],
    merges: Sequence[BytePair] = (),
    number: int = 10**6,
    least: int = 1,
    allow: Callable[[bytes], bool] = lambda token: True,
) -> list[Merge]:
    """Learn merges after those that are there, with all pairs of all words counted for each."""
    ids = {token: number for number, token in enumerate(tokens)}
    now = {word: spelled(word, merges) for word in words}
    found: list[Merge] = []
    while len(found) < number:
        counts: Counter[BytePair] = Counter()
        for word, parts in now.items():
            for pair in zip(parts, parts[1:]):
                counts[pair] += words[word]
        fit = [
            pair
            for pair, count in counts.items()
            if count >= max(least, 1) and (made := b"".join(pair)) not in ids and allow(made)
        ]
        if not fit:
            break
        best = min(fit, key=lambda pair: (-counts[pair], *map(ids.__getitem__, pair)))
        made = b"".join(best)
        ids[made] = len(tokens) + len(found)
        found.append(Merge(ids[best[0]], ids[best[1]], counts[best], ids[made]))
        for parts in now.values():
            join(parts, best, made)
    return found


def spelled(word: bytes, merges: Iterable[BytePair]) -> list[bytes]:
    """Return a word after all merges, one after another."""
    parts = [bytes([byte]) for byte in word]
    for pair in merges:
        join(parts, pair, b"".join(pair))
    return parts


def of_bytes(words: dict[str, int]) -> dict[bytes, int]:
    return {word.encode(): count for word, count in words.items()}


@given(words_of_few_letters, st.integers(0, 5), st.none() | st.integers(1, 6))
def test_all_merges_are_those_of_the_rule(
    words: dict[str, int], min_frequency: int, longest: int | None
) -> None:
    found = learn_merges(words, ALL_BYTES, min_frequency=min_frequency, max_token_length=longest)
    assert list(found) == by_the_rule(
        of_bytes(words),
        ALL_BYTES,
        least=min_frequency,
        allow=lambda token: longest is None or len(token) <= longest,
    )


@given(words_of_few_letters, st.integers(2, 9))
def test_however_soon_pairs_are_forgotten(words: dict[str, int], step: int) -> None:
    expected = by_the_rule(of_bytes(words), ALL_BYTES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merges_module, "_STEP", step)
        assert list(learn_merges(words, ALL_BYTES)) == expected


@given(words_of_few_letters, st.lists(st.text("ab", min_size=2, max_size=4).map(str.encode)))
def test_what_is_a_token_already_is_not_learned(words: dict[str, int], others: list[bytes]) -> None:
    tokens = ALL_BYTES + others
    assert list(learn_merges(words, tokens)) == by_the_rule(of_bytes(words), tokens)


@given(words_of_few_letters, st.integers(0, 10))
def test_size_is_the_number_of_tokens_that_are_left(words: dict[str, int], number: int) -> None:
    learner = Learner(words, ALL_BYTES)
    for _ in range(number):
        learner.step()
    whole = sum(count for word, count in words.items() if len(word) == 1)
    left = zip(learner._words, learner._frequencies)
    assert learner.size == whole + sum(len(word) * count for word, count in left)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        # As in the chapter on tokenizers of the Hugging Face course.
        (
            COURSE,
            [("ug", 20), ("un", 16), ("hug", 15), ("pun", 12), ("pug", 5), ("hugs", 5)],
        ),
        # Of Sennrich, Haddow and Birch (2016), without their mark for the end of a word: "es" and
        # "st" come equally often, as "lo" and "ow" do, and the lower ids decide.
        (
            {"low": 5, "lower": 2, "newest": 6, "widest": 3},
            [("es", 9), ("est", 9), ("lo", 7), ("low", 7), ("ew", 6), ("new", 6)],
        ),
        ({"man": 1, "woman": 1}, [("an", 2), ("man", 2), ("oman", 1), ("woman", 1)]),
    ],
)
def test_examples_from_the_literature(
    words: dict[str, int], expected: list[tuple[str, int]]
) -> None:
    tokens = list(ALL_BYTES)
    found = []
    for left, right, count, _ in islice(learn_merges(words, ALL_BYTES), len(expected)):
        tokens.append(tokens[left] + tokens[right])
        found.append((tokens[-1].decode(), count))
    assert found == expected


def test_overlapping_pairs_are_joined_from_the_left() -> None:
    learner = Learner({"aaaaa": 1}, ALL_BYTES)
    assert learner.step() == Merge(97, 97, 4, 256)
    assert learner._words == ["\u0100\u0100a"]


def test_nothing_to_learn_from() -> None:
    assert list(learn_merges({}, ALL_BYTES)) == []
    assert list(learn_merges({"a": 3, "": 1}, ALL_BYTES)) == []


def test_ids_end_where_code_points_do() -> None:
    tokens = ALL_BYTES + [b""] * (merges_module.MOST_TOKENS - len(ALL_BYTES) - 1)
    learner = Learner({"abc": 1}, tokens)
    assert learner.step() == Merge(97, 98, 1, merges_module.MOST_TOKENS - 1)
    with pytest.raises(ValueError, match="no more than 1,114,112 tokens"):
        learner.step()


# Going on from a vocabulary

LINES = r"[^\n]*\n|[^\n]+"
PATTERNS = ["gpt2", "cl100k_base", "superbpe", LINES, DEEPSEEK]

corpora = st.lists(
    st.one_of(
        st.text("ab \n1:'", max_size=60),
        st.text("abcd e", max_size=100),
        st.text("aé世 :.", max_size=30),
    ),
    max_size=6,
).map(lambda texts: [*texts, "a"])


def grown(corpus: list[str], **settings: Any) -> tuple[Encoding, list[BytePair]]:
    result = train(corpus, **settings)
    return result.encoding, [(merge.left, merge.right) for merge in result.merges]


def ordinary_chunks(encoding: Encoding, corpus: list[str]) -> list[bytes]:
    return [
        encoding.core.model.to_bytes(chunk)
        for text in corpus
        for chunk in parts_of_text(encoding.core, text)
        if isinstance(chunk, str)
    ]


@given(corpora, st.sampled_from(PATTERNS), st.integers(0, 12), st.integers(0, 12))
def test_two_trainings_are_one(corpus: list[str], pattern: str, first: int, more: int) -> None:
    start, _ = grown(corpus, num_merges=first, pattern=pattern)
    found, _ = grown(corpus, vocab_size=start.n_vocab + more, start=start)
    at_once, _ = grown(corpus, num_merges=start.n_vocab - 256 + more, pattern=pattern)
    assert found.core.encoder == at_once.core.encoder
    assert type(found) is type(at_once)
    assert all(found.encode_ordinary(text) == at_once.encode_ordinary(text) for text in corpus)


@given(
    corpora,
    corpora,
    st.sampled_from(PATTERNS),
    st.sampled_from(PATTERNS),
    st.integers(0, 12),
    st.integers(0, 12),
    st.none() | st.integers(1, 3),
    st.sets(st.sampled_from([": ", "\n", "a", " "])),
)
def test_two_stages_are_those_of_the_plain_rule(
    corpus: list[str],
    other: list[str],
    pattern: str,
    then: str,
    first: int,
    more: int,
    max_words: int | None,
    not_joined: set[str],
) -> None:
    start, merges = grown(corpus, num_merges=first, pattern=pattern)
    limits: dict[str, Any] = {"max_words": max_words, "not_joined": sorted(not_joined)}
    found, new = grown(other, num_merges=more, start=start, pattern=then, **limits)
    chunks = ordinary_chunks(found, other)
    tokens = [*BYTES, *map(b"".join, merges)]
    allow = limits_of(**limits) or (lambda token: True)
    rule = by_the_rule(Counter(chunks), tokens, merges, more, allow=allow)
    tokens += [b"".join(pair) for pair in new]
    assert new == [(tokens[merge.left], tokens[merge.right]) for merge in rule]
    for chunk in {*chunks, *ordinary_chunks(found, corpus)}:
        ids = found.core.byte_level.ids_of(chunk)
        assert found.decode_tokens_bytes(ids) == spelled(chunk, [*merges, *new])


def test_limits_are_those_of_superbpe() -> None:
    corpus = ["by the way of the old world: by the way of the old world: "] * 9
    start, _ = grown(corpus, num_merges=60)
    found, _ = grown(
        corpus,
        num_merges=60,
        start=start,
        pattern="superbpe",
        max_words=4,
        not_joined=[": "],
    )
    new = sorted(found.core.encoder, key=found.core.encoder.__getitem__)[start.n_vocab :]
    words = [len(token.split()) for token in new]
    assert max(words) == 4
    assert not any(b": " in token for token in new)
    assert found.count(corpus[0]) < start.count(corpus[0])


@pytest.mark.parametrize("form", ["ranks", "json", "gpt2"])
def test_any_file_is_gone_on_from(form: str, tmp_path: Path) -> None:
    corpus = ["a low lower lowest newer newest wide wider"] * 4
    start = train_bpe(corpus, 270, special_tokens=["<|end|>"])
    save_tiktoken(start, tmp_path / "v.tiktoken")
    save_tokenizer_json(start, tmp_path / "tokenizer.json")
    save_gpt2(start, tmp_path / "encoder.json", tmp_path / "vocab.bpe")
    read = {
        "ranks": lambda: load(
            tmp_path / "v.tiktoken", pattern="gpt2", special_tokens={"<|end|>": 269}
        ),
        "json": lambda: load(tmp_path / "tokenizer.json"),
        "gpt2": lambda: load(tmp_path / "vocab.bpe"),
    }[form]()
    found = train_bpe(corpus, 275, start=read)
    expected = train_bpe(corpus, 274)
    # The special token keeps its id; what follows is what training at once gives.
    assert found.special_tokens == {"<|end|>": 269}
    assert found.n_vocab == 275
    tokens = sorted(found.core.encoder, key=found.core.encoder.__getitem__)
    assert tokens == sorted(expected.core.encoder, key=expected.core.encoder.__getitem__)
    assert found.encode("<|end|>", allowed_special="all") == [269]


def test_special_tokens() -> None:
    start = train_bpe(["low lower"] * 3, 262, special_tokens=["<|end|>"])
    found = train_bpe(["low lower"] * 3, 266, start=start, special_tokens=["<|end|>", "<|pad|>"])
    assert found.special_tokens["<|end|>"] == 261
    assert found.special_tokens["<|pad|>"] == found.n_vocab - 1
    with pytest.raises(ValueError, match="'low' is written like a token of 'trained'"):
        TrainingSettings(266, start=start, special_tokens=["low"])
    # A name that merging would make stays a special token, and no token is made of it.
    start = train_bpe(["xy"], 257, special_tokens=["lo"], num_merges=0)
    assert b"lo" not in train_bpe(["low low"], 262, start=start).core.encoder


def test_a_tokenizer_with_steps_of_its_own_keeps_them() -> None:
    corpus = ["by the way, 1234 ribosomes"] * 5
    start = train_bpe(corpus, 262, pattern=DEEPSEEK, special_tokens=["<|end|>"])
    assert isinstance(start, Tokenizer)
    found = train_bpe(corpus, 265, start=start)
    assert isinstance(found, Tokenizer)
    assert found.definition.parts == start.definition.parts
    assert TrainingSettings(265, start=start).kind.pattern_name == DEEPSEEK
    other = train_bpe(corpus, 280, start=start, pattern="superbpe")
    assert other.decode([other.n_vocab - 1]) == "by the way, "
    assert TrainingSettings(280, start=start, pattern="gpt2").kind.pattern_name == (
        "that of tokenizer.json"
    )


def test_weights_counts_and_convergence_as_at_once() -> None:
    texts = {"a": ["low lower lowest"] * 9, "b": ["new newer newest"] * 4}
    options: dict[str, Any] = {"weights": {"b": 5.0}}
    start = train_bpe(texts, 264, **options)
    assert (
        train_bpe(texts, 272, start=start, **options).core.encoder
        == train_bpe(texts, 272, **options).core.encoder
    )
    counts = {"low": 3, " lower": 3, " lowest": 3, " new": 3, " newer": 3}
    start = train_bpe(counts=counts, vocab_size=258)
    assert (
        train_bpe(counts=counts, vocab_size=263, start=start).core.encoder
        == train_bpe(counts=counts, vocab_size=263).core.encoder
    )
    settings = TrainingSettings(262, start=start, convergence=Convergence(None, 0, 1))
    found = trained(settings, ["low lower lowest"], ["low lower lowest"])
    assert [point.tokens for point in found.curve] == [258, 259, 260, 261, 262]
    assert found.curve[-1].bytes_per_token == pytest.approx(
        16 / found.encoding.count("low lower lowest")
    )
    assert found.curve[0].bytes_per_token == pytest.approx(16 / start.count("low lower lowest"))


@given(st.lists(st.text("abcd ", max_size=40), max_size=6), st.integers(0, 6))
def test_tokens_that_merging_never_made_are_made_later(corpus: list[str], more: int) -> None:
    corpus = [*corpus, "abcd abc bcd"]
    tokens = [*BYTES, b"abcd", b"bcd", b" abc"]
    start = make_encoding("unmade", LINES, tokens)
    found = train(corpus, num_merges=more, start=start)
    assert found.tokens == sum(map(found.encoding.count, corpus))
