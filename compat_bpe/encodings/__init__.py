"""Encodings: their classes, names and files, and the encodings that ship."""
