"""The import dialog: what is seen and told before anything is imported, and what is handed over."""

from __future__ import annotations

import itertools
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import JobState
from sce_desktop.core.annotations import Decision, Label, Origin
from sce_desktop.core.choices import ImportChoices
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.tables import TableOptions
from sce_desktop.store.project import Project
from sce_desktop.tasks.tables import scan
from sce_desktop.tasks.tables.tables import export_table
from sce_desktop.ui.transfer.import_dialog import ImportDialog
from tests.ui.conftest import MakeProject
from tests.ui.wiring import wired

ROLE, CHECKED, UNCHECKED = Qt.ItemDataRole.DisplayRole, Qt.CheckState.Checked, Qt.CheckState.Unchecked


def show(
    qtbot: QtBot, controllers: Controllers, path: Path, *, append: bool = False, wait: bool = True
) -> ImportDialog:
    dialog = wired(ImportDialog, controllers)(path, append=append)
    qtbot.addWidget(dialog)
    dialog.open()
    if wait:
        settle(qtbot, dialog)
    return dialog


def settle(qtbot: QtBot, dialog: ImportDialog) -> None:
    """Wait until the table is looked at and counted, or cannot be."""
    qtbot.waitUntil(
        lambda: (
            (dialog._preview_job is None or not dialog._preview_job.active)
            and (dialog._scanning is None or not dialog._scanning.active)
        )
    )


def choose(combo: QComboBox, value: object) -> None:
    place = combo.findData(value)
    assert place >= 0, value
    combo.setCurrentIndex(place)
    combo.activated.emit(place)


def headers(dialog: ImportDialog) -> list[str]:
    columns = range(dialog.model.columnCount())
    return [dialog.model.headerData(column, Qt.Orientation.Horizontal) for column in columns]


def column(dialog: ImportDialog, place: int) -> list[str]:
    return [dialog.model.index(row, place).data() for row in range(dialog.model.rowCount())]


def check(dialog: ImportDialog, *places: int) -> None:
    items = dialog.columns.text_list
    for place in range(items.count()):
        items.item(place).setCheckState(CHECKED if place in places else UNCHECKED)


def imported(qtbot: QtBot, controllers: Controllers, dialog: ImportDialog) -> Project:
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        dialog.accept()
    assert controllers.workspace.project is not None
    return controllers.workspace.project


@pytest.fixture
def parcels(tmp_path: Path) -> Path:
    path = tmp_path / "parcels.csv"
    path.write_text(
        "ref;text;topic\n1;Two days late;Late\n2;;\n3;Box crushed;Damaged\n4;Two days late;late \n"
        "5;وصلت الشحنة متأخرة جداً;Late\n",
        encoding="utf-8",
    )
    return path


# --- what is seen ------------------------------------------------------------------------------------------


def test_a_table_is_shown_counted_and_imported(qtbot: QtBot, controllers: Controllers, parcels: Path) -> None:
    dialog = show(qtbot, controllers, parcels)
    assert headers(dialog) == ["ref", "text", "topic"]
    assert dialog.columns.text_columns == (1,)
    assert dialog.facts.headline.text() == "5 rows"
    told = " ".join(dialog.facts.texts())
    assert "1 row without text" in told
    assert "1 row repeats" in told
    assert "1 row in Arabic script" in told
    assert dialog.import_button.text() == "Import 5 rows"
    project = imported(qtbot, controllers, dialog)
    assert (project.row_count(), project.name, project.text_columns) == (5, "parcels", (1,))


def test_what_is_to_be_said_of_the_file_stands_in_the_dialog(
    qtbot: QtBot, controllers: Controllers, parcels: Path
) -> None:
    said = "Only “parcels.csv” is opened: 1 other file was dropped with it."
    dialog = wired(ImportDialog, controllers)(parcels, message=said)
    qtbot.addWidget(dialog)
    dialog.open()
    assert dialog.message.isVisible()
    assert dialog.message.text() == said
    settle(qtbot, dialog)
    assert not show(qtbot, controllers, parcels).message.isVisible()


