"""What a fine-tune takes, in seconds and bytes: estimated before it starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery
from sce_desktop.core.text import size_text
from sce_desktop.ml.finetune.recipes import (
    FOLDS,
    MOST_TO_MEASURE_BY_FOLDS,
    AdapterPace,
    adapter_work,
    choices,
)
from sce_desktop.store.project import Project

if TYPE_CHECKING:
    from sce_desktop.ml.sce.model import SCEModel

TEXT_SECONDS = 0.025
"""To read a text of usual length on two cores, where nothing better is known."""
WIDTH = 384
"""Of the text vectors, where nothing better is known; costs grow slowly with it."""
EPOCHS = 50
"""Of a fit, where it may have more: most settle earlier than after the usual 100 (an assumption)."""
START_SECONDS, EPOCH_SECONDS, WORK_SECONDS = 1.0, 0.001, 3e-9
"""Of all, of an epoch, and of a row, recipe and direction in it.

The first is an assumption. The others lie above what ``python -m tests.benchmarks epochs`` measures, in most
sizes by about two (docs/research/fine-tune.md, Time). What a project's last fine-tune took corrects
them (`pace_of`).
"""
REGRESSION_SECONDS = 3e-8
"""Of a row, label and direction in a logistic regression, whatever number of steps it takes.

``python -m tests.benchmarks large-finetune`` measures 1e-8 to 4.5e-8 on one core.
"""
TRIED = 64
"""Texts that a step of adapting the embedder is tried on."""
PEFT_SECONDS, PEFT_BYTES = 5.0, 250_000_000
"""To import PEFT; memory beside that of a step, most of it kept by the allocator. Measured once."""
BASE_BYTES, READ_BYTES = 230_000_000, 80_000_000
"""Beyond what the program has, whatever the number of rows: to fit and to save; to read texts.

