"""The real program as a screen reader knows it: ``python -m tests.atspi``."""
