"""Fine-tuning, and the versions of a model."""
