"""Tokenizers in GGUF files, and the container: what is damaged is refused by its place."""

from __future__ import annotations

import json
import os
import pickle
import struct
import time
from array import array
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import compat_bpe
from compat_bpe.chat import count_messages, load_chat_template
from compat_bpe.encodings.sentencepiece import SentencePiece
from compat_bpe.encodings.tokenizer import Rwkv
from compat_bpe.formats.gguf.container import ARRAY, BOOL, NUMBERS, STRING, Value, read_entries
from compat_bpe.formats.gguf.merges import PRE
from tests.formats.small_files import refusal
from tests.formats.small_gguf import (
    BERT,
    BYTE,
    CONTROL,
    DISTINCT,
    F32,
    I8,
    I32,
    MERGES,
    NORMAL,
    PIECES,
    SMALL,
    U8,
    U32,
    U64,
    UNKNOWN,
    UNUSED,
    USER,
    Entries,
    Items,
    Typed,
    Written,
    bert,
    gemma4,
    gguf,
    gpt2,
    load,
    pieces,
    strings,
    vocabulary,
    with_hole,
    write,
)
from tests.memory import traced
from tools.attack.growth import calls_of


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("version", [2, 3])
def test_bytes_with_merges(tmp_path: Path, order: str, version: int) -> None:
    enc = load(tmp_path, gpt2(), order=order, version=version)
    hello = 256 + MERGES.index("hell o")
    assert enc.encode("hello t") == [hello, hello + 1]
    assert enc.encode("hello<|end|>", allowed_special="all") == [hello, hello + 2]
    assert enc.decode([hello, hello + 1, hello + 2]) == "hello t<|end|>"
    assert (enc.name, enc.n_vocab) == ("model", 262)
    with pytest.raises(ValueError, match="disallowed special"):
        enc.encode("<|end|>")


@pytest.mark.parametrize("pre", DISTINCT)
def test_every_known_way_to_split(tmp_path: Path, pre: str) -> None:
    if PRE[pre].is_spelled:
        enc = load(tmp_path, gemma4("gpt2", pre=pre))
        assert enc.encode("a aé") == [2, 4, 5 + 0xC3, 5 + 0xA9]
        return
    enc = load(tmp_path, gpt2(pre=pre))
    text = "Hello, world's  1234567 été 中文かな\r\n\n\t한국어 IMGIMGABZ x\u0301 don't!"
    assert enc.decode(enc.encode(text)) == text
    chunks = {
        "qwen2": ["a", " ", " b", "1", "2", "3", "4"],
        "llama3": ["a", " ", " b", "123", "4"],
        "gpt-2": ["a", " ", " b", "1234"],
        "falcon": ["a", " ", " b", "123", "4"],
        "superbpe": ["a  b", "1", "234"],
        "afmoe": ["a", " ", " b", "1", "234"],
        "deepseek-v3": ["a", " ", " b", "123", "4"],
        "command-r": ["a", " ", " b", "1", "2", "3", "4"],
    }
    found = enc.core.definition.splitter.chunks("a  b1234")
    # Falcon's later steps see bytes in their alphabet.
    assert pre not in chunks or [one.replace("Ġ", " ") for one in found] == chunks[pre]


def test_a_pattern_in_place_of_a_name(tmp_path: Path) -> None:
    for pre in (None, "unheard-of", "qwen2"):
        enc = load(tmp_path, gpt2(pre=pre), r"hello t|.|\n")
        assert enc.encode("hello t") == [259, 260]
        assert load(tmp_path, gpt2(pre=pre), "llama3").encode("hello t") == [259, 260]


def test_a_token_is_whole_or_merged(tmp_path: Path) -> None:
    whole = {"hel": NORMAL}
    assert load(tmp_path, gpt2(special=whole)).encode("hel") == [256, 75 + 0]
    assert load(tmp_path, gpt2(pre="llama-bpe", special=whole)).encode("hel") == [261]


def test_text_is_normalized_where_the_model_does_it(tmp_path: Path) -> None:
    decomposed = "e\u0301"
    plain, composed = (load(tmp_path, gpt2(pre=pre)) for pre in ("grok-2", "qwen2"))
    assert composed.encode(decomposed) == composed.encode("é") == plain.encode("é")
    assert plain.encode(decomposed) != plain.encode("é")
    lower = load(tmp_path, {**gpt2(), "tokenizer.ggml.normalizer.lowercase": True})
    assert lower.encode("HELLO") == [259]


