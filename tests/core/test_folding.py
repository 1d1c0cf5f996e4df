from __future__ import annotations

import sys
import unicodedata

import pytest

from sce_desktop.core.folding import bare, contains_bare, folded


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Straße", "STRASSE"),
        ("İstanbul", "ISTANBUL"),
        ("ılık", "ILIK"),
        ("Σίσυφος", "ΣΊΣΥΦΟΣ"),
        ("МОСКВА", "москва"),
        ("ＡＢＣ １２", "abc 12"),
        ("ﾊﾞｽ", "バス"),
        ("한국", unicodedata.normalize("NFD", "한국")),
        ("café", "CAFE\u0301"),
        ("مُحَمَّد", "محـــمد"),
        ("שָׁלוֹם", "שלום"),
        ("می‌خواهم", "میخواهم"),
        ("a\u00a0b", "A b"),
    ],
)
def test_ways_to_write_the_same_are_the_same(one: str, other: str) -> None:
    assert folded(one) == folded(other)
    assert bare(one) == bare(other)


@pytest.mark.parametrize(
    ("accented", "plain"),
    [("é", "e"), ("Łódź", "lodz"), ("ё", "е"), ("ά", "α"), ("Đặng", "dang"), ("Ø", "o")],
)
def test_accents_count_where_they_were_typed(accented: str, plain: str) -> None:
    assert bare(accented) == plain
    assert folded(accented) not in (plain, "")


@pytest.mark.parametrize(
    ("one", "other"), [("が", "か"), ("ชา", "ช้า"), ("दिन", "दीन"), ("한", "하"), ("כ", "ך")]
)
def test_what_is_another_letter_to_its_readers_stays_another(one: str, other: str) -> None:
    assert bare(one) != bare(other)


def test_every_character_is_found_by_its_own_bare_form() -> None:
    """The short cuts of `contains_bare` agree with folding the whole text."""
    wrong = []
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if not character.isprintable() or 0x3400 <= code < 0xF900 or 0x20000 <= code < 0x2F800:
            continue
        text = f"日{character}本"
        if not all(contains_bare(text, key) for key in {bare(character)[:1], bare(character)}):
            wrong.append(character)
    assert wrong == []
