"""Which column of a table may be the text, and which may hold labels already: a first offer."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sce_desktop.core.blank import are_blank, is_blank
from sce_desktop.core.tables import Cell

_TEXT_NAMES = {
    *(
        "text",
        "texts",
        "comment",
        "comments",
        "message",
        "review",
        "body",
        "content",
        "description",
        "feedback",
    ),
    *(
        "question",
        "sentence",
        "title",
        "headline",
        "answer",
        "tweet",
        "post",
        "utterance",
        "abstract",
        "verbatim",
    ),
}
_LABEL_NAMES = {
    *(
        "label",
        "labels",
        "category",
        "categories",
        "class",
        "topic",
        "gold",
        "target",
        "tag",
        "intent",
        "sentiment",
    ),
    *("annotation", "annotations", "classes", "golden", "truth", "groundtruth", "true", "expected"),
    *("topics", "targets", "intents", "sentiments", "themes", "emotions", "annotated"),
    *("theme", "section", "genre", "emotion", "kategorie", "klasse", "thema", "catégorie", "categoría"),
}
_MOST_LABELS = 50


def guess_columns(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> tuple[int | None, int | None]:
    """Return the places of (the text column, the label column), None where nothing looks like one.

    A column of labels says so by its name: few values that repeat may as well be a country or a shop.
    """
    values = [_filled([cell for row in rows if (cell := row[place])]) for place in range(len(columns))]
    text = _best([_textness(name, cells) for name, cells in zip(columns, values, strict=True)])
    labelness = [_labelness(name, cells) for name, cells in zip(columns, values, strict=True)]
    if text is not None:
        labelness[text] = 0.0
    return text, _best(labelness)


def gold_like(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> frozenset[int]:
    """Return the places of columns that look like gold labels: such a name, and few empty cells.

    Labels of a person who is at work fill a column in part; taken for the user's own, a column that is full
    leaves nothing to do.
    """
    found = set()
    for place, name in enumerate(columns):
        filled = sum(not is_blank(row[place] or "") for row in rows)
        if _named(name, _LABEL_NAMES) and 2 * filled > len(rows):
            found.add(place)
    return frozenset(found)


def _filled(cells: Sequence[str]) -> list[str]:
    return [cell for cell, blank in zip(cells, are_blank(cells), strict=True) if not blank]


def _best(scores: Sequence[float]) -> int | None:
    best = max(range(len(scores)), key=scores.__getitem__, default=None)
    return best if best is not None and scores[best] > 0 else None


def names_a_column(name: str) -> bool:
    """Whether a cell is just what columns of texts, of labels or of keys are usually called."""
    return name.casefold() in _TEXT_NAMES | _LABEL_NAMES | {"id", "key", "nr", "no"}


def _named(column: str, names: set[str]) -> bool:
    return not names.isdisjoint(re.split(r"[\W\d_]+", column.casefold()))


def _textness(column: str, values: Sequence[str]) -> float:
    """Average length, where values are words of a language rather than numbers, codes or addresses."""
    named = _named(column, _TEXT_NAMES)
    if not values:
        return 0.1 if named else 0.0
    worded = sum(value.isalpha() or any(map(str.isalpha, value)) for value in values)
    prose = sum(" " in value.strip() or not value.isascii() for value in values)
    if 2 * worded < len(values):
        return 0.0
    length = sum(map(len, values)) / len(values)
    return length * (1.0 if 2 * prose >= len(values) else 0.1) * (2.0 if named else 1.0)


def _labelness(column: str, values: Sequence[str]) -> float:
    """How much a column looks like labels: a name that says so, and short values that repeat."""
    if not _named(column, _LABEL_NAMES):
        return 0.0
    distinct = len(set(values))
    if not values:
        return 0.1
    if sum(map(len, values)) > 60 * len(values) or (distinct > _MOST_LABELS and 2 * distinct > len(values)):
        return 0.0
    return 2 - distinct / len(values)
