"""The number of examples that a property draws."""

from __future__ import annotations

from hypothesis import settings


def scaled(number: int) -> int:
    """Return ``number`` as a percentage of the profile's examples, at least six.

    A property that needs more examples than others says so by a number over 100. So one option,
    ``--hypothesis-profile``, chooses between the quick look and the long search for all of them.
    """
    assert settings.default is not None
    return max(6, number * settings.default.max_examples // 100)
