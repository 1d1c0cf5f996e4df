"""A prompted LLM is slow: how long it will take is reported before it starts."""

from __future__ import annotations

from collections.abc import Sequence

from sce_desktop.core.annotations import Label
from sce_desktop.core.i18n import _, number
from sce_desktop.core.progress import Progress
from sce_desktop.core.text import duration
from sce_desktop.tasks.scoring.models import NamedModel

REPORTED_FROM_S = 20.0


def report_time(
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
        progress.report(0, rows, stage=_("timing {model}", model=named.name))
        progress.check()
        if (seconds := rows * trial(texts, labels)) >= REPORTED_FROM_S:
            progress.warn(
                _(
                    "{model} is a language model and takes about {time} for {rows} rows here.",
                    model=named.name,
                    time=duration(seconds),
                    rows=number(rows),
                )
            )
