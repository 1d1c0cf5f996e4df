"""Dates as people write them in tables, sorted into days, weeks, months, quarters or years."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from sce_desktop.core.arrays import IdArray
from sce_desktop.core.i18n import N_, _
from sce_desktop.core.progress import Progress
from sce_desktop.core.tables import Cell

if TYPE_CHECKING:
    import pandas as pd

Unit = Literal["day", "week", "month", "quarter", "year"]
UNITS: dict[Unit, str] = {"day": "D", "week": "W", "month": "M", "quarter": "Q", "year": "Y"}
MOST_PERIODS = 400
FEW_PERIODS = 45
"""So many at most where nobody chose the unit."""

# The parser fills what is missing from today: "5" would be a day of this month, "14:30" a time of today.
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|2[01])\d\d(?:[01]\d[0-3]\d)?(?!\d)")
_NUMBERS = re.compile(r"^(\d{1,2})([./-])(\d{1,2})\2(?:\d{4}|\d{2})\b")
_OFFSET = re.compile(r"(?<=\d)\s*(?:Z|UTC|GMT|[+-]\d\d:?\d\d)$")


@dataclass(frozen=True, slots=True, eq=False)
class Periods:
    """(n,) ``codes``: places in ``names``, -1 where there is no date or none that can be read."""

    codes: IdArray
    names: tuple[str, ...]  # without gaps: a period without rows is there too
    unit: Unit
    empty: int
    unreadable: int


def by_period(values: Sequence[Cell], *, unit: Unit | None = None, progress: Progress) -> Periods:
    """Sort ``values`` (n,) into periods; without ``unit`` into at most 45 of them.

    The date counts as it is written: a time zone does not move a row to another day. In 03/04/2024 the month
    comes first unless another cell shows that it cannot (25/04/2024); a doubt is reported to `progress`.
    """
    import pandas as pd

    texts = pd.Series(["" if value is None else value.strip() for value in values], dtype=object)
    codes, distinct = pd.factorize(texts)
    written = pd.Series(distinct, dtype=object)
    dates = _read(written, progress)
    empty_at = (written == "").to_numpy(dtype=bool)
    missing = dates.isna().to_numpy(dtype=bool)
    counts = np.bincount(codes, minlength=len(distinct))
    empty, unreadable = int(counts[empty_at].sum()), int(counts[missing & ~empty_at].sum())
    if missing.all():
        return Periods(np.full(len(codes), -1, dtype=np.int64), (), unit or "day", empty, unreadable)
    days = (dates.max() - dates.min()).days
    chosen = unit or _fitting(days)
    if chosen != "year" and days / _DAYS[chosen] > MOST_PERIODS:
        chosen = next((wider for wider in UNITS if days / _DAYS[wider] <= MOST_PERIODS), "year")
        progress.warn(_(_TOO_LONG[chosen]))
    periods = dates.dt.to_period(UNITS[chosen])
    every = pd.period_range(periods.min(), periods.max(), freq=UNITS[chosen])
    place = np.full(len(distinct), -1, dtype=np.int64)
    place[~missing] = every.get_indexer(pd.PeriodIndex(periods[~missing]))
    names = tuple(str(p.start_time.date()) if chosen == "week" else str(p) for p in every)
    return Periods(place[codes], names, chosen, empty, unreadable)


_TOO_LONG: dict[Unit, str] = {
    "day": N_("The dates span too many periods: counted by day."),
    "week": N_("The dates span too many periods: counted by week."),
    "month": N_("The dates span too many periods: counted by month."),
    "quarter": N_("The dates span too many periods: counted by quarter."),
    "year": N_("The dates span too many periods: counted by year."),
}
_DAYS: dict[Unit, float] = {"day": 1, "week": 7, "month": 30.4, "quarter": 91.3, "year": 365.25}


def _fitting(days: int) -> Unit:
    return next((unit for unit in UNITS if days / _DAYS[unit] <= FEW_PERIODS), "year")


def _read(written: pd.Series, progress: Progress) -> pd.Series:
    """Return the dates of distinct cells, NaT where there is none."""
    import pandas as pd

    numbers = written.str.extract(_NUMBERS)
    numeric = numbers[0].notna()
    dotted = numeric & (numbers[1] == ".")
    slashed = numeric & ~dotted
    dates = pd.Series(pd.NaT, index=written.index, dtype="datetime64[us]")
    named = written.str.contains(_YEAR) & ~numeric
    first, second = numbers.loc[slashed, 0].astype(int), numbers.loc[slashed, 2].astype(int)
    day_first = bool((first > 12).any()) and not bool((second > 12).any())
    if len(first) and not (first > 12).any() and not (second > 12).any():
        progress.warn(_("Dates are ambiguous: read as month first."))
    for chosen, days_lead in ((named, False), (dotted, True), (slashed, day_first)):
        if chosen.any():
            plain = written[chosen].str.replace(_OFFSET, "", regex=True)
            parsed = pd.to_datetime(plain, format="mixed", dayfirst=days_lead, errors="coerce", utc=True)
            dates[chosen] = parsed.dt.tz_localize(None)
    return dates
