"""Write fixtures/public_api.txt: what is public, with its signatures, a line each.

Usage: python tools/public_api.py [--check]

docs/stability.md says what the list means. The names of Python are those of docs/reference, looked
up in the source without importing it, so that the list is the same with every Python and every
extra.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import click

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from compat_bpe.cli import cli
from compat_bpe.encodings.registry import list_encoding_names
from compat_bpe.lsp.server import NOTIFICATIONS, RECOUNT, REQUESTS
from tools.generated import write_or_check

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "fixtures/public_api.txt"

#: A module in a page of the reference, and those of its names that are public.
_MEMBERS = re.compile(r"^::: ([\w.]+)$.*?members: \[(.*?)\]", re.MULTILINE | re.DOTALL)

#: Public names that the reference does not have.
_MORE = {"compat_bpe.sql": ["register"], "compat_bpe.report.html": ["page"]}

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def generate() -> dict[Path, str]:
    """Return the text of the list."""
    parts = {
        "Python": sorted(set(_names_of_python())),
        "Command": list(_commands(cli, "compat-bpe")),
        "Encodings": list_encoding_names(),
        "Language server": sorted({*REQUESTS, *NOTIFICATIONS} - {RECOUNT}),
        "Server for agents": sorted(_tools()),
    }
    sections = ["\n".join([f"# {name}", "", *lines, ""]) for name, lines in parts.items()]
    return {TARGET: "\n".join(sections)}


def _tools() -> Iterator[str]:
    """Yield each tool for agents with its arguments and the members of its result.

    They are read, not imported: the package that makes tools of them need not be there.
    """
    tree = ast.parse((ROOT / "compat_bpe/mcp/tools.py").read_text("utf-8"))
    results = {one.name: one for one in tree.body if isinstance(one, ast.ClassDef)}

    def members(result: str) -> Iterator[str]:
        for base in results[result].bases:
            if ast.unparse(base) in results:
                yield from members(ast.unparse(base))
        for one in results[result].body:
            if isinstance(one, ast.AnnAssign):
                yield ast.unparse(one.target)

    for function in tree.body:
        if isinstance(function, ast.FunctionDef) and not function.name.startswith("_"):
            names = [one.arg for one in function.args.args[1:]]
            needed = len(names) - len(function.args.defaults)
            arguments = [f"{name}?" if at >= needed else name for at, name in enumerate(names)]
            assert function.returns is not None
            result = members(ast.unparse(function.returns))
            yield f"{function.name}({', '.join(arguments)}) -> {', '.join(result)}"


def _commands(command: click.Command, path: str) -> Iterator[str]:
    """Yield each command with its arguments and options."""
    parameters = []
    for parameter in command.params:
        names = [*parameter.opts, *parameter.secondary_opts]
        hidden = isinstance(parameter, click.Option) and parameter.hidden
        if isinstance(parameter, click.Argument):
            names = [parameter.human_readable_name]
        if not hidden:
            parameters.append("/".join(names))
    yield " ".join([path, *parameters])
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in sorted(command.list_commands(context)):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _commands(inner, f"{path} {name}")


def _names_of_python() -> Iterator[str]:
    listed = dict(_MORE)
    for page in sorted((ROOT / "docs/reference").glob("*.md")):
        for module, names in _MEMBERS.findall(page.read_text("utf-8")):
            listed[module] = [name.strip() for name in names.split(",")]
    for module, names in listed.items():
        for name in names:
            yield from _described(f"{module}.{name}", *_find(module, name))


@cache
def _tree(module: str) -> ast.Module:
    path = ROOT.joinpath(*module.split("."))
    # A folder whose files are gone may still have those that Python compiled.
    package = path / "__init__.py"
    return ast.parse((package if package.exists() else path.with_suffix(".py")).read_text("utf-8"))


def _find(module: str, name: str) -> tuple[str, ast.stmt]:
    """Return where a name of a module is defined: the module and the statement.

    Raises:
        LookupError: it is nowhere in the package.
    """
    for node in _statements(_tree(module).body):
        if isinstance(node, ast.ImportFrom) and node.level:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _find(_absolute(module, node), alias.name)
        elif name in _defined(node):
            return module, node
    raise LookupError(f"{module} has no {name}")


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a module, with those that depend on something."""
    for node in body:
        yield node
        if isinstance(node, (ast.If, ast.Try)):
            yield from _statements(node.body)
            yield from _statements(node.orelse)


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.ClassDef, *_FUNCTIONS)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _absolute(module: str, node: ast.ImportFrom) -> str:
    parts = module.split(".")
    is_package = ROOT.joinpath(*parts, "__init__.py").exists()
    base = parts[: len(parts) - node.level + is_package]
    return ".".join([*base, *([node.module] if node.module else [])])


def _described(name: str, module: str, node: ast.stmt) -> Iterator[str]:
    """Yield the lines for a name and what it has."""
    if isinstance(node, _FUNCTIONS):
        yield f"{name}{_signature(node)}"
    elif isinstance(node, ast.ClassDef):
        bases = ", ".join(ast.unparse(base) for base in node.bases)
        yield f"class {name}({bases})" if bases else f"class {name}"
        for member, text in sorted(_members(module, node).items()):
            yield f"{name}.{member}{text}"
    else:
        value = getattr(node, "value", None)
        yield f"{name} = {ast.unparse(value)}" if value else name


def _members(module: str, node: ast.ClassDef) -> dict[str, str]:
    """Return the public members of a class, and of those of the package that it is made of."""
    found: dict[str, str] = {}
    for base in node.bases:
        if isinstance(base, ast.Name):
            try:
                place, inner = _find(module, base.id)
            except LookupError:  # a class of Python's
                continue
            if isinstance(inner, ast.ClassDef):
                found.update(_members(place, inner))
    for part in node.body:
        if isinstance(part, _FUNCTIONS) and _is_public(part.name):
            decorators = [ast.unparse(one) for one in part.decorator_list]
            if any(one.endswith((".setter", ".deleter")) for one in decorators):
                found[part.name] += " (can be set)"
            elif {"property", "cached_property"} & {*decorators}:
                found[part.name] = f": {ast.unparse(part.returns)}" if part.returns else ""
            else:
                found[part.name] = _signature(part)
        elif isinstance(part, ast.AnnAssign) and _is_public(name := ast.unparse(part.target)):
            value = _default(part.value)
            default = f" = {ast.unparse(value)}" if value else ""
            found[name] = f": {ast.unparse(part.annotation)}{default}"
        if isinstance(part, _FUNCTIONS) and part.name == "__init__":
            for name in _attributes(part):
                found.setdefault(name, "")
    return found


def _default(value: ast.expr | None) -> ast.expr | None:
    """Return the default of a field, which may come with metadata."""
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "field":
        return next((one.value for one in value.keywords if one.arg == "default"), None)
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "setting":
        return None if ast.unparse(value.args[0]) == "MISSING" else value.args[0]
    return value


def _is_public(name: str) -> bool:
    return not name.startswith("_") or name in ("__init__", "__call__", "__enter__", "__iter__")


def _attributes(method: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """Yield the public attributes that a method sets."""
    for node in ast.walk(method):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Name)
            and node.value.id == "self"
            and _is_public(node.attr)
        ):
            yield node.attr


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    start = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
    return f"{start}({ast.unparse(node.args)}){result}"


if __name__ == "__main__":
    sys.exit(write_or_check(__doc__, generate))
