"""What the main window is put together from: `app` hands in the real panels, a test small ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from PySide6.QtWidgets import QDialog, QWidget

from sce_desktop.controllers.controllers import Controllers

PanelMaker = Callable[[Controllers], QWidget]


class ImportDialogMaker(Protocol):
    """Makes the dialog that shows a table before it is imported; on OK it calls `Projects.import_table`."""

    def __call__(
        self, controllers: Controllers, path: Path, *, append: bool, message: str, parent: QWidget
    ) -> QDialog:
        """``append``: begin with adding the rows to the open project; ``message``: a sentence to show."""


class ExportDialogMaker(Protocol):
    """Makes the dialog that asks what to export; on OK it calls `Projects.export_table`."""

    def __call__(self, controllers: Controllers, *, parent: QWidget) -> QDialog:
        """A dialog for the open project."""


@dataclass(frozen=True, slots=True)
class DockPart:
    """A panel below.

    ``name`` stands for it in the code and in the window's remembered state, ``title`` is what a user reads;
    ``keys`` show it, and ``project`` says whether it needs an open one.
    """

    name: str
    title: str
    keys: str
    make: PanelMaker
    project: bool = True


@dataclass(frozen=True, slots=True)
class Parts:
    """Makers of the panels and dialogs that know the controllers and nothing of the window."""

    labels_panel: PanelMaker
    filter_bar: PanelMaker
    rows_view: PanelMaker
    row_panel: PanelMaker
    run_bar: PanelMaker
    import_dialog: ImportDialogMaker
    export_dialog: ExportDialogMaker
    docks: tuple[DockPart, ...] = ()
