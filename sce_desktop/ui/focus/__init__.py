"""Reviewing with nothing else in sight: one text, its labels, and how far one has come."""
