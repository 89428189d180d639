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
    UnigramSettings,
    WordPieceSettings,
    train,
    train_bpe,
)
from compat_bpe.train.extend import extend
from compat_bpe.train.sentencepiece.trainer import save_trained_sentencepiece
from tests.cli.running import Run, runner

SMALL = Path(__file__).parents[3] / "fixtures" / "gpt2_small"
TEXT = "the qubit and the qubits\nribosomes, polyribosomes, ribosomes\n" * 2


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    (tmp_path / "text.txt").write_text(TEXT)
    (tmp_path / "terms.txt").write_text("qubit\n\nriboswitch\n")
    save_tokenizer_json(load(SMALL), tmp_path / "small.json")
    return runner("extend", tmp_path, monkeypatch)


def test_every_format_has_the_new_tokens(run: Run, tmp_path: Path) -> None:
    args = ("-n", "3", "--terms", "terms.txt", "-o", "new", "text.txt")
    status, out, err = run("-e", str(SMALL), *args)
    expected = extend(load(SMALL), [TEXT], 3, terms=["qubit", "riboswitch"])
    merges, changed = expected.merges, expected.changes
    assert changed.after < changed.before
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        f"new tokens: {len(merges)}, ids 385 to {merges[-1].id}",
        f"tokens of the corpus: {changed.before} before, {changed.after} after "
        f"({changed.after / changed.before - 1:+.2%})",
        "written to new: changes.json, encoder.json, new.tiktoken, token_map.tsv, "
        "tokenizer.json, tokenizer_config.json, vocab.bpe, manifest.json",
    ]
    ids = expected.encoding.encode(TEXT + " riboswitch")
    for file in ("tokenizer.json", "vocab.bpe"):
        assert load(tmp_path / "new" / file).encode(TEXT + " riboswitch") == ids
    ranked = load(tmp_path / "new" / "new.tiktoken", pattern="gpt2")
    assert ranked.encode(TEXT + " riboswitch") == ids
    changes = json.loads((tmp_path / "new" / "changes.json").read_bytes())
    assert [(one["id"], one["token"], one["frequency"]) for one in changes["tokens"]] == [
        (merge.id, (merge.left + merge.right).decode(), merge.frequency) for merge in merges
    ]
    assert changes["terms"] == [term._asdict() for term in expected.terms]
    assert changes["chunks"][0]["chunk"] == changed.chunks[0].chunk.decode()
    assert (changes["tokens_before"], changes["tokens_after"]) == changed[:2]
    manifest = json.loads((tmp_path / "new" / "manifest.json").read_bytes())
    assert (manifest["extends"], manifest["pattern"]) == ("gpt2_small", "gpt2")


def test_a_tokenizer_from_standard_input(run: Run, tmp_path: Path) -> None:
    status, out, err = run(
        *("-e", "small.json", "-n", "2", "-o", "new", "--name", "mine"),
        *("--format", "tokenizer-json", "--format", "tiktoken"),
        stdin=b"aaaa bbbb aaaa",
    )
    assert (status, err) == (0, "")
    assert "mine.tiktoken, tokenizer.json, tokenizer_config.json, manifest.json" in out
    old, new = load(tmp_path / "small.json"), load(tmp_path / "new")
    assert new.n_vocab == old.n_vocab + 2
    assert len(new.encode("aaaa")) < len(old.encode("aaaa"))
    ids = old.encode("the<|endoftext|>", allowed_special="all")
    assert new.encode("the<|endoftext|>", allowed_special="all") == ids


def test_a_format_that_cannot_hold_it_is_left_out(run: Run, tmp_path: Path) -> None:
    file = json.loads((tmp_path / "small.json").read_bytes())
    file["model"]["ignore_merges"] = False
    # Two ways to one token, of which merging by rank knows one.
    file["model"]["vocab"].update({"the": 1000, "th": 1001})
    file["model"]["merges"] += [["t", "he"], ["t", "h"], ["th", "e"]]
    (tmp_path / "small.json").write_text(json.dumps(file))
    (tmp_path / "terms.txt").write_text("zzz\n")
    status, _, err = run("-e", "small.json", "--terms", "terms.txt", "-o", "new")
    assert status == 0
    assert err.startswith("compat-bpe: tiktoken is not written: ")
    assert (tmp_path / "new" / "tokenizer.json").exists()
    assert not list((tmp_path / "new").glob("*.tiktoken"))
    args = ("-e", "small.json", "--terms", "terms.txt", "-o", "other", "--format", "tiktoken")
    assert run(*args).status == 2
    assert not (tmp_path / "other").exists()


def test_what_is_printed_as_json_is_the_manifest(run: Run, tmp_path: Path) -> None:
    out = run("-e", "small.json", "--terms", "terms.txt", "-o", "new", "--json", "text.txt").out
    assert out == (tmp_path / "new" / "manifest.json").read_text()
    found = json.loads(out)
    assert (found["extends"], found["name"]) == (tmp_path.name, "new")
    assert found["metrics"]["tokens_after"] < found["metrics"]["tokens_before"]
    assert found["metrics"]["new_tokens"] == load(tmp_path / "new").n_vocab - 385


