"""The command of ``python -m compat_bpe.spark``: a job that counts, trains or reports.

It needs nothing but this package, PySpark and PyArrow, so the options are read by ``argparse``.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..corpus.counts_file import Row, check_output, write_rows
from ..corpus.prepare import Preparation, read_rules
from ..encodings.load import load
from ..files.write import write_files, written_whole
from ..report.figures import by_difference
from ..report.html import page, page_time
from ..report.text import as_json, line_width, table_lines
from ..train.kind import LikeError, Settings
from ..train.kinds import CONVERGENCE_PARAMETERS, KINDS, PARAMETERS, settings_of
from ..train.options import Parameter, weights_of
from ..train.sentencepiece.settings import SentencePieceUnigram
from ..train.write import ROLES
from ..unicode.text import CONTROLS
from ..version import __version__
from .counts import chunk_counts
from .frames import needed, quoted, ship, write_zip
from .reports import report
from .training import train

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PROGRAM = "compat_bpe.spark"

#: The kinds that are learned from counts.
_KINDS = tuple(name for name in KINDS if name != SentencePieceUnigram.name)

#: The settings of training, except those for stopping by held-out text.
_PARAMETERS = {name: one for name, one in PARAMETERS.items() if name not in CONVERGENCE_PARAMETERS}

#: The pattern of chunks that are counted unless another is named.
_PATTERN = "gpt2"

#: The column of texts of the formats that have no other.
_TEXT = "value"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: those of the command line unless given.

    Returns:
        The exit status: 0, or 2 after an error, which a line on standard error explains.
    """
    for stream in (sys.stdout, sys.stderr):
        # Some consoles know few characters, and a name may have bytes that are not text.
        if isinstance(stream, io.TextIOWrapper):
            with suppress(ValueError):  # it is closed
                stream.reconfigure(errors="backslashreplace")
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except (OSError, ValueError, TypeError, ImportError) as error:
        return _failed(_message(error))
    except Exception as error:  # Spark's have no other common base
        if not type(error).__module__.startswith("pyspark"):
            raise
        return _failed(_reason(str(error)))
    return 0


