"""Predictions for the rows of tables and projects."""
