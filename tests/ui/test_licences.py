"""Help, Licences: the list of components and their texts."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from sce_desktop.core.components import Component
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.window.about import show_about
from sce_desktop.ui.window.guide_pages import page_for
from sce_desktop.ui.window.licences_dialog import LicencesDialog
from sce_desktop.ui.window.main_window import MainWindow
from tests.ui.accessible import without_name


def test_a_component_shows_its_text(qtbot: QtBot, theme: Theme, tmp_path: Path) -> None:
    texts = [tmp_path / "a.txt", tmp_path / "b.txt"]
    texts[0].write_text("Do as you like.", encoding="utf-8")
    texts[1].write_text("Name us.", encoding="utf-8")
    parts = [
        Component("one", "1.0", "MIT", (texts[0], texts[1])),
        Component("two", "", "Apache-2.0", (tmp_path / "gone.txt",)),
    ]
    dialog = LicencesDialog(parts)
    qtbot.addWidget(dialog)
    assert without_name(dialog) == []
    assert dialog.text.toPlainText() == "Do as you like.\n\nName us."
    dialog.list.setCurrentRow(1)
    assert dialog.text.toPlainText() == "This component comes without a licence text."
    dialog.search.setText("MIT")
    assert dialog.text.toPlainText().startswith("Do as you like")
    assert [dialog.list.item(row).isHidden() for row in range(2)] == [False, True]
    dialog.search.setText("nothing of the kind")
    assert dialog.list.currentItem() is None
    dialog.search.clear()
    assert dialog.list.currentItem() is not None
    assert page_for(dialog) == "index.md#licences"


def test_the_window_shows_the_licences_of_what_is_installed(qtbot: QtBot, real_window: MainWindow) -> None:
    box = show_about(real_window)
    (button,) = [one for one in box.buttons() if box.buttonRole(one) == QMessageBox.ButtonRole.ActionRole]
    button.click()
    (dialog,) = real_window.findChildren(LicencesDialog)
    names = [dialog.list.item(row).text() for row in range(dialog.list.count())]
    (qt,) = [row for row, name in enumerate(names) if name.startswith("Qt ")]
    dialog.list.setCurrentRow(qt)
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in dialog.text.toPlainText()
    with qtbot.waitSignal(dialog.destroyed):
        dialog.close()