def test_ranks_without_merges(tmp_path: Path) -> None:
    entries = gpt2(pre="kimi-k2")
    del entries["tokenizer.ggml.merges"]
    assert load(tmp_path, entries).encode("hello t") == [259, 260]
    del entries["tokenizer.ggml.pre"]
    with pytest.raises(ValueError, match=r"model\.gguf: byte|tokenizer\.ggml\.pre: is missing"):
        load(tmp_path, entries)


def test_tokens_at_the_beginning_and_the_end(tmp_path: Path) -> None:
    special = {"<s>": CONTROL, "</s>": CONTROL}
    ids = {"bos_token_id": Typed(U32, 261), "eos_token_id": Typed(U32, 262)}

    def ids_of(pre: str = "gpt-2", **more: Written) -> list[int]:
        enc = load(tmp_path, gpt2(pre=pre, special=special, **ids, **more))
        assert enc.encode("hello") == [259]
        found: list[int] = enc.encode("hello", add_special_tokens=True)
        return found

    assert ids_of() == [259]
    assert ids_of("llama-bpe") == [261, 259]
    assert ids_of("llama-bpe", add_bos_token=False) == [259]
    assert ids_of(add_bos_token=True, add_eos_token=True) == [261, 259, 262]


def test_tokens_of_users_are_always_tokens(tmp_path: Path) -> None:
    enc = load(tmp_path, gpt2(special={"<x>": USER, "[PAD262]": USER, "[PAD263]": UNUSED}))
    assert enc.encode("<x>") == [261]
    assert enc.encode("[PAD262]") == load(tmp_path, gpt2()).encode("[PAD262]")
    assert (enc.n_vocab, enc.special_tokens_set) == (262, set())
    kept = load(tmp_path, gpt2(special={"[PAD261]": UNUSED, "<x>": USER}))
    assert (kept.encode("<x>"), kept.token_to_id("[PAD261]")) == ([262], None)


def test_an_old_file_without_types(tmp_path: Path) -> None:
    entries = gpt2(eos_token_id=Typed(U32, 261))
    del entries["tokenizer.ggml.token_type"]
    enc = load(tmp_path, entries)
    assert enc.encode("hello<|end|>", allowed_special="all") == [259, 261]
    assert enc.special_tokens_set == {"<|end|>"}


def test_pieces_by_score(tmp_path: Path) -> None:
    enc = load(tmp_path, pieces("llama"))
    assert isinstance(enc, SentencePiece)
    assert enc.encode_as_pieces("ab b") == ["▁a", "b", "▁", "b"]
    assert enc.encode("ab") == [6, 5]
    assert enc.encode("a", add_bos=True, add_eos=True) == [1, 6, 2]
    bare = load(tmp_path, pieces("llama", add_space_prefix=False))
    assert bare.encode_as_pieces("ab") == ["ab"]
    assert load(tmp_path, pieces("llama")).encode_as_pieces("a  ") == ["▁a", "▁", "▁"]
    trimmed = load(tmp_path, pieces("llama", remove_extra_whitespaces=True))
    assert trimmed.encode_as_pieces("a  ") == ["▁a"]


def test_names_of_control_pieces_are_special(tmp_path: Path) -> None:
    enc = load(tmp_path, pieces("llama"))
    text = "a<s>a<x>a"
    assert enc.encode(text, allowed_special="all") == [6, 1, 6, 8, 6]
    found = enc.encode_with_offsets(text, allowed_special={"<s>"})
    assert found.ids == [6, 1, 6, 8, 6]
    assert found.tokens == ["▁a", "<s>", "▁a", "<x>", "▁a"]
    assert found.offsets == [(0, 1), (1, 4), (4, 5), (5, 8), (8, 9)]
    with pytest.raises(ValueError, match="disallowed special"):
        enc.encode(text)
    plain = enc.encode(text, disallowed_special=())
    assert plain == enc.encode_ordinary(text)
    assert plain == enc.encode_with_offsets(text, disallowed_special=()).ids
    assert 1 not in plain
    assert enc.count(text) == len(plain)


def test_pieces_without_scores_are_merged_in_their_order(tmp_path: Path) -> None:
    entries = pieces("llama")
    entries["tokenizer.ggml.scores"] = Items(F32, [-1000.0] * len(PIECES))
    assert load(tmp_path, entries).encode_as_pieces("ab") == ["▁a", "b"]


