"""Published rank files and lists of tokens, against tiktoken and the programs they are for.

What a file lacks, its pattern and its special tokens, is given to tiktoken as the code of its
family has it. The programs that JSON with ranks is for use tiktoken, or do what it does.
"""

from __future__ import annotations

import json
import unicodedata
from ast import literal_eval
from functools import cache, partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import tiktoken
from hypothesis import example
from hypothesis import strategies as st

from compat_bpe import get_encoding, load
from compat_bpe.encodings.published import PATTERNS
from compat_bpe.encodings.tokenizer import Rwkv
from compat_bpe.formats.tiktoken import format_ranks, read_ranks
from compat_bpe.unicode.surrogates import repair
from tests.corpora import TEXTS
from tests.differential.reference import BYTES, KIMI, Pair, sample
from tests.examples import drawn
from tests.fit.helpers import all_found
from tests.strategies import texts
from tools.reference_files import reference_file

_WORDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"
_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN, LLAMA_3 = rf"{_WORDS}\p{{N}}{_REST}", rf"{_WORDS}\p{{N}}{{1,3}}{_REST}"

#: Of each family: the pattern, some special tokens with their ids, and the number of ids.
FAMILIES: dict[str, tuple[str, dict[str, int], int]] = {
    "qwen_ranks": (QWEN, {"<|endoftext|>": 151643, "<|extra_204|>": 151850}, 151851),
    "llama_3_ranks": (
        LLAMA_3,
        {"<|begin_of_text|>": 128000, "<|eot_id|>": 128009, "<|python_tag|>": 128010},
        128256,
    ),
    "llama_4_ranks": (
        PATTERNS["o200k_base"],
        {"<|header_start|>": 200005, "<|image_start|>": 200080, "<|patch|>": 200092},
        202048,
    ),
    "whisper_ranks": (
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        {"<|startoftranscript|>": 50258, "<|notimestamps|>": 50363, "<|30.00|>": 51864},
        51865,
    ),
}
#: Patterns as published, with tokens across the edges of chunks: where a pattern has another edge,
#: the ids are others. Kimi's own file is in no registry.
NAMED = {
    "llama3": (LLAMA_3, "\n\u3000|\u3000\n|1234|a'll|'sa| \n\n|  a|a b|!\n a|. "),
    "kimi": (KIMI, "漢字|漢a|a漢|aA|Aa| a|'ll|12|\n\n|々〇|!\n"),
}
#: The files of npm's packages, and the shipped encodings that they are.
SHIPPED = {
    **{f"{name}_npm": name
       for name in ("cl100k_base", "o200k_base", "gpt2", "p50k_base", "p50k_edit")},
    **{f"{name}_js": name for name in ("cl100k_base", "o200k_base")},
}  # fmt: skip
#: One of each format, one of them with a hole between its ids, and in a sweep all.
RANKED = [
    name
    if name in ("p50k_edit_npm", "cl100k_base_js", "grok")
    else pytest.param(name, marks=pytest.mark.sweep)
    for name in (*SHIPPED, "grok")
]
#: What a file of Grok 2 has, with the first tokens of another vocabulary.
GROK_SIZE = 20_000
GROK = ["<|pad|>", "<|separator|>", "<|eos|>", "<|control1|>"]


@cache
def _folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory()


def _family(name: str) -> Pair:
    path = reference_file(name)
    pattern, special, _ = FAMILIES[name]
    there = tiktoken.Encoding(
        "x", pat_str=pattern, mergeable_ranks=read_ranks(path), special_tokens=special
    )
    return Pair(load(path), there)


def _named(name: str) -> Pair:
    pattern, words = NAMED[name]
    ranks = dict(BYTES)
    for data in map(str.encode, words.split("|")):
        for stop in range(2, len(data) + 1):
            ranks.setdefault(data[:stop], len(ranks))
    path = Path(_folder().name, f"{name}.model")
    path.write_bytes(format_ranks(ranks))
    there = tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return Pair(load(path, pattern=name), there)


