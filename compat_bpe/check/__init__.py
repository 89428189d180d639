"""Token budgets: limits of files from a configuration, and the files that exceed them."""
