"""Worker processes, and what threads and forks may share."""
