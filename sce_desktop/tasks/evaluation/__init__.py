"""How right predictions are."""
