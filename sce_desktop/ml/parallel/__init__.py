"""Several devices at once: worker processes, and text vectors made by them."""
