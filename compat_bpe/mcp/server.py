"""The server: the tools and resources, handed to the package ``mcp``.

Only this module and ``tools`` import that package, and only when the server starts.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, Callable

from ..chat.limits import known_limits
from ..encodings.model_names import model_names, resolve_model
from ..encodings.published import BASELINES, list_encoding_names
from ..unicode.text import brief
from ..version import __version__
from .calls import BOUNDS, Bounds, Call, CallError, Clock, Json, Roots, folders_of

_INSTRUCTIONS = (
    "Counts tokens exactly as models' tokenizers make them. If no public tokenizer is known, "
    "is_estimate is true, and note states the basis. Only files in the roots are read."
)

#: The seconds that a client has to name its roots.
_ROOTS_WAIT = 5

#: The most calls that are carried out at the same time.
_AT_ONCE = 2

#: The most characters of a wrong value that a message shows.
_SHOWN = 200


def _encodings() -> str:
    return json.dumps({"encodings": list_encoding_names(), "baselines": list(BASELINES)})


def _models() -> str:
    limits = known_limits()
    models = []
    for name in model_names():
        limit = limits.get(name)
        models.append(
            {
                "model": name,
                "encoding": resolve_model(name),
                "context": limit and limit.context,
                "input": limit and limit.input,
                "output": limit and limit.output,
            }
        )
    return json.dumps({"models": models})


#: The resources by their addresses: the description of each, and the function that writes it.
RESOURCES: dict[str, tuple[str, Callable[[], str]]] = {
    "compat-bpe://encodings": (
        "The encodings that tools accept, and the baselines that split text by a rule.",
        _encodings,
    ),
    "compat-bpe://models": (
        "The known models with their encodings and limits in tokens; other spellings work, too.",
        _models,
    ),
}


def is_installed() -> bool:
    """Return True if the package ``mcp`` is installed, version 2 or later."""
    return find_spec("mcp") is not None and find_spec("mcp_types") is not None


def serve_stdio(folders: Sequence[str], default: str, bounds: Bounds = BOUNDS) -> None:
    """Serve a client on standard input and output, until the input ends.

    Args:
        folders: the folders that files are read from; if there are none, those that the client
            names as its roots.
        default: the encoding that is taken unless a call says one.
        bounds: the most that a call may take.

    Raises:
        CallError: there is no such folder.
    """
    roots = Roots(folders) if folders else None

    import anyio
    from mcp.server.stdio import stdio_server

    server = _server(roots, default, bounds)

    async def run() -> None:
        passed, readable = anyio.create_memory_object_stream[Any](0)
        async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as tasks:
            tasks.start_soon(_pass_on, incoming, passed, outgoing)
            await server.run(readable, outgoing, server.create_initialization_options())
            tasks.cancel_scope.cancel()

    anyio.run(run)


async def _pass_on(incoming: Any, passed: Any, outgoing: Any) -> None:
    """Pass messages on; answer the requests that could not be read, for which the SDK is silent."""
    import mcp_types as types
    from mcp.shared.message import SessionMessage

    async with passed:
        async for message in incoming:
            refused = refused_request(message) if isinstance(message, Exception) else None
            if refused is None:
                await passed.send(message)
                continue
            number, reason = refused
            error = types.ErrorData(code=types.INVALID_REQUEST, message=brief(reason))
            answer = types.JSONRPCError(jsonrpc="2.0", id=number, error=error)
            await outgoing.send(SessionMessage(answer))


def refused_request(error: Any) -> tuple[int | str | None, str] | None:
    """Return the id of a request that could not be read, and the reason; None for other errors.

    The SDK refuses JSON that is nested some 200 levels deep or has lone surrogates. Python reads
    most of it, so the id is known; the id is None if it is nested too deeply for Python, too.

    Args:
        error: the error, pydantic's ``ValidationError``.
    """
    for one in getattr(error, "errors", list)():
        given, is_json = one["input"], one["type"] != "json_invalid"
        if not is_json:
            try:
                given = json.loads(given)
            except RecursionError:
                return None, one["msg"]
            except ValueError:
                continue
        if isinstance(given, dict) and "method" in given and "id" in given:
            number = given["id"]
            if isinstance(number, str) or _is_int(number):
                return number, "not a request of JSON-RPC 2.0" if is_json else one["msg"]
    return None


def _server(roots: Roots | None, default: str, bounds: Bounds) -> Any:
    import anyio
    import mcp_types as types
    from mcp.server.lowlevel import Server
    from mcp.shared.exceptions import MCPError

    from .tools import FUNCTIONS, TOOLS

    places = anyio.CapacityLimiter(_AT_ONCE)

    async def list_tools(_context: Any, _params: Any) -> Any:
        return types.ListToolsResult(tools=list(TOOLS.values()))

    async def call_tool(context: Any, params: Any) -> Any:
        clock = Clock(bounds.seconds)
        try:
            tool = TOOLS.get(params.name)
            if tool is None:
                raise CallError(
                    f"there is no tool {params.name[:_SHOWN]!r}; there are {', '.join(TOOLS)}"
                )
            arguments = params.arguments or {}
            check_arguments(tool.input_schema, arguments, bounds)
            reads = tool.name == "token_tree" or not arguments.keys().isdisjoint(("file", "files"))
            allowed = roots or (await _roots_of(context) if reads else Roots(()))
            call = Call(allowed, default, bounds, clock)
            with anyio.fail_after(bounds.seconds):
                result = await anyio.to_thread.run_sync(
                    lambda: run(FUNCTIONS[tool.name], arguments, call),
                    abandon_on_cancel=True,
                    limiter=places,
                )
        except (CallError, TimeoutError) as error:
            reason = error if isinstance(error, CallError) else clock.error()
            content = types.TextContent(type="text", text=sendable(brief(str(reason))))
            return types.CallToolResult(content=[content], is_error=True)
        finally:
            clock.stop()  # nothing waits for the thread any more
        content = types.TextContent(type="text", text=json.dumps(result, ensure_ascii=False))
        return types.CallToolResult(content=[content], structured_content=result)

    async def list_resources(_context: Any, _params: Any) -> Any:
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=uri,
                    name=uri.rpartition("/")[2],
                    description=description,
                    mime_type="application/json",
                )
                for uri, (description, _) in RESOURCES.items()
            ]
        )

    async def read_resource(_context: Any, params: Any) -> Any:
        uri = str(params.uri)
        if uri not in RESOURCES:
            reason = f"there is no resource {uri}; there are {', '.join(RESOURCES)}"
            raise MCPError(types.INVALID_PARAMS, reason)
        text = RESOURCES[uri][1]()
        content = types.TextResourceContents(uri=uri, mime_type="application/json", text=text)
        return types.ReadResourceResult(contents=[content])

    return Server(
        "compat-bpe",
        version=__version__,
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )


async def _roots_of(context: Any) -> Roots:
    """Return the roots that a client names; none if it does not do that."""
    import anyio
    from mcp.shared.exceptions import MCPError

    capabilities = context.session.client_capabilities
    if capabilities is None or capabilities.roots is None:
        return Roots(())
    try:
        with anyio.fail_after(_ROOTS_WAIT), warnings.catch_warnings():
            # Protocols from 2026-07-28 on have no roots; the clients of today have.
            warnings.simplefilter("ignore")
            listed = await context.session.list_roots()
    except TimeoutError:
        raise CallError(f"the client does not name its roots within {_ROOTS_WAIT} s") from None
    except MCPError:
        return Roots(())
    return Roots(folders_of([str(root.uri) for root in listed.roots]))


def check_arguments(schema: Json, arguments: Json, bounds: Bounds) -> None:
    """Check the arguments of a call by the schema of the tool.

    Raises:
        CallError: one is wrong, with its place; or they are too large.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    try:
        size = len(json.dumps(arguments, ensure_ascii=False))
    except RecursionError:
        raise CallError("the arguments are nested too deeply") from None
    if size > bounds.text:
        raise CallError(f"the arguments have more than {bounds.text:,} characters; give files")
    # JSON Schema takes 2.0 for an integer.
    kinds = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: _is_int(value))
    validator = extend(Draft202012Validator, type_checker=kinds)(schema)
    for error in validator.iter_errors(arguments):
        place = error.json_path.removeprefix("$").removeprefix(".")
        message = error.message
        if len(message) > _SHOWN:
            message = f"{message[:_SHOWN]}…"
        raise CallError(f"{place}: {message}" if place else message)


def sendable(value: Any) -> Any:
    r"""Return a value of JSON that can be sent: characters that UTF-8 cannot hold are escaped.

    They come from names of files that are not UTF-8, and from surrogates in a call.

    >>> print(sendable({"path": ["caf\udce9.txt", 1]}))
    {'path': ['caf\\udce9.txt', 1]}
    """
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {sendable(key): sendable(one) for key, one in value.items()}
    if isinstance(value, list):
        return [sendable(one) for one in value]
    return value


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def run(tool: Callable[..., Any], arguments: Json, call: Call) -> Json:
    """Return the result of a call, of the function of a tool.

    Raises:
        CallError: it cannot be carried out; a bug of this package is written to standard error.
    """
    try:
        result: Json = sendable(tool(call, **arguments))
        return result
    except CallError:
        raise
    except MemoryError:
        raise CallError("there is not enough memory for this") from None
    except RecursionError:
        raise CallError("something in the arguments is nested too deeply") from None
    except Exception as error:
        sys.excepthook(*sys.exc_info())
        raise CallError(f"a mistake in compat-bpe: {type(error).__name__}; see its log") from None
