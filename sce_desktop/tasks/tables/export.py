"""A project's rows as a table: the original cells, then what was decided, then what the models say."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core import text_arrays
from sce_desktop.core.annotations import Label, Row
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.blank import are_blank
from sce_desktop.core.giving_way import give_way, giving_way
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.query import RowQuery, RowState
from sce_desktop.core.runs import Run, Scores
from sce_desktop.data.column_types import ColumnTypes
from sce_desktop.data.columns import Column, Columns
from sce_desktop.data.writers import BY_COLUMN, OutCell, write_table
from sce_desktop.store.project import Project
from sce_desktop.store.runs.bulk import ScoresOfRows
from sce_desktop.store.runs.runs import RowScore
from sce_desktop.tasks.one_state import one_state
from sce_desktop.tasks.progress import Unreported
from sce_desktop.tasks.scoring.models import MAIN_ALIAS
from sce_desktop.tasks.tables.columns import ModelColumns, beside, typed_cells
from sce_desktop.tasks.tables.decided import DecisionColumns
from sce_desktop.tasks.tables.final_columns import FINAL_COLUMNS, FINAL_GROUP, FinalCells
from sce_desktop.tasks.tables.legend import legend
from sce_desktop.tasks.tables.provenance import about, shown_runs, write_about

Which = Literal["all", "labelled", "unlabelled", "flagged", "shown"]
DRAFT_COLUMN = f"{MAIN_ALIAS}_source"  # where drafts are written too: which rows have one

STATES = {
    "all": (RowState.ANY,),
    "labelled": (RowState.LABELLED, RowState.NONE),
    "unlabelled": (RowState.UNLABELLED,),
    "flagged": (RowState.FLAGGED,),
}
"""What rows have in common that are written; these states exclude each other."""

HOLD_ABOUT = (".xlsx", ".parquet")
"""Kinds of tables that can say themselves what they are made of."""

_CHUNK_ROWS = 500  # read and made at once, 0.1 ms each: the window waits for a step of it, a cancel for all
_BLOCK_ROWS = 4000  # likewise by column, where most steps leave Python's lock to others ...
_BLOCK_READ = 100_000  # ... but not reading original cells in which something is escaped
_BLOCK_CELLS = 200_000  # of all columns
_FIRST_ROWS = 500  # which come alone: whoever waits sees sooner that it goes on


@one_state
def rows_to_export(
    project: Project, only: Which = "all", shown: RowQuery | None = None, *, drafts: bool = False
) -> IdArray:
    """Return the ids of the rows that an export writes, in their order: "shown" as ``shown`` says.

    ``drafts``: where the model has not scored a row its draft counts, as it does in the table.
    "None of these" is an answer as a label is: "labelled" has both, as everywhere where rows are counted.
    """
    if only == "shown":
        return project.row_ids(shown or RowQuery(), draft=drafts, compact=True)
    found = [project.row_ids(RowQuery(state=state), compact=True) for state in STATES[only]]
    return found[0] if len(found) == 1 else np.sort(np.concatenate(found))


@one_state
def columns_to_export(project: Project) -> list[tuple[str, tuple[str, ...]]]:
    """Return what an export can write, by where it comes from: names as they will stand in the header.

    The first group is the original table ("original"), the second what was decided ("decided"); then each
    model by its alias, in the order of the file; then the final labels (`FINAL_GROUP`).
    """
    sheet = _Sheet(project, None, final=True)
    names = iter(beside(project.columns, sheet.header, SilentProgress()))
    widths = [("decided", sheet.decided_width), *((model.alias, len(model.header)) for model in sheet.models)]
    widths.append((FINAL_GROUP, len(FINAL_COLUMNS)))
    return [
        ("original", project.columns),
        *((group, tuple(itertools.islice(names, width))) for group, width in widths),
    ]


@one_state
def export_table(
    project: Project,
    path: Path,
    *,
    only: Which = "all",
    query: RowQuery | None = None,
    columns: Sequence[str] | None = None,
    threshold: float | None = None,
    final: bool = False,
    excel_safe: bool = False,
    note: bool = False,
    overwrite: bool = True,
    drafts: bool = False,
    progress: Progress,
) -> int:
    """Write rows of ``project`` to ``path`` and return how many.

    Args:
        project: Whose rows.
        path: Its ending says which kind of table it becomes; csv has the delimiter of the imported table.
        only: Which rows; all but "shown" in import order.
        query: What "shown" means.
        columns: Names of the columns to write, None for all.
        threshold: Below it a row's status is "unsure"; None: the project's own.
        final: Write the final labels too: the annotator's where there is one, else the model's from
            ``threshold`` up, else none.
        excel_safe: In csv, put ' before cells that Excel would run as a formula.
        note: Say in a file beside the table which models and versions its columns are of, where the table
            itself has no place for that: a workbook and a parquet file always say it.
        overwrite: Replace a file that is there, if it may be written.
        drafts: Write draft scores where the model has scored nothing yet, and a column that says which they
            are. They give no final label.
        progress: Told of rows.

    Raises:
        UserError: The place cannot be written.
        Cancelled: The user stopped; the file is as it was before.
    """
    sheet = _Sheet(
        project, project.threshold() if threshold is None else threshold, final=final, drafts=drafts
    )
    ours = beside(project.columns, sheet.header, progress)
    header = [*project.columns, *ours]
    wanted = None if columns is None else {*columns, *([DRAFT_COLUMN] if drafts else ())}
    kept = None if wanted is None else [place for place, name in enumerate(header) if name in wanted]
    ids = rows_to_export(project, only, query, drafts=drafts)
    by_column = path.suffix.lower() in BY_COLUMN and not drafts
    if by_column:
        text_arrays.load(progress)

    def batches() -> Iterator[list[list[OutCell]] | Columns]:
        done = 0
        size = _block_rows(len(project.columns), len(header)) if by_column else _CHUNK_ROWS
        while done < len(ids):
            progress.check()
            some = ids[done : done + (size if done else _FIRST_ROWS)].astype(np.int64, copy=False)
            if by_column:
                columns = sheet.columns(some, progress)
                yield columns if kept is None else columns.picked(kept)
            else:
                rows = sheet.rows(some, typed=path.suffix.lower() == ".jsonl")
                yield rows if kept is None else [[row[place] for place in kept] for row in rows]
            done += len(some)
            progress.report(done, len(ids), stage=_("exporting"))

    lines = about(project)
    rows = write_table(
        path,
        header if kept is None else [header[place] for place in kept],
        batches(),
        delimiter=delimiter_of(project),
        excel_safe=excel_safe,
        about=lines,
        legend=sheet.legend(ours) if path.suffix.lower() == ".xlsx" else (),
        overwrite=overwrite,
        types=_column_types(project, kept) if path.suffix.lower() == ".parquet" else None,
        progress=Unreported(progress),
    )
    if note and path.suffix.lower() not in HOLD_ABOUT:
        write_about(path, lines)
    return rows


def _block_rows(original: int, columns: int) -> int:
    """Return how many rows are made at once of a table of ``columns`` columns."""
    fitting = min(_BLOCK_READ // max(original, 1), _BLOCK_CELLS // columns)
    return min(_BLOCK_ROWS, max(_FIRST_ROWS, fitting))


def delimiter_of(project: Project) -> str:
    """Return what an export puts between the cells of a csv: what the imported table had."""
    for record in project.imports():
        if delimiter := record.source.get("delimiter"):
            return str(delimiter)
    return ","


def _column_types(project: Project, kept: Sequence[int] | None) -> ColumnTypes | None:
    """Return the types that the original columns had in all parquet files that the rows came from."""
    found: ColumnTypes | None = None
    for record in project.imports():
        types = ColumnTypes.from_text(str(record.source.get("types", ""))) if record.rows else found
        if types is None or len(types.fields) != len(project.columns):
            return None
        found = types if found is None else found.shared_with(types)
    if found is None or kept is None:
        return found
    return found.picked([place for place in kept if place < len(project.columns)])


class _Sheet:
    """The columns that an export writes beside the original ones, and their cells."""

    def __init__(
        self, project: Project, threshold: float | None, *, final: bool, drafts: bool = False
    ) -> None:
        self._project = project
        self._with_drafts = drafts
        label_set = project.label_set()
        self._labels: tuple[Label, ...] = label_set.labels if label_set else ()
        self._multi_label = label_set is not None and label_set.multi_label
        self._runs = shown_runs(project)
        self.models = [
            ModelColumns(
                run.alias,
                run.label_names,
                main=run.alias == MAIN_ALIAS,
                none=_says_none(project, run),
                multi_label=run.multi_label,
                threshold=threshold,
                draft=drafts,
            )
            for run in self._runs
        ]
        self._decided = DecisionColumns(
            self._labels, multi_label=self._multi_label, origin=project.has_bare_decisions()
        )
        self.header = list(self._decided.header)
        self.decided_width = len(self.header)
        for model in self.models:
            self.header += model.header
        self._final = FinalCells(project, self._labels, self._multi_label, threshold) if final else None
        if self._final is not None:
            self.header += FINAL_COLUMNS

    def legend(self, written: Sequence[str]) -> list[tuple[str, str]]:
        """Return what our columns, which are headed ``written``, and the labels mean."""
        columns = list(zip(written, self.header, strict=True))
        return legend(columns, [model.alias for model in self.models], self._labels)

    def rows(self, ids: IdArray, *, typed: bool = False) -> list[list[OutCell]]:
        """Return all cells of the rows ``ids``; ``typed``: the original ones as the values that they were."""
        rows = self._project.rows(ids)
        annotations = self._project.annotations(ids)
        marks = self._project.marks(ids)
        types = self._project.cell_types(ids) if typed else {}
        cells: list[list[OutCell]] = [
            [
                *typed_cells(row.cells, types.get(row.id)),
                *self._decided.cells(annotations.get(row.id), marks.get(row.id)),
            ]
            for row in giving_way(rows)
        ]
        for run, model in zip(self._runs, self.models, strict=True):
            for mine, results in zip(cells, self._results(run, model, rows), strict=True):
                mine += results
        if self._final is not None:
            finals = self._final.cells([row.id for row in rows])
            for mine, final in zip(cells, finals, strict=True):
                mine += final
        return cells

    def columns(self, ids: IdArray, progress: Progress) -> Columns:
        """Return the same by column, texts as they are. Cancelled by ``progress``."""
        found = self._project.row_columns(ids)
        give_way()
        progress.check()
        decided = self._project.decided_rows(ids)
        columns: list[Column] = list(found.columns)
        columns += self._decided.columns(ids, decided, self._project.marks(ids))
        scores = functools.cache(lambda run_id: self._project.scores_of_rows(run_id, ids))
        for run, model in zip(self._runs, self.models, strict=True):
            give_way()
            progress.check()
            of_run: ScoresOfRows = scores(run.id)
            blank = np.zeros(len(ids), np.bool_)
            blank[~of_run.present] = _are_blank(found.texts, np.flatnonzero(~of_run.present))
            columns += model.columns(of_run, blank)
        if self._final is not None:
            columns += self._final.columns(ids, decided, scores)
        return Columns(tuple(columns), len(ids))

    def _results(self, run: Run, model: ModelColumns, rows: Sequence[Row]) -> Iterator[list[OutCell]]:
        scores = self._project.scores(run.id, [row.id for row in rows])
        drafts: dict[int, RowScore] = {}
        if self._with_drafts and run.alias == MAIN_ALIAS:
            drafts = self._project.draft_scores(run.id, [row.id for row in rows if row.id not in scores])
            scores = scores | drafts
        scored = [scores[row.id] for row in rows if row.id in scores]
        cells = iter(())  # type: Iterator[list[OutCell]]
        if scored:
            none = None
            if scored[0].none is not None:
                none = np.asarray([score.none for score in scored], dtype=np.float32)
            found = Scores(np.stack([score.probabilities for score in scored]), none)
            cells = iter(model.cells(found, [row.id in drafts for row in rows if row.id in scores]))
        for row in giving_way(rows):
            yield next(cells) if row.id in scores else model.blank if row.blank else model.unscored


def _are_blank(texts: Any, places: NDArray[np.int64]) -> list[bool]:
    """Return whether there is nothing to see in the ``texts`` (n,) of rows at ``places`` (m,)."""
    if not len(places):
        return []
    if isinstance(texts, Sequence):
        return are_blank([texts[place] for place in places.tolist()])
    return are_blank(text_arrays.taken(texts, places.astype(np.int32)).to_pylist())


def _says_none(project: Project, run: Run) -> bool:
    first = project.first_scored(run.id)
    return any(score.none is not None for score in project.scores(run.id, first).values())
