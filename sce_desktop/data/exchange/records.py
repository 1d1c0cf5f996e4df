"""What files of annotation tools have in common: a text, its other cells, and who gave it which labels."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sce_desktop.core.limits import MAX_KEYS, MAX_SHEET_AREA
from sce_desktop.core.tables import Cell

DECIDED_COLUMNS: Final = ("label", "decided", "unsure", "flag", "note", "decided_at")
"""The columns of a project's export that say what was decided; an import restores them."""
LABELS_COLUMN: Final = "labels"
ANNOTATOR_PREFIX: Final = "annotator:"
"""Begins the header of a column with the labels that another annotator gave."""
MOST_ANNOTATORS: Final = 100
"""Annotators of a file that are kept: each is a column of every row."""

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a model says about a row: labels with their probabilities, the best first."""

    model: str
    labels: tuple[tuple[str, float], ...]
    multi_label: bool = False


@dataclass(frozen=True, slots=True)
class ExchangeRow:
    """A row as it is exported. ``labels`` is None where nobody labelled it, empty for none of these."""

    number: int
    text: str
    cells: tuple[Cell, ...] = ()
    labels: Names | None = None
    skipped: bool = False
    decided: str = ""
    decided_at: str = ""
    unsure: bool = False
    flag: bool = False
    note: str = ""
    others: tuple[tuple[str, Names], ...] = ()  # annotators and what each gave; empty for none of these
    prediction: Prediction | None = None


@dataclass(frozen=True, slots=True)
class ExchangeProject:
    """What all rows of an export have in common."""

    name: str
    columns: tuple[str, ...]
    text_columns: tuple[int, ...]
    labels: tuple[Any, ...]  # of `core.annotations.Label`
    multi_label: bool

    @property
    def other_columns(self) -> list[tuple[int, str]]:
        """Place and name of the columns that are not the text."""
        return [(i, name) for i, name in enumerate(self.columns) if i not in self.text_columns]


@dataclass(slots=True)
class Incoming:
    """A row of another tool's file: its own cells, and what was given by whom."""

    data: dict[str, Any] = field(default_factory=dict)
    given: list[tuple[str, Names]] = field(default_factory=list)  # annotator ("" if unknown) and labels
    skipped: bool = False
    from_project: bool = False  # a project of ours wrote it: ``own`` are its labels, None: unlabelled
    own: Names | None = None
    decided: str = ""
    decided_at: str = ""
    unsure: bool = False
    flag: bool = False
    note: str = ""


def restore(row: Incoming, kept: Mapping[str, Any], by_us: str = "") -> None:
    """Complete ``row``, which a project of ours wrote and another tool may have changed.

    A labelled row keeps its labels while they are still among the answers. Else, and for a row that had no
    labels, those count that the other tool's annotators added.

    Args:
        row: What the file says of it; ``given`` holds all answers.
        kept: What our project kept aside, see `kept_aside`.
        by_us: The name under which the project's own labels were written.
    """
    own = text_list(kept.get("labels"))
    theirs = kept.get("others")
    before = [
        (who, names)
        for who, value in _pairs(theirs)[:MOST_ANNOTATORS]
        if (names := text_list(value)) is not None
    ]
    wrote = [*before, *([(by_us, own)] if own is not None else [])]
    writers = {who for who, _labels in wrote}
    added, named = list(row.given), []
    for who, labels in wrote:
        # A tool may put whoever imported the file in the place of a name.
        lost = (one for one in added if one[0] not in writers and one[1] == labels)
        one = (who, labels) if (who, labels) in added else next(lost, None)
        if one is not None:
            added.remove(one)
            named.append((who, labels))
        elif who == by_us and added:
            own = None  # changed there
    changed = own is None and bool(added)
    row.from_project, row.own = True, majority(labels for _who, labels in added) if own is None else own
    others = [one for one in added if not changed or one[1] != row.own]
    row.given = [(who, labels) for who, labels in [*named, *others] if who and who != by_us]
    row.skipped = own is None and not changed and (row.skipped or kept.get("skipped") is True)
    row.unsure, row.flag = kept.get("unsure") is True, kept.get("flag") is True
    for name in ("note",) if changed else ("decided", "decided_at", "note"):
        if isinstance(value := kept.get(name), str):
            setattr(row, name, str(value))


def _pairs(value: Any) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []


