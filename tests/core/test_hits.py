from __future__ import annotations

import random
import time

import pytest

from sce_desktop.core import folding
from sce_desktop.core.hits import hits


def marked(text: str, *needles: str) -> list[str]:
    return [text[start:end] for start, end in hits(text, needles)]


@pytest.mark.parametrize(
    ("text", "needle", "found"),
    [
        ("The parcel arrived LATE, late", "late", ["LATE", "late"]),
        ("Café zu", "cafe", ["Café"]),
        ("CAFE\u0301 zu", "cafe", ["CAFE\u0301"]),
        ("CAFE\u0301 zu, cafe", "café", ["CAFE\u0301"]),
        ("Straße", "strasse", ["Straße"]),
        ("Straße", "s", ["S", "ß"]),
        ("İSTANBUL", "istanbul", ["İSTANBUL"]),
        ("وصلـــت الطلبية", "وصلت", ["وصلـــت"]),
        ("وصلت الشُّحنة متأخرة", "الشحنة", ["الشُّحنة"]),
        ("ＡＢＣ運輸、ﾊﾞｽ停", "abc", ["ＡＢＣ"]),
        ("ＡＢＣ運輸、ﾊﾞｽ停", "バス", ["ﾊﾞｽ"]),
        ("\u1110\u1162\u11a8\u1107\u1162 지연", "택배", ["\u1110\u1162\u11a8\u1107\u1162"]),
        ("पार्सल टूटा हुआ", "टूट", ["टूटा"]),
        ("ﬁx it", "f", ["ﬁ"]),
        ("Łódź", "lodz", ["Łódź"]),
        ("no", "yes", []),
        ("", "a", []),
        ("aaa", "aa", ["aa"]),
    ],
)
def test_a_hit_is_where_the_search_finds_it(text: str, needle: str, found: list[str]) -> None:
    assert marked(text, needle) == found


def test_several_needles_and_overlaps() -> None:
    assert marked("late parcel, late", "parcel", "late", "late par") == ["late parcel", "late"]
    assert marked("late", "") == []


def test_a_text_has_hits_exactly_where_the_search_finds_it() -> None:
    choose = random.Random(5)
    letters = "abAB äÄßςσΣ%_\"'\\*\n日İıſKéｅ\u0301がｶ\uff9eᄒ\u1161ـأ\u064bŁﬁ\u09c7\u09be"
    agreed = 0
    for _ in range(3000):
        text = "".join(choose.choices(letters, k=choose.randint(0, 12)))
        needle = "".join(choose.choices(letters, k=choose.randint(1, 3)))
        key, accented = folding.bare(needle), folding.folded(needle)
        if not accented:
            there = needle in text
        else:
            there = key in folding.bare(text) if key == accented else accented in folding.folded(text)
        found = hits(text, [needle])
        assert bool(found) is there, (text, needle)
        agreed += there
        for start, end in found:
            assert 0 <= start < end <= len(text)
    assert agreed > 150


def test_a_long_text_is_marked_in_time() -> None:
    text = "Überfällige Lieferung, ärgerlich. " * 1_000
    started = time.perf_counter()
    assert len(hits(text, ["lieferung", "ärger"])) == 1_000
    assert time.perf_counter() - started < 10  # a tenth of a second where nothing else runs
