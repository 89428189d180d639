"""Published rank files and lists of tokens, against tiktoken and the programs they are for."""

from __future__ import annotations

import json
import unicodedata
from ast import literal_eval
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from hypothesis import example, given, settings
from hypothesis import strategies as st

import compat_bpe
from compat_bpe import Encoding, load
from compat_bpe.encodings.published import PATTERNS
from compat_bpe.encodings.tokenizer import Rwkv
from compat_bpe.formats.tiktoken import format_ranks, read_ranks
from compat_bpe.unicode.surrogates import repair
from tests import corpora
from tests.corpora import TEXTS
from tests.differential.reference import Pair, sample
from tests.examples import scaled
from tests.strategies import texts
from tools.reference_files import reference_file

#: The patterns as the code of each family has them, and some special tokens with their ids there.
_WORDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"
_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
FAMILIES: dict[str, tuple[str, dict[str, int]]] = {
    "qwen_ranks": (_WORDS + r"\p{N}" + _REST, {"<|endoftext|>": 151643, "<|extra_204|>": 151850}),
    "llama_3_ranks": (
        _WORDS + r"\p{N}{1,3}" + _REST,
        {"<|begin_of_text|>": 128000, "<|eot_id|>": 128009, "<|python_tag|>": 128010},
    ),
    "llama_4_ranks": (
        PATTERNS["o200k_base"],
        {"<|header_start|>": 200005, "<|image_start|>": 200080, "<|patch|>": 200092},
    ),
    "whisper_ranks": (
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        {"<|startoftranscript|>": 50258, "<|notimestamps|>": 50363, "<|30.00|>": 51864},
    ),
}
#: The number of ids in each.
SIZES = {
    "qwen_ranks": 151851,
    "llama_3_ranks": 128256,
    "llama_4_ranks": 202048,
    "whisper_ranks": 51865,
}


@cache
def both(name: str) -> tuple[Encoding, Any]:
    path = reference_file(name)
    pattern, special = FAMILIES[name]
    ranks = read_ranks(path)
    there = tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)
    return load(path), there


def normalized(name: str, text: str) -> str:
    return unicodedata.normalize("NFC", text) if name == "qwen_ranks" else text


@pytest.mark.parametrize("name", FAMILIES)
def test_published_ranks(name: str) -> None:
    here, there = both(name)
    assert here.n_vocab == SIZES[name]
    special = FAMILIES[name][1]
    assert {one: here.special_tokens[one] for one in special} == special

    @given(texts)
    @example("<|endoftext|>\u0338 e\u0301 q\u0307\u0323 123456 I'LL Ünï\r\n\r\n  x")
    def check(text: str) -> None:
        text_there = normalized(name, text)
        assert here.encode_ordinary(text) == there.encode_ordinary(text_there)
        ids = here.encode(text, allowed_special=set(special), disallowed_special=())
        assert ids == there.encode(text_there, allowed_special="all")

    check()


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("path", TEXTS[:4], ids=lambda path: path.name)
def test_files_of_families(name: str, path: Path) -> None:
    here, there = both(name)
    text = path.read_text(encoding="utf-8", errors="replace")[:20_000]
    assert here.encode_ordinary(text) == there.encode_ordinary(normalized(name, text))