def _failed(message: str) -> int:
    """Write why the job failed, in a line on standard error, and return its exit status."""
    if sys.stderr is not None:  # a program without a console has none
        print(f"{_PROGRAM}: {message.translate(CONTROLS)}", file=sys.stderr)
    return 2


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _reason(message: str) -> str:
    """Return the line of a message of Spark that says why a task failed.

    >>> _reason("Job aborted\\nTraceback …\\nValueError: column 'text': not UTF-8\\n\\tat …")
    "column 'text': not UTF-8"
    """
    lines = message.strip().splitlines() or [""]
    reasons = [line.partition(": ")[2] for line in lines if line.startswith("ValueError: ")]
    return reasons[-1] if reasons else lines[0]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=_PROGRAM, description="Count chunks, train a vocabulary, or report on Spark."
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    corpus = argparse.ArgumentParser(add_help=False)
    corpus.add_argument(
        "paths",
        metavar="PATH",
        nargs="+",
        help="files, folders or globs that Spark can read, also in object stores",
    )
    corpus.add_argument(
        "--format",
        choices=("parquet", "json", "orc", "text", "documents"),
        help="the format; text has one document per line, documents one per file. Default: by the "
        "ending of the name (.parquet, .json, .jsonl, .orc), else documents",
    )
    corpus.add_argument("--field", metavar="NAME", help="the column of the texts; default: text")
    corpus.add_argument("--group-field", metavar="NAME", help="the column of groups")
    corpus.add_argument("--errors", choices=("strict", "replace", "skip"), default="strict")
    corpus.add_argument(
        "--ship", action="store_true", help="put this package on executors that do not have it"
    )

    counting = argparse.ArgumentParser(add_help=False)
    counting.add_argument("--min-count", metavar="N", type=int, default=1)
    counting.add_argument("--approximate", metavar="N", type=int)

    count = commands.add_parser("count", parents=[corpus, counting], help="count chunks")
    _add_setting(count, PARAMETERS["pattern"])
    count.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        required=True,
        help="a folder for Parquet files, also in an object store; or a file on the driver's "
        "machine (.tsv, .tsv.gz, .jsonl, .jsonl.gz)",
    )
    count.add_argument("--force", action="store_true", help="replace an existing output")
    count.set_defaults(run=_count)

    training = commands.add_parser("train", parents=[corpus, counting], help="train a vocabulary")
    training.add_argument("-o", "--output", metavar="DIR", required=True)
    training.add_argument("--name")
    training.add_argument("--model", choices=_KINDS)
    for parameter in _PARAMETERS.values():
        _add_setting(training, parameter)
    for role in ROLES:
        training.add_argument(f"--{role}", metavar="NAME", help=f"the special token {role}")
    training.add_argument("--normalize", choices=("NFC", "NFD", "NFKC", "NFKD"))
    training.add_argument("--mask", metavar="FILE")
    training.add_argument("--drop-duplicates", choices=("lines", "documents"))
    training.add_argument("--order", metavar="NAME", action="append")
    training.add_argument("--validation", metavar="SHARE", type=float, default=0.0)
    training.add_argument("--force", action="store_true")
    training.set_defaults(run=_train)

    reporting = commands.add_parser("report", parents=[corpus], help="compare vocabularies")
    reporting.add_argument(
        "-e", "--encoding", metavar="NAME|PATH", action="append", default=[], required=True
    )
    reporting.add_argument("--top", metavar="N", type=int, default=10)
    reporting.add_argument("--json", action="store_true")
    reporting.add_argument("--html", metavar="FILE")
    reporting.add_argument("--force", action="store_true", help="replace FILE")
    reporting.set_defaults(run=_report)

    path = commands.add_parser("path", help="print the path of the file for spark-submit")
    path.set_defaults(run=lambda options: print(Path(__file__).with_name("__main__.py")))
    packed = commands.add_parser("zip", help="write this package for spark-submit --py-files")
    packed.add_argument("output", metavar="FILE")
    packed.add_argument("--force", action="store_true", help="replace FILE")
    packed.set_defaults(run=_zip)
    return parser


def _session(options: argparse.Namespace) -> SparkSession:
    spark: SparkSession = needed("pyspark.sql").SparkSession.builder.getOrCreate()
    if options.ship:
        ship(spark)
    return spark


def _read(spark: SparkSession, options: argparse.Namespace) -> tuple[DataFrame, str]:
    """Return the corpus and the name of its column of texts.

    Text has only its own column; files of text are read as bytes, so that nothing is changed.
    """
    form = options.format or _form_of(options.paths[0])
    if form in ("text", "documents"):
        if options.field is not None:
            raise ValueError("--field is for formats with columns; give one with --format")
        whole = form == "documents"
        return spark.read.text(options.paths, whole, recursiveFileLookup=whole), _TEXT
    return spark.read.load(options.paths, format=form), options.field or "text"


def _form_of(path: str) -> str:
    r"""Return the format of a path by its end.

    >>> _form_of("s3a://corpus/part-*.json.gz"), _form_of("corpus/*.txt")
    ('json', 'documents')
    """
    name = path.lower().rstrip("/").removesuffix(".gz").removesuffix("*").removesuffix(".gz")
    for end, form in (("json", "json"), ("jsonl", "json"), ("parquet", "parquet"), ("orc", "orc")):
        if name.endswith("." + end):
            return form
    return "documents"


