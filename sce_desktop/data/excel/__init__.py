"""Workbooks: xlsx as a stream, older kinds through calamine."""