def test_runs_of_spaces_that_users_added(tmp_path: Path) -> None:
    tokens = {"<unk>": UNKNOWN, "a": NORMAL, "▁": NORMAL, "  ": USER}
    entries = vocabulary("llama", tokens, scores=Items(F32, [0.0] * 4), add_space_prefix=False)
    assert load(tmp_path, entries).encode("a  a a▁▁") == [1, 3, 1, 2, 1, 3]


def test_a_nul_that_was_written_otherwise(tmp_path: Path) -> None:
    tokens = {"<unk>": UNKNOWN, "🐉": NORMAL, "a": NORMAL} | {
        f"<0x{byte:02X}>": BYTE for byte in range(256)
    }
    entries = vocabulary("llama", tokens, scores=Items(F32, [0.0, *range(258)]))
    entries["general.architecture"] = "internlm2"
    enc = load(tmp_path, entries)
    assert enc.id_to_piece(1) == "\0"
    assert enc.encode("🐉") == [*(3 + byte for byte in "▁🐉".encode())]


def test_white_space_beside_tokens_that_take_it(tmp_path: Path) -> None:
    special = {"<mask>": CONTROL}
    enc = load(tmp_path, gpt2(special=special))
    assert enc.encode("hello \n<mask>", allowed_special="all") == [259, 261]
    tokens = {**dict.fromkeys("▁au", NORMAL), "<unk>": UNKNOWN, "<|placeholder1|>": CONTROL}
    entries = vocabulary("llama", tokens, scores=Items(F32, [0.0] * 5))
    phi = load(tmp_path, entries)
    assert phi.encode("<|placeholder1|> \n a", allowed_special="all") == [4, 0, 1]


def test_unigram(tmp_path: Path) -> None:
    enc = load(tmp_path, pieces("t5"))
    assert enc.encode_as_pieces("  a  ab ") == ["▁a", "▁", "ab"]
    assert enc.encode("a</s>", allowed_special="all") == [6, 2]
    entries = pieces("t5", precompiled_charsmap=Items(U8, list(b"\0")))
    with pytest.raises(ValueError, match=r"model\.gguf: .*character map"):
        load(tmp_path, entries)


def test_words_of_bert(tmp_path: Path) -> None:
    enc = load(tmp_path, bert())
    assert enc.encode("Hellos !x") == [5, 6, 7, 1]
    assert enc.encode("hello", add_special_tokens=True) == [2, 5, 3]
    assert enc.encode("hello", "!", add_special_tokens=True) == [2, 5, 3, 7, 3]
    assert enc.encode("[CLS]hello", allowed_special="all") == [2, 5]
    assert (enc.id_to_token(4), enc.id_to_token(6)) == ("[unused0]", "##s")
    assert enc.decode([5, 6, 7]) == "hellos!"


def test_case_in_bert(tmp_path: Path) -> None:
    assert load(tmp_path, bert()).encode("HÉLLO hello")[-1] == 5
    cased = {**BERT, "▁Hello": NORMAL}
    assert load(tmp_path, bert(cased)).encode("Hello hello HELLO") == [8, 5, 1]
    lower: dict[str, Any] = {"normalizer.lowercase": True}
    assert load(tmp_path, bert(cased, **lower)).encode("Hello hello HELLO") == [5, 5, 5]
    upper: dict[str, Any] = {"normalizer.lowercase": False}
    assert load(tmp_path, bert(**upper)).encode("Hello hello") == [1, 5]
    accents: dict[str, Any] = {"normalizer.lowercase": True, "normalizer.strip_accents": False}
    assert load(tmp_path, bert(**accents)).encode("héllo hello") == [1, 5]


def test_spelled_tokens_with_merges(tmp_path: Path) -> None:
    enc = load(tmp_path, gemma4())
    assert enc.encode("a aé\n") == [2, 4, 5 + 0xC3, 5 + 0xA9, 5 + 10]
    assert enc.decode(enc.encode("a a é")) == "a a é"
    with_begin = load(tmp_path, gemma4(bos_token_id=Typed(U32, 1)))
    assert with_begin.encode("a", add_special_tokens=True) == [1, 2]


