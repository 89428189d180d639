"""Reports: the figures of vocabularies on a corpus, and their tables, charts and page."""
