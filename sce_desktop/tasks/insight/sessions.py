"""How fast the user labels, how long the rest takes, and how far they agree with themselves."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np

from sce_desktop.core.agreement import Agreement, compare_coders, kappa_interval
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.estimates import exact_interval
from sce_desktop.core.i18n import _, ngettext, number, percent
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery, RowState
from sce_desktop.core.sessions import SessionFigures, moment, session_figures, start_of_day
from sce_desktop.core.text import interval_text
from sce_desktop.store.project import Project
from sce_desktop.tasks.one_state import one_state

LOOKED_BACK: Final = timedelta(days=30)
"""Older labels say nothing about the speed of today."""
APART: Final = 20
"""So many rows at least lie between the first answer about a row and the second: one must not remember it."""


@one_state
def figures(
    project: Project, progress: Progress, *, now: float | None = None, day_start: float | None = None
) -> SessionFigures:
    """Return the user's figures of today and of this session; ``now`` and ``day_start`` default to the clock.

    Rows labelled by hand are labelled; skipped ones took time too, but are not counted as labelled.
    """
    now = time.time() if now is None else now
    since = datetime.fromtimestamp(now, UTC) - LOOKED_BACK
    moments, labelled = [], []
    for at, answered in project.label_moments(since.isoformat(timespec="milliseconds")):
        with contextlib.suppress(ValueError):  # a file of somebody else's may say anything
            moments.append(moment(at))
            labelled.append(answered)
    progress.check()
    return session_figures(
        np.array(moments, np.float64),
        now,
        start_of_day() if day_start is None else day_start,
        labelled=np.array(labelled, np.bool_),
    )


def open_rows(project: Project, shown: IdArray | None) -> int:
    """Return how many rows with text nobody has labelled or skipped, of those ``shown`` (None: of all)."""
    ids = project.row_ids(RowQuery(state=RowState.UNLABELLED, blank=False))
    return len(ids) if shown is None else int(np.isin(ids, shown).sum())


@dataclass(frozen=True, slots=True, eq=False)
class SelfAgreement:
    """How far the user agrees with themselves on rows labelled twice."""

    agreement: Agreement
    share: tuple[float, float] | None  # 95% confidence interval of the share of equal answers
    kappa: tuple[float, float] | None  # that of Cohen's kappa
    differing: tuple[int, ...]  # rows with two different answers, in file order

    @property
    def rows(self) -> int:
        """Rows that were labelled twice."""
        return self.agreement.rows

    @property
    def sentence(self) -> str:
        """The agreement in words."""
        found = self.agreement
        if not found.rows or self.share is None:
            return _("No row has been repeated yet.")
        said = ngettext(
            "You gave {count} repeated row the same label in {share} of cases ({interval}).",
            "You gave {count} repeated rows the same label in {share} of cases ({interval}).",
            found.rows,
            share=percent(found.same),
            interval=interval_text(self.share, 0),
        )
        if found.kappa is None or self.kappa is None:
            return said
        low, high = (number(end, 2) for end in self.kappa)
        kappa = _(
            "Cohen's kappa {value} ({low} to {high}).", value=number(found.kappa, 2), low=low, high=high
        )
        return f"{said} {kappa}"


@one_state
def self_agreement(project: Project, progress: Progress) -> SelfAgreement:
    """Compare the user's second answers with the first ones; of a row that came again twice, the latest.

    The first answer is the one that the row had when it came again, whatever label it got later.
    """
    latest = {repeat.row_id: repeat for repeat in project.repeats()}
    progress.check()
    repeats = [latest[row_id] for row_id in sorted(latest)]
    places: dict[frozenset[int | str], int] = {}
    first = [places.setdefault(repeat.first, len(places)) for repeat in repeats]
    second = [places.setdefault(repeat.second, len(places)) for repeat in repeats]
    found = compare_coders(np.array(first, np.int64), np.array(second, np.int64), len(places))
    hits = len(repeats) - len(found.disagreements)
    return SelfAgreement(
        agreement=found,
        share=exact_interval(hits, len(repeats)) if repeats else None,
        kappa=kappa_interval(found),
        differing=tuple(repeats[place].row_id for place in found.disagreements.tolist()),
    )


def next_repeat(project: Project, seed: int) -> int | None:
    """Return a random row that the user labelled earlier and may label again; None: there is none."""
    ids = project.repeatable_ids(APART)
    return int(np.random.default_rng(seed).choice(ids)) if len(ids) else None
