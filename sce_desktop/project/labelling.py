"""Labelling without a window: by name, from a table, in the order of a queue."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from sce_desktop.core.annotations import Annotation, Decision
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.queues import DEFAULT_QUEUE, Queue
from sce_desktop.core.tables import TableOptions
from sce_desktop.project.base import Base, Rows, as_ids

if TYPE_CHECKING:
    from sce_desktop.core.annotations import Audit
    from sce_desktop.tasks.insight.bulk import BulkOutcome
    from sce_desktop.tasks.tables.labelling import LabelledRows

_QUEUES = ", ".join(Queue)


class Labelling(Base):
    """A part of `Project`."""

    def label(self, rows: Rows, *labels: str) -> None:
        """Label one row, or several; ``labels`` are names, several of them in a multi-label project."""
        from sce_desktop.tasks.tables.labelling import label_rows

        label_rows(self, as_ids(rows), labels)

    def none_fits(self, rows: Rows) -> None:
        """Say that none of the labels fits."""
        self.decide(as_ids(rows), Decision.NONE)

    def skip(self, rows: Rows) -> None:
        """Leave rows unlabelled on purpose."""
        self.decide(as_ids(rows), Decision.SKIPPED)

    def label_from(
        self,
        table: str | Path,
        *,
        key: str = "row",
        column: str = "label",
        own_key: str | None = None,
        new_labels: bool = False,
        options: TableOptions | None = None,
        progress: Progress | None = None,
    ) -> LabelledRows:
        """Label the rows that a table names, such as one of `write_queue`; one step of the history.

        Args:
            table: With a column that says which row is meant, and one of labels; blank cells change nothing.
            key: Header of the first; "row" is the row's number.
            column: Header of the second.
            own_key: Header of the project's column of keys, if it is another one.
            new_labels: Add labels that the project does not have, instead of refusing them.
            options: How to read the table.
            progress: Told of rows.
        """
        from sce_desktop.tasks.tables.labelling import label_from_table

        return label_from_table(
            self,
            Path(table),
            key_column=key,
            label_column=column,
            own_key=own_key,
            new_labels=new_labels,
            options=options,
            progress=progress or SilentProgress(),
        )

    def labels_of(self, rows: Rows) -> dict[int, tuple[str, ...]]:
        """Return the names of the labels that you gave, by row; unlabelled rows are absent."""
        label_set = self.label_set()
        names = {label.id: label.name for label in label_set.labels} if label_set else {}
        found: dict[int, Annotation] = self.annotations(as_ids(rows))
        return {row: tuple(names[i] for i in one.label_ids if i in names) for row, one in found.items()}

    def queue(
        self,
        order: str = DEFAULT_QUEUE,
        most: int | None = None,
        *,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> list[int]:
        """Return the numbers of unlabelled rows in the order in which to label them.

        Args:
            order: file, least certain, smallest margin, models disagree, rare label first, diverse or random.
            most: How many at most.
            seed: Of what is drawn at random.
            progress: Asked whether to go on.
        """
        from sce_desktop.tasks.insight.queue_table import queue_ids

        if order not in set(Queue):
            raise UserError(_("“{name}” is not a queue: choose one of {names}.", name=order, names=_QUEUES))
        found = queue_ids(
            self,
            Queue(order),
            seed=seed,
            vectors=self._vectors,
            progress=progress or SilentProgress(),
        )
        return [int(row_id) for row_id in found[:most]]

    def write_queue(
        self,
        path: str | Path,
        rows: Iterable[int],
        *,
        overwrite: bool = False,
        progress: Progress | None = None,
    ) -> int:
        """Write rows to a table in their order, with an empty column for labels, which `label_from` reads."""
        import numpy as np

        from sce_desktop.tasks.insight.queue_table import write_queue

        ids = np.array(list(rows), np.int64)
        return write_queue(self, Path(path), ids, overwrite=overwrite, progress=progress or SilentProgress())

    def accept(self, confidence: float, *, progress: Progress | None = None) -> BulkOutcome:
        """Accept predictions of unlabelled rows from ``confidence`` up; they count as labelled in bulk."""
        from sce_desktop.core.query import RowQuery
        from sce_desktop.tasks.insight.review import accept, acceptable

        found = acceptable(self, self._main_run(), RowQuery(), confidence)
        return accept(self, found, progress=progress or SilentProgress())

    def draw_audit(self, size: int, *, seed: int = 0, blind: bool = True) -> Audit:
        """Draw an audit sample of ``size`` rows, to evaluate on; `audit_rows` are its rows."""
        from sce_desktop.tasks.evaluation.audits import draw

        return draw(self, size, seed=seed, blind=blind)[0]
