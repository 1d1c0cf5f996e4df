"""The open project's file is deleted, replaced, moved or overwritten: shown at once, and all can be kept."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QMessageBox, QWidget

from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.projects import Projects
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.escapes import Verbatim
from sce_desktop.core.i18n import _
from sce_desktop.ui.kit.dialog_parts import ask_save, open_dialog
from sce_desktop.ui.kit.files import PROJECT_FILTER

LOOK_MS = 1000


class PlaceWatch(QObject):
    """Looks every second whether the file of the open project is where it was, and emits ``lost`` if not.

    A look at the name alone: files on network drives, too, and whatever the system notices of changes.
    """

    lost = Signal(object)  # what happened, as the end of a sentence
    back = Signal()  # it is where it was again

    def __init__(self, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent or workspace)
        self._workspace = workspace
        self._reported = ""
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self.look)
        workspace.projectOpened.connect(self._begin)
        workspace.projectClosed.connect(self._timer.stop)
        workspace.lostSeen.connect(self.look_again)

    @Slot()
    def _begin(self) -> None:
        self._reported = ""
        self._timer.start()

    @Slot()
    def look_again(self) -> None:
        """Report it again, because somebody continues to work."""
        self._reported = ""
        self.look()

    @Slot()
    def look(self) -> None:
        """Look whether the file is lost; report it once."""
        project = self._workspace.project
        found = project.lost() if project is not None else ""
        before, self._reported = self._reported, found
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
        """Ask what to do with a lost project, and return whether that is still to be answered."""
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
            self._messages.notify(
                _("{name} {problem} while it is open: open it again.", name=project.path.name, problem=found),
                "warn",
            )
            return
        self.box = box = QMessageBox(self._window)
        box.setIcon(QMessageBox.Icon.Critical)
        box.setWindowTitle(_("Project file lost"))
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(_("{name} {problem} while it is open here.", name=project.path.name, problem=found))
        if project.lost_in_part():
            advice = _(
                "Nothing more can be saved in it. Save the project under another name to keep what can "
                "still be read, and compare that with a backup."
            )
        else:
            advice = _(
                "Nothing more can be saved in it. "
                "Save the project under another name to keep everything, up to your last label."
            )
        box.setInformativeText(advice)
        save = box.addButton(_("Save as…"), QMessageBox.ButtonRole.AcceptRole)
        drop = box.addButton(_("Close without saving"), QMessageBox.ButtonRole.DestructiveRole)
        later = box.addButton(_("Not now"), QMessageBox.ButtonRole.RejectRole)
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
            stem = _("{name} (saved)", name=Verbatim(project.path.stem))
            at = project.path.with_name(f"{stem}{project.path.suffix}")
            while not at.parent.is_dir() and at.parent != at.parent.parent:
                at = at.parent.parent / at.name
            ask_save(self._window, _("Save as"), PROJECT_FILTER, self.save_as, at=str(at), suffix="sce")

    def save_as(self, path: Path, replace: bool = False) -> None:
        """Write all of the project to ``path`` and continue there."""
        self._projects.save_as(path, replace)

    @Slot()
    def _drop(self) -> None:
        if (project := self._workspace.project) is not None:
            project.give_up()
            self._projects.close_project()
