"""A manifest beside the files of a vocabulary says what they do not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import Encoding, load
from compat_bpe.encodings.published import PATTERNS
from compat_bpe.encodings.tokenizer import Tokenizer
from compat_bpe.train import Trained, Trainer, TrainingSettings
from compat_bpe.train.write import MANIFEST, write_vocabulary
from tests.cli.running import run

TEXT = "It's 12345 o'clock: THE dogs' 世界 dog3\n\n  \tend\r\n"
SPECIALS = ["<|end|>", "[PAD]"]
#: A pattern that has no name, as well.
ALL = (*PATTERNS, "deepseek", r"[a-z]+|[^a-z]")


def trained(pattern: str) -> Trained:
    settings = TrainingSettings(300, pattern=pattern, special_tokens=SPECIALS)
    with Trainer(settings, name="mine") as trainer:
        trainer.feed(TEXT * 3)
        return trainer.train()


def written(folder: Path, pattern: str) -> Encoding:
    made = trained(pattern)
    write_vocabulary(folder, made.encoding, pattern=pattern, merges=made.merges)
    return made.encoding


def ids(encoding: Encoding) -> list[int]:
    return encoding.encode(f"{TEXT}<|end|>dog[PAD]", allowed_special="all")


@pytest.mark.sweep
@pytest.mark.parametrize("pattern", ALL)
@pytest.mark.parametrize(
    "file", ["mine.tiktoken", "vocab.bpe", "encoder.json", "vocab.json", "merges.txt"]
)
def test_every_file_is_split_as_it_was_trained(tmp_path: Path, file: str, pattern: str) -> None:
    expected = written(tmp_path / "mine", pattern)
    found = load(tmp_path / "mine" / file)
    assert ids(found) == ids(expected)
    assert found.n_vocab == expected.n_vocab
    assert found.special_tokens_set == set(SPECIALS)
    # The folder alone, if that is the only file of a vocabulary in it.
    if file == "mine.tiktoken":
        for other in ("vocab.json", "encoder.json", "tokenizer.json"):
            (tmp_path / "mine" / other).unlink()
        assert ids(load(tmp_path / "mine")) == ids(expected)
        assert isinstance(found, Tokenizer) == (pattern == "deepseek")


def test_on_the_command_line(tmp_path: Path) -> None:
    expected = written(tmp_path / "mine", "o200k_base")
    path = str(tmp_path / "mine" / "mine.tiktoken")
    done = run("encode", "-e", path, stdin=TEXT.encode())
    assert (done.status, done.err) == (0, "")
    assert done.out.split() == [b"%d" % number for number in expected.encode(TEXT)]


def test_arguments_go_before_it(tmp_path: Path) -> None:
    expected = written(tmp_path / "mine", "o200k_base")
    path = tmp_path / "mine" / "mine.tiktoken"
    assert load(path, pattern="gpt2")._pat_str == PATTERNS["gpt2"]
    assert load(path, pattern="gpt2").special_tokens_set == set()
    other = load(path, special_tokens={"<x>": 1000})
    assert (other._pat_str, other.special_tokens_set) == (expected._pat_str, {"<x>"})
    assert load(path, name="x").name == "x"


@pytest.mark.parametrize(
    "change",
    [
        lambda manifest: manifest.pop("files"),
        lambda manifest: manifest["files"].pop("mine.tiktoken"),
        lambda manifest: manifest["files"].update({"mine.tiktoken": "0" * 64}),
        lambda manifest: manifest.update(files=["mine.tiktoken"]),
        lambda manifest: manifest.update(pattern=["gpt2"]),
        lambda manifest: manifest.update(special_tokens=["<x>"]),
        lambda manifest: manifest.update(special_tokens={"<x>": True}),
    ],
)
def test_a_manifest_of_something_else_is_not_believed(tmp_path: Path, change: Any) -> None:
    written(tmp_path / "mine", "gpt2")
    path = tmp_path / "mine" / MANIFEST
    manifest = json.loads(path.read_bytes())
    change(manifest)
    for content in (json.dumps(manifest), "[]", "{", "\udcff", "[" * 100_000):
        path.write_bytes(content.encode("utf-8", "surrogateescape"))
        with pytest.raises(ValueError, match="a rank file does not say how text is split"):
            load(tmp_path / "mine" / "mine.tiktoken")


def test_a_file_that_was_changed_is_not_what_it_lists(tmp_path: Path) -> None:
    written(tmp_path / "mine", "o200k_base")
    other = tmp_path / "other"
    written(other, "gpt2")
    shutil.copy(tmp_path / "mine" / MANIFEST, other)
    with pytest.raises(ValueError, match="a rank file does not say how text is split"):
        load(other / "mine.tiktoken")
    # Without a manifest, a special token that is not written <...> cannot be told.
    with pytest.raises(ValueError, match=r"'\[PAD\]' .* is not a byte, and no merge makes it"):
        load(other / "vocab.bpe")


def test_what_it_says_may_be_unknown_here(tmp_path: Path) -> None:
    written(tmp_path / "mine", "gpt2")
    path = tmp_path / "mine" / MANIFEST
    manifest = json.loads(path.read_bytes())
    for pattern, message in (
        ("gpt99", "manifest.json: unknown pattern 'gpt99'"),
        ("that of tokenizer.json", "only tokenizer.json defines how text is split; load "),
    ):
        path.write_text(json.dumps({**manifest, "pattern": pattern}))
        for file in ("mine.tiktoken", "vocab.bpe", "merges.txt"):
            with pytest.raises(ValueError, match=message):
                load(tmp_path / "mine" / file)
