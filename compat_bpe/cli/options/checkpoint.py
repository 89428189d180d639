"""The options of ``compat-bpe train`` for a run that may be stopped."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import click

from ...train.checkpoint import Checkpoint, CheckpointedTrainer, has_state
from ...train.kind import Settings
from ...train.trainer import AnyTrainer, Trainer
from ..output import CommandError, write_message


class Checkpointing:
    """A folder for checkpoints as named on the command line.

    Args:
        folder: the folder; None for no checkpoints.
        every: the seconds between two checkpoints.
    """

    def __init__(self, folder: str | None, every: float) -> None:
        self._folder = folder
        self._every = every
        self._checkpoint: Checkpoint | None = None

    @property
    def goes_on(self) -> bool:
        """True if there is a checkpoint."""
        return self._folder is not None and has_state(self._folder)

    def check(self, output: Path, corpus: Iterable[str]) -> None:
        """Raise ``UsageError`` if the folder belongs to the vocabulary or to the corpus."""
        if self._folder is None:
            return
        folder, target = (Path(os.path.realpath(path)) for path in (self._folder, output))
        if folder in (target, *target.parents) or target in folder.parents:
            raise click.UsageError("--checkpoint and --output need folders apart from each other.")
        for path in corpus:
            if Path(os.path.realpath(path)) in (folder, *folder.parents):
                raise click.UsageError(
                    f"--checkpoint: {path} has this folder in it, and would be another corpus "
                    "with its files."
                )

    @contextmanager
    def around(self, trainer: AnyTrainer, settings: Settings[Any]) -> Iterator[AnyTrainer]:
        """Give a trainer that keeps what it does; the trainer itself if there is no folder.

        Raises:
            CommandError: the kind is not learned from counts.
            OSError, ValueError: as ``Checkpoint``.
        """
        with trainer:
            if self._folder is None:
                yield trainer
                return
            if not isinstance(trainer, Trainer):
                raise CommandError(
                    "--checkpoint is not for models of SentencePiece: their texts wait in a "
                    "temporary file, and are not counted before learning begins"
                )
            with Checkpoint(self._folder, settings, self._every) as checkpoint:
                if checkpoint.fed:
                    shown = checkpoint.shown
                    write_message(f"{self._folder}: going on from the checkpoint: {shown}")
                yield CheckpointedTrainer(trainer, checkpoint)
            self._checkpoint = checkpoint

    def remove(self) -> None:
        """Remove the checkpoint, when the vocabulary is written."""
        if self._checkpoint is not None:
            self._checkpoint.remove()


def checkpoint_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command ``checkpointing``, a ``Checkpointing``."""

    @wraps(function)
    def with_checkpointing(checkpoint: str | None, checkpoint_every: float, **options: Any) -> Any:
        return function(checkpointing=Checkpointing(checkpoint, checkpoint_every), **options)

    folder = click.option(
        "--checkpoint",
        metavar="DIR",
        type=click.Path(),
        help="Keep in DIR what is done. If the command is stopped, the same one goes on from "
        "there. DIR is removed when the vocabulary is written.",
    )
    every = click.option(
        "--checkpoint-every",
        metavar="SECONDS",
        type=click.FloatRange(min=0),
        default=60,
        show_default=True,
        help="Write a checkpoint after so many seconds, or later if writing takes long; with 0, "
        "after each text and each merge.",
    )
    return folder(every(with_checkpointing))


#: The options, for a section of a command's help.
CHECKPOINT_OPTIONS = ("--checkpoint", "--checkpoint-every")
