"""Tests run in a home without settings: git's would say what is ignored."""

from __future__ import annotations

from tests.home import clean_home as clean_home
