"""The places where the package is tested, each by a script; see ``python -m tools.places --help``."""
