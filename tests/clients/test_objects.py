"""Messages and requests as clients hold them, counted as what the clients send.

Run with ``pytest -m clients tests/clients/test_objects.py``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.environments import Environment, Wheels, make_environment, pip

pytestmark = pytest.mark.clients
SCRIPT = Path(__file__).parent / "scripts/objects.py"
REQUIREMENTS = [
    "openai==3.57.0",
    "anthropic==2.14.0",
    "litellm==1.110.2",
    "langchain-core==1.8.3",
]


def test_objects_of_clients(environments: Path, wheels: Wheels, tmp_path: Path) -> None:
    python = make_environment(environments / "objects", REQUIREMENTS)
    pip("install", "--force-reinstall", "--no-deps", wheels.own, python=python)
    printed = Environment(python, tmp_path).run("-I", SCRIPT, cwd=tmp_path)
    assert printed == "done\n"
