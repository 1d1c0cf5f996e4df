"""Opens the whole window in the made-up language and writes what can be read in it, as JSON.

Usage: python -m tests.ui.pseudo_window FOLDER

FOLDER is for the project and the settings; the texts come on stdout. A process of its own: constants of the
window's modules are translated when these are imported.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sce_desktop.core.i18n import PSEUDO, set_language

_PATIENCE_S = 20.0
TABLE = "Parcels.csv"
# Actions that open a file dialog, leave the project, or need a model or another program.
NOT_TRIGGERED = {
    "Open", "Add rows", "Save a copy", "Import another annotator's labels", "Close project", "Try the sample",
    "Quit", "Open the log folder", "Score", "Stop scoring", "Full screen", "Start reviewing", "Undo", "Redo",
}  # fmt: skip


@dataclass(frozen=True)
class Shown:
    """A text that can be read or heard; ``feature`` is the folder of `sce_desktop.ui` that shows it."""

    feature: str
    where: str
    text: str
    cut: bool = False


def feature_of(thing: Any) -> str:
    """The folder of the nearest ancestor that is of a feature; what is made of the kit alone is the kit's."""
    found = ""
    while thing is not None:
        parts = type(thing).__module__.split(".")
        if parts[:2] == ["sce_desktop", "ui"]:
            found = parts[2]
            if found != "kit" or thing.isWindow():
                return found
        thing = thing.parent()
    return found or "window"


def is_cut(widget: Any, text: str) -> bool:
    """Whether a visible label or button has less room than its text needs, and no tip has the rest."""
    from PySide6.QtWidgets import QAbstractButton, QCheckBox, QLabel, QRadioButton

    from sce_desktop.ui.kit.elided_button import ElidedButton
    from sce_desktop.ui.kit.elided_label import ElidedLabel

    if not widget.isVisible() or isinstance(widget, ElidedLabel | ElidedButton):
        return False
    if isinstance(widget, QLabel):
        if widget.wordWrap():
            return widget.heightForWidth(widget.width()) > widget.height() + 2
        if widget.toolTip() and "…" in text:
            return False
        shown = text.replace("&", "") if widget.buddy() is not None else text
        needed = widget.fontMetrics().size(0, shown).width()
        return needed > widget.contentsRect().width() + 1
    if isinstance(widget, QAbstractButton) and not isinstance(widget, QCheckBox | QRadioButton):
        return widget.fontMetrics().size(0, text.replace("&", "")).width() > widget.width()
    return False


def texts_of(widget: Any) -> Iterator[tuple[str, str]]:
    """Yield (kind, text) of all that ``widget`` itself shows or says."""
    from PySide6.QtCore import Qt
    from PySide6.QtWidgets import (
        QAbstractButton,
        QComboBox,
        QDoubleSpinBox,
        QGroupBox,
        QHeaderView,
        QLabel,
        QLineEdit,
        QPlainTextEdit,
        QSpinBox,
        QTabBar,
    )

    yield "tip", widget.toolTip()
    yield "name", widget.accessibleName()
    yield "description", widget.accessibleDescription()
    if widget.isWindow():
        yield "title", widget.windowTitle()
    if isinstance(widget, QLabel | QAbstractButton):
        yield "text", widget.text()
    if isinstance(widget, QGroupBox):
        yield "title", widget.title()
    if isinstance(widget, QLineEdit | QPlainTextEdit):
        yield "placeholder", widget.placeholderText()
    if isinstance(widget, QSpinBox | QDoubleSpinBox):
        yield from (("unit", widget.prefix() + widget.suffix()), ("least", widget.specialValueText()))
    if isinstance(widget, QComboBox):
        yield from (("item", widget.itemText(place)) for place in range(widget.count()))
    if isinstance(widget, QTabBar):
        yield from (("tab", widget.tabText(place)) for place in range(widget.count()))
    if isinstance(widget, QHeaderView) and widget.orientation() is Qt.Orientation.Horizontal:
        for column in range(widget.count()):
            for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
                text = widget.model().headerData(column, Qt.Orientation.Horizontal, role)
                yield "heading", text if isinstance(text, str) else ""


