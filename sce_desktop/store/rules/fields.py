"""What one value of a column can be, in Python for what is read and in SQL for a whole table."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Final

from sce_desktop.store.repair.stored import Malformed, is_moment, read_json, read_labels

MOST_ID: Final = 2**53
"""A greater number is nobody's id: the next one could not be counted up to."""

_SQL_TYPES: Final = {int: "integer", float: "real", str: "text", bytes: "blob", type(None): "null"}
_NULL: Final = frozenset((type(None),))


@dataclass(frozen=True, slots=True)
class Field:
    """What a column can hold: values of ``types`` that meet a condition; NULL meets every one.

    ``sql`` is the condition on ``{column}``. Where SQL cannot say it, it is empty and ``test`` alone knows.
    ``soft``: whoever reads it copes with a value that does not meet the condition, so that `verify` alone
    reports one, and `repair` replaces it.
    """

    types: frozenset[type]
    sql: str = ""
    test: Callable[[Any], bool] | None = None
    soft: bool = False

    def holds(self, value: object) -> bool:
        """Return whether the column can hold ``value``."""
        if type(value) not in self.types:
            return False
        return self.test is None or value is None or self.test(value)

    def all_hold(self, values: Collection[Any]) -> bool:
        """Return whether whoever reads the column copes with each of ``values``."""
        if not self.types.issuperset(map(type, values)):
            return False
        if self.test is None or self.soft:
            return True
        return all(value is None or self.test(value) for value in set(values))

    def wrong(self, column: str) -> str:
        """Return the SQL condition that a value is another one, as far as SQL can say it."""
        types = ", ".join(f"'{_SQL_TYPES[one]}'" for one in sorted(self.types, key=str))
        wrong = f"typeof({column}) NOT IN ({types})"
        # typeof first: SQLite compares texts and numbers, too. NULL is never wrong here.
        return f"({wrong} OR coalesce(NOT ({self.sql.format(column=column)}), 0))" if self.sql else wrong


def whole(low: int = 0, high: int = MOST_ID, *, null: bool = False) -> Field:
    """Whole numbers from ``low`` to ``high``."""
    return Field(
        _types(int, null=null), f"{{column}} BETWEEN {low} AND {high}", lambda value: low <= value <= high
    )


def number(low: float = -math.inf, high: float = math.inf, *, null: bool = False) -> Field:
    """Finite numbers from ``low`` to ``high``; SQLite keeps whole ones as such."""
    low, high = max(low, -1e300), min(high, 1e300)
    return Field(
        _types(float, int, null=null),
        f"{{column}} BETWEEN {low!r} AND {high!r}",
        lambda value: low <= value <= high,
    )


def truth(*, null: bool = False) -> Field:
    """Return the field of yes and no."""
    return Field(_types(int, null=null), "{column} IN (0, 1)", lambda value: value in (0, 1))


def text(*, null: bool = False) -> Field:
    """Return the field of any text."""
    return Field(_types(str, null=null))


def filled() -> Field:
    """Return the field of texts that are more than white space."""
    return Field(_types(str), "", lambda value: bool(value.strip()))


def word(*allowed: str, null: bool = False) -> Field:
    """Return the field of a few words."""
    listed = ", ".join(f"'{one}'" for one in allowed)
    words = frozenset(allowed)
    return Field(_types(str, null=null), f"{{column}} IN ({listed})", lambda value: value in words)


def letters(allowed: str) -> Field:
    """Return the field of texts of a few letters."""
    known = frozenset(allowed)
    return Field(_types(str), "", lambda value: known.issuperset(value))


def moment(*, null: bool = False) -> Field:
    """Return the field of dates with a time, ISO 8601."""
    return Field(_types(str, null=null), "", is_moment, soft=True)


def ids(*, null: bool = False) -> Field:
    """Return the field of ids with commas between them."""
    return Field(_types(str, null=null), "", _are_ids)


def blob(least: int = 0, *, most: int | None = None, step: int = 1) -> Field:
    """Return the field of bytes, so many of them."""
    if (least, most, step) == (0, None, 1):
        return Field(_types(bytes))
    sql = f"length({{column}}) >= {least} AND length({{column}}) % {step} = 0"
    sql += "" if most is None else f" AND length({{column}}) <= {most}"
    return Field(
        _types(bytes),
        sql,
        lambda value: len(value) >= least and len(value) % step == 0 and (most is None or len(value) <= most),
    )


def labels() -> Field:
    """Return the field of a snapshot of labels in JSON."""
    return Field(_types(str), "", lambda value: _reads(read_labels, value))


def json_object() -> Field:
    """Return the field of an object in JSON."""
    return Field(_types(str), "", lambda value: _reads(_object, value))


def json_texts() -> Field:
    """Return the field of a list of texts and nulls in JSON."""
    return Field(
        _types(str),
        "CASE WHEN NOT json_valid({column}) THEN 0 WHEN json_type({column}) <> 'array' THEN 0"
        " ELSE NOT EXISTS (SELECT 1 FROM json_each({column}) WHERE type NOT IN ('text', 'null')) END",
        lambda value: _reads(_texts, value),
    )


def json_numbers() -> Field:
    """Return the field of a list of places in JSON."""
    return Field(_types(str), "", lambda value: _reads(_numbers, value))


def _types(*types: type, null: bool = False) -> frozenset[type]:
    return frozenset(types) | (_NULL if null else frozenset())


def _reads(read: Callable[[object], object], value: object) -> bool:
    try:
        read(value)
    except Malformed:
        return False
    return True


def _object(value: object) -> None:
    if not isinstance(read_json(value), dict):
        raise Malformed


def _texts(value: object) -> None:
    found = read_json(value)
    if not isinstance(found, list) or not {str, type(None)}.issuperset(map(type, found)):
        raise Malformed


def _numbers(value: object) -> None:
    found = read_json(value)
    if not isinstance(found, list) or not all(type(one) is int and one >= 0 for one in found):
        raise Malformed


def _are_ids(value: str) -> bool:
    return all(one.isascii() and one.isdigit() and len(one) < len(str(MOST_ID)) for one in value.split(","))
