"""Run the command ``compat-bpe`` of the package beside this file."""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "packages"))

    from compat_bpe.cli import main

    sys.argv[0] = "compat-bpe"
    main()
