"""Files of other annotation tools: Label Studio, Doccano, Argilla, Hugging Face datasets, QDA-XML."""
