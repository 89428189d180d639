"""The program that PyInstaller and Nuitka make: the tests, and all of the package they use."""

import sys

from portable.run import main  # type: ignore[import-not-found]

import compat_bpe
import compat_bpe.chat
import compat_bpe.cli
import compat_bpe.encodings.batch
import compat_bpe.fit
import compat_bpe.parallel.pool
import compat_bpe.report.measure
import compat_bpe.save
import compat_bpe.tiktoken
import compat_bpe.train.write  # noqa: F401

if __name__ == "__main__":
    sys.exit(main())
