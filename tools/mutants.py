"""Change one operator or constant of a module at a time, and say which changes no test sees.

    python tools/mutants.py compat_bpe/caches.py tests/test_caches.py
    python tools/mutants.py --number 40 --seed 2 MODULE TEST...

The tests run in a copy of the project, each time until the first failure. The module's own
doctests run with them. A change that no test sees is a survivor: a test is missing, or the change
makes no difference.
"""

from __future__ import annotations

import argparse
import ast
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
TIMEOUT = 120  # seconds; a mutant that never ends is seen

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "//",
    ast.FloorDiv: "*",
    ast.Mod: "+",
    ast.BitAnd: "|",
    ast.BitOr: "&",
    ast.LShift: ">>",
}


class Mutant(NamedTuple):
    """A text to put in the place of some characters of a line."""

    line: int
    column: int
    end: int
    text: str


def mutants(source: str) -> Iterator[Mutant]:
    """Yield all changes of a module's source.

    >>> [mutant.text for mutant in mutants("x: int | None = a < 1 if not b else c - d")]
    ['True', 'False', '(b)', '(a <= 1)', '(c + d)', '2', '0']
    """
    for node in _walk(ast.parse(source)):
        found: list[str] = []
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            operator = _OPERATORS[type(node.ops[0])]
            found = [f"({_text(node.left)} {operator} {_text(node.comparators[0])})"]
        elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            sides = (node.left, node.right)
            if not any(isinstance(side, (ast.JoinedStr, ast.List)) for side in sides):
                operator = _OPERATORS[type(node.op)]
                found = [f"({_text(node.left)} {operator} {_text(node.right)})"]
        elif isinstance(node, ast.BoolOp):
            operator = " or " if isinstance(node.op, ast.And) else " and "
            found = [f"({operator.join(f'({_text(value)})' for value in node.values)})"]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            found = [f"({_text(node.operand)})"]
        elif isinstance(node, ast.Constant) and type(node.value) is int:
            found = [str(node.value + 1), str(node.value - 1)]
        elif isinstance(node, ast.Constant) and type(node.value) is bool:
            found = [str(not node.value)]
        if isinstance(node, ast.expr) and node.lineno == node.end_lineno:
            for text in found:
                assert node.end_col_offset is not None
                yield Mutant(node.lineno, node.col_offset, node.end_col_offset, text)
        if isinstance(node, (ast.If, ast.IfExp)) and node.test.lineno == node.test.end_lineno:
            test = node.test
            for text in ("True", "False") if ast.unparse(test) != "TYPE_CHECKING" else ():
                assert test.end_col_offset is not None
                yield Mutant(test.lineno, test.col_offset, test.end_col_offset, text)


def _walk(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes but those of annotations, which nothing evaluates."""
    waiting = [tree]
    for node in waiting:
        yield node
        for name, value in ast.iter_fields(node):
            if name not in ("annotation", "returns"):
                children = value if isinstance(value, list) else [value]
                waiting += [child for child in children if isinstance(child, ast.AST)]


_text = ast.unparse


def changed(source: str, mutant: Mutant) -> str:
    """Return a module's source with one change; columns count bytes, as ``ast`` has them."""
    lines = source.split("\n")
    line = lines[mutant.line - 1].encode()
    line = line[: mutant.column] + mutant.text.encode() + line[mutant.end :]
    lines[mutant.line - 1] = line.decode()
    return "\n".join(lines)


def survives(folder: Path, module: str, tests: list[str]) -> bool:
    """Run the tests in a copy of the project; return True if all pass."""
    command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    # The module comes last: where pytest itself imports it first, by its path, the tests that
    # replace something in it replace it in another instance, and see no change.
    try:
        done = subprocess.run(
            [*command, *tests, module],
            cwd=folder,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--number", type=int, default=20, help="how many changes are tried")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument("module")
    parser.add_argument("tests", nargs="+")
    options = parser.parse_args()
    tests = [*options.tests, "--hypothesis-profile=unshrunk"]
    source = (ROOT / options.module).read_text("utf-8")
    found = list(mutants(source))
    chosen = random.Random(options.seed).sample(found, min(options.number, len(found)))
    survivors = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "copy"
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".git", "__pycache__"))
        if not survives(folder, options.module, tests):
            print("the tests fail without a change")
            return 2
        for mutant in sorted(chosen):
            (folder / options.module).write_text(changed(source, mutant), "utf-8")
            if survives(folder, options.module, tests):
                survivors += 1
                line = source.split("\n")[mutant.line - 1].encode()
                was = line[mutant.column : mutant.end].decode()
                print(f"{options.module}:{mutant.line}: {was}  ->  {mutant.text}", flush=True)
    print(f"{options.module}: {survivors} of {len(chosen)} survive, of {len(found)} there are")
    return 0


if __name__ == "__main__":
    sys.exit(main())
