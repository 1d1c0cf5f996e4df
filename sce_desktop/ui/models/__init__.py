"""Which models are installed and available."""
