"""The map of all rows."""
