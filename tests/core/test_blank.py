from __future__ import annotations

import sys
import unicodedata

import pytest

from sce_desktop.core.annotations import Row
from sce_desktop.core.blank import is_blank

INVISIBLE = ("Cc", "Cf", "Zs", "Zl", "Zp")


@pytest.mark.parametrize(
    "text",
    [
        "",
        None,
        " \t\r\n\u3000\u00a0",
        "\u200b",
        "\ufeff",
        "\u2060\u200d\u200c",
        "\0",
        "\x1f\x7f\x85",
        "\u00ad\u00ad",
        "\ufe0f",
        "\U000e0100\U000e0041",
        "\u202e\u2066",
        "\u034f\u115f\u3164\uffa0",
        "\u2800",
        " \u200b\0\ufeff\n" * 1000,
    ],
)
def test_nothing_to_see(text: str | None) -> None:
    assert is_blank(text)
    assert Row(1, 0, text or "", ()).blank


@pytest.mark.parametrize(
    "text", ["a", "\u200b.", "-", "\u0301", "🙂", "❤\ufe0f", "\ud83d", "\ue000", "0", "ㅤx"]
)
def test_something_to_see(text: str) -> None:
    assert not is_blank(text)
    assert not is_blank(f"\u200b{text}\0")
    assert not Row(1, 0, text, ()).blank


def test_every_character_of_the_invisible_categories() -> None:
    characters = map(chr, range(sys.maxunicode + 1))
    assert [c for c in characters if unicodedata.category(c) in INVISIBLE and not is_blank(c)] == []


def test_no_letter_number_or_sign_beyond_those_that_unicode_ignores() -> None:
    ignored = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    characters = [chr(code) for code in range(0x20000) if not 0xFE00 <= code <= 0xFE0F]
    wrong = [
        c
        for c in characters
        if is_blank(c) and unicodedata.category(c) not in (*INVISIBLE, "Cn") and c not in ignored
    ]
    assert wrong == []
