"""Tokens can be read, the theme follows the choice, and icons follow the theme."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QColor, QFont, QIcon, QPalette
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QSlider
from pytestqt.qtbot import QtBot

from sce_desktop import paths
from sce_desktop.core.colours import contrast
from sce_desktop.ui.kit import icons
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.kit.theme import DARK, LIGHT, ROLES, Tokens, font, px, set_role, tokens

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">'
    '<path d="M0 0h16v16h-16z" fill="currentColor"/></svg>'
)


@pytest.fixture
def square(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """An icon that is one square, under a name of its own (paths of icons are kept)."""
    (tmp_path / "icons").mkdir()
    name = f"square-{tmp_path.name}"
    (tmp_path / "icons" / f"{name}.svg").write_text(SVG, encoding="utf-8")
    monkeypatch.setattr(paths, "resources_dir", lambda: tmp_path)
    return name


def colour_of(icon: QIcon, size: int = 21) -> str:
    return icon.pixmap(size, size).toImage().pixelColor(size // 2, size // 2).name()


@pytest.mark.parametrize("t", [LIGHT, DARK], ids=["light", "dark"])
def test_text_can_be_read_on_every_ground(t: Tokens) -> None:
    for ground in (t.window, t.pane, t.selection, t.hover):
        assert contrast(t.ink, ground) >= 7
        assert contrast(t.muted, ground) >= 4
    assert contrast(t.on_accent, t.accent) >= 4.5
    for colour in (t.accent, t.good, t.warn):
        assert contrast(colour, t.pane) >= 3


@pytest.mark.parametrize(("mode", "expected"), [("light", LIGHT), ("dark", DARK)])
def test_chosen_mode_reaches_palette_and_sheet(restored: QApplication, mode: str, expected: Tokens) -> None:
    theme = Theme(restored, mode)  # type: ignore[arg-type]
    assert theme.mode == mode
    assert tokens() == expected
    assert restored.palette().color(QPalette.ColorRole.Base) == QColor(expected.pane)
    assert expected.accent in restored.styleSheet()


def test_switching_tells_once(restored: QApplication, qtbot: QtBot) -> None:
    theme = Theme(restored, "light")
    heard: list[QObject] = []
    theme.changed.connect(lambda: heard.append(theme))
    theme.set_mode("dark")
    theme.set_mode("dark")
    assert len(heard) == 1
    assert tokens() == DARK


def test_sheet_is_understood_by_qt(restored: QApplication, qtbot: QtBot) -> None:
    Theme(restored, "light")
    button = QPushButton("Score")
    qtbot.addWidget(button)
    set_role(button, "primary")
    button.resize(120, 40)
    assert button.grab().toImage().pixelColor(60, 8).name() == LIGHT.accent


@pytest.mark.parametrize(("mode", "t"), [("light", LIGHT), ("dark", DARK)])
def test_a_slider_is_seen_on_every_ground(restored: QApplication, qtbot: QtBot, mode: str, t: Tokens) -> None:
    Theme(restored, mode)  # type: ignore[arg-type]
    slider = QSlider(Qt.Orientation.Horizontal)
    qtbot.addWidget(slider)
    slider.resize(200, 30)
    slider.setValue(50)
    picture = slider.grab().toImage()
    below, handle, above = (picture.pixelColor(x, 15).name() for x in (40, 100, 160))
    assert (below, handle) == (t.accent, t.accent)
    assert above != below
    for ground in (t.window, t.pane):
        assert contrast(handle, ground) >= 3
        assert contrast(above, ground) >= 3


def test_roles_are_known_names(qtbot: QtBot) -> None:
    label = QLabel("Labels")
    qtbot.addWidget(label)
    for role in ROLES:
        set_role(label, role)
    with pytest.raises(ValueError, match="no such role"):
        set_role(label, "fancy")


def test_lengths_follow_the_system_font(restored: QApplication) -> None:
    text = QFont(restored.font())
    text.setPixelSize(13)
    restored.setFont(text)
    assert px(30) == 30
    text.setPixelSize(26)
    restored.setFont(text)
    assert px(30) == 60
    assert font("text").pixelSize() == 30
    assert font("heading").pixelSize() == 22


def test_icons_take_the_theme_and_follow_it(restored: QApplication, qtbot: QtBot, square: str) -> None:
    theme = Theme(restored, "light")
    button = QPushButton("Export")
    qtbot.addWidget(button)
    action = QAction("Undo", button)
    icons.set_icon(button, square)
    icons.set_icon(action, square, "accent")
    assert (colour_of(button.icon()), colour_of(action.icon())) == (LIGHT.ink, LIGHT.accent)
    theme.set_mode("dark")
    assert (colour_of(button.icon()), colour_of(action.icon())) == (DARK.ink, DARK.accent)


def test_missing_icon_is_empty(qapp: QApplication, caplog: pytest.LogCaptureFixture) -> None:
    assert icons.icon("no-such-icon").isNull()
    assert "no-such-icon" in caplog.text
