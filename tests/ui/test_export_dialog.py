"""The export dialog: numbers before writing, and a file that holds what was said."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.query import RowQuery, RowState
from sce_desktop.core.runs import Scores
from sce_desktop.store.project import Project
from sce_desktop.ui.transfer.export_dialog import ExportDialog
from sce_desktop.ui.window.status_bar import StatusBar
from tests.ui.wiring import wired

ROWS = 1000


@pytest.fixture
def project_file(tmp_path: Path) -> Path:
    """1,000 rows in the order 1000..1, 300 labelled, 10 flagged, 5 without text; two models."""
    path = tmp_path / "Parcels.sce"
    with Project.create(path, name="Parcels") as project:
        rows = [(str(ROWS - n), "" if n % 200 == 199 else f"text {n % 7}", "=1+1") for n in range(ROWS)]
        project.add_rows(["id", "text", "formula"], [rows], text_columns=[1], source={"delimiter": ";"})
        labels = project.set_labels([Label("Food, drink"), Label("C# / .NET")]).labels
        ids = [label.id for label in labels if label.id is not None]
        project.decide(range(1, 301), Decision.LABEL, ids[:1])
        for row in range(1, 11):
            project.set_marks(row, flag=True)
        for alias in ("sce", "similarity"):
            run = project.open_run(alias, alias, "m", alias, labels)  # type: ignore[arg-type]
            rows_to_score = project.unscored_ids(run.id)
            half = np.full((len(rows_to_score), 2), 0.5, dtype=np.float32)
            project.add_scores(run.id, rows_to_score, Scores(half))
    return path


@pytest.fixture
def dialog(qtbot: QtBot, controllers: Controllers, project_file: Path, tmp_path: Path) -> ExportDialog:
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(project_file)
    dialog = make(qtbot, controllers)
    dialog.target.path.setText(str(tmp_path / "out.csv"))
    return dialog


def make(qtbot: QtBot, controllers: Controllers) -> ExportDialog:
    dialog = wired(ExportDialog, controllers)()
    qtbot.addWidget(dialog)
    dialog.open()
    qtbot.waitUntil(lambda: dialog._facts is not None)
    return dialog


def export(qtbot: QtBot, controllers: Controllers, dialog: ExportDialog) -> list[dict[str, str]]:
    path = dialog.target.file
    with qtbot.waitSignal(dialog.accepted):
        dialog.export_button.click()
    qtbot.waitUntil(lambda: not controllers.workspace.workers.files.busy)
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=";"))


@pytest.mark.parametrize(
    ("only", "count"), [("all", 1000), ("labelled", 300), ("flagged", 10), ("shown", 10)]
)
def test_number_told_is_the_number_written(
    qtbot: QtBot, controllers: Controllers, project_file: Path, tmp_path: Path, only: str, count: int
) -> None:
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(project_file)
    controllers.navigation.set_query(
        RowQuery(state=RowState.FLAGGED) if only == "shown" else RowQuery(search="text 3")
    )
    dialog = make(qtbot, controllers)
    dialog.target.path.setText(str(tmp_path / "out.csv"))
    dialog.rows.buttons[only].setChecked(True)
    assert dialog.summary.text() == f"{count:,} rows will be exported"
    rows = export(qtbot, controllers, dialog)
    assert len(rows) == count
    assert [int(row["id"]) for row in rows] == list(range(ROWS, ROWS - count, -1))
    assert rows[0]["label"] == "Food, drink"


def test_labelled_rows_are_those_that_the_status_bar_counts(
    qtbot: QtBot, controllers: Controllers, project_file: Path, tmp_path: Path
) -> None:
    with Project.open(project_file) as project:
        project.decide([300, 400], Decision.NONE)
        project.decide([401], Decision.SKIPPED)
    with qtbot.waitSignals([controllers.workspace.projectOpened, controllers.workspace.countsChanged]):
        controllers.projects.open_project(project_file)
    status = StatusBar(controllers.workspace.workers)
    qtbot.addWidget(status)
    status.set_counts(controllers.workspace.counts)
    assert "301 labelled" in status.counts.whole()
    assert "2 rows are labelled “None of these”" in status.counts.toolTip()
    dialog = make(qtbot, controllers)
    dialog.target.path.setText(str(tmp_path / "out.csv"))
    button = dialog.rows.buttons["labelled"]
    button.setChecked(True)
    assert button.text() == "Labelled rows  ·  301"
    assert dialog.summary.text() == "301 rows will be exported, 2 marked “none of these”"
    rows = export(qtbot, controllers, dialog)
    assert [row["id"] for row in rows if row["decided"] == "none"] == [str(ROWS - 299), str(ROWS - 399)]
    assert len(rows) == 301


def test_columns_are_chosen_by_group(qtbot: QtBot, controllers: Controllers, dialog: ExportDialog) -> None:
    assert dialog.columns.chosen is None
    dialog.columns.boxes["probabilities"].setChecked(False)
    dialog.columns.boxes["similarity"].setChecked(False)
    names = list(export(qtbot, controllers, dialog)[0])
    assert names == [
        *("id", "text", "formula"),
        *("label", "decided", "unsure", "flag", "note", "decided_at"),
        *("sce_label", "sce_confidence", "sce_status"),
        *("final_label", "final_source"),
    ]


def test_nothing_to_write_is_refused_in_place(dialog: ExportDialog) -> None:
    for box in dialog.columns.boxes.values():
        box.setChecked(False)
    assert not dialog.export_button.isEnabled()
    assert dialog.problem.text() == "Choose at least one group of columns."


def test_an_existing_file_is_asked_for_in_place(
    qtbot: QtBot, controllers: Controllers, dialog: ExportDialog, tmp_path: Path
) -> None:
    (tmp_path / "out.csv").write_text("mine", encoding="utf-8")
    dialog.target.path.setText(str(tmp_path / "other.csv"))
    assert not dialog.target.replace.isVisible()
    dialog.target.path.setText(str(tmp_path / "out.csv"))
    assert dialog.target.replace.isVisible()
    assert not dialog.export_button.isEnabled()
    dialog.accept()
    assert dialog.isVisible()
    dialog.target.replace.setChecked(True)
    assert len(export(qtbot, controllers, dialog)) == ROWS


def test_format_and_ending_follow_each_other(dialog: ExportDialog, tmp_path: Path) -> None:
    dialog.target.path.setText(str(tmp_path / "out.parquet"))
    assert dialog.target.format.currentData() == ".parquet"
    assert not dialog.target.excel_safe.isVisible()
    place = dialog.target.format.findData(".xlsx")
    dialog.target.format.setCurrentIndex(place)
    dialog.target.format.activated.emit(place)
    assert dialog.target.file.name == "out.xlsx"
    assert dialog.target.excel_safe.isChecked()
    assert not dialog.target.excel_safe.isEnabled()
    dialog.target.path.setText(str(tmp_path / "out.csv"))
    assert not dialog.target.excel_safe.isChecked()


def test_excel_safe_is_offered_and_explained(
    qtbot: QtBot, controllers: Controllers, dialog: ExportDialog
) -> None:
    assert "negative numbers" in dialog.target.excel_hint.text()
    assert "Delimiter: Semicolon, as imported." in dialog.target.excel_hint.text()
    dialog.target.excel_safe.setChecked(True)
    assert export(qtbot, controllers, dialog)[0]["formula"].startswith("'")


def test_csv_is_exact_unless_asked(qtbot: QtBot, controllers: Controllers, dialog: ExportDialog) -> None:
    assert export(qtbot, controllers, dialog)[0]["formula"] == "=1+1"


def test_the_models_are_named_beside_a_csv(
    qtbot: QtBot, controllers: Controllers, dialog: ExportDialog
) -> None:
    assert dialog.target.note.isVisible()
    beside = dialog.target.file.with_name("out.csv.about.txt")
    export(qtbot, controllers, dialog)
    assert "sce: m; 995 rows scored with 2 labels" in beside.read_text(encoding="utf-8")
    beside.unlink()
    again = make(qtbot, controllers)
    again.target.path.setText(str(dialog.target.file))
    again.target.replace.setChecked(True)
    again.target.note.setChecked(False)
    export(qtbot, controllers, again)
    assert not beside.exists()
    again = make(qtbot, controllers)
    again.target.format.setCurrentIndex(again.target.format.findData(".xlsx"))
    again.target.format.activated.emit(again.target.format.currentIndex())
    assert not again.target.note.isVisible()  # a workbook says it itself


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("", "Choose a file to write"),
        ("missing/out.csv", "does not exist"),
        ("out.doc", ".csv"),
        ("relative.csv", "does not exist"),
    ],
)
def test_bad_places_are_one_sentence(dialog: ExportDialog, tmp_path: Path, name: str, sentence: str) -> None:
    dialog.target.path.setText(str(tmp_path / name) if name and "relative" not in name else name)
    assert sentence in dialog.problem.text()
    assert not dialog.export_button.isEnabled()


def test_last_folder_is_remembered(
    qtbot: QtBot, controllers: Controllers, dialog: ExportDialog, tmp_path: Path
) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    dialog.target.path.setText(str(folder / "out.csv"))
    export(qtbot, controllers, dialog)
    assert make(qtbot, controllers).target.file.parent == folder


def test_dialog_goes_with_the_project(qtbot: QtBot, controllers: Controllers, dialog: ExportDialog) -> None:
    with qtbot.waitSignal(dialog.rejected):
        controllers.projects.close_project()


def test_everything_has_a_name(dialog: ExportDialog) -> None:
    controls = [
        *dialog.findChildren(QAbstractButton),
        *dialog.findChildren(QLineEdit),
        *dialog.findChildren(QComboBox),
    ]
    assert [c for c in controls if not c.accessibleName() and not c.objectName().startswith("qt_")] == []


def test_a_file_for_another_tool(
    qtbot: QtBot, controllers: Controllers, dialog: ExportDialog, tmp_path: Path
) -> None:
    dialog.target.format.setCurrentIndex(dialog.target.format.findData("label-studio"))
    dialog.target.format.activated.emit(dialog.target.format.currentIndex())
    assert dialog.target.file == tmp_path / "out.json"
    assert "Not kept:" in dialog.target.excel_hint.text()
    assert not any(box.isEnabled() for box in dialog.columns.boxes.values())
    assert not dialog.target.excel_safe.isVisible()
    (tmp_path / "out.interface.xml").write_text("mine", encoding="utf-8")
    dialog.target.path.setText(str(tmp_path / "out.csv.json"))
    dialog.target.path.setText(str(tmp_path / "out.json"))
    assert dialog.target.exchange == "label-studio"
    assert "out.interface.xml" in dialog.target.replace.text()
    assert not dialog.export_button.isEnabled()
    dialog.target.replace.setChecked(True)
    dialog.rows.buttons["flagged"].setChecked(True)
    with qtbot.waitSignal(dialog.accepted):
        dialog.export_button.click()
    qtbot.waitUntil(lambda: not controllers.workspace.workers.files.busy)
    tasks = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert [task["id"] for task in tasks] == list(range(1, 11))
    assert tasks[0]["annotations"][0]["result"][0]["value"] == {"choices": ["Food, drink"]}
    assert "Food, drink" in (tmp_path / "out.interface.xml").read_text(encoding="utf-8")


def test_what_comes_later_has_room(dialog: ExportDialog, qtbot: QtBot) -> None:
    """Drafts, and files that are in the way, come when the dialog has its size: its note has two lines."""
    assert dialog._facts is not None
    dialog._facts = replace(dialog._facts, drafts=5)
    dialog.target.show_facts(dialog._facts)
    dialog.target.file.touch()
    dialog.target.path.textChanged.emit(dialog.target.path.text())
    assert dialog.target.drafts.isVisible()
    assert dialog.target.replace.isVisible()

    def has_room() -> bool:
        hint = dialog.target.excel_hint
        return hint.height() >= hint.heightForWidth(hint.width()) > 1.5 * hint.fontMetrics().height()

    qtbot.waitUntil(has_room)


def test_drafts_are_not_offered_where_none_are_written(dialog: ExportDialog) -> None:
    assert dialog._facts is not None
    dialog._facts = replace(dialog._facts, drafts=5, shown_drafts=123)
    dialog.target.show_facts(dialog._facts)
    dialog.rows.buttons["shown"].setChecked(True)
    dialog.target.drafts.setChecked(True)
    assert dialog.target.drafts.isVisible()
    assert "123" in dialog.summary.text()
    for key, offered in (("label-studio", False), (".csv", True)):
        dialog.target.format.setCurrentIndex(dialog.target.format.findData(key))
        dialog.target.format.activated.emit(dialog.target.format.currentIndex())
        assert dialog.target.drafts.isVisible() is offered
        assert ("123" in dialog.summary.text()) is offered


def test_back_to_a_table(dialog: ExportDialog, tmp_path: Path) -> None:
    for key, ending in (("argilla", ".json"), (".xlsx", ".xlsx"), ("qda-xml", ".qdpx"), (".csv", ".csv")):
        dialog.target.format.setCurrentIndex(dialog.target.format.findData(key))
        dialog.target.format.activated.emit(dialog.target.format.currentIndex())
        assert dialog.target.file == tmp_path / f"out{ending}"
        assert dialog.target.exchange == ("" if key.startswith(".") else key)
    assert all(box.isEnabled() for box in dialog.columns.boxes.values())
