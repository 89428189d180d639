"""Tokens and merges as they are shown: lines for people, pages of HTML, lines of JSON."""
