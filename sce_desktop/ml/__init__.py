"""Models: embedders, the SCE, baselines, training. The only package that knows torch."""