def test_a_template_and_its_tokens(tmp_path: Path) -> None:
    entries = {
        **gpt2(special={"<s>": CONTROL}, bos_token_id=Typed(U32, 261)),
        "tokenizer.chat_template": "{{ bos_token }}{{ messages[0].content }}",
        "tokenizer.chat_template.rag": "b",
        "tokenizer.chat_templates": strings("rag"),
    }
    path = write(tmp_path / "model.gguf", entries)
    messages = [{"role": "user", "content": "hello t"}]
    for where in (path, tmp_path):
        template = load_chat_template(where)
        assert sorted(template.templates) == ["default", "rag"]
        assert template.render(messages) == "<s>hello t"
        assert count_messages(messages, encoding=where) == 3
    (tmp_path / "chat_template.jinja").write_text("c")
    assert load_chat_template(tmp_path).render(messages) == "c"
    assert load_chat_template(path).render(messages) == "<s>hello t"
    write(path, gpt2())
    assert load_chat_template(path).render(messages) == "c"


# Where files are found


def test_a_folder_has_one_file_and_it_comes_last(tmp_path: Path) -> None:
    path = write(tmp_path / "a.gguf", gpt2())
    assert compat_bpe.load(tmp_path).encode("hello") == [259]
    write(tmp_path / "b.gguf", gpt2())
    with pytest.raises(
        ValueError, match=r"the folder has several vocabularies \(a\.gguf, b\.gguf\)"
    ):
        compat_bpe.load(tmp_path)
    other = {"model": {"type": "WordLevel", "vocab": {"hello": 7}, "unk_token": "hello"}}
    (tmp_path / "tokenizer.json").write_text(json.dumps({"added_tokens": [], **other}))
    assert compat_bpe.load(tmp_path).encode("hello") == [7]
    renamed = path.rename(tmp_path / "blob")  # as in the caches of some programs
    assert compat_bpe.load(renamed).encode("hello") == [259]


def test_the_weights_cost_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "large.gguf", gpt2(), tensors=300)
    with_hole(path, path.read_bytes(), 40 << 30)
    assert compat_bpe.load(path).encode("hello") == [259]
    # To read 40 GB, a block of 256 KB after another, would take 160,000.
    assert calls_of(lambda: compat_bpe.load(path)) < 100_000


@pytest.mark.parametrize("kind", SMALL)
def test_a_copy_is_the_same(tmp_path: Path, kind: str) -> None:
    enc = load(tmp_path, SMALL[kind])
    copied = pickle.loads(pickle.dumps(enc))
    text = "ab <x>"
    assert copied.encode(text, allowed_special="all") == enc.encode(text, allowed_special="all")
    assert copied.special_tokens_set == enc.special_tokens_set


@pytest.mark.parametrize("has_bytes", [False, True])
def test_what_llama_cpp_does_not_need_may_be_missing(tmp_path: Path, has_bytes: bool) -> None:
    """Without types and scores: ids 0 to 2 have their usual roles, and pieces merge in order."""
    names = ["<unk>", "<s>", "</s>", "▁", "a", "b", "ab", "▁ab"]
    kinds = [UNKNOWN, CONTROL, CONTROL, *[NORMAL] * 5]
    if has_bytes:
        names += [f"<0x{byte:02X}>" for byte in range(256)]
        kinds += [BYTE] * 256
    entries = vocabulary("llama", dict(zip(names, kinds)), scores=Items(F32, [0.0] * len(names)))
    loaded: list[compat_bpe.Encoding] = []
    for missing in ((), ("scores",), ("token_type",), ("scores", "token_type")):
        kept = {
            key: value for key, value in entries.items() if key.rpartition(".")[2] not in missing
        }
        path = tmp_path / f"{len(loaded)}.gguf"
        write(path, kept)
        loaded.append(compat_bpe.load(path))
    for text in ("ab", "ab bab", "é<s>", "<0x41>\n", "</s>"):
        expected = loaded[0].encode_ordinary(text)
        assert [one.encode_ordinary(text) for one in loaded] == [expected] * 4
        assert {one.decode(expected) for one in loaded} == {loaded[0].decode(expected)}


LISTED = [bytes([byte]) for byte in range(256)]
LISTED += [b" the", b"the", b"\n\n", b"it's", b"'\"", b"\xc3\xff", "漢字".encode()]


def listed_entries(tokens: list[bytes], end: str = "<s>") -> dict[str, Written]:
    """Return the entries that llama.cpp's converter writes for a list."""
    written = [end, *(repr(token)[2:-1] for token in tokens), "[PAD1]", "[PAD2]"]
    types = [CONTROL, *([NORMAL] * len(tokens)), UNUSED, UNUSED]
    return {
        "tokenizer.ggml.model": "rwkv",
        "tokenizer.ggml.tokens": strings(*written),
        "tokenizer.ggml.token_type": Items(I32, types),
    }


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Rwkv, Rwkv]:
    folder = tmp_path_factory.mktemp("rwkv")
    lines = [f"{id_} {token!r} {len(token)}\n" for id_, token in enumerate(LISTED, 1)]
    (folder / "rwkv_vocab_v20230424.txt").write_text("".join(lines))
    in_gguf = compat_bpe.load(write(folder / "model.gguf", listed_entries(LISTED)))
    in_list = compat_bpe.load(folder / "rwkv_vocab_v20230424.txt")
    assert isinstance(in_gguf, Rwkv)
    assert isinstance(in_list, Rwkv)
    return in_gguf, in_list


