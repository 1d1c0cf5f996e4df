"""The labels panel over a project, and what a user does in it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import label_edits
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Label
from sce_desktop.ui.labels.labels_panel import LabelsPanel
from tests.ui.conftest import MakeProject
from tests.ui.wiring import wired

Key = Qt.Key


@pytest.fixture(name="panel")
def panel_fixture(qtbot: QtBot, controllers: Controllers, make_project: MakeProject) -> LabelsPanel:
    """A panel on a project without labels."""
    with qtbot.waitSignal(controllers.workspace.countsChanged):
        controllers.projects.open_project(make_project())
    panel = wired(LabelsPanel, controllers)()
    qtbot.addWidget(panel)
    panel.resize(232, 700)
    panel.show()
    return panel


def names(controllers: Controllers) -> list[str]:
    return [label.name for label in controllers.workspace.labels]


def add(controllers: Controllers, *labels: str) -> list[int]:
    """Add labels and return the ids of all."""
    wired(label_edits.add, controllers)(map(Label, labels))
    return [label.id for label in controllers.workspace.labels if label.id is not None]


def answer(qtbot: QtBot, panel: LabelsPanel, button: str) -> str:
    """Press a button of the question that is shown; return its text."""
    qtbot.waitUntil(lambda: panel.findChild(QMessageBox) is not None)
    box = panel.findChild(QMessageBox)
    assert box is not None
    text = f"{box.text()} {box.informativeText()}"
    next(b for b in box.buttons() if b.accessibleName() == button).click()
    qtbot.waitUntil(lambda: panel.findChild(QMessageBox) is None)
    return text


def counted(qtbot: QtBot, controllers: Controllers) -> None:
    with qtbot.waitSignal(controllers.workspace.countsChanged):
        controllers.workspace.count_soon()
