"""The window itself: start, import, review, and what it shows of odd texts and names."""

from __future__ import annotations

import csv

from pictures.material import (
    GERMAN,
    LANGUAGE_LABELS,
    LANGUAGES,
    LONG_LABELS,
    ROOT,
    sample_labels,
    sample_texts,
)
from pictures.studio import Studio
from sce_desktop.core.choices import ImportChoices
from sce_desktop.core.tables import TableOptions


def start(studio: Studio) -> None:
    """The start page, at the first time and later."""
    studio.rest(1)
    studio.shot("start-first")
    studio.sample()
    studio.open_table(studio.table("Answers May.csv", sample_texts()[:40]))
    studio.controllers.projects.close_project()
    studio.until(lambda: studio.controllers.workspace.project is None)
    studio.shot("start")
    studio.window.drops.cue.show_words("Drop to import “messages.csv”")
    studio.shot("start-drag")
    studio.window.drops.cue.hide()


def imports(studio: Studio) -> None:
    """The import dialog on a table with faults, on one with right answers, and on a file that is none."""
    from PySide6.QtCore import Qt

    from sce_desktop.ui.transfer.import_dialog import ImportDialog

    texts = sample_texts()[:60]
    path = studio.table(
        "Feedback, June – July.csv", [*texts, "", *texts[:4], *(text for text, _ in LANGUAGES)]
    )
    with path.open("ab") as file:
        file.write(b'T-1,one cell,too many\r\nT-2,"never closed, \r\nT-3,again\r\n')
    with studio.importing(path) as dialog:
        studio.shot("import", dialog)
    with studio.importing(ROOT / "resources" / "sample" / "parcel_feedback.csv") as dialog:
        assert isinstance(dialog, ImportDialog)
        columns = dialog.columns
        columns.label_column.setCurrentText("gold")
        columns.label_column.activated.emit(columns.label_column.currentIndex())
        columns.use.setCurrentIndex(1)
        studio.until(lambda: dialog.reader.scan is not None)
        studio.shot("import-gold", dialog)
    wide = studio.home / "Thirty columns.csv"
    lines = [[f"column {n}" for n in range(30)], *([text] * 30 for text in texts)]
    with wide.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(lines)
    with studio.importing(wide) as dialog:
        assert isinstance(dialog, ImportDialog)
        columns = dialog.columns
        for place in (3, 4):
            columns.text_list.item(place).setCheckState(Qt.CheckState.Checked)
        columns.label_column.setCurrentIndex(8)
        columns.label_column.activated.emit(8)
        columns.use.setCurrentIndex(1)
        studio.until(lambda: dialog.reader.scan is not None)
        studio.shot("import-wide", dialog)
    wrong = studio.home / "archive.csv"
    wrong.write_bytes(b"PK\x03\x04" + bytes(range(256)) * 20)
    with studio.importing(wrong) as dialog:
        studio.shot("import-error", dialog)


def labels_empty(studio: Studio) -> None:
    """A table without labels."""
    studio.open_table(studio.table("Answers.csv", sample_texts()[:80]))
    studio.shot("labels-empty")


def running(studio: Studio) -> None:
    """While rows are scored."""
    texts = [f"{text} ({n})" for n in range(8) for text in sample_texts()]
    studio.open_table(studio.table("Running.csv", texts), sample_labels())
    studio.controllers.scorer.score()
    studio.until(lambda: any(run.scored for run in studio.controllers.workspace.runs))
    studio.window.strip.hide()
    studio.shot("running", rest=1.2)
    studio.bring("Jobs and log")
    studio.shot("jobs")
    studio.controllers.scorer.stop()
    studio.until(lambda: studio.controllers.scorer.job is None)


def adding(studio: Studio) -> None:
    """Rows for the open project, with labels of their own."""
    from sce_desktop.ui.transfer.import_dialog import ImportDialog

    texts = sample_texts()
    studio.open_table(studio.table("Answers so far.csv", texts[:40]), sample_labels())
    more = studio.home / "Answers of June.csv"
    with more.open("w", encoding="utf-8", newline="") as file:
        rows = [(label, text) for label, text in zip(sample_labels() * 5, texts[30:70], strict=True)]
        csv.writer(file).writerows([("ticket", "message"), *rows])
    studio.window.file_commands.show_import(more, append=True)
    dialog = studio.window.findChildren(ImportDialog)[-1]
    studio.until(lambda: dialog.reader.scan is not None)
    dialog.columns.label_column.setCurrentIndex(1)
    dialog.columns.changed.emit()
    studio.until(lambda: dialog.reader.scan is not None)
    studio.rest(0.3)
    studio.shot("add-rows", dialog)
    dialog.reject()


