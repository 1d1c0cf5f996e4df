"""The use cases: import, score, evaluate, export. Plain functions that take a `Progress`."""
