"""The studio of the pictures, without the window that it would build."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

TOOLS = Path(__file__).resolve().parents[1] / "tools"


def test_what_is_to_be_deleted_later_is_in_no_picture(
    qtbot: QtBot, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(TOOLS)
    from pictures.studio import Studio

    studio = Studio.__new__(Studio)
    studio.app = qapp
    window = QWidget()
    qtbot.addWidget(window)
    label = QLabel("Closed long ago", window)
    label.deleteLater()
    studio.rest(0.02)
    assert window.findChildren(QLabel) == []


def test_what_never_comes_is_not_waited_for_in_vain(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(TOOLS)
    from pictures import studio

    monkeypatch.setattr(studio, "PATIENCE_S", 0.02)
    with pytest.raises(TimeoutError):
        studio.Studio.__new__(studio.Studio).until(lambda: False)


def test_the_pictures_of_the_guide_are_those_that_can_be_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(TOOLS)
    import screenshots

    names = [name for pictures in screenshots.GUIDE.values() for name in pictures]
    assert sorted(names) == sorted(file.stem for file in screenshots.GUIDE_FOLDER.iterdir())
    assert set(screenshots.GUIDE) <= set(screenshots.SCENES)
