"""The Soft Contextualized Encoder: network, label pass, model folder."""
