"""The main window around small stand-ins for the panels: what is shown when."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDialog,
    QLineEdit,
    QMenu,
    QMenuBar,
)
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.crashes import Crash
from sce_desktop.core.annotations import Annotation, Decision, Origin
from sce_desktop.core.errors import DamagedProject
from sce_desktop.store.project import Project
from sce_desktop.ui.kit.keys_dialog import KeysDialog
from sce_desktop.ui.kit.palette import CommandPalette
from sce_desktop.ui.kit.theme import DARK, LIGHT, tokens
from sce_desktop.ui.labels.label_sets_dialog import LabelSetsDialog
from sce_desktop.ui.rows.column_filter import ColumnFilterDialog
from sce_desktop.ui.rows.threshold_dialog import ThresholdDialog
from sce_desktop.ui.window.crash_dialog import CrashDialog
from sce_desktop.ui.window.main_window import MainWindow
from sce_desktop.ui.window.settings_dialog import SettingsDialog
from tests.ui.conftest import MakeProject
from tests.ui.window_bench import action, make_window_fixture, open_in, window_fixture  # noqa: F401


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
    window.settings_commands.show_settings()
    dialog = window.findChild(SettingsDialog)
    assert dialog is not None
    dialog.fields["language"].editor.setCurrentText("Deutsch")  # type: ignore[union-attr]
    dialog.accept()
    assert window.strip.text.text() == "Restart SCE Desktop to use the new language."


def test_settings_change_the_theme_at_once(qtbot: QtBot, window: MainWindow) -> None:
    window.settings_commands.show_settings()
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
    window.crash_reports.show_crash(Crash("ValueError", "somewhere"))
    window.crash_reports.show_crash(Crash("KeyError", "elsewhere"))
    dialogs = window.findChildren(CrashDialog)
    assert len(dialogs) == 1
    dialogs[0].reject()
    qtbot.waitUntil(lambda: not window.findChildren(CrashDialog))
    window.crash_reports.show_crash(Crash("KeyError", "elsewhere"))
    assert len(window.findChildren(CrashDialog)) == 1
    window.findChild(CrashDialog).reject()
