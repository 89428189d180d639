"""A training that was stopped goes on from its checkpoint: with the same result as at once."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.files import write
from compat_bpe.train import (
    CharacterBpeSettings,
    Convergence,
    Trained,
    Trainer,
    TrainingSettings,
    WordPieceSettings,
    train_bpe,
)
from compat_bpe.train.checkpoint import Checkpoint, CheckpointedTrainer
from compat_bpe.train.kind import Settings

TEXTS = [
    ("low lower lowest", "a", False),
    (" new newer newest", "a", True),
    ("wide wider widest \ud800", "b", True),
    ("low low new new", "a", True),
    ("\t\\n\n世界", "b", True),
    ("wide \udcff", "\udcff", True),
    ("new", "", True),
]
COUNTS = [("hug", 3, "a"), ("pug", 2, "b")]


@pytest.fixture(scope="module", autouse=True)
def without_disk() -> Iterator[None]:
    """Do not wait for the disk, as there are many checkpoints."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("sync_file", "sync_folder"):
            patch.setattr(write, name, lambda path: None)
        yield


class Stop(Exception):
    """What stops a run."""


def run(
    folder: Path,
    settings: Settings[Any],
    *,
    stop_after: int = 10**9,
    texts: Any = TEXTS,
    counts: Any = COUNTS,
    every: float = 0.0,
) -> Trained:
    """Train; raise ``Stop`` after so many texts, rows, or merges."""
    done = 0

    def step(number: int = 1) -> None:
        nonlocal done
        done += number
        if done > stop_after:
            raise Stop

    def rows() -> Iterator[Any]:
        for row in counts:
            step()
            yield row

    with (
        Checkpoint(folder, settings, every) as kept,
        CheckpointedTrainer(Trainer(settings), kept) as trainer,
    ):
        trainer.feed_counts(rows())
        for text, group, is_last in texts:
            step()
            trainer.feed(text, group, is_last=is_last)
        if settings.kind.convergence is not None:
            trainer.hold_out("lower newest wide")
        trained = trainer.train(step)
        kept.remove()
        return trained


def at_once(settings: Settings[Any]) -> Trained:
    with Trainer(settings) as trainer:
        trainer.feed_counts(COUNTS)
        for text, group, is_last in TEXTS:
            trainer.feed(text, group, is_last=is_last)
        if settings.kind.convergence is not None:
            trainer.hold_out("lower newest wide")
        return trainer.train()


def same(found: Trained, expected: Trained) -> bool:
    return (
        repr(found.merges) == repr(expected.merges)
        and found.encoding.core.encoder == expected.encoding.core.encoder
        and found._replace(encoding=None) == expected._replace(encoding=None)  # type: ignore[arg-type]
    )


SETTINGS: dict[str, Callable[[], Settings[Any]]] = {
    "plain": lambda: TrainingSettings(280),
    "weights": lambda: TrainingSettings(num_merges=20, weights={"b": 3.0}),
    "convergence": lambda: TrainingSettings(convergence=Convergence(2, 0.01, 2)),
    "curve": lambda: TrainingSettings(278, convergence=Convergence(None, 0.01, 3)),
    "superwords": lambda: TrainingSettings(
        275,
        start=train_bpe(["low lower newest"] * 2, 260, special_tokens=["<|end|>"]),
        pattern="superbpe",
        max_words=2,
    ),
    "wordpiece": lambda: WordPieceSettings(30),
    "characters": lambda: CharacterBpeSettings(30, weights={"a": 2.0}),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_stopped_run_goes_on(name: str, tmp_path: Path) -> None:
    settings = SETTINGS[name]()
    expected = at_once(settings)
    # In the counts, in the texts, at their end, and between merges.
    for stop_after in (1, 4, 8, 9, 14) if name in ("plain", "curve") else (4, 14):
        folder = tmp_path / f"{name} {stop_after}"
        try:
            run(folder, settings, stop_after=stop_after)
        except Stop:
            assert same(run(folder, settings), expected)
        assert not folder.exists()


@given(st.lists(st.integers(0, 12), max_size=3), st.sampled_from(["plain", "curve"]))
def test_a_run_that_is_stopped_again_and_again(stops: list[int], name: str) -> None:
    import tempfile

    settings = SETTINGS[name]()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kept"
        for stop in stops:
            try:
                run(path, settings, stop_after=stop + 7)
            except Stop:
                continue
        assert same(run(path, settings), at_once(settings))


PLAIN = TrainingSettings(280)
DAMAGED = r"state\.json: not the state of a training, or damaged"


def stopped(folder: Path, after: int, settings: Settings[Any] = PLAIN) -> None:
    with pytest.raises(Stop):
        run(folder, settings, stop_after=after)


def refused(
    folder: Path,
    reason: str,
    settings: Settings[Any] = PLAIN,
    error: type[Exception] = ValueError,
    **options: Any,
) -> None:
    with pytest.raises(error, match=reason):
        run(folder, settings, **options)


def test_what_was_counted_is_not_counted_again(tmp_path: Path) -> None:
    stopped(tmp_path, 11)
    with Trainer(PLAIN) as trainer, Checkpoint(tmp_path, PLAIN) as kept:
        assert kept.is_complete
        assert len(kept.merges) == 3
        CheckpointedTrainer(trainer, kept)
        counts = trainer.counts_so_far()
        assert counts["a"]["low"] == 2
        assert counts["a"]["hug"] == 3


@pytest.mark.parametrize("after", [5, 12])
def test_other_texts_are_refused(after: int, tmp_path: Path) -> None:
    stopped(tmp_path, after)
    other = "the checkpoint is of other texts: "
    for texts in ([*TEXTS[1:], TEXTS[0]], [("lew", "a", True), *TEXTS[1:]], TEXTS[:1]):
        refused(tmp_path, other, texts=texts)
    refused(tmp_path, other, counts=[("hug", 4, "a"), ("pug", 2, "b")])
    if after == 12:
        refused(tmp_path, "there are more texts now", texts=[*TEXTS, TEXTS[0]])
    assert same(run(tmp_path, PLAIN), at_once(PLAIN))


def test_other_settings_are_refused(tmp_path: Path) -> None:
    stopped(tmp_path, 9)
    refused(tmp_path, "vocab_size was 280 and is 281", TrainingSettings(281))
    pattern = TrainingSettings(280, pattern="cl100k_base")
    refused(tmp_path, "pattern was 'gpt2' and is 'cl100k_base'", pattern)
    refused(tmp_path, "model was 'bpe' and is 'wordpiece'", WordPieceSettings(280))
    refused(tmp_path, r"(pattern|start) was ", TrainingSettings(280, start=train_bpe(["ab"], 257)))


def test_vocabularies_are_told_apart_and_the_same_one_is_known(tmp_path: Path) -> None:
    first, other = (train_bpe([text], 257) for text in ("ab", "cd"))
    settings = TrainingSettings(280, start=first)
    stopped(tmp_path, 9, settings)
    refused(tmp_path, "start was", TrainingSettings(280, start=other))
    same_one = train_bpe(["ab"], 257)
    assert run(tmp_path, TrainingSettings(280, start=same_one)).encoding.n_vocab > 257


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    refused(tmp_path, r"the folder has other files \(mine\.txt\)", error=FileExistsError)
    refused(tmp_path / "mine.txt", "not a folder", error=FileExistsError)
    assert os.listdir(tmp_path) == ["mine.txt"]


def test_what_is_beside_a_checkpoint_stays(tmp_path: Path) -> None:
    stopped(tmp_path, 9)
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "counts-mine.tsv").mkdir()
    (tmp_path / "counts-old.tsv").write_text("left by a killed process")
    run(tmp_path, PLAIN)
    assert sorted(os.listdir(tmp_path)) == ["counts-mine.tsv", "mine.txt"]