def _ranked(name: str) -> Pair:
    if name == "grok":
        path = Path(_folder().name, "tokenizer.tok.json")
        listed = get_encoding("cl100k_base")._mergeable_ranks.items()
        ranks = {token: rank for token, rank in listed if rank < GROK_SIZE}
        pattern, special = QWEN, {name: GROK_SIZE + at for at, name in enumerate(GROK)}
        named = [(name.encode(), id_) for name, id_ in special.items()]
        file = {
            "regular_tokens": [{"bytes": [*data], "token": id_} for data, id_ in ranks.items()],
            "special_tokens": [{"bytes": [*data], "token": id_} for data, id_ in named],
            "word_split": "V1",
            "vocab_size": GROK_SIZE + len(special),
        }
        path.write_text(json.dumps(file))
    else:
        path = reference_file(name)
        data = path.read_text("utf-8")
        if path.suffix == ".js":
            data = data[len("export default ") : -len(";")]
            path = Path(_folder().name, f"{name}.json")
            path.write_text(data, "utf-8")
        pattern = json.loads(data)["pat_str"]
        shipped = get_encoding(SHIPPED[name])
        ranks, special = shipped._mergeable_ranks, shipped._special_tokens
    theirs = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)
    return Pair(load(path), theirs)


@cache
def both(name: str) -> Pair:
    made = _family if name in FAMILIES else _named if name in NAMED else _ranked
    return made(name)


def check(name: str, text: str) -> None:
    here, there = both(name)
    given = unicodedata.normalize("NFC", text) if name == "qwen_ranks" else text
    assert here.encode_ordinary(text) == there.encode_ordinary(given)
    ids = there.encode(given, allowed_special="all")
    allowed = there.special_tokens_set
    assert here.encode(text, allowed_special=allowed, disallowed_special=()) == ids
    assert here.decode_bytes(ids) == there.decode_bytes(ids)


near_patterns = st.one_of(
    texts,
    st.text("\n\r \u3000\t1234a'lLsſ!.b", max_size=30),
    st.text("漢字々〇aAbÜ 12'lL\n!ー́한", max_size=30),
)


@pytest.mark.parametrize("name", [*FAMILIES, *NAMED])
@drawn(100, text=near_patterns)
@example(text="<|endoftext|>\u0338 e\u0301 q\u0307\u0323 123456 I'LL Ünï\r\n\r\n  x")
@example(text="\n\u3000")
def test_hard_texts_of_families(name: str, text: str) -> None:
    check(name, text)


@pytest.mark.parametrize("name", RANKED)
@drawn(300, text=texts.map(repair))
def test_hard_texts_of_ranked(name: str, text: str) -> None:
    check(name, text)


@pytest.mark.parametrize("name", RANKED)
def test_classes_in_ranked(name: str) -> None:
    check(name, sample())
    check(name, "".join(f"a{char}B{char}{char} \n" for char in sample()))


@pytest.mark.parametrize("name", FAMILIES)
def test_vocabularies_of_families(name: str) -> None:
    _, special, size = FAMILIES[name]
    here = both(name).ours
    assert here.n_vocab == size
    assert {one: here.special_tokens[one] for one in special} == special


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("path", TEXTS[:4], ids=lambda path: path.name)
def test_files_of_families(name: str, path: Path) -> None:
    check(name, path.read_text(encoding="utf-8", errors="replace")[:20_000])


@pytest.mark.sweep
@pytest.mark.parametrize("name", RANKED)
def test_vocabularies(name: str) -> None:
    ours, theirs = both(name)
    for field in ("_mergeable_ranks", "_special_tokens", "_pat_str", "n_vocab"):
        assert getattr(ours, field) == getattr(theirs, field)


@pytest.mark.sweep
@pytest.mark.parametrize("name", SHIPPED)
def test_natural_texts_have_the_ids_of_the_shipped_encoding(name: str) -> None:
    """The patterns are older ones than those of today's tiktoken, and nearly the same."""
    shipped = get_encoding(SHIPPED[name])
    for path in TEXTS:
        text = path.read_text("utf-8")[:100_000]
        assert both(name).ours.encode_ordinary(text) == shipped.encode_ordinary(text), path


# RWKV's list of tokens, against the program of the package ``rwkv`` and its plain rule
#
# The program takes half a gigabyte of memory for the list. So most comparisons are with its rule,
# and the rule is compared with the program in a sweep. The package needs torch, but this file of it
# does not: it is run by itself.


