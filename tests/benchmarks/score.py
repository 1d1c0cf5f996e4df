"""Rows a second of scoring from cached vectors, and how near that is to the machine's peak."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.ml.hub import catalog
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.ml.sce.sce import SCEConfig
from sce_desktop.tasks.scoring.classify import BATCH_ROWS
from tests.benchmarks.measure import MATRIX, matrix_peak, print_table, rate

ROUNDS = 2  # the peak is measured before, between and after


def multiply_adds(config: SCEConfig, labels: int) -> float:
    """Return the multiply-adds that the architecture asks for a row, computed plainly.

    Query adaptor, linear layers, the two products of attention, final products. What is needed once a label
    set and not once a row is left out.
    """
    d, ff, d_q = config.encoder.hidden_size, config.encoder.intermediate_size, config.text_width
    ends = d_q * d + labels * d + (labels * d_q if config.architecture == "plus" else 0)
    if config.attention == "joint":
        tokens = labels + 1
        return ends + config.layers * (4 * tokens * d**2 + 2 * tokens**2 * d + 2 * tokens * d * ff)
    # "shared": the text needs its query and output maps; keys and values are the labels', once for all rows.
    return ends + config.layers * (2 * d**2 + 2 * labels * d + 2 * d * ff)


def counted(work: Callable[[], object], rows: int) -> float:
    """Return the multiply-adds a row that ``work`` does, as torch counts its matrix products."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    # The counter knows no fused attention on the CPU: here it runs as the products that it consists of.
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        work()
    return counter.get_total_flops() / 2 / rows


def run(*, model: str, label_counts: Sequence[int], seconds: float) -> None:
    """Measure and print; at least ``seconds`` a measurement."""
    import torch

    sce = SCEModel.from_pretrained(catalog.resolve(model))
    config = sce.config.sce
    rng = np.random.default_rng(0)
    table = []
    for count in label_counts:
        labels = [Label(f"label {i}") for i in range(count)]
        rows = BATCH_ROWS
        vectors = rng.standard_normal((rows, config.text_width)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        work = lambda: len(sce.score(vectors, labels))  # noqa: E731, B023 - used within this turn
        work()  # the labels' own pass
        plain, done = multiply_adds(config, count), counted(work, rows)
        rates, peaks = [], [matrix_peak()]
        for _ in range(ROUNDS):
            rates.append(rate(work, seconds))
            peaks.append(matrix_peak())
        speed, peak = float(np.mean(rates)), float(np.mean(peaks))
        table.append(
            [
                *(str(count), f"{speed:,.0f}", f"{plain / 1e6:.2f}", f"{peak / plain:,.0f}"),
                *(f"{speed * plain / peak:.0%}", f"{done / 1e6:.2f}", f"{speed * done / peak:.0%}"),
                f"{peak / 1e9:.0f}",
            ]
        )
    print_table(
        f"Scoring from cached vectors, {sce.name}, float32, {torch.get_num_threads()} threads",
        ["labels", "rows/s", "M plain", "plain at peak", "of that", "M done", "done of peak", "peak G/s"],
        table,
        [
            f"{config.architecture}, attention {config.attention}, {config.layers} layers of "
            f"{config.encoder.hidden_size}. A text's length plays no part: its vector is there.",
            "M plain: million multiply-adds a row of the architecture, by formula; plain at peak: rows/s if "
            f"all of them ran like torch.mm of {MATRIX}x{MATRIX}, measured between the turns.",
            "M done: what our code multiplies, as torch counts it, less where labels' work is done once.",
        ],
    )
