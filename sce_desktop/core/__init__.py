"""Types and calculations that know nothing of Qt, torch or files."""
