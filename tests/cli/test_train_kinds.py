"""``compat-bpe train`` with other models than byte-level BPE, those of SentencePiece among them."""

from __future__ import annotations

from itertools import starmap
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import load
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.formats.sentencepiece import NormalizerSpec
from compat_bpe.save import save_tokenizer_json
from compat_bpe.tokenizer import SentencePiece
from compat_bpe.train import (
    CharacterBpeSettings,
    SentencePieceSettings,
    UnigramSettings,
    WordLevelSettings,
    WordPieceSettings,
    save_trained_sentencepiece,
    train,
    train_bpe,
)
from compat_bpe.train.kinds import KINDS
from compat_bpe.train.sentencepiece.settings import settings_like
from compat_bpe.train.sentencepiece.trainer import SentencePieceTrainer
from tests.cli.running import TextResult, cases, command, read_json, sweep, write
from tests.kinds import kind_path

UNEVEN = " ".join(f"{'na' * (n % 7)}{'Ba' * (n % 4)}s{'ti' * (n % 5)}" for n in range(60))
DOGS, WORLD = "the dog and the cat\n" * 30, "世界你好\n" * 3
FILES = "token_map.tsv, tokenizer.json, tokenizer_config.json, manifest.json"


@pytest.fixture(autouse=True)
def _corpus() -> None:
    write({"corpus/en/a.txt": DOGS, "corpus/zh.txt": WORLD})
    write({f"texts/{name}.txt": text for name, text in zip("ab", TEXTS)})


def trained(line: str) -> TextResult:
    done = command(f"train {line}")
    assert done.status == 0, done.err
    return done


def vocabulary(path: str) -> dict[str, int]:
    found = load(path)
    assert isinstance(found, Tokenizer)
    return dict(found.definition.model.vocabulary)


def check_saved(settings: Any, texts: Any = (DOGS, WORLD)) -> Any:
    """Check that ``out`` has the tokenizer that the library learns; return it as JSON."""
    save_tokenizer_json(train(texts, settings), "expected.json")
    found = read_json("out/tokenizer.json")
    assert found == read_json("expected.json")
    return found


def test_wordpiece() -> None:
    done = trained("corpus --model wordpiece -n 30 -o out --special [CLS]")
    learned = "30 tokens, 7 of them merges, from 2 documents of 639 bytes"
    assert done == (0, f"{learned}\nout: {FILES}\n", "")
    check_saved(WordPieceSettings(30, special_tokens=["[CLS]"]))
    config = read_json("out/tokenizer_config.json")
    assert (config["unk_token"], config["pad_token"]) == ("[UNK]", None)
    rows = Path("out/token_map.tsv").read_text("utf-8")
    assert rows.startswith("id\ttoken\tleft\tright\tfrequency\n0\t[UNK]\t\t\t\n")
    assert "\tthe\tth\t##e\t60" in rows


def test_every_option_of_merges() -> None:
    trained(
        "corpus --model character-bpe -n 60 -o out --continuing-subword-prefix @ "
        "--end-of-word-suffix $ --unk <u> --initial-alphabet xyz --limit-alphabet 9 "
        "--min-frequency 2 --max-token-length 2 --normalizer nfkc --pre-tokenizer whitespace "
        "--post-processor roberta --decoder fuse --bos <s> --eos </s> --rule likelihood "
        "--weight zh=2 --merges 3"
    )
    settings = CharacterBpeSettings(
        60,
        num_merges=3,
        prefix="@",
        suffix="$",
        unknown="<u>",
        special_tokens=["<s>", "</s>"],
        initial_alphabet="xyz",
        limit_alphabet=9,
        min_frequency=2,
        max_token_length=2,
        rule="likelihood",
        normalizer="nfkc",
        pre_tokenizer="whitespace",
        post_processor="roberta",
        decoder="fuse",
        weights={"zh": 2},
    )
    check_saved(settings, {"en": [DOGS], "zh": [WORLD]})
    manifest = read_json("out/manifest.json")
    assert manifest["special_tokens"] == {"<u>": 0, "<s>": 1, "</s>": 2}
    assert manifest["roles"] == {"unk": "<u>", "bos": "<s>", "eos": "</s>"}
    assert manifest["pattern"] == "that of tokenizer.json"
    assert manifest["metrics"]["merges"] == 3
    described = manifest["settings"]
    assert described["model"] == "character-bpe"
    assert described["normalizer"] == {"type": "NFKC"}
    assert (described["prefix"], described["suffix"]) == ("@", "$")
    assert described["weights"] == {"zh": 2.0}


