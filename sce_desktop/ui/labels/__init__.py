"""The list of labels and everything that edits it."""
