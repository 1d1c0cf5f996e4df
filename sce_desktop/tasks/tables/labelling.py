"""Labels of a table for rows that a project has: what was labelled elsewhere becomes annotations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sce_desktop.core.annotations import Annotation, Decision, Label, Origin
from sce_desktop.core.blank import is_blank
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.core.labels import distinct_labels, label_key
from sce_desktop.core.lists import from_list
from sce_desktop.core.progress import Progress
from sce_desktop.core.quoting import quoted_names
from sce_desktop.core.tables import TableOptions
from sce_desktop.data.tables import open_table
from sce_desktop.store.project import Project
from sce_desktop.store.sql import now
from sce_desktop.tasks.tables.columns import cells_of, find_column, report_reading

ROW_COLUMN: Final = "row"
"""The column of row numbers that a queue is written with."""
LABEL_COLUMN: Final = "label"
_BATCH = 5000
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class LabelledRows:
    """What came of the labels of a table."""

    rows: int  # that have a label of the table now
    relabelled: int  # of these: they had another one before
    none: int  # of these: none of the labels fits
    blank: int  # rows of the table without a label: nothing changed
    unknown: int  # keys that no row of the project has
    repeated: int  # keys that several rows have, here or there: excluded
    new_labels: tuple[str, ...] = ()


def label_from_table(
    project: Project,
    table: Path,
    *,
    key_column: str = ROW_COLUMN,
    label_column: str = LABEL_COLUMN,
    own_key: str | None = None,
    new_labels: bool = False,
    options: TableOptions | None = None,
    progress: Progress,
) -> LabelledRows:
    """Label the rows that ``table`` names; one action, undoable.

    A blank cell changes nothing. In a multi-label project a JSON list is several labels, and an empty list
    says that none fits; the columns of an export of ours say that in their column "decided".

    Args:
        project: Whose rows.
        table: With a column that says which row is meant, and one of labels.
        key_column: Header of the first; "row" is the row's number, unless the project has such a column.
        label_column: Header of the second.
        own_key: Header of the project's column of keys; None: ``key_column``.
        new_labels: Add labels that the project does not have; else they are refused.
        options: How to read the table.
        progress: Of rows; what is excluded is a warning.

    Raises:
        UserError: A column is missing, no key names one row, or a label is not in the project.
        Cancelled: The user stopped; nothing was labelled.
    """
    opened = open_table(table, options or TableOptions())
    key_at = find_column(opened.columns, key_column, progress)
    label_at = find_column(opened.columns, label_column, progress)
    rows = _rows_by_key(project, own_key or key_column, progress, number_key=own_key is None)
    label_set = project.label_set()
    several = label_set is not None and label_set.multi_label
    answers: dict[str, list[tuple[str, ...]]] = {}
    decided_at = opened.columns.index("decided") if "decided" in opened.columns else None
    blank = 0
    for batch in opened.batches(progress=progress):
        progress.check()
        for cells in batch:
            cell = cells[label_at] or ""
            if is_blank(cell) and decided_at is not None and cells[decided_at] == Decision.NONE:
                names: tuple[str, ...] = ()
            elif is_blank(cell):
                blank += 1
                continue
            else:
                found = from_list(cell) if several else None
                names = (cell,) if found is None else found
            answers.setdefault((cells[key_at] or "").strip(), []).append(names)
    report_reading(opened, progress)
    wanted: dict[int, tuple[str, ...]] = {}
    unknown = repeated = 0
    for key, given in answers.items():
        ids = rows.get(key, []) if key else []
        if not ids:
            unknown += 1
        elif len(ids) > 1 or len(given) > 1:
            repeated += 1
        else:
            wanted[ids[0]] = given[0]
    if not wanted:
        raise UserError(
            _("No key in the file matches a row of this project: choose other key columns, on both sides.")
            if answers
            else _("“{column}” has only empty cells: choose another column.", column=label_column)
        )
    report_excluded(unknown, repeated, progress)
    places, added = _label_ids(project, [name for names in wanted.values() for name in names], new=new_labels)
    progress.check()
    relabelled = _keep(project, wanted, places)
    none = sum(not names for names in wanted.values())
    return LabelledRows(len(wanted), relabelled, none, blank, unknown, repeated, added)


def _rows_by_key(
    project: Project, column: str, progress: Progress, *, number_key: bool
) -> dict[str, list[int]]:
    if number_key and column == ROW_COLUMN and column not in project.columns:
        return {str(row_id): [row_id] for row_id in project.row_ids().tolist()}
    place = find_column(project.columns, column, progress)
    found: dict[str, list[int]] = {}
    for row_id, key in cells_of(project, place, progress):
        found.setdefault((key or "").strip(), []).append(row_id)
    return found


def report_excluded(unknown: int, repeated: int, progress: Progress) -> None:
    """Warn of keys of another table that no row has, and of those that several have."""
    if unknown:
        progress.warn(
            ngettext(
                "{count} key was excluded: no row of this project has it.",
                "{count} keys were excluded: no row of this project has them.",
                unknown,
            )
        )
    if repeated:
        progress.warn(
            ngettext(
                "{count} key was excluded: it occurs more than once.",
                "{count} keys were excluded: they occur more than once.",
                repeated,
            )
        )


def _label_ids(
    project: Project, names: Sequence[str], *, new: bool
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return the id of each label by its key, and the names of those that were added."""
    label_set = project.label_set()
    labels = label_set.labels if label_set is not None else ()
    known = {label_key(label.name) for label in labels}
    counted = Counter(label_key(name) for name in names)
    strange = [label for label in distinct_labels(names) if label_key(label.name) not in known]
    if strange and not new:
        first = [label.name for label in strange[:_SHOWN]]
        rows = sum(counted[label_key(label.name)] for label in strange)
        raise UserError(
            ngettext(
                "{count} row has a label that the project does not have ({names}): correct it, or add new "
                "labels (--new-labels).",
                "{count} rows have labels that the project does not have ({names}): correct them, or add new "
                "labels (--new-labels).",
                rows,
                names=quoted_names(first) + ("…" if len(strange) > _SHOWN else ""),
            )
        )
    if strange:
        labels = project.set_labels([*labels, *(Label(label.name) for label in strange)]).labels
    ids = {label_key(label.name): label.id for label in labels if label.id is not None}
    return ids, tuple(label.name for label in strange)


