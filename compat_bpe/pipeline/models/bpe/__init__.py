"""Byte-pair encoding: by rank, by a list of merges, from whole characters."""
