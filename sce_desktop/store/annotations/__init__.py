"""Labels, what people decided, its history, and other annotators."""