def test_words_characters_and_bytes() -> None:
    done = trained("corpus --model word-level -o out --min-frequency 9")
    assert done.out.splitlines()[0] == "5 tokens, from 2 documents of 639 bytes"
    check_saved(WordLevelSettings(min_frequency=9))
    for model, args, size in (("characters", "-n 6", 6), ("bytes", "", 256)):
        trained(f"corpus --model {model} -o {model} {args}")
        assert len(vocabulary(model)) == size


def test_unigram() -> None:
    done = trained("corpus --model unigram -n 20 -o out --special <s>")
    assert done == (0, f"20 tokens, from 2 documents of 639 bytes\nout: {FILES}\n", "")
    check_saved(UnigramSettings(20, special_tokens=["<s>"], min_frequency=1))
    manifest = read_json("out/manifest.json")
    assert manifest["roles"] == {"unk": "<unk>"}
    assert manifest["special_tokens"] == {"<unk>": 0, "<s>": 1}
    assert manifest["settings"]["max_piece_length"] == 16


def test_each_option_of_unigram() -> None:
    text = UNEVEN + DOGS + WORLD
    write({"text.txt": text})
    trained("text.txt --model unigram -n 26 -o plain")
    plain = read_json("plain/tokenizer.json")
    settings: tuple[tuple[str, dict[str, Any]], ...] = (
        ("--shrinking-factor 0.3", {"shrinking_factor": 0.3}),
        ("--sub-iterations 5", {"n_sub_iterations": 5}),
        ("--max-piece-length 2", {"max_piece_length": 2}),
        ("--seed-size 20", {"seed_size": 20}),
        ("--initial-alphabet xyz", {"initial_alphabet": "xyz"}),
        ("--min-frequency 4", {"min_frequency": 4}),
        ("--unk <?>", {"unknown": "<?>"}),
        ("--pre-tokenizer whitespace", {"pre_tokenizer": "whitespace"}),
        ("--normalizer lowercase", {"normalizer": "lowercase"}),
    )
    for option, setting in settings:
        trained(f"text.txt --model unigram -n 26 -o out --force {option}")
        options = {"min_frequency": 1, **setting}
        assert check_saved(UnigramSettings(26, **options), [text]) != plain, option


@pytest.mark.parametrize("model", [*KINDS])
def test_validation_with_every_model(model: str) -> None:
    write({f"corpus/{number}.txt": f"{DOGS} number {number}" for number in range(20)})
    size = {"bpe": "-n 280", "bytes": ""}.get(model, "-n 40")
    done = trained(f"corpus --model {model} {size} -o out --validation 0.3")
    assert "Held-out text (" in done.out
    assert "tokens per character" in done.out
    assert Path("out/validation.jsonl").stat().st_size > 0


def test_the_bytes_of_another_are_left_out_unless_they_are_asked_for() -> None:
    like = f"corpus --like {kind_path('characters_byte_fallback')} -n 400 -o"
    note = "the 256 byte tokens of --like are left out, as in transformers"
    assert note in trained(f"{like} out").err
    assert "<0x00>" not in vocabulary("out")
    assert "left out" not in trained(f"{like} bytes --byte-fallback").err
    assert "<0x00>" in vocabulary("bytes")
    enc = load("bytes")
    assert enc.decode(enc.encode("世🙂\x01")) == "世🙂\x01"


def test_like_another() -> None:
    old = train([DOGS], WordPieceSettings(30, prefix="@", unknown="<?>", special_tokens=["<s>"]))
    save_tokenizer_json(old, "old.json")
    trained("corpus --like old.json -n 50 -o out")
    expected = train([DOGS, WORLD], WordPieceSettings(50, like=old, special_tokens=["<s>"]))
    assert vocabulary("out") == expected.definition.model.vocabulary
    manifest = read_json("out/manifest.json")
    assert (manifest["settings"]["like"], manifest["roles"]) == ("old.json", {"unk": "<?>"})
    trained("corpus --like old.json --model word-level -o words")
    assert vocabulary("words").keys() >= {"<unk>", "<?>", "<s>", "the", "世"}
    # Byte-level BPE, in steps of its own.
    save_tokenizer_json(train_bpe([DOGS], 280, special_tokens=["<e>"]), "bpe.json")
    like = load("bpe.json")
    assert isinstance(like, Tokenizer)
    again = train([DOGS, WORLD], CharacterBpeSettings(290, like=like))
    for name, args in (("same", ""), ("named", "--model bpe")):
        trained(f"corpus --like bpe.json -n 290 -o {name} {args}")
        assert vocabulary(name) == again.definition.model.vocabulary


