"""The message strip: one sentence at a time, and what comes back after it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.kit.message_strip import INFO_MS, MessageStrip
from tests.ui.accessible import without_name


def test_warning_stays_and_information_goes(qtbot: QtBot) -> None:
    strip = MessageStrip()
    qtbot.addWidget(strip)
    strip.show_message("The disk is full; free some space.", "warn")
    assert strip.isVisible()
    assert not strip._timer.isActive()
    strip.close_button.click()
    assert not strip.isVisible()
    strip.show_message("300 rows were written.")
    assert strip._timer.isActive()
    assert strip._timer.interval() == INFO_MS
    strip._timer.timeout.emit()
    assert not strip.isVisible()


def test_warning_that_was_not_read_comes_back(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("sce_desktop.ui.kit.message_strip.time.monotonic", lambda: now)
    strip = MessageStrip()
    qtbot.addWidget(strip)
    strip.show_message("The program ended unexpectedly.", "warn")
    strip.show_message("There is no model here.", "warn")
    strip.show_message("300 rows were written.")
    close = strip.close_button
    shown = []
    while strip.isVisible():
        shown.append(strip.text.text())
        close.click()
    assert shown == ["300 rows were written.", "There is no model here.", "The program ended unexpectedly."]
    strip.show_message("The disk is full; free some space.", "warn")
    now = INFO_MS / 1000 + 1
    strip.show_message("300 rows were written.")
    close.click()
    assert not strip.isVisible()  # there was time to read it


def test_warning_told_again_comes_back_once(qtbot: QtBot) -> None:
    strip = MessageStrip()
    qtbot.addWidget(strip)
    for sentence in ("No model.", "The disk is full.", "No model.", "No model."):
        strip.show_message(sentence, "warn")
    close = strip.close_button
    close.click()
    assert strip.text.text() == "The disk is full."
    close.click()
    assert not strip.isVisible()


def test_an_offer_comes_back_until_it_is_answered_or_has_lost_its_ground(qtbot: QtBot) -> None:
    strip = MessageStrip()
    qtbot.addWidget(strip)
    done: list[str] = []

    def offered() -> list[str]:
        return [button.text() for button in (strip.button, strip.other_button) if button.isVisible()]

    strip.show_offer("The rows are in German.", "Use sce-multi", lambda: done.append("multi"))
    strip.show_message("300 rows were written.")
    assert offered() == []
    strip._timer.timeout.emit()  # news go by themselves
    assert (strip.text.text(), offered()) == ("The rows are in German.", ["Use sce-multi"])
    assert not strip._timer.isActive()
    strip.show_question("Digits by rank?", [("By rank", bool), ("By label", bool)])
    strip.show_offer("All rows are scored.", "Start reviewing", lambda: done.append("review"))
    strip.show_message("300 rows were written.")
    strip.end_offer_to("Start reviewing")
    assert strip.text.text() == "300 rows were written."
    strip.close_button.click()
    assert offered() == ["By rank", "By label"]
    strip.close_button.click()
    assert offered() == ["Use sce-multi"]
    strip.button.click()
    assert (done, strip.isVisible()) == (["multi"], False)


def test_an_offer_to_do_the_same_takes_the_place_of_the_one_before(qtbot: QtBot) -> None:
    strip = MessageStrip()
    qtbot.addWidget(strip)
    strip.show_offer("3 rows have several labels.", "Show in table", bool)
    strip.show_offer("2 rows have several labels.", "Show in table", bool)
    strip.close_button.click()
    assert not strip.isVisible()


def test_an_offer_does_not_come_back_behind_a_newer_one_to_do_the_same(qtbot: QtBot) -> None:
    strip = MessageStrip()
    qtbot.addWidget(strip)
    strip.show_offer("3 rows have several labels.", "Show in table", bool)
    strip.show_message("300 rows were written.")
    strip.show_offer("2 rows have several labels.", "Show in table", bool)
    strip.close_button.click()
    assert not strip.isVisible()


@pytest.mark.parametrize("way", ["end_offer", "end_project"])
def test_an_offer_that_was_pushed_away_ends_with_its_ground(qtbot: QtBot, way: str) -> None:
    strip = MessageStrip()
    qtbot.addWidget(strip)
    strip.show_offer("Version 2 is in use now.", "Use version 1 again", bool)
    strip.show_message("300 rows were written.")
    getattr(strip, way)()
    strip.close_button.click()
    assert not strip.isVisible()


def test_message_is_plain_text_and_readable_aloud(qtbot: QtBot) -> None:
    strip = MessageStrip()
    qtbot.addWidget(strip)
    strip.show_message("<b>a&b</b>.csv is not a table.", "warn")
    assert strip.text.text() == "<b>a&b</b>.csv is not a table."
    assert strip.text.textFormat() is Qt.TextFormat.PlainText
    assert strip.accessibleDescription() == "<b>a&b</b>.csv is not a table."
    assert without_name(strip) == []


def test_message_lies_over_its_parent_and_moves_nothing(qtbot: QtBot) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.resize(800, 600)
    strip = MessageStrip(parent)
    parent.show()
    strip.show_message("Short.")
    short = strip.geometry()
    assert short.width() < 300
    assert parent.rect().contains(short)
    strip.show_message("A sentence that is much longer than the window is wide. " * 4, "warn")
    assert strip.height() > short.height()
    assert strip.width() <= 720
    parent.resize(400, 300)
    assert parent.rect().contains(strip.geometry())
    assert strip.heightForWidth(strip.width()) <= strip.height()  # no line is cut


@pytest.mark.parametrize("words", [8, 25, 40])
def test_no_line_of_a_message_is_clipped(theme: Theme, qtbot: QtBot, words: int) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.resize(1280, 800)
    strip = MessageStrip(parent)
    parent.show()
    strip.show_message("gypsy query " * words, "warn")
    strip.layout().activate()
    assert strip.text.height() >= strip.text.heightForWidth(strip.text.width())
