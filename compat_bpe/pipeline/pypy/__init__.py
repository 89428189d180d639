"""The core that only PyPy runs: compiled loops over the bytes of a text."""
