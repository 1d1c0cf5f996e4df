from __future__ import annotations

import pytest

from sce_desktop.core.progress import SilentProgress
from sce_desktop.tasks.tables.periods import Unit, by_period


def named(values: list[str | None], unit: Unit | None = None) -> tuple[list[str], SilentProgress]:
    progress = SilentProgress()
    found = by_period(values, unit=unit, progress=progress)
    return [found.names[code] if code >= 0 else "" for code in found.codes], progress


@pytest.mark.parametrize(
    ("written", "month"),
    [
        ("2024-03-04", "2024-03"),
        ("2024-03-04T23:59:59.123456", "2024-03"),
        ("2024-03-31T23:30:00-05:00", "2024-03"),  # as written, not as in Greenwich
        ("2024-03-01 00:30:00+02:00", "2024-03"),
        ("2024-03-01T00:00Z", "2024-03"),
        ("20240304", "2024-03"),
        ("04.03.2024", "2024-03"),
        ("25/03/2024", "2024-03"),
        ("03/25/24", "2024-03"),
        ("4 March 2024", "2024-03"),
        ("Mon, 04 Mar 2024 10:00:00 GMT", "2024-03"),
        ("2024", "2024-01"),
        (" 2024-03-04 ", "2024-03"),
    ],
)
def test_dates_as_people_write_them(written: str, month: str) -> None:
    assert named([written], "month")[0] == [month]


@pytest.mark.parametrize("written", ["5", "14:30", "soon", "NA", "99/99/2024", "12345", "1711843200", "3.5"])
def test_what_is_no_date_is_counted_and_never_becomes_today(written: str) -> None:
    assert named(["2024-03-04", written], "day")[0] == ["2024-03-04", ""]
    assert by_period(["2024-03-04", written], progress=SilentProgress()).unreadable == 1


def test_empty_cells_are_no_mistake() -> None:
    progress = SilentProgress()
    found = by_period(["2024-01-01", "", None, "  ", "?"], unit="day", progress=progress)
    assert (found.empty, found.unreadable) == (3, 1)
    nothing = by_period(["", None], progress=progress)
    assert (nothing.names, nothing.codes.tolist()) == ((), [-1, -1])


def test_one_cell_settles_which_comes_first() -> None:
    found, progress = named(["03/04/2024", "25/04/2024"], "month")
    assert found == ["2024-04", "2024-04"]
    assert progress.warnings == []
    found, progress = named(["03/04/2024", "04/25/2024"], "month")
    assert found == ["2024-03", "2024-04"]
    found, progress = named(["03/04/2024"], "month")
    assert found == ["2024-03"]
    assert len(progress.warnings) == 1


def test_periods_without_rows_are_there() -> None:
    progress = SilentProgress()
    found = by_period(["2024-01-15", "2024-04-02"], unit="month", progress=progress)
    assert found.names == ("2024-01", "2024-02", "2024-03", "2024-04")
    assert found.codes.tolist() == [0, 3]
    weeks = by_period(["2024-01-03", "2024-01-09"], unit="week", progress=progress)
    assert weeks.names == ("2024-01-01", "2024-01-08")  # their Mondays


def test_the_unit_fits_the_span() -> None:
    def unit(last: str) -> Unit:
        return by_period(["2020-01-01", last], progress=SilentProgress()).unit

    assert [unit(last) for last in ("2020-01-20", "2020-06-01", "2023-01-01", "2044-01-01")] == [
        *("day", "week", "month", "year")
    ]


def test_a_slip_in_the_year_does_not_make_a_million_days() -> None:
    progress = SilentProgress()
    found = by_period(["1524-01-01", "2024-01-01"], unit="day", progress=progress)
    assert len(found.names) <= 501
    assert "counted by year" in progress.warnings[0]
