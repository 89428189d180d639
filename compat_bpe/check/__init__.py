"""Token budgets: limits of files from a configuration, and what is over them."""
