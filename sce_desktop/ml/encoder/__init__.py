"""Text encoders: token ids to vectors."""
