"""From a corpus to a vocabulary."""
