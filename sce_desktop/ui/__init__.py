"""The window. Reaches work only through tasks and jobs, data only through Project."""
