"""What happens in the import dialog while the rows are counted: the user is choosing by then."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.tasks.tables import scan
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.kit.theme import px
from sce_desktop.ui.transfer.import_dialog import ImportDialog
from tests.ui.accessible import stops
from tests.ui.import_bench import choose, parcels_fixture, settle, show  # noqa: F401


def controls(dialog: ImportDialog) -> dict[QWidget, QRect]:
    """Where what can be chosen or pressed lies; the preview is looked at."""
    return {
        widget: QRect(widget.mapTo(dialog, QPoint(0, 0)), widget.size())
        for widget in stops(dialog)
        if widget is not dialog.table.preview and not dialog.table.isAncestorOf(widget)
    }


@pytest.mark.parametrize("more", [0, 3])
@pytest.mark.parametrize("labels", [True, False])
def test_no_control_moves_when_the_rows_are_counted(
    qtbot: QtBot,
    controllers: Controllers,
    parcels: Path,
    monkeypatch: pytest.MonkeyPatch,
    labels: bool,
    more: int,
) -> None:
    lines = parcels.read_text(encoding="utf-8").splitlines()
    own = [";".join([line, *("own" for _ in range(more))]) for line in lines]
    parcels.write_text("\n".join(own), encoding="utf-8")
    go_on, real = threading.Event(), scan.scan_table

    def slow(*args: Any, **keywords: Any) -> Any:
        go_on.wait(60)
        return real(*args, **keywords)

    monkeypatch.setattr(scan, "scan_table", slow)
    dialog = show(qtbot, controllers, parcels, wait=False)
    try:
        qtbot.waitUntil(lambda: dialog.reader.count_job is not None)
        choose(dialog.columns.label_column, 2 if labels else None)
        qtbot.wait(50)
        before = controls(dialog)
    finally:
        go_on.set()
    settle(qtbot, dialog)
    QApplication.processEvents()
    qtbot.wait(50)
    after = controls(dialog)
    assert dialog.columns.merge.isVisible() is labels
    assert dialog.import_button.text() == "Import 5 rows"
    assert {widget.accessibleName(): after[widget] for widget in before} == {
        widget.accessibleName(): before[widget] for widget in before
    }


def test_the_settings_get_no_narrower_when_they_have_to_scroll(
    qtbot: QtBot, controllers: Controllers, parcels: Path, theme: Theme
) -> None:
    dialog = show(qtbot, controllers, parcels)
    dialog.resize(dialog.width(), px(900))
    qtbot.waitUntil(lambda: not dialog.side.verticalScrollBar().isVisible())
    before = dialog.columns.width()
    dialog.resize(dialog.width(), px(400))
    qtbot.waitUntil(lambda: dialog.side.verticalScrollBar().isVisible())
    qtbot.wait(50)
    assert dialog.columns.width() == before
