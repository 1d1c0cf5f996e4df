"""Final labels of a table without a project: the columns, and the threshold that an error asks for.

A threshold is chosen before the first line is written. So the rows are scored first, and what the model
says is kept in a temporary file; then they are written with it. No text is scored twice.
"""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO

import numpy as np

from sce_desktop.core.blank import is_blank
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.labels import label_key
from sce_desktop.core.query import FinalSource
from sce_desktop.core.runs import Scores
from sce_desktop.core.scoring import Status
from sce_desktop.core.selective import AuditedPredictions, Curve
from sce_desktop.core.tables import Cell
from sce_desktop.data.writers import OutCell
from sce_desktop.tasks.evaluation.final_labels import Audited, FinalLabels, FinalReport, report
from sce_desktop.tasks.tables.columns import as_list


@dataclass(frozen=True, slots=True)
class FinalWanted:
    """What final labels are asked for.

    Args:
        max_error: The error to promise; None: a threshold is given.
        column: Header of the column that says which predictions are wrong; None: there is none.
        audit: Its labels are an annotator's, of a random sample; else they are gold labels.
    """

    max_error: float | None = None
    column: str | None = None
    audit: bool = False


class FinalTable:
    """Gives each row its final label, and remembers what the model says of rows whose label is known."""

    def __init__(
        self, wanted: FinalWanted, *, column: int | None, labels_at: int | None, threshold: float | None
    ) -> None:
        """``column``: place of the labels that are known; ``labels_at``: of the list of several labels."""
        if wanted.max_error is not None and labels_at is not None:
            raise UserError(
                _("An error can be promised only where a row has one label: leave --max-error out.")
            )
        self.wanted = wanted
        self.threshold = threshold
        self._column = column
        self._labels_at = labels_at
        self._rows = 0  # with text
        self._annotated = 0
        self._confidence = array("d")  # of each row with text; nan where the model gives no label
        self._audited: list[int] = []  # places of rows whose label is known
        self._wrong: list[bool] = []

    def note(self, row: Sequence[Cell], result: Sequence[OutCell]) -> None:
        """Remember what the model says of a row with text; ``result`` are the cells of its columns."""
        label, confidence, status = result[:3]
        gives = status != Status.NONE
        known = self._known(row)
        if known is not None:
            self._audited.append(self._rows)
            self._wrong.append(label_key(known) != label_key(str(label)))
            self._annotated += self.wanted.audit
        self._confidence.append(float(confidence) if gives else np.nan)  # type: ignore[arg-type]
        self._rows += 1

    def cells(self, row: Sequence[Cell], result: Sequence[OutCell] | None) -> list[OutCell]:
        """Return the final label of a row and who gives it; ``result``: None where there is no text."""
        own = self._known(row) if self.wanted.audit else None
        if own is not None:
            return [own if self._labels_at is None else as_list([own]), FinalSource.ANNOTATOR.value]
        if result is None or result[2] == Status.NONE or float(result[1]) < (self.threshold or 0):  # type: ignore[arg-type]
            return [None, FinalSource.NONE.value]
        return [result[0 if self._labels_at is None else self._labels_at], FinalSource.MODEL.value]

    def choose(self) -> FinalReport:
        """Choose the threshold, if an error is asked for, and say what final labels mean with it.

        Raises:
            UserError: The known labels do not bear the error.
        """
        found = report(self._facts(), self.threshold, self.wanted.max_error)
        self.threshold = found.threshold
        return found

    def _known(self, row: Sequence[Cell]) -> str | None:
        cell = row[self._column] if self._column is not None else None
        return None if cell is None or is_blank(cell) else cell

    def _facts(self) -> FinalLabels:
        confidence = np.frombuffer(self._confidence) if self._rows else np.zeros(0)
        gives = ~np.isnan(confidence)
        places, wrong = np.asarray(self._audited, np.int64), np.asarray(self._wrong, bool)
        is_open = gives.copy()
        if self.wanted.audit:
            is_open[places] = False
        facts = FinalLabels(self._rows, self._annotated, confidence[is_open], None)
        if self._column is None or self._labels_at is not None:
            return facts
        seen = gives[places]
        corrected = places[seen & wrong] if self.wanted.audit else places[:0]
        predictions = AuditedPredictions(
            confidence[gives],
            confidence[places[seen]],
            wrong[seen],
            confidence[is_open],
            confidence[corrected],
        )
        basis = "audit" if self.wanted.audit else "gold"
        audited = Audited(basis, predictions, Curve.of(predictions), int(seen.sum()))  # type: ignore[arg-type]
        return FinalLabels(self._rows, self._annotated, confidence[is_open], audited)


@dataclass(slots=True)
class KeptScores:
    """What a model says, batch by batch, in a temporary file: written once, then read again in that order."""

    _file: IO[bytes] = field(default_factory=tempfile.TemporaryFile)

    def add(self, scores: Scores) -> None:
        """Keep the scores of one more batch."""
        np.save(self._file, scores.probabilities, allow_pickle=False)
        np.save(self._file, scores.none if scores.none is not None else np.zeros(0), allow_pickle=False)

    def rewind(self) -> None:
        """Begin to read."""
        self._file.seek(0)

    def next(self) -> Scores:
        """Return the scores of the next batch."""
        probabilities, none = (np.load(self._file, allow_pickle=False) for _part in range(2))
        return Scores(probabilities, none if len(none) or not len(probabilities) else None)

    def close(self) -> None:
        """Remove the file."""
        self._file.close()
