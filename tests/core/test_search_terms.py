from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sce_desktop.core.search_terms import Field, Term, asks_people, is_plain, needles, search_terms

COLUMNS = ("text", "City", "Order date", "a:b", "label", "Café")


def text(value: str, *, excluded: bool = False) -> Term:
    return Term(value, excluded=excluded)


def cell(column: int, value: str, *, excluded: bool = False) -> Term:
    return Term(value, Field.CELL, column, excluded)


@pytest.mark.parametrize(
    ("search", "terms"),
    [
        ("", []),
        ("  ", [text("  ")]),
        ("late", [text("late")]),
        ("two words ", [text("two"), text("words")]),
        ("late late", [text("late")]),
        ('"late delivery" refund', [text("late delivery"), text("refund")]),
        ('"a b" "c d"', [text("a b"), text("c d")]),
        ('50% "off"', [text("50%"), text("off")]),
        ("-refund", [text("refund", excluded=True)]),
        ('late -"my money"', [text("late"), text("my money", excluded=True)]),
        ("city:York", [cell(1, "York")]),
        ('CITY:"New York" late', [cell(1, "New York"), text("late")]),
        ('"order date":2024', [cell(2, "2024")]),
        ('-"a:b":x', [cell(3, "x", excluded=True)]),
        ("cafe:x", [cell(5, "x")]),
        ("annotator:Eva", [Term("Eva", Field.ANNOTATOR)]),
        ('note:"call back"', [Term("call back", Field.NOTE)]),
        ("-is:Flagged", [Term("flagged", Field.STATE, excluded=True)]),
        ("label:x", [cell(4, "x")]),  # the table's own column goes first
        # what is none of these stands as it is
        ("is:strange", [text("is:strange")]),
        ("http://x.org", [text("http://x.org")]),
        ("c:\\temp 10:30", [text("c:\\temp"), text("10:30")]),
        ("city:", [text("city:")]),
        (":x", [text(":x")]),
        ('5" screen', [text('5"'), text("screen")]),
        ('"open quote', [text('"open'), text("quote")]),
        ('city:"New York', [cell(1, '"New'), text("York")]),
        ('say"so"now', [text('say"so"now')]),
        ('""', [text('""')]),
        ('"', [text('"')]),
        ("- -- --x", [text("-"), text("--"), text("--x")]),
        ("re-use", [text("re-use")]),
        ('"-5"', [text("-5")]),
        ("遅れ 荷物", [text("遅れ"), text("荷物")]),
    ],
)
def test_what_is_typed_becomes_terms(search: str, terms: list[Term]) -> None:
    assert list(search_terms(search, COLUMNS)) == terms


def test_our_own_names_hold_where_the_table_has_none() -> None:
    assert search_terms("label:Refund") == (Term("Refund", Field.LABEL),)
    assert asks_people("late label:Refund")
    assert not asks_people("late label:Refund", COLUMNS)
    assert asks_people("is:flagged")
    assert not asks_people('"is:flagged" late')


def test_marked_is_what_must_be_in_the_text() -> None:
    assert needles('late -refund city:York "my money" is:flagged', COLUMNS) == ("late", "my money")


def test_plain_is_one_piece_of_text() -> None:
    assert is_plain("late")
    assert is_plain('"my money"')
    assert is_plain("http://x")
    assert not is_plain("late parcel")
    assert not is_plain("-late")
    assert not is_plain("city:x", COLUMNS)


@given(st.text(alphabet='ab :"-\\\n\t%éß', max_size=30))
def test_no_search_is_wrong_and_nothing_typed_is_lost(search: str) -> None:
    terms = search_terms(search, ("a", "b b"))
    assert bool(terms) is bool(search)
    for term in terms:
        assert term.value in search
        assert term.value
