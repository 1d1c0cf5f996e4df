"""Start page, crash and settings dialog, choosers and labels that are short, each alone."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QSpinBox
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.crash_reports import report_of_bug
from sce_desktop.controllers.crashes import Crash
from sce_desktop.controllers.recent import RecentProjects
from sce_desktop.core.i18n import LANGUAGES, PSEUDO
from sce_desktop.settings import SETTINGS, Settings
from sce_desktop.tasks.scoring.models import Baseline
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.kit.elided_label import ElidedLabel
from sce_desktop.ui.kit.theme import LIGHT, set_role
from sce_desktop.ui.window.crash_dialog import CrashDialog
from sce_desktop.ui.window.model_chooser import CHOOSERS, ModelChooser
from sce_desktop.ui.window.settings_dialog import SettingsDialog, grouped
from sce_desktop.ui.window.start_page import StartPage, ago
from tests.ui.accessible import without_name

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
    assert without_name(page) == []


# --- choosers --------------------------------------------------------------------------------------------


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
    assert without_name(dialog) == []


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
    assert without_name(dialog) == []


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