def kept_aside(row: ExchangeRow) -> dict[str, Any]:
    """Return, as JSON values, what other tools have no place for, or may lose, of ``row``."""
    return {
        "row": row.number,
        **({"labels": list(row.labels)} if row.labels is not None else {}),
        **({"others": {who: list(labels) for who, labels in row.others}} if row.others else {}),
        **({"decided": row.decided, "decided_at": row.decided_at} if row.decided else {}),
        **({"skipped": True} if row.skipped else {}),
        **({"unsure": True} if row.unsure else {}),
        **({"flag": True} if row.flag else {}),
        **({"note": row.note} if row.note else {}),
    }


class NoTableError(Exception):
    """The rows have so many different ``keys`` that they are not rows of one table."""

    def __init__(self, keys: int) -> None:
        super().__init__(keys)
        self.keys = keys


def as_rows(rows: Sequence[Incoming]) -> list[dict[str, Any]]:
    """Return rows of a table: the cells of the file, then `DECIDED_COLUMNS`, labels, and annotators.

    A row has the label that most of its annotators gave; where they are tied it is unlabelled. With more
    than one annotator in the file, the labels of each are in a column of their own.

    Raises:
        NoTableError: They have more columns, or cells in them, than anything honest.
    """
    columns = dict.fromkeys(key for row in rows for key in row.data)
    if len(columns) > MAX_KEYS or len(rows) * len(columns) > MAX_SHEET_AREA:
        raise NoTableError(len(columns))  # before there are any: each row has a cell for every column
    names = _free_names(columns)
    annotators = _annotators(rows)
    chosen = [row.own if row.from_project else majority(labels for _who, labels in row.given) for row in rows]
    several = any(labels is not None and len(labels) > 1 for labels in chosen)
    found: list[dict[str, Any]] = []
    for row, labels in zip(rows, chosen, strict=True):
        item: dict[str, Any] = {key: row.data.get(key) for key in columns}
        decided: Cell = "skipped" if row.skipped else None
        if labels is not None:
            decided = (row.decided or "imported") if labels else "none"
        cells: list[Any] = [labels[0] if labels else None, decided, str(int(row.unsure)), str(int(row.flag))]
        cells += [row.note or None, row.decided_at or None]
        item |= dict(zip(names[: len(DECIDED_COLUMNS)], cells, strict=True))
        if several:
            item[names[len(DECIDED_COLUMNS)]] = None if labels is None else as_list(labels)
        given = dict(row.given)
        for annotator in annotators:
            theirs = given.get(annotator)
            item[f"{ANNOTATOR_PREFIX}{annotator}"] = None if theirs is None else as_list(theirs)
        found.append(item)
    return found


def majority(given: Iterable[Names]) -> Names | None:
    """Return the labels that most annotators gave, None if nobody gave any or the first two are tied."""
    counts = Counter(tuple(dict.fromkeys(labels)) for labels in given).most_common(2)
    if not counts or (len(counts) > 1 and counts[0][1] == counts[1][1]):
        return None
    return counts[0][0]


def as_list(names: Sequence[str]) -> str:
    """Write labels as a JSON list."""
    return json.dumps(list(names), ensure_ascii=False)


def _annotators(rows: Sequence[Incoming]) -> list[str]:
    """Return the annotators of whom each has a column: all, where there is more than one, or a project's."""
    found = dict.fromkeys(who for row in rows for who, _labels in row.given if who)
    unnamed = any(not who for row in rows for who, _labels in row.given)
    has_own = any(row.from_project for row in rows)
    if len(found) + unnamed < 2 and not has_own:
        return []
    return list(found)[:MOST_ANNOTATORS]


def _free_names(columns: Mapping[str, object]) -> list[str]:
    """Return the names of our columns as an export of ours writes them beside ``columns``."""
    taken = set(columns)
    found = []
    for name in (*DECIDED_COLUMNS, LABELS_COLUMN):
        free, suffix = name, 1
        while free in taken:
            suffix += 1
            free = f"{name}_{suffix}"
        taken.add(free)
        found.append(free)
    return found


def text_list(value: Any) -> Names | None:
    """Return a JSON value as names: a text, or a list of texts; None for anything else."""
    if type(value) is str:  # a number is another kind of text
        return (value,)
    if isinstance(value, list) and all(type(one) is str for one in value):
        return tuple(value)
    return None


def valid_xml(text: str) -> str:
    """Return ``text`` with U+FFFD in place of characters that XML 1.0 cannot hold."""
    return "".join(
        sign
        if sign in "\t\n\r" or "\x20" <= sign <= "\ud7ff" or "\ue000" <= sign <= "\ufffd" or sign > "\uffff"
        else "\ufffd"
        for sign in text
    )
