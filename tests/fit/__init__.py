"""Whether every text of the window fits into its place: see `tests.fit.__main__`."""