def test_kimi_splits_as_its_pattern(tmp_path: Path) -> None:
    """Its file is in no registry: the pattern, with ranks that show where chunks end."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    for word in ("漢字", "漢a", "a漢", "aA", "Aa", " a", "'ll", "12", "\n\n", "々〇", "!\n"):
        for stop in range(2, len(word.encode()) + 1):
            ranks.setdefault(word.encode()[:stop], len(ranks))
    not_han = r"&&[^\p{Han}]]"
    upper, lower = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}"
    start, end = r"[^\r\n\p{L}\p{N}]?", r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    pattern = "|".join(
        [
            r"[\p{Han}]+",
            f"{start}{upper}{not_han}*{lower}{not_han}+{end}",
            f"{start}{upper}{not_han}+{lower}{not_han}*{end}",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        ]
    )
    path = tmp_path / "tiktoken.model"
    path.write_bytes(format_ranks(ranks))
    here = load(path, pattern="kimi")
    there = tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})

    @given(st.one_of(texts, st.text("漢字々〇aAbÜ 12'lL\n!ー́한", max_size=30)))
    def check(text: str) -> None:
        assert here.encode_ordinary(text) == there.encode_ordinary(text)

    check()


#: The files of npm's packages, and the shipped encodings that they are.
RANKS = {
    "cl100k_base_npm": "cl100k_base",
    "o200k_base_npm": "o200k_base",
    "gpt2_npm": "gpt2",
    "p50k_base_npm": "p50k_base",
    "p50k_edit_npm": "p50k_edit",
    "cl100k_base_js": "cl100k_base",
    "o200k_base_js": "o200k_base",
}
#: What a file of Grok 2 has, with the first tokens of another vocabulary.
GROK_SIZE = 20_000
GROK_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
GROK_SPECIAL = {
    "<|pad|>": 20_000,
    "<|separator|>": 20_001,
    "<|eos|>": 20_002,
    "<|control1|>": 20003,
}
RANKED = [*RANKS, "grok"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ranked")


@cache
def both_ranked(name: str, folder: Path) -> Pair:
    if name == "grok":
        path = folder / "tokenizer.tok.json"
        listed = compat_bpe.get_encoding("cl100k_base")._mergeable_ranks.items()
        ranks = {token: rank for token, rank in listed if rank < GROK_SIZE}
        pattern, special = GROK_PATTERN, GROK_SPECIAL
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
            path = folder / f"{name}.json"
            path.write_text(data, "utf-8")
        pattern = json.loads(data)["pat_str"]
        shipped = compat_bpe.get_encoding(RANKS[name])
        ranks, special = shipped._mergeable_ranks, shipped._special_tokens
    theirs = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)
    return Pair(compat_bpe.load(path), theirs)


@pytest.mark.sweep
@pytest.mark.parametrize("name", RANKED)
def test_vocabularies(name: str, folder: Path) -> None:
    ours, theirs = both_ranked(name, folder)
    assert ours._mergeable_ranks == theirs._mergeable_ranks
    assert ours._special_tokens == theirs._special_tokens
    assert ours._pat_str == theirs._pat_str
    assert ours.n_vocab == theirs.n_vocab


@pytest.mark.parametrize("name", RANKED)
@given(text=texts.map(repair))
@settings(max_examples=scaled(300))
def test_hard_texts_of_ranked(name: str, folder: Path, text: str) -> None:
    ours, theirs = both_ranked(name, folder)
    ids = theirs.encode(text, allowed_special="all")
    assert ours.encode(text, allowed_special="all") == ids
    assert ours.decode_bytes(ids) == theirs.decode_bytes(ids)
    assert ours.encode_ordinary(text) == theirs.encode_ordinary(text)


@pytest.mark.parametrize("name", RANKED)
def test_classes_in_ranked(name: str, folder: Path) -> None:
    ours, theirs = both_ranked(name, folder)
    for text in (sample(), "".join(f"a{char}B{char}{char} \n" for char in sample())):
        assert ours.encode_ordinary(text) == theirs.encode_ordinary(text)


@pytest.mark.sweep
@pytest.mark.parametrize("name", RANKS)
def test_natural_texts_have_the_ids_of_the_shipped_encoding(name: str, folder: Path) -> None:
    """The patterns are older ones than those of today's tiktoken, and nearly the same."""
    shipped = compat_bpe.get_encoding(RANKS[name])
    for path in corpora.TEXTS:
        text = path.read_text("utf-8")[:100_000]
        assert both_ranked(name, folder).ours.encode_ordinary(text) == shipped.encode_ordinary(
            text
        ), path


#: As in Meta's llama-models.
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LLAMA_RANKS = {bytes([byte]): byte for byte in range(256)}
# Tokens across the edges of chunks: where a pattern has another edge, the ids are others.
for _word in ("\n\u3000", "\u3000\n", "1234", "a'll", "'sa", " \n\n", "  a", "a b", "!\n a", ". "):
    for _end in range(2, len(_word.encode()) + 1):
        LLAMA_RANKS.setdefault(_word.encode()[:_end], len(LLAMA_RANKS))


