"""Fine-tuning on a user's labels."""
