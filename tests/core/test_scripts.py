from __future__ import annotations

import pytest

from sce_desktop.core.scripts import foreign_script


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("", None),
        ("Two days late", None),
        ("Müsli für Zoë – 5 €", None),
        ("Ｆｕｌｌ ｗｉｄｔｈ", None),
        ("😀🎉 123", None),
        ("وصلت الشحنة متأخرة", "Arabic"),
        ("Посылка пришла поздно", "Cyrillic"),
        ("包裹晚了两天才到", "Chinese"),
        ("荷物が二日遅れました", "Japanese"),
        ("택배가 늦었어요", "Korean"),
        ("The word 包裹 means parcel", None),
        ("ok 包裹晚了两天才到", "Chinese"),
    ],
)
def test_script_of_most_letters(text: str, script: str | None) -> None:
    assert foreign_script(text) == script


def test_known_scripts_are_not_foreign() -> None:
    assert foreign_script("Посылка", frozenset({"LATIN", "CYRILLIC"})) is None
    assert foreign_script("Parcel", frozenset({"CYRILLIC"})) == "Latin"
