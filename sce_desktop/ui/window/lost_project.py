"""The open project's file is deleted, replaced, moved or overwritten: said at once, and all can be kept."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QMessageBox, QWidget

from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.projects import Projects
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.ui.kit.dialog_parts import ask_save, open_dialog
from sce_desktop.ui.kit.files import PROJECT_FILTER

LOOK_MS = 1000


class PlaceWatch(QObject):
    """Looks every second whether the file of the open project is where it was, and tells by ``lost`` if not.

    A look at the name alone: files on network drives, too, and whatever the system notices of changes.
    """

    lost = Signal(object)  # what happened, as the end of a sentence
    back = Signal()  # it is where it was again

    def __init__(self, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent or workspace)
        self._workspace = workspace
        self._told = ""
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self.look)
        workspace.projectOpened.connect(self._begin)
        workspace.projectClosed.connect(self._timer.stop)
        workspace.lostSeen.connect(self.look_again)

    @Slot()
    def _begin(self) -> None:
        self._told = ""
        self._timer.start()

    @Slot()
    def look_again(self) -> None:
        """Tell it again, because somebody goes on as if nothing were."""
        self._told = ""
        self.look()

    @Slot()
    def look(self) -> None:
        """Look whether the file is lost; tell it once."""
        project = self._workspace.project
        found = project.lost() if project is not None else ""
        before, self._told = self._told, found
        if found and not before:
            self.lost.emit(found)
        elif before and not found:
            self.back.emit()


class LostProject(QObject):
    """Asks what is to become of a project whose file is lost. Belongs to the window."""

    def __init__(self, workspace: Workspace, projects: Projects, messages: Messages, window: QWidget) -> None:
        super().__init__(window)
        self._workspace = workspace
        self._projects = projects
        self._messages = messages
        self._window = window
        self.watch = PlaceWatch(workspace, self)
        self.watch.lost.connect(self.ask)
        self.watch.back.connect(self._end)
        self.box: QMessageBox | None = None
        workspace.projectClosed.connect(self._end)

    def asks(self) -> bool:
        """Ask, if the project is lost and nobody has said what is to become of it; say whether that is so."""
        project = self._workspace.project
        if project is None or project.read_only or self.box is not None:
            return False
        found = project.lost()
        if found:
            self.ask(found)
        return bool(found)

    @Slot(object)
    def ask(self, found: str) -> None:
        """Say what happened, and offer to save the project under another name."""
        project = self._workspace.project
        if project is None or self.box is not None:
            return
        if project.read_only:  # nothing is lost that was done here
            self._messages.tell(f"{project.path.name} {found} while it is open: open it again.", "warn")
            return
        self.box = box = QMessageBox(self._window)
        box.setIcon(QMessageBox.Icon.Critical)
        box.setWindowTitle("The project file is gone")
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(f"{project.path.name} {found} while it is open here.")
        box.setInformativeText(
            "Nothing more can be saved in it. Save the project under another name to keep everything, "
            "up to your last label."
        )
        save = box.addButton("Save as…", QMessageBox.ButtonRole.AcceptRole)
        drop = box.addButton("Close without saving", QMessageBox.ButtonRole.DestructiveRole)
        later = box.addButton("Not now", QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(save)
        box.setEscapeButton(later)
        save.clicked.connect(self.ask_place)
        drop.clicked.connect(self._drop)
        box.finished.connect(self._end)
        open_dialog(box)

    @Slot()
    def _end(self) -> None:
        box, self.box = self.box, None
        if box is not None:
            box.hide()
            box.deleteLater()

    @Slot()
    def ask_place(self) -> None:
        """Choose where all of the project goes."""
        project = self._workspace.project
        if project is not None:
            at = project.path.with_name(f"{project.path.stem} (saved){project.path.suffix}")
            while not at.parent.is_dir() and at.parent != at.parent.parent:
                at = at.parent.parent / at.name
            ask_save(self._window, "Save as", PROJECT_FILTER, self.save_as, at=str(at), suffix="sce")

    def save_as(self, path: Path, replace: bool = False) -> None:
        """Write all of the project to ``path`` and go on there."""
        self._projects.save_as(path, replace)

    @Slot()
    def _drop(self) -> None:
        if (project := self._workspace.project) is not None:
            project.give_up()
            self._projects.close_project()
