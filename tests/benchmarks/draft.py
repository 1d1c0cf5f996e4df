"""What a draft is worth: accuracy beside the model's own on every validation set, and rows a second."""

from __future__ import annotations

import resource
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from sce_desktop.core.annotations import Label
from sce_desktop.core.metrics import measure
from sce_desktop.ml.draft.model import DraftModel, draft_of
from sce_desktop.ml.draft.static import StaticVectors
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.research.collections import list_sets, load_set
from sce_desktop.tasks.evaluation.gold import sample
from sce_desktop.tasks.scoring.models import open_session, open_vector_cache
from tests.benchmarks.measure import print_table

LABELS = (
    *("Politics", "Business", "Sport", "Science", "Health", "Travel", "Food", "Music", "Film", "Books"),
    *("Law", "Money", "School", "Weather", "Animals", "Art", "Religion", "Family", "Technology", "Cars"),
)
RATE_ROWS = 20_000
PASSES = 2


def run(*, model: str, data: Path, names: Sequence[str] | None, rows: int, device: str = "cpu") -> None:
    """Print both tables; ``rows``: of a set at most, the same every time. ``device``: of the model."""
    loaded = open_session(device).model(model)
    assert isinstance(loaded, SCEModel)
    draft = draft_of(loaded, model)
    if draft is None:
        raise SystemExit(f"{model} has no draft.")
    part = "multilingual" if names and names[0].startswith("sib_") else "validation"
    wanted = names or list_sets(data, part)
    accuracy(loaded, draft.vectors, data, wanted, rows)
    rate(draft, data, wanted)


def accuracy(model: SCEModel, static: StaticVectors, data: Path, names: Sequence[str], rows: int) -> None:
    """Print how often both are right on each set, and how often they say the same."""
    cache = open_vector_cache()
    lines, means = [], []
    for name in names:
        labelled = load_set(data, name)
        kept = sample(list(range(len(labelled))), rows)
        texts, labels = (
            [labelled.texts[place] for place in kept],
            [Label(one) for one in labelled.label_names],
        )
        places = {one: place for place, one in enumerate(labelled.label_names)}
        gold = np.array([places[labelled.labels[place]] for place in kept])
        theirs = model.probabilities(texts, labels, cache=cache).probabilities
        # Each set is a table of its own, by which static vectors are moved.
        mine = DraftModel(model, static).probabilities(texts, labels, cache=cache).probabilities
        found, own = measure(gold, mine), measure(gold, theirs)
        same = float((mine.argmax(1) == theirs.argmax(1)).mean())
        low, high = found.accuracy_interval
        lines.append(
            [
                name,
                f"{len(texts):,}",
                str(len(labels)),
                f"{100 * found.accuracy:.1f} ({100 * low:.1f} to {100 * high:.1f})",
                f"{100 * own.accuracy:.1f}",
                f"{100 * (found.accuracy - own.accuracy):+.1f}",
                f"{100 * same:.0f}",
                f"{found.ece:.2f}",
                f"{own.ece:.2f}",
            ]
        )
        means.append((found.accuracy, own.accuracy, found.accuracy - own.accuracy, same, found.ece, own.ece))
    mine_, own_, less, same, ece, own_ece = np.mean(means, axis=0)
    mean = [f"{100 * mine_:.1f}", f"{100 * own_:.1f}", f"{100 * less:+.1f}", f"{100 * same:.0f}"]
    lines.append(["mean", "", "", *mean, f"{ece:.2f}", f"{own_ece:.2f}"])
    header = [
        "set",
        "rows",
        "labels",
        "draft (95 %)",
        "model",
        "draft - model",
        "same label",
        "ECE",
        "of the model",
    ]
    print_table("accuracy of the draft, per cent", header, lines)


def rate(draft: DraftModel, data: Path, names: Sequence[str]) -> None:
    """Print rows a second from strings to probabilities, by the clock and by processor time."""
    pools = [load_set(data, name).texts for name in names]
    texts = [text for pool in pools for text in pool[: -(-RATE_ROWS // len(pools))]][:RATE_ROWS]
    labels = [Label(name) for name in LABELS]
    draft.probabilities(texts[:100], labels)
    lines = []
    for number in range(PASSES):
        clock, before = time.perf_counter(), _processor()
        draft.probabilities(texts, labels)
        clock, processor = time.perf_counter() - clock, _processor() - before
        rates = [f"{len(texts) / clock:,.0f}", f"{len(texts) / processor:,.0f}"]
        lines.append([f"pass {number + 1}", f"{len(texts):,}", str(torch.get_num_threads()), *rates])
    words = np.mean([len(text.split()) for text in texts])
    print_table(
        "speed of the draft",
        ["", "rows", "threads", "rows/s", "rows per second of processor"],
        lines,
        [f"{len(labels)} labels, texts of {words:.0f} words on the mean; in pass 1 words are new"],
    )


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
