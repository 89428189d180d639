"""The encodings that ship with the package."""