def test_where_the_rows_of_a_document_are_is_reported(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    path = tmp_path / "answers.json"
    path.write_text('{"results": {"items": [\n{"text": "late", "n": 1},\n{"text": "\u200b", "n": 2}\n]}}')
    dialog = show(qtbot, controllers, path)
    assert headers(dialog) == ["text", "n"]
    assert dialog.facts.headline.text() == "2 rows"
    told = " ".join(dialog.facts.texts())
    assert "“results.items”" in told
    assert "1 row without text" in told
    project = imported(qtbot, controllers, dialog)
    assert (project.row_count(), project.blank_count()) == (2, 1)


@pytest.mark.parametrize(
    ("encoding", "shown"), [("cp1252", "CP1252"), ("utf-16", "UTF-16"), ("utf-8", "UTF-8")]
)
def test_encoding_is_guessed_and_shown(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path, encoding: str, shown: str
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("id,text\n1,Müsli für Zoë – 5 €\n".encode(encoding))
    dialog = show(qtbot, controllers, path)
    assert column(dialog, 1) == ["Müsli für Zoë – 5 €"]
    assert dialog.reading.encoding.currentText().startswith(shown)


def test_another_encoding_is_previewed_at_once(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    """The guess can be changed."""
    path = tmp_path / "a.csv"
    path.write_bytes("id,text\n1,Müsli\n".encode())
    dialog = show(qtbot, controllers, path)
    choose(dialog.reading.encoding, "cp1252")
    settle(qtbot, dialog)
    assert column(dialog, 1) == ["MÃ¼sli"]
    project = imported(qtbot, controllers, dialog)
    assert project.texts([1]) == ["MÃ¼sli"]


def test_header_has_no_byte_order_mark(qtbot: QtBot, controllers: Controllers, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbftext,label\nroof leaks,damage\n")
    dialog = show(qtbot, controllers, path)
    assert headers(dialog) == ["text", "label"]
    assert dialog.columns.text_columns == (0,)


def test_delimiter_header_and_quotes_are_changed_live(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    """The user's choice overrides; quotes as plain text."""
    path = tmp_path / "a.csv"
    path.write_text('id;text;price\n1;"red, green";3,50\n2;one, two;4,00\n', encoding="utf-8")
    dialog = show(qtbot, controllers, path)
    assert dialog.reading.delimiter.currentData() == ";"
    assert len(headers(dialog)) == 3
    choose(dialog.reading.delimiter, "")
    settle(qtbot, dialog)
    assert headers(dialog) == ["id;text;price"]
    choose(dialog.reading.delimiter, ";")
    dialog.reading.header_row.setValue(0)
    settle(qtbot, dialog)
    assert dialog.model.rowCount() == 3
    assert dialog.reading.header_row.text() == "None"
    choose(dialog.reading.quoting, False)
    settle(qtbot, dialog)
    assert column(dialog, 1)[1] == '"red, green"'


def test_problems_are_listed_and_quotes_can_be_text(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        'id;text\n1;"Fast" delivery, slow refund\n2;"she said ""never again"""\n3;5" pipe\n'
        '4;"unclosed starts here\n5;fine\n',
        encoding="utf-8",
    )
    dialog = show(qtbot, controllers, path)
    assert dialog.facts.headline.text() == "5 rows"
    assert dialog.facts.problems.item(0).text().startswith("Line 5: ")
    assert column(dialog, 1)[:3] == ['"Fast" delivery, slow refund', 'she said "never again"', '5" pipe']
    dialog.facts.quotes_button.click()
    settle(qtbot, dialog)
    assert dialog.facts.problems.count() == 0
    assert column(dialog, 1)[1] == '"she said ""never again"""'


def test_a_newer_request_supersedes_the_older(qtbot: QtBot, controllers: Controllers, parcels: Path) -> None:
    dialog = show(qtbot, controllers, parcels, wait=False)
    first = dialog._preview_job
    heard: list[object] = []
    assert first is not None
    first.finished.connect(heard.append)
    dialog.reading.quotes_as_text()
    settle(qtbot, dialog)
    assert heard == []
    assert dialog._look is not None
    assert dialog._look.preview.options.quoting is False


def test_sheets_are_offered(qtbot: QtBot, controllers: Controllers, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "First"
    book.active.append(["text"])
    book.active.append(["one"])
    other = book.create_sheet("Second")
    other.append(["message"])
    other.append(["two"])
    book.save(tmp_path / "book.xlsx")
    dialog = show(qtbot, controllers, tmp_path / "book.xlsx")
    assert dialog.reading.sheet.isVisible()
    assert not dialog.reading.delimiter.isVisible()
    choose(dialog.reading.sheet, "Second")
    settle(qtbot, dialog)
    assert headers(dialog) == ["message"]
    assert column(dialog, 0) == ["two"]


def test_marks_say_why(qtbot: QtBot, controllers: Controllers, parcels: Path) -> None:
    dialog = show(qtbot, controllers, parcels)
    assert [dialog.model.mark(row) for row in range(5)] == [
        "",
        "No text: kept, but never scored",
        "",
        "",
        "sce-mini cannot read Arabic script",
    ]


def test_long_cells_and_tags_are_shown_plainly(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    """No cell is too long."""
    path = tmp_path / "a.csv"
    path.write_text(f"text\n{'word ' * 60000}\n<b>ok</b>\n", encoding="utf-8")
    dialog = show(qtbot, controllers, path)
    assert len(column(dialog, 0)[0]) == 300
    tip = dialog.model.index(1, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert tip == "<qt>&lt;b&gt;ok&lt;/b&gt;</qt>"


# --- what is chosen ----------------------------------------------------------------------------------------


def test_several_text_columns_are_joined(qtbot: QtBot, controllers: Controllers, parcels: Path) -> None:
    dialog = show(qtbot, controllers, parcels)
    check(dialog, 1, 2)
    settle(qtbot, dialog)
    assert dialog.columns.joined.text().startswith("2 columns")
    project = imported(qtbot, controllers, dialog)
    assert project.texts([1]) == ["Two days late\nLate"]


def test_without_a_text_column_there_is_no_import(
    qtbot: QtBot, controllers: Controllers, parcels: Path
) -> None:
    dialog = show(qtbot, controllers, parcels)
    check(dialog)
    assert not dialog.import_button.isEnabled()
    assert dialog.problem.text() == "Choose the text column."


def test_a_label_column_becomes_imported_annotations(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    """The header and the names are taken as they stand. As typed unless told to merge."""
    path = tmp_path / "a.csv"
    path.write_text("text, label \na,Billing\nb,billing \nc,BILLING\nd,Refund\n", encoding="utf-8")
    dialog = show(qtbot, controllers, path)
    choose(dialog.columns.label_column, 1)
    choose(dialog.columns.use, False)
    settle(qtbot, dialog)
    assert dialog.columns.merge.isVisible()
    assert "“Billing”, “billing ” and “BILLING”" in dialog.columns.alike.text()
    project = imported(qtbot, controllers, dialog)
    assert [label.name for label in controllers.workspace.labels] == [
        "Billing",
        "billing ",
        "BILLING",
        "Refund",
    ]
    assert {a.origin for a in project.annotations([1, 2, 3, 4]).values()} == {Origin.IMPORTED}


LISTS = """text,tags,mood
a,"[""Desire"", ""Disgust""]",x
b,"[""Disgust""]",x
c,[],y
d,,y
e,Joy,y
"""


def test_lists_of_labels_are_taken_apart(qtbot: QtBot, controllers: Controllers, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(LISTS, encoding="utf-8")
    dialog = show(qtbot, controllers, path)
    choose(dialog.columns.label_column, 2)
    settle(qtbot, dialog)
    assert not dialog.columns.several.isVisible()
    choose(dialog.columns.label_column, 1)
    settle(qtbot, dialog)
    assert dialog.columns.several.isVisible()
    assert dialog.columns.several.isChecked()
    told = "\n".join(dialog.facts.texts())
    assert "The label column has lists of labels: a row may have several." in told
    assert "3 labels: “Desire” 1, “Disgust” 2 and “Joy” 1" in told
    project = imported(qtbot, controllers, dialog)
    assert controllers.workspace.label_set is not None
    assert controllers.workspace.label_set.multi_label
    assert [label.name for label in controllers.workspace.labels] == ["Desire", "Disgust", "Joy"]
    desire, disgust, joy = (label.id for label in controllers.workspace.labels)
    found = project.annotations([1, 2, 3, 4, 5])
    assert {row: a.label_ids for row, a in found.items()} == {
        1: (desire, disgust),
        2: (disgust,),
        3: (),
        5: (joy,),
    }
    assert found[3].decision is Decision.NONE
    assert {a.origin for a in found.values()} == {Origin.IMPORTED}


def test_lists_of_labels_can_be_left_as_they_stand(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(LISTS, encoding="utf-8")
    dialog = show(qtbot, controllers, path)
    choose(dialog.columns.label_column, 1)
    settle(qtbot, dialog)
    dialog.columns.several.click()
    assert dialog.columns.several.isVisible()
    settle(qtbot, dialog)
    assert dialog.columns.several.isVisible()
    told = "\n".join(dialog.facts.texts())
    assert "each list is one label" in told
    assert "4 labels" in told
    imported(qtbot, controllers, dialog)
    assert controllers.workspace.label_set is not None
    assert not controllers.workspace.label_set.multi_label
    assert controllers.workspace.labels[0].name == '["Desire", "Disgust"]'


@pytest.mark.parametrize("as_gold", [False, True])
def test_lists_of_labels_come_with_added_rows(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path, as_gold: bool
) -> None:
    path, more = tmp_path / "a.csv", tmp_path / "more.csv"
    path.write_text("text,tags,mood\nz,,x\n", encoding="utf-8")
    more.write_text(LISTS, encoding="utf-8")
    project = imported(qtbot, controllers, show(qtbot, controllers, path))
    dialog = show(qtbot, controllers, more, append=True)
    choose(dialog.columns.label_column, 1)
    choose(dialog.columns.use, as_gold)
    settle(qtbot, dialog)
    assert dialog.columns.several.isVisible()
    with qtbot.waitSignal(controllers.workspace.rowsChanged):
        dialog.accept()
    assert controllers.workspace.label_set is not None
    assert controllers.workspace.label_set.multi_label
    ids = {label.name: label.id for label in controllers.workspace.labels}
    assert set(ids) == {"Desire", "Disgust", "Joy"}
    if as_gold:
        (gold,) = project.coders()
        assert project.coder_answers(gold.id)[2] == {ids["Desire"], ids["Disgust"]}
    else:
        assert project.annotations([2])[2].label_ids == (ids["Desire"], ids["Disgust"])


def test_names_from_right_to_left_move_no_count(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    path = tmp_path / "arabic.csv"
    path.write_text("text,label\n" + "a,شكوى\nb,شكوى\nc,سؤال\nd,Late\n", encoding="utf-8")
    dialog = show(qtbot, controllers, path)
    choose(dialog.columns.label_column, 1)
    settle(qtbot, dialog)
    (said,) = [text for text in dialog.facts.texts() if "3 labels" in text]
    # each name is isolated: without that the bidi algorithm draws its count among the other name's letters
    assert said == "3 labels: “\u2068شكوى\u2069” 2, “\u2068سؤال\u2069” 1 and “Late” 1."
    assert "The labels are in Arabic, which sce-mini cannot read." in dialog.facts.texts()


def test_a_label_column_becomes_right_answers(qtbot: QtBot, controllers: Controllers, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,label\na,Billing\nb,\nc,Refund\n", encoding="utf-8")
    dialog = show(qtbot, controllers, path)
    choose(dialog.columns.label_column, None)
    assert not dialog.columns.use.isVisible()
    choose(dialog.columns.label_column, 1)
    settle(qtbot, dialog)
    assert "Rows stay unlabelled" in dialog.columns.use_words.text()
    choose(dialog.columns.use, False)
    assert "marked as imported" in dialog.columns.use_words.text()
    choose(dialog.columns.use, True)
    assert "Rows stay unlabelled" in dialog.columns.use_words.text()
    project = imported(qtbot, controllers, dialog)
    assert [label.name for label in controllers.workspace.labels] == ["Billing", "Refund"]
    assert project.annotations([1, 2, 3]) == {}
    (gold,) = project.coders()
    assert (gold.name, gold.source, gold.rows) == ("gold", "column label", 2)
    path.write_text("text,label\nd,Other\n", encoding="utf-8")
    more = show(qtbot, controllers, path, append=True)
    choose(more.columns.label_column, 1)
    choose(more.columns.use, True)
    settle(qtbot, more)
    with qtbot.waitSignal(controllers.workspace.rowsChanged):
        more.accept()
    (gold,) = project.coders()
    billing, refund, other = (label.id for label in controllers.workspace.labels)
    assert project.coder_answers(gold.id) == {1: {billing}, 3: {refund}, 4: {other}}


@pytest.mark.parametrize("name", ["gold", "Expected label", "y_true", "annotation", "class"])
def test_a_full_column_named_like_gold_leaves_the_rows_to_review(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"id,message,{name}\n1,Came late,Late\n2,All fine,Fine\n3,Late again,Late\n4,?,\n")
    dialog = show(qtbot, controllers, path)
    columns = dialog.columns
    assert (columns.label, columns.use.currentText()) == (2, "As gold labels (for evaluation)")
    assert columns.use_words.isVisible()  # what that means is told before anything is imported
    assert columns.use_words.text() == (
        "Rows stay unlabelled. The gold label appears after you label a row. Used in Evaluate and Agreement."
    )
    project = imported(qtbot, controllers, dialog)
    assert project.annotations([1, 2, 3, 4]) == {}
    (gold,) = project.coders()
    assert gold.rows == 3


def test_a_column_that_somebody_has_begun_is_offered_as_annotations(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("message,label,gold\nCame late,Late,Late\nAll fine,,Fine\nLate again,,Late\nOdd,,Fine\n")
    dialog = show(qtbot, controllers, path)
    columns = dialog.columns
    choose(columns.label_column, 1)
    assert columns.use.currentText() == "As your annotations"
    assert columns.use_words.text() == (
        "Used as the rows' labels, marked as imported. Only rows without a label are left to review."
    )
    choose(columns.label_column, 2)
    assert columns.use.currentText() == "As gold labels (for evaluation)"
    choose(columns.use, False)  # said by hand: it holds
    choose(columns.label_column, None)
    assert not columns.use.isVisible()
    choose(columns.label_column, 1)
    settle(qtbot, dialog)
    project = imported(qtbot, controllers, dialog)
    assert list(project.annotations([1, 2, 3, 4])) == [1]


def test_labels_that_look_alike_are_merged_if_wanted(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    """As typed unless told to merge."""
    path = tmp_path / "a.csv"
    path.write_text("text,label\na,Billing\nb,billing \nc,BILLING\nd,Refund\n", encoding="utf-8")
    dialog = show(qtbot, controllers, path)
    choose(dialog.columns.label_column, 1)
    choose(dialog.columns.use, False)
    settle(qtbot, dialog)
    dialog.columns.merge.setChecked(True)
    project = imported(qtbot, controllers, dialog)
    qtbot.waitUntil(lambda: [label.name for label in controllers.workspace.labels] == ["Billing", "Refund"])
    billing = controllers.workspace.labels[0].id
    assert [project.annotations([row])[row].label_ids for row in (1, 2, 3)] == [(billing,)] * 3


def test_our_own_export_comes_back(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, tmp_path: Path
) -> None:
    out = tmp_path / "again.csv"
    with Project.open(make_project(labels=("Late", "Damaged"))) as project:
        late = project.label_set().labels[0].id  # type: ignore[union-attr]
        project.decide([1], Decision.LABEL, [late])  # type: ignore[list-item]
        project.set_marks(4, flag=True)
        export_table(project, out, progress=SilentProgress())
    dialog = show(qtbot, controllers, out)
    assert dialog.columns.take_back.isVisible()
    assert dialog.columns.take_back.isChecked()
    assert dialog.columns.text_list.count() == 2
    assert dialog.columns.label is None  # no column is gold unless one is chosen
    project = imported(qtbot, controllers, dialog)
    assert project.columns == ("ref", "text")
    assert project.coders() == ()
    assert project.annotations([1])[1].origin is Origin.HAND
    assert project.marks([4])[4].flag


def test_a_column_is_gold_beside_our_own_that_come_back(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    out = tmp_path / "again.csv"
    with Project.create(tmp_path / "p.sce") as project:
        rows = [("one", "Late"), ("two", "Lost"), ("three", "")]
        project.add_rows(("text", "topic"), [rows], text_columns=[0], source={})
        project.set_labels([Label("Late"), Label("Damaged")])
        project.decide([1], Decision.LABEL, [2])
        export_table(project, out, progress=SilentProgress())
    dialog = show(qtbot, controllers, out)
    check(dialog, 0)
    columns = dialog.columns
    assert columns.label_words.text() == "Gold labels"
    items = [columns.label_column.itemText(place) for place in range(columns.label_column.count())]
    assert items == ["None", "text", "topic"]
    choose(columns.label_column, 1)
    settle(qtbot, dialog)
    assert columns.use_words.text().startswith("Rows stay unlabelled")
    assert not columns.use.isVisible()
    columns.take_back.setChecked(False)
    assert columns.label_column.count() > 3
    columns.take_back.setChecked(True)
    assert columns.label is None
    choose(columns.label_column, 1)
    settle(qtbot, dialog)
    project = imported(qtbot, controllers, dialog)
    assert [label.name for label in controllers.workspace.labels] == ["Damaged", "Late", "Lost"]
    ids = {label.name: label.id or 0 for label in controllers.workspace.labels}
    assert project.annotations([1])[1].label_ids == (ids["Damaged"],)
    (gold,) = project.coders()
    assert project.coder_answers(gold.id) == {1: {ids["Late"]}, 2: {ids["Lost"]}}


def test_names_of_projects(
    qtbot: QtBot, controllers: Controllers, parcels: Path, make_project: MakeProject
) -> None:
    controllers.preferences.settings["projects_folder"] = str(make_project("taken").parent)
    dialog = show(qtbot, controllers, parcels)
    for name in ("", "a/b", ".hidden", "taken", "n" * 245, "é" * 120):
        dialog.target.name.setText(name)
        assert not dialog.import_button.isEnabled()
        assert dialog.problem.text().endswith((".", "another."))
    dialog.target.name.setText("Préférences 2")
    assert dialog.import_button.isEnabled()
    assert imported(qtbot, controllers, dialog).name == "Préférences 2"


# --- adding rows -------------------------------------------------------------------------------------------


def test_new_rows_are_counted_before_they_are_added(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, tmp_path: Path
) -> None:
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(make_project())
    path = tmp_path / "more.csv"
    path.write_text("ref,text\n9,Two days late\n10,Lost\n", encoding="utf-8")
    dialog = show(qtbot, controllers, path, append=True)
    assert dialog.facts.texts()[0] == "1 new row. 1 row repeats a text of the project (added too)."
    assert dialog.model.mark(0) == "The project already has this text"
    assert dialog.import_button.text() == "Add 2 rows"
    with qtbot.waitSignal(controllers.workspace.rowsChanged):
        dialog.accept()
    assert controllers.workspace.project is not None
    assert controllers.workspace.project.row_count() == 7


def test_labels_of_a_column_come_with_the_rows(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, tmp_path: Path
) -> None:
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(make_project(labels=("Late",)))
    path = tmp_path / "more.csv"
    path.write_text("ref,text\nLate,Came on Monday\nLost,Where is it?\n", encoding="utf-8")
    dialog = show(qtbot, controllers, path, append=True)
    choose(dialog.columns.label_column, 0)
    settle(qtbot, dialog)
    assert "2 labels: " in " ".join(dialog.facts.texts())
    with qtbot.waitSignal(controllers.workspace.rowsChanged):
        dialog.accept()
    assert [label.name for label in controllers.workspace.labels] == ["Late", "Lost"]
    assert controllers.workspace.project is not None
    assert {a.label_ids for a in controllers.workspace.project.annotations([6, 7]).values()} == {(1,), (2,)}


def test_the_preview_leaves_no_place_empty(qtbot: QtBot, controllers: Controllers, parcels: Path) -> None:
    dialog = show(qtbot, controllers, parcels)
    dialog.resize(1300, 700)
    header, table = dialog.table.horizontalHeader(), dialog.table
    qtbot.waitUntil(lambda: header.length() == table.viewport().width())
    assert header.sectionSize(1) == max(header.sectionSize(column) for column in range(header.count()))


def test_other_columns_are_refused_in_place_and_can_become_a_project(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, parcels: Path
) -> None:
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(make_project())
    dialog = show(qtbot, controllers, parcels, append=True)
    assert not dialog.import_button.isEnabled()
    assert "“topic”" in dialog.problem.text()
    dialog.target.new.setChecked(True)
    settle(qtbot, dialog)
    assert dialog.columns.text_columns == (1,)
    assert dialog.import_button.text() == "Import 5 rows"


def test_adding_ends_with_the_project(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, tmp_path: Path
) -> None:
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(make_project())
    path = tmp_path / "more.csv"
    path.write_text("ref,text\n9,Two days late\n", encoding="utf-8")
    dialog = show(qtbot, controllers, path, append=True)
    with qtbot.waitSignal(dialog.rejected):
        controllers.projects.close_project()


# --- what goes wrong ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("append", [False, True])
@pytest.mark.parametrize(
    ("name", "content"),
    [("a.csv", "ref,text\n"), ("a.tsv", "ref\ttext\n"), ("a.csv", "ref,text"), ("b.csv", '"ref","text"\r\n')],
)
def test_a_table_without_rows_cannot_be_imported_and_says_why(
    qtbot: QtBot,
    controllers: Controllers,
    make_project: MakeProject,
    tmp_path: Path,
    append: bool,
    name: str,
    content: str,
) -> None:
    if append:
        with qtbot.waitSignal(controllers.workspace.projectOpened):
            controllers.projects.open_project(make_project())
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    dialog = show(qtbot, controllers, path, append=append)
    assert not dialog.import_button.isEnabled()
    assert dialog.import_button.text() == ("Add" if append else "Import")
    assert dialog.problem.text() == "The table has no rows to import."
    with qtbot.assertNotEmitted(controllers.workspace.projectOpened):
        dialog.accept()
    assert dialog.isVisible()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("picture.csv", b"\x89PNG\r\n\x1a\n" + bytes(100)),
        ("empty.csv", b""),
        ("broken.xlsx", b"PK\x03\x04nothing"),
        ("broken.parquet", b"PAR1nothing"),
    ],
)
def test_what_is_no_table_is_one_sentence_in_place(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    dialog = show(qtbot, controllers, path)
    assert dialog.unread.isVisible()
    assert dialog.unread.text().endswith(".")
    assert not dialog.table.isVisible()
    assert not dialog.import_button.isEnabled()
    dialog.accept()
    assert dialog.isVisible()


def test_closing_while_it_counts_stops_the_count(
    qtbot: QtBot, controllers: Controllers, parcels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large file never holds up anything."""

    def endless(*_: object, progress: Progress, **_keywords: object) -> None:
        for done in itertools.count(1):
            progress.report(done, 1000)
            progress.check()
            threading.Event().wait(0.002)

    monkeypatch.setattr(scan, "scan_table", endless)
    dialog = show(qtbot, controllers, parcels, wait=False)
    qtbot.waitUntil(lambda: dialog._scanning is not None and dialog._scanning.done > 0)
    assert "counting" in dialog.facts.headline.text()
    assert dialog.facts.bar.isVisible()
    assert dialog.import_button.isEnabled()  # nobody has to wait for the count
    job = dialog._scanning
    dialog.reject()
    assert job is not None
    qtbot.waitUntil(lambda: not job.active, timeout=2000)
    assert job.state is JobState.CANCELLED


def test_everything_has_a_name(qtbot: QtBot, controllers: Controllers, parcels: Path) -> None:
    dialog = show(qtbot, controllers, parcels)
    controls: list[QWidget] = [
        *dialog.findChildren(QAbstractButton),
        *dialog.findChildren(QLineEdit),
        *dialog.findChildren(QComboBox),
    ]
    ours = [c for c in controls if not c.objectName().startswith("qt_") and type(c) is not QAbstractButton]
    assert [c for c in ours if not c.accessibleName()] == []
    primary = [c for c in dialog.findChildren(QAbstractButton) if c.property("role") == "primary"]
    assert primary == [dialog.import_button]


@pytest.mark.parametrize("append", [False, True])
def test_what_becomes_of_labels_is_read_without_scrolling(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path, make_project: MakeProject, append: bool
) -> None:
    """The list of columns gives way, as far as three of them; it comes back when there is room."""
    path = tmp_path / "many.csv"
    names = [f"column {number}" for number in range(30)]
    path.write_text(f"{','.join(names)}\n" + f"{','.join(['a text'] * 30)}\n" * 3, encoding="utf-8")
    if append:
        with qtbot.waitSignal(controllers.workspace.projectOpened):
            controllers.projects.open_project(make_project())
    dialog = show(qtbot, controllers, path)
    columns = dialog.columns
    check(dialog, 3, 4)
    choose(columns.label_column, 1)
    choose(columns.use, True)
    settle(qtbot, dialog)
    side, words, row = dialog.side, columns.use_words, columns.text_list.sizeHintForRow(0)

    def read() -> bool:
        end = words.mapTo(side.viewport(), words.rect().bottomLeft()).y()
        return (
            words.isVisible()
            and words.height() >= words.heightForWidth(words.width())
            and end < side.height()
        )

    qtbot.waitUntil(read)
    qtbot.waitUntil(lambda: not side.verticalScrollBar().maximum())
    assert columns.text_list.height() >= 3 * row
    dialog.resize(dialog.width(), dialog.height() - 10 * row)
    qtbot.waitUntil(lambda: 3 * row <= columns.text_list.height() < 4 * row)
    dialog.resize(dialog.width(), dialog.height() + 20 * row)
    qtbot.waitUntil(lambda: columns.text_list.height() >= 6 * row)
    dialog.resize(dialog.width(), 300)
    qtbot.waitUntil(lambda: side.verticalScrollBar().maximum() > 0)
    choose(columns.use, True)
    qtbot.waitUntil(read)


def test_rows_of_a_stopped_addition_are_removed_behind_the_work(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    path, more = tmp_path / "a.csv", tmp_path / "more.csv"
    path.write_text("id,text\n1,z\n", encoding="utf-8")
    more.write_text("id,text\n" + "2,y\n" * 60_000, encoding="utf-8")
    project = imported(qtbot, controllers, show(qtbot, controllers, path))

    def stored() -> int:
        with closing(sqlite3.connect(f"{project.path.as_uri()}?mode=ro", uri=True)) as plain:
            (count,) = plain.execute("SELECT count(*) FROM rows").fetchone()
        return int(count)

    job = controllers.projects.import_table(ImportChoices(more, TableOptions(), (1,), append=True))
    assert job is not None
    qtbot.waitUntil(lambda: stored() > 1 or not job.active, timeout=20_000)
    with qtbot.waitSignal(job.ended, timeout=20_000):
        job.cancel()
    assert job.state == JobState.CANCELLED
    assert project.row_count() == 1
    qtbot.waitUntil(lambda: stored() == 1, timeout=20_000)
