"""``python tests/portable``: the tests that need nothing but Python and the package."""

from __future__ import annotations

import os
import sys

if not __package__:
    # The folder itself must not be searched: its modules could be taken for others.
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != folder]
    sys.path.append(os.path.dirname(folder))
    from portable.run import main  # type: ignore[import-not-found]
else:
    from .run import main

if __name__ == "__main__":
    sys.exit(main())
