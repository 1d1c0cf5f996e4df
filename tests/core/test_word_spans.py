from __future__ import annotations

import pytest

from sce_desktop.core.word_spans import without_spans, word_spans


def words(text: str, cuts: tuple[int, ...] = ()) -> list[str]:
    return [text[start:end] for start, end in word_spans(text, cuts)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("  ,.! ", []),
        ("The parcel arrived LATE.", ["The", "parcel", "arrived", "LATE"]),
        ("don't re-use the driver’s app", ["don't", "re-use", "the", "driver’s", "app"]),
        ("- dash -not- word", ["dash", "not", "word"]),
        ("10% off: €5", ["10", "off", "5"]),
        ("naïve cafe\u0301", ["naïve", "cafe\u0301"]),
        ("배송이 늦었어요", ["배송이", "늦었어요"]),
        ("पार्सल टूटा", ["पार्सल", "टूटा"]),
        ("الشُّحنة متأخرة", ["الشُّحنة", "متأخرة"]),
        ("so 😡 and 👍🏽!", ["so", "😡", "and", "👍🏽"]),
        ("遅れた", ["遅", "れ", "た"]),
        ("bus 遅れ", ["bus", "遅", "れ"]),
    ],
)
def test_words_of_any_script(text: str, found: list[str]) -> None:
    assert words(text) == found


def test_scripts_without_spaces_are_cut_where_tokens_begin() -> None:
    text = "荷物が遅れて届いた。late"
    assert words(text, (0, 2, 3, 6, 9)) == ["荷物", "が", "遅れて", "届いた", "late"]
    assert words(text, (0, 3, 100)) == ["荷物が", "遅れて届いた", "late"]
    assert words("พัสดุมาช้า", (0, 5, 7)) == ["พัสดุ", "มา", "ช้า"]


def test_cuts_do_not_cut_words_that_have_spaces() -> None:
    assert words("undeliverable parcel", (0, 2, 5, 14)) == ["undeliverable", "parcel"]


def test_without_spans_leaves_the_rest_as_it_is() -> None:
    text = "The parcel, late."
    assert without_spans(text, [(12, 16), (0, 3)]) == " parcel, ."
    assert without_spans(text, []) == text
