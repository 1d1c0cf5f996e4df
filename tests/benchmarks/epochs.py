"""Milliseconds of an epoch of a fine-tune, beside what `tasks.training.cost.cost` expects of it."""

from __future__ import annotations

import time

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention

from sce_desktop.ml.finetune.fitting import Examples, Fitter
from sce_desktop.ml.finetune.recipes import MANY, RECIPES, RECIPES_FOR_MANY
from sce_desktop.tasks.training.cost import WIDTH, epoch_seconds
from tests.benchmarks.measure import print_table

SIZES = ((60, 5), (300, 6), (300, 20), (1500, 10), (3000, 20))  # rows that are fitted to, labels
EPOCHS, ROUNDS = 20, 3


def run() -> None:
    """Measure and print; the vectors are random ones, which have as many directions as there can be."""
    torch.manual_seed(0)
    lines = []
    for rows, labels in SIZES:
        vectors = F.normalize(torch.randn(rows, WIDTH), dim=-1)
        names = F.normalize(torch.randn(labels, WIDTH), dim=-1)
        known = torch.arange(labels)
        examples = Examples(
            vectors, torch.arange(rows) % labels, known, 10 * vectors @ names.T, names, alpha=10.0
        )
        recipes = RECIPES if rows * labels < MANY else RECIPES_FOR_MANY
        fitter = Fitter(examples)
        spent = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            done = len(fitter.fit(recipes, epochs=EPOCHS).losses)
            spent.append((time.perf_counter() - started) / done)
        expected = epoch_seconds(rows, labels, len(recipes))
        lines.append(
            (f"{rows:,}", str(labels), str(len(recipes)), f"{1e3 * min(spent):.1f}", f"{1e3 * expected:.1f}")
        )
    print_table("An epoch of a fine-tune (ms)", ("rows", "labels", "recipes", "measured", "expected"), lines)
