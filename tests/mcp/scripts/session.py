"""A session of the official client with the server, as a client's configuration starts it.

Standard input is a JSON list: the command and its arguments, the calls as names with arguments,
and the folders that the client names as its roots, or null. It prints a JSON object.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import mcp_types as types
from jsonschema import Draft202012Validator
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

warnings.simplefilter("ignore")


async def main() -> dict[str, Any]:
    command, calls, roots = json.load(sys.stdin)

    async def list_roots(_context: Any) -> types.ListRootsResult:
        found = [types.Root(uri=Path(root).as_uri()) for root in roots]
        return types.ListRootsResult(roots=found)

    server = StdioServerParameters(command=command[0], args=command[1:], env={**os.environ})
    started = time.perf_counter()
    async with (
        stdio_client(server) as streams,
        ClientSession(
            *streams, list_roots_callback=None if roots is None else list_roots
        ) as session,
    ):
        hello = await session.initialize()
        ready = time.perf_counter() - started
        tools = (await session.list_tools()).tools
        for tool in tools:
            Draft202012Validator.check_schema(tool.input_schema)
            Draft202012Validator.check_schema(tool.output_schema)
        answers = []
        for name, arguments in calls:
            begun = time.perf_counter()
            # The client compares the result with the schema.
            result = await session.call_tool(name, arguments)
            text = result.content[0].text
            if not result.is_error:
                assert json.loads(text) == result.structured_content
            answers.append(
                {
                    "is_error": bool(result.is_error),
                    "result": result.structured_content,
                    "text": text,
                    "seconds": time.perf_counter() - begun,
                }
            )
        resources = {
            str(one.uri): json.loads((await session.read_resource(one.uri)).contents[0].text)
            for one in (await session.list_resources()).resources
        }
        return {
            "name": hello.server_info.name,
            "ready": ready,
            "tools": [tool.name for tool in tools],
            "answers": answers,
            "resources": resources,
        }


print(json.dumps(asyncio.run(main())))
