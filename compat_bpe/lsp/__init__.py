"""The language server: counts, prompts and what an editor shows of tokens, over the protocol.

It speaks the Language Server Protocol by itself, with the standard library alone. So it starts in
the time of the command, and a keystroke in a large file copies nothing large.
"""
