"""``compat-bpe extend``: what it writes can be loaded, and says what is new."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compat_bpe import load
from compat_bpe.save import save_tokenizer_json
from compat_bpe.train.extend import extend
from tests.cli.in_process import Run, runner

SMALL = Path(__file__).parents[3] / "fixtures" / "gpt2_small"
TEXT = "the qubit and the qubits\nribosomes, polyribosomes, ribosomes\n" * 2


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    (tmp_path / "text.txt").write_text(TEXT)
    (tmp_path / "terms.txt").write_text("qubit\n\nriboswitch\n")
    save_tokenizer_json(load(SMALL), tmp_path / "small.json")
    return runner("extend", tmp_path, monkeypatch, capfd)


def test_every_format_has_the_new_tokens(run: Run, tmp_path: Path) -> None:
    args = ("-n", "3", "--terms", "terms.txt", "-o", "new", "text.txt")
    status, out, err = run("-e", str(SMALL), *args)
    expected = extend(load(SMALL), [TEXT], 3, terms=["qubit", "riboswitch"])
    merges, changed = expected.merges, expected.changes
    assert changed.after < changed.before
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        f"new tokens: {len(merges)}, ids 385 to {merges[-1].id}",
        f"tokens of the text: {changed.before} before, {changed.after} after "
        f"({changed.after / changed.before - 1:+.2%})",
        "written to new: changes.json, encoder.json, new.tiktoken, token_map.tsv, "
        "tokenizer.json, vocab.bpe, manifest.json",
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
    assert "mine.tiktoken, tokenizer.json, manifest.json" in out
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


def test_a_term_that_is_split_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "terms.txt").write_text("type 2\nqubit\n")
    status, out, err = run("-e", "small.json", "--terms", "terms.txt", "--no-space", "-o", "new")
    assert (status, err) == (
        2,
        "compat-bpe: terms.txt: 'type 2' cannot be one token: it is split into 'type', ' 2'\n",
    )
    assert out.splitlines()[0] == "new tokens: 3, ids 385 to 387"
    assert load(tmp_path / "new").encode("qubit") == [387]


def test_less_may_be_learned_than_asked_for(run: Run) -> None:
    status, out, err = run("-e", "small.json", "-n", "9", "-o", "new", stdin=b"xy xyz")
    assert status == 0
    assert out.splitlines()[1] == "tokens of the text: 6 before, 4 after (-33.33%)"
    assert err == (
        "compat-bpe: 1 tokens learned, not 9: no two tokens that may be merged stand together "
        "2 times or more\n"
    )


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("-o", "new"), "Error: say what to add: -n NUMBER, --terms FILE, or both.\n"),
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
