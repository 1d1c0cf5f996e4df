"""Which rows have new scores: what a scoring hands over chunk by chunk, and what shows them gets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

import numpy as np

from sce_desktop.core.arrays import IdArray
from sce_desktop.core.runs import Run, Scores


@dataclass(frozen=True, slots=True, eq=False)
class ScoredChunk:
    """Rows that a run has just scored; the project has kept the scores."""

    run: Run  # as it was before this scoring
    row_ids: IdArray  # (n,)
    scores: Scores  # of ``row_ids``, in the order of ``run.labels``


@dataclass(frozen=True, slots=True, eq=False)
class ScoredRows:
    """All that has changed in what the runs shown say: ``chunks``, and runs shown for the first time.

    What a run of ``new_runs`` says is in ``chunks`` whole; the run before it is out of date by now.
    """

    chunks: tuple[ScoredChunk, ...]
    new_runs: frozenset[int] = frozenset()

    @property
    def empty(self) -> bool:
        """Whether no row has another score."""
        return not self.chunks and not self.new_runs

    def among(self, row_ids: IdArray) -> bool:
        """Whether any of ``row_ids`` (n,) has a new score."""
        return any(np.isin(row_ids, chunk.row_ids).any() for chunk in self.chunks)


class AllScores(Enum):
    """The type of `ALL_SCORES`."""

    ALL = "all"


ALL_SCORES: Final = AllScores.ALL  # any row may have other scores, and other runs may be shown


def other_runs(change: object) -> bool:
    """Whether other runs may be shown since ``change``, an argument of ``scoresChanged``."""
    return not isinstance(change, ScoredRows) or bool(change.new_runs)


def about_row(change: object, row_id: int) -> bool:
    """Whether what is shown of the scores of one row may be another since ``change``."""
    return other_runs(change) or (isinstance(change, ScoredRows) and change.among(np.array([row_id])))


def chunks_of(change: object) -> tuple[ScoredChunk, ...]:
    """Return the chunks of a ``change``; none where it may be about any row."""
    return change.chunks if isinstance(change, ScoredRows) else ()


def scores_since(
    before: Sequence[Run], now: Sequence[Run], chunks: Iterable[ScoredChunk]
) -> ScoredRows | AllScores:
    """Return what has changed since the runs ``before`` were shown, where ``chunks`` have come since then.

    Args:
        before: The runs shown until now, one of each alias.
        now: Those shown from now on, read from the project before ``chunks`` were taken.
        chunks: Everything that scorings have handed over in between.
    """
    if [run.alias for run in before] != [run.alias for run in now]:
        return ALL_SCORES
    shown = {run.id for run in now}
    fitting = tuple(chunk for chunk in chunks if chunk.run.id in shown)
    new = [run for old, run in zip(before, now, strict=True) if old.id != run.id]
    whole = {chunk.run.id for chunk in fitting if not chunk.run.scored}  # begun by this very scoring
    if any(run.scored and run.id not in whole for run in new):
        return ALL_SCORES  # it has scores from earlier
    return ScoredRows(fitting, frozenset(run.id for run in new))
