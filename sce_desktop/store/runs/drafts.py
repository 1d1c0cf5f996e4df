"""Draft scores of rows that a run has not scored yet, in memory alone: nothing of them is in the file.

A draft is made again in seconds, and what is not in the file cannot get into figures, exports or copies.
Of each row the best label, confidence and margin are kept, by which tables are ordered and filtered; all
probabilities of the few rows that are looked at are computed when somebody looks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from sce_desktop.core import scoring
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.progress import Progress
from sce_desktop.core.runs import Scores
from sce_desktop.store.runs.runs import RowScore
from sce_desktop.store.runs.scored import Scored, ScoredRuns

Predict = Callable[[Sequence[str]], Scores | None]
"""Makes draft scores of texts, for any thread; None once the model is not there any more."""
_NONE_FROM: Final = 0.5
MOST_MADE: Final = 4_096  # rows whose scores are kept; the window asks for a row again at every key


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """The draft of one run, by row id from 0 to the last row that there was; -1 where there is none yet."""

    run_id: int
    predict: Predict
    top: NDArray[np.int32]
    confidence: NDArray[np.float16]
    margin: NDArray[np.float16]
    none: NDArray[np.bool_]
    made: dict[int, tuple[str, RowScore]] = field(default_factory=dict)
    """Scores of rows that were looked at, with the text they are of."""

    def scores(self, texts: Mapping[int, str]) -> dict[int, RowScore]:
        """Return scores of non-blank ``texts`` by row id; nothing once the model is not there any more."""
        made = {row_id: self.made.get(row_id) for row_id in texts}
        found = {row_id: kept[1] for row_id, kept in made.items() if kept and kept[0] == texts[row_id]}
        missing = [row_id for row_id in texts if row_id not in found]
        if not missing:
            return found
        scores = self.predict([texts[row_id] for row_id in missing])
        if scores is None:
            return {}
        probabilities = np.asarray(scores.probabilities, np.float32)
        best, confidence, margin = scoring.top(probabilities)
        new = {
            row_id: RowScore(
                probabilities[at],
                None if scores.none is None else float(scores.none[at]),
                int(best[at]),
                float(confidence[at]),
                float(margin[at]),
            )
            for at, row_id in enumerate(missing)
        }
        if len(self.made) + len(new) > MOST_MADE:
            self.made.clear()
        self.made.update((row_id, (texts[row_id], score)) for row_id, score in new.items())
        return found | new

    def add(self, row_ids: IdArray, scores: Scores) -> None:
        """Take ``scores`` of ``row_ids`` (n,)."""
        best, self.confidence[row_ids], self.margin[row_ids] = scoring.top(scores.probabilities)
        if scores.none is not None:
            self.none[row_ids] = scores.none >= _NONE_FROM
        self.top[row_ids] = best  # the last: from here on the row counts

    def under(self, scored: Scored) -> Scored:
        """Return ``scored`` with what the draft says of the rows that it says nothing about."""
        size = max(len(self.top), len(scored.top))
        drafted = np.flatnonzero(self.top >= 0)
        mine = drafted[~_has(scored, drafted)]
        kept = len(scored.top)
        top = np.full(size, -1, np.int32)
        confidence = np.zeros(size, scored.confidence.dtype)
        margin = np.zeros(size, scored.margin.dtype)
        none = np.zeros(size, bool)
        for now, before, draft in (
            (top, scored.top, self.top),
            (confidence, scored.confidence, self.confidence),
            (margin, scored.margin, self.margin),
            (none, scored.none, self.none),
        ):
            now[:kept] = before
            now[mine] = draft[mine]
        return Scored(scored.count + len(mine), top, confidence, margin, none)

    def count(self, scored: Scored) -> int:
        """Return how many rows have a draft and nothing better."""
        drafted = np.flatnonzero(self.top >= 0)
        return int((~_has(scored, drafted)).sum())


def _has(scored: Scored, row_ids: IdArray) -> NDArray[np.bool_]:
    known = row_ids < len(scored.top)
    result = np.zeros(len(row_ids), bool)
    result[known] = scored.top[row_ids[known]] >= 0
    return result


class Drafts:
    """The draft of the run that is being scored: one at a time, for any thread."""

    def __init__(self) -> None:
        self._draft: Draft | None = None

    def begin(self, run_id: int, last: int, predict: Predict) -> None:
        """Begin the draft of a run over rows up to the id ``last``; an older draft is dropped."""
        size = last + 1
        self._draft = Draft(
            run_id,
            predict,
            np.full(size, -1, np.int32),
            np.zeros(size, np.float16),
            np.zeros(size, np.float16),
            np.zeros(size, bool),
        )

    def of(self, run_id: int) -> Draft | None:
        """Return the draft of a run; None if it has none."""
        draft = self._draft  # read once: another thread may drop it
        return draft if draft is not None and draft.run_id == run_id else None

    def end(self) -> None:
        """Drop the draft."""
        self._draft = None


class DraftedRuns(ScoredRuns):
    """What runs say about every row, with the draft where they say nothing yet: for the table alone."""

    def __init__(self, scored: ScoredRuns, drafts: Drafts) -> None:
        super().__init__()
        self._plain = scored
        self._drafts = drafts
        self._guard = threading.Lock()
        self._last: tuple[Scored, Draft, int, Scored] | None = None

    @property
    def plain(self) -> ScoredRuns:
        """The same without drafts."""
        return self._plain

    def get(self, connection: sa.Connection, run_id: int, progress: Progress | None = None) -> Scored:
        """Return what a run says, and its draft where it says nothing."""
        scored, draft = self._plain.get(connection, run_id, progress), self._drafts.of(run_id)
        if draft is None:
            return scored
        rows = int((draft.top >= 0).sum())
        with self._guard:
            last = self._last
        if last is None or last[0] is not scored or last[1] is not draft or last[2] != rows:
            last = scored, draft, rows, draft.under(scored)
            with self._guard:
                self._last = last
        return last[3]