class Reader:
    """Collects the texts of the window, once each."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str, str], Shown] = {}

    def read(self, top: Any) -> None:
        """Read a window or dialog and all in it."""
        from PySide6.QtGui import QAction
        from PySide6.QtWidgets import QLabel, QWidget

        for widget in (top, *top.findChildren(QWidget)):
            feature, name = feature_of(widget), type(widget).__name__
            for kind, text in texts_of(widget):
                cut = kind == "text" and not (isinstance(widget, QLabel) and "<" in text)
                self._add(feature, f"{name} {kind}", text, cut=cut and is_cut(widget, text))
        for action in top.findChildren(QAction):
            self._add(feature_of(action.parent()), "action", action.text())
            self._add(feature_of(action.parent()), "action tip", action.toolTip())

    def _add(self, feature: str, where: str, text: str, *, cut: bool = False) -> None:
        if text.strip():
            key = (feature, where, text)
            if cut or key not in self.found:
                self.found[key] = Shown(feature, where, text, cut)


def write_project(folder: Path) -> Path:
    """Write a project of five rows with labels, scores and a baseline, and a table beside it."""
    from sce_desktop.core.annotations import Label
    from sce_desktop.store.project import Project
    from tests.ui.panels import LABELS, TEXTS, give_scores

    lines = "".join(f'{place},"{text}"\n' for place, text in enumerate(TEXTS))
    (folder / TABLE).write_text(f"ref,text\n{lines}", encoding="utf-8")
    path = folder / "Parcels.sce"
    with Project.create(path, name="Parcels") as project:
        rows = [(str(place), text) for place, text in enumerate(TEXTS)]
        project.add_rows(("ref", "text"), [rows], text_columns=[1], source={})
        project.set_labels([Label(name) for name in LABELS])
        give_scores(project, (0, 1, 2, 0))
        give_scores(project, (0, 1, 1, 0), alias="similarity", fingerprint="near")
    return path


def main(folder: Path) -> None:
    """Walk through the window and print all texts."""
    os.environ |= {"QT_QPA_PLATFORM": "offscreen", "SCE_DESKTOP_HOME": str(folder), "HF_HUB_OFFLINE": "1"}
    set_language(PSEUDO)
    from PySide6.QtCore import QCoreApplication, QEvent
    from PySide6.QtWidgets import QApplication, QDialog, QFileDialog

    from sce_desktop.app import make_application, make_window
    from sce_desktop.controllers.controllers import Controllers
    from sce_desktop.controllers.crashes import Crash
    from sce_desktop.controllers.jobs import WorkerQueues
    from sce_desktop.settings import Settings
    from sce_desktop.tasks.scoring import choice
    from sce_desktop.ui.kit.appearance import Theme
    from sce_desktop.ui.window.run_bar import RunBar

    choice.is_here = lambda _name: False  # what is proposed hangs on no model that a checkout may have
    path = write_project(folder)
    app, reader = make_application(), Reader()
    with WorkerQueues() as workers:
        controllers = Controllers(workers, Settings.load())
        window = make_window(controllers, Theme(app, "light"))

        def wait(ready: Callable[[], bool]) -> None:
            end = time.monotonic() + _PATIENCE_S
            while not ready() and time.monotonic() < end:
                app.processEvents()
                time.sleep(0.005)
            for _ in range(3):  # texts that came last are laid out
                app.processEvents()

        def idle() -> bool:
            return not any(worker.busy for worker in workers)

        def read_dialogs() -> None:
            wait(idle)
            for _ in range(3):  # texts that came last are laid out
                time.sleep(0.02)
                app.processEvents()
            for top in QApplication.topLevelWidgets():
                if isinstance(top, QDialog) and top.isVisible():
                    if not isinstance(top, QFileDialog):  # Qt's own
                        reader.read(top)
                    top.close()
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

        window.show()
        window.resize(1440, 900)
        wait(idle)
        reader.read(window)
        window.open_path(path)
        wait(lambda: controllers.workspace.counts is not None and idle())
        controllers.navigation.set_current_row(1)
        for dock in window.docks.values():
            dock.bring()
            wait(idle)
            reader.read(window)
        window.close_panels()
        window.focus.enter()
        wait(idle)
        reader.read(window)
        window.focus.leave()
        for action in window.menus.all_actions():
            if not action.isEnabled() or action.isSeparator() or action.isCheckable():
                continue
            if action.objectName() not in NOT_TRIGGERED:
                action.trigger()
                read_dialogs()
        bar = window.tool_bar.findChild(RunBar)
        assert bar is not None
        for menu in (bar.model_menu(), bar.llm_menu(), bar.device_menu()):
            reader.read(menu)
        window.show_palette()
        controllers.messages.notify("⟦⟧", "warn")
        wait(idle)
        reader.read(window)
        window.file_commands.show_import(folder / TABLE)
        read_dialogs()
        window.crash_reports.show_crash(Crash("Trace", "…"))
        read_dialogs()
        wait(idle)
        window.close()
        wait(lambda: window._settled and idle())
    json.dump([asdict(one) for one in reader.found.values()], sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
