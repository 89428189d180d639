"""``compat-bpe extend``: what it writes can be loaded, and says what is new."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from compat_bpe import load
from compat_bpe.save import save_tokenizer_json
from compat_bpe.train import (
    SentencePieceSettings,
    WordPieceSettings,
    train,
    train_bpe,
)
from compat_bpe.train.extend import extend
from compat_bpe.train.sentencepiece.trainer import save_trained_sentencepiece
from tests.cli.running import FIXTURES, TextResult, command, read_json, sweep, write

SMALL = load(FIXTURES / "gpt2_small")
TEXT = "the qubit and the qubits\nribosomes, polyribosomes, ribosomes\n" * 2


@pytest.fixture(autouse=True)
def _files() -> None:
    write({"text.txt": TEXT, "terms.txt": "qubit\n\nriboswitch\n"})
    save_tokenizer_json(SMALL, "small.json")


def extended(line: str, stdin: str = "", status: int = 0, old: str = "small.json") -> TextResult:
    done = command(f"extend -e {old} {line}", stdin=stdin)
    assert done.status == status, done.err
    return done


def test_every_format_has_the_new_tokens() -> None:
    old = str(FIXTURES / "gpt2_small")
    done = extended("-n 3 --terms terms.txt -o new text.txt", old=old)
    expected = extend(SMALL, [TEXT], 3, terms=["qubit", "riboswitch"])
    merges, changed = expected.merges, expected.changes
    assert changed.after < changed.before
    share = f"{changed.after / changed.before - 1:+.2%}"
    assert (done.err, done.out) == (
        "",
        f"new tokens: {len(merges)}, ids 385 to {merges[-1].id}\n"
        f"tokens of the corpus: {changed.before} before, {changed.after} after ({share})\n"
        "written to new: changes.json, encoder.json, new.tiktoken, token_map.tsv, "
        "tokenizer.json, tokenizer_config.json, vocab.bpe, manifest.json\n",
    )
    text = TEXT + " riboswitch"
    ids = expected.encoding.encode(text)
    for file in ("tokenizer.json", "vocab.bpe"):
        assert load(f"new/{file}").encode(text) == ids
    assert load("new/new.tiktoken", pattern="gpt2").encode(text) == ids
    changes = read_json("new/changes.json")
    assert [(one["id"], one["token"], one["frequency"]) for one in changes["tokens"]] == [
        (merge.id, (merge.left + merge.right).decode(), merge.frequency) for merge in merges
    ]
    assert changes["terms"] == [term._asdict() for term in expected.terms]
    assert changes["chunks"][0]["chunk"] == changed.chunks[0].chunk.decode()
    assert (changes["tokens_before"], changes["tokens_after"]) == changed[:2]
    manifest = read_json("new/manifest.json")
    assert (manifest["extends"], manifest["pattern"]) == ("gpt2_small", "gpt2")


def test_a_tokenizer_from_standard_input() -> None:
    done = extended(
        "-n 2 -o new --name mine --format tokenizer-json --format tiktoken", "aaaa bbbb aaaa"
    )
    assert done.err == ""
    assert "mine.tiktoken, tokenizer.json, tokenizer_config.json, manifest.json" in done.out
    old, new = load("small.json"), load("new")
    assert new.n_vocab == old.n_vocab + 2
    assert len(new.encode("aaaa")) < len(old.encode("aaaa"))
    ids = old.encode("the<|endoftext|>", allowed_special="all")
    assert new.encode("the<|endoftext|>", allowed_special="all") == ids


def test_a_format_that_cannot_hold_it_is_left_out() -> None:
    file = read_json("small.json")
    file["model"]["ignore_merges"] = False
    # Two ways to one token, of which merging by rank knows one.
    file["model"]["vocab"].update({"the": 1000, "th": 1001})
    file["model"]["merges"] += [["t", "he"], ["t", "h"], ["th", "e"]]
    write({"small.json": json.dumps(file), "terms.txt": "zzz\n"})
    done = extended("--terms terms.txt -o new")
    assert done.err.startswith("compat-bpe: tiktoken is not written: ")
    assert os.path.exists("new/tokenizer.json")
    assert not list(Path("new").glob("*.tiktoken"))
    extended("--terms terms.txt -o other --format tiktoken", status=2)
    assert not os.path.exists("other")


def test_what_is_printed_as_json_is_the_manifest(tmp_path: Path) -> None:
    out = extended("--terms terms.txt -o new --json text.txt").out
    assert out == Path("new/manifest.json").read_text()
    found = json.loads(out)
    assert (found["extends"], found["name"]) == (tmp_path.name, "new")
    assert found["metrics"]["tokens_after"] < found["metrics"]["tokens_before"]
    assert found["metrics"]["new_tokens"] == load("new").n_vocab - 385


def test_a_folder_that_exists() -> None:
    args = "--terms terms.txt --force -o . --format"
    extended(f"{args} token-map")
    assert os.path.exists("token_map.tsv")
    before = set(os.listdir())
    extended(f"{args} tiktoken --name new")
    # What the earlier manifest lists and is not written again is gone; other files stay.
    assert set(os.listdir()) == before - {"token_map.tsv"} | {"new.tiktoken"}


def test_what_cannot_be_read_is_named_and_recorded() -> None:
    done = extended("-n 1 -o new missing.txt text.txt", status=2)
    assert done.err == "compat-bpe: missing.txt: No such file or directory\n"
    assert done.out.startswith("new tokens: 1, id 385\n")
    assert read_json("new/manifest.json")["corpus"] == {
        "paths": ["missing.txt", "text.txt"],
        "errors": [{"path": "missing.txt", "error": "No such file or directory"}],
        "skipped": [],
    }


def save_deepseek(path: str, *more: dict[str, object]) -> None:
    """Save a small vocabulary that is split as DeepSeek's are, with some more added tokens."""
    save_tokenizer_json(train_bpe([TEXT], 300, pattern="deepseek", special_tokens=["<|x|>"]), path)
    file = read_json(path)
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    file["added_tokens"] += [{"id": 300 + n, **flags, **token} for n, token in enumerate(more)]
    write({path: json.dumps(file)})