def test_it_has_the_ids_of_the_list(both: tuple[Rwkv, Rwkv]) -> None:
    in_gguf, in_list = both
    assert in_gguf.n_vocab == in_list.n_vocab == len(LISTED) + 1
    assert dict(in_gguf.special_tokens) == {"<|endoftext|>": 0}

    @given(st.text(" theit's\n\"'é漢字\\x", max_size=30))
    def check(text: str) -> None:
        ids = in_gguf.encode(text)
        assert ids == in_list.encode(text)
        assert in_gguf.decode(ids) == text

    check()


def test_it_can_be_sent_to_another_process(both: tuple[Rwkv, Rwkv]) -> None:
    assert pickle.loads(pickle.dumps(both[0])).encode(" the 漢字") == both[0].encode(" the 漢字")


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (LISTED[1:], "tokenizer.ggml.tokens: there is no token for the single byte 0x00"),
        ([*LISTED, b"the"], "b'the' is also [258]"),
        ([*LISTED, b"a" * 257], "the token must have from 1 to 256 bytes"),
    ],
)
def test_damage(tmp_path: Path, tokens: list[bytes], message: str) -> None:
    path = write(tmp_path / "model.gguf", listed_entries(tokens))
    assert message in refusal(path, lambda: compat_bpe.load(path))


