"""Predictions, model versions and cached text vectors."""
