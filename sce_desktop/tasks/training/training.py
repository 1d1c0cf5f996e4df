"""What a fine-tune of a project learns from, and what it will cost: known before it starts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.annotations import Decision, Label, Origin
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.comparison import FEWEST_ROWS
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery, RowState
from sce_desktop.core.text import size_text
from sce_desktop.ml.finetune.recipes import (
    FOLDS,
    MOST_TO_MEASURE_BY_FOLDS,
    AdapterPace,
    adapter_work,
    choices,
)
from sce_desktop.store.project import Project
from sce_desktop.tasks.one_state import one_state
from sce_desktop.tasks.scoring.vectors import KnownVectors

if TYPE_CHECKING:
    from sce_desktop.ml.sce.model import SCEModel

ORIGINS = tuple(Origin)
MEASURED_ON = (Origin.HAND, Origin.IMPORTED)
"""What is learned from unless more is asked for, and the only rows that a fine-tune is measured on.

Most answers given in bulk are predictions that were accepted: the model agrees with them by construction, and
"before" would look better than it is (docs/research/honest-figures.md).
"""
TEXT_SECONDS = 0.025
"""To read a text of usual length on two cores, where nothing better is known."""
WIDTH = 384
"""Of the text vectors, where nothing better is known; costs grow slowly with it."""
MOST_LOOKED_UP = 500
"""Texts from which the share of those without a vector is estimated: a plan is made after every edit."""
EPOCHS = 50
"""Of a fit, where it may have more: most settle earlier than after the usual 100 (an assumption)."""
START_SECONDS, EPOCH_SECONDS, WORK_SECONDS = 1.0, 0.001, 3e-9
"""Of all, of an epoch, and of a row, recipe and direction in it.

The first is an assumption. The others lie above what ``python -m tests.benchmarks epochs`` measures, in most
sizes by about two (docs/research/fine-tune.md, Time). What a project's last fine-tune took corrects
them (`pace_of`).
"""
TRIED = 64
"""Texts that a step of adapting the embedder is tried on."""
PEFT_SECONDS, PEFT_BYTES = 5.0, 250_000_000
"""To import PEFT; memory beside that of a step, most of it kept by the allocator. Measured once."""
BASE_BYTES = 120_000_000
"""Beyond what the model takes, whatever the number of rows."""


@dataclass(frozen=True, slots=True, eq=False)
class ChosenRows:
    """Rows to learn from: ``gold`` (n,) are places among the K ``labels``.

    ``counts`` (K, 3): rows of each label by origin, in the order of `ORIGINS`; those of other origins than
    were asked for count too. ``left_out``: excluded labelled rows by reason: origin, blank, several, audit:
    the rows of random samples and others with the same text: claims about the whole table rest on
    them, and no model learns from them. ``measurable`` (n,): those not given in bulk.
    """

    ids: IdArray
    gold: IdArray
    measurable: NDArray[np.bool_]
    labels: tuple[Label, ...]
    counts: NDArray[np.int64]
    left_out: dict[str, int]

    @property
    def examples(self) -> NDArray[np.int64]:
        """(K,) how many rows each label is learned from."""
        return np.bincount(self.gold, minlength=len(self.labels))


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRows(ChosenRows):
    """Rows to learn from with their texts."""

    texts: list[str]

    @property
    def data_hash(self) -> str:
        """Hash of the texts and their labels, whatever the order of the rows."""
        lines = sorted(
            json.dumps([text, self.labels[place].name], ensure_ascii=False)
            for text, place in zip(self.texts, self.gold.tolist(), strict=True)
        )
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@one_state
def chosen_rows(project: Project, origins: Collection[Origin] = MEASURED_ON) -> ChosenRows:
    """Return the rows that have a text, not that of a sample's row, and were given one label by ``origins``.

    Raises:
        UserError: The project has no labels, or lets a row have several.
    """
    label_set = project.label_set()
    if label_set is None or not label_set.labels:
        raise UserError(_("The project has no labels yet: add some, then label rows to learn from."))
    if label_set.multi_label:
        raise UserError(_("Fine-tuning is not available in multi-label projects."))
    place_of = {label.id: place for place, label in enumerate(label_set.labels)}
    ids = project.row_ids(RowQuery(state=RowState.LABELLED, blank=False))
    left_out = dict.fromkeys(("origin", "blank", "several", "audit"), 0)
    left_out["blank"] = len(project.row_ids(RowQuery(state=RowState.LABELLED, blank=True)))
    sampled = {int(row) for audit in project.audits() for row in project.audit_rows(audit.id)}
    kept_apart = set(project.with_same_texts(sorted(sampled)).tolist())
    counts = np.zeros((len(place_of), len(ORIGINS)), dtype=np.int64)
    used: list[tuple[int, int, bool]] = []
    for row_id, annotation in project.annotations(ids).items():
        if row_id in kept_apart:
            left_out["audit"] += 1
        elif annotation.decision is not Decision.LABEL or len(annotation.label_ids) != 1:
            left_out["several"] += 1
        else:
            place = place_of[annotation.label_ids[0]]
            counts[place, ORIGINS.index(annotation.origin)] += 1
            if annotation.origin in origins:
                used.append((row_id, place, annotation.origin in MEASURED_ON))
            else:
                left_out["origin"] += 1
    return ChosenRows(
        np.array([row_id for row_id, *_ in used], dtype=np.int64),
        np.array([place for _, place, _ in used], dtype=np.int64),
        np.array([may for *_, may in used], dtype=np.bool_),
        label_set.labels,
        counts,
        left_out,
    )


@one_state
def training_rows(project: Project, origins: Collection[Origin] = MEASURED_ON) -> TrainingRows:
    """Return what `chosen_rows` does, with the texts.

    Raises:
        UserError: As there.
    """
    rows = chosen_rows(project, origins)
    whole = {field.name: getattr(rows, field.name) for field in fields(rows)}
    return TrainingRows(**whole, texts=project.texts(rows.ids))


@dataclass(frozen=True, slots=True)
class Cost:
    """What a fine-tune takes: seconds to fit and to read texts, bytes at its peak and bytes that are free.

    ``adapt``: seconds to adapt the text embedder, 0 where it stays as it is. ``again``: seconds in which an
    adapted one then reads all rows of a project, once it is used.
    """

    fit: float
    read: float
    memory: int
    free: int
    adapt: float = 0.0
    again: float = 0.0

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.fit + self.read + self.adapt

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
    memory = BASE_BYTES + 4 * rows * (len(recipes) * (5 * known + 2 * labels) + 6 * WIDTH)
    return Cost(fit, unread * TEXT_SECONDS, memory, free_memory())


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
        expected = version.settings.get("expected_seconds")
        if expected and not version.metrics.get("cut_short"):
            return float(np.clip(version.seconds / expected, 0.2, 10.0))
    return 1.0


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


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What a fine-tune would learn from and take; ``problem``: why it cannot start, in one sentence."""

    rows: ChosenRows | None
    cost: Cost | None
    problem: str = ""
    hint: str = ""  # what would be better, though it can start
    slower: Cost | None = None  # with the text embedder adapted too; None: not known

    @property
    def held_out(self) -> str:
        """The validation rows, in sentences."""
        assert self.rows is not None
        may, alone = self.rows.measurable, self.rows.examples == 1
        single, bulk = int(alone.sum()), int((~may).sum())
        n = int((may & ~alone[self.rows.gold]).sum())
        if not n:
            if bulk:
                return _("None: rows labelled in bulk are not used for validation.")
            return _("None: no label has more than one example.")
        sentences = [
            ngettext(
                "{folds}-fold cross-validation on {count} row.",
                "{folds}-fold cross-validation on {count} rows.",
                n,
                folds=FOLDS,
            )
            if n <= MOST_TO_MEASURE_BY_FOLDS
            else ngettext("{count} held-out row (20%).", "{count} held-out rows (20%).", round(n / 5))
        ]
        if single:
            sentences.append(
                ngettext(
                    "{count} label has a single example and is not validated.",
                    "{count} labels have a single example and are not validated.",
                    single,
                )
            )
        if bulk:
            sentences.append(
                ngettext(
                    "Excluded: {count} row labelled in bulk.",
                    "Excluded: {count} rows labelled in bulk.",
                    bulk,
                )
            )
            if n < FEWEST_ROWS:
                sentences.append(_("Too few rows to show a difference."))
        return " ".join(sentences)


