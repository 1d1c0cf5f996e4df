"""Delimited text: encoding, dialect, header, records."""
