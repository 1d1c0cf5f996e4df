"""The one face of a project file: everything that the program knows of it goes through `Project`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import sqlalchemy as sa

from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.types import (
    Annotation,
    Cell,
    Decision,
    IdArray,
    Label,
    LabelSet,
    Origin,
    Row,
    RowMarks,
)
from sce_desktop.store import (
    decisions,
    importing,
    label_sets,
    opening,
    repair,
    rows,
    runs,
    schema,
    search,
    select,
    upkeep,
)
from sce_desktop.store.database import Database
from sce_desktop.store.project_models import ModelMethods
from sce_desktop.store.query import RowQuery, RowState
from sce_desktop.store.repair import RepairReport
from sce_desktop.store.rows import ImportRecord, ImportReport
from sce_desktop.store.sql import Ids, now


class Project(ModelMethods):
    """A project file that is open, for use from any thread; a context manager that closes it.

    A change is complete when its method returns. Decisions, marks and labels then survive a power cut, rows
    and scores a crash of the program. All methods raise `UserError` where the disk is full, the file is
    damaged, or a change is asked of a project that is read-only.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        with database.read() as connection:
            self._name = connection.execute(sa.select(schema.project.c.name)).scalar_one()

    @classmethod
    def create(cls, path: str | Path, *, name: str | None = None) -> Self:
        """Make a new project at ``path`` and open it. UserError if the file exists or cannot be made."""
        path = Path(path).absolute()
        return cls(opening.create(path, name=path.stem if name is None else name))

    @classmethod
    def open(cls, path: str | Path, *, read_only: bool = False) -> Self:
        """Open the project at ``path``; where it cannot be written, `read_only_reason` says why.

        A project of an older version is copied beside itself, then brought up to date.

        Raises:
            UserError: Not a project, damaged, of a newer version, or with database programs of others in it.
        """
        return cls(opening.open_existing(Path(path).absolute(), read_only=read_only))

    def close(self) -> None:
        """Bring everything into one file and let others open it. Harmless when repeated."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def path(self) -> Path:
        """Where the project lies."""
        return self._database.path

    @property
    def name(self) -> str:
        """What the user calls it."""
        return self._name

    @property
    def read_only(self) -> bool:
        """Whether nothing can be changed."""
        return self._database.read_only

    @property
    def read_only_reason(self) -> str:
        """Why nothing can be changed and what to do, in one sentence; empty if it can."""
        return self._database.read_only_reason

    # --- rows

    @property
    def columns(self) -> tuple[str, ...]:
        """The headers of the original table in their order; empty before the first import."""
        with self._database.read() as connection:
            return rows.shape(connection).columns

    @property
    def text_columns(self) -> tuple[int, ...]:
        """The 0-based places of the columns that make the text."""
        with self._database.read() as connection:
            return rows.shape(connection).text_columns

    def text_of(self, cells: Sequence[Cell]) -> str:
        """Return the text to classify: the text cells that are not blank, joined by line breaks."""
        with self._database.read() as connection:
            return rows.shape(connection).text_of(cells)

    def add_rows(
        self,
        columns: Sequence[str],
        batches: Iterable[Sequence[Sequence[Cell]]],
        *,
        text_columns: Sequence[int],
        source: dict[str, Any],
        progress: Progress | None = None,
    ) -> ImportReport:
        """Append rows. Nobody sees them until all are there; if it breaks off or is cancelled, none stays.

        ``text_columns`` are 0-based places in ``columns``; ``source`` is what to remember of where the rows
        came from, anything that JSON can hold. UserError if the project's columns or text columns are others.
        """
        watcher = progress or SilentProgress()
        return importing.add_rows(
            self._database, columns, batches, text_columns=text_columns, source=source, progress=watcher
        )

    def imports(self) -> tuple[ImportRecord, ...]:
        """Return what was imported, oldest first."""
        with self._database.read() as connection:
            return rows.imports(connection)

    def row_count(self) -> int:
        """Return the number of rows."""
        with self._database.read() as connection:
            return rows.counts(connection).rows

    def blank_count(self) -> int:
        """Return the number of rows with nothing to classify."""
        with self._database.read() as connection:
            return rows.counts(connection).blank

    def duplicate_count(self) -> int:
        """Return the number of rows, blank ones aside, that repeat the text of an earlier row exactly."""
        with self._database.read() as connection:
            return rows.counts(connection).duplicates

    def row_ids(self, query: RowQuery | None = None) -> IdArray:
        """Return the ids (n,) that ``query`` asks for in its order; all in file order without one."""
        with self._database.read() as connection:
            return select.row_ids(connection, query or RowQuery())

    def rows(self, ids: Ids) -> list[Row]:
        """Return the rows with ``ids`` in their order. KeyError if one does not exist."""
        with self._database.read() as connection:
            return rows.fetch(connection, ids)

    def texts(self, ids: Ids) -> list[str]:
        """Return the texts of ``ids`` in their order. KeyError if one does not exist."""
        with self._database.read() as connection:
            return rows.texts(connection, ids)

    def iter_rows(self, batch: int = 5000) -> Iterator[list[Row]]:
        """Give all rows in file order, ``batch`` at a time; rows added meanwhile may be among them."""
        last = 0
        while True:
            with self._database.read() as connection:
                found = rows.fetch_after(connection, last, batch)
            if not found:
                return
            yield found
            last = found[-1].id

    def same_text_ids(self, row_id: int) -> IdArray:
        """Return the other rows with exactly the same text, in file order; none for a blank one."""
        with self._database.read() as connection:
            return rows.same_text(connection, row_id)

    def build_search_index(self, progress: Progress | None = None) -> None:
        """Make searching fast, in short transactions; searching works before, during and without it."""
        search.build_index(self._database, progress or SilentProgress())

    # --- labels

    def label_set(self) -> LabelSet | None:
        """Return the label set in use, None before the first."""
        with self._database.read() as connection:
            return label_sets.active_set(connection)

    def label_sets(self) -> tuple[LabelSet, ...]:
        """Return every version of every label set, oldest first."""
        with self._database.read() as connection:
            return label_sets.all_sets(connection)

    def set_labels(
        self, labels: Sequence[Label], *, name: str | None = None, multi_label: bool | None = None
    ) -> LabelSet:
        """Use these labels from now on and return them with their ids.

        It makes a new version of the label set, unless the latest version says the same. A label keeps its id
        if it carries one, else it takes that of the known label of the same name. Annotations of a label
        that is left out stay and come back with it; until then their rows are unlabelled.

        Args:
            labels: In the order that probabilities and lists shall have; may be empty.
            name: Of the label set; the one in use if None.
            multi_label: Whether a row may have several; as it was if None.

        Raises:
            UserError: Two labels have the same name, or one has none.
        """
        with self._database.write(durable=True) as connection:
            return label_sets.set_labels(connection, labels, name=name, multi_label=multi_label)

    def annotation_counts(self) -> dict[int, int]:
        """Return the number of rows annotated with each label in use, by label id."""
        with self._database.read() as connection:
            return decisions.label_counts(connection)

    def state_counts(self) -> dict[RowState, int]:
        """Return the number of rows in each state; blank rows count as unlabelled."""
        with self._database.read() as connection:
            return decisions.state_counts(connection)

    def predicted_counts(self, run_id: int) -> dict[int, int]:
        """Return the number of rows for which a run puts each of its labels first, by label id."""
        with self._database.read() as connection:
            return runs.predicted_counts(connection, run_id)

    # --- annotations

    def decide(
        self,
        row_ids: Ids,
        decision: Decision,
        label_ids: Sequence[int] = (),
        *,
        origin: Origin = Origin.HAND,
        queue: str = "",
    ) -> None:
        """Decide the same about all of ``row_ids``, in place of what was decided before.

        ValueError if a row or a label is not in the project, or the labels do not fit the decision.
        """
        moment, chosen = now(), tuple(label_ids)
        self.annotate(Annotation(int(i), decision, chosen, origin, moment, queue) for i in row_ids)

    def annotate(self, annotations: Iterable[Annotation]) -> None:
        """Keep annotations as they are, time and origin included: those of an import, or taken back."""
        with self._database.write(durable=True) as connection:
            decisions.store(connection, annotations)

    def clear_decision(self, row_ids: Ids) -> None:
        """Make rows undecided again."""
        with self._database.write(durable=True) as connection:
            decisions.clear(connection, row_ids)

    def annotations(self, ids: Ids) -> dict[int, Annotation]:
        """Return the decisions about ``ids`` by row, labels in the order of the label set.

        Undecided rows are absent, as are rows whose labels are all out of use.
        """
        with self._database.read() as connection:
            return decisions.fetch(connection, ids)

    def marks(self, ids: Ids) -> dict[int, RowMarks]:
        """Return the marks of ``ids`` by row; rows without any are absent."""
        with self._database.read() as connection:
            return decisions.fetch_marks(connection, ids)

    def set_marks(
        self, row_id: int, *, unsure: bool | None = None, flag: bool | None = None, note: str | None = None
    ) -> RowMarks:
        """Change what is not None and return what the row has now. ValueError if there is no such row."""
        with self._database.write(durable=True) as connection:
            return decisions.set_marks(connection, row_id, unsure=unsure, flag=flag, note=note)

    # --- upkeep

    def backup(self, copy: str | Path, progress: Progress | None = None) -> None:
        """Write a complete copy to ``copy`` while others go on writing; an existing file is replaced."""
        upkeep.backup(self._database, Path(copy).absolute(), progress or SilentProgress())

    def verify(self, progress: Progress | None = None) -> list[str]:
        """Return what is wrong with the project, a sentence each; nothing if all is well."""
        return upkeep.verify(self._database, progress or SilentProgress())

    def repair(self, copy: str | Path, progress: Progress | None = None) -> RepairReport:
        """Make a new project at ``copy`` of what can be read of this one. See `Project.repair_file`."""
        return self.repair_file(self.path, copy, progress)

    @staticmethod
    def repair_file(path: str | Path, copy: str | Path, progress: Progress | None = None) -> RepairReport:
        """Make a new project at ``copy`` of what can be read at ``path``, which may be too damaged to open.

        UserError if ``path`` is no project at all, or ``copy`` exists.
        """
        watcher = progress or SilentProgress()
        return repair.repair_project(Path(path).absolute(), Path(copy).absolute(), watcher)
