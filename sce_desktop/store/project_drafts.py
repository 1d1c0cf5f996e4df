"""The face of a project, as far as drafts go: fast, rough scores until the model has scored a row."""

from __future__ import annotations

import sqlalchemy as sa

from sce_desktop.core.arrays import IdArray
from sce_desktop.core.blank import is_blank
from sce_desktop.core.runs import Scores
from sce_desktop.store.content import rows
from sce_desktop.store.file.database import Database
from sce_desktop.store.runs.drafts import DraftedRuns, Drafts, Predict
from sce_desktop.store.runs.runs import RowScore
from sce_desktop.store.runs.scored import ScoredRuns
from sce_desktop.store.sql import Ids, last_row_id


class DraftMethods:
    """A part of `Project`. Drafts are in memory alone: nothing here writes to the file."""

    _database: Database
    _scored: ScoredRuns
    _drafts: Drafts
    _drafted: DraftedRuns

    def begin_draft(self, run_id: int, predict: Predict) -> None:
        """Begin the draft of a run, made by ``predict``; an older draft is dropped."""
        with self._database.read() as connection:
            last = connection.execute(sa.select(last_row_id())).scalar_one()
        self._drafts.begin(run_id, int(last or 0), predict)

    def add_draft(self, run_id: int, row_ids: IdArray, scores: Scores) -> None:
        """Take draft ``scores`` of ``row_ids`` (n,); nothing happens if the run has no draft any more."""
        draft = self._drafts.of(run_id)
        if draft is not None:
            draft.add(row_ids, scores)

    def end_draft(self) -> None:
        """Drop the draft."""
        self._drafts.end()

    def has_draft(self, run_id: int) -> bool:
        """Whether there is a draft of a run, begun at least."""
        return self._drafts.of(run_id) is not None

    def draft_count(self, run_id: int) -> int:
        """Return how many rows have a draft of a run and no score of it yet."""
        draft = self._drafts.of(run_id)
        if draft is None:
            return 0
        with self._database.read() as connection:
            return draft.count(self._scored.get(connection, run_id))

    def draft_scores(self, run_id: int, ids: Ids) -> dict[int, RowScore]:
        """Return draft scores of ``ids`` by row, made now; rows without text are absent.

        Whoever asks has looked that the run has no score of them. Nothing if the run has no draft.
        """
        draft = self._drafts.of(run_id)
        if draft is None:
            return {}
        wanted = [int(row_id) for row_id in ids]
        with self._database.read() as connection:
            texts = rows.texts(connection, wanted)
        return draft.scores(
            {row_id: text for row_id, text in zip(wanted, texts, strict=True) if not is_blank(text)}
        )
