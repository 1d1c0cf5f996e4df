"""The main window around small stand-ins for the panels: ways in, ways out, what is shown when."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, QSettings, Qt, QUrl
from PySide6.QtGui import QAction, QDragEnterEvent, QDragLeaveEvent, QDropEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDialog,
    QFileDialog,
    QLabel,
    QLineEdit,
    QMenu,
    QMenuBar,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.crashes import Crash
from sce_desktop.controllers.jobs import JobState, WorkerQueues
from sce_desktop.controllers.recent import RecentProjects
from sce_desktop.core.annotations import Annotation, Decision, Origin
from sce_desktop.core.errors import DamagedProject
from sce_desktop.core.progress import Progress
from sce_desktop.store.project import Project
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.kit.keys_dialog import KeysDialog
from sce_desktop.ui.kit.palette import CommandPalette
from sce_desktop.ui.kit.parts import Parts
from sce_desktop.ui.kit.theme import DARK, LIGHT, tokens
from sce_desktop.ui.labels.label_sets_dialog import LabelSetsDialog
from sce_desktop.ui.rows.column_filter import ColumnFilterDialog
from sce_desktop.ui.rows.threshold_dialog import ThresholdDialog
from sce_desktop.ui.window.crash_dialog import CrashDialog
from sce_desktop.ui.window.main_window import MainWindow
from sce_desktop.ui.window.settings_dialog import SettingsDialog
from tests.ui.conftest import MakeProject


class Panel(QWidget):
    """A panel with a text field, as every real one has."""

    def __init__(self, controllers: Controllers) -> None:
        super().__init__()
        self.field = QLineEdit()
        self.field.setAccessibleName("Field")
        layout = QVBoxLayout(self)
        layout.addWidget(QLabel("Panel"))
        layout.addWidget(self.field)


class Asked(QDialog):
    """A dialog that notes what it was opened for."""

    opened: list[tuple[Path | None, bool]] = []  # noqa: RUF012 - emptied by the fixture
    message = ""  # to the last one

    def __init__(
        self,
        controllers: Controllers,
        path: Path | None = None,
        *,
        append: bool = False,
        message: str = "",
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        Asked.message = message
        Asked.opened.append((path, append))


MakeWindow = Callable[[], MainWindow]


@pytest.fixture
def make_window(controllers: Controllers, theme: Theme, tmp_path: Path) -> Iterator[MakeWindow]:
    Asked.opened = []
    windows: list[MainWindow] = []

    def make() -> MainWindow:
        window = MainWindow(
            controllers,
            Parts(Panel, Panel, Panel, Panel, Panel, import_dialog=Asked, export_dialog=Asked),
            theme,
            recent=RecentProjects(tmp_path / "recent.json"),
            state=QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat),
        )
        window.show()
        windows.append(window)
        return window

    yield make
    for window in filter(isValid, windows):
        window._settled = True  # the fixture ends the work
        window.close()
        window.deleteLater()


@pytest.fixture
def window(make_window: MakeWindow) -> MainWindow:
    return make_window()


def open_in(qtbot: QtBot, window: MainWindow, path: Path) -> Controllers:
    controllers = window._controllers
    with qtbot.waitSignal(controllers.workspace.countsChanged):
        window.open_path(path)
    return controllers


def drag(*urls: str) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl(url) if "://" in url else QUrl.fromLocalFile(url) for url in urls])
    return data


_ACTIONS = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


def hold(target: QWidget, data: QMimeData) -> bool:
    """Drag something over ``target``; whether it was taken."""
    copy, left, plain = _ACTIONS
    enter = QDragEnterEvent(QPointF(5, 5).toPoint(), copy, data, left, plain)
    enter.ignore()
    QApplication.sendEvent(target, enter)
    return enter.isAccepted()


def drop(target: QWidget, *urls: str) -> tuple[bool, bool]:
    """Drag files over ``target`` and let go; whether the drag and the drop were accepted."""
    data = drag(*urls)
    taken = hold(target, data)
    copy, left, plain = _ACTIONS
    event = QDropEvent(QPointF(5, 5), copy, data, left, plain)
    event.ignore()
    if taken:
        QApplication.sendEvent(target, event)
    return taken, event.isAccepted()


def action(window: MainWindow, text: str) -> QAction:
    return next(a for a in window.findChildren(QAction) if a.text().replace("&", "").rstrip("…") == text)


# --- what is shown -----------------------------------------------------------------------------------------


def test_start_page_without_a_project(window: MainWindow) -> None:
    assert window.pages.currentWidget() is window.start_page
    assert not window.tool_bar.isVisible()
    assert not action(window, "Export").isEnabled()
    assert action(window, "Open").isEnabled()
    assert window.windowTitle() == "SCE Desktop"


def test_open_project_shows_the_workspace(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject
) -> None:
    controllers = open_in(qtbot, window, make_project())
    assert window.pages.currentWidget() is window.workspace
    assert window.tool_bar.isVisible()
    assert window.tool_bar.name.text() == "Parcels"
    assert window.tool_bar.rows.text() == "5 rows"
    assert window.windowTitle() == "Parcels – SCE Desktop"
    assert window.status.counts.whole().startswith("5 rows")
    assert window.status.saved.text() == "Saved"
    assert action(window, "Export").isEnabled()
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        action(window, "Close project").trigger()
    assert window.pages.currentWidget() is window.start_page
    assert window.start_page.recent_list.count() == 1
    assert window.status.counts.whole() == ""


def test_read_only_project_is_marked(qtbot: QtBot, window: MainWindow, make_project: MakeProject) -> None:
    path = make_project()
    with Project.open(path):
        controllers = open_in(qtbot, window, path)
        assert window.status.saved.text() == "Read-only"
        assert window.strip.isVisible()
        with qtbot.waitSignal(controllers.workspace.projectClosed):
            controllers.projects.close_project()


def test_failure_is_reported_in_the_strip(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    window.open_path(tmp_path / "gone.sce")
    assert window.strip.isVisible()
    assert "no longer exists" in window.strip.text.text()


@pytest.mark.parametrize("meanwhile", [False, True])
def test_a_bulk_action_that_broke_off_is_reported_and_taken_back(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject, meanwhile: bool
) -> None:
    path = make_project()
    accepted = [Annotation(n, Decision.NONE, (), Origin.BULK, "2026-01-01", "accepted") for n in (1, 2)]
    with Project.open(path) as project:
        project.annotate_part(accepted, last=False)  # and the program is killed
    controllers = open_in(qtbot, window, path)
    assert window.strip.text.text() == ("The program ended during a bulk action, after 2 rows.")
    controllers.messages.notify("Scoring continues where it stopped: 3 rows are already scored.")
    window.strip.close_button.click()  # the news pushed it away before it could be read
    assert window.strip.text.text() == ("The program ended during a bulk action, after 2 rows.")
    assert (window.strip.button.isVisible(), window.strip.button.text()) == (True, "Undo")
    assert controllers.workspace.project is not None
    if meanwhile:
        controllers.edits.decide([4], Decision.SKIPPED)
    window.strip.button.click()
    assert sorted(controllers.workspace.project.annotations(range(1, 6))) == ([1, 2, 4] if meanwhile else [])
    assert window.strip.text.text().startswith("There is a later change" if meanwhile else "Undone: ")
    controllers.projects.close_project()
    qtbot.waitUntil(lambda: controllers.workspace.project is None)
    qtbot.waitUntil(lambda: not controllers.workspace.workers.files.busy)
    controllers = open_in(qtbot, window, path)
    assert "bulk" not in window.strip.text.text()


def test_what_was_told_ends_with_the_next_edit(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject
) -> None:
    controllers = open_in(qtbot, window, make_project())
    controllers.edits.decide([1], Decision.SKIPPED)
    controllers.edits.undo()
    assert window.strip.text.text().startswith("Undone: ")
    controllers.edits.decide([2], Decision.SKIPPED)
    assert window.strip.isHidden()
    controllers.messages.notify("2 rows decided in bulk.")
    controllers.edits.undo()
    assert window.strip.text.text().startswith("Undone: ")
    controllers.messages.notify("The disk is full.", "warn")
    controllers.edits.decide([2], Decision.SKIPPED)
    assert window.strip.isVisible()
    controllers.messages.offer("Version 2 is in use now.", "Go back", lambda: None)
    controllers.edits.decide([3], Decision.SKIPPED)
    assert window.strip.isVisible()
    controllers.workspace.versionsChanged.emit()
    assert window.strip.text.text() == "The disk is full."  # it was pushed away unread
    window.strip.close_button.click()
    assert window.strip.isHidden()
    controllers.messages.notify("5 rows were added.")
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        controllers.projects.close_project()
    assert window.strip.isHidden()


@pytest.mark.parametrize("way", ["warning", "offer", "pushed away", "late"])
def test_a_message_ends_with_the_project_that_it_is_about(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject, tmp_path: Path, way: str
) -> None:
    """What was said of one file must not stand, or come back, in another that is healthy."""
    first, second = make_project("First"), make_project("Second")
    controllers = open_in(qtbot, window, first)
    controllers.messages.notify("First.sce is damaged.", "warn")
    if way == "offer":
        controllers.messages.offer("Rows of First came late.", "Show", lambda: None)
    elif way == "pushed away":
        controllers.messages.notify("2 rows were added.")
    elif way == "late":  # unread under several
        controllers.messages.notify("First.sce cannot be written.", "warn")
        controllers.messages.offer("Version 2 of First is in use.", "Go back", lambda: None)
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        window.open_path(second)
    assert window.strip.isHidden()
    controllers.messages.notify("A word about Second.")
    window.strip.close_button.click()
    assert window.strip.isHidden()  # nothing comes back


def test_what_was_said_on_the_start_page_ends_when_a_project_opens(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject, tmp_path: Path
) -> None:
    damaged = tmp_path / "Damaged.sce"
    damaged.write_bytes(b"SQLite format 3\0" + b"not really" * 99)
    window.open_path(damaged)
    qtbot.waitUntil(window.strip.isVisible)
    assert "Damaged" in window.strip.text.text()
    controllers = open_in(qtbot, window, make_project())
    assert window.strip.isHidden()
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        controllers.projects.close_project()
    assert window.strip.isHidden()


def is_before_the_page(window: MainWindow) -> bool:
    strip = window.strip
    found = window.pages.childAt(strip.geometry().center())
    return strip.isVisible() and found is not None and (found is strip or strip.isAncestorOf(found))


def test_a_message_that_lasts_lies_before_the_page_that_comes(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject
) -> None:
    controllers = window._controllers
    controllers.messages.notify_of_program("The program ended unexpectedly.", "warn")
    open_in(qtbot, window, make_project())
    assert is_before_the_page(window)
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        controllers.projects.close_project()
    assert is_before_the_page(window)
    open_in(qtbot, window, make_project("Other"))
    assert is_before_the_page(window)


@pytest.mark.parametrize("then", ["nothing", "another project"])
def test_the_copy_of_a_lost_project_is_offered_and_listed(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject, then: str
) -> None:
    path, other = make_project(labels=("Late",)), make_project("Other")
    controllers = open_in(qtbot, window, path)
    assert controllers.edits.decide([1], Decision.NONE)
    qtbot.waitUntil(
        lambda: not controllers.workspace.workers.files.busy and not controllers.workspace.workers.reads.busy
    )
    path.unlink()
    with qtbot.waitSignal(controllers.projects.rescued):
        if then == "nothing":
            controllers.projects.close_project()
        else:
            controllers.projects.open_project(other)
    copy = path.with_name("Parcels (rescued).sce")
    assert str(copy) in window.strip.text.text()
    assert window.strip.property("tone") == "warn"
    assert is_before_the_page(window)
    listed = [entry for entry in window._recent.all() if entry.path == str(copy)]
    assert [entry.rows for entry in listed] == [5]
    controllers.workspace.versionsChanged.emit()  # ends an offer that is about the open project
    assert window.strip.button.isVisible()
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        window.strip.button.click()
    assert controllers.workspace.project is not None
    assert controllers.workspace.project.path == copy
    assert window.strip.isHidden()
    assert window.windowTitle() == "Parcels (rescued) – SCE Desktop"
    assert window.tool_bar.name.whole() == "Parcels (rescued)"


def test_a_damaged_project_is_a_warning_with_a_way_out(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    window._controllers.messages.notify_error(DamagedProject(tmp_path / "a.sce", "is damaged"))
    assert window.strip.property("tone") == "warn"
    window._controllers.messages.notify("2 rows were added.")
    window.strip.close_button.click()
    assert window.strip.text.text() == "a.sce is damaged."  # it comes back as it was
    assert (window.strip.button.isVisible(), window.strip.button.text()) == (True, "Repair…")


def test_a_message_about_the_program_outlives_projects(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject
) -> None:
    controllers = window._controllers
    controllers.messages.notify_of_program("There is no model here.", "warn")
    controllers.messages.notify("gone.sce is not there any more.", "warn")
    open_in(qtbot, window, make_project())
    assert window.strip.text.text() == "There is no model here."
    assert window.strip.isVisible()
    controllers.messages.notify("2 rows were added.")
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        controllers.projects.close_project()
    assert window.strip.text.text() == "There is no model here."
    assert window.strip.isVisible()
    window.strip.close_button.click()
    assert window.strip.isHidden()


def test_what_a_project_brings_to_say_is_said_when_it_is_open(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject
) -> None:
    path = make_project("Shared")
    window._controllers.messages.notify("Something about another.", "warn")
    with Project.open(path):
        open_in(qtbot, window, path)
        assert window.strip.isVisible()
        assert "another" not in window.strip.text.text()


def test_every_control_has_a_name(qtbot: QtBot, window: MainWindow, make_project: MakeProject) -> None:
    open_in(qtbot, window, make_project())
    window.docks["Jobs and log"].bring()
    controls = [*window.findChildren(QAbstractButton), *window.findChildren(QLineEdit)]
    nameless = [c for c in controls if not c.accessibleName() and not c.objectName().startswith("qt_")]
    assert [(type(c).__name__, c.toolTip()) for c in nameless] == []


def test_side_panels_can_be_hidden(qtbot: QtBot, window: MainWindow, make_project: MakeProject) -> None:
    open_in(qtbot, window, make_project())
    action(window, "Labels").trigger()
    assert not window.workspace.labels.isVisible()
    action(window, "Labels").trigger()
    assert window.workspace.labels.isVisible()


def test_search_box_sets_the_query(qtbot: QtBot, window: MainWindow, make_project: MakeProject) -> None:
    controllers = open_in(qtbot, window, make_project())
    action(window, "Find").trigger()
    with qtbot.waitSignal(controllers.navigation.queryChanged):
        qtbot.keyClicks(window.tool_bar.search, "late")
    assert controllers.navigation.query.search == "late"
    with qtbot.waitSignal(controllers.navigation.queryChanged):
        window.tool_bar.search.clear()
    assert controllers.navigation.query.search == ""


def test_theme_choice_is_kept(window: MainWindow, controllers: Controllers) -> None:
    action(window, "Dark theme").trigger()
    assert tokens() == DARK
    assert controllers.preferences.settings["theme"] == "dark"
    action(window, "Light theme").trigger()
    assert tokens() == LIGHT


def test_another_language_asks_for_a_restart(qtbot: QtBot, window: MainWindow) -> None:
    window.show_settings()
    dialog = window.findChild(SettingsDialog)
    assert dialog is not None
    dialog.fields["language"].editor.setCurrentText("Deutsch")  # type: ignore[union-attr]
    dialog.accept()
    assert window.strip.text.text() == "Restart SCE Desktop to use the new language."


def test_settings_change_the_theme_at_once(qtbot: QtBot, window: MainWindow) -> None:
    window.show_settings()
    dialog = window.findChild(SettingsDialog)
    assert dialog is not None
    dialog.fields["theme"].editor.setCurrentText("Dark")  # type: ignore[union-attr]
    dialog.accept()
    assert tokens() == DARK


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Confidence threshold", ThresholdDialog),
        ("Filter by a column", ColumnFilterDialog),
        ("Label sets and versions", LabelSetsDialog),
        ("Keyboard shortcuts", KeysDialog),
    ],
)
def test_the_menus_open_their_dialogs(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject, name: str, kind: type[QDialog]
) -> None:
    open_in(qtbot, window, make_project(labels=("Late", "Damaged")))
    action(window, name).trigger()
    dialog = window.findChild(kind)
    assert dialog is not None
    with qtbot.waitSignal(dialog.destroyed):
        dialog.reject()


def test_every_entry_of_a_menu_has_a_letter_of_its_own(window: MainWindow) -> None:
    menus: list[QMenuBar | QMenu] = [window.menuBar(), *window.menuBar().findChildren(QMenu)]
    assert len(menus) > len(window.menuBar().actions()) > 5
    for menu in menus:
        letters = [QKeySequence.mnemonic(a.text()).toString() for a in menu.actions()]
        told = [letter for letter in letters if letter]
        assert len(set(told)) == len(told), [a.text() for a in menu.actions()]
    assert all(QKeySequence.mnemonic(a.text()) for a in window.menuBar().actions())


def test_the_letter_of_a_menu_opens_it(qtbot: QtBot, window: MainWindow) -> None:
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    for key, title in ((Qt.Key.Key_V, "View"), (Qt.Key.Key_W, "Review")):
        qtbot.keyClick(window, key, Qt.KeyboardModifier.AltModifier)
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        assert menu.title().replace("&", "") == title
        menu.close()
        window.setFocus()


def test_palette_offers_what_can_be_done_now(qtbot: QtBot, window: MainWindow) -> None:
    window.show_palette()
    palette = window.findChild(CommandPalette)
    assert palette is not None
    names = [palette.list.topLevelItem(i).text(0) for i in range(palette.list.topLevelItemCount())]
    assert "File: Open" in names
    assert "File: Export" not in names
    qtbot.keyClick(palette.field, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: window.findChild(CommandPalette) is None)


def test_crashes_do_not_pile_up(qtbot: QtBot, window: MainWindow) -> None:
    window.show_crash(Crash("ValueError", "somewhere"))
    window.show_crash(Crash("KeyError", "elsewhere"))
    dialogs = window.findChildren(CrashDialog)
    assert len(dialogs) == 1
    dialogs[0].reject()
    qtbot.waitUntil(lambda: not window.findChildren(CrashDialog))
    window.show_crash(Crash("KeyError", "elsewhere"))
    assert len(window.findChildren(CrashDialog)) == 1
    window.findChild(CrashDialog).reject()


# --- ways in -----------------------------------------------------------------------------------------------


def test_dropped_table_opens_the_import_dialog(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    table = tmp_path / "mes données 1.csv"
    table.write_text("text\nhello\n", encoding="utf-8")
    assert drop(window, str(table)) == (True, True)
    assert Asked.opened == []  # the program that the file comes from is let go first
    qtbot.waitUntil(lambda: Asked.opened == [(table, False)])


def test_drop_on_a_text_field_is_a_file_too(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject, tmp_path: Path
) -> None:
    open_in(qtbot, window, make_project())
    table = tmp_path / "in.csv"
    table.write_text("text\nhello\n", encoding="utf-8")
    for field in window.findChildren(QLineEdit):
        if field.isVisible():
            Asked.opened = []
            assert drop(field, str(table)) == (True, True)
            qtbot.waitUntil(lambda: Asked.opened == [(table, False)])
            assert field.text() == ""


def test_dropped_project_is_opened(qtbot: QtBot, window: MainWindow, make_project: MakeProject) -> None:
    path = make_project()
    with qtbot.waitSignal(window._controllers.workspace.projectOpened):
        assert drop(window, str(path)) == (True, True)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("picture.png", "“picture.png” cannot be opened: drop a table ("),
        ("report.docx", "“report.docx” cannot be opened: drop a table ("),
        ("no ending", "“no ending” cannot be opened: drop a table ("),
        ("folder", "“folder” is a folder: drop a table or a project (.sce)."),
        ("https://example.org/a.csv", "What you dropped is not a file on this computer: save it first"),
    ],
)
@pytest.mark.parametrize("opened", [False, True])
def test_what_cannot_be_opened_is_reported_when_it_is_dropped(
    qtbot: QtBot,
    window: MainWindow,
    make_project: MakeProject,
    tmp_path: Path,
    name: str,
    told: str,
    opened: bool,
) -> None:
    (tmp_path / "folder").mkdir()
    if opened:
        open_in(qtbot, window, make_project())
    where = name if "://" in name else (tmp_path / name).as_uri()
    data = drag(where)
    hold(window, data)
    assert window.drops.cue.isVisible()
    assert window.drops.cue.words.text().startswith(told)  # before one lets go
    assert drop(window, where) == (True, True)
    assert window.drops.cue.isHidden()
    assert window.strip.text.text().startswith(told)
    assert Asked.opened == []


def test_a_drag_that_has_no_files_is_left_alone(window: MainWindow) -> None:
    data = QMimeData()
    data.setText("some words")
    assert not hold(window, data)
    assert window.drops.cue.isHidden()


@pytest.mark.parametrize("opened", [False, True])
def test_a_file_that_is_held_over_the_window_is_answered_by_a_cue(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject, opened: bool
) -> None:
    cue = window.drops.cue
    if opened:
        open_in(qtbot, window, make_project())
    assert hold(window, drag("file:///data/mine.csv"))
    assert cue.isVisible()
    assert cue.words.text() == "Drop to import “mine.csv”"
    assert window.pages.rect().contains(cue.geometry())
    QApplication.sendEvent(window, QDragLeaveEvent())
    assert cue.isHidden()
    field = next((f for f in window.findChildren(QLineEdit) if f.isVisible()), None)
    if field is not None:
        assert hold(field, drag("file:///data/mine.sce"))
        assert cue.isVisible()
        assert cue.words.text() == "Drop to open the project “mine”"
        QApplication.sendEvent(field, QDragLeaveEvent())
        assert cue.isHidden()


def test_of_several_files_one_is_opened_and_that_is_reported(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    table = tmp_path / "b.csv"
    table.write_text("text\nhello\n", encoding="utf-8")
    assert drop(window, "file:///a.png", table.as_uri(), "file:///c.csv") == (True, True)
    qtbot.waitUntil(lambda: Asked.opened == [(table, False)])
    assert Asked.message == "Only “b.csv” is opened: 2 other files were ignored."  # not behind it


def test_of_several_projects_one_is_opened_and_that_is_reported(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject
) -> None:
    path = make_project()
    with qtbot.waitSignal(window._controllers.workspace.projectOpened):
        drop(window, path.as_uri(), "file:///c.csv")
    assert window.strip.isVisible()
    assert window.strip.text.text() == "Only “Parcels.sce” is opened: 1 other file was ignored."


def test_open_and_append_ask_for_a_file(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject, tmp_path: Path
) -> None:
    table = tmp_path / "in.csv"
    table.write_text("text\nhello\n", encoding="utf-8")
    open_in(qtbot, window, make_project())
    for name, append in (("Open", False), ("Add rows", True)):
        action(window, name).trigger()
        dialog = window.findChild(QFileDialog)
        assert dialog is not None
        dialog.fileSelected.emit(str(table))
        assert Asked.opened[-1] == (table, append)
        dialog.close()
        qtbot.waitUntil(lambda: window.findChild(QFileDialog) is None)
    window.tool_bar.export_button.click()
    assert Asked.opened[-1] == (None, False)


# --- ways out ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("worker", ["models", "files", "reads"])
def test_closing_during_work_waits_for_it_and_loses_nothing(
    qtbot: QtBot, window: MainWindow, workers: WorkerQueues, make_project: MakeProject, worker: str
) -> None:
    path = make_project()
    controllers = open_in(qtbot, window, path)
    controllers.edits.decide([1], Decision.NONE)
    ended = threading.Event()

    def slow_to_stop(*, progress: Progress) -> None:
        try:
            while True:
                progress.check()
                threading.Event().wait(0.2)
        finally:
            ended.set()

    job = controllers.workspace.submit(slow_to_stop, title="Slow", worker=worker)  # type: ignore[arg-type]
    qtbot.waitUntil(lambda: job.state is JobState.RUNNING)
    with qtbot.waitSignal(controllers.projects.settled, timeout=2000):
        assert not window.close()
        assert not window.isEnabled()
        assert "Finishing" in window.strip.text.text()
    assert ended.is_set()
    qtbot.waitUntil(lambda: not window.isVisible())
    assert [file.name for file in path.parent.glob("Parcels.sce*")] == ["Parcels.sce"]
    with Project.open(path) as project:
        assert project.annotations([1])[1].decision is Decision.NONE


def test_closing_while_nothing_runs_closes(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.waitUntil(lambda: not any(worker.busy for worker in window._controllers.workspace.workers))
    window.close()
    qtbot.waitUntil(lambda: not window.isVisible())


def test_a_window_that_is_gone_is_not_closed_again(
    qtbot: QtBot, window: MainWindow, controllers: Controllers
) -> None:
    window.deleteLater()
    controllers.projects.settled.emit()
    qtbot.waitUntil(lambda: not isValid(window))


def test_window_comes_back_as_it_was(
    qtbot: QtBot, make_window: MakeWindow, make_project: MakeProject, controllers: Controllers
) -> None:
    first = make_window()
    open_in(qtbot, first, make_project())
    first.resize(790, 640)
    first.docks["Jobs and log"].bring()
    first.beside.setSizes([520, 270])
    assert first.beside.sizes()[1] > 265  # more than its least: the second window begins with less room
    first.workspace.setSizes([210, 280])
    sizes = [*first.workspace.sizes(), *first.beside.sizes()]
    with qtbot.waitSignal(controllers.projects.settled):
        first.close()
    second = make_window()
    assert (second.width(), second.height()) == (790, 640)
    assert second.docks["Jobs and log"].isVisible()
    second.pages.setCurrentWidget(second.workspace)
    second.beside.set_project_open(True)
    assert [*second.workspace.sizes(), *second.beside.sizes()] == pytest.approx(sizes, abs=4)
    assert [project.name for project in second._recent.all()] == ["Parcels"]


@pytest.mark.parametrize(
    "content",
    [b"[" * 200_000, bytes(range(256)) * 50, b'[{"path": 3, "opened_at": 1}]', None],
    ids=["deep", "binary", "a number as path", "a folder"],
)
def test_a_broken_list_of_recent_projects_keeps_no_window_from_opening(
    make_window: MakeWindow, tmp_path: Path, content: bytes | None
) -> None:
    if content is None:
        (tmp_path / "recent.json").mkdir()
    else:
        (tmp_path / "recent.json").write_bytes(content)
    window = make_window()
    assert window.isVisible()
    assert window.start_page.recent_list.count() == 0


@pytest.mark.parametrize(
    "text",
    [
        "[General]\ngeometry=5\ndocks=true\nzones=a, b\nfolder=1, 2\n",
        "[General]\ngeometry=@ByteArray(nonsense)\ndocks=@ByteArray(\\0\\xff)\nzones=@ByteArray()\n",
        "\0\xff\0[[[[",
    ],
    ids=["other kinds", "other bytes", "no ini file"],
)
def test_a_broken_state_of_the_window_keeps_it_not_from_opening(
    make_window: MakeWindow, tmp_path: Path, text: str
) -> None:
    (tmp_path / "window.ini").write_text(text, encoding="utf-8")
    assert make_window().isVisible()


@pytest.mark.parametrize("asked", [True, False], ids=["by the button", "by the system"])
def test_closing_a_project_whose_file_is_gone(
    qtbot: QtBot, window: MainWindow, make_project: MakeProject, controllers: Controllers, asked: bool
) -> None:
    """A person is asked, once; the system is not. Nothing is lost in either case."""
    path = make_project()
    open_in(qtbot, window, path)
    assert controllers.edits.decide([1], Decision.NONE)
    path.unlink()
    if asked:
        window.close()
        qtbot.wait(50)
        assert window.isVisible()
        assert window.lost.box is not None
        window.lost.watch.look()
        assert window.status.saved.text() == "Not saved"
    with qtbot.waitSignal(controllers.projects.settled):
        window.close() if asked else window.close_unasked()
    with Project.open(path.with_name("Parcels (rescued).sce")) as project:
        assert list(project.annotations(range(1, 6))) == [1]
