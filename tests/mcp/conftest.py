"""The scripts are run in an environment that has what they import; pytest leaves them alone."""

from __future__ import annotations

from tests.clients.environments import environments as environments

collect_ignore = ["scripts"]
