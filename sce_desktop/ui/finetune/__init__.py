"""Fine-tuning, and the versions that came of it."""
