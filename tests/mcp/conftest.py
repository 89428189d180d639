"""The scripts are run in an environment that has what they import; pytest leaves them alone."""

from __future__ import annotations

import sys

from tests.clients.environments import environments as environments

collect_ignore = ["scripts"]
if sys.version_info < (3, 10):  # the package mcp takes none of these
    collect_ignore += ["test_tools.py", "test_clients.py"]
