"""``compat-bpe train`` with models of SentencePiece."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import load
from compat_bpe.formats.sentencepiece import NormalizerSpec
from compat_bpe.save import save_tokenizer_json
from compat_bpe.tokenizer import SentencePiece
from compat_bpe.train import (
    SentencePieceSettings,
    WordPieceSettings,
    save_trained_sentencepiece,
    train,
)
from compat_bpe.train.sentencepiece.settings import settings_like
from compat_bpe.train.sentencepiece.trainer import SentencePieceTrainer
from tests.cli.running import Run, runner

TEXTS = (
    "the dog 1999 and the cat 27\n" * 30
    + " ".join(f"{'na' * (n % 7)}{'ba' * (n % 4)}s{'ti' * (n % 5)}" for n in range(60)),
    "世界你好\r\n" * 3 + "\n <x> " + "e" * 200 + "ж",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "corpus").mkdir()
    for name, text in zip("ab", TEXTS):
        (tmp_path / "corpus" / f"{name}.txt").write_bytes(text.encode())
    return tmp_path


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner("train", folder, monkeypatch)


def expected(folder: Path, *args: Any, **options: Any) -> tuple[bytes, bytes]:
    options["hard_vocab_limit"] = False
    made = train(TEXTS, SentencePieceSettings(*args, **options))
    model, vocab = save_trained_sentencepiece(made, folder / "expected")
    return Path(model).read_bytes(), Path(vocab).read_bytes()


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_the_files(run: Run, folder: Path, kind: str) -> None:
    done = run("corpus", "--model", f"sentencepiece-{kind}", "-n", "50", "-o", "out")
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines()[0].startswith("50 tokens, from 2 documents of ")
    assert done.out.splitlines()[1:] == ["out: out.model, out.vocab, manifest.json"]
    found = tuple((folder / "out" / f"out.{end}").read_bytes() for end in ("model", "vocab"))
    assert found == expected(folder, 50, kind)
    assert load(folder / "out").n_vocab == 50
    manifest = json.loads((folder / "out" / "manifest.json").read_bytes())
    assert manifest["settings"]["model"] == f"sentencepiece-{kind}"
    assert manifest["metrics"] == {
        "bytes": sum(len(text.encode()) for text in TEXTS),
        "lines": 35,
        "skipped_lines": 0,
    }


@pytest.mark.parametrize(
    ("args", "options"),
    [
        (("--character-coverage", "0.98"), {"character_coverage": 0.98}),
        (("--byte-fallback",), {"byte_fallback": True}),
        pytest.param(*(("--split-digits",), {"split_digits": True}), marks=pytest.mark.sweep),
        (
            ("--user-symbols", "<x>", "--user-symbols", "do"),
            {"user_defined_symbols": ["<x>", "do"]},
        ),
        (("--special", "<x>"), {"control_symbols": ["<x>"]}),
        pytest.param(
            *(("--max-sentence-length", "100"), {"max_sentence_length": 100}),
            marks=pytest.mark.sweep,
        ),
        pytest.param(
            *(("--max-piece-length", "2"), {"max_sentencepiece_length": 2}), marks=pytest.mark.sweep
        ),
        pytest.param(
            *(("--shrinking-factor", "0.5"), {"shrinking_factor": 0.5}), marks=pytest.mark.sweep
        ),
        pytest.param(
            *(("--sub-iterations", "7"), {"num_sub_iterations": 7}), marks=pytest.mark.sweep
        ),
        pytest.param(
            *(("--seed-size", "40"), {"seed_sentencepiece_size": 40}), marks=pytest.mark.sweep
        ),
        (
            ("--unk", "<u>", "--bos", "<b>", "--eos", "<e>", "--pad", "<p>"),
            {
                "unk_piece": "<u>",
                "bos_piece": "<b>",
                "eos_piece": "<e>",
                "pad_piece": "<p>",
                "pad_id": 3,
            },
        ),
    ],
)
def test_each_option(
    run: Run, folder: Path, args: tuple[str, ...], options: dict[str, Any]
) -> None:
    size = 310 if "byte_fallback" in options else 45
    done = run("corpus", "--model", "sentencepiece-unigram", "-n", f"{size}", "-o", "out", *args)
    assert done.status == 0, done.err
    found = (folder / "out" / "out.model").read_bytes()
    assert found == expected(folder, size, "unigram", **options)[0]
    assert found != expected(folder, size, "unigram")[0]


def test_a_sample_of_lines(run: Run, folder: Path) -> None:
    lines = "".join(f"{number} lines\n" for number in range(300))
    (folder / "corpus" / "more.txt").write_text(lines, "utf-8")
    args = ("corpus", "--model", "sentencepiece-unigram", "-n", "45", "--input-sentence-size")
    assert run(*args, "101", "-o", "sample").status == 0
    assert run(*args, "0", "-o", "whole").status == 0
    sample, whole = (folder / name / f"{name}.model" for name in ("sample", "whole"))
    assert sample.read_bytes() != whole.read_bytes()
    assert "must be 0 or more than 100" in run(*args, "100", "-o", "few").err


def test_what_is_left_out_or_missing_is_said(run: Run) -> None:
    args = ("corpus", "--model", "sentencepiece-bpe", "-n", "5000", "--max-sentence-length", "100")
    done = run(*args, "-o", "out")
    assert done.status == 0
    assert " tokens, not 5,000: there are no more; 2 lines of more than 100 bytes " in done.err
    assert "left out; --max-sentence-length takes longer ones" in done.err


def test_like_another(run: Run, folder: Path) -> None:
    own: dict[str, Any] = {
        "byte_fallback": True,
        "user_defined_symbols": ["<x>"],
        "control_symbols": ["<c>"],
        "unk_id": 2,
        "bos_id": -1,
        "eos_id": 1,
        "pad_id": 0,
        "unk_piece": "<u>",
        "remove_extra_whitespaces": False,
        "treat_whitespace_as_suffix": True,
        "unk_surface": "?",
    }
    for kind in ("bpe", "unigram"):
        old = train(
            ["the cat and the dog <x>"],
            SentencePieceSettings(290, kind, hard_vocab_limit=False, **own),
        )
        save_trained_sentencepiece(old, folder / kind)
        done = run("corpus", "--like", f"{kind}.model", "-n", "330", "-o", f"{kind}-out")
        assert done.status == 0, done.err
        found = (folder / f"{kind}-out" / f"{kind}-out.model").read_bytes()
        assert found == expected(folder, 330, kind, **own)[0]
    args = ("--bos", "<b>", "--special", "<d>", "--model", "sentencepiece-unigram")
    done = run("corpus", "--like", "bpe.model", "-n", "330", "-o", "out", *args)
    assert done.status == 0, done.err
    own.update(bos_piece="<b>", bos_id=3, control_symbols=["<c>", "<d>"])
    found = (folder / "out" / "out.model").read_bytes()
    assert found == expected(folder, 330, "unigram", **own)[0]
    # A role that the model has keeps its id; the piece of that name is another one.
    args = ("--unk", "<?>", "--eos", "<e>", "--pad", "<p>")
    done = run("corpus", "--like", "bpe.model", "-n", "330", "-o", "renamed", *args)
    assert done.status == 0, done.err
    own.update(bos_piece="<s>", bos_id=-1, control_symbols=["<c>"])
    own.update(unk_piece="<?>", eos_piece="<e>", pad_piece="<p>")
    found = (folder / "renamed" / "renamed.model").read_bytes()
    assert found == expected(folder, 330, **own)[0]
    renamed = load(folder / "renamed")
    assert isinstance(renamed, SentencePiece)
    assert renamed.definition.texts[:4] == ["<p>", "<e>", "<?>", "<c>"]


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_the_map_has_every_piece(run: Run, folder: Path, kind: str) -> None:
    args = ("--model", f"sentencepiece-{kind}", "-n", "330", "--special", "<c>", "--pad", "<p>")
    formats = ("--format", "token-map", "--format", "sentencepiece", "--byte-fallback")
    assert run("corpus", "-o", "out", *args, *formats).status == 0
    rows = (folder / "out" / "token_map.tsv").read_text("utf-8").splitlines()[1:]
    # A carriage return of the corpus is a piece, as in the reference.
    lines = (folder / "out" / "out.vocab").read_bytes().decode().rstrip("\n").split("\n")
    assert [row.split("\t")[:2] for row in rows] == [
        [str(number), line.split("\t")[0].replace("\r", "\\r")] for number, line in enumerate(lines)
    ]
    assert rows[:5] == [f"{number}\t{name}\t\t\t" for number, name in enumerate(FIRST)]


FIRST = ("<unk>", "<s>", "</s>", "<p>", "<c>")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--model", "sentencepiece-bpe"), "Give --vocab-size."),
        (
            ("--model", "sentencepiece-bpe", "-n", "90", "--user-symbols", ""),
            "the symbol '' is no text",
        ),
        (
            ("--model", "sentencepiece-bpe", "-n", "90", "--seed-size", "3"),
            "--seed-size is not for --model sentencepiece-bpe, only for unigram, "
            "sentencepiece-unigram.",
        ),
        (
            ("--model", "sentencepiece-bpe", "-n", "90", "--weight", "a=2"),
            "--weight is not for --model sentencepiece-bpe, only for bpe,",
        ),
        (
            ("--model", "sentencepiece-unigram", "-n", "90", "--shrinking-factor", "0.1"),
            "shrinking_factor is 0.1; it must be 0.5 to 0.95",
        ),
        (
            ("--model", "sentencepiece-bpe", "-n", "90", "--like", "wordpiece.json"),
            "--like: wordpiece.json is no model of SentencePiece, as sentencepiece-bpe needs",
        ),
        (("--like", "word.model", "-n", "90"), "models of words and characters are trained in"),
        (
            ("--like", "word.model", "--model", "wordpiece", "-n", "90"),
            "has no steps that a tokenizer.json describes",
        ),
        (("--model", "sentencepiece-bpe", "-n", "9"), "raise it, or lower character_coverage"),
        (("-n", "300", "--format", "sentencepiece"), "is no model of SentencePiece"),
    ],
)
def test_what_is_refused(run: Run, folder: Path, args: tuple[str, ...], message: str) -> None:
    save_tokenizer_json(train(["a b"], WordPieceSettings(9)), folder / "wordpiece.json")
    words = train(["a b"], SentencePieceSettings(5, "word", hard_vocab_limit=False))
    save_trained_sentencepiece(words, folder / "word.model".rpartition(".")[0])
    done = run("corpus", "-o", "out", *args)
    assert done.status == 2
    assert message in " ".join(done.err.split())
    assert not (folder / "out").exists()


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
