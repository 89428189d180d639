"""Names that are looked for in a text: those of added tokens, and of user-defined pieces."""