def test_unigram_like_another() -> None:
    settings = UnigramSettings(20, unknown="<?>", special_tokens=["<s>"], normalizer="nfkc")
    old = train([DOGS], settings)
    save_tokenizer_json(old, "old.json")
    trained("corpus --like old.json -n 25 -o out")
    found = check_saved(UnigramSettings(25, like=old, min_frequency=1))
    assert found["normalizer"] == {"type": "NFKC"}


@cases(
    """
wordpiece -n 5 → 22 tokens, not 5: the special tokens and characters alone are that many
wordpiece -n 5000 → 30 tokens, not 5,000: no pair is left to merge
wordpiece --merges 50 --min-frequency 40 →
    2 merges, not 50: no pair that may be merged occurs 40 times or more
word-level -n 50 → 6 tokens, not 50: there are no more
word-level →
""",
    "args said",
)
def test_sizes_that_are_not_reached(args: str, said: str) -> None:
    found = trained(f"corpus -o out --model {args}").err
    assert found == (f"compat-bpe: {said.strip()}\n" if said else "")


# Models of SentencePiece.

TEXTS = (
    "the dog 1999 and the cat 27\n" * 30 + UNEVEN.lower(),
    "世界你好\r\n" * 3 + "\n <x> " + "e" * 200 + "ж",
)


def check_model(path: str, *args: Any, **options: Any) -> tuple[bytes, bytes]:
    """Check that a model and its list are those that the library learns; return them."""
    options["hard_vocab_limit"] = False
    made = train(TEXTS, SentencePieceSettings(*args, **options))
    model, vocab = save_trained_sentencepiece(made, "expected")
    expected = Path(model).read_bytes(), Path(vocab).read_bytes()
    files = Path(path, f"{path}.model"), Path(path, f"{path}.vocab")
    assert tuple(file.read_bytes() for file in files) == expected
    return expected


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_the_files_of_sentencepiece(kind: str) -> None:
    done = trained(f"texts --model sentencepiece-{kind} -n 50 -o out")
    assert done.err == ""
    first, second = done.out.splitlines()
    assert first.startswith("50 tokens, from 2 documents of ")
    assert second == "out: out.model, out.vocab, manifest.json"
    check_model("out", 50, kind)
    assert load("out").n_vocab == 50
    manifest = read_json("out/manifest.json")
    assert manifest["settings"]["model"] == f"sentencepiece-{kind}"
    size = sum(len(text.encode()) for text in TEXTS)
    assert manifest["metrics"] == {"bytes": size, "lines": 35, "skipped_lines": 0}


PIECES = {"unk_piece": "<u>", "bos_piece": "<b>", "eos_piece": "<e>", "pad_piece": "<p>"}
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("--character-coverage 0.98", {"character_coverage": 0.98}),
    ("--byte-fallback", {"byte_fallback": True}),
    ("--user-symbols <x> --user-symbols do", {"user_defined_symbols": ["<x>", "do"]}),
    ("--special <x>", {"control_symbols": ["<x>"]}),
    ("--unk <u> --bos <b> --eos <e> --pad <p>", {**PIECES, "pad_id": 3}),
    ("--split-digits", {"split_digits": True}),
    ("--max-sentence-length 100", {"max_sentence_length": 100}),
    ("--max-piece-length 2", {"max_sentencepiece_length": 2}),
    ("--shrinking-factor 0.5", {"shrinking_factor": 0.5}),
    ("--sub-iterations 7", {"num_sub_iterations": 7}),
    ("--seed-size 40", {"seed_sentencepiece_size": 40}),
]


@pytest.mark.parametrize(("args", "options"), [*OPTIONS[:5], *starmap(sweep, OPTIONS[5:])])
def test_each_option_of_sentencepiece(args: str, options: dict[str, Any]) -> None:
    size = 310 if "byte_fallback" in options else 45
    trained(f"texts --model sentencepiece-unigram -n {size} -o out {args}")
    trained(f"texts --model sentencepiece-unigram -n {size} -o plain")
    found = check_model("out", size, "unigram", **options)
    assert found[0] != check_model("plain", size, "unigram")[0]


