"""The stages between text and ids."""
