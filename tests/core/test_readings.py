"""How a column reads: as numbers, as dates, or as texts."""

from __future__ import annotations

import math

import pytest

from sce_desktop.core.readings import Kind, Reading, reading_of

NUMBER, COMMA = Reading(Kind.NUMBER), Reading(Kind.NUMBER, decimal_comma=True)
DATE, DAY_FIRST = Reading(Kind.DATE), Reading(Kind.DATE, day_first=True)


@pytest.mark.parametrize(
    ("cells", "reading"),
    [
        (["1", "-2.5", "1e3", ".5", "+7", "12%"], NUMBER),
        (["1,234", "1,234,567.5"], NUMBER),
        (["1.234,5", "2"], COMMA),
        (["1 234,5", "1\u202f000"], COMMA),
        (["١٢", "٣"], NUMBER),
        (["−3", "4"], NUMBER),
        (["", "  ", "3"], NUMBER),
        (["2024-05-03", "2024-05-03T10:30:00Z", "1999-1-1 9:05"], DATE),
        (["04/03/2024", "12/31/2024"], DATE),
        (["04/03/2024", "25/04/2024"], DAY_FIRST),
        (["03.04.2024", "25.04.2024"], DATE),
        (["1", "two"], Reading()),
        (["nan", "inf"], Reading()),
        (["2024-02-30"], Reading()),
        (["2024-05-03", "7"], Reading()),
        (["1,23,4"], Reading()),
        (["-", "%", "."], Reading()),
        (["9" * 100], Reading()),
        (["12-34"], Reading()),
        ([], Reading()),
        (["", " "], Reading()),
        (["1\0"], Reading()),
    ],
)
def test_a_column_reads_as_a_whole(cells: list[str], reading: Reading) -> None:
    assert reading_of(cells) == reading


def test_numbers_have_their_values() -> None:
    assert NUMBER.value("1,234.5") == COMMA.value("1.234,5") == COMMA.value("1'234,5") == 1234.5
    assert NUMBER.value("-2") == NUMBER.value("−2") == -2
    assert NUMBER.value("١٢") == 12
    assert math.isnan(NUMBER.value("1e999"))
    assert math.isnan(Reading().value("1"))


def test_dates_are_in_order_and_count_as_written() -> None:
    assert DATE.value("2024-05-03") < DATE.value("2024-05-03 00:00:01") < DATE.value("2024-05-04")
    assert DATE.value("2024-05-03T23:00:00+09:00") == DATE.value("2024-05-03 23:00")
    assert DATE.value("03.04.2024") == DAY_FIRST.value("03/04/2024") == DATE.value("04/03/2024")
    assert DATE.value("2024-05-03 10:00:00.5") - DATE.value("2024-05-03 10:00") == 0.5
