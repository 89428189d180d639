"""The server of the Model Context Protocol: tools with which an agent counts tokens.

Only ``server`` uses the package ``mcp``, and imports it when it starts. All else is plain Python.
"""
