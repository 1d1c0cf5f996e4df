from __future__ import annotations

import pytest

from sce_desktop.data.excel.number_formats import built_in, duration_text, number_format

_PHONE = r"[<=9999999]###\-####;\(###\)\ ###\-####"


@pytest.mark.parametrize(
    ("code", "raw", "shown"),
    [
        ("0000000", "123", "0000123"),
        ("00000", "12345678", "12345678"),
        ("00000", "0", "00000"),
        ("00000", "-42", "-00042"),
        ("00000;(00000)", "-42", "(00042)"),
        ("0000", "1.23E2", "0123"),
        (r"000\-00\-0000", "7", "000-00-0007"),
        ('"ID-"0000', "42", "ID-0042"),
        ("00 00 00 00 00", "612345678", "06 12 34 56 78"),
        (_PHONE, "5551234", "555-1234"),
        (_PHONE, "8005551234", "(800) 555-1234"),
        ("[$-409]000", "5", "005"),
        ("[Red]00;[Blue]-00", "-5", "-05"),
        ("000.0", "12.5", "012.5"),
        ("000.0", "12.55", "12.55"),  # would be rounded
        ("0.00", "3.14159", "3.14159"),
        ("0.00", "3", "3"),
        ("#,##0", "1234567", "1234567"),
        ('0" kg"', "42", "42"),
        ("General", "42.0", "42"),
        ("General", "0.30000000000000004", "0.3"),
        ("General", "1.1000000000000001", "1.1"),
        ("General", "-0", "0"),
        ("General", "1E+21", "1E+21"),
        ("General", "NaN", "NaN"),
        ("General", "1E+400", "1E+400"),
        ("@", "007", "007"),
        ("# ?/?", "0.5", "0.5"),
        ("0.00E+00", "12345", "12345"),
        ("0%", "0.07", "7%"),
        ("[Red]0.00%", "0.125", "12.5%"),
        ('0" %"', "3", "3"),
        ("d/m/yyyy", "45413", "2024-05-01"),
        ("d/m/yyyy h:mm", "45413.5625", "2024-05-01T13:30:00"),
        ("[$-F400]h:mm:ss\\ AM/PM", "0.5", "12:00:00"),
        ("yyyy-mm-dd", "59", "1900-02-28"),
        ("yyyy-mm-dd", "60", "1900-02-29"),  # which Excel shows, though there was none
        ("yyyy-mm-dd", "61", "1900-03-01"),
        ("yyyy-mm-dd", "-1", "-1"),
        ("yyyy-mm-dd", "2958466", "2958466"),
        ("yyyy-mm-dd", "1E+300", "1E+300"),
        ("mm:ss.0", "0.00001", "00:00:00.864000"),
        ("[h]:mm", "1.5", "36:00:00"),
        ("[mm]:ss", "-0.5", "-12:00:00"),
        ("[h]:mm:ss", "1E+12", "1000000000000"),
        ('"d"0', "5", "5"),
        ("", "5", "5"),
        (";;;", "5", "5"),
        ('"', "5", "5"),
        ("[", "5", "5"),
    ],
)
def test_a_number_format_says_which_value_a_cell_holds(code: str, raw: str, shown: str) -> None:
    assert number_format(code).text(raw) == shown


def test_days_since_1904() -> None:
    dates, times = number_format("yyyy-mm-dd"), number_format("h:mm")
    assert dates.text("0", since_1904=True) == "1904-01-01"
    assert dates.text("43951.25", since_1904=True) == "2024-05-01T06:00:00"
    assert times.text("0.25", since_1904=True) == "06:00:00"


def test_formats_that_are_known_by_number() -> None:
    assert [built_in(number).text("1.5") for number in (0, 2, 9, 14, 46, 49)] == [
        "1.5",
        "1.5",
        "150%",
        "1900-01-01T12:00:00",
        "36:00:00",
        "1.5",
    ]
    assert built_in(1).text("1.2E+17") == "120000000000000000"


def test_durations_carry_their_fractions() -> None:
    assert duration_text(0.5 / 86400) == "0:00:00.5"
    assert duration_text(-1.0) == "-24:00:00"
