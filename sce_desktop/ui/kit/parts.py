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
        self, controllers: Controllers, path: Path, *, append: bool, told: str, parent: QWidget
    ) -> QDialog:
        """``append``: begin with adding the rows to the open project; ``told``: a sentence to show."""


class ExportDialogMaker(Protocol):
    """Makes the dialog that asks what to export; on OK it calls `Projects.export_table`."""

    def __call__(self, controllers: Controllers, *, parent: QWidget) -> QDialog:
        """A dialog for the open project."""


@dataclass(frozen=True, slots=True)
class DockPart:
    """A panel below: its title, the keys that show it, its maker, and whether it needs an open project."""

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