def test_an_escape_that_no_converter_writes(tmp_path: Path) -> None:
    listed = listed_entries(LISTED)
    listed["tokenizer.ggml.tokens"] = strings("<s>", "\\q")
    listed["tokenizer.ggml.token_type"] = Items(I32, [CONTROL, NORMAL])
    with pytest.raises(ValueError, match=r"byte [0-9]+: tokenizer.ggml.tokens\[1\]: "):
        compat_bpe.load(write(tmp_path / "model.gguf", listed))


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({}, "tokenizer.ggml.model: the file has no vocabulary"),
        ({"split.no": Typed(U32, 1)}, "this is not the first file of the model"),
        ({"tokenizer.ggml.model": True}, "tokenizer.ggml.model: must be a string"),
        ({"tokenizer.ggml.model": b"\xff"}, "tokenizer.ggml.model: is not UTF-8"),
        (vocabulary("plamo2", {"a": 1}), "'plamo2' is not supported: "),
        (vocabulary("none", {"a": 1}), "'none' is not supported: the file has no vocabulary"),
        (
            vocabulary("new", {"a": 1}),
            "'new' is not supported, only gpt2, gemma4, llama, t5, bert, rwkv",
        ),
        (vocabulary("gpt2", {}), "tokenizer.ggml.tokens: there are no tokens"),
        (gpt2(pre=None), "tokenizer.ggml.pre: is missing, as in files from before May 2024"),
        (gpt2(pre="new"), "'new' is not known: load the model's own tokenizer.json, or give the"),
        (gpt2(pre="whitespace"), "'whitespace' is not supported: "),
        (gpt2(add_bos_token="x"), "tokenizer.ggml.add_bos_token: must be true or false"),
        (gpt2(bos_token_id="x"), "tokenizer.ggml.bos_token_id: must be an integer"),
        ({**gpt2(), "tokenizer.ggml.tokens": "x"}, "tokens: must be an array of strings"),
        (gpt2(merges=True), "merges: must be an array of strings"),
        (vocabulary("gpt2", {"a": 1}, pre="gpt-2"), "merges: there are no merges"),
        (gpt2(merges=strings("ab")), "merges[0]: 'ab' does not have two parts"),
        (gpt2(merges=strings("a b", "a ")), "merges[1]: 'a ' does not have two"),
        (gpt2(merges=strings("a xy")), "merges[0]: 'xy' is not a token"),
        (gpt2(merges=strings("a b")), "merges[0]: 'ab' is not a token"),
        (gpt2(token_type=Items(I32, [1])), "has 1 items for 262 tokens"),
        (gpt2(token_type=Items(I32, [9] * 262)), "unknown type 9 of a token"),
        (gpt2(token_type=Items(F32, [1])), "must be an array of numbers"),
        ({**gpt2(), "tokenizer.ggml.tokens": strings(*"ab" * 131)}, "tokens[260]: 'a' is also [0]"),
        (vocabulary("t5", {"a": 1}), "tokenizer.ggml.scores: there are 0 for 1 tokens"),
        (
            vocabulary("llama", {"a": 1}, scores=Items(F32, [])),
            "tokenizer.ggml.scores: there are 0 for 1 tokens",
        ),
        (vocabulary("llama", {"a": 1}), "tokenizer.ggml.token_type: no token has the unknown type"),
        (vocabulary("bert", {"a": 1}), "tokenizer.ggml.tokens: there is no unk_token"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_what_is_refused(tmp_path: Path, entries: Entries, message: str) -> None:
    path = write(tmp_path / "bad.gguf", entries)
    assert message in refusal(path, lambda: compat_bpe.load(path))


def test_an_item_is_named_by_its_place(tmp_path: Path) -> None:
    path = tmp_path / "bad.gguf"
    path.write_bytes(write(path, gpt2()).read_bytes().replace(b"he ll", b"he \xff\xff"))
    with pytest.raises(
        ValueError, match=r"byte (\d+): tokenizer\.ggml\.merges\[2\]: is not"
    ) as caught:
        compat_bpe.load(path)
    place = int(str(caught.value).split("byte ")[1].split(":")[0])
    assert path.read_bytes()[place + 8 :].startswith(b"he \xff\xff")


def test_only_bytes_are_given_a_pattern(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"model\.gguf: the model 'bert' has no pattern"):
        load(tmp_path, bert(), "gpt2")
    with pytest.raises(ValueError, match="special_tokens is only for rank files"):
        compat_bpe.load(write(tmp_path / "a.gguf", gpt2()), special_tokens={"a": 1})


def test_a_pointer_of_git_lfs(tmp_path: Path) -> None:
    path = tmp_path / "a.gguf"
    path.write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    with pytest.raises(ValueError, match=r"a\.gguf: a Git LFS pointer"):
        compat_bpe.load(path)
    path.write_bytes(b"something else")
    with pytest.raises(ValueError, match=r"a\.gguf: byte 0: not a GGUF file"):
        compat_bpe.load(path)


@pytest.mark.parametrize("every", [7, pytest.param(2, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("kind", SMALL)
def test_any_damage_is_an_error_or_does_no_harm(
    tmp_path: Path, kind: str, order: str, every: int
) -> None:
    path = write(tmp_path / "bad.gguf", SMALL[kind], order=order)
    data = path.read_bytes()
    expected = compat_bpe.load(path).encode("ab <x>", disallowed_special=())
    start = time.process_time()
    with path.open("r+b", buffering=0) as file:
        for place in range(0, len(data), every):
            byte = data[place]
            for change in (1, 0x80):
                file.seek(place)
                file.write(bytes([byte ^ change]))
                try:
                    compat_bpe.load(path).encode("ab <x>", disallowed_special=())
                except ValueError as error:
                    assert str(path) in str(error)  # noqa: PT017
            file.seek(place)
            file.write(bytes([byte]))
    assert compat_bpe.load(path).encode("ab <x>", disallowed_special=()) == expected
    for size in range(len(data) - 1, -1, -every):
        os.truncate(path, size)
        with pytest.raises(ValueError, match=r"bad\.gguf: "):
            compat_bpe.load(path)
    assert time.process_time() - start < 60  # no damage makes it long


# The container


WHOLE: dict[str, Written] = {
    "general.name": "Small",
    "general.flag": True,
    "general.size": Typed(11, -5),
    "tokens": strings("<unk>", "▁a", "é"),
    "scores": Items(F32, [0.0, -1.5, -2.25]),
    "nested": Items(ARRAY, [Items(U8, [1, 2]), strings("a"), Items(U64, [])]),
}


def read(path: Path, data: bytes) -> dict[str, Value]:
    path.write_bytes(data)
    return {key: entry.value for key, entry in read_entries(path).items()}


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("order", ["<", ">"])
def test_both_versions_in_both_byte_orders(tmp_path: Path, version: int, order: str) -> None:
    data = gguf(WHOLE, version=version, order=order, tensors=7) + b"weights, which are not read"
    assert read(tmp_path / "a.gguf", data) == {
        "general.name": b"Small",
        "general.flag": True,
        "general.size": -5,
        "tokens": [b"<unk>", "▁a".encode(), "é".encode()],
        "scores": array("f", [0.0, -1.5, -2.25]),
        "nested": [array("B", [1, 2]), [b"a"], array("Q")],
    }


def test_what_is_not_wanted_is_not_kept(tmp_path: Path) -> None:
    path = write(tmp_path / "a.gguf", WHOLE)
    found = read_entries(path, lambda key: key.startswith("general."))
    assert list(found) == ["general.name", "general.flag", "general.size"]


def test_places_are_those_of_values(tmp_path: Path) -> None:
    path = write(tmp_path / "a.gguf", {"k": Typed(U32, 9)})
    assert read_entries(path)["k"].place == 24 + 8 + 1 + 4


numbers = {
    kind: st.floats(width=32 if code == "f" else 64, allow_nan=False)
    if code in "fd"
    else st.booleans()
    if kind == BOOL
    else st.integers(
        -(1 << 8 * struct.calcsize("<" + code) - 1) if code.islower() else 0,
        (1 << 8 * struct.calcsize("<" + code) - code.islower()) - 1,
    )
    for kind, code in NUMBERS.items()
}
texts = st.text(max_size=5)
flat = st.one_of(
    st.lists(texts, max_size=4).map(partial(Items, STRING)),
    *(st.lists(one, max_size=4).map(partial(Items, kind)) for kind, one in numbers.items()),
)
arrays = flat | st.lists(flat, max_size=3).map(partial(Items, ARRAY))
values = st.one_of(texts, arrays, *(one.map(partial(Typed, kind)) for kind, one in numbers.items()))


def plain(value: Any) -> Value:
    """Return what a written value is read as."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, Typed):
        read_as: Value = value.value
        return read_as
    if value.kind in NUMBERS:
        return array(NUMBERS[value.kind], value.items)
    return [plain(item) for item in value.items]


@given(
    st.dictionaries(st.text(min_size=1, max_size=8), values, max_size=6),
    st.sampled_from([2, 3]),
    st.sampled_from(["<", ">"]),
)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, entries: dict[str, Any], version: int, order: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "a.gguf"
    data = gguf(entries, version=version, order=order)
    assert read(path, data) == {key: plain(value) for key, value in entries.items()}


def test_a_file_that_is_larger_than_a_block(tmp_path: Path) -> None:
    words = [f"{number:x}" * (1 + number % 40) for number in range(20_000)]
    long = "é" * 300_000
    entries: dict[str, Written] = {
        "a": strings(*words),
        "b": long,
        "c": strings(long, *words),
        "d": Typed(U8, 7),
    }
    found = read(tmp_path / "a.gguf", gguf(entries))
    assert found["a"] == [word.encode() for word in words]
    assert found["c"] == [long.encode(), *(word.encode() for word in words)]
    assert (found["b"], found["d"]) == (long.encode(), 7)


@pytest.mark.parametrize("order", ["<", ">"])
def test_cut_anywhere(tmp_path: Path, order: str) -> None:
    path, data = tmp_path / "cut.gguf", gguf(WHOLE, order=order)
    path.write_bytes(data)
    for size in reversed(range(len(data))):
        os.truncate(path, size)
        with pytest.raises(ValueError, match=r"cut\.gguf: byte \d+: "):
            read_entries(path)


@pytest.mark.parametrize("order", ["<", ">"])
def test_any_byte_changed(tmp_path: Path, order: str) -> None:
    path, data = tmp_path / "bad.gguf", gguf(WHOLE, order=order)
    path.write_bytes(data)
    start = time.process_time()
    with path.open("r+b", buffering=0) as file:
        for place, byte in enumerate(data):
            for change in (1, 0x80, 0xFF):
                file.seek(place)
                file.write(bytes([byte ^ change]))
                try:
                    read_entries(path)
                except ValueError as error:
                    assert str(error).startswith(f"{path}: byte ")  # noqa: PT017
            file.seek(place)
            file.write(bytes([byte]))
    assert time.process_time() - start < 60  # no damage makes it long
    assert len(read_entries(path)) == len(WHOLE)


def head(count: int = 1, key: bytes = b"k") -> bytes:
    return b"GGUF" + struct.pack("<IQQQ", 3, 0, count, len(key)) + key


def listed(kind: int, count: int, *, of: bytes = b"") -> bytes:
    return head() + struct.pack("<IIQ", ARRAY, kind, count) + of


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "byte 0: the file ends"),
        (b"GGUX" + bytes(40), "byte 0: not a GGUF file"),
        (gguf({}, version=1), "byte 4: version 1 of GGUF is not known, only 2 and 3"),
        (gguf({}, version=1, order=">"), "byte 4: version 1 of GGUF is not known"),
        (gguf({}, version=4), "byte 4: version 4 of GGUF"),
        (head(1 << 40), "byte 16: 1099511627776 keys do not fit"),
        (head(key=b"") + bytes(99), "byte 24: a key has from 1 to 65535 bytes, not 0"),
        (head(key=b"x" * 65536) + bytes(99), "byte 24: a key has from 1 to 65535 bytes, not 65536"),
        (head(key=b"a\xff") + bytes(99), "byte 33: the key is not UTF-8: invalid start byte"),
        (gguf([("a", True), ("a", True)]), "byte 38: the key 'a' comes twice"),
        (head() + struct.pack("<I", 13) + bytes(9), "byte 33: unknown type 13 of a value"),
        (listed(13, 0), "byte 37: unknown type 13 of a value"),
        (head() + struct.pack("<IQ", STRING, 1 << 62), "byte 37: 4611686018427387904 items do"),
        (listed(STRING, 1 << 62), "byte 41: 4611686018427387904 items do not fit; the file"),
        (listed(F32, 1 << 62), "byte 41: 4611686018427387904 items do not fit; the file"),
        (listed(ARRAY, 1 << 62), "byte 41: 4611686018427387904 items do not fit; the file"),
        (listed(STRING, 1, of=struct.pack("<Q", 1 << 63)), "byte 49: 9223372036854775808 items"),
        (listed(I8, 3, of=b"ab"), "byte 41: 3 items do not fit; the file is cut off or damaged"),
        (listed(ARRAY, 1, of=struct.pack("<IQ", ARRAY, 1) * 9), "arrays are nested more than 4"),
        (listed(STRING, 1 << 23, of=bytes(1 << 26)), "byte 41: its arrays have more than 4,194,30"),
    ],
)
def test_damage_is_named_by_its_place(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "bad.gguf"
    reason, peak = traced(lambda: refusal(path, lambda: read(path, data)))
    assert message in reason
    assert peak < 4 << 20


def test_the_weights_cost_neither_time_nor_memory(tmp_path: Path) -> None:
    path = with_hole(tmp_path / "large.gguf", gguf(WHOLE, tensors=300), 40 << 30)
    entries, peak = traced(lambda: read_entries(path))
    assert len(entries) == len(WHOLE)
    assert peak < 4 << 20
    # To read 40 GB, a block of 256 KB after another, would take 160,000.
    assert calls_of(lambda: read_entries(path)) < 10_000


@pytest.mark.parametrize(
    "data",
    [
        head() + struct.pack("<IQ", STRING, 30 << 30),
        listed(F32, 8 << 30),
        listed(STRING, 4 << 30),
        listed(ARRAY, 2 << 30),
        head(1 << 31, b"a") + struct.pack("<IB", U8, 0),
    ],
)
def test_lengths_that_a_large_file_has_room_for(tmp_path: Path, data: bytes) -> None:
    path = with_hole(tmp_path / "large.gguf", data, 40 << 30)
    with pytest.raises(ValueError, match=r"large\.gguf: byte \d+: "):
        read_entries(path)
    assert calls_of(lambda: read_entries(path)) < 10_000


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("key", [b"a", b"tokenizer.ggml.tokens"])
def test_arrays_of_very_many_empty_arrays(tmp_path: Path, depth: int, key: bytes) -> None:
    empty = struct.pack("<IQ", STRING, 0)
    for _ in range(depth - 1):
        empty = struct.pack("<IQ", ARRAY, 1) + empty
    count = 100_000
    data = head(1, key) + struct.pack("<IIQ", ARRAY, ARRAY, count) + empty * count
    path = tmp_path / "a.gguf"
    path.write_bytes(data)
    assert calls_of(lambda: read_entries(path)) < 10_000
    with pytest.raises(ValueError, match=r"a\.gguf: byte \d+: .* more than 65,536 arrays"):
        read_entries(path)


def test_more_keys_than_any_file_has(tmp_path: Path) -> None:
    path = write(tmp_path / "a.gguf", {f"k{number}": True for number in range((1 << 16) + 1)})
    with pytest.raises(ValueError, match=r"byte 16: 65537 keys .* are more than in any known file"):
        read_entries(path)
