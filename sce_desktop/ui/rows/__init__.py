"""The table of rows, the row on screen, filters, and acting on many rows."""
