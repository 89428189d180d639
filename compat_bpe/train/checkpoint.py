"""Training that goes on after an interrupt, ``kill -9`` or a power cut.

A folder keeps the progress: ``state.json``, and one file of counts that it names. Both are put in
place whole, the state last, so a process may end at any time. Both have a SHA-256 of their content;
damage is refused.

**Counting.** The counts of all texts fed so far are kept, and a digest of the texts. A resumed run
is fed the same texts once more. It computes their digest, in under half the time of counting, and
counts only the texts after those. It refuses to go on if the digest differs.

**Merging.** The merges of byte-level BPE are kept as they are learned. A resumed run carries them
out in the counted words, and learns the next; ``bpe.growing`` shows that the result is the same.
Other kinds learn anew from the kept counts.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import asdict, fields, is_dataclass
from hashlib import sha256
from operator import index
from typing import Any

from ..corpus.chunk_counts import Counted, rows_of
from ..corpus.counts_file import CountsReader, Row, write_rows
from ..encodings.encoding import Encoding
from ..files.whole import open_regular, read_whole
from ..files.write import locked, write_files, written_whole
from ..version import __version__
from .kind import Advance, Settings, Trained
from .trainer import Trainer

_STATE = "state.json"
_COUNTS = "counts-"
_TSV = ".tsv"
#: The ending of temporary files, which a killed process leaves behind.
_LEFT = ".tmp"

#: Writing takes at most one in so many parts of the time.
_SHARE = 10


class Checkpoint:
    """The folder in which a training keeps its progress, to be used in a ``with`` block.

    Args:
        folder: the folder; it is created, in one that exists.
        settings: the settings of the training.
        every: the seconds between two checkpoints, more if writing one takes long; 0 for one after
            each text and each merge.

    Raises:
        FileExistsError: the folder has other files and no state, or is not a folder.
        ValueError: the state is of other settings, or damaged.
        OSError: it cannot be read or made, or another program works with it.
    """

    def __init__(
        self, folder: str | os.PathLike[str], settings: Settings[Any], every: float = 60.0
    ) -> None:
        self.folder = os.fspath(folder)
        self._every = every
        self._held = ExitStack()
        #: The merges that were learned: the ids of both parts, and the frequency.
        self.merges: list[tuple[int, int, float]] = []
        #: The numbers of tokens of the held-out words at each check.
        self.sizes: list[int] = []
        #: The number of texts, and of rows of counts, that were fed; and the digest of them.
        self.fed = 0
        self.digest = ""
        #: True if all was fed.
        self.is_complete = False
        self._counts: str | None = None
        self._settings = _described(settings)
        self._due = time.monotonic() + every

    def __enter__(self) -> Checkpoint:
        self._check_is_ours()
        os.makedirs(self.folder, exist_ok=True)
        with ExitStack() as held:
            held.enter_context(locked([self.folder]))
            self._read()
            self._held = held.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    @property
    def is_due(self) -> bool:
        """True if a checkpoint is to be written."""
        return time.monotonic() >= self._due

    @property
    def shown(self) -> str:
        """The progress, for a message."""
        if self.merges:
            return f"all texts are counted, {len(self.merges):,} merges are learned"
        counted = "all texts are" if self.is_complete else f"{self.fed:,} pieces of text are"
        return f"{counted} counted"

    def rows(self) -> Iterator[Row]:
        """Yield the counts that were kept.

        Raises:
            OSError, ValueError: they cannot be read, or are damaged.
        """
        if self._counts is None:
            return
        path = os.path.join(self.folder, self._counts)
        if self._counts != _name_of(path):
            raise ValueError(f"{path}: damaged: its content does not match its name")
        for chunk, count, group in CountsReader([path]).read():
            yield chunk, count, json.loads(group)

    def keep_counts(self, rows: Iterator[Row], fed: int, digest: str, *, is_complete: bool) -> None:
        """Keep the counts of everything fed so far.

        Args:
            rows: the counts.
            fed, digest, is_complete: as the attributes.

        Raises:
            OSError: the disk is full, for instance; the checkpoint before is still there.
        """
        begun = time.monotonic()
        path = os.path.join(self.folder, f"{_COUNTS}new{_TSV}")
        with written_whole(path) as file:
            write_rows(file, rows, path, with_groups=True)
        counts = _name_of(path)
        os.replace(path, os.path.join(self.folder, counts))
        self._counts, self.fed, self.digest = counts, fed, digest
        self.is_complete = is_complete
        self._write(begun)
        self._clear(counts)

    def keep_merge(self, left: int, right: int, frequency: float, sizes: list[int]) -> None:
        """Take a merge that was learned; write all of them if a checkpoint is due.

        Args:
            left, right: the ids of its parts.
            frequency: the frequency of the pair.
            sizes: as the attribute, all of them.
        """
        self.merges.append((left, right, frequency))
        if self.is_due:
            self.sizes = [*sizes]
            self._write(time.monotonic())

    def remove(self) -> None:
        """Remove the checkpoint, and the folder if nothing else is in it."""
        with suppress(FileNotFoundError):
            os.remove(os.path.join(self.folder, _STATE))
        self._clear(None)
        self._held.close()
        with suppress(OSError):
            os.rmdir(self.folder)

    def _read(self) -> None:
        path = os.path.join(self.folder, _STATE)
        try:
            written = json.loads(read_whole(path))
            state = written["state"]
            if _digest(state) != written["sha256"]:
                raise ValueError
            kept = {**state["settings"]}
            self._counts = str(state["counts"])
            self.fed, self.digest = int(state["fed"]), str(state["fed_sha256"])
            self.is_complete = bool(state["complete"])
            self.merges = [
                (index(left), index(right), 0 + frequency)
                for left, right, frequency in state["merges"]
            ]
            self.sizes = [*map(int, state["sizes"])]
            if os.path.basename(self._counts) != self._counts:
                raise ValueError
        except FileNotFoundError:
            return
        except (ValueError, LookupError, TypeError, RecursionError):
            raise ValueError(f"{path}: not the state of a training, or damaged") from None
        for name, value in self._settings.items():
            if kept.get(name) != value:
                raise ValueError(
                    f"{self.folder}: the checkpoint has other settings: {name} was "
                    f"{kept.get(name)!r:.99} and is {value!r:.99}; use the earlier "
                    "settings, or another folder"
                )

    def _check_is_ours(self) -> None:
        """Raise ``FileExistsError`` if the folder is not ours to write into."""
        folder = self.folder
        if not os.path.lexists(folder) or has_state(folder):
            return
        if not os.path.isdir(folder):
            raise FileExistsError(f"{folder}: not a folder")
        others = [name for name in sorted(os.listdir(folder)) if not _is_ours(name)]
        if others:
            raise FileExistsError(
                f"{folder}: the folder has other files ({others[0]}) and no checkpoint; give an "
                "empty folder, or a new one"
            )

    def _write(self, begun: float) -> None:
        state = {
            "settings": self._settings,
            "fed": self.fed,
            "fed_sha256": self.digest,
            "complete": self.is_complete,
            "counts": self._counts,
            "sizes": self.sizes,
            "merges": self.merges,
        }
        data = json.dumps({"sha256": _digest(state), "state": state}).encode() + b"\n"
        write_files([(os.path.join(self.folder, _STATE), data)])
        now = time.monotonic()
        pause = max(self._every, (now - begun) * (_SHARE - 1))
        self._due = now + pause if self._every else now

    def _clear(self, kept: str | None) -> None:
        """Remove counts that are no longer needed, and files of killed processes."""
        for name in os.listdir(self.folder):
            path = os.path.join(self.folder, name)
            if _is_ours(name) and name not in (kept, _STATE) and not os.path.isdir(path):
                with suppress(FileNotFoundError):
                    os.remove(path)


def has_state(folder: str | os.PathLike[str]) -> bool:
    """Return True if a folder keeps a training."""
    return os.path.lexists(os.path.join(folder, _STATE))


class CheckpointedTrainer:
    """A trainer that keeps its progress, and goes on from there.

    Args:
        trainer: a trainer to which nothing was fed.
        checkpoint: the checkpoint, within its ``with`` block.

    Raises:
        OSError, ValueError: the checkpoint cannot be read.

    >>> import tempfile
    >>> from compat_bpe.train import TrainingSettings
    >>> settings = TrainingSettings(num_merges=1)
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     folder = os.path.join(parent, "kept")
    ...     with Checkpoint(folder, settings) as checkpoint, Trainer(settings) as trainer:
    ...         kept = CheckpointedTrainer(trainer, checkpoint)
    ...         kept.feed("hug pug hug")
    ...         trained = kept.train()
    ...         checkpoint.remove()
    >>> trained.merges
    [LearnedMerge(left=b'u', right=b'g', id=256, frequency=3)]
    """

    def __init__(self, trainer: Trainer, checkpoint: Checkpoint) -> None:
        self._trainer = trainer
        self._checkpoint = checkpoint
        self._digest = sha256()
        self._fed = 0
        #: The number of texts and rows of counts whose counts were kept.
        self._kept = checkpoint.fed
        trainer.feed_counts(checkpoint.rows())

    def __enter__(self) -> CheckpointedTrainer:
        self._trainer.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._trainer.__exit__(*exception)

    def feed(self, text: str, group: str = "", *, is_last: bool = True) -> None:
        """Take a text, or a piece of one; arguments and errors as in ``Trainer.feed``.

        Raises:
            ValueError: the checkpoint is of other texts.
        """
        if self._is_new("text", text, group, is_last):
            self._trainer.feed(text, group, is_last=is_last)
            if is_last and self._checkpoint.is_due:
                self._keep(is_complete=False)

    def feed_counts(self, counts: Counted, group: str = "") -> None:
        """Take words that come with their counts; arguments and errors as in ``feed``."""
        new = (row for row in rows_of(counts, group) if self._is_new("count", *row))
        self._trainer.feed_counts(new, group)

    def hold_out(self, text: str) -> None:
        """Take a text by which learning may stop; errors as in ``feed``, and of ``Trainer``."""
        self._is_new("held out", text)
        self._trainer.hold_out(text)

    def train(self, advance: Advance = lambda steps: None) -> Trained:
        """Learn from all texts; arguments and errors as in ``Trainer.train``.

        Raises:
            ValueError: the checkpoint is of other texts.
        """
        if self._fed < self._kept:
            raise self._others("it had more texts")
        if not self._checkpoint.is_complete:
            self._keep(is_complete=True)
        return self._trainer.train(advance, self._checkpoint)

    def _is_new(self, *fed: object) -> bool:
        """Take something fed; return False if it was counted before the run was stopped."""
        is_new = self._fed >= self._kept
        if is_new and self._checkpoint.is_complete:
            raise self._others("there are more texts now")
        for part in fed:
            data = str(part).encode("utf-8", "surrogatepass")
            # With the lengths, no other parts give the same bytes.
            self._digest.update(b"%d:" % len(data))
            self._digest.update(data)
        self._fed += 1
        if self._fed == self._kept and self._digest.hexdigest() != self._checkpoint.digest:
            raise self._others("the texts, their order or their groups have changed")
        return is_new

    def _keep(self, *, is_complete: bool) -> None:
        counts = self._trainer.counts_so_far()
        rows = (
            # The group may be the name of a file, which need not be Unicode; as JSON it is.
            (chunk, count, json.dumps(group))
            for group, counter in counts.items()
            for chunk, count in counter.items()
        )
        digest = self._digest.hexdigest()
        self._checkpoint.keep_counts(rows, self._fed, digest, is_complete=is_complete)

    def _others(self, why: str) -> ValueError:
        return ValueError(
            f"{self._checkpoint.folder}: the checkpoint is of other texts: {why}; use the "
            "earlier texts, or another folder"
        )


def _digest(state: object) -> str:
    """Return the SHA-256 of a state as JSON."""
    return sha256(json.dumps(state).encode()).hexdigest()


def _name_of(path: str) -> str:
    """Return the name of a file of counts, which has the digest of its content."""
    digest = sha256()
    with open_regular(path) as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return f"{_COUNTS}{digest.hexdigest()[:16]}{_TSV}"


def _is_ours(name: str) -> bool:
    """Return True if a file of this name is a checkpoint's."""
    return name == _STATE or (
        name.startswith((_COUNTS, _STATE)) and name.endswith((_TSV, _LEFT, ".old"))
    )


def _described(settings: Settings[Any]) -> dict[str, Any]:
    """Return the settings that must be the same when a training is resumed, as JSON."""
    described = {
        "compat_bpe": __version__,
        "model": settings.kind.name,
        **{field.name: getattr(settings, field.name) for field in fields(settings)},
    }
    found: dict[str, Any] = json.loads(json.dumps(described, default=_plain))
    return found


def _plain(value: object) -> Any:
    """Return a value as JSON; a vocabulary is its digest."""
    if isinstance(value, Encoding):
        return sha256(repr(value.recipe()[1]).encode("utf-8", "backslashreplace")).hexdigest()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return dict(value)
    return repr(value)
