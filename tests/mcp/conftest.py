"""The scripts are run in an environment that has what they import; pytest leaves them alone."""

collect_ignore = ["scripts"]
