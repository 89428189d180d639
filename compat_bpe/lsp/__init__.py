"""The language server: counts, prompts, and tokens shown in an editor.

It implements the Language Server Protocol with the standard library alone. So it starts as fast as
the command, and a keystroke in a large file copies nothing large.
"""
