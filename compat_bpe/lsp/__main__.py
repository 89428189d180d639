"""``python -m compat_bpe.lsp``: the server as ``compat-bpe lsp`` starts it, by the package alone.

Plug-ins that include the package start it this way: the command needs other packages.
"""

from __future__ import annotations

import sys

from .server import serve_stdio

if __name__ == "__main__":
    sys.exit(serve_stdio())
