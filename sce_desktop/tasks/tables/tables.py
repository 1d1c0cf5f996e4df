"""Tables into projects. Reading labels is here too: the window reaches files only through tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import LeftInLog, UserError
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowState
from sce_desktop.core.tables import Cell, TableOptions, TablePreview
from sce_desktop.data import tables
from sce_desktop.data.guess import gold_like
from sce_desktop.data.labels_file import read_labels, write_labels
from sce_desktop.store.content.rows import ImportReport
from sce_desktop.store.content.staging import StagedRows
from sce_desktop.store.file.placing import check_target, put_in_place
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation.annotators import check_gold, keep_gold
from sce_desktop.tasks.insight.labels import merge_alike
from sce_desktop.tasks.progress import Unreported
from sce_desktop.tasks.tables.columns import (
    cells_of,
    elsewhere,
    find_column,
    find_columns,
    has_lists,
    report_doubts,
    report_reading,
)
from sce_desktop.tasks.tables.exchange import keep_annotators
from sce_desktop.tasks.tables.export import export_table, rows_to_export
from sce_desktop.tasks.tables.room import checked_import
from sce_desktop.tasks.tables.round_trip import RoundTripImport, our_columns
from sce_desktop.temporary import temporary_beside

__all__ = [
    "append_table",
    "export_table",
    "import_table",
    "preview_table",
    "read_labels",
    "rows_to_export",
    "write_labels",
]


def preview_table(
    path: Path, options: TableOptions | None = None, *, rows: int = 100, progress: Progress | None = None
) -> TablePreview:
    """Return the first ``rows`` rows of a table and how it would be read.

    Raises:
        UserError: It is not a table.
    """
    if progress is not None:
        progress.check()
    return tables.preview_table(path, options or TableOptions(), rows)


def gold_columns(preview: TablePreview) -> frozenset[int]:
    """Return the places of columns that look like gold labels; see `data.guess.gold_like`."""
    return gold_like(preview.columns, preview.rows)


def import_table(
    project_path: Path,
    table_path: Path,
    *,
    text_columns: Sequence[str | int],
    gold_column: str | int | None = None,
    as_gold: bool = False,
    take_back: bool | None = None,
    labels: Sequence[Label] = (),
    multi_label: bool = False,
    lists: bool | None = None,
    merge: bool = False,
    options: TableOptions | None = None,
    overwrite: bool = False,
    progress: Progress,
) -> Project:
    """Make a project of a table and open it. It is built aside and appears when it is whole.

    The search index is not built yet: searching works without it, and `Project.build_search_index` follows.

    Args:
        project_path: The new project.
        table_path: The table.
        text_columns: Headers or places of the columns that make the text.
        gold_column: Header or place of a column of labels: its values become labels and annotations too.
        as_gold: They become the answers of the coder "gold" instead of the user's annotations.
        take_back: The columns of an earlier export of ours become annotations again instead of data; None:
            those of a file of another annotation tool do, unless ``gold_column`` is given.
        labels: The label set.
        multi_label: Several labels may fit a row.
        lists: Whether the cells of ``gold_column`` are JSON lists of labels, so that several may fit a row;
            None: if most of them are.
        merge: Labels that look the same become one: one of ``labels`` where it is among them.
        options: How to read the table.
        overwrite: Replace a file that is there, unless it is open.
        progress: Told of rows; everything done otherwise than expected is a warning.

    Raises:
        UserError: The table or a column is not right, the project exists already, or the disk is full.
        Cancelled: The user stopped; there is no project.
    """
    check_target(project_path, overwrite=overwrite)
    if project_path.exists() and table_path.exists() and project_path.samefile(table_path):
        raise UserError(_("The project would replace the table: choose another name for the project."))
    table = tables.open_table(table_path, options or TableOptions(), progress)
    report_doubts(table, progress)
    hint = elsewhere(table)
    gold_at = (
        find_column(table.columns, gold_column, progress, hint=hint)
        if isinstance(gold_column, str)
        else gold_column
    )
    if take_back is None:
        take_back = table.annotated and gold_at is None
    incoming = RoundTripImport(
        table.columns,
        gold_at=None if as_gold else gold_at,
        ours_at=our_columns(table.columns) if take_back else None,
    )
    if gold_at is not None and gold_at >= len(incoming.columns):
        raise UserError(
            _(
                "“{column}” belongs to an earlier export that is restored as annotations: choose "
                "another label "
                "column, or do not restore annotations.",
                column=table.columns[gold_at],
            )
        )
    text_at = find_columns(incoming.columns, text_columns, progress, hint=hint)
    rows = checked_import(table, project_path.parent, text_at, progress, labelled=incoming.keeps_rows)
    with temporary_beside(project_path.resolve()) as aside, _whole(project_path):
        with Project.create(aside, name=project_path.stem, draft=True) as project:
            batches = incoming.passing(rows)
            _add(project, table, incoming.columns, batches, text_at, progress)
            found = _has_lists(project, gold_at, lists, progress)
            multi_label = multi_label or found
            incoming.keep(
                project,
                project.row_ids() if incoming.keeps_rows else np.empty(0, np.int64),
                labels,
                multi_label=multi_label,
                lists=found,
                progress=progress,
            )
            if take_back and table.annotated:
                keep_annotators(project, table, project.row_ids(), Unreported(progress))
            if gold_at is not None and not as_gold and not project.state_counts()[RowState.LABELLED]:
                progress.warn(
                    _(
                        "Column “{column}” has no labels: no row was labelled.",
                        column=project.columns[gold_at],
                    )
                )
            if as_gold and gold_at is not None:
                keep_gold(project, gold_at, progress, multi_label=multi_label, lists=lists)
            if merge:
                merge_alike(project, (label.name for label in labels), progress=Unreported(progress))
        put_in_place(aside, project_path, overwrite=overwrite, progress=progress)
    return Project.open(project_path)


@contextmanager
def _whole(project_path: Path) -> Iterator[None]:
    """Let a project that could not be brought into one file count as not made: the file alone is renamed."""
    try:
        yield
    except LeftInLog as error:
        raise UserError(
            _(
                "There is no room for {path}: free some space or choose another disk. No "
                "project was created.",
                path=project_path,
            )
        ) from error


def _has_lists(project: Project, place: int | None, lists: bool | None, progress: Progress) -> bool:
    if place is None:
        return False
    cells = (cell for _, cell in cells_of(project, place, Unreported(progress)))
    return has_lists(project.columns[place], cells, lists, progress)


def append_table(
    project: Project,
    table_path: Path,
    *,
    gold_column: int | None = None,
    as_gold: bool = False,
    lists: bool | None = None,
    options: TableOptions | None = None,
    remove_cancelled: bool = True,
    progress: Progress,
) -> ImportReport:
    """Add the rows of another table with the same columns; rows that are there already stay as they are.

    Args:
        project: The project.
        table_path: The table.
        gold_column: Place of a column of labels: its values become annotations of the new rows, and labels
            after those of the project where it has them not.
        as_gold: The column's values, of the rows that were there too, become the answers of the coder "gold"
            instead.
        lists: As in `import_table`.
        options: How to read the table.
        remove_cancelled: Before `Cancelled`, remove the rows that are there already, some 3 µs each. False:
            they stay unseen until `Project.remove_unfinished`.
        progress: Told of rows; everything done otherwise than expected is a warning.

    Raises:
        UserError: The table is not right, its columns differ, the project is read-only, or has gold answers
            from elsewhere.
        Cancelled: The user stopped; no row was added.

    Rows and annotations appear in one moment: whatever interrupts this leaves none of either.
    """
    table = tables.open_table(table_path, options or TableOptions(), progress)
    report_doubts(table, progress)
    if as_gold and gold_column is not None:
        check_gold(project, table.columns[gold_column])
    restored = table.annotated and gold_column is None
    incoming = RoundTripImport(
        table.columns,
        gold_at=None if as_gold else gold_column,
        ours_at=our_columns(table.columns) if restored else None,
    )
    rows = checked_import(
        table, project.path.parent, project.text_columns, progress, labelled=incoming.keeps_rows
    )
    batches = incoming.passing(rows)

    def annotate(staged: StagedRows) -> None:
        found = gold_column is not None and has_lists(
            table.columns[gold_column], incoming.cells, lists, progress
        )
        kept = project.label_set()
        labels, multi_label = (kept.labels, kept.multi_label) if kept is not None else ((), False)
        incoming.keep(
            staged,
            staged.row_ids,
            labels,
            multi_label=multi_label or found,
            lists=found,
            progress=Unreported(progress),
        )

    annotated = restored or (gold_column is not None and not as_gold)
    report = _add(
        project,
        table,
        incoming.columns,
        batches,
        project.text_columns,
        progress,
        and_then=annotate if annotated else None,
        remove_cancelled=remove_cancelled,
    )
    if gold_column is not None and as_gold:
        try:
            found = _has_lists(project, gold_column, lists, progress)
            keep_gold(project, gold_column, progress, multi_label=found, lists=lists)
        except UserError as error:  # what it advises is about this table, half of which is done
            progress.warn(
                _(
                    "The rows were added, but their gold labels were not ({reason}). Do not add the "
                    "table again.",
                    reason=str(error).split(":")[0],
                )
            )
    return report


def _types(table: tables.Table, width: int) -> dict[str, str]:
    """Return what to remember of the types of the first columns, where a format has other than texts."""
    return {} if table.types is None else {"types": table.types.picked(range(width)).to_text()}


def _add(
    project: Project,
    table: tables.Table,
    columns: Sequence[str],
    batches: Iterable[Sequence[Sequence[Cell]]],
    text_columns: Sequence[int],
    progress: Progress,
    *,
    and_then: Callable[[StagedRows], object] | None = None,
    remove_cancelled: bool = True,
) -> ImportReport:
    report = project.add_rows(
        columns,
        batches,
        text_columns=text_columns,
        source={
            "file": table.path.name,
            "kind": table.kind,
            "encoding": table.options.encoding,
            "delimiter": table.options.delimiter,
            "sheet": table.options.sheet,
            **_types(table, len(columns)),
        },
        progress=Unreported(progress),
        and_then=and_then,
        remove_cancelled=remove_cancelled,
    )
    report_reading(table, progress)
    if not report.rows:
        progress.warn(_("The table has no rows."))
    if report.blank:
        progress.warn(
            ngettext(
                "{count} row has no text (kept, not scored).",
                "{count} rows have no text (kept, not scored).",
                report.blank,
            )
        )
    if report.duplicates:
        progress.warn(
            ngettext(
                "{count} row repeats the text of an earlier row (kept).",
                "{count} rows repeat the text of an earlier row (all kept).",
                report.duplicates,
            )
        )
    return report
