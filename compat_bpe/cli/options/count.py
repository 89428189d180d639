"""The options of ``compat-bpe count``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import cycle
from typing import Any, NamedTuple, cast

import click

from ...encodings.resolve import DEFAULT_ENCODING
from ..app import JOBS, NO_CACHE, GroupedCommand, check_together, declared, given_options
from ..count_view import ORDERS, Column, estimate_mark
from ..input import (
    INPUT_PATH,
    check_utf8,
    encoding_of_file,
    notebooks_option,
    paths_argument,
    walk_options,
)
from .encoding import encoding_options, limit_option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...files.walk import Walk

#: The sections of the help.
GROUPS = {
    "Encoding": ["--model", "--encoding", "--pattern", "--estimate", "--factor", "--price"],
    "Limit": ["--max", "--per-file", "--context"],
    "Input": """
        --string --messages --parts --strict --as-of --files-from --null --include --exclude
        --hidden --no-ignore --decompress --notebooks --text --errors --encoding-of-file
    """.split(),
    "Output": """
        --tree --depth --percent --sort --top --total-only --format --json --quiet --verbose
    """.split(),
}

#: Options that exclude each other; --format is there for csv and tsv, --json also for its json.
_EXCLUDING = [
    *(
        ("--messages", of_files)
        for of_files in """
                PATH --string --files-from --tree --percent --top --sort --per-file --include
                --exclude --text --errors --decompress --notebooks --encoding-of-file --format
            """.split()
    ),
    ("--parts", "--factor"),
    ("--total-only", "--context"),
    *(("--string", other) for other in ("PATH", "--files-from", "--tree")),
    ("--quiet", "--verbose"),
    *(("--total-only", other) for other in ("--tree", "--json", "--top", "--percent")),
    ("--json", "--percent"),
    *(("--format", other) for other in ("--tree", "--percent", "--total-only", "--context")),
]

#: Options that need another one.
_NEEDING = [
    ("--depth", "--tree"),
    ("--null", "--files-from"),
    ("--per-file", "--max"),
    *((of_request, "--messages") for of_request in ("--parts", "--strict", "--as-of")),
]


def _factor(value: str) -> str:
    # Few digits, so that its arithmetic is exact and cheap.
    if not (re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,6})?", value) and float(value)):
        raise click.BadParameter(
            f"{value!r} is not a number from 0.000001 to 9999.999999, such as 1.18."
        )
    return value


def _price(value: str) -> str:
    # So few digits that the cost of all tokens that a file can have is exact.
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", value):
        raise click.BadParameter(
            f"{value!r} is not a number from 0 to 999999.999999, such as 2.50."
        )
    return value


class Choice(NamedTuple):
    """A tokenizer as the command line names it; neither a model nor an encoding is the default."""

    model: str | None = None
    encoding: str | None = None

    @property
    def name(self) -> str:
        return self.model or self.encoding or DEFAULT_ENCODING


#: The key in click's context for the names of the options, in the order of the command line.
_ORDER = "compat_bpe.order_of_options"


class CountCommand(GroupedCommand):
    """The command, which keeps the order of its options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # The values of each option are in order, but not those of two options.
        order = self.make_parser(ctx).parse_args(args=[*args])[2]
        ctx.meta[_ORDER] = [parameter.name for parameter in order]
        return super().parse_args(ctx, args)


