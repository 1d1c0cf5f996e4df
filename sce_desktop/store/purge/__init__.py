"""Deleting for good: out of the tables, the history, the search index, copies and caches."""
