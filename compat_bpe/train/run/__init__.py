"""A run of training: its costs, where it stops, and its results."""
