"""Which drags are taken."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtWidgets import QFileDialog, QToolButton, QTreeView
from pytestqt.qtbot import QtBot

from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.kit.dialog_parts import open_dialog
from sce_desktop.ui.kit.files import dropped_file, is_project


def drag(*urls: str) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl(url) for url in urls])
    return data


@pytest.mark.parametrize(
    "name",
    ["a.csv", "A.CSV", "a.tsv", "a.txt", "a.xlsx", "a.parquet", "a.jsonl", "a.json", "a.csv.gz", "a.sce"],
)
def test_our_endings_are_taken(name: str) -> None:
    assert dropped_file(drag(f"file:///data/{name}")) == Path(f"/data/{name}")


def test_spaces_and_accents_survive() -> None:
    assert dropped_file(drag("file:///data/mes%20donn%C3%A9es.csv")) == Path("/data/mes données.csv")


@pytest.mark.parametrize("url", ["file:///a.png", "file:///a", "https://example.org/a.csv", "file:///a.gz"])
def test_others_are_not(url: str) -> None:
    assert dropped_file(drag(url)) is None


def test_first_fitting_of_several() -> None:
    assert dropped_file(drag("file:///a.png", "file:///b.csv", "file:///c.csv")) == Path("/b.csv")
    text = QMimeData()
    text.setText("/data/a.csv")
    assert dropped_file(text) is None


def test_projects_are_known_by_their_ending() -> None:
    assert is_project(Path("x/My Project.SCE"))
    assert not is_project(Path("x/sce"))


def shown_dialog(qtbot: QtBot, theme: Theme, folder: Path) -> QFileDialog:
    (folder / "a folder").mkdir()
    (folder / "a table with a long name of messages.csv").write_bytes(b"x" * 17_900_000)
    dialog = QFileDialog(None, "Open", str(folder), "Tables (*.csv)")
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    dialog.setViewMode(QFileDialog.ViewMode.Detail)
    qtbot.addWidget(dialog)
    open_dialog(dialog)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)  # qtbot does it
    tree = dialog.findChild(QTreeView)
    assert tree is not None
    qtbot.waitUntil(lambda: tree.model().rowCount(tree.rootIndex()) == 2)
    return dialog


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_icons_of_the_file_dialog_can_be_seen(
    qtbot: QtBot, theme: Theme, tmp_path: Path, mode: Literal["light", "dark"]
) -> None:
    theme.set_mode(mode)
    dialog = shown_dialog(qtbot, theme, tmp_path)
    names = ("backButton", "forwardButton", "toParentButton", "newFolderButton", "listModeButton")
    for name in names:
        button = dialog.findChild(QToolButton, name)
        assert button is not None
        button.setEnabled(True)
        picture = button.grab().toImage()
        ground = picture.pixelColor(picture.width() // 2, 4)
        marked = [
            (x, y)
            for x in range(4, picture.width() - 4)
            for y in range(4, picture.height() - 4)
            if abs(picture.pixelColor(x, y).lightness() - ground.lightness()) > 60
        ]
        assert marked, name
        wide = max(x for x, _ in marked) - min(x for x, _ in marked)
        high = max(y for _, y in marked) - min(y for _, y in marked)
        assert max(wide, high) >= 8, name  # it was one or two pixels


def test_the_sizes_and_dates_of_the_file_dialog_are_not_cut(
    qtbot: QtBot, theme: Theme, tmp_path: Path
) -> None:
    dialog = shown_dialog(qtbot, theme, tmp_path)
    tree = dialog.findChild(QTreeView)
    assert tree is not None
    for column in range(1, tree.model().columnCount()):
        wanted = tree.sizeHintForColumn(column)
        assert tree.columnWidth(column) >= wanted
    assert tree.columnWidth(0) > 200
