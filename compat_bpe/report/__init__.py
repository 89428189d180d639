"""Reports: the figures that vocabularies get on a corpus, and how these are shown."""
