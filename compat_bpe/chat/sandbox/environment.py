"""The sandbox of jinja2, in which a chat template can use what is allowed, and all is counted."""

from __future__ import annotations

import operator as operators
import threading
from collections.abc import Iterable, Mapping
from functools import wraps
from types import GeneratorType
from typing import Any, Callable, ClassVar

import jinja2
from jinja2.ext import loopcontrols
from jinja2.runtime import Context, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Joiner, Namespace

from .budget import Budget
from .filters import FILTERS, TESTS, free, to_json
from .functions import TemplateNamespace, make_dict, raise_exception, strftime_now
from .methods import ATTRIBUTES, METHODS
from .operators import count_comparison, count_operation, count_search, count_slice
from .syntax import Code, Counted, Generation

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
            extensions=[Generation, Counted, loopcontrols],
            optimized=False,  # else constants would be computed here
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
        """What is left to this thread's rendering."""
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
        """Return what is given on as arguments, each for itself."""
        return self.budget.items(values)

    def joined(self, *parts: Any) -> str:
        """Return values as one text, as ``~`` does."""
        self.budget.shown(*parts)
        texts = [one if isinstance(one, str) else str(one) for one in parts]
        self.budget.text(sum(map(len, texts)))
        return "".join(texts)

    def compared(self, left: Any, *rest: Any) -> Any:
        """Return what one comparison says, or several in a row: each operator has a value."""
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
            return value[slice(*ends)]  # it says what is undefined
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
            return __obj()  # it says what is undefined
        raise jinja2.exceptions.SecurityError(f"a {type(__obj).__name__} cannot be called")

    def _bounded(self, function: Callable[..., Any], cost: Callable[..., Any]) -> Any:
        # Some filters are given the environment or the like before the value.
        value_at = int(hasattr(function, "jinja_pass_arg"))

        @wraps(function)
        def bounded(*args: Any, **kwargs: Any) -> Any:
            budget = self.budget
            budget.spend()
            if cost is not free:
                # Whatever is given besides may be shown in a message, or hashed.
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
    """Return what is put out for a value. The context keeps jinja2 from doing it beforehand."""
    environment = context.environment
    assert isinstance(environment, TemplateEnvironment)
    if isinstance(value, str):
        environment.budget.spend()
        return value
    environment.budget.shown(value)
    return str(value)
