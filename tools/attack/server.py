"""Attack the language server with wild conversations.

In one half of them each message is framed as it should be, though what is in it need not be: then
each request is answered once, whatever came before it. In the other half anything comes. In both,
the server ends when its input does, says nothing that is no message, and stays within the memory
of a case.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

from compat_bpe.lsp.server import NOTIFICATIONS, REQUESTS

SECONDS = 60
MEMORY = 1536 << 20

_ROOT = Path(__file__).parents[2]
_METHODS = (*REQUESTS, *NOTIFICATIONS, "no/such", "")
_FIELDS = tuple(
    """
        textDocument position range contentChanges arguments command text limit keep boundary marker
        encoding model path share template sections separator context settings rootUri capabilities
        id uri line character start end version budget show languageId items
    """.split()
)
_URIS = ("file:///a.py", "file:///b.md", "untitled:x", "http://[", "")
_NUMBERS = (0, 1, -1, 3, 7.0, 2.5, 1e308, -0.0, 2**31 - 1, 2**31, 2**63, 10**400, float("nan"))
_WORDS = (
    *("gpt2", "words", "gpt-4o", "/dev/null", "/", "tail", "line", "é😀", "\ud800", "\0"),
    "a" * 99,
)


def attack(random: Random) -> None:
    """Speak with a server of its own."""
    is_framed = random.random() < 0.5
    messages = [_message(random, number) for number in range(random.randrange(1, 60))]
    if random.random() < 0.8:
        messages[:0] = [_first(random), {"method": "initialized", "params": {}}]
    read = messages[: next((at for at, one in enumerate(messages) if _is_exit(one)), None)]
    asked = {one["id"] for one in read if isinstance(one, dict) and "id" in one}
    data = [_framed(one) for one in messages]
    if not is_framed:
        data = [_broken(random, one) for one in data]
    status, said, errors = _served(b"".join(data))
    answers = _parsed(said)
    assert status in (0, 1), f"the status is {status}: {errors[-2000:]!r}"
    assert b"Traceback" not in errors, errors[-2000:].decode()
    if is_framed:
        ids = [one["id"] for one in answers if "method" not in one and one["id"] is not None]
        assert len(ids) == len(set(ids)), "a request is answered twice"
        assert asked == set(ids), f"{asked ^ set(ids)} are not answered, or were not asked"


def _first(random: Random) -> dict[str, Any]:
    settings = {"encoding": random.choice(["gpt2", "bytes", "words"]), "budget": 9}
    params = {"rootUri": None, "capabilities": {}, "initializationOptions": settings}
    return {"id": "first", "method": "initialize", "params": params}


def _is_exit(message: object) -> bool:
    return isinstance(message, dict) and message.get("method") == "exit" and "id" not in message


def _message(random: Random, number: int) -> Any:
    """Return a message that is a request, a notification or something else."""
    kind = random.random()
    if kind < 0.05:
        value = _value(random, 3)
        return None if isinstance(value, dict) and "id" in value else value
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": random.choice(_METHODS)}
    if kind < 0.6:
        message["id"] = random.choice([number, f"n{number}"])
    if random.random() < 0.9:
        message["params"] = _params(random) if random.random() < 0.8 else _value(random, 4)
    return message


def _params(random: Random) -> dict[str, Any]:
    """Return parameters that have what most methods ask for, some of it spoiled."""
    params: dict[str, Any] = {
        "textDocument": {
            "uri": _URIS[0],
            "languageId": "python",
            "version": 1,
            "text": _text(random),
        },
        "position": _position(random),
        "range": {"start": _position(random), "end": _position(random)},
        "limit": random.randrange(50),
        "contentChanges": [
            {"text": _text(random), "range": {"start": _position(random), "end": _position(random)}}
            for _ in range(random.randrange(4))
        ],
        "text": _text(random),
        "template": "{prefix}{suffix}",
        "sections": [{"text": _text(random), "priority": 1} for _ in range(random.randrange(4))],
        "arguments": [_URIS[0], {"start": _position(random), "end": _position(random)}],
        "command": random.choice(["compatBpe.copyAsPrompt", "compatBpe.countSelection"]),
        "settings": {"encoding": random.choice(_WORDS)},
        "id": random.randrange(60),
    }
    for name in random.sample(sorted(params), random.randrange(len(params))):
        del params[name]
    for _ in range(random.choice([0, 0, 1, 2])):
        params[random.choice(_FIELDS)] = _value(random, 3)
    return params


def _position(random: Random) -> dict[str, Any]:
    if random.random() < 0.1:
        return {"line": random.choice(_NUMBERS), "character": random.choice(_NUMBERS)}
    return {"line": random.randrange(6), "character": random.randrange(30)}


def _text(random: Random) -> str:
    unit = random.choice(
        ["def f(x):\n    return x\n", "# a\n\ntext é😀\r\n", "a", "\ud83d", "中国"]
    )
    return unit * random.choice([0, 1, 3, 20, 2000])


def _value(random: Random, depth: int) -> Any:
    """Return any value that JSON can have."""
    kind = random.randrange(8) if depth else random.randrange(6)
    if kind < 2:
        return random.choice(_NUMBERS)
    if kind < 5:
        return random.choice([*_URIS, *_WORDS, *_METHODS])
    if kind == 5:
        return random.choice([None, True, False])
    if kind == 6:
        return [_value(random, depth - 1) for _ in range(random.randrange(5))]
    names = random.sample(_FIELDS, random.randrange(6))
    return {name: _value(random, depth - 1) for name in names}


def _framed(message: object) -> bytes:
    data = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(data), data)


def _broken(random: Random, data: bytes) -> bytes:
    """Return a framed message as it is, or with something wrong."""
    at = random.randrange(len(data) + 1)
    return random.choice(
        [
            data,
            data[:at],
            data[:at] + random.randbytes(9) + data[at:],
            b"Content-Length: 10000000000\r\n\r\n" + data,
            b"Content-Length: 900000000\r\n\r\n" + data,
            b"X: y\r\n" * random.randrange(9999) + data,
            b"x" * 99_999,
            b"Content-Length: 200000\r\n\r\n" + b"[" * 200_000 + data,
            b"Content-Length: -1\r\n\r\n" + data,
        ]
    )


def _served(data: bytes) -> tuple[int, bytes, bytes]:
    """Return the exit status of a server that gets some data, and what it says and complains."""
    command = [sys.executable, "-m", "compat_bpe", "lsp"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=_ROOT, stdin=pipe, stdout=pipe, stderr=pipe) as running:
        try:
            said, errors = running.communicate(data, timeout=SECONDS - 10)
        except subprocess.TimeoutExpired:
            raise AssertionError("the server does not end with its input") from None
        finally:
            running.kill()
    return running.returncode, said, errors


def _parsed(said: bytes) -> list[dict[str, Any]]:
    """Return the messages that a server says."""
    found = []
    while said:
        header, _, rest = said.partition(b"\r\n\r\n")
        assert header.startswith(b"Content-Length: "), f"no message: {said[:99]!r}"
        length = int(header[16:])
        found.append(json.loads(rest[:length]))
        said = rest[length:]
    return found