def main_window(studio: Studio) -> None:
    """The sample, scored; then what the models disagree on; dialogs over it."""
    from sce_desktop.controllers.crashes import Crash
    from sce_desktop.core.annotations import Decision
    from sce_desktop.core.query import RowQuery
    from sce_desktop.ui.kit.palette import CommandPalette
    from sce_desktop.ui.transfer.export_dialog import ExportDialog
    from sce_desktop.ui.window.crash_dialog import CrashDialog
    from sce_desktop.ui.window.settings_dialog import SettingsDialog

    studio.sample()
    studio.shot("main")
    studio.controllers.edits.decide([5, 29], Decision.NONE)
    window, controllers = studio.window, studio.controllers
    ours, theirs = (run.id for run in controllers.workspace.runs)
    controllers.navigation.set_query(RowQuery(compare=(ours, theirs), disagree=True))
    studio.rest(0.5)
    controllers.navigation.stepAsked.emit(3)
    studio.shot("disagreeing")
    controllers.navigation.set_query(RowQuery(search="no such words"))
    studio.shot("nothing-found")
    controllers.navigation.set_query(RowQuery())
    controllers.scorer.set_model(str(studio.home / "no model"))
    studio.rest(1)
    studio.shot("error")
    window.strip.hide()
    window.file_commands.ask_export()
    studio.rest()
    export = window.findChildren(ExportDialog)[-1]
    export.target.path.setText(str(studio.home / "Parcel feedback labelled.csv"))
    export.rows.buttons["labelled"].setChecked(True)
    studio.shot("export", export)
    export.reject()
    window.settings_commands.show_settings()
    settings = window.findChildren(SettingsDialog)[-1]
    studio.shot("settings", settings)
    settings.reject()
    window.crash_reports.show_crash(
        Crash("ZeroDivisionError", "  sce_desktop/ui/rows/rows_view.py:120 in _show\nZeroDivisionError")
    )
    crash = window.findChildren(CrashDialog)[-1]
    studio.shot("crash", crash)
    crash.reject()
    window.show_palette()
    studio.shot("palette")
    for palette in window.findChildren(CommandPalette):
        palette.close()


def long_names(studio: Studio) -> None:
    """Names and texts that are too long for their place."""
    texts = ["word " * 900, "OneWordWithoutAnySpace" * 60, "Line\n" * 60, *sample_texts()[:30]]
    studio.open_table(
        studio.table("A project with a name that nobody would read to its end.csv", texts), LONG_LABELS
    )
    studio.score()
    studio.shot("long-names")


def languages(studio: Studio) -> None:
    """Arabic, Chinese, emoji and others."""
    studio.open_table(studio.table("多语言 – لغات.csv", [text for text, _ in LANGUAGES]), LANGUAGE_LABELS)
    studio.score()
    for row_id, name in ((1, "languages-arabic"), (3, "languages-chinese"), (7, "languages-emoji")):
        studio.controllers.navigation.set_current_row(row_id)
        studio.shot(name)


def model_choice(studio: Studio) -> None:
    """German rows: the model that is proposed, the other one, none that reads them; an offer later on."""
    from sce_desktop.tasks.scoring import choice
    from sce_desktop.ui.transfer.import_dialog import ImportDialog

    here, german = choice.is_here, studio.table("Rückmeldungen.csv", GERMAN * 4)
    choice.is_here = lambda _name: True
    with studio.importing(german) as dialog:
        assert isinstance(dialog, ImportDialog)
        studio.shot("choice", dialog)
        models = dialog.scored_by.models
        models.setCurrentIndex(0)
        models.activated.emit(0)
        studio.shot("choice-other", dialog)
    choice.is_here = lambda _name: False
    with studio.importing(german) as dialog:
        studio.shot("choice-missing", dialog)
    studio.open_table(studio.table("Feedback.csv", sample_texts()[:40]), sample_labels())
    choice.is_here = lambda _name: True
    advice = studio.controllers.advice
    studio.until(lambda: not advice._soon.isActive() and advice._job is not None and not advice._job.active)
    choices = ImportChoices(german, TableOptions(), (1,), append=True)
    studio.controllers.projects.import_table(choices)
    studio.until(lambda: bool(advice.warning))
    studio.shot("choice-later")
    choice.is_here = here


SCENES = {
    "start": start,
    "imports": imports,
    "labels_empty": labels_empty,
    "running": running,
    "adding": adding,
    "main_window": main_window,
    "long_names": long_names,
    "languages": languages,
    "model_choice": model_choice,
}