def plan(
    project: Project,
    origins: Collection[Origin],
    known: KnownVectors | None,
    pace: AdapterPace | None = None,
    *,
    epochs: int = 100,
    progress: Progress,
) -> Plan:
    """Look what a fine-tune on the rows of ``origins`` would be.

    Args:
        project: Whose rows.
        origins: Which annotations count.
        known: The text vectors that are there; None: not known.
        pace: Of adapting the text embedder; None: not known.
        epochs: Passes over the rows at most.
        progress: Asked whether to go on.
    """
    try:
        rows = chosen_rows(project, origins)
    except UserError as error:
        return Plan(None, None, str(error))
    progress.check()
    examples = rows.examples
    some = int((examples > 0).sum())
    if some < 2:
        only = next((label.name for label, n in zip(rows.labels, examples, strict=True) if n), "")
        return Plan(rows, None, _why_too_few(only, others=bool(rows.left_out["origin"])))
    unread = 0
    if known is not None and len(rows.ids):
        sample = rows.ids[:: max(1, len(rows.ids) // MOST_LOOKED_UP)]
        there, _ = known.cache.get(known.embedder, project.texts(sample))
        unread = round(float((~there).mean()) * len(rows.ids))
    found = cost(
        len(rows.ids),
        some,
        len(rows.labels),
        measurable=int(rows.measurable.sum()),
        unread=unread,
        pace=pace_of(project),
        epochs=epochs,
    )
    slower = None
    if pace is not None:
        slower = adapting(
            found,
            pace,
            rows=len(rows.ids),
            measurable=int(rows.measurable.sum()),
            epochs=epochs,
            all_rows=project.row_count() - project.blank_count(),
        )
    few = int((examples[examples > 0] < 5).sum())
    hint = ""
    if few:
        hint = ngettext(
            "{count} of {labels} labels has fewer than 5 examples.",
            "{count} of {labels} labels have fewer than 5 examples.",
            few,
            labels=number(some),
        )
    return Plan(rows, found, found.too_large, hint, slower)


def _why_too_few(only: str, *, others: bool) -> str:
    """Why two labels with examples are needed; ``only``: the one that has some, ``others``: excluded rows."""
    if only and others:
        return _(
            "Fine-tuning needs at least two labels with examples (only “{label}” has some): label "
            "more rows, or "
            "include other kinds of rows.",
            label=only,
        )
    if only:
        return _(
            "Fine-tuning needs at least two labels with examples (only “{label}” has some): label more rows.",
            label=only,
        )
    if others:
        return _(
            "Fine-tuning needs at least two labels with examples: label more rows, or include other kinds of "
            "rows."
        )
    return _("Fine-tuning needs at least two labels with examples: label more rows.")