def test_a_sample_of_lines_and_what_is_left_out_is_said() -> None:
    write({"texts/more.txt": "".join(f"{number} lines\n" for number in range(300))})
    args = "texts --model sentencepiece-unigram -n 45 --input-sentence-size"
    for name, size in (("sample", 101), ("whole", 0)):
        trained(f"{args} {size} -o {name}")
    sample, whole = (Path(name, f"{name}.model").read_bytes() for name in ("sample", "whole"))
    assert sample != whole
    args = "texts --model sentencepiece-bpe -n 5000 --max-sentence-length 100 -o out"
    err = trained(args).err
    assert " tokens, not 5,000: there are no more; 2 lines of more than 100 bytes " in err
    assert "left out; --max-sentence-length keeps longer ones" in err


def test_like_another_model_of_sentencepiece() -> None:
    own: dict[str, Any] = {
        "byte_fallback": True,
        "remove_extra_whitespaces": False,
        "unk_surface": "?",
        "unk_id": 2,
        "bos_id": -1,
        "eos_id": 1,
        "pad_id": 0,
        "unk_piece": "<u>",
        "user_defined_symbols": ["<x>"],
        "control_symbols": ["<c>"],
        "treat_whitespace_as_suffix": True,
    }
    for kind in ("bpe", "unigram"):
        settings = SentencePieceSettings(290, kind, hard_vocab_limit=False, **own)
        save_trained_sentencepiece(train(["the cat and the dog <x>"], settings), kind)
        trained(f"texts --like {kind}.model -n 330 -o {kind}-out")
        check_model(f"{kind}-out", 330, kind, **own)
    args = "--bos <b> --special <d> --model sentencepiece-unigram"
    trained(f"texts --like bpe.model -n 330 -o out {args}")
    own.update(bos_piece="<b>", bos_id=3, control_symbols=["<c>", "<d>"])
    check_model("out", 330, "unigram", **own)
    # A role that the model has keeps its id; the piece of that name is another one.
    trained("texts --like bpe.model -n 330 -o renamed --unk <?> --eos <e> --pad <p>")
    own.update(bos_piece="<s>", bos_id=-1, control_symbols=["<c>"])
    own.update(unk_piece="<?>", eos_piece="<e>", pad_piece="<p>")
    check_model("renamed", 330, **own)
    renamed = load("renamed")
    assert isinstance(renamed, SentencePiece)
    assert renamed.definition.texts[:4] == ["<p>", "<e>", "<?>", "<c>"]


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_the_map_has_every_piece(kind: str) -> None:
    trained(
        f"texts -o out --model sentencepiece-{kind} -n 330 --special <c> --pad <p> "
        "--format token-map --format sentencepiece --byte-fallback"
    )
    rows = Path("out/token_map.tsv").read_text("utf-8").splitlines()[1:]
    # A carriage return of the corpus is a piece, as in the reference.
    lines = Path("out/out.vocab").read_bytes().decode().rstrip("\n").replace("\r", "\\r")
    pieces = [[str(at), line.split("\t")[0]] for at, line in enumerate(lines.split("\n"))]
    assert [row.split("\t")[:2] for row in rows] == pieces
    first = ("<unk>", "<s>", "</s>", "<p>", "<c>")
    assert rows[:5] == [f"{number}\t{name}\t\t\t" for number, name in enumerate(first)]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_pieces_of_texts_are_put_together(size: int) -> None:
    texts = ["the cat\r\nthe \ud83d\ude00 hat", "", "\n\nthat\n", "a\u2028b\x0bc"]
    with SentencePieceTrainer(SentencePieceSettings(40, hard_vocab_limit=False)) as trainer:
        for text in texts:
            for start in range(0, len(text), size):
                trainer.feed(text[start : start + size], is_last=start + size >= len(text))
        trained = trainer.train()
    expected = train(texts, SentencePieceSettings(40, hard_vocab_limit=False))
    assert isinstance(trained.encoding, SentencePiece)
    assert trained.encoding.definition == expected.definition
    assert trained.lines == 4


def test_the_character_map_of_another() -> None:
    model = train(["a b"], SentencePieceSettings(6)).definition
    for name, expected in (("nmt_nfkc", "nmt_nfkc"), ("", "user_defined")):
        found = settings_like(model._replace(normalizer=NormalizerSpec(name, b"map")))
        assert (found["normalization_rule_name"], found["charsmap"]) == (expected, b"map")
