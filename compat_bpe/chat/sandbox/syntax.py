"""What a chat template may consist of, and how it is compiled so that all it does is counted."""

from __future__ import annotations

from collections.abc import Iterator

import jinja2
from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.parser import Parser

#: The most tokens of a template, the most characters, and its deepest nesting. A published one has
#: at most 5,000, 20,000 and 60.
_TOKENS = 20_000
LENGTH = 1 << 18
_NESTING = 150

#: What a template may consist of, by the names of jinja2's nodes.
NODES = frozenset(
    (
        *("Assign", "AssignBlock", "Break", "CallBlock", "Continue", "FilterBlock", "For", "If"),
        *("Macro", "Output", "Scope", "Template", "TemplateData", "With"),
        *("Add", "And", "Call", "Compare", "Concat", "CondExpr", "Const", "Dict", "Div"),
        *("Filter", "FloorDiv", "Getattr", "Getitem", "Keyword", "List", "Mod", "Mul", "NSRef"),
        *("Name", "Neg", "Not", "Operand", "Or", "Pair", "Pos", "Pow", "Slice", "Sub", "Test"),
        "Tuple",
    )
)

#: The tags whose nodes are called otherwise.
_TAGS = {"FromImport": "from", "ScopedEvalContextModifier": "autoescape"}


def check_and_count(tree: nodes.Template) -> None:
    """Refuse what is not allowed, and send what jinja2 would do by itself through the environment.

    Raises:
        TemplateSyntaxError: a tag or the like is not allowed, or nested too deeply.
    """
    seen: list[nodes.Node] = []
    level: list[nodes.Node] = [tree]
    depth = 0
    while level:
        depth += 1
        for node in level:
            kind = type(node).__name__
            if kind not in NODES:
                name = _TAGS.get(kind, kind.lower())
                raise jinja2.TemplateSyntaxError(f"{name!r} is not allowed", node.lineno)
            if depth > _NESTING:
                raise jinja2.TemplateSyntaxError("nested too deeply", node.lineno)
        seen += level
        level = [one for node in level for one in node.iter_child_nodes()]
    # Those inside come first, so that what counts is not counted itself.
    for node in reversed(seen):
        if isinstance(node, (nodes.For, nodes.Macro, nodes.CallBlock)):
            _count_turns(node)
        elif isinstance(node, nodes.Pair):
            node.key = _send("hashed", node.key)
        elif isinstance(node, (nodes.Call, nodes.Filter, nodes.Test)):
            node.dyn_args = node.dyn_args and _send("spread", node.dyn_args)
            node.dyn_kwargs = node.dyn_kwargs and _send("spread", node.dyn_kwargs)


def _count_turns(node: nodes.For | nodes.Macro | nodes.CallBlock) -> None:
    """Make each turn of a loop and each call of a macro count."""
    # What is done without a call of ours is done at most so often in a turn.
    steps = nodes.Const(1 + sum(1 for _ in node.find_all(nodes.Node)) // 32, lineno=node.lineno)
    node.body.insert(0, nodes.ExprStmt(_send("turn", steps), lineno=node.lineno))
    if isinstance(node, nodes.For) and node.test is not None:
        node.test = nodes.And(_send("turn", steps), node.test, lineno=node.lineno)


def _send(name: str, value: nodes.Expr) -> nodes.Call:
    """Return the call of a method of the environment."""
    method = nodes.EnvironmentAttribute(name, lineno=value.lineno)
    return nodes.Call(method, [value], [], None, None, lineno=value.lineno)


class Code(CodeGenerator):
    """The compiler, which sends what jinja2 does by itself through the environment."""

    def visit_Call(self, node: nodes.Call, frame: Frame, forward_caller: bool = False) -> None:
        if isinstance(node.node, nodes.EnvironmentAttribute):
            self._send(node.node.name, node.args, frame)
            self.write(")")
        else:
            super().visit_Call(node, frame, forward_caller=forward_caller)

    def visit_Compare(self, node: nodes.Compare, frame: Frame) -> None:
        self._send("compared", [node.expr], frame)
        for one in node.ops:
            self.write(f", {one.op!r}, ")
            self.visit(one.expr, frame)
        self.write(")")

    def visit_List(self, node: nodes.List, frame: Frame) -> None:
        self.write("environment.made(")
        super().visit_List(node, frame)
        self.write(")")

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:
        self.write("environment.made(")
        super().visit_Dict(node, frame)
        self.write(")")

    def visit_Tuple(self, node: nodes.Tuple, frame: Frame) -> None:
        is_value = node.ctx == "load"  # else names that are set
        self.write("environment.made(" if is_value else "")
        super().visit_Tuple(node, frame)
        self.write(")" if is_value else "")

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        self._send("joined", node.nodes, frame)
        self.write(")")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:
        part = node.arg
        if not isinstance(part, nodes.Slice):
            super().visit_Getitem(node, frame)
            return
        ends = [one or nodes.Const(None) for one in (part.start, part.stop, part.step)]
        self._send("sliced", [node.node, *ends], frame)
        self.write(")")

    def _send(self, name: str, parts: list[nodes.Expr], frame: Frame) -> None:
        self.write(f"environment.{name}(")
        for number, one in enumerate(parts):
            self.write(", " if number else "")
            self.visit(one, frame)


class Counted(Extension):
    """The bound on the tokens of a template."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        for number, token in enumerate(stream):
            if number >= _TOKENS:
                raise jinja2.TemplateSyntaxError(f"more than {_TOKENS:,} tokens", token.lineno)
            yield token


class Generation(Extension):
    """The tag around what the model wrote, which counts like any other text."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> list[nodes.Node]:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return [nodes.Scope(body, lineno=line)]
