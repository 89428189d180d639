"""A chat template compiled and rendered, with what goes wrong as a ``ValueError``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jinja2

from .budget import LONGEST, TooMuch
from .environment import TemplateEnvironment
from .functions import TemplateRefusal
from .syntax import LENGTH, check_and_count

#: The longest message about what is wrong that is passed on.
_LONGEST_MESSAGE = 2_000

#: What a template that is wrong may raise. All else is the caller's, such as the error that the
#: handler of a signal raises.
_ERRORS = (
    *(ArithmeticError, AssertionError, AttributeError, IndexError, KeyError, LookupError),
    *(MemoryError, NameError, OverflowError, RecursionError, RuntimeError, TypeError),
    *(UnboundLocalError, UnicodeDecodeError, UnicodeEncodeError, ValueError, ZeroDivisionError),
    *(IndentationError, SyntaxError),
)


def compile_template(text: str) -> jinja2.Template:
    """Compile a chat template.

    Raises:
        ValueError: it is not correct, too long, or uses what is not allowed; the message says the
            line.
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
                raise TooMuch(f"it makes a text longer than {LONGEST:,}")
        return "".join(parts)
    except Exception as error:
        raise _failure(error) from None


def _failure(error: Exception) -> Exception:
    """Return the error that says what a template does wrong; or the given one, if the caller's."""
    message = str(error)[:_LONGEST_MESSAGE] if isinstance(error, jinja2.TemplateError) else ""
    if isinstance(error, TemplateRefusal):
        return ValueError(f"the chat template refuses this: {message}")
    if isinstance(error, jinja2.TemplateError):
        return ValueError(f"the chat template fails: {message}")
    if type(error) is RecursionError:
        return ValueError("the chat template calls itself without an end")
    if type(error) is MemoryError:
        return ValueError("the chat template makes more than there is memory for")
    if type(error) in _ERRORS:
        message = str(error)[:_LONGEST_MESSAGE]
        return ValueError(f"the chat template fails: {type(error).__name__}: {message}")
    return error
