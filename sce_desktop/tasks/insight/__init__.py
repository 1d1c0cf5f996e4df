"""What the labels say about the table."""
