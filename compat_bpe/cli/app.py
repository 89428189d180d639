"""The parts that commands share: declared options, help, the group of all, and its errors."""

from __future__ import annotations

import errno
import os
import re
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import wraps
from importlib import import_module
from inspect import cleandoc, signature
from itertools import takewhile, zip_longest
from math import ceil
from typing import Any, Callable, NamedTuple, TypeVar

import click

from ..unicode.text import brief, did_you_mean
from ..version import __version__
from .output import PROGRAM, CommandError, escape_unknown, is_terminal, show_warning, visible
from .progress import Work

#: The line before a paragraph that is shown as it is; click's own mark.
_AS_IT_IS = "\b\n"


class Paragraph(NamedTuple):
    """A paragraph of a help text; ``is_fixed`` is true if its lines stay as they are."""

    text: str
    is_fixed: bool


class HelpParts(NamedTuple):
    """The parts of the help of a command.

    Args:
        purpose: its purpose, one sentence.
        examples: the lines of each example, without the space before them.
        details: the paragraphs after the examples.
    """

    purpose: str
    examples: list[list[str]]
    details: list[Paragraph]


def help_parts(command: click.Command) -> HelpParts:
    r"""Return the parts of the help of a command.

    >>> text = "Count tokens.\n\n\b\nExample:\n  $ count a.txt\n\nA file\nis UTF-8."
    >>> parts = help_parts(click.Command("count", help=text))
    >>> parts.purpose, parts.examples, [paragraph.text for paragraph in parts.details]
    ('Count tokens.', [['$ count a.txt']], ['A file is UTF-8.'])
    """
    purpose, *others = cleandoc(command.help or "").split("\n\n")
    parts = HelpParts(_flowing(purpose), [], [])
    for paragraph in others:
        is_fixed = paragraph.startswith(_AS_IT_IS)
        text = paragraph[len(_AS_IT_IS) :] if is_fixed else _flowing(paragraph)
        if is_fixed and re.match("Examples?:\n", text):
            parts.examples.extend(_examples(text.split("\n")[1:]))
        else:
            parts.details.append(Paragraph(text, is_fixed))
    return parts


def _flowing(paragraph: str) -> str:
    return " ".join(paragraph.split())


def _examples(lines: list[str]) -> list[list[str]]:
    """Return the lines of each example; a line without ``$`` continues the example above it."""
    examples: list[list[str]] = []
    for line in map(str.strip, lines):
        if line.startswith("$ "):
            examples.append([line])
        else:
            examples[-1].append(line)
    return examples


_Function = TypeVar("_Function", bound=Callable[..., Any])

#: The title of the section for options in no group, ``--help`` included.
OTHERS = "Other options"

# The largest number of columns of the left side, and of the space after it, as in click's help.
_LEFT = 30
_SPACE = 2


