"""jinja2's sandbox, in which a chat template runs: the nodes it may have, and their counting.

``check_and_count`` and ``Code`` send operations of jinja2's own through the environment, which
counts them.
"""

from __future__ import annotations

import operator as operators
import threading
from collections.abc import Iterable, Iterator, Mapping
from functools import wraps
from types import GeneratorType
from typing import Any, Callable, ClassVar

import jinja2
from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.ext import Extension, loopcontrols
from jinja2.lexer import Token, TokenStream
from jinja2.parser import Parser
from jinja2.runtime import Context, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Joiner, Namespace

from .budget import LONGEST, Budget, TooMuch
from .costs import (
    ATTRIBUTES,
    FILTERS,
    METHODS,
    TESTS,
    TemplateNamespace,
    TemplateRefusal,
    count_comparison,
    count_operation,
    count_search,
    count_slice,
    free,
    make_dict,
    raise_exception,
    strftime_now,
    to_json,
)

#: The most tokens of a template, the most characters, and its deepest nesting. A published one has
#: at most 5,000, 20,000 and 60.
_TOKENS = 20_000
LENGTH = 1 << 18
_NESTING = 150

#: The nodes of jinja2 that a template may have, by name.
NODES = frozenset(
    """
        Assign AssignBlock Break CallBlock Continue FilterBlock For If Macro Output Scope
        Template TemplateData With Add And Call Compare Concat CondExpr Const Dict Div Filter
        FloorDiv Getattr Getitem Keyword List Mod Mul NSRef Name Neg Not Operand Or Pair Pos Pow
        Slice Sub Test Tuple
    """.split()
)

#: The tags whose nodes are called otherwise.
_TAGS = {"FromImport": "from", "ScopedEvalContextModifier": "autoescape"}


def check_and_count(tree: nodes.Template) -> None:
    """Refuse nodes that are not allowed, and send jinja2's own operations through the environment.

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
    # Inner nodes come first, so that the calls that count are not counted themselves.
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
    # Each node may be run once in a turn without a call that counts.
    steps = nodes.Const(1 + sum(1 for _ in node.find_all(nodes.Node)) // 32, lineno=node.lineno)
    node.body.insert(0, nodes.ExprStmt(_send("turn", steps), lineno=node.lineno))
    if isinstance(node, nodes.For) and node.test is not None:
        node.test = nodes.And(_send("turn", steps), node.test, lineno=node.lineno)


def _send(name: str, value: nodes.Expr) -> nodes.Call:
    """Return the call of a method of the environment."""
    method = nodes.EnvironmentAttribute(name, lineno=value.lineno)
    return nodes.Call(method, [value], [], None, None, lineno=value.lineno)


class Code(CodeGenerator):
    """The compiler, which sends jinja2's own operations through the environment."""

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


class TokenLimit(Extension):
    """The bound on the tokens of a template."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        for number, token in enumerate(stream):
            if number >= _TOKENS:
                raise jinja2.TemplateSyntaxError(f"more than {_TOKENS:,} tokens", token.lineno)
            yield token


class Generation(Extension):
    """The tag around text of the model, which counts like any other text."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> list[nodes.Node]:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return [nodes.Scope(body, lineno=line)]


#: The deepest nesting of calls of macros, each of which takes several of Python's.
_CALLS = 100