@pytest.mark.parametrize(
    "state", [b"", b"{}", b"[1]", b"{" * 99_999, b'{"settings": 1}', b"\xff", b'{"a": NaN}']
)
def test_damaged_states_are_refused(state: bytes, tmp_path: Path) -> None:
    stopped(tmp_path, 9)
    (tmp_path / "state.json").write_bytes(state)
    refused(tmp_path, DAMAGED)


def sealed(state: dict[str, Any]) -> str:
    """Return a state as it is written, with the digest that fits it."""
    digest = sha256(json.dumps(state).encode()).hexdigest()
    return json.dumps({"sha256": digest, "state": state})


def test_no_changed_bit_is_taken(tmp_path: Path) -> None:
    stopped(tmp_path, 12)
    path = tmp_path / "state.json"
    state = path.read_bytes()
    for place in range(0, len(state), 7):
        changed = bytearray(state)
        changed[place] ^= 1
        path.write_bytes(changed)
        try:
            with Checkpoint(tmp_path, PLAIN):
                pass
        except ValueError:
            continue
        # Only what stands for the same JSON is the same state.
        assert json.loads(changed) == json.loads(state)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes and devices with names")
@pytest.mark.parametrize("kept", ["state.json", "counts-*.tsv"])
def test_only_regular_files_are_read(kept: str, tmp_path: Path) -> None:
    stopped(tmp_path, 9)
    (path,) = tmp_path.glob(kept)
    path.unlink()
    os.mkfifo(path)  # opening it would wait
    refused(tmp_path, "Not a regular file", error=OSError)
    path.unlink()
    path.symlink_to("/dev/zero")  # reading it would not end
    refused(tmp_path, "Not a regular file", error=OSError)


def test_damaged_merges_are_refused(tmp_path: Path) -> None:
    stopped(tmp_path, 12)
    path = tmp_path / "state.json"
    state = json.loads(path.read_bytes())["state"]
    for merges, message in (
        ([[1, 999, 3]], "the kept merges are damaged: no tokens 1, 999"),
        ([["a", 2, 3]], DAMAGED),
        ([[1, 2, "x"]], DAMAGED),
    ):
        path.write_text(sealed({**state, "merges": merges}))
        refused(tmp_path, message)


def test_damaged_counts_are_refused(tmp_path: Path) -> None:
    stopped(tmp_path, 9)
    (counts,) = tmp_path.glob("counts-*.tsv")
    counts.write_bytes(counts.read_bytes()[:-2])
    refused(tmp_path, r"counts-.*\.tsv: damaged")


def test_a_path_in_a_state_leads_nowhere_else(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    stopped(folder, 9)
    state = json.loads((folder / "state.json").read_bytes())["state"]
    (folder / "state.json").write_text(sealed({**state, "counts": f"../{state['counts']}"}))
    refused(folder, "not the state of a training")


def test_one_run_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "_LOCK_PATIENCE", 0.0)
    with Checkpoint(tmp_path, PLAIN), pytest.raises(OSError, match="another program"):
        Checkpoint(tmp_path, PLAIN).__enter__()
    # The lock is gone with the first, and with one that was refused.
    stopped(tmp_path, 9)
    refused(tmp_path, "other settings", TrainingSettings(281))
    assert same(run(tmp_path, PLAIN), at_once(PLAIN))
