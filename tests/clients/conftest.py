"""The scripts are run in environments that have what they import; pytest leaves them alone."""

collect_ignore = ["scripts"]
