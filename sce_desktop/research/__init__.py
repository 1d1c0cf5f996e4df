"""The paper's experiments and the benchmarks: pretraining, few-shot, costs. The window never imports it."""
