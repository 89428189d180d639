"""Worker processes that share a stream of tasks."""
