"""From text to ids: splitting, merging and remembering.  Knows no file and no model."""
