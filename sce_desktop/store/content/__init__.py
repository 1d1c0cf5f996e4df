"""Rows: import, search, filters, order."""
