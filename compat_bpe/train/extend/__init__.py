"""Extending a vocabulary by tokens for new text."""
