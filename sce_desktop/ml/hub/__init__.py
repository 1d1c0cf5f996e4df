"""Model folders: which are installed, downloads, models in memory."""
