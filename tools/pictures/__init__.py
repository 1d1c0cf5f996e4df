"""The pictures of the window: a studio, and scenes for it. `tools/screenshots.py` is the command."""