class TemplateEnvironment(ImmutableSandboxedEnvironment):
    """The sandbox, with what transformers adds to it, and its bounds."""

    code_generator_class = Code
    intercepted_binops = frozenset(("+", "-", "*", "/", "//", "**", "%"))

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[Generation, TokenLimit, loopcontrols],
            optimized=False,  # otherwise constants would be computed here
        )
        self._now = threading.local()
        self.finalize = _shown
        self.filters["tojson"] = to_json
        self.filters = {
            name: self._bounded(self.filters[name], cost) for name, cost in FILTERS.items()
        }
        tests: dict[str, Any] = self.tests
        self.tests = {name: self._bounded(tests[name], cost) for name, cost in TESTS.items()}
        self.tests["in"] = lambda value, values: self.compared(value, "in", values)
        self.globals = {
            **{name: self.globals[name] for name in ("cycler", "joiner", "range")},
            "dict": make_dict,
            "namespace": TemplateNamespace,
            "raise_exception": raise_exception,
            "strftime_now": strftime_now,
        }
        self._functions = set(self.globals.values())

    @property
    def budget(self) -> Budget:
        """The budget of this thread's rendering."""
        budget: Budget = self._now.budget
        return budget

    def begin(self, variables: Mapping[str, Any]) -> None:
        """Begin a rendering in this thread."""
        self._now.budget = Budget(dict(variables))

    def turn(self, steps: int) -> bool:
        """Count a turn of a loop, or a call of a macro."""
        self.budget.spend(steps)
        return True

    def made(self, values: Any) -> Any:
        """Count a list or the like that is written in the template, and return it."""
        self.budget.spend(1, 64 + 100 * len(values))
        return values

    def spread(self, values: Any) -> Any:
        """Return values that are spread out as arguments; each counts."""
        return self.budget.items(values)

    def joined(self, *parts: Any) -> str:
        """Return values as one text, as ``~`` does."""
        self.budget.shown(*parts)
        texts = [one if isinstance(one, str) else str(one) for one in parts]
        self.budget.text(sum(map(len, texts)))
        return "".join(texts)

    def compared(self, left: Any, *rest: Any) -> Any:
        """Return the result of one comparison, or of several in a row: operators and values."""
        result: Any = True
        for operator, right in zip(rest[::2], rest[1::2]):
            if operator in ("in", "notin"):
                is_in = left in count_search(self.budget, left, right)
                result = is_in == (operator == "in")
            else:
                count_comparison(self.budget, left, right)
                result = self.COMPARISONS[operator](left, right)
            if not result:
                break
            left = right
        return result

    COMPARISONS: ClassVar[dict[str, Callable[[Any, Any], Any]]] = {
        "eq": operators.eq,
        "ne": operators.ne,
        "lt": operators.lt,
        "lteq": operators.le,
        "gt": operators.gt,
        "gteq": operators.ge,
    }

    def sliced(self, value: Any, *ends: Any) -> Any:
        """Return a part of a text or a list."""
        if isinstance(value, jinja2.Undefined):
            return value[slice(*ends)]  # its error names the undefined variable
        count_slice(self.budget, value)
        return value[slice(*ends)]

    def concat(self, parts: Iterable[str]) -> str:
        """Return the text of a block that is kept for later."""
        texts = list(parts)
        self.budget.text(sum(map(len, texts)), *texts)
        return "".join(texts)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        is_undefined = isinstance(left, jinja2.Undefined) or isinstance(right, jinja2.Undefined)
        if not is_undefined or (operator == "%" and isinstance(left, str)):
            count_operation(self.budget, operator, left, right)
        return super().call_binop(context, operator, left, right)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        if isinstance(obj, Namespace):
            return not attr.startswith("_")
        if isinstance(obj, tuple) and attr in ("grouper", "list"):  # what "groupby" makes
            return True
        return attr in METHODS.get(type(obj), ()) or attr in ATTRIBUTES.get(type(obj), ())

    def wrap_str_format(self, value: Any) -> None:
        return None  # it is one of the methods

    def hashed(self, key: Any) -> Any:
        """Return the key of a dict."""
        if not isinstance(key, (str, int)):
            self.budget.size(key)  # a text knows its hash
        return key

    def getitem(self, obj: Any, argument: Any) -> Any:
        return super().getitem(obj, self.hashed(argument))

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        budget = __self.budget
        budget.spend()
        owner = getattr(__obj, "__self__", None)
        methods = METHODS.get(type(owner))
        if methods is not None and __obj.__name__ in methods:
            for name in ("_loop_vars", "_block_vars"):  # these are for functions of jinja2's
                kwargs.pop(name, None)
            return methods[__obj.__name__](budget, owner, *args, **kwargs)
        if isinstance(__obj, (Macro, LoopContext)):
            if budget.calls >= _CALLS:
                raise RecursionError
            budget.calls += 1
            try:
                return __context.call(__obj, *args, **kwargs)
            finally:
                budget.calls -= 1
        if isinstance(__obj, Joiner) or __obj in __self._functions:
            budget.sizes(args)
            if __obj is raise_exception:
                budget.sizes(kwargs.values())
            return __context.call(__obj, *args, **kwargs)
        if isinstance(__obj, jinja2.Undefined):
            return __obj()  # its error names the undefined variable
        raise jinja2.exceptions.SecurityError(f"a {type(__obj).__name__} cannot be called")

    def _bounded(self, function: Callable[..., Any], cost: Callable[..., Any]) -> Any:
        # Some filters are given the environment or the like before the value.
        value_at = int(hasattr(function, "jinja_pass_arg"))

        @wraps(function)
        def bounded(*args: Any, **kwargs: Any) -> Any:
            budget = self.budget
            budget.spend()
            if cost is not free:
                # Other arguments may be shown in a message, or hashed.
                budget.sizes(args[value_at + 1 :])
                budget.sizes(kwargs.values())
            value = cost(budget, *args[value_at:], **kwargs)
            result = function(*args[:value_at], value, *args[value_at + 1 :], **kwargs)
            if isinstance(result, GeneratorType):
                return iter(budget.items(result))
            return result

        return bounded


