"""A prompted LLM is slow: how long it will take is told before it starts."""

from __future__ import annotations

from collections.abc import Sequence

from sce_desktop.core.annotations import Label
from sce_desktop.core.progress import Progress
from sce_desktop.tasks.scoring.models import NamedModel

TOLD_FROM_S = 20.0


def tell_time(
    models: Sequence[NamedModel],
    texts: Sequence[str],
    labels: Sequence[Label],
    rows: int,
    progress: Progress,
) -> None:
    """Try the LLMs among ``models`` on a few ``texts``; say how long ``rows`` take where that is long."""
    for named in models:
        trial = getattr(named.model, "seconds_a_row", None)
        if trial is None or not texts or rows < 2:
            continue
        progress.report(0, rows, stage=f"timing {named.name}")
        progress.check()
        if (seconds := rows * trial(texts, labels)) >= TOLD_FROM_S:
            needs = f"takes about {duration(seconds)} for {rows:,} rows here"
            progress.warn(f"{named.name} asks a language model and {needs}.")


def duration(seconds: float) -> str:
    """Return ``seconds`` as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours"
