"""Encodings: their classes, what their names mean, their files, and those that ship."""
