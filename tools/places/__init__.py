"""The places where the package is tested, each by a script: ``python -m tools.places --help``."""
