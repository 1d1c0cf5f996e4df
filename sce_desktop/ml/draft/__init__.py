"""A fast approximation of a model, for a first look at a large table."""
