"""Tables whose right labels are known: which rows of one can be learned from or measured."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from sce_desktop.core.annotations import Label
from sce_desktop.core.blank import is_blank
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.labels import check_count, check_scorable, distinct_labels, label_key, merged_names
from sce_desktop.core.progress import Progress
from sce_desktop.core.tables import TableOptions
from sce_desktop.data.tables import open_table
from sce_desktop.store.content.rows import Shape
from sce_desktop.tasks.insight.labels import report_merged, report_unmerged
from sce_desktop.tasks.tables.columns import (
    ListCells,
    elsewhere,
    find_column,
    find_columns,
    has_lists,
    report_alike,
    report_doubts,
    report_reading,
)

SAMPLE_SEED = 0


@dataclass(frozen=True, slots=True)
class GoldSource:
    """A table with a column of right labels, and how to read it.

    ``text_columns``: headers or places of the text. ``column``: header of the right labels. ``labels``: those
    to compare with, which stand for what looks like them; empty: the model's own, else the distinct values of
    the column. ``lists``: whether the cells of the column are JSON lists of labels; None: if most of them
    are. ``merge_alike``: count gold labels that look the same as one; else a warning says how to.
    """

    path: Path
    text_columns: Sequence[str | int]
    column: str
    labels: Sequence[Label] = ()
    lists: bool | None = None
    merge_alike: bool = False
    options: TableOptions = field(default_factory=TableOptions)


@dataclass(frozen=True, slots=True)
class GoldTable:
    """Text and right labels of every row of a table; several labels only where the column holds ``lists``."""

    texts: list[str]
    names: list[tuple[str, ...]]
    lists: bool

    def check_one_each(self) -> None:
        """Raise a `UserError` if a row has several labels."""
        if several := sum(len(names) > 1 for names in self.names):
            raise UserError(
                ngettext(
                    "Fine-tuning needs one label per row, but {count} row has several: "
                    "choose another column.",
                    "Fine-tuning needs one label per row, but {count} rows have several: "
                    "choose another column.",
                    several,
                )
            )


def read_gold(gold: GoldSource, progress: Progress) -> GoldTable:
    """Return text and right labels of every row of a table.

    Raises:
        UserError: The table or a column is not right, or there is no label in it.
        Cancelled: The user stopped.
    """
    table = open_table(gold.path, gold.options)
    report_doubts(table, progress)
    texts_at = find_columns(table.columns, gold.text_columns, progress, hint=elsewhere(table))
    gold_at = find_column(table.columns, gold.column, progress, hint=elsewhere(table))
    if gold_at in texts_at:  # each text would be its own label, and every model right
        raise UserError(
            _("Column “{column}” has the texts: choose another column of gold labels.", column=gold.column)
        )
    shape = Shape(table.columns, texts_at)
    texts: list[str] = []
    cells_of_gold: list[str] = []
    for batch in table.batches():
        texts += [shape.text_of(cells) for cells in batch]
        cells_of_gold += [cells[gold_at] or "" for cells in batch]
        progress.report(len(texts), table.estimated_rows, stage=_("reading"))
        progress.check()
    report_reading(table, progress)
    lists = has_lists(gold.column, cells_of_gold, gold.lists, progress)
    names = _names(gold.column, cells_of_gold, lists, progress)
    if not any(names):
        raise UserError(
            _("Column “{column}” has no labels: choose the column of gold labels.", column=gold.column)
        )
    if gold.merge_alike:
        counts = Counter(itertools.chain.from_iterable(names))
        merged = merged_names(counts, (label.name for label in gold.labels))
        report_merged(merged, progress)
        names = [tuple(dict.fromkeys(merged.get(name, name) for name in right)) for right in names]
    else:
        report_unmerged(itertools.chain.from_iterable(names), progress)
    return GoldTable(texts, names, lists)


def _names(column: str, gold: Sequence[str], lists: bool, progress: Progress) -> list[tuple[str, ...]]:
    """Return the labels that each cell of a column names."""
    if not lists:
        return [() if is_blank(cell) else (cell,) for cell in gold]
    listed = ListCells(column)
    names = [listed.names(cell, row) or () for row, cell in enumerate(gold, start=1)]
    listed.report(progress)
    return names


@dataclass(frozen=True, slots=True, eq=False)
class UsableRows:
    """The rows of a table that have a text and at least one of the K ``labels``.

    ``places`` (n): where they are in the table; ``known``: for every row of the table, the places of its
    right labels among the K. ``skipped``: all other rows by reason: blank, no_gold, other_label.
    """

    labels: tuple[Label, ...]
    places: list[int]
    known: list[list[int]]
    skipped: dict[str, int]

    def first(self, places: Sequence[int]) -> list[int]:
        """Return the one right label of each of the rows at ``places``."""
        return [self.known[place][0] for place in places]


def usable_rows(
    table: GoldTable, given: Sequence[Label], incoming: Sequence[Label], progress: Progress
) -> UsableRows:
    """Return the rows to measure or to learn from.

    Args:
        table: As `read_gold` gives it.
        given: The labels that count; empty: those that a model carries, else the distinct ones in the table.
        carried: By the model.
        progress: Warned of labels that look alike.

    Raises:
        UserError: There are fewer than two labels, or one cannot be scored.
    """
    named = list(itertools.chain.from_iterable(table.names))
    labels = tuple(given or incoming or distinct_labels(named))
    check_scorable(labels, least=2)
    check_count(len(labels))
    report_alike([*(label.name for label in labels), *named], progress)
    place_of = {label_key(label.name): place for place, label in enumerate(labels)}
    known = [
        list(dict.fromkeys(place_of[key] for key in map(label_key, names) if key in place_of))
        for names in table.names
    ]
    usable = [place for place, right in enumerate(known) if right and not is_blank(table.texts[place])]
    return UsableRows(labels, usable, known, _skipped(table.texts, table.names, known))


def check_usable(rows: UsableRows, column: str) -> None:
    """Raise a `UserError` if there is no row to use."""
    if not rows.places:
        raise UserError(
            _(
                "No row has a text and one of the labels in “{column}”: check the columns and the labels.",
                column=column,
            )
        )


def _skipped(
    texts: Sequence[str], gold: Sequence[Sequence[str]], known: Sequence[Sequence[int]]
) -> dict[str, int]:
    skipped = {"blank": 0, "no_gold": 0, "other_label": 0}
    for text, names, right in zip(texts, gold, known, strict=True):
        if is_blank(text):
            skipped["blank"] += 1
        elif not right:
            skipped["other_label" if names else "no_gold"] += 1
    return skipped


def sample(items: list[int], most: int | None) -> list[int]:
    """Return a random sample of ``most`` items in their order, always the same; all if they are fewer."""
    if most is None or len(items) <= most:
        return items
    places = np.random.default_rng(SAMPLE_SEED).choice(len(items), most, replace=False)
    return [items[place] for place in np.sort(places)]