def _count(options: argparse.Namespace) -> None:
    is_file = not options.output.lower().rstrip("/").endswith((".parquet", ".pq"))
    if is_file:
        check_output(options.output)
        _check_new(options.output, force=options.force)
    df, column = _read(_session(options), options)
    counts = chunk_counts(
        df,
        column,
        pattern=getattr(options, "pattern", _PATTERN),
        group=options.group_field,
        min_count=options.min_count,
        approximate=options.approximate,
        errors=options.errors,
    )
    if not is_file:
        counts.write.parquet(options.output, "overwrite" if options.force else "error")
        return
    has_groups = options.group_field is not None
    names = ["chunk", "count", "group"] if has_groups else ["chunk", "count"]
    rows = counts.orderBy(*(quoted(name) for name in names)).select(*names)
    with written_whole(options.output) as file:
        counted = (_row(row) for row in rows.toLocalIterator(prefetchPartitions=True))
        write_rows(file, counted, options.output, with_groups=has_groups)


def _check_new(path: str, *, force: bool) -> None:
    """Raise ``FileExistsError`` if a file of the driver would be overwritten unasked."""
    if os.path.isfile(path) and not force:
        raise FileExistsError(f"{path}: the file exists; --force overwrites it")


def _zip(options: argparse.Namespace) -> None:
    _check_new(options.output, force=options.force)
    write_zip(options.output)


def _row(row: Any) -> Row:
    return row[0], row[1], row[2] if len(row) > 2 else ""


def _train(options: argparse.Namespace) -> None:
    settings = _settings(options)
    preparation = Preparation(
        options.normalize,
        tuple(read_rules(options.mask)) if options.mask else (),
        options.drop_duplicates,
        options.validation,
    )
    df, column = _read(_session(options), options)
    trained = train(
        df,
        column,
        options.output,
        settings,
        name=options.name,
        group=options.group_field,
        preparation=preparation,
        order=options.order,
        min_count=options.min_count,
        approximate=options.approximate,
        force=options.force,
        errors=options.errors,
    )
    print(f"{trained.encoding.n_vocab:,} tokens in {options.output.translate(CONTROLS)}")


def _add_setting(parser: argparse.ArgumentParser, parameter: Parameter) -> None:
    """Add the argument of a setting, as the command has it as an option."""
    option = parameter.option
    arguments: dict[str, Any] = {
        "dest": parameter.name,
        "help": option.help.replace("%", "%%"),
        "default": argparse.SUPPRESS,
    }
    if option.type is bool:
        parser.add_argument(*parameter.flags, action="store_true", **arguments)
        return
    if option.choices:
        arguments["choices"] = option.choices
    if option.type in (int, float):
        arguments["type"] = option.type
    if option.is_many:
        arguments["action"] = "append"
    parser.add_argument(*parameter.flags, metavar=option.metavar, **arguments)


def _settings(options: argparse.Namespace) -> Settings[Any]:
    """Return the settings of training, as the command makes them of the same options."""
    given = {name: getattr(options, name) for name in _PARAMETERS if hasattr(options, name)}
    values = {name: one.default for name, one in _PARAMETERS.items()} | given
    try:
        values["weights"] = weights_of(given.get("weights", ()))
    except ValueError as error:
        raise ValueError(f"--weight: {error}") from None
    for name in ("like", "start"):
        if values[name] is not None:
            values[name] = load(values[name])
    roles = {role: name for role in ROLES if (name := getattr(options, role)) is not None}
    try:
        return settings_of(options.model, values, given.keys(), roles)
    except LikeError as error:
        raise ValueError(f"--like: {options.like} {error}") from None


def _report(options: argparse.Namespace) -> None:
    if options.html:
        _check_new(options.html, force=options.force)
    made_at = page_time(os.environ)
    df, column = _read(_session(options), options)
    made = report(df, column, options.encoding, group=options.group_field, errors=options.errors)
    if not made.total.documents:
        raise ValueError(f"there is no text in {', '.join(options.paths)}")
    ordered = by_difference(made)
    if options.html:
        written = page(
            ordered, options.top, corpus=options.paths, version=__version__, made_at=made_at
        )
        write_files([(options.html, written.encode())])
    if options.json:
        print(as_json(made, options.top, {"errors": [], "skipped": []}))
    else:
        print("\n".join(table_lines(ordered, line_width(), options.top)))
