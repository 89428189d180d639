"""Unicode as in the reference tokenizers: properties, clusters, UTF-8, and text for display."""
