"""The progress of a command: bars on a terminal, or JSON lines for a program."""