def _keep(project: Project, wanted: dict[int, tuple[str, ...]], places: dict[str, int]) -> int:
    """Keep the annotations as one action; return how many rows had another label before."""
    moment, action, relabelled = now(), None, 0
    ids = sorted(wanted)
    for start in range(0, len(ids), _BATCH):
        some = ids[start : start + _BATCH]
        before = project.annotations(some)
        made = []
        for row_id in some:
            label_ids = tuple(dict.fromkeys(places[label_key(name)] for name in wanted[row_id]))
            decision = Decision.LABEL if label_ids else Decision.NONE
            old = before.get(row_id)
            relabelled += old is not None and (old.decision, set(old.label_ids)) != (decision, set(label_ids))
            made.append(Annotation(row_id, decision, label_ids, Origin.IMPORTED, moment))
        action = project.annotate(made, imported=True, action=action)
    return relabelled


def label_rows(project: Project, row_ids: Sequence[int], names: Sequence[str], *, queue: str = "") -> int:
    """Label ``row_ids`` by hand with the labels ``names`` and return how many rows that are.

    Raises:
        UserError: A row or a label is not in the project, or a row may have one label only.
    """
    known = set(project.row_ids().tolist())
    if missing := [row_id for row_id in row_ids if row_id not in known]:
        raise UserError(
            _("There is no row {rows} in this project: check its number.", rows=number(missing[0]))
        )
    label_set = project.label_set()
    if len(names) > 1 and not (label_set is not None and label_set.multi_label):
        raise UserError(_("A row of this project has one label: give one."))
    ids, _added = _label_ids(project, names, new=False)
    label_ids = list(dict.fromkeys(ids[label_key(name)] for name in names))
    project.decide(list(row_ids), Decision.LABEL, label_ids, queue=queue)
    return len(row_ids)
