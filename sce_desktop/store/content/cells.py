"""The cells of a column, as SQL."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from sce_desktop.store.content.rows import shape
from sce_desktop.store.file import schema

_rows = schema.rows.c


def cell_of(connection: sa.Connection, column: int) -> sa.ColumnElement[Any]:
    """Return the cell of the 0-based ``column``.

    The cells are a JSON list in which the text's cell is left out where it is the text itself
    (`importing`), so places after it are one less.
    """
    layout = shape(connection)
    width = len(layout.columns)
    text_at = layout.text_columns[0] if layout.text_columns else width
    whole = _at(column)
    if len(layout.text_columns) != 1 or column < text_at:
        return whole
    packed: sa.ColumnElement[Any] = _rows.text if column == text_at else _at(column - 1)
    return sa.case((sa.func.json_array_length(_rows.cells) == width, whole), else_=packed)


def _at(place: int) -> sa.ColumnElement[Any]:
    return sa.func.json_extract(_rows.cells, f"$[{place}]")