def test_a_folder_that_exists(run: Run, tmp_path: Path) -> None:
    args = ("-e", "small.json", "--terms", "terms.txt", "--force", "-o", ".", "--format")
    assert run(*args, "token-map").status == 0
    assert (tmp_path / "token_map.tsv").exists()
    before = {path.name for path in tmp_path.iterdir()}
    assert run(*args, "tiktoken", "--name", "new").status == 0
    # What the earlier manifest lists and is not written again is gone; other files stay.
    after = {path.name for path in tmp_path.iterdir()}
    assert after == before - {"token_map.tsv"} | {"new.tiktoken"}


def test_an_input_is_not_overwritten(run: Run, tmp_path: Path) -> None:
    assert run("-e", "small.json", "-n", "1", "-o", "new", "text.txt").status == 0
    before = {path: path.read_bytes() for path in (tmp_path / "new").iterdir()}
    for path in ("new", os.path.join("new", "tokenizer.json")):
        status, _, err = run("-e", path, "-n", "1", "-o", "new", "--force", "text.txt")
        assert status == 2
        assert ": it is one of the inputs; " in err
    (tmp_path / "changes.json").write_text("term")
    status, _, err = run("-e", "small.json", "--terms", "changes.json", "-o", ".", "--force")
    assert (status, "changes.json: it is one of the inputs" in err) == (2, True)
    assert (tmp_path / "changes.json").read_text() == "term"
    assert {path: path.read_bytes() for path in (tmp_path / "new").iterdir()} == before


def test_what_cannot_be_read_is_named_and_recorded(run: Run, tmp_path: Path) -> None:
    status, out, err = run("-e", "small.json", "-n", "1", "-o", "new", "missing.txt", "text.txt")
    assert (status, err) == (2, "compat-bpe: missing.txt: No such file or directory\n")
    assert out.startswith("new tokens: 1, id 385\n")
    corpus = json.loads((tmp_path / "new" / "manifest.json").read_bytes())["corpus"]
    assert corpus == {
        "paths": ["missing.txt", "text.txt"],
        "errors": [{"path": "missing.txt", "error": "No such file or directory"}],
        "skipped": [],
    }


def save_deepseek(path: Path, *more: dict[str, object]) -> None:
    """Save a small vocabulary that is split as DeepSeek's are, with some more added tokens."""
    save_tokenizer_json(train_bpe([TEXT], 300, pattern="deepseek", special_tokens=["<|x|>"]), path)
    file = json.loads(path.read_bytes())
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    file["added_tokens"] += [{"id": 300 + n, **flags, **token} for n, token in enumerate(more)]
    path.write_text(json.dumps(file))


@pytest.mark.parametrize(
    "theirs", ["theirs.json", pytest.param("deepseek_v3", marks=pytest.mark.sweep)]
)
def test_a_rank_file_alone_is_not_loaded_if_it_does_not_say_all(
    run: Run, tmp_path: Path, theirs: str
) -> None:
    # DeepSeek's added tokens are not all special; those trained with its steps are.
    save_deepseek(tmp_path / "theirs.json", {"content": "<think>"})
    save_deepseek(tmp_path / "own.json")
    for old, name, expected in (
        (theirs, "theirs", "that of tokenizer.json"),
        ("own.json", "own", "deepseek"),
    ):
        assert run("-e", old, "-n", "1", "-o", name, "text.txt").status == 0
        manifest = json.loads((tmp_path / name / "manifest.json").read_bytes())
        assert manifest["pattern"] == expected
    text = f"{TEXT} <|x|> ribosomes"
    found = load(tmp_path / "own" / "own.tiktoken").encode(text, allowed_special="all")
    assert found == load(tmp_path / "own").encode(text, allowed_special="all")
    with pytest.raises(ValueError, match=r"only tokenizer\.json says how its text is split"):
        load(tmp_path / "theirs" / "theirs.tiktoken")


def test_the_configuration_has_the_added_tokens_as_they_are(run: Run, tmp_path: Path) -> None:
    more = [{"content": "<a>", "lstrip": True}, {"content": "<b>", "rstrip": True, "special": True}]
    save_deepseek(tmp_path / "old.json", *more, {"content": "<c>", "normalized": True})
    assert run("-e", "old.json", "-n", "1", "-o", "new", "text.txt").status == 0
    config = json.loads((tmp_path / "new" / "tokenizer_config.json").read_bytes())
    listed = json.loads((tmp_path / "new" / "tokenizer.json").read_bytes())["added_tokens"]
    expected = {str(token.pop("id")): token for token in listed}
    assert len(expected) == 4
    assert config["added_tokens_decoder"] == expected
    assert config["tokenizer_class"] == "PreTrainedTokenizerFast"


