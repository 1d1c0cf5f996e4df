"""Accuracy, confusion matrix, label errors, audit samples and agreement between annotators."""
