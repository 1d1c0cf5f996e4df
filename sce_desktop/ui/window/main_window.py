"""The one window: start page or workspace, tool bar, menus, docks, and how it opens, drops and closes.

What it shows lives in panels, what it does in `controllers`; here are only the places and the ways.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import QByteArray, QEvent, QObject, QSettings, Qt, QTimer, Slot
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QKeyEvent,
    QKeySequence,
)
from PySide6.QtWidgets import (
    QMainWindow,
    QStackedWidget,
    QWidget,
)

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.queries import has_filters
from sce_desktop.controllers.recent import RecentProjects
from sce_desktop.controllers.start_review import START
from sce_desktop.core.i18n import _
from sce_desktop.ui.focus.focus_view import FocusView
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.kit.command_history import CommandHistory
from sce_desktop.ui.kit.files import is_project
from sce_desktop.ui.kit.message_strip import MessageStrip
from sce_desktop.ui.kit.palette import CommandPalette
from sce_desktop.ui.kit.parts import DockPart, Parts
from sce_desktop.ui.kit.small_screens import ScreenScroll
from sce_desktop.ui.kit.tab_order import step
from sce_desktop.ui.labels.labels_panel import LabelsPanel
from sce_desktop.ui.window.about import TITLE
from sce_desktop.ui.window.announcements import Announcements
from sce_desktop.ui.window.crash_dialog import CrashReports
from sce_desktop.ui.window.docks import PanelDock, PanelPage
from sce_desktop.ui.window.drops import Drops
from sce_desktop.ui.window.file_commands import FileCommands
from sce_desktop.ui.window.focus_mode import FocusMode
from sce_desktop.ui.window.help_commands import HelpCommands
from sce_desktop.ui.window.jobs_panel import JobsPanel
from sce_desktop.ui.window.lost_project import LostProject
from sce_desktop.ui.window.menus import Menus
from sce_desktop.ui.window.recent_notes import RecentNotes
from sce_desktop.ui.window.review_commands import ReviewCommands
from sce_desktop.ui.window.settings_commands import SettingsCommands
from sce_desktop.ui.window.start_page import StartPage
from sce_desktop.ui.window.status_bar import StatusBar
from sce_desktop.ui.window.tool_bar import ToolBar
from sce_desktop.ui.window.tour_stops import tour_of
from sce_desktop.ui.window.workspace import Workspace
from sce_desktop.ui.window.zone_keys import ZoneKeys
from sce_desktop.ui.window.zones import Zones

_JOBS = DockPart(
    "Jobs and log", _("Jobs and log"), "Ctrl+J", lambda c: JobsPanel(c.workspace.workers), project=False
)


class MainWindow(QMainWindow):
    """Built once by `app`; closing it closes the project."""

    def __init__(
        self,
        controllers: Controllers,
        parts: Parts,
        theme: Theme,
        *,
        recent: RecentProjects,
        state: QSettings,
    ) -> None:
        super().__init__()
        self._controllers = controllers
        self._recent = recent
        self._state = state
        self._settled = False
        self.setAcceptDrops(True)

        self.crash_reports = CrashReports(self)
        self.help_commands = HelpCommands(controllers, self)
        self._notes = RecentNotes(controllers.workspace, recent, self)
        self.start_page = StartPage(recent)
        self.workspace = Workspace(controllers, parts)
        self.pages = QStackedWidget()
        self.pages.setAccessibleName(_("Pages"))
        self.pages.addWidget(self.start_page)
        self.pages.addWidget(self.workspace)
        self.strip = MessageStrip(self.pages)
        self.pages.currentChanged.connect(self.strip.raise_)  # the page that comes lies over it
        self.drops = Drops(self, self.pages, self.open_path, controllers.messages.notify)  # type: ignore[arg-type]

        self.status = StatusBar(controllers.workspace.workers)
        self.setStatusBar(self.status)
        self.panels = PanelDock((*parts.docks, _JOBS), controllers)
        self.panels.helpAsked.connect(
            lambda: self.help_commands.show_guide(self.docks[self.panels.front].build())
        )
        self.docks[_JOBS.name].build()  # it notes what happens before it is looked at
        self.beside = Zones(self.pages, self.panels, self.workspace.row)
        self.tool_bar = ToolBar(controllers.workspace, controllers.navigation, parts.run_bar(controllers))
        self.addToolBar(self.tool_bar)
        self.screen_scroll = ScreenScroll(self.beside, (self.menuBar(), self.tool_bar, self.status))
        self.setCentralWidget(self.screen_scroll)
        self.focus = FocusMode(
            self.pages,
            self.workspace,
            self.workspace.rows,
            self.workspace.row,
            lambda: _focus_view(controllers),
            self._beside_focus,
            self,
        )
        self.focus.changed.connect(self.strip.set_at_top)
        self.zone_keys = ZoneKeys(
            self,
            (
                self.tool_bar,
                self.start_page,
                self.workspace.labels,
                self.workspace.filters,
                self.workspace.rows,
                self.strip,
                self.workspace.row,
                self.panels,
                self.status,
            ),
        )
        self.file_commands = FileCommands(controllers, parts, state, self.open_path, self)
        self.review_commands = ReviewCommands(controllers, self.workspace.labels, self.file_commands, self)
        self.settings_commands = SettingsCommands(controllers, theme, self)
        self.menus = Menus(self, self, controllers, theme)
        self.announcements = Announcements(controllers, self)

        self.lost = LostProject(controllers.workspace, controllers.projects, controllers.messages, self)
        self.lost.watch.lost.connect(lambda _problem: self.status.set_saved(_("Not saved")))
        self.lost.watch.back.connect(lambda: self.status.set_saved(_("Saved")))

        self.tool_bar.exportAsked.connect(self.file_commands.ask_export)
        if isinstance(self.workspace.labels, LabelsPanel):
            self.workspace.labels.suggestAsked.connect(self.menus.suggest.trigger)
        self.start_page.openAsked.connect(self.file_commands.ask_open)
        self.start_page.pathChosen.connect(self.open_path)
        self.start_page.sampleAsked.connect(controllers.projects.open_sample)
        controllers.messages.notified.connect(self.strip.show_message)
        controllers.messages.notificationLasts.connect(self.strip.make_last)
        controllers.messages.offered.connect(self.strip.show_offer)
        controllers.messages.repairAsked.connect(self.file_commands.ask_repair)
        controllers.projects.rescued.connect(self._on_rescued)
        controllers.messages.asked.connect(self.strip.show_question)
        controllers.edits.editing.connect(self.strip.end_news)
        controllers.workspace.versionsChanged.connect(
            self.strip.end_offer
        )  # offers go back to a version, but for this:
        controllers.review.over.connect(partial(self.strip.end_offer_to, START))
        controllers.advice.over.connect(self.strip.end_offer_to)
        controllers.navigation.panelAsked.connect(self.show_panel)
        controllers.navigation.guideAsked.connect(self.help_commands.show_guide)
        controllers.workspace.projectOpened.connect(self._on_opened)
        controllers.workspace.projectOpened.connect(self.strip.end_offer)
        controllers.workspace.projectClosed.connect(self.focus.leave)
        controllers.workspace.projectClosed.connect(self._on_closed)
        controllers.workspace.projectOpened.connect(self.strip.end_project)
        controllers.workspace.projectClosed.connect(self.strip.end_project)
        controllers.workspace.countsChanged.connect(self._show_counts)
        controllers.scorer.long.changed.connect(self._show_counts)
        self.status.stopAsked.connect(controllers.scorer.long.stopped)
        controllers.navigation.foundChanged.connect(self._show_counts)
        controllers.workspace.scoresChanged.connect(self._show_counts)
        controllers.scorer.modelsChanged.connect(self._show_device)
        controllers.projects.settled.connect(self._on_settled)
        for child in self.findChildren(QWidget):
            if child.acceptDrops():  # text fields would take a file's name as text
                child.installEventFilter(self)
        self.tour = tour_of(self, controllers)
        self.start_page.tourAsked.connect(self.tour.begin)
        self._restore()
        self._on_closed()
        self._show_device()

    # --- building ------------------------------------------------------------------------------------------

    @property
    def zones(self) -> Mapping[str, QWidget]:
        """The panels beside the rows, by name."""
        return self.workspace.sides

    @property
    def docks(self) -> Mapping[str, PanelPage]:
        """The panels below, by the names of their parts."""
        return self.panels.pages

    # --- opening -------------------------------------------------------------------------------------------

    @Slot(object)
    def open_path(self, path: Path, message: str = "") -> None:
        """Open a project, or show how a table would be imported; show the sentence ``message`` with it."""
        if not path.exists():
            self._controllers.messages.notify(_("{path} no longer exists.", path=path), "warn")
            self.start_page.refresh()
        elif is_project(path):
            self._controllers.projects.open_project(path)
            if message:
                self._controllers.messages.notify_of_program(message)
        else:
            self.file_commands.show_import(path, message=message)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Let Tab go where the eye goes."""
        return step(self, forward=forward)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take a file, or say why it cannot be opened."""
        self.drops.handle(event)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Take the cue away."""
        self.drops.handle(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Open the file."""
        self.drops.handle(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take from text fields file drags, which would become text, and the keys of the menus."""
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.ShortcutOverride:
            keys = QKeySequence(event.keyCombination())  # on X11 Ctrl+E and Ctrl+K would edit the field
            if not _types(event) and any(keys == action.shortcut() for action in self.menus.all_actions()):
                event.ignore()
                return True
        return self.drops.handle(event) or super().eventFilter(watched, event)

    # --- what is shown -------------------------------------------------------------------------------------

    @Slot()
    def _on_opened(self) -> None:
        project = self._controllers.workspace.project
        assert project is not None
        self.pages.setCurrentWidget(self.workspace)
        self.setWindowTitle(_("{project} – {program}", project=project.path.stem, program=TITLE))
        self.status.set_saved(_("Read-only") if project.read_only else _("Saved"))
        self._set_project_actions(True)

    @Slot()
    def _on_closed(self) -> None:
        self._notes.leave()
        self.pages.setCurrentWidget(self.start_page)
        self.setWindowTitle(TITLE)
        self.status.set_counts(None)
        self.status.set_saved("")
        self._set_project_actions(False)
        self.start_page.refresh()

    def _set_project_actions(self, on: bool) -> None:
        self.tool_bar.setVisible(on)
        self.menus.set_project_open(on)
        self.panels.set_project_open(on)
        self.beside.set_project_open(on)

    def _beside_focus(self) -> list[QWidget]:
        """What focus mode hides: the tool bar, the row panel, and the panels below."""
        return [self.tool_bar, self.workspace.row, self.panels]

    @Slot()
    def ask_find(self) -> None:
        """Go to the search field."""
        self.focus.leave()
        self.tool_bar.focus_search()

    @Slot()
    def close_panels(self) -> None:
        """Close all panels below."""
        self.panels.put_away()

    @Slot()
    def toggle_panels(self) -> None:
        """Close all panels below, or open them again where they were."""
        self.panels.toggle()

    @Slot()
    def _show_counts(self) -> None:
        counts = self._controllers.workspace.counts
        found = (
            self._controllers.navigation.found if has_filters(self._controllers.navigation.query) else None
        )
        scored = self._controllers.workspace.runs[0].scored if self._controllers.workspace.runs else 0
        self.status.set_counts(counts, found=found, scored=scored)
        self.status.set_paused(self._controllers.scorer.long.text)

    @Slot(object)
    def show_panel(self, name: str) -> None:
        """Show the panel below that is called ``name`` in the code."""
        self.focus.leave()
        self.docks[name].bring()

    @Slot()
    def _show_device(self) -> None:
        self.status.set_device(self._controllers.scorer.device_text)

    @Slot(object, object)
    def _on_rescued(self, path: Path, copy: Path) -> None:
        """List the copy of a lost project among the recent ones."""
        self._recent.remember_copy(path, copy)
        self.start_page.refresh()

    @Slot()
    def show_palette(self) -> None:
        """Show every action to choose from by typing."""
        palette = CommandPalette(self.menus.all_actions(), CommandHistory(self._state), self)
        palette.move((self.width() - palette.width()) // 2, self.screen_scroll.y())
        palette.show()
        palette.field.setFocus()

    @Slot()
    def toggle_full_screen(self) -> None:
        """Fill the screen, or stop filling it."""
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    @Slot()
    def greet(self) -> None:
        """Show the tour to who starts the program for the first time."""
        if not self._recent.all():
            self.tour.begin_once()

    @Slot()
    def take_tour(self) -> None:
        """Show the tour from its first step on."""
        self.focus.leave()
        self.tour.begin()

    # --- coming and going ----------------------------------------------------------------------------------

    def _restore(self) -> None:
        self.resize(1280, 800)
        if isinstance(geometry := self._state.value("geometry"), QByteArray):  # the file may hold anything
            self.restoreGeometry(geometry)
        self.panels.choose(str(self._state.value("front", "")))
        self.beside.restore(self._state)
        if isinstance(zones := self._state.value("zones"), QByteArray):
            self.workspace.restoreState(zones)

    def _save(self) -> None:
        self._state.setValue("geometry", self.saveGeometry())
        self._state.setValue("front", self.panels.kept)
        self.beside.save(self._state)
        self._state.setValue("zones", self.workspace.saveState())
        self._state.sync()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Stop what runs, wait for it without freezing, close the project, then go."""
        if self._settled:
            event.accept()
            return
        event.ignore()
        if not self.lost.asks():
            self._close()

    def _close(self) -> None:
        if not self.isEnabled():  # it is closing: a shell passes on a signal that the system has sent already
            return
        self._save()
        self.setEnabled(False)
        self._controllers.messages.notify_of_program(_("Finishing…"))
        self._controllers.projects.shut_down()

    @Slot()
    def close_unasked(self) -> None:
        """Close the window as the system wants it: what needs an answer is done without one."""
        self.lost.watch.blockSignals(True)
        if self._settled:
            self.close()
        else:
            self._close()

    @Slot()
    def _on_settled(self) -> None:
        self._settled = True
        self.help_commands.close_guide()
        QTimer.singleShot(0, self, self.close)  # not now: this may be inside closeEvent, where Qt ignores it


def _types(event: QKeyEvent) -> bool:
    """Whether a key types a character into a field: no menu has one of those."""
    held = event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
    return not held and event.text().isprintable() and bool(event.text())


def _focus_view(controllers: Controllers) -> FocusView:
    return FocusView(
        controllers.workspace,
        controllers.navigation,
        controllers.edits,
        controllers.scorer,
        controllers.review,
        controllers.preferences,
        controllers.messages,
        controllers.repeats,
    )
