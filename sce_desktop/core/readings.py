"""How a column reads: as numbers, as dates, or as texts alone."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from enum import StrEnum


class Kind(StrEnum):
    """What every cell of a column is that has anything in it."""

    TEXT = "text"
    NUMBER = "number"
    DATE = "date"


# An apostrophe or a space groups digits in either way of writing; "%" changes no order.
_GROUP = "['’ \u00a0\u202f]"
_POINT = re.compile(
    rf"[+−-]?(?:\d+|\d{{1,3}}(?:,\d{{3}})+|\d{{1,3}}(?:{_GROUP}\d{{3}})+)?(?:\.\d*)?(?:[eE][+-]?\d+)? ?%?"
)
_COMMA = re.compile(
    rf"[+−-]?(?:\d+|\d{{1,3}}(?:\.\d{{3}})+|\d{{1,3}}(?:{_GROUP}\d{{3}})+)?(?:,\d*)?(?:[eE][+-]?\d+)? ?%?"
)
_UNGROUPED = re.compile("['’ \u00a0\u202f%]")
_DATE = re.compile(
    r"(?:(?P<year>\d{4})(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})"
    r"|(?P<first>\d{1,2})(?P<mark>[./-])(?P<second>\d{1,2})(?P=mark)(?P<last>\d{4}))"
    r"(?:[T ]+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<seconds>\d{2}(?:[.,]\d+)?))?)?"
    r"(?:\s*(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?"
)
_MOST = 64  # characters of a number or a date; more is a text, which no pattern has to look at


@dataclass(frozen=True, slots=True)
class Reading:
    """How the cells of a column are compared."""

    kind: Kind = Kind.TEXT
    decimal_comma: bool = False  # of numbers: 1.234,5
    day_first: bool = False  # of dates with slashes: 25/04/2024

    def value(self, text: str) -> float:
        """Return the number, or the seconds from the year 1 to the date, that ``text`` is; NaN if none.

        A time zone moves no date, as in the findings: it counts as it is written.
        """
        if self.kind is Kind.NUMBER:
            return _number(text, self.decimal_comma)
        return _date(text, self.day_first) if self.kind is Kind.DATE else math.nan


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """The commonest values of a column and their rows; "" stands for empty cells."""

    values: tuple[tuple[str, int], ...]  # most frequent first
    distinct: int  # values that there are, listed or not
    kind: Kind  # what the whole column reads as


WAYS = (
    Reading(Kind.NUMBER),
    Reading(Kind.NUMBER, decimal_comma=True),
    Reading(Kind.DATE),
    Reading(Kind.DATE, day_first=True),
)
"""In the order in which they are tried; what none of them reads is text."""


def reading_of(cells: Collection[str]) -> Reading:
    """Return how ``cells`` read as a whole: one that is no number and no date makes them texts.

    Blank cells do not count. In 03/04/2024 the month comes first unless another cell shows that it cannot.
    """
    return read_all(cells)[0]


def read_all(cells: Collection[str]) -> tuple[Reading, list[float]]:
    """Return what `reading_of` does, and the value of each cell: NaN for blank ones, and for all in texts."""
    for way in WAYS:
        values: list[float] = []
        for cell in cells:
            value = way.value(cell)
            if math.isnan(value) and cell and not cell.isspace():
                break
            values.append(value)
        else:
            if not all(map(math.isnan, values)):
                return way, values
    return Reading(), [math.nan] * len(cells)


def _number(text: str, decimal_comma: bool) -> float:
    text = text.strip() if len(text) <= _MOST else ""
    if not (_COMMA if decimal_comma else _POINT).fullmatch(text):
        return math.nan
    plain = _UNGROUPED.sub("", text).replace("−", "-")
    plain = plain.replace(".", "").replace(",", ".") if decimal_comma else plain.replace(",", "")
    try:
        value = float(plain)
    except ValueError:  # a sign or a point alone
        return math.nan
    return value if math.isfinite(value) else math.nan


def _date(text: str, day_first: bool) -> float:
    found = _DATE.fullmatch(text.strip()) if len(text) <= _MOST else None
    if found is None:
        return math.nan
    if found["year"]:
        year, month, day = found["year"], found["month"], found["day"]
    else:
        year, month, day = found["last"], found["first"], found["second"]
        if day_first or found["mark"] == ".":
            month, day = day, month
    try:
        days = date(int(year), int(month), int(day)).toordinal() - 1
    except ValueError:  # the 31st of April
        return math.nan
    if not found["hour"]:
        return 86_400.0 * days
    hour, minute = int(found["hour"]), int(found["minute"])
    seconds = float((found["seconds"] or "0").replace(",", "."))
    return 86_400 * days + 3_600 * hour + 60 * minute + seconds if hour < 24 and minute < 60 else math.nan