def test_a_term_that_is_split_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "terms.txt").write_text("type 2\nqubit\n")
    status, out, err = run("-e", "small.json", "--terms", "terms.txt", "--no-space", "-o", "new")
    assert (status, err) == (
        2,
        "compat-bpe: terms.txt: 'type 2' cannot be one token: it is split into 'type', ' 2'\n",
    )
    assert out.splitlines()[0] == "new tokens: 3, ids 385 to 387"
    assert load(tmp_path / "new").encode("qubit") == [387]


def test_a_term_is_a_line_as_text_files_have_it(run: Run, tmp_path: Path) -> None:
    """Form feeds, separators of lines and other such characters do not end a line."""
    terms = [f"xy{char}zz" for char in "\v\f\x1c\x1d\x1e\x85\u2028\u2029"]
    (tmp_path / "terms.txt").write_bytes("\r\n".join(["", *terms, "qubit\r", "xyxy\n"]).encode())
    result = run("-e", "small.json", "--terms", "terms.txt", "--no-space", "-o", "new")
    assert result.status in (0, 2)
    found = json.loads((tmp_path / "new" / "changes.json").read_bytes())["terms"]
    assert [term["text"] for term in found] == [*terms, "qubit", "xyxy"]


def test_less_may_be_learned_than_asked_for(run: Run) -> None:
    status, out, err = run("-e", "small.json", "-n", "9", "-o", "new", stdin=b"xy xyz")
    assert status == 0
    assert out.splitlines()[1] == "tokens of the corpus: 6 before, 4 after (-33.33%)"
    assert err == (
        "compat-bpe: 1 token learned, not 9: no pair that may be merged occurs 2 times or more\n"
    )


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("-o", "new"), "Error: Give -n, --terms or both.\n"),
        (
            ("-n", "1", "-o", "."),
            "compat-bpe: .: it exists and is not empty; --force writes into it\n",
        ),
        (("-n", "1", "-o", "no/where"), "compat-bpe: no/where: there is no folder "),
        (("-n", "1", "-o", "new", "none.txt"), "compat-bpe: none.txt: No such file or directory\n"),
        (("--terms", "none", "-o", "new"), "compat-bpe: none: No such file or directory\n"),
        (("--terms", "latin.txt", "-o", "new"), "compat-bpe: latin.txt: not UTF-8: byte 0xe9"),
        (("-n", "1", "-o", "new", "--name", "a/b"), "'a/b' cannot be the name of a file\n"),
    ],
)
def test_what_is_wrong_is_one_line_and_nothing_is_written(
    run: Run, tmp_path: Path, args: tuple[str, ...], message: str
) -> None:
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n")
    before = sorted(tmp_path.iterdir())
    status, out, err = run("-e", "gpt2", *args)
    assert (status, out) == (2, "")
    assert message in err
    assert sorted(tmp_path.iterdir()) == before


def test_another_kind(run: Run, tmp_path: Path) -> None:
    old = train([TEXT], WordPieceSettings(num_merges=2, special_tokens=["[CLS]"]))
    save_tokenizer_json(old, tmp_path / "old.json")
    args = ("-n", "3", "--terms", "terms.txt", "-o", "new", "text.txt")
    status, out, err = run("-e", "old.json", *args)
    assert (status, err) == (0, "")
    expected = extend(old, [TEXT], 3, terms=["qubit", "riboswitch"])
    assert len(expected.tokens) == 5
    assert out.splitlines()[0] == f"new tokens: 5, ids {old.n_vocab} to {old.n_vocab + 4}"
    assert out.splitlines()[2] == (
        "written to new: changes.json, token_map.tsv, tokenizer.json, tokenizer_config.json, "
        "manifest.json"
    )
    new = load(tmp_path / "new")
    assert new.encode(TEXT) == expected.encoding.encode(TEXT)
    changes = json.loads((tmp_path / "new" / "changes.json").read_bytes())
    assert [token["token"] for token in changes["tokens"]] == [
        token.decode() for token in expected.tokens
    ]
    assert changes["tokens_after"] == new.count(TEXT)
    status, out, err = run("-e", "old.json", "-n", "99", "-o", "all", "text.txt")
    assert (status, err.split(": ")[-1]) == (0, "nothing else occurs 2 times or more\n")


def test_kinds_that_are_not_extended(run: Run, tmp_path: Path) -> None:
    save_tokenizer_json(train(["hug pug hug"], UnigramSettings(20)), tmp_path / "unigram.json")
    save_trained_sentencepiece(train(["hug pug"], SentencePieceSettings(10)), tmp_path / "spm")
    for path, kind in (
        ("unigram.json", "is a Unigram model, which cannot be extended: the scores of all"),
        ("spm.model", "is a model of SentencePiece, which cannot be extended: its pieces and"),
        ("words", "'words' is a baseline, which cannot be extended: it has no vocabulary"),
    ):
        status, out, err = run("-e", path, "-n", "3", "-o", "new", "text.txt")
        assert (status, out) == (2, "")
        assert kind in err
        assert not (tmp_path / "new").exists()