@cache
def rwkv() -> Rwkv:
    enc = load(reference_file("rwkv"))
    assert isinstance(enc, Rwkv)
    return enc


@cache
def rwkv_tokens() -> dict[bytes, int]:
    """The list as Python reads it."""
    found: dict[bytes, int] = {}
    lines = reference_file("rwkv").read_text("utf-8").splitlines()
    # All at once: to evaluate each by itself takes four times as long.
    tokens = ",".join(line[line.index(" ") + 1 : line.rindex(" ")] for line in lines)
    for line, token in zip(lines, literal_eval(f"[{tokens}]")):
        data = token.encode() if isinstance(token, str) else token
        assert len(data) == int(line[line.rindex(" ") :])
        found[data] = int(line[: line.index(" ")])
    assert len(found) == len(lines)
    return found


@cache
def rwkv_by_beginning() -> dict[bytes, list[bytes]]:
    """The tokens by their first two bytes, the longest first."""
    found: dict[bytes, list[bytes]] = {}
    for token in sorted(rwkv_tokens(), key=len, reverse=True):
        found.setdefault(token[:2], []).append(token)
    return found


def longest_first(text: str) -> list[int]:
    """The rule: the longest token at each place."""
    data, ids, start = text.encode(), [], 0
    while start < len(data):
        beginning = data[start : start + 2]
        tokens = [*rwkv_by_beginning().get(beginning, ()), beginning[:1]]
        token = next(token for token in tokens if data.startswith(token, start))
        ids.append(rwkv_tokens()[token])
        start += len(token)
    return ids


def check_rwkv(text: str, ids: list[int]) -> None:
    assert rwkv().encode(text, disallowed_special=()) == ids
    assert rwkv().count(text) == len(ids)
    assert rwkv().decode(ids) == text
    assert rwkv().encode_with_offsets(text, disallowed_special=()).ids == ids


def test_vocabulary() -> None:
    assert rwkv().ordinary_tokens() == rwkv_tokens()
    assert max(map(len, rwkv_tokens())) == 128
    assert rwkv().n_vocab == 65_530
    assert rwkv().decode([0]) == "<|endoftext|>"


@drawn(500, texts.map(repair))
def test_hard_texts(text: str) -> None:
    check_rwkv(text, longest_first(text))


@drawn(100, st.lists(st.integers(1, 65_529), max_size=20))
def test_any_ids(ids: list[int]) -> None:
    names = {id_: token for token, id_ in rwkv_tokens().items()}
    data = b"".join(map(names.__getitem__, ids))
    assert rwkv().decode_bytes(ids) == data
    text = data.decode(errors="replace")
    check_rwkv(text, longest_first(text))


def test_classes_of_characters() -> None:
    for text in (sample(), "".join(f"a{char}B{char}{char} \n" for char in sample())):
        check_rwkv(text, longest_first(text))


def test_most_places_between_words_are_cut_points() -> None:
    text = "Some words, and more of them.\nA new line:\n\n世界は広い。"
    cuts = all_found(partial(rwkv().core.next_cut_point, text))
    assert {4, 11, 15, 20, 23, 30, 31, 35} <= set(cuts)


@pytest.mark.sweep
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_natural_texts(path: Path) -> None:
    text = path.read_text("utf-8")[:20_000]
    check_rwkv(text, longest_first(text))


@pytest.fixture(scope="module")
def program() -> Any:
    spec = spec_from_file_location("rwkv_tokenizer", reference_file("rwkv_tokenizer"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.TRIE_TOKENIZER(str(reference_file("rwkv")))


@pytest.mark.sweep
def test_the_program(program: Any) -> None:
    assert program.token2idx == rwkv().ordinary_tokens()

    @drawn(1000, texts.map(repair))
    def run(text: str) -> None:
        ids = program.encode(text)
        check_rwkv(text, ids)
        assert longest_first(text) == ids
        assert rwkv().decode(ids) == program.decode(ids)

    run()
    for path in TEXTS:
        text = path.read_text("utf-8")
        assert rwkv().encode_ordinary(text) == program.encode(text), path
