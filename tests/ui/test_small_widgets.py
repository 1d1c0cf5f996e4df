"""Message strip, start page, status bar, jobs panel, palette, crash and settings dialog, each alone."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QSettings, Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QSpinBox, QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.crash_reports import report_of_bug
from sce_desktop.controllers.crashes import Crash
from sce_desktop.controllers.jobs import JobState, WorkerQueue
from sce_desktop.controllers.recent import RecentProjects
from sce_desktop.core.choices import Counts
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import LANGUAGES, PSEUDO
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowState
from sce_desktop.settings import SETTINGS, Settings
from sce_desktop.tasks.scoring.models import Baseline
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.kit.command_history import CommandHistory
from sce_desktop.ui.kit.elided_label import ElidedLabel
from sce_desktop.ui.kit.message_strip import INFO_MS, MessageStrip
from sce_desktop.ui.kit.palette import CommandPalette, matches
from sce_desktop.ui.kit.theme import LIGHT, set_role
from sce_desktop.ui.window.crash_dialog import CrashDialog
from sce_desktop.ui.window.jobs_panel import JobsPanel
from sce_desktop.ui.window.model_chooser import CHOOSERS, ModelChooser
from sce_desktop.ui.window.settings_dialog import SettingsDialog, grouped
from sce_desktop.ui.window.start_page import StartPage, ago
from sce_desktop.ui.window.status_bar import StatusBar


@pytest.fixture
def worker(qapp) -> Iterator[WorkerQueue]:
    worker = WorkerQueue("files")
    yield worker
    assert worker.close(timeout=10)


def unnamed(widget: QWidget) -> list[QWidget]:
    """Controls that a screen reader could not name."""
    controls = [*widget.findChildren(QAbstractButton), *widget.findChildren(QLineEdit)]
    ours = [c for c in controls if not c.objectName().startswith("qt_")]
    return [control for control in ours if not control.accessibleName()]


# --- message strip -----------------------------------------------------------------------------------------


def test_warning_stays_and_information_goes(qtbot: QtBot) -> None:
    strip = MessageStrip()
    qtbot.addWidget(strip)
    strip.show_message("The disk is full; free some space.", "warn")
    assert strip.isVisible()
    assert not strip._timer.isActive()
    strip.close_button.click()
    assert not strip.isVisible()
    strip.show_message("300 rows were written.")
    assert strip._timer.isActive()
    assert strip._timer.interval() == INFO_MS
    strip._timer.timeout.emit()
    assert not strip.isVisible()


def test_warning_that_was_not_read_comes_back(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("sce_desktop.ui.kit.message_strip.time.monotonic", lambda: now)
    strip = MessageStrip()
    qtbot.addWidget(strip)
    strip.show_message("The program ended unexpectedly.", "warn")
    strip.show_message("There is no model here.", "warn")
    strip.show_message("300 rows were written.")
    close = strip.close_button
    shown = []
    while strip.isVisible():
        shown.append(strip.text.text())
        close.click()
    assert shown == ["300 rows were written.", "There is no model here.", "The program ended unexpectedly."]
    strip.show_message("The disk is full; free some space.", "warn")
    now = INFO_MS / 1000 + 1
    strip.show_message("300 rows were written.")
    close.click()
    assert not strip.isVisible()  # there was time to read it


def test_warning_told_again_comes_back_once(qtbot: QtBot) -> None:
    strip = MessageStrip()
    qtbot.addWidget(strip)
    for sentence in ("No model.", "The disk is full.", "No model.", "No model."):
        strip.show_message(sentence, "warn")
    close = strip.close_button
    close.click()
    assert strip.text.text() == "The disk is full."
    close.click()
    assert not strip.isVisible()


def test_message_is_plain_text_and_readable_aloud(qtbot: QtBot) -> None:
    strip = MessageStrip()
    qtbot.addWidget(strip)
    strip.show_message("<b>a&b</b>.csv is not a table.", "warn")
    assert strip.text.text() == "<b>a&b</b>.csv is not a table."
    assert strip.text.textFormat() is Qt.TextFormat.PlainText
    assert strip.accessibleDescription() == "<b>a&b</b>.csv is not a table."
    assert unnamed(strip) == []


def test_message_lies_over_its_parent_and_moves_nothing(qtbot: QtBot) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.resize(800, 600)
    strip = MessageStrip(parent)
    parent.show()
    strip.show_message("Short.")
    short = strip.geometry()
    assert short.width() < 300
    assert parent.rect().contains(short)
    strip.show_message("A sentence that is much longer than the window is wide. " * 4, "warn")
    assert strip.height() > short.height()
    assert strip.width() <= 720
    parent.resize(400, 300)
    assert parent.rect().contains(strip.geometry())
    assert strip.heightForWidth(strip.width()) <= strip.height()  # no line is cut


@pytest.mark.parametrize("words", [8, 25, 40])
def test_no_line_of_a_message_is_clipped(theme: Theme, qtbot: QtBot, words: int) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.resize(1280, 800)
    strip = MessageStrip(parent)
    parent.show()
    strip.show_message("gypsy query " * words, "warn")
    strip.layout().activate()
    assert strip.text.height() >= strip.text.heightForWidth(strip.text.width())


# --- start page --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (3, "just now"),
        (60, "1 minute ago"),
        (7300, "2 hours ago"),
        (86400, "1 day ago"),
        (3e6, "4 weeks ago"),
    ],
)
def test_how_long_ago(seconds: float, words: str) -> None:
    assert ago(seconds) == words


def test_recent_projects_show_their_state_and_open(qtbot: QtBot, tmp_path: Path) -> None:
    there = tmp_path / "There.sce"
    there.write_bytes(b"x")
    recent = RecentProjects(tmp_path / "recent.json")
    recent.remember(tmp_path / "Gone.sce", rows=5, labelled=0, scored=0)
    recent.remember(there, rows=2400, labelled=258, scored=1466)
    page = StartPage(recent)
    qtbot.addWidget(page)
    texts = [page.recent_list.item(row).text() for row in range(page.recent_list.count())]
    assert texts[0] == "There\n2,400 rows · 1,466 scored · 258 labelled · just now"
    assert "no longer exists" in texts[1]
    page.recent_list.setCurrentRow(0)
    with qtbot.waitSignal(page.pathChosen) as chosen:
        qtbot.keyClick(page.recent_list, Qt.Key.Key_Return)
    assert chosen.args == [there]
    page.recent_list.setCurrentRow(1)
    qtbot.keyClick(page.recent_list, Qt.Key.Key_Delete)
    assert [project.name for project in recent.all()] == ["There"]


def test_how_a_recent_project_stands_is_muted(qtbot: QtBot, tmp_path: Path, theme: Theme) -> None:
    there = tmp_path / "There.sce"
    there.write_bytes(b"x")
    recent = RecentProjects(tmp_path / "recent.json")
    recent.remember(there, rows=2400, labelled=258, scored=1466)
    page = StartPage(recent)
    qtbot.addWidget(page)
    page.resize(800, 600)
    page.show()
    item = page.recent_list.visualItemRect(page.recent_list.item(0))
    image = page.recent_list.viewport().grab(item).toImage()
    rows = range(image.height())
    colours = [{image.pixelColor(x, y).name() for x in range(image.width())} for y in rows]
    middle = image.height() // 2
    lines = [y for y in rows if LIGHT.ink in colours[y]]
    assert lines
    assert max(lines) <= middle + 2  # the name, whole and alone in ink
    assert any(LIGHT.muted in colours[y] for y in rows if y > middle)


def test_start_page_buttons_ask(qtbot: QtBot, tmp_path: Path) -> None:
    page = StartPage(RecentProjects(tmp_path / "recent.json"))
    qtbot.addWidget(page)
    with qtbot.waitSignal(page.openAsked):
        page.open_button.click()
    with qtbot.waitSignal(page.sampleAsked):
        page.sample_button.click()
    assert unnamed(page) == []


# --- status bar --------------------------------------------------------------------------------------------


def test_status_bar_shows_the_running_job_and_stops_it(qtbot: QtBot, worker: WorkerQueue) -> None:
    status = StatusBar((worker,))
    qtbot.addWidget(status)
    status.show()
    states = dict.fromkeys(RowState, 0) | {RowState.ANY: 2400, RowState.LABELLED: 250, RowState.NONE: 8}
    status.set_counts(Counts(states, labels={}, predicted={}, scored=1466, blank=0))
    assert status.counts.whole().split("    ") == ["2,400 rows", "258 labelled", "1,466 scored"]
    status.set_counts(Counts(states, labels={}, predicted={}, scored=1466, blank=0), found=1021)
    assert status.counts.whole().startswith("1,021 of 2,400 rows    258 labelled")
    assert not status.bar.isVisible()

    def task(*, progress: Progress) -> None:
        progress.report(0, 100, stage="embedding")
        while True:
            progress.report(61, 100, stage="embedding")
            progress.check()
            threading.Event().wait(0.005)

    job = worker.submit(task, title="Scoring")
    qtbot.waitUntil(lambda: "61%" in status.progress.whole())
    assert status.progress.whole().startswith("Scoring: embedding · 61%")
    assert status.bar.value() == 610
    with qtbot.waitSignal(job.cancelled):
        status.stop_button.click()
        assert "stopping" in status.progress.whole()
        assert not status.stop_button.isEnabled()
    assert not status.bar.isVisible()  # at once: the button must not stop what comes next in its place
    assert not status.progress.whole()


@pytest.mark.parametrize(
    ("done", "total", "at_once"), [(1, 1000, True), (800, 1000, False), (0, 1000, False), (5, None, False)]
)
def test_a_job_is_shown_at_once_if_it_says_that_most_of_it_is_to_come(
    qtbot: QtBot,
    worker: WorkerQueue,
    monkeypatch: pytest.MonkeyPatch,
    done: int,
    total: int | None,
    at_once: bool,
) -> None:
    """Other jobs may end within the quarter of a second after which any job is shown."""
    status = StatusBar((worker,))
    qtbot.addWidget(status)
    monkeypatch.setattr(status._show_soon, "start", lambda: None)
    heard: list[tuple[int, int | None]] = []
    worker.jobChanged.connect(lambda job: heard.append((job.done, job.total)))

    def task(*, progress: Progress) -> None:
        progress.report(done, total)
        while True:
            progress.check()
            threading.Event().wait(0.005)

    job = worker.submit(task, title="Exporting")
    qtbot.waitUntil(lambda: (done, total) in heard)
    assert status.progress.whole().startswith("Exporting") is at_once
    assert status.stop_button.isHidden() is not at_once
    with qtbot.waitSignal(job.cancelled):
        job.cancel()
    assert status.stop_button.isHidden()


def test_of_several_jobs_the_one_that_began_last_is_shown_and_stopped(
    qtbot: QtBot, worker: WorkerQueue
) -> None:
    """A table is scored for hours: what is done meanwhile shows its progress, and Stop is about it."""
    other = WorkerQueue("writes")
    status = StatusBar((worker, other))
    qtbot.addWidget(status)
    status.show()

    def task(*, progress: Progress) -> None:
        while True:
            progress.check()
            threading.Event().wait(0.005)

    try:
        scoring = worker.submit(task, title="Scoring")
        qtbot.waitUntil(lambda: status.progress.whole() == "Scoring")
        waiting = worker.submit(task, title="Loading")
        labelling = other.submit(task, title="Labelling")
        qtbot.waitUntil(lambda: status.progress.whole() == "Labelling")
        with qtbot.waitSignal(labelling.cancelled):
            status.stop_button.click()
        assert scoring.state is JobState.RUNNING
        assert status.progress.whole() == "Scoring"
        for job in (waiting, scoring):
            with qtbot.waitSignal(job.cancelled):
                job.cancel()
    finally:
        assert other.close(timeout=10)


def test_the_name_of_a_job_does_not_widen_the_window(qtbot: QtBot, worker: WorkerQueue) -> None:
    status = StatusBar((worker,))
    qtbot.addWidget(status)
    status.resize(500, 30)
    status.show()
    gate = threading.Event()
    worker.submit(lambda *, progress: gate.wait(5), title="Suggesting " * 30)
    qtbot.waitUntil(lambda: status.progress.isVisible() and "…" in status.progress.text())
    assert status.minimumSizeHint().width() <= 500
    assert status.progress.toolTip() == "Suggesting " * 30
    gate.set()


def test_counts_of_millions_do_not_widen_the_window(qtbot: QtBot) -> None:
    status = StatusBar(())
    qtbot.addWidget(status)
    status.resize(200, 30)
    status.show()
    least = status.minimumSizeHint().width()
    states = dict.fromkeys(RowState, 0) | {RowState.ANY: 12_345_678, RowState.LABELLED: 2_345_678}
    status.set_counts(Counts(states, labels={}, predicted={}, scored=9_876_543, blank=0, draft=1_234_567))
    qtbot.waitUntil(lambda: "…" in status.counts.text())
    assert status.minimumSizeHint().width() - least < 40
    assert status.counts.toolTip() == status.counts.whole()
    assert "1,234,567" in status.counts.whole()


def test_quiet_jobs_are_not_shown(qtbot: QtBot, worker: WorkerQueue) -> None:
    status, panel = StatusBar((worker,)), JobsPanel((worker,))
    qtbot.addWidget(status)
    qtbot.addWidget(panel)
    gate = threading.Event()
    worker.submit(lambda *, progress: gate.wait(5), title="Query", quiet=True)
    qtbot.wait(30)
    assert not status.bar.isVisibleTo(status)
    assert panel.model.rowCount() == 0
    gate.set()


# --- jobs panel --------------------------------------------------------------------------------------------


def test_jobs_panel_tells_how_jobs_ended(qtbot: QtBot, worker: WorkerQueue) -> None:
    panel = JobsPanel((worker,))
    qtbot.addWidget(panel)

    def fail(*, progress: Progress) -> None:
        raise UserError("The disk is full; free some space.")

    def warn(*, progress: Progress) -> None:
        progress.warn("3 rows have no text.")

    worker.submit(fail, title="Export")
    worker.submit(warn, title="Import")
    qtbot.waitUntil(lambda: not worker.busy)
    cells = [[panel.model.index(row, column).data() for column in range(4)] for row in range(2)]
    assert cells == [
        ["Import", "Finished", "0 s", "3 rows have no text."],
        ["Export", "Failed", "0 s", "The disk is full; free some space."],
    ]


def test_log_tail_shows_lines_of_any_thread_without_tracebacks(qtbot: QtBot, worker: WorkerQueue) -> None:
    panel = JobsPanel((worker,))
    qtbot.addWidget(panel)
    panel.show()

    def task(*, progress: Progress) -> None:
        try:
            raise ValueError("secret")
        except ValueError:
            logging.getLogger("sce_desktop.test").warning("Something to know", exc_info=True)

    worker.submit(task, title="Logs")
    qtbot.waitUntil(lambda: "Something to know" in panel.log.toPlainText())
    assert "secret" not in panel.log.toPlainText()


def test_log_handler_goes_with_the_panel(qtbot: QtBot, worker: WorkerQueue) -> None:
    handlers = logging.getLogger().handlers  # windows of tests before may still be on their way out
    before = list(handlers)
    panel = JobsPanel((worker,))
    (added,) = [one for one in handlers if one not in before]
    panel.deleteLater()
    qtbot.waitUntil(lambda: added not in handlers)


def test_models_are_chosen_among_the_installed_ones(qtbot: QtBot) -> None:
    model, baseline = (
        ModelChooser(CHOOSERS[key], value) for key, value in (("model", "mine"), ("baseline", ""))
    )
    for chooser in (model, baseline):
        qtbot.addWidget(chooser)
        assert not chooser.isEditable()
        chooser.show_models([("sce-mini", "sce"), ("e5-base-v2", "similarity"), ("qwen", "llm")])
    assert [model.itemData(place) for place in range(model.count())] == ["sce-mini", "mine"]
    assert model.currentData() == "mine"  # a folder, or a model that is gone
    values = [baseline.itemData(place) for place in range(baseline.count())]
    assert values == ["", "similarity", "similarity:e5-base-v2", "llm:qwen"]
    assert all(not value or Baseline.parse(value).spec == value for value in values)
    assert baseline.currentText() == "None"
    baseline.setCurrentIndex(3)
    baseline.show_models([("sce-mini", "sce")])
    assert baseline.currentData() == "llm:qwen"


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_language_is_chosen_by_its_own_name(qtbot: QtBot, tmp_path: Path, code: str) -> None:
    dialog = SettingsDialog(Settings(tmp_path / "settings.json"))
    qtbot.addWidget(dialog)
    language = dialog.fields["language"].editor
    assert isinstance(language, QComboBox)
    assert language.currentText() == "System language"
    assert language.findData(PSEUDO) < 0
    language.setCurrentText(LANGUAGES[code])
    with qtbot.waitSignal(dialog.changed) as changed:
        dialog.accept()
    assert changed.args == [{"language"}]
    assert Settings.load(tmp_path / "settings.json")["language"] == code


# --- palette -----------------------------------------------------------------------------------------------


def history_in(folder: Path) -> CommandHistory:
    return CommandHistory(QSettings(str(folder / "window.ini"), QSettings.Format.IniFormat))


def test_what_is_used_often_and_lately_comes_first(tmp_path: Path) -> None:
    history = history_in(tmp_path)
    for name in ("Export", "Export", "Find", "Open", "Open", "Open"):
        history.note(name)
    names = ["Add rows", "Find", "Export", "Open", "Quit"]
    assert history_in(tmp_path).ordered(names, str) == ["Open", "Export", "Find", "Add rows", "Quit"]
    for _ in range(4):
        history.note("Find")
    assert history.ordered(names, str)[0] == "Find"


@pytest.mark.parametrize("stored", ["{", "[]", "3", '{"Open": "often", "Find": null}', "[" * 100_000])
def test_a_history_that_makes_no_sense_counts_as_none(tmp_path: Path, stored: str) -> None:
    history = history_in(tmp_path)
    history._state.setValue("commands", stored)
    assert history.ordered(["Find", "Open"], str) == ["Find", "Open"]
    history.note("Open")
    assert history.ordered(["Find", "Open"], str) == ["Open", "Find"]


def test_the_palette_shows_first_what_it_was_used_for(qtbot: QtBot, tmp_path: Path) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    actions = [QAction(text, window) for text in ("&Open…", "&Export…", "&Find…")]
    palette = CommandPalette(actions, history_in(tmp_path), window)
    qtbot.keyClicks(palette.field, "find")
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    again = CommandPalette(actions, history_in(tmp_path), window)
    items = [again.list.topLevelItem(place) for place in range(again.list.topLevelItemCount())]
    assert [item.text(0) for item in items if item is not None] == ["Find", "Open", "Export"]


def test_words_match_in_any_order() -> None:
    assert matches("File: Save a copy", "copy sa")
    assert not matches("File: Save a copy", "export")


def test_palette_filters_and_triggers(qtbot: QtBot, tmp_path: Path) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    ran: list[str] = []
    actions = [QAction(text, window) for text in ("&Open…", "&Export…", "Hidden", "Off")]
    for action in actions:
        action.triggered.connect(lambda _=False, action=action: ran.append(action.text()))
    actions[2].setVisible(False)
    actions[3].setEnabled(False)
    palette = CommandPalette(actions, history_in(tmp_path), window)
    assert palette.list.topLevelItemCount() == 2
    qtbot.keyClick(palette.field, Qt.Key.Key_Down)
    assert palette.list.currentItem().text(0) == "Export"
    qtbot.keyClicks(palette.field, "exp")
    assert palette.list.topLevelItemCount() == 1
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert ran == ["&Export…"]


# --- crash dialog ------------------------------------------------------------------------------------------


def test_report_has_versions_and_places_and_is_copied(qtbot: QtBot) -> None:
    crash = Crash("ValueError", "  sce_desktop/controllers/jobs.py:1 in run\nValueError\n")
    dialog = CrashDialog(report_of_bug(crash).text(), "An unexpected error stopped one action.")
    qtbot.addWidget(dialog)
    dialog.copy_button.click()
    report = QGuiApplication.clipboard().text()
    assert "Python 3." in report
    assert "sce_desktop/controllers/jobs.py:1 in run" in report
    assert str(Path.home()) not in report
    assert unnamed(dialog) == []


# --- settings ----------------------------------------------------------------------------------------------


def test_settings_dialog_has_a_field_for_each_and_writes_what_changed(qtbot: QtBot, tmp_path: Path) -> None:
    settings = Settings(tmp_path / "settings.json")
    dialog = SettingsDialog(settings)
    qtbot.addWidget(dialog)
    assert set(dialog.fields) == {setting.key for setting in SETTINGS if setting.shown}
    assert all(field.value == settings[key] for key, field in dialog.fields.items())
    theme, threads = dialog.fields["theme"].editor, dialog.fields["threads"].editor
    assert isinstance(theme, QComboBox)
    assert isinstance(threads, QSpinBox)
    theme.setCurrentText("Dark")
    threads.setValue(1)
    with qtbot.waitSignal(dialog.changed) as changed:
        dialog.accept()
    assert changed.args == [{"theme", "threads"}]
    read = Settings.load(tmp_path / "settings.json")
    assert (read["theme"], read["threads"]) == ("dark", 1)
    assert unnamed(dialog) == []


def test_settings_say_what_their_least_value_means(qtbot: QtBot, tmp_path: Path) -> None:
    dialog = SettingsDialog(Settings(tmp_path / "settings.json"))
    qtbot.addWidget(dialog)
    threads = dialog.fields["threads"].editor
    assert isinstance(threads, QSpinBox)
    assert threads.text() == "All but one"
    assert sorted(s.key for _, group in grouped() for s in group) == sorted(dialog.fields)
    dialog.show()
    fields = [dialog.fields[key] for key in ("model", "baseline", "device", "threads")]
    tops = [field.mapTo(dialog, QPoint()).y() for field in fields]
    assert len({below - above for above, below in pairwise(tops)}) <= 2  # no gaps but for a second line


def test_settings_that_cannot_be_written_keep_the_dialog_open(qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    settings = Settings(tmp_path / "file" / "settings.json")
    dialog = SettingsDialog(settings)
    qtbot.addWidget(dialog)
    dialog.show()
    editor = dialog.fields["theme"].editor
    assert isinstance(editor, QComboBox)
    editor.setCurrentText("Dark")
    with qtbot.assertNotEmitted(dialog.changed):
        dialog.accept()
    assert dialog.isVisible()
    assert dialog.problem.isVisible()
    assert settings["theme"] == "system"


# --- elided label ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["gold", "plain", "big", "will it fit?", "Rückmeldungen", "لم تصل", "ab" * 30]
)
def test_a_name_is_whole_at_the_width_that_it_asks_for(theme: Theme, qtbot: QtBot, text: str) -> None:
    label = ElidedLabel()
    qtbot.addWidget(label)
    set_role(label, "title")
    label.show()
    label.setText(text)
    label.resize(label.sizeHint())
    assert label.text() == text
