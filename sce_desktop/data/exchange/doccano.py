"""Lines of Doccano: text classification in JSON Lines, as it exports and imports them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from sce_desktop.core.names import numbered
from sce_desktop.data.exchange.records import (
    DECIDED_COLUMNS,
    LABELS_COLUMN,
    ExchangeProject,
    ExchangeRow,
    as_list,
    text_list,
)

_ID, _TEXT, _LABEL, _COMMENTS = "id", "text", "label", "Comments"
_TAKEN: Final = frozenset({*DECIDED_COLUMNS, LABELS_COLUMN}) - {_LABEL}


def is_line(item: dict[str, Any]) -> bool:
    """Whether an object is a line of Doccano's export: it is the one that has comments."""
    return (
        isinstance(item.get(_COMMENTS), list)
        and type(item.get(_TEXT)) is str
        and text_list(item.get(_LABEL)) is not None
        and not _TAKEN & item.keys()
    )


def read_line(item: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a line: its own cells, then what was decided. An empty list is no label yet."""
    labels = text_list(item[_LABEL]) or ()
    comments = text_list(item[_COMMENTS]) or ()
    row = {key: value for key, value in item.items() if key not in (_LABEL, _COMMENTS)}
    cells = [labels[0] if labels else None, "imported" if labels else None, "0", "0"]
    cells += ["\n".join(comments) or None, None]
    row |= dict(zip(DECIDED_COLUMNS, cells, strict=True))
    if len(labels) > 1:
        row[LABELS_COLUMN] = as_list(labels)
    return row


def write_lines(project: ExchangeProject, rows: Iterable[ExchangeRow]) -> Iterator[str]:
    """Yield the lines of the file."""
    own = (_ID, _TEXT, _LABEL, _COMMENTS)
    names = numbered([*own, *(name for _place, name in project.other_columns)])[len(own) :]
    for row in rows:
        found: dict[str, Any] = {_ID: row.number, _TEXT: row.text, _LABEL: list(row.labels or ())}
        for name, (place, _name) in zip(names, project.other_columns, strict=True):
            found[name] = row.cells[place]
        found[_COMMENTS] = [row.note] if row.note else []
        yield json.dumps(found, ensure_ascii=False) + "\n"
