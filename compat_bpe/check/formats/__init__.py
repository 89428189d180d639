"""The forms of a report: a file each, with a function from the report to lines."""
