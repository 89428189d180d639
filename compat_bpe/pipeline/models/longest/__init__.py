"""Longest tokens of bytes: RWKV's model."""