@jinja2.pass_context
def _shown(context: Context, value: Any) -> str:
    """Return the output for a value. As it takes the context, jinja2 cannot do it beforehand."""
    environment = context.environment
    assert isinstance(environment, TemplateEnvironment)
    if isinstance(value, str):
        environment.budget.spend()
        return value
    environment.budget.shown(value)
    return str(value)


#: The longest message of an error that is passed on.
_LONGEST_MESSAGE = 2_000

#: The errors that a wrong template may raise. All others are the caller's, such as the error that
#: the handler of a signal raises.
_ERRORS = (
    *(ArithmeticError, AssertionError, AttributeError, IndexError, KeyError, LookupError),
    *(MemoryError, NameError, OverflowError, RecursionError, RuntimeError, TypeError),
    *(UnboundLocalError, UnicodeDecodeError, UnicodeEncodeError, ValueError, ZeroDivisionError),
    *(IndentationError, SyntaxError),
)


def compile_template(text: str) -> jinja2.Template:
    """Compile a chat template.

    Raises:
        ValueError: it is invalid, too long, or uses something that is not allowed; the message has
            the line.
    """
    if len(text) > LENGTH:
        raise ValueError(f"chat template: longer than {LENGTH:,} characters")
    environment = TemplateEnvironment()
    try:
        tree = environment.parse(text)
        check_and_count(tree)
        tree.set_environment(environment)
        code = environment.compile(tree)
    except jinja2.TemplateSyntaxError as error:
        message = str(error.message)[:_LONGEST_MESSAGE]
        raise ValueError(f"chat template: line {error.lineno}: {message}") from None
    except (MemoryError, RecursionError, SyntaxError):  # from the compiler of Python, too
        raise ValueError("chat template: nested too deeply") from None
    except Exception as error:
        raise _failure(error) from None
    return jinja2.Template.from_code(environment, code, environment.make_globals(None))


def render_template(template: jinja2.Template, variables: Mapping[str, Any]) -> str:
    """Return the text that a compiled chat template makes.

    Raises:
        ValueError: the template refuses the variables, fails, or takes too long.
    """
    environment = template.environment
    assert isinstance(environment, TemplateEnvironment)
    parts: list[str] = []
    length = 0
    try:
        environment.begin(variables)
        for part in template.generate(dict(variables)):
            parts.append(part)
            length += len(part)
            if length > LONGEST:
                raise TooMuch(f"it makes a text of more than {LONGEST:,} characters")
        return "".join(parts)
    except Exception as error:
        raise _failure(error) from None


def _failure(error: Exception) -> Exception:
    """Return the error about a template; or the given error, if it is the caller's."""
    message = str(error)[:_LONGEST_MESSAGE] if isinstance(error, jinja2.TemplateError) else ""
    if isinstance(error, TemplateRefusal):
        return ValueError(f"the chat template rejects the request: {message}")
    if isinstance(error, jinja2.TemplateError):
        return ValueError(f"the chat template fails: {message}")
    if type(error) is RecursionError:
        return ValueError("the chat template calls itself without end")
    if type(error) is MemoryError:
        return ValueError("the chat template needs more memory than there is")
    if type(error) in _ERRORS:
        message = str(error)[:_LONGEST_MESSAGE]
        return ValueError(f"the chat template fails: {type(error).__name__}: {message}")
    return error
