"""Random hostile input for the package; `python -m tools.attack`."""