``python -m tests.benchmarks large-finetune`` prints what is expected and what it was.
"""
KEPT = 1.6
"""Bytes that a fit takes for each byte of its arrays: the allocator keeps what they leave (12,975 rows)."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a fine-tune takes: seconds to fit and to read texts, and bytes.

    ``memory``: beyond what the program has already, which is ``held``; ``free``: that there are for it.
    ``adapt``: seconds to adapt the text embedder, 0 where it stays as it is. ``again``: seconds in which an
    adapted one then reads all rows of a project, once it is used.
    """

    fit: float
    read: float
    memory: int
    free: int
    adapt: float = 0.0
    again: float = 0.0
    held: int = 0

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.fit + self.read + self.adapt

    @property
    def peak(self) -> int:
        """Bytes that the whole program has when it has the most, as a list of processes shows them.

        Rounded up to 50 MB: more is not known.
        """
        return -(-(self.held + self.memory) // 50_000_000) * 50_000_000

    @property
    def too_large(self) -> str:
        """Why it cannot be, in one sentence; empty if it can."""
        if self.memory <= self.free:
            return ""
        return _(
            "This needs about {needed} of memory, but {free} is free: learn from fewer rows (exclude those "
            "labelled in bulk or imported), or close other programs.",
            needed=size_text(self.memory),
            free=size_text(self.free),
        )


def cost(
    rows: int,
    known: int,
    labels: int,
    *,
    measurable: int | None = None,
    unread: int = 0,
    pace: float = 1.0,
    epochs: int = 100,
) -> Cost:
    """Estimate a fine-tune on ``rows``.

    Args:
        rows: To learn from.
        known: Labels that have examples.
        labels: All of them.
        measurable: Rows that may be measured; None: all.
        unread: Texts that have no vector yet.
        pace: How much slower than the machine of docs/research/fine-tune.md this one is.
        epochs: Passes over the rows at most.
    """
    by_folds = (rows if measurable is None else measurable) <= MOST_TO_MEASURE_BY_FOLDS
    recipes, folds = choices(rows, known)
    tested = FOLDS if by_folds else 1
    fits = (tested + by_folds) * folds + tested + 1
    part = (FOLDS - 1) / FOLDS
    learned = part * part * rows  # most fits choose a strength on what is left where a part is left out
    fit = pace * (START_SECONDS + fits * min(EPOCHS, epochs) * epoch_seconds(learned, known, len(recipes)))
    fit += pace * (tested + 1) * rows * known * WIDTH * REGRESSION_SECONDS
    arrays = 4 * rows * (len(recipes) * (5 * known + 2 * labels) + 6 * WIDTH)
    memory = BASE_BYTES + round(KEPT * arrays)
    if unread:
        memory += READ_BYTES
    return Cost(fit, unread * TEXT_SECONDS, memory, free_memory(), held=held_memory())


def adapting(
    fast: Cost,
    pace: AdapterPace,
    *,
    rows: int,
    measurable: int,
    epochs: int = 100,
    all_rows: int = 0,
) -> Cost:
    """Return what a fine-tune takes that adapts the text embedder after the fast way.

    Args:
        fast: What the fast way takes.
        pace: As `adapter_pace` found it.
        rows: To learn from.
        measurable: Rows that may be measured.
        epochs: Passes over the rows at most.
        all_rows: Of the project, which an adapted embedder reads again once it is used.
    """
    steps, reads = adapter_work(rows, measurable, epochs)
    return replace(
        fast,
        adapt=PEFT_SECONDS + steps * pace.step + reads * pace.read,
        again=all_rows * pace.read,
        memory=max(fast.memory, BASE_BYTES + PEFT_BYTES + pace.step_bytes),
    )


def adapter_pace(
    model: SCEModel, texts: Sequence[str], labels: Sequence[Label], progress: Progress
) -> AdapterPace:
    """Return what adapting the embedder of ``model`` to rows such as ``texts`` takes, by a short trial.

    Raises:
        UserError: It cannot be adapted, or there is no text.
    """
    from sce_desktop.ml.finetune.adapting import pace_of, why_not

    if reason := why_not(model):
        raise UserError(reason)
    if not texts:
        raise UserError(_("There are no texts to time the fine-tuning of the text encoder with."))
    return pace_of(model, texts[:: -(-len(texts) // TRIED)], labels, progress)


def project_adapter_pace(project: Project, model: SCEModel, *, progress: Progress) -> AdapterPace:
    """Return what `adapter_pace` finds with texts and labels of ``project``.

    Raises:
        UserError: As there, or the project has no labels.
    """
    label_set = project.label_set()
    if label_set is None or not label_set.labels:
        raise UserError(_("The project has no labels yet: add some first."))
    ids = project.row_ids(RowQuery(blank=False))
    texts = project.texts(ids[:: max(1, len(ids) // TRIED)])
    return adapter_pace(model, texts, label_set.labels, progress)


def epoch_seconds(rows: float, known: int, recipes: int) -> float:
    """Return how long one epoch takes that fits ``recipes`` to ``rows`` with ``known`` labels at once.

    Its products go through every row and direction of the vectors for every recipe and label; the share of
    labels that costs as much as going through them at all is 20.
    """
    return EPOCH_SECONDS + recipes * rows * min(rows, WIDTH) * (1 + known / 20) * WORK_SECONDS


def pace_of(project: Project) -> float:
    """Return how much slower than expected the newest fine-tune of ``project`` was; 1 if there is none."""
    for version in reversed(project.versions()):
        fit = version.report.fit
        if fit.expected_seconds and not fit.cut_short:
            return float(np.clip(version.seconds / fit.expected_seconds, 0.2, 10.0))
    return 1.0


def held_memory() -> int:
    """Return how many bytes this program has now."""
    import psutil

    return int(psutil.Process().memory_info().rss)


def free_memory() -> int:
    """Return how many bytes a program may still take here."""
    import psutil

    free = int(psutil.virtual_memory().available)
    try:  # a container may be allowed less
        most = int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii"))
        used = int(Path("/sys/fs/cgroup/memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return free
    return min(free, most - used)
