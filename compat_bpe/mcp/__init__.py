"""The server of the Model Context Protocol: tools with which an agent counts tokens.

Only ``server`` and ``tools`` import the package ``mcp``, when the server starts.
"""
