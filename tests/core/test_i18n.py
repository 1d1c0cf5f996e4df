"""Translations: placeholders, plural forms, numbers of the language, the made-up language."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sce_desktop.core import i18n
from sce_desktop.core.i18n import _, any_of, listed, ngettext, number, percent
from sce_desktop.core.text import isolated


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    yield
    i18n.set_language("en")


def test_english_needs_no_catalogue() -> None:
    i18n.set_language("en")
    assert _("{name} was added.", name="a {b}") == "a {b} was added."
    assert _("Braces {stay} without values.") == "Braces {stay} without values."
    assert [ngettext("{count} row", "{count} rows", n) for n in (1, 2000)] == ["1 row", "2,000 rows"]
    assert (number(1234.5, 1), percent(0.525, 1), percent(0.52)) == ("1,234.5", "52.5%", "52%")
    assert [listed(names) for names in ((), ("a",), ("a", "b", "c"))] == ["", "a", "a, b and c"]
    assert [any_of(names) for names in ((), ("a",), ("a", "b", "c"))] == ["", "a", "a, b or c"]


def test_numbers_follow_the_language(tmp_path: Path) -> None:
    i18n.set_language("de", tmp_path)
    assert (number(1234.5, 1), percent(0.52)) == ("1.234,5", "52\xa0%")
    assert not i18n.right_to_left()
    i18n.set_language("ar", tmp_path)
    assert i18n.right_to_left()


def test_an_unknown_language_is_english() -> None:
    i18n.set_language("xx", Path("nowhere"))
    assert i18n.language() == "en"


@pytest.mark.parametrize(
    ("environment", "code"),
    [
        ({"LANG": "de_AT.UTF-8"}, "de"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "C"}, "de"),
        ({"LANGUAGE": "ar:en", "LANG": "de_DE"}, "ar"),
        ({}, "en"),
    ],
)
def test_the_language_of_the_system(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], code: str
) -> None:
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert i18n.system_language() == code


def test_the_made_up_language_keeps_placeholders_and_keys() -> None:
    i18n.set_language(i18n.PSEUDO)
    assert _("&Open {name}…\tCtrl+O", name="x") == "⟦&Opéñ x…····⟧\tCtrl+O"


def test_a_name_that_runs_the_other_way_is_set_off(tmp_path: Path) -> None:
    i18n.set_language("en")
    assert (isolated("Late"), isolated("سؤال 2")) == ("Late", "\u2068سؤال 2\u2069")
    i18n.set_language("ar", tmp_path)  # else the count behind a name is drawn before it
    assert (isolated("Late"), isolated("سؤال 2")) == ("\u2068Late\u2069", "سؤال 2")