class GroupedCommand(click.Command):
    """A command whose help lists its options under titles, in the order of ``groups``.

    Options in no group come last, in their order, under "Other options".

    Args:
        groups: the options of each section, each by one of its names on the command line.
        **options: as in ``click.Command``.

    Raises:
        ValueError: a group names an option that the command does not have, or one that is in
            another group.

    >>> @click.command(cls=GroupedCommand, groups={"Input": ["--hidden"], "Output": ["-o"]})
    ... @click.option("-o", "--output", required=True)
    ... @click.option("--hidden", is_flag=True)
    ... def train(output: str, hidden: bool) -> None: ...
    >>> [line for line in train.get_help(click.Context(train)).splitlines() if line[-1:] == ":"]
    ['Input:', 'Output:', 'Other options:']
    """

    def __init__(self, *args: Any, groups: Mapping[str, Sequence[str]], **options: Any) -> None:
        super().__init__(*args, **options)
        by_name = {
            name: param
            for param in self.params
            if isinstance(param, click.Option)
            for name in (*param.opts, *param.secondary_opts)
        }
        self._groups: dict[str, list[click.Option]] = {}
        self._grouped: list[click.Option] = []
        for title, names in groups.items():
            for name in names:
                if name not in by_name:
                    raise ValueError(f"group {title!r} names {name}; there is no such option")
                if by_name[name] in self._grouped:
                    raise ValueError(f"group {title!r} names {name}, which is in a group already")
                self._grouped.append(by_name[name])
            self._groups[title] = [by_name[name] for name in names]

    def sections(self, ctx: click.Context) -> list[tuple[str, list[tuple[str, str]]]]:
        """Return the title of each section, and the left and the right side of each option."""
        others = [
            param
            for param in self.get_params(ctx)
            if isinstance(param, click.Option) and param not in self._grouped
        ]
        found = []
        for title, params in [*self._groups.items(), (OTHERS, others)]:
            rows = [row for row in (param.get_help_record(ctx) for param in params) if row]
            if rows:
                found.append((title, rows))
        return found

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections; their descriptions all begin in the same column."""
        sections = self.sections(ctx)
        widest = max((_left(rows) for _, rows in sections), default=0)
        for title, rows in sections:
            with formatter.section(title):
                formatter.write_dl(rows, _LEFT, _SPACE + widest - _left(rows))


def _left(rows: Sequence[tuple[str, str]]) -> int:
    """Return the number of columns that the left side of some rows takes."""
    return min(_LEFT, max(len(left) for left, _ in rows))


def option(names: str, help: str, *, to: str = "", **more: Any) -> Callable[[_Function], _Function]:
    """Return an option of click, written on few lines; a default is shown.

    Args:
        names: its names and that of its value; without one, and without a type, it is a flag.
        help: its help.
        to: the name of the parameter, if it is not that of the option.
        **more: as in ``click.option``.

    >>> @click.command()
    ... @option("-n --number N", "Take N.", type=int)
    ... @option("--all", "Take all.", to="takes_all")
    ... def take(number: int, takes_all: bool) -> None: ...
    >>> [(one.name, one.opts, one.metavar, one.type.name) for one in take.params]
    [('number', ['-n', '--number'], 'N', 'integer'), ('takes_all', ['--all'], None, 'boolean')]
    """
    *flags, last = names.split()
    if last.startswith("-"):
        more = {"is_flag": "type" not in more, **more}
        flags.append(last)
    else:
        more["metavar"] = last
    more.setdefault("show_default", bool(more.get("default")))
    return click.option(*flags, *filter(None, [to]), help=help, **more)


def together(*options: Callable[[_Function], _Function]) -> Callable[[_Function], _Function]:
    """Return a decorator that gives a command some options, in this order."""

    def give(function: _Function) -> _Function:
        for one in reversed(options):
            function = one(function)
        return function

    return give


def declared(names: str, help: str, **more: Any) -> Any:
    """Return an option, as ``option``, for the attribute of a class that has its value."""
    return option(names, help, **more)


def options_of(declaring: type) -> Callable[[_Function], _Function]:
    """Return a decorator that gives a command the options of a class, in their order.

    >>> class Taken:
    ...     number: int = declared("-n --number N", "Take N.", type=int)
    ...     every: bool = declared("--every", "Take all.")
    >>> [one.name for one in click.command()(options_of(Taken)(lambda number, every: None)).params]
    ['number', 'every']
    """
    attributes = vars(declaring)
    return together(*(attributes[one] for one in declaring.__annotations__ if one in attributes))


#: The option of commands that work in several processes.
JOBS = option(
    "-j --jobs N",
    "Use at most N processes. Default: one per processor.",
    type=click.IntRange(min=1),
)

NO_CACHE = option(
    "--no-cache", "Count every file anew: do not use the cache of counts (see compat-bpe cache)."
)


def gathered(
    name: str, make: Callable[..., Any], *options: Callable[[Any], Any]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that gives a command some options as a single parameter.

    Args:
        name: the parameter.
        make: returns the value of the parameter. Its own parameters are the options that it takes;
            with ``**``, it takes all.
        *options: the options, and others that are gathered.

    >>> @click.command()
    ... @gathered("area", lambda w, h: w + h, option("-w N", ""), option("-h N", ""))
    ... def paint(area: str) -> None:
    ...     print(area)
    >>> paint(["-w", "2", "-h", "3"], standalone_mode=False)
    23
    """

    def empty() -> None: ...

    taken = signature(make).parameters.values()
    names = [one.name for one in taken]
    if any(one.kind is one.VAR_KEYWORD for one in taken):
        names = [one.name for one in together(*options)(empty).__click_params__]

    def give(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def with_value(**values: Any) -> Any:
            own = {one: values.pop(one) for one in names}
            return function(**{name: make(**own)}, **values)

        command: Callable[..., Any] = together(*options)(with_value)
        return command

    return give


def given_options() -> dict[str, bool]:
    """Return for each option of the running command, and for PATH, if it has a value."""
    given = {}
    context = click.get_current_context()
    for param in context.command.params:
        value = context.params.get(param.name or "")
        for name in param.opts if isinstance(param, click.Option) else ["PATH"]:
            given[name] = value is not None and value is not False and value != ()
    return given


def check_together(
    given: Mapping[str, bool],
    excluding: Iterable[tuple[str, str]],
    needing: Iterable[tuple[str, str]] = (),
) -> None:
    """Raise ``click.UsageError`` if options exclude each other, or one lacks another."""
    for one, other in excluding:
        if given[one] and given[other]:
            raise click.UsageError(f"{one} and {other} exclude each other.")
    for one, other in needing:
        if given[one] and not given[other]:
            raise click.UsageError(f"{one} needs {other}.")


#: The options of a command that are used most, each by one of its names; other commands have few.
_MOST: Mapping[str, tuple[str, ...]] = {
    "count": ("-m", "-e", "-c", "--tree", "--max", "--context", "--json"),
    "truncate": ("-n", "-m", "-e", "--keep", "--boundary", "--report"),
    "split": ("-n", "-m", "-e", "--files", "--boundary", "-o"),
    "show": ("-m", "-e", "--ids", "--merges", "--html", "--json"),
    "extend": ("-o", "-n", "--terms", "-e", "--include", "--force"),
    "encode": ("-m", "-e", "--special", "--offsets", "--packed", "--json"),
    "decode": ("-m", "-e", "--packed"),
    "train": ("-o", "-n", "--model", "--pattern", "--special"),
    "counts": ("-o", "--model", "--pattern", "--merge"),
    "report": ("-e", "-m", "--by", "--terms", "--html", "--json"),
    "check": ("--init", "--fix-limits", "--base", "--growth", "--format", "--all"),
}
#: The rows of a screen, except one for the prompt of the shell.
_ROWS = 23
#: The widest that lines are, and the width where it is not known.
_WIDTH = 80
#: The narrowest terminal that lines are fitted to.
_NARROW = 40
#: The sizes of a page, tried in this order until it fits the rows: the most examples,
#: the lines of an option, and the options.
_SIZES = ((3, 2, 99), (2, 2, 99), (2, 2, 5), (1, 2, 5), (1, 2, 4), (1, 1, 4), (1, 1, 2))
#: The commands that are listed in one line.
_SELDOM = ("cache", "lsp", "mcp", "completion", "help", "shim-wheel")


def add_short_help(command: click.Command) -> None:
    """Give a command, and the commands in it, the option ``-h``.

    >>> command = click.Command("count", help="Count tokens.")
    >>> add_short_help(command)
    >>> command.params[-1].opts
    ['-h']
    """
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            add_short_help(inner)
    if not any("-h" in param.opts for param in command.params):
        command.params.append(
            click.Option(
                ["-h"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_show,
                help="Show the help that fits on one screen and exit.",
            )
        )


def short_page(ctx: click.Context, width: int = _WIDTH) -> str:
    """Return what ``-h`` prints for the command of a context, for a terminal of some columns."""
    width = max(min(width, _WIDTH), _NARROW)
    page = ""
    for examples, lines, options in _SIZES:
        page = _page(ctx, width, examples, lines, options)
        if sum(max(1, ceil(len(line) / width)) for line in page.split("\n")) <= _ROWS:
            break
    return page


def _page(ctx: click.Context, width: int, examples: int, lines: int, options: int) -> str:
    from textwrap import wrap  # few runs print help

    command = ctx.command
    parts = help_parts(command)
    page = [command.get_usage(ctx), ""]
    page += wrap(parts.purpose, width, initial_indent="  ", subsequent_indent="  ")
    if isinstance(command, click.Group):
        names = command.list_commands(ctx)
        often = [name for name in names if name not in _SELDOM]
        rows = [(name, _summary(command.get_command(ctx, name))) for name in often]
        if len(often) < len(names):
            rows.append(("and", ", ".join(name for name in names if name in _SELDOM)))
        page += ["", "Commands:", *_table(rows, width, 9)]
    else:
        shown = parts.examples[:examples]
        if shown:
            page += ["", "Examples:"]
        page += [f"{'      ' if n else '  '}{line}" for one in shown for n, line in enumerate(one)]
        title = "Options used most:" if command.name in _MOST else "Options:"
        rows = [option.get_help_record(ctx) or ("", "") for option in _most(command)[:options]]
        if rows:
            page += ["", title, *_table(rows, width, lines)]
    is_group = isinstance(command, click.Group)
    ask = "COMMAND -h shows more, --help all." if is_group else "--help shows everything."
    return "\n".join([*page, "", f"{ctx.command_path} {ask}"])


def _show(ctx: click.Context, _param: click.Parameter, is_asked: bool) -> None:
    if is_asked and not ctx.resilient_parsing:
        from shutil import get_terminal_size  # few runs print help

        width = get_terminal_size().columns if is_terminal(sys.stdout) else _WIDTH
        click.echo(short_page(ctx, width), color=ctx.color)
        ctx.exit()


def _summary(command: click.Command | None) -> str:
    return "" if command is None else command.get_short_help_str(_WIDTH)


def _most(command: click.Command) -> list[click.Option]:
    options = [param for param in command.params if isinstance(param, click.Option)]
    names = _MOST.get(command.name or "")
    if names is None:
        return [option for option in options if "-h" not in option.opts]
    by_name = {name: option for option in options for name in option.opts}
    return [by_name[name] for name in names]


def _table(rows: list[tuple[str, str]], width: int, most: int) -> list[str]:
    """Return rows in two columns, with at most some lines of the first sentence on the right."""
    from textwrap import wrap

    left = min(width * 2 // 5, max(len(name) for name, _ in rows))
    lines = []
    for name, text in rows:
        sentence = re.split(r"(?<=\.)\s", text, maxsplit=1)[0]
        side = wrap(sentence, width - left - 4, max_lines=most, placeholder=" …")
        names = wrap(name, left, subsequent_indent="  ")
        both = zip_longest(names, side, fillvalue="")
        lines += [f"  {start:<{left}}  {part}".rstrip() for start, part in both]
    return lines


#: The errors of a closed pipe: Windows calls it an invalid argument.
_CLOSED_PIPE = (errno.EPIPE, *([errno.EINVAL] if os.name == "nt" else []))

#: The error of a group that is given no command, which older versions of click do not have.
_HELP = getattr(click.exceptions, "NoArgsIsHelpError", click.exceptions.Exit)

#: Each command and the module it is in, which is imported when it is used.
_COMMANDS = {
    **{name: name for name in ("count", "truncate", "split", "show", "extend", "encode", "decode")},
    **{name: name for name in ("train", "corpus", "report", "check")},
    **dict.fromkeys(("encodings", "models"), "listing"),
    **dict.fromkeys(("lsp", "mcp", "completion", "help", "cache", "shim-wheel"), "setup"),
}


def _in_one_line(error: click.UsageError) -> CommandError:
    """Return an error of the arguments as one line; click itself writes four.

    >>> context = click.Context(click.Command("count"), info_name="count")
    >>> _in_one_line(click.UsageError("There is no file.", context)).message
    'There is no file. See count -h.'
    """
    where = error.ctx.command_path if error.ctx else PROGRAM
    group = click.get_current_context(silent=True)
    if error.ctx is None and group is not None and group.invoked_subcommand:
        where = f"{group.command_path} {group.invoked_subcommand}"  # an option without its value
    message = visible(brief(error.format_message()), sys.stderr)
    see = " See" if message.endswith((".", "?")) else "; see"
    return CommandError(f"{message}{see} {where} -h.")


class _Group(click.Group):
    def main(self, *args: Any, **options: Any) -> Any:
        escape_unknown(sys.stdout)
        return super().main(*args, **options)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        try:
            return super().make_context(*args, **extra)
        except _HELP:
            raise
        except click.UsageError as error:
            raise _in_one_line(error) from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = import_module(f".commands.{_COMMANDS[cmd_name]}", __package__)
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        add_short_help(command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        for option in takewhile(lambda argument: argument != "--", args[1:]):
            # A hook, or a shell for *, gives names that others have chosen: they set no option.
            if len(option) > 1 and option.startswith("-") and os.path.lexists(option):
                ctx.fail(
                    f"{option!r} is both an option and a file here: write ./{option} for the file, "
                    "or rename it"
                )
        if name not in _COMMANDS and not name.startswith("-"):
            hint = did_you_mean(name, _COMMANDS)
            if not hint and os.path.exists(name):
                hint = f"; to count the file or folder of that name: {PROGRAM} count {name}"
            ctx.fail(f"there is no command {name!r}{hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with warnings.catch_warnings():
                # Warnings of the package are for the user, with any options of Python.
                warnings.filterwarnings("always", category=UserWarning, module=r"compat_bpe\.")
                warnings.showwarning = show_warning
                with Work():
                    return super().invoke(ctx)
        except KeyboardInterrupt:  # click itself would say "Aborted!" and exit with 1
            sys.exit(128 + 2)  # as a shell reports a program that SIGINT ended
        except MemoryError as error:
            error.__traceback__ = None  # its frames hold the data that filled the memory
            raise CommandError("there is not enough memory for this") from None
        except RecursionError:
            raise CommandError("something in the input is nested too deeply") from None
        except OverflowError as error:
            raise CommandError(f"a number is too large: {error}") from None
        except OSError as error:
            reason = _reason(error)
            if reason is None:
                raise
            raise CommandError(reason) from None
        except _HELP:  # of a group without a command, as click writes it
            raise
        except click.UsageError as error:
            raise _in_one_line(error) from None
        except click.ClickException as error:
            # click writes it, and it may quote the arguments.
            error.message = visible(brief(error.message), sys.stderr)  # type: ignore[misc]
            raise
        except (click.exceptions.Exit, click.Abort):
            raise
        except Exception:  # a mistake of ours; a status of 1 would mean "over the limit"
            sys.excepthook(*sys.exc_info())
            sys.exit(CommandError.exit_code)


def _reason(error: OSError) -> str | None:
    """Return what to say about an error of a file; None if it is one of standard output.

    Errors of files are reported where they occur, and click handles a closed pipe. The rest is
    mostly a full disk under standard output, or a current directory that was removed.
    """
    if error.errno in _CLOSED_PIPE and error.filename is None:
        error.errno = errno.EPIPE  # as click knows it
        return None
    if error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror or error}"
    try:
        os.getcwd()
    except OSError as gone:
        return f"the current directory: {gone.strerror}"
    return None


@click.group(cls=_Group, context_settings={"help_option_names": ["--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Count, cut and show tokens, exactly.

    \b
    Examples:
      $ compat-bpe count src/*.py
      $ git diff | compat-bpe truncate -n 4000 -m gpt-4o

    The tokens are those of tiktoken, tokenizers and sentencepiece. compat-bpe COMMAND -h shows the
    options of a command used most, and --help all of them.
    """


add_short_help(cli)


def run() -> None:
    """Run the command with the arguments of the process, and exit with its status."""
    try:
        cli(prog_name=PROGRAM)
    except OSError as error:
        # An error of standard output: its buffered data is given up.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        failure = CommandError(f"standard output: {error.strerror or error}")
        failure.show()
        sys.exit(failure.exit_code)
