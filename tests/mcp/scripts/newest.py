"""A session of the official client by the newest protocol that it and the server speak.

Standard input is a JSON list: the command and its arguments, and the calls as names with arguments.
The client would name a root, if the protocol let it. It prints a JSON object.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

warnings.simplefilter("ignore")


async def main() -> dict[str, Any]:
    command, calls = json.load(sys.stdin)

    async def list_roots(_context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=Path.cwd().as_uri())])

    server = StdioServerParameters(command=command[0], args=command[1:], env={**os.environ})
    async with Client(stdio_client(server), list_roots_callback=list_roots) as client:
        answers = [await client.call_tool(name, arguments) for name, arguments in calls]
        return {
            "protocol": client.protocol_version,
            "tools": [tool.name for tool in (await client.list_tools()).tools],
            "answers": [
                {
                    "is_error": one.is_error,
                    "result": one.structured_content,
                    "text": one.content[0].text,
                }
                for one in answers
            ],
        }


print(json.dumps(asyncio.run(main())))