class CountOptions:
    """The options of ``compat-bpe count``; those of an object are its values.

    Args:
        values: the values, by the names of the attributes.

    Raises:
        click.UsageError: options exclude each other, or one lacks another.
    """

    paths: Sequence[str] = cast(Any, paths_argument("paths", "[PATH|-]..."))
    model: Sequence[str] = cast(Any, partial(encoding_options, several=True))
    encoding: Sequence[str]
    pattern: str | None
    estimate: bool = declared(
        "--estimate",
        "Estimate the tokens of a model without a public tokenizer, such as Claude's, from the "
        "characters per token that its maker publishes; a ≈ marks the number. Other models are "
        "counted exactly.",
    )
    factor: str | None = declared(
        "--factor X",
        "Multiply the count by X, and mark it as an estimate with a ≈: for a model that you have "
        "compared with an encoding, or with its --estimate.",
        type=_factor,
    )
    prices: Sequence[str] = declared(
        "--price X",
        "Also show the cost of the tokens, at X per million. Repeat it to give each of several "
        "models its own price, in their order.",
        to="prices",
        multiple=True,
        type=_price,
    )
    limit: int | None = cast(
        Any, limit_option("Exit with status 1 if there are more than N tokens in total")
    )
    per_file: bool = declared(
        "--per-file",
        "Apply the limit to each file: exit with status 1 if any file has more than N tokens, and "
        "name those files.",
    )
    context: bool = declared(
        "--context", "Show the share of the model's context that the tokens fill."
    )
    string: str | None = declared(
        "-c --string TEXT", "Count TEXT itself instead of files.", type=check_utf8
    )
    messages: str | None = declared(
        "--messages FILE",
        "Count the request in FILE (- is standard input): a list of messages, or an object with "
        "messages (or the input of Responses), and optionally tools and a model. If each line of "
        "FILE is a request, as for fine-tuning and batches, the sum is printed, too. If the lines "
        "are messages, as in a transcript, they are one request.",
        type=INPUT_PATH,
    )
    parts: bool = declared(
        "--parts",
        "With --messages, show the tokens of each part of the request: each message, the images in "
        "it, the tools, and the beginning of the reply.",
    )
    strict: bool = declared(
        "--strict",
        "With --messages, refuse a request if a part of it cannot be counted. By default, a "
        "note names that part, and the rest is counted.",
    )
    as_of: str | None = declared(
        "--as-of DATE",
        "With --messages, the day of the request, such as 2025-06-30: deepseek-chat and "
        "deepseek-reasoner have meant different models over time.",
    )
    files_from: str | None = declared(
        "--files-from FILE",
        "Read more PATHs from FILE (- is standard input), one per line, quoted or not, as git "
        "ls-files prints them.",
        type=INPUT_PATH,
    )
    null: bool = declared(
        "-0 --null",
        "Each PATH in FILE ends with a NUL byte, as from find -print0 and git ls-files -z, and is "
        "not quoted.",
    )
    walk: Walk = cast(Any, walk_options)
    decompress: bool = declared(
        "-z --decompress",
        "Count the text in compressed files (.gz, .bz2, .xz, .zst), not their bytes.",
    )
    notebooks: bool = cast(Any, notebooks_option)
    text: bool = declared("-a --text", "Count files with NUL bytes as text, too.")
    errors: str | None = declared(
        "--errors",
        "Treat a file that is binary or not UTF-8 as an error (strict), or skip it (skip); replace "
        "counts bytes that are not UTF-8 as U+FFFD. By default, such a file is an error if it is a "
        "PATH, and skipped in a directory.",
        type=click.Choice(["strict", "replace", "skip"]),
    )
    encoding_of_file: str | None = cast(Any, encoding_of_file)
    as_tree: bool = declared(
        "--tree", "Show a tree of directories, each with its sum.", to="as_tree"
    )
    depth: int | None = declared(
        "--depth N",
        "Show N levels below the top of each tree; sums still include all files.",
        type=click.IntRange(min=0),
    )
    percent: bool = declared("--percent", "Also show each line's share of the total.")
    order: str | None = declared(
        "--sort",
        "Sort by name, by path, or by tokens, the most first. Default: the order of the PATHs.",
        to="order",
        type=click.Choice(ORDERS),
    )
    top: int | None = declared(
        "--top N",
        "Show only the N files with the most tokens, and the sum of the others.",
        type=click.IntRange(min=1),
    )
    total_only: bool = declared("--total-only", "Print only the total: one number.")
    layout: str | None = declared(
        "--format",
        "Print a table (the default), a JSON object, or a line per file, its columns separated by "
        "commas (csv) or tabs (tsv), below a line with their titles.",
        to="layout",
        type=click.Choice(["table", "json", "csv", "tsv"]),
    )
    as_json: bool = declared("--json", "The same as --format json.", to="as_json")
    quiet: bool = declared(
        "-q --quiet", "Print only errors on standard error: no notes, no progress bar."
    )
    verbose: bool = declared("-v --verbose", "Name each skipped file, not only the first ones.")
    no_cache: bool = cast(Any, NO_CACHE)
    jobs: int | None = cast(Any, JOBS)

    def __init__(self, values: dict[str, Any]) -> None:
        vars(self).update(values)
        given = given_options()
        if given["--json"] and self.layout not in (None, "json"):
            raise click.UsageError("--format and --json exclude each other.")
        given.update({"--json": self.is_json, "--format": self.separator is not None})
        check_together(given, _EXCLUDING, _NEEDING)
        #: The tokenizers, in the order in which they are named, each once.
        self.choices = self._choices()
        number = len(self.choices)
        for name in ("--factor", "--parts"):
            if number > 1 and given[name]:
                raise click.UsageError(
                    f"{name} and several --model or --encoding exclude each other."
                )
        if len(self.prices) not in (0, 1, number):
            raise click.UsageError(
                f"--price is given {len(self.prices)} times, and --model or --encoding {number}: "
                "give one price for all, or one for each."
            )

    def _choices(self) -> list[Choice]:
        values = {"model": iter(self.model), "encoding": iter(self.encoding)}
        order = click.get_current_context().meta[_ORDER]
        choices = [Choice(**{name: next(values[name])}) for name in order if name in values]
        by_name = {choice.name: choice for choice in choices[::-1]}
        for choice in choices:
            if choice != by_name[choice.name]:
                raise click.UsageError(
                    f"--model {choice.name} and --encoding {choice.name} exclude each other."
                )
        return list(dict.fromkeys(choices)) or [Choice()]

    def columns(self, are_estimates: Iterable[bool]) -> list[Column]:
        """Return the column of each tokenizer; numbers that are estimates have a mark."""
        names = [one.name for one in self.choices] if len(self.choices) > 1 else ["tokens"]
        marks = [estimate_mark() if one else "" for one in are_estimates]
        if not self.prices:
            return list(map(Column, names, marks))
        from decimal import Decimal  # only prices need it

        return list(map(Column, names, marks, cycle(map(Decimal, self.prices))))

    @property
    def separator(self) -> str | None:
        """The character between the columns of a table for programs; None for other forms."""
        return {"csv": ",", "tsv": "\t"}.get(self.layout or "")

    @property
    def is_json(self) -> bool:
        return self.as_json or self.layout == "json"
