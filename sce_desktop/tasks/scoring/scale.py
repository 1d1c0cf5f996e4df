"""What classifying a large table takes in time and on disk, reported before anything is written."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from sce_desktop.core.annotations import Label
from sce_desktop.core.blank import is_blank
from sce_desktop.core.i18n import _, number
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import VectorCache
from sce_desktop.core.text import duration, rounded
from sce_desktop.data.tables import Table
from sce_desktop.store.content.rows import Shape
from sce_desktop.tasks.scoring.models import NamedModel
from sce_desktop.tasks.tables.room import check_output, size_of

LARGE_ROWS = 20_000
"""From so many rows on a few are scored first, to say how long all of them take."""
_LONG_S = 120.0
_SAMPLE = 1000  # rows, for the size of the output
_TRIED = 64


def report_scale(
    table: Table,
    text_at: Sequence[int],
    output: Path,
    labels: Sequence[Label],
    models: Sequence[NamedModel],
    multi_label: bool,
    cache: VectorCache,
    progress: Progress,
) -> None:
    """Say how long a large ``table`` takes and how large ``output`` gets.

    Language models are not tried here: `slow.report_time` does it.

    Raises:
        UserError: The disk has no room for the output.
    """
    rows = table.estimated_rows or 0
    if rows < LARGE_ROWS:
        return
    with closing(table.batches(_SAMPLE)) as batches:
        sample = next(batches, [])
    check_output(size_of(sample, rows, text_at), output, len(labels), len(models), progress)
    shape = Shape(table.columns, tuple(text_at))
    texts = [text for cells in sample if not is_blank(text := shape.text_of(cells))]
    texts = texts[:: -(-len(texts) // _TRIED)] if texts else []
    seconds = sum(
        seconds_a_row(named, texts, labels, multi_label=multi_label, cache=cache) for named in models
    )
    if (whole := rows * seconds) > _LONG_S:
        progress.warn(
            _(
                "Classifying about {rows} rows takes about {time} here, at the rate of the first ones.",
                rows=number(rounded(rows)),
                time=duration(whole),
            )
        )


def seconds_a_row(
    named: NamedModel, texts: Sequence[str], labels: Sequence[Label], *, multi_label: bool, cache: VectorCache
) -> float:
    """Return how long a model takes for one of ``texts``, whose vectors are kept; 0 for language models."""
    if not texts or hasattr(named.model, "seconds_a_row"):
        return 0.0
    named.model.probabilities(texts[:1], labels, multi_label=multi_label, cache=cache)  # labels are read once
    started = time.perf_counter()
    named.model.probabilities(texts, labels, multi_label=multi_label, cache=cache)
    return (time.perf_counter() - started) / len(texts)
