"""What other people answered, or a column of right answers, beside the user's own annotations."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress
from sce_desktop.core.types import Cell, Coder, Decision, TableOptions
from sce_desktop.data.tables import open_table
from sce_desktop.store.project import Project
from sce_desktop.tasks.carried import CarriedAnnotations, our_columns
from sce_desktop.tasks.columns import find_column

GOLD = "gold"
"""The coder whose answers are right by definition."""
Answer = str | Sequence[str] | None  # a label, several, or none of these


@dataclass(frozen=True, slots=True)
class CoderImport:
    """What an import of a coder's answers brought."""

    coder: Coder
    unknown: int  # rows of the table whose key no row of the project has
    empty: int  # rows of the table without an answer


def import_coder(
    project: Project,
    table: Path,
    key_column: str,
    label_column: str,
    name: str,
    progress: Progress,
    *,
    own_key: str | None = None,
    options: TableOptions | None = None,
) -> CoderImport:
    """Keep the answers in a table as those of another coder, by rows with the same key.

    Where the table is an export of ours and ``label_column`` its column of labels, "none of these" and
    several labels come along; else a blank cell is no answer, and several labels are a JSON list.

    Args:
        project: Whose rows.
        table: The other person's file.
        key_column: Header of its column that says which row is meant.
        label_column: Header of its column of labels.
        name: Of the coder.
        progress: Told of rows; rows that fit none of the project's are a warning.
        own_key: Header of the project's column of keys, None: the same as ``key_column``.
        options: How to read the table.

    Raises:
        UserError: A column is missing, a key names several rows, no key fits, or the name is taken.
        Cancelled: The user stopped; nothing was kept.
    """
    opened = open_table(table, options or TableOptions())
    key_at = find_column(opened.columns, key_column, progress)
    label_at = find_column(opened.columns, label_column, progress)
    ours_at = our_columns(opened.columns)
    if ours_at != label_at:
        ours_at = None
    carried = CarriedAnnotations(opened.columns, gold_at=label_at, ours_at=ours_at)
    rows = _rows_by_key(project, own_key or key_column, progress)
    several = _may_be_several(project)
    answers: dict[int, Answer] = {}
    seen: set[str] = set()
    unknown = empty = 0
    for batch in opened.batches(progress=progress):
        progress.check()
        for cells in batch:
            said = carried.read(cells)
            key = cells[key_at] or ""
            if said.decision in (None, Decision.SKIPPED):
                empty += 1
            elif key not in rows:
                unknown += 1
            elif key in seen:
                raise UserError(
                    f"{table.name} has several answers for “{key}” in “{key_column}”: "
                    "choose a column that names each row once."
                )
            else:
                seen.add(key)
                answers[rows[key]] = _answer(said.names, several and ours_at is None)
    if not answers:
        raise UserError(
            f"No row of {table.name} has an answer and a key of this project: choose other columns."
        )
    if unknown:
        progress.warn(f"Answers for rows that this project does not have: {unknown:,} (left out).")
    return CoderImport(project.add_coder(name, table.name, answers), unknown, empty)


def column_as_coder(project: Project, column: str, progress: Progress, *, name: str = GOLD) -> Coder:
    """Keep a column of the project itself as a coder's answers; blank cells are no answers.

    Raises:
        UserError: The column is missing or empty, or the name is taken.
        Cancelled: The user stopped; nothing was kept.
    """
    place = find_column(project.columns, column, progress)
    several = _may_be_several(project)
    answers = {
        row_id: _answer((cell,), several)
        for row_id, cell in _cells(project, place, progress)
        if cell and cell.strip()
    }
    if not answers:
        raise UserError(f"“{column}” has nothing but empty cells: choose another column.")
    return project.add_coder(name, f"column {column}", answers)


def _answer(names: Iterable[str], lists: bool) -> Answer:
    """Return what was answered; with ``lists`` a single name may be a JSON list of several."""
    given = tuple(names)
    if lists and len(given) == 1 and given[0].startswith("["):
        try:
            found = json.loads(given[0])
        except ValueError:
            return given
        if isinstance(found, list) and all(isinstance(name, str) for name in found):
            return found or None
    return given or None


def _may_be_several(project: Project) -> bool:
    label_set = project.label_set()
    return label_set is not None and label_set.multi_label


def _rows_by_key(project: Project, column: str, progress: Progress) -> dict[str, int]:
    place = find_column(project.columns, column, progress)
    rows: dict[str, int] = {}
    for row_id, key in _cells(project, place, progress):
        if key and rows.setdefault(key, row_id) != row_id:
            raise UserError(
                f"“{column}” of this project has “{key}” in several rows: "
                "choose a column that names each row once."
            )
    return rows


def _cells(project: Project, place: int, progress: Progress) -> Iterator[tuple[int, Cell]]:
    total, done = project.row_count(), 0
    for batch in project.iter_rows():
        progress.check()
        yield from ((row.id, row.cells[place]) for row in batch)
        done += len(batch)
        progress.report(done, total, stage="reading")
