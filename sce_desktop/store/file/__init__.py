"""The project file: opening, locking, format and its migrations, what can befall it."""
