"""``compat-bpe train`` with other models than byte-level BPE."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import load
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.save import save_gpt2, save_tokenizer_json
from compat_bpe.train import (
    CharacterBpeSettings,
    UnigramSettings,
    WordLevelSettings,
    WordPieceSettings,
    train,
    train_bpe,
)
from compat_bpe.train.kinds import KINDS
from tests.cli.running import Run, runner
from tests.kinds import kind_path

UNEVEN = " ".join(f"{'na' * (n % 7)}{'Ba' * (n % 4)}s{'ti' * (n % 5)}" for n in range(60))
DOGS, WORLD = "the dog and the cat\n" * 30, "世界你好\n" * 3
FILES = "token_map.tsv, tokenizer.json, tokenizer_config.json, manifest.json"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "corpus" / "en").mkdir(parents=True)
    (tmp_path / "corpus" / "en" / "a.txt").write_text(DOGS)
    (tmp_path / "corpus" / "zh.txt").write_text(WORLD, "utf-8")
    return tmp_path


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner("train", folder, monkeypatch)


def vocabulary(path: Path) -> dict[str, int]:
    found = load(path)
    assert isinstance(found, Tokenizer)
    return dict(found.definition.model.vocabulary)


def test_wordpiece(run: Run, folder: Path) -> None:
    done = run("corpus", "--model", "wordpiece", "-n", "30", "-o", "out", "--special", "[CLS]")
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines() == [
        "30 tokens, 7 of them merges, from 2 documents of 639 bytes",
        f"out: {FILES}",
    ]
    expected = train([DOGS, WORLD], WordPieceSettings(30, special_tokens=["[CLS]"]))
    assert vocabulary(folder / "out") == expected.definition.model.vocabulary
    config = json.loads((folder / "out" / "tokenizer_config.json").read_bytes())
    assert (config["unk_token"], config["pad_token"]) == ("[UNK]", None)
    rows = (folder / "out" / "token_map.tsv").read_text("utf-8").splitlines()
    assert rows[0] == "id\ttoken\tleft\tright\tfrequency"
    assert rows[1] == "0\t[UNK]\t\t\t"
    assert "\tthe\tth\t##e\t60" in "\n".join(rows)


def test_every_option_of_merges(run: Run, folder: Path) -> None:
    args = (
        *("--continuing-subword-prefix", "@", "--end-of-word-suffix", "$", "--unk", "<u>"),
        *("--initial-alphabet", "xyz", "--limit-alphabet", "9", "--min-frequency", "2"),
        *("--max-token-length", "2", "--normalizer", "nfkc", "--pre-tokenizer", "whitespace"),
        *("--post-processor", "roberta", "--decoder", "fuse", "--bos", "<s>", "--eos", "</s>"),
        *("--rule", "likelihood", "--weight", "zh=2", "--merges", "3"),
    )
    done = run("corpus", "--model", "character-bpe", "-n", "60", "-o", "out", *args)
    assert done.status == 0, done.err
    groups = {"en": [DOGS], "zh": [WORLD]}
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
    made = train(groups, settings)
    save_tokenizer_json(made, folder / "expected.json")
    found = json.loads((folder / "out" / "tokenizer.json").read_bytes())
    assert found == json.loads((folder / "expected.json").read_bytes())
    manifest = json.loads((folder / "out" / "manifest.json").read_bytes())
    assert manifest["special_tokens"] == {"<u>": 0, "<s>": 1, "</s>": 2}
    assert manifest["roles"] == {"unk": "<u>", "bos": "<s>", "eos": "</s>"}
    assert manifest["pattern"] == "that of tokenizer.json"
    assert manifest["metrics"]["merges"] == 3
    described = manifest["settings"]
    assert described["model"] == "character-bpe"
    assert described["normalizer"] == {"type": "NFKC"}
    assert (described["prefix"], described["suffix"]) == ("@", "$")
    assert described["weights"] == {"zh": 2.0}


def test_words_characters_and_bytes(run: Run, folder: Path) -> None:
    done = run("corpus", "--model", "word-level", "-o", "words", "--min-frequency", "9")
    assert done.out.splitlines()[0] == "5 tokens, from 2 documents of 639 bytes"
    expected = train([DOGS, WORLD], WordLevelSettings(min_frequency=9))
    assert vocabulary(folder / "words") == expected.definition.model.vocabulary
    assert run("corpus", "--model", "characters", "-o", "chars", "-n", "6").status == 0
    assert len(vocabulary(folder / "chars")) == 6
    assert run("corpus", "--model", "bytes", "-o", "bytes").status == 0
    assert len(vocabulary(folder / "bytes")) == 256


def test_unigram(run: Run, folder: Path) -> None:
    done = run("corpus", "--model", "unigram", "-n", "20", "-o", "out", "--special", "<s>")
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines() == ["20 tokens, from 2 documents of 639 bytes", f"out: {FILES}"]
    expected = train([DOGS, WORLD], UnigramSettings(20, special_tokens=["<s>"], min_frequency=1))
    save_tokenizer_json(expected, folder / "expected.json")
    found = json.loads((folder / "out" / "tokenizer.json").read_bytes())
    assert found == json.loads((folder / "expected.json").read_bytes())
    manifest = json.loads((folder / "out" / "manifest.json").read_bytes())
    assert manifest["roles"] == {"unk": "<unk>"}
    assert manifest["special_tokens"] == {"<unk>": 0, "<s>": 1}
    assert manifest["settings"]["max_piece_length"] == 16


@pytest.mark.parametrize(
    ("option", "value", "setting"),
    [
        ("--shrinking-factor", "0.3", {"shrinking_factor": 0.3}),
        ("--sub-iterations", "5", {"n_sub_iterations": 5}),
        ("--max-piece-length", "2", {"max_piece_length": 2}),
        ("--seed-size", "20", {"seed_size": 20}),
        ("--initial-alphabet", "xyz", {"initial_alphabet": "xyz"}),
        ("--min-frequency", "4", {"min_frequency": 4}),
        ("--unk", "<?>", {"unknown": "<?>"}),
        ("--pre-tokenizer", "whitespace", {"pre_tokenizer": "whitespace"}),
        ("--normalizer", "lowercase", {"normalizer": "lowercase"}),
    ],
)
def test_each_option_of_unigram(
    run: Run, folder: Path, option: str, value: str, setting: dict[str, Any]
) -> None:
    text = UNEVEN + DOGS + WORLD
    (folder / "text.txt").write_text(text, "utf-8")
    for name, args in (("plain", ()), ("out", (option, value))):
        done = run("text.txt", "--model", "unigram", "-n", "26", "-o", name, *args)
        assert done.status == 0, done.err
    settings: dict[str, Any] = {"min_frequency": 1, **setting}
    save_tokenizer_json(train([text], UnigramSettings(26, **settings)), folder / "expected.json")
    found = (folder / "out" / "tokenizer.json").read_bytes()
    assert json.loads(found) == json.loads((folder / "expected.json").read_bytes())
    assert found != (folder / "plain" / "tokenizer.json").read_bytes()


def test_unigram_like_another(run: Run, folder: Path) -> None:
    old = train(
        [DOGS], UnigramSettings(20, unknown="<?>", special_tokens=["<s>"], normalizer="nfkc")
    )
    save_tokenizer_json(old, folder / "old.json")
    done = run("corpus", "--like", "old.json", "-n", "25", "-o", "out")
    assert done.status == 0, done.err
    expected = train([DOGS, WORLD], UnigramSettings(25, like=old, min_frequency=1))
    save_tokenizer_json(expected, folder / "expected.json")
    found = json.loads((folder / "out" / "tokenizer.json").read_bytes())
    assert found == json.loads((folder / "expected.json").read_bytes())
    assert found["normalizer"] == {"type": "NFKC"}


@pytest.mark.parametrize("model", [*KINDS])
def test_validation_with_every_model(run: Run, folder: Path, model: str) -> None:
    for number in range(20):
        (folder / "corpus" / f"{number}.txt").write_text(f"{DOGS} number {number}")
    size = {"bpe": ("-n", "280"), "bytes": ()}.get(model, ("-n", "40"))
    done = run("corpus", "--model", model, *size, "-o", "out", "--validation", "0.3")
    assert done.status == 0, done.err
    assert "Held-out text (" in done.out
    assert "tokens per character" in done.out
    assert (folder / "out" / "validation.jsonl").stat().st_size > 0


def test_the_bytes_of_another_are_left_out_unless_they_are_asked_for(
    run: Run, folder: Path
) -> None:
    like = ("corpus", "--like", kind_path("characters_byte_fallback"), "-n", "400", "-o")
    done = run(*like, "out")
    assert done.status == 0
    assert "the 256 tokens of bytes of --like are left out, as in transformers" in done.err
    assert "<0x00>" not in vocabulary(folder / "out")
    done = run(*like, "bytes", "--byte-fallback")
    assert (done.status, "left out" in done.err) == (0, False)
    assert "<0x00>" in vocabulary(folder / "bytes")
    enc = load(folder / "bytes")
    assert enc.decode(enc.encode("世🙂\x01")) == "世🙂\x01"


def test_like_another(run: Run, folder: Path) -> None:
    old = train([DOGS], WordPieceSettings(30, prefix="@", unknown="<?>", special_tokens=["<s>"]))
    save_tokenizer_json(old, folder / "old.json")
    done = run("corpus", "--like", "old.json", "-n", "50", "-o", "out")
    assert done.status == 0, done.err
    expected = train([DOGS, WORLD], WordPieceSettings(50, like=old, special_tokens=["<s>"]))
    assert vocabulary(folder / "out") == expected.definition.model.vocabulary
    manifest = json.loads((folder / "out" / "manifest.json").read_bytes())
    assert manifest["settings"]["like"] == "old.json"
    assert manifest["roles"] == {"unk": "<?>"}
    done = run("corpus", "--like", "old.json", "--model", "word-level", "-o", "words")
    assert vocabulary(folder / "words").keys() >= {"<unk>", "<?>", "<s>", "the", "世"}
    # Byte-level BPE, in steps of its own.
    save_tokenizer_json(train_bpe([DOGS], 280, special_tokens=["<e>"]), folder / "bpe.json")
    for name, args in (("same", ()), ("named", ("--model", "bpe"))):
        assert run("corpus", "--like", "bpe.json", "-n", "290", "-o", name, *args).status == 0
        like = load(folder / "bpe.json")
        assert isinstance(like, Tokenizer)
        again = train([DOGS, WORLD], CharacterBpeSettings(290, like=like))
        assert vocabulary(folder / name) == again.definition.model.vocabulary


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ("--model", "wordpiece", "-n", "9", "--pattern", "gpt2"),
            "--pattern is not for --model wordpiece, only for bpe.",
        ),
        (
            ("-n", "300", "--limit-alphabet", "9"),
            "--limit-alphabet is not for --model bpe, only for wordpiece, character-bpe.",
        ),
        (
            ("--model", "word-level", "--merges", "3"),
            "--merges is not for --model word-level, only for bpe, wordpiece, character-bpe.",
        ),
        (
            ("-n", "300", "--continuing-subword-prefix", "@"),
            "--continuing-subword-prefix is not for --model bpe, only for",
        ),
        (
            ("-n", "300", "--normalizer", "bert"),
            "--normalizer is not for --model bpe, only for wordpiece, character-bpe, unigram,",
        ),
        (
            ("--model", "wordpiece", "-n", "9", "--end-of-word-suffix", "@"),
            "a WordPiece model has no mark for the end of a word",
        ),
        (("--model", "bytes", "-n", "9"), "vocab_size is not for bytes: all 256 of them"),
        (("--model", "wordpiece"), "Give --vocab-size, --merges or --patience."),
        (
            ("--model", "wordpiece", "-n", "9", "--post-processor", "bert"),
            "the post-processor needs '[CLS]': name it as a special token",
        ),
        (("-n", "300", "--like", "encoder.json"), "has no steps that a tokenizer.json describes"),
        (("-n", "300", "--like", "missing.json"), "missing.json: No such file or directory"),
        (("--model", "unigram"), "Give --vocab-size."),
        (
            ("--model", "wordpiece", "-n", "9", "--max-piece-length", "3"),
            "--max-piece-length is not for --model wordpiece, only for unigram, sentencepiece-bpe,",
        ),
        (
            ("-n", "300", "--sub-iterations", "3"),
            "--sub-iterations is not for --model bpe, only for unigram, sentencepiece-unigram.",
        ),
        (
            ("--model", "unigram", "-n", "30", "--max-piece-length", "2000"),
            "'--max-piece-length': 2000 is not in the range 1<=x<=1024",
        ),
        (
            ("-n", "300", "--byte-fallback"),
            "--byte-fallback is not for --model bpe, only for character-bpe, sentencepiece-bpe, "
            "sentencepiece-unigram.",
        ),
    ],
)
def test_what_is_refused(run: Run, folder: Path, args: tuple[str, ...], message: str) -> None:
    save_gpt2(train_bpe([DOGS], 260), folder / "encoder.json", folder / "vocab.bpe")
    done = run("corpus", "-o", "out", *args)
    assert done.status == 2
    assert message in " ".join(done.err.split())
    assert not (folder / "out").exists()


def test_a_tokenizer_to_be_like_is_not_overwritten(run: Run, folder: Path) -> None:
    assert run("corpus", "--model", "wordpiece", "-n", "30", "-o", "out").status == 0
    before = (folder / "out" / "tokenizer.json").read_bytes()
    done = run("corpus", "--like", "out/tokenizer.json", "-n", "40", "-o", "out", "--force")
    assert done.status != 0
    assert (folder / "out" / "tokenizer.json").read_bytes() == before


def test_sizes_that_are_not_reached(run: Run) -> None:
    def note(*args: str) -> str:
        done = run("corpus", *args)
        assert done.status == 0
        return done.err

    assert note("--model", "wordpiece", "-n", "5", "-o", "a") == (
        "compat-bpe: 22 tokens, not 5: special tokens and characters are as many\n"
    )
    assert note("--model", "wordpiece", "-n", "5000", "-o", "b") == (
        "compat-bpe: 30 tokens, not 5,000: no pair is left to merge\n"
    )
    assert note("--model", "wordpiece", "--merges", "50", "--min-frequency", "40", "-o", "c") == (
        "compat-bpe: 2 merges, not 50: no pair that may be merged occurs 40 times or more\n"
    )
    assert note("--model", "word-level", "-n", "50", "-o", "d") == (
        "compat-bpe: 6 tokens, not 50: there are no more\n"
    )
    assert note("--model", "word-level", "-o", "e") == ""
