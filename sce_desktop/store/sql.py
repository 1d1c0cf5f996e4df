"""Small pieces of SQL that several modules of the store share."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
import sqlalchemy as sa

from sce_desktop.core.arrays import IdArray
from sce_desktop.core.i18n import _
from sce_desktop.store.file import schema
from sce_desktop.store.repair.stored import Malformed

Ids = Sequence[int] | IdArray
_PARSED: Final = 200_000  # characters of numbers that are read at once: some milliseconds
LAST_ROW: Final = "(SELECT coalesce(max(last_row_id), 0) FROM imports)"
"""As `last_row_id`, for plain SQL: on hot paths building a statement takes longer than running it."""


def now() -> str:
    """Return this moment as a project tells it: ISO 8601, UTC, milliseconds."""
    return as_moment(datetime.now(UTC))


def as_moment(moment: datetime) -> str:
    """Return a moment (UTC) as a project tells it: texts of that form sort by time."""
    return moment.isoformat(timespec="milliseconds")


def last_row_id() -> sa.ScalarSelect[Any]:
    """Return the expression for the last row that a finished import has brought (0: there is none)."""
    imported = schema.imports.c.last_row_id
    return sa.select(sa.func.coalesce(sa.func.max(imported), 0)).scalar_subquery()


def json_ids(ids: Ids) -> str:
    """Return ``ids`` as the text that ``json_each`` takes."""
    if isinstance(ids, np.ndarray):  # a third of the time
        return "[" + ",".join(map(str, ids.astype(np.int64).tolist())) + "]"
    return "[" + ",".join(str(int(id_)) for id_ in ids) + "]"


def among(column: str, ids: Ids) -> tuple[str, tuple[object, ...]]:
    """Return the condition that ``column`` is one of ``ids``, with its parameters; a range of ids is one."""
    if is_range(ids):
        return f"{column} BETWEEN ? AND ?", (int(ids[0]), int(ids[-1]))
    return f"{column} IN (SELECT value FROM json_each(?))", (json_ids(ids),)


def is_range(ids: Ids) -> bool:
    """Whether ``ids`` are some, each one more than the last."""
    return (
        len(ids) > 0
        and int(ids[-1]) - int(ids[0]) == len(ids) - 1
        and bool((np.diff(np.asarray(ids)) == 1).all())
    )


def id_list(ids: Ids) -> sa.Select[Any]:
    """Return ``ids`` as a statement for ``IN``: one parameter, however many there are."""
    values = sa.func.json_each(json_ids(ids)).table_valued(sa.column("value", sa.Integer))
    return sa.select(values.c.value)


def is_seen(row_id: sa.ColumnElement[Any]) -> sa.ColumnElement[bool]:
    """Return the condition that a finished import has brought a row; of others there is `staging`."""
    return row_id <= last_row_id()


def insert(connection: sa.Connection, table: sa.Table, **values: Any) -> int:
    """Insert one record and return its id."""
    return int(connection.execute(table.insert().values(**values)).lastrowid)


def fetch_ids(connection: sa.Connection, statement: Any) -> IdArray:
    """Return the ids (n,) that ``statement`` selects, in its order."""
    ids: IdArray
    (ids,) = fetch_columns(connection, statement, (np.int64,))
    return ids


def fetch_columns(connection: sa.Connection, statement: Any, dtypes: Sequence[Any]) -> list[Any]:
    """Return the columns of numbers that ``statement`` selects as arrays (n,), in its order.

    SQLite hands over each as one text: a third of the time of fetching record by record, and the interpreter
    is free for the window meanwhile. Its ``group_concat`` keeps the order of a subquery.
    """
    listed = sa.select(*(sa.func.group_concat(column) for column in statement.subquery().c))
    texts = connection.execute(listed).one()
    arrays = [numbers_in(text, dtype) for text, dtype in zip(texts, dtypes, strict=True)]
    if len({len(array) for array in arrays}) > 1:  # a NULL, or a text that only begins as a number
        raise Malformed(_("something in it is not a number"))
    return arrays


def numbers_in(text: Any, dtype: Any) -> Any:
    """Return the numbers (n,) of a list with commas, as ``group_concat`` makes it; NULL is an empty one.

    A long text is read in parts: numpy keeps the interpreter for itself while it reads one.

    Raises:
        Malformed: Something is not a number.
    """
    try:
        if not text or len(text) <= _PARSED:
            return np.fromstring(text, dtype=dtype, sep=",") if text else np.empty(0, dtype)
        parts, start = [], 0
        while start < len(text):
            end = text.find(",", start + _PARSED)
            end = len(text) if end < 0 else end
            parts.append(np.fromstring(text[start:end], dtype=dtype, sep=","))
            start = end + 1
        return np.concatenate(parts)
    except (ValueError, TypeError, DeprecationWarning):
        raise Malformed(_("something in it is not a number")) from None
