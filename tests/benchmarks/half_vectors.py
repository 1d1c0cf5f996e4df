"""What it changes to keep text vectors as float16: probabilities, labels and accuracy, set by set.

Vectors are made once in float32, rounded as `core.runs.as_kept` rounds them, and both are scored: rows by
themselves, and predicted jointly.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray, IdArray
from sce_desktop.core.precision import FLOAT32
from sce_desktop.core.runs import as_kept
from sce_desktop.ml.hub import catalog
from sce_desktop.ml.hub.session import ModelSession
from sce_desktop.ml.similarity import SimilarityModel
from sce_desktop.ml.transductive import MAX_ROWS, TransductiveModel
from sce_desktop.research.collections import list_sets, load_set

_SEED = 0
_HEAD = (
    "| set | rows | labels | scored | largest change | mean change | other label | accuracy | as float16 |"
)


def run(data: Path, names: Sequence[str] | None, *, model: str, rows: int) -> None:
    """Print a table of the sets ``names``, all validation sets without; at most ``rows`` texts of each."""
    session = ModelSession("cpu", 1, precision=FLOAT32)
    sce = session.model(str(catalog.resolve(model)))
    similarity = SimilarityModel.from_pretrained()
    print(_HEAD)
    print("| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    began, read, changed, scored = time.process_time(), 0, 0, 0
    for name in names or list_sets(data, "validation"):
        labelled = load_set(data, name)
        keep = np.random.default_rng(_SEED).permutation(len(labelled))[:rows]
        texts = [labelled.texts[place] for place in keep]
        place_of = {label: place for place, label in enumerate(labelled.label_names)}
        gold = np.asarray([place_of[labelled.labels[place]] for place in keep])
        labels = [Label(label) for label in place_of]
        whole = sce.text_embedder.encode(texts)
        read += len(texts)
        ways: dict[str, tuple[FloatArray, Callable[[FloatArray], FloatArray]]] = {
            model: (whole, lambda vectors, labels=labels: sce.score(vectors, labels).probabilities),
            f"{model}, joint": (
                whole,
                lambda vectors, labels=labels: (
                    TransductiveModel(sce, vectors[:MAX_ROWS]).score(vectors, labels).probabilities
                ),
            ),
            "similarity": (
                similarity.text_embedder.encode(texts),
                lambda vectors, labels=labels: similarity.score(vectors, labels).probabilities,
            ),
        }
        for way, (vectors, score) in ways.items():
            line, other = _compared(score(vectors), score(as_kept(vectors)), gold)
            changed, scored = changed + other, scored + len(texts)
            print(f"| {name} | {len(texts):,} | {len(labels)} | {way} | {line} |", flush=True)
    seconds = time.process_time() - began
    print(f"{changed:,} of {scored:,} labels are others; {read:,} texts, {seconds:.0f} s of one core")


def _compared(whole: FloatArray, half: FloatArray, gold: IdArray) -> tuple[str, int]:
    change = np.abs(whole - half)
    before, after = whole.argmax(axis=1), half.argmax(axis=1)
    other = int((before != after).sum())
    accuracy = [100 * float((found == gold).mean()) for found in (before, after)]
    line = f"{change.max():.1e} | {change.mean():.1e} | {other} | {accuracy[0]:.2f} | {accuracy[1]:.2f}"
    return line, other
