"""What an import would bring, found out by reading the whole table without keeping it."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sce_desktop.core.arrays import IdArray
from sce_desktop.core.blank import is_blank
from sce_desktop.core.labels import label_key, look_alikes
from sce_desktop.core.lists import begins_as_list, from_list
from sce_desktop.core.progress import Progress
from sce_desktop.core.scripts import foreign_script
from sce_desktop.core.tables import TableOptions, TableProblem
from sce_desktop.data import tables
from sce_desktop.store.content.rows import Shape
from sce_desktop.store.project import Project
from sce_desktop.tasks.progress import Unreported
from sce_desktop.tasks.scoring.choice import DOWNLOAD_BY_COMMAND, READ_ROWS, Choice, choose
from sce_desktop.tasks.scoring.languages import EvenSample, languages_of
from sce_desktop.tasks.tables.columns import are_lists

MOST_LABELS = 1000  # a column with more values than these is no column of labels


@dataclass(frozen=True, slots=True)
class TableScan:
    """What is in a table. ``blank``, ``duplicates``, ``foreign`` and ``known`` are among ``rows``."""

    rows: int
    blank: int
    duplicates: int  # rows, blank ones aside, that repeat the text of an earlier row of the table
    foreign: int  # rows in another script than Latin (`core.scripts`)
    scripts: tuple[str, ...]  # their scripts, the one of most rows first
    known: int  # rows, blank ones aside, whose text the project has already; 0 without a project
    known_head: frozenset[int]  # those among the first rows, by 0-based place
    labels: tuple[tuple[str, int], ...]  # of the label column with their rows, in order of appearance
    lists: bool  # the cells of the label column are JSON lists of labels
    label_values: int  # how many there are, more than are kept in ``labels`` perhaps
    alike: tuple[tuple[str, ...], ...]  # groups of ``labels`` that look the same, that of most rows first
    problems: tuple[TableProblem, ...]
    problem_count: int
    choice: Choice  # the model for the rows and the labels of the column
    notes: tuple[str, ...] = ()  # how the table was read, where that is not plain


def scan_table(
    path: Path,
    *,
    text_columns: Sequence[int],
    label_column: int | None = None,
    lists: bool = True,
    project: Project | None = None,
    options: TableOptions | None = None,
    head: int = 100,
    get_it: str = DOWNLOAD_BY_COMMAND,
    progress: Progress,
) -> TableScan:
    """Read a table once, in bounded memory, and count what the user should know before importing it.

    Args:
        path: The table.
        text_columns: 0-based places of the columns that make the text.
        label_column: 0-based place of a column of labels.
        lists: Where its cells are lists of labels, count each label by itself.
        project: The project to which the rows would be added: its texts are known.
        options: How to read the table.
        head: So many first rows are looked up one by one for ``known_head``.
        get_it: How to get the multilingual model, for the reason of the choice.
        progress: Told of rows; cancelled between batches.

    Raises:
        UserError: The table cannot be read.
        Cancelled: The user stopped.
    """
    table = tables.open_table(path, options or TableOptions())
    shape = Shape(table.columns, tuple(text_columns))
    texts, values, scripts = array("q"), Counter[str](), Counter[str]()
    first: list[int | None] = []
    sample, sampled = EvenSample(), 0
    rows = blank = 0
    for batch in table.batches(progress=progress):
        rows += len(batch)
        for cells in batch:
            text = shape.text_of(cells)
            if is_blank(text):
                blank += 1
                key = None
            else:
                key = hash(text)  # 64 bits, the same as long as this program runs
                texts.append(key)
                if sampled < READ_ROWS:
                    sample.add((text,))
                    sampled += 1
                if not text.isascii() and (script := foreign_script(text)) is not None:
                    scripts[script] += 1
            if len(first) < head:
                first.append(key)
        if label_column is not None:
            values.update(name for cells in batch if (name := cells[label_column]) and not is_blank(name))
    keys = np.array(texts, dtype=np.int64)
    known = _keys_of(project, progress) if project is not None else np.empty(0, dtype=np.int64)
    head_known = np.isin([key or 0 for key in first], known)
    known_head = {place for place, key in enumerate(first) if key is not None and head_known[place]}
    are = are_lists(values)
    if are and lists:
        values = _by_name(values)
    values = _by_label(values)
    names = list(values)[:MOST_LABELS]
    return TableScan(
        rows=rows,
        blank=blank,
        duplicates=len(keys) - len(np.unique(keys)),
        foreign=scripts.total(),
        scripts=tuple(script for script, _ in scripts.most_common()),
        known=int(np.isin(keys, known).sum()),
        known_head=frozenset(known_head),
        labels=tuple((name, values[name]) for name in names),
        lists=are,
        label_values=len(values),
        alike=tuple(tuple(sorted(group, key=lambda name: -values[name])) for group in look_alikes(names)),
        problems=tuple(table.problems),
        problem_count=table.problem_count,
        choice=choose(languages_of(sample.texts, names), get_it=get_it),
        notes=table.notes,
    )


def _by_name(values: Counter[str]) -> Counter[str]:
    """Count the rows of each name in lists of names."""
    counts = Counter[str]()
    for value, rows in values.items():
        names = from_list(value)
        if names is None and begins_as_list(value):  # it gives no label, see `columns.ListCells`
            continue
        for name in (value,) if names is None else names:
            counts[name] += rows
    return counts


def _by_label(values: Counter[str]) -> Counter[str]:
    """Count the rows of names that are one label together, under the first of them."""
    first: dict[str, str] = {}
    counts = Counter[str]()
    for name, rows in values.items():
        counts[first.setdefault(label_key(name), name)] += rows
    return counts


def _keys_of(project: Project, progress: Progress) -> IdArray:
    quiet = Unreported(progress)
    keys = array("q")
    for rows in project.iter_rows():
        quiet.check()
        keys.extend(hash(row.text) for row in rows if not row.blank)
    return np.array(keys, dtype=np.int64)