@pytest.mark.parametrize("theirs", ["theirs.json", sweep("deepseek_v3")])
def test_a_rank_file_alone_is_not_loaded_if_it_does_not_say_all(theirs: str) -> None:
    # DeepSeek's added tokens are not all special; those trained with its steps are.
    save_deepseek("theirs.json", {"content": "<think>"})
    save_deepseek("own.json")
    for old, name, expected in (
        (theirs, "theirs", "that of tokenizer.json"),
        ("own.json", "own", "deepseek"),
    ):
        extended(f"-n 1 -o {name} text.txt", old=old)
        assert read_json(f"{name}/manifest.json")["pattern"] == expected
    text = f"{TEXT} <|x|> ribosomes"
    found = load("own/own.tiktoken").encode(text, allowed_special="all")
    assert found == load("own").encode(text, allowed_special="all")
    with pytest.raises(ValueError, match=r"only tokenizer\.json defines how text is split"):
        load("theirs/theirs.tiktoken")


def test_the_configuration_has_the_added_tokens_as_they_are() -> None:
    more = [{"content": "<a>", "lstrip": True}, {"content": "<b>", "rstrip": True, "special": True}]
    save_deepseek("old.json", *more, {"content": "<c>", "normalized": True})
    extended("-n 1 -o new text.txt", old="old.json")
    config = read_json("new/tokenizer_config.json")
    listed = read_json("new/tokenizer.json")["added_tokens"]
    expected = {str(token.pop("id")): token for token in listed}
    assert len(expected) == 4
    assert config["added_tokens_decoder"] == expected
    assert config["tokenizer_class"] == "PreTrainedTokenizerFast"


def test_a_term_that_is_split_is_named() -> None:
    write({"terms.txt": "type 2\nqubit\n"})
    done = extended("--terms terms.txt --no-space -o new", status=2)
    split = "'type 2' cannot be one token: it is split into 'type', ' 2'"
    assert done.err == f"compat-bpe: terms.txt: {split}\n"
    assert done.out.splitlines()[0] == "new tokens: 3, ids 385 to 387"
    assert load("new").encode("qubit") == [387]


def test_a_term_is_a_line_as_text_files_have_it() -> None:
    """Form feeds, separators of lines and other such characters do not end a line."""
    terms = [f"xy{char}zz" for char in "\v\f\x1c\x1d\x1e\x85\u2028\u2029"]
    write({"terms.txt": "\r\n".join(["", *terms, "qubit\r", "xyxy\n"])})
    result = command("extend -e small.json --terms terms.txt --no-space -o new")
    assert result.status in (0, 2)
    found = read_json("new/changes.json")["terms"]
    assert [term["text"] for term in found] == [*terms, "qubit", "xyxy"]


def test_less_may_be_learned_than_asked_for() -> None:
    done = extended("-n 9 -o new", "xy xyz")
    assert done.out.splitlines()[1] == "tokens of the corpus: 6 before, 4 after (-33.33%)"
    why = "no pair that may be merged occurs 2 times or more"
    assert done.err == f"compat-bpe: 1 token learned, not 9: {why}\n"


def test_another_kind() -> None:
    old = train([TEXT], WordPieceSettings(num_merges=2, special_tokens=["[CLS]"]))
    save_tokenizer_json(old, "old.json")
    done = extended("-n 3 --terms terms.txt -o new text.txt", old="old.json")
    expected = extend(old, [TEXT], 3, terms=["qubit", "riboswitch"])
    assert len(expected.tokens) == 5
    first, _, last = done.out.splitlines()
    assert first == f"new tokens: 5, ids {old.n_vocab} to {old.n_vocab + 4}"
    assert last == (
        "written to new: changes.json, token_map.tsv, tokenizer.json, tokenizer_config.json, "
        "manifest.json"
    )
    new = load("new")
    assert new.encode(TEXT) == expected.encoding.encode(TEXT)
    changes = read_json("new/changes.json")
    tokens = [token.decode() for token in expected.tokens]
    assert [token["token"] for token in changes["tokens"]] == tokens
    assert changes["tokens_after"] == new.count(TEXT)
    done = extended("-n 99 -o all text.txt", old="old.json")
    assert done.err.split(": ")[-1] == "nothing else occurs 2 times or more\n"


def test_a_kind_that_is_not_extended() -> None:
    """Others are in test_every_kind.py."""
    save_trained_sentencepiece(train(["hug pug"], SentencePieceSettings(10)), "spm")
    done = extended("-n 3 -o new text.txt", status=2, old="spm.model")
    assert "is a model of SentencePiece, which cannot be extended: its pieces and" in done.err
    assert not os.path.exists("new")
