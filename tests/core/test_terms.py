from __future__ import annotations

from sce_desktop.core.terms import languages_of, terms

STOP_WORDS = {
    "de": {"die", "ist", "nicht", "und", "der", "in"},
    "en": {"the", "is", "not", "and", "in"},
    "nl": {"de", "is", "niet", "en", "in", "die"},
}


def test_words_and_pairs_of_neighbours_without_stop_words() -> None:
    assert terms("The parcel is broken", {"the", "is"}) == ["parcel", "broken", "parcel broken"]
    assert terms("They didn't pay 85 €", {"they"}) == ["pay"]


def test_vowel_signs_belong_to_their_words() -> None:
    assert terms("पार्सल टूटा हुआ") == ["पार्सल", "टूटा", "हुआ", "पार्सल टूटा", "टूटा हुआ"]


def test_chinese_gives_pairs_of_characters_between_its_grammar() -> None:
    assert terms("包裹的快递员,app很慢") == ["包裹", "快递", "递员", "app"]


def test_japanese_gives_runs_of_kanji_and_katakana() -> None:
    assert terms("アプリが遅くて、配達がまだです。時間") == ["アプリ", "配達", "時間"]


def test_korean_has_spaces_and_thai_gives_none() -> None:
    assert terms("택배가 늦었어요") == ["택배가", "늦었어요", "택배가 늦었어요"]
    assert terms("พัสดุมาช้ามาก") == []


def test_languages_are_those_whose_stop_words_make_up_the_texts() -> None:
    german = ["Die Sendung ist nicht da und der Bote in Eile", "Der Karton ist offen"]
    assert languages_of(german, STOP_WORDS) == ["de"]
    english = ["The parcel is not there", "and the driver is not in"]
    assert languages_of([*german, *english], STOP_WORDS) == ["de", "en"]
    assert languages_of(["xyz"], STOP_WORDS) == []
    assert languages_of([], STOP_WORDS) == []
