"""The import dialog over a table, and what a user does in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.store.project import Project
from sce_desktop.ui.transfer.import_dialog import ImportDialog
from tests.ui.wiring import wired

CHECKED, UNCHECKED = Qt.CheckState.Checked, Qt.CheckState.Unchecked


def show(
    qtbot: QtBot, controllers: Controllers, path: Path, *, append: bool = False, wait: bool = True
) -> ImportDialog:
    dialog = wired(ImportDialog, controllers)(path, append=append)
    qtbot.addWidget(dialog)
    dialog.open()
    if wait:
        settle(qtbot, dialog)
    return dialog


def settle(qtbot: QtBot, dialog: ImportDialog) -> None:
    """Wait until the table is looked at and counted, or cannot be."""
    qtbot.waitUntil(
        lambda: (
            (dialog.reader.look_job is None or not dialog.reader.look_job.active)
            and (dialog.reader.count_job is None or not dialog.reader.count_job.active)
        )
    )


def choose(combo: QComboBox, value: object) -> None:
    place = combo.findData(value)
    assert place >= 0, value
    combo.setCurrentIndex(place)
    combo.activated.emit(place)


def headers(dialog: ImportDialog) -> list[str]:
    columns = range(dialog.table.preview.columnCount())
    return [dialog.table.preview.headerData(column, Qt.Orientation.Horizontal) for column in columns]


def column(dialog: ImportDialog, place: int) -> list[str]:
    return [dialog.table.preview.index(row, place).data() for row in range(dialog.table.preview.rowCount())]


def check(dialog: ImportDialog, *places: int) -> None:
    items = dialog.columns.text_list
    for place in range(items.count()):
        items.item(place).setCheckState(CHECKED if place in places else UNCHECKED)


def imported(qtbot: QtBot, controllers: Controllers, dialog: ImportDialog) -> Project:
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        dialog.accept()
    assert controllers.workspace.project is not None
    return controllers.workspace.project


@pytest.fixture(name="parcels")
def parcels_fixture(tmp_path: Path) -> Path:
    path = tmp_path / "parcels.csv"
    path.write_text(
        "ref;text;topic\n1;Two days late;Late\n2;;\n3;Box crushed;Damaged\n4;Two days late;late \n"
        "5;وصلت الشحنة متأخرة جداً;Late\n",
        encoding="utf-8",
    )
    return path
