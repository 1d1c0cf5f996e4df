"""The wheel over fields: it changes none that does not have the focus, in every panel and every dialog."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QFileDialog,
    QScrollBar,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

import sce_desktop.ui
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.store.project import Project
from sce_desktop.ui.evaluate.annotator_dialog import AnnotatorDialog
from sce_desktop.ui.evaluate.audit_dialog import AuditDialog
from sce_desktop.ui.kit.dialog_parts import open_dialog
from sce_desktop.ui.kit.fields import ComboBox, DoubleSpinBox, Slider, SpinBox
from sce_desktop.ui.labels.add_labels_dialog import AddLabelsDialog
from sce_desktop.ui.rows.accept_dialog import AcceptDialog
from sce_desktop.ui.rows.column_filter import ColumnFilterDialog
from sce_desktop.ui.rows.confidence_menu import ConfidenceMenu
from sce_desktop.ui.rows.threshold_dialog import ThresholdDialog
from sce_desktop.ui.transfer.export_dialog import ExportDialog
from sce_desktop.ui.transfer.import_dialog import ImportDialog
from sce_desktop.ui.window.main_window import MainWindow
from sce_desktop.ui.window.settings_dialog import SettingsDialog
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, give_scores, open_in, settle
from tests.ui.wiring import wired

Field = QComboBox | QAbstractSpinBox | QAbstractSlider
DIALOGS: dict[str, Callable[[Controllers, QWidget, Path], QDialog]] = {
    "accept": lambda controllers, parent, _: wired(AcceptDialog, controllers)(parent),
    "add labels": lambda controllers, parent, _: wired(AddLabelsDialog, controllers)("Labels", parent=parent),
    "audit": lambda controllers, parent, _: wired(AuditDialog, controllers)(parent),
    "annotator": lambda controllers, parent, table: wired(AnnotatorDialog, controllers)(table, parent),
    "column filter": lambda controllers, parent, _: wired(ColumnFilterDialog, controllers)(parent),
    "export": lambda controllers, parent, _: wired(ExportDialog, controllers)(parent=parent),
    "import": lambda controllers, parent, table: wired(ImportDialog, controllers)(
        table, append=False, parent=parent
    ),
    "settings": lambda controllers, parent, _: SettingsDialog(controllers.preferences.settings, parent),
    "threshold": lambda controllers, parent, _: wired(ThresholdDialog, controllers)(parent),
    "file": lambda _, parent, table: QFileDialog(
        parent, "Open", str(table.parent), "Tables (*.csv);;Text (*.txt);;All files (*)"
    ),
}


def fields(widget: QWidget) -> list[Field]:
    """What the wheel could change in ``widget``; scroll bars are there for it."""
    found: list[Field] = []
    for kind in (QComboBox, QAbstractSpinBox, QAbstractSlider):
        found += [field for field in widget.findChildren(kind) if not isinstance(field, QScrollBar)]
    return found


def value(field: Field) -> object:
    if isinstance(field, QComboBox):
        return field.currentIndex()
    return field.text() if isinstance(field, QAbstractSpinBox) else field.value()


def turn(field: QWidget, steps: int) -> bool:
    """Turn the wheel over ``field``; whether it took it."""
    middle = QPointF(field.rect().center())
    event = QWheelEvent(
        middle,
        field.mapToGlobal(middle),
        QPoint(),
        QPoint(0, 120 * steps),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    event.ignore()
    QApplication.sendEvent(field, event)
    return event.isAccepted()


def unfocus(widget: QWidget) -> None:
    if (focused := widget.window().focusWidget()) is not None:
        focused.clearFocus()


def changed_by_wheel(widget: QWidget) -> list[Field]:
    """Fields of ``widget`` that the wheel changes though they do not have the focus."""
    wrong = []
    for field in fields(widget):
        unfocus(field)
        before = value(field)
        for steps in (-1, -1, 3):
            turn(field, steps)
        if value(field) != before or field.focusPolicy() is Qt.FocusPolicy.WheelFocus:
            wrong.append(field)
    return wrong


@pytest.fixture
def scored(
    qtbot: QtBot, controllers: Controllers, real_window: MainWindow, make_project: MakeProject
) -> MainWindow:
    path = make_project(texts=tuple(f"Text {n}" for n in range(12)), labels=LABELS)
    with Project.open(path) as project:
        give_scores(project, [n % 3 for n in range(12)])
    open_in(qtbot, controllers, path)
    controllers.scorer._edited.disconnect()
    return real_window


def test_no_panel_of_the_window_follows_the_wheel(
    qtbot: QtBot, controllers: Controllers, scored: MainWindow
) -> None:
    for title, dock in scored.docks.items():
        scored.show_panel(title)
        dock.build()
    settle(qtbot, controllers)
    assert len(fields(scored)) > 10
    assert changed_by_wheel(scored) == []


@pytest.mark.parametrize("name", DIALOGS)
def test_no_dialog_follows_the_wheel(
    qtbot: QtBot, controllers: Controllers, scored: MainWindow, tmp_path: Path, name: str
) -> None:
    table = tmp_path / "table.csv"
    table.write_text("id,text,label\n1,Came late,Late\n2,Broken,Damaged\n3,Kind driver,Praise\n")
    dialog = open_dialog(DIALOGS[name](controllers, scored, table))
    qtbot.waitUntil(lambda: not any(worker.busy for worker in controllers.workspace.workers))
    settle(qtbot, controllers)
    assert fields(dialog)
    assert changed_by_wheel(dialog) == []
    dialog.reject()


def test_the_confidence_menu_does_not_follow_the_wheel(
    qtbot: QtBot, controllers: Controllers, scored: MainWindow
) -> None:
    menu = ConfidenceMenu(scored)
    assert len(fields(menu)) == 2
    assert changed_by_wheel(menu) == []


@pytest.mark.parametrize("kind", [ComboBox, SpinBox, DoubleSpinBox, Slider])
def test_a_field_with_the_focus_follows_and_without_it_what_lies_around_scrolls(
    qtbot: QtBot, theme: object, kind: type[ComboBox | SpinBox | DoubleSpinBox | Slider]
) -> None:
    around = QWidget()
    qtbot.addWidget(around)
    field, other = kind(), SpinBox()
    column = QVBoxLayout(around)
    column.addWidget(field)
    column.addWidget(other)
    if isinstance(field, QComboBox):
        field.addItems(["one", "two", "three"])
        field.setCurrentIndex(1)
    else:
        field.setValue(1)
    around.show()
    around.activateWindow()
    other.setFocus()
    qtbot.waitUntil(other.hasFocus)
    before = value(field)
    assert not turn(field, -1)  # ignored: Qt hands it on to the scroll area around
    assert value(field) == before
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)
    turn(field, -1)
    assert value(field) != before


def test_every_field_of_the_program_is_one_of_these() -> None:
    folder = Path(sce_desktop.ui.__file__).parent
    wheeled = re.compile(
        r"\bQ(ComboBox|FontComboBox|SpinBox|DoubleSpinBox|Slider|Dial|Date(Time)?Edit|TimeEdit)\("
    )
    others = {
        path.name: found.group()
        for path in folder.rglob("*.py")
        if path.name != "fields.py" and (found := wheeled.search(path.read_text(encoding="utf-8")))
    }
    assert others == {}