@pytest.fixture(scope="module")
def llama_here(tmp_path_factory: pytest.TempPathFactory) -> Encoding:
    path: Path = tmp_path_factory.mktemp("llama3") / "tokenizer.model"
    path.write_bytes(format_ranks(LLAMA_RANKS))
    return load(path, pattern="llama3")


@cache
def llama_there() -> tiktoken.Encoding:
    return tiktoken.Encoding("x", pat_str=LLAMA3, mergeable_ranks=LLAMA_RANKS, special_tokens={})


def test_llama3(llama_here: Encoding) -> None:
    @example("\n\u3000")
    @given(st.one_of(texts, st.text("\n\r \u3000\t1234a'lLsſ!.b", max_size=30)))
    def check(text: str) -> None:
        assert llama_here.encode_ordinary(text) == llama_there().encode_ordinary(text)

    check()


@cache
def rwkv() -> Rwkv:
    enc = compat_bpe.load(reference_file("rwkv"))
    assert isinstance(enc, Rwkv)
    return enc


@cache
def rwkv_tokens() -> dict[bytes, int]:
    """The list as Python reads it."""
    found: dict[bytes, int] = {}
    for line in reference_file("rwkv").read_text("utf-8").splitlines():
        token = literal_eval(line[line.index(" ") + 1 : line.rindex(" ")])
        data = token.encode() if isinstance(token, str) else token
        assert len(data) == int(line[line.rindex(" ") :])
        found[data] = int(line[: line.index(" ")])
    return found


def longest_first(text: str) -> list[int]:
    """The rule: the longest token at each place."""
    data, ids, start = text.encode(), [], 0
    while start < len(data):
        end = next(end for end in range(start + 128, start, -1) if data[start:end] in rwkv_tokens())
        ids.append(rwkv_tokens()[data[start:end]])
        start = min(end, len(data))
    return ids


def test_vocabulary() -> None:
    assert rwkv().ordinary_tokens() == rwkv_tokens()
    assert max(map(len, rwkv_tokens())) == 128
    assert rwkv().n_vocab == 65_530
    assert rwkv().decode([0]) == "<|endoftext|>"


@given(texts.map(repair))
@settings(max_examples=scaled(500))
def test_hard_texts(text: str) -> None:
    ids = longest_first(text)
    assert rwkv().encode(text, disallowed_special=()) == ids
    assert rwkv().count(text) == len(ids)
    assert rwkv().decode(ids) == text
    assert rwkv().encode_with_offsets(text, disallowed_special=()).ids == ids


@given(st.lists(st.integers(1, 65_529), max_size=20))
def test_any_ids(ids: list[int]) -> None:
    names = {id_: token for token, id_ in rwkv_tokens().items()}
    data = b"".join(map(names.__getitem__, ids))
    assert rwkv().decode_bytes(ids) == data
    text = data.decode(errors="replace")
    assert rwkv().encode(text, disallowed_special=()) == longest_first(text)


def test_classes_of_characters() -> None:
    for text in (sample(), "".join(f"a{char}B{char}{char} \n" for char in sample())):
        assert rwkv().encode_ordinary(text) == longest_first(text)


def test_most_places_between_words_are_cut_points() -> None:
    text = "Some words, and more of them.\nA new line:\n\n世界は広い。"
    cuts, cut = [], rwkv().core.next_cut_point(text)
    while cut is not None:
        cuts.append(cut)
        cut = rwkv().core.next_cut_point(text, cut)
    assert {4, 11, 15, 20, 23, 30, 31, 35} <= set(cuts)


@pytest.mark.sweep
@pytest.mark.parametrize("path", corpora.TEXTS, ids=lambda path: path.name)
def test_natural_texts(path: Path) -> None:
    text = path.read_text("utf-8")[:20_000]
    assert rwkv().encode_ordinary(text) == longest_first(text)


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

    @given(texts.map(repair))
    @settings(max_examples=scaled(1000))
    def run(text: str) -> None:
        ids = program.encode(text)
        assert rwkv().encode(text, disallowed_special=()) == longest_first(text) == ids
        assert rwkv().decode(ids) == program.decode(ids)

    run()
    for path in corpora.TEXTS:
        text = path.read_text("utf-8")
        assert rwkv().encode_ordinary(text) == program.encode(text), path
