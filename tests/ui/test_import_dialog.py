"""The import dialog: what is seen and told before anything is imported, and what is handed over."""

from __future__ import annotations

import itertools
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import JobState
from sce_desktop.core.choices import ImportChoices
from sce_desktop.core.progress import Progress
from sce_desktop.core.tables import TableOptions
from sce_desktop.tasks.tables import scan, tables
from sce_desktop.ui.transfer.import_dialog import ImportDialog
from tests.ui.conftest import MakeProject
from tests.ui.import_bench import (  # noqa: F401
    check,
    choose,
    column,
    headers,
    imported,
    parcels_fixture,
    settle,
    show,
)
from tests.ui.wiring import wired

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
    assert dialog.table.preview.rowCount() == 3
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
    first = dialog.reader.look_job
    heard: list[object] = []
    assert first is not None
    first.finished.connect(heard.append)
    dialog.reading.quotes_as_text()
    settle(qtbot, dialog)
    assert heard == []
    assert dialog.reader.look is not None
    assert dialog.reader.look.preview.options.quoting is False


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
    assert [dialog.table.preview.mark(row) for row in range(5)] == [
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
    tip = dialog.table.preview.index(1, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert tip == "<qt>&lt;b&gt;ok&lt;/b&gt;</qt>"


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
    assert dialog.table.preview.mark(0) == "The project already has this text"
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
    qtbot.waitUntil(lambda: dialog.reader.count_job is not None and dialog.reader.count_job.done > 0)
    assert "counting" in dialog.facts.headline.text()
    assert dialog.facts.bar.isVisible()
    assert dialog.import_button.isEnabled()  # nobody has to wait for the count
    job = dialog.reader.count_job
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
    qtbot: QtBot, controllers: Controllers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, more = tmp_path / "a.csv", tmp_path / "more.csv"
    path.write_text("id,text\n1,z\n", encoding="utf-8")
    more.write_text("id,text\n" + "2,y\n" * 60_000, encoding="utf-8")
    project = imported(qtbot, controllers, show(qtbot, controllers, path))
    append_table = tables.append_table

    def stored() -> int:
        with closing(sqlite3.connect(f"{project.path.as_uri()}?mode=ro", uri=True)) as plain:
            (count,) = plain.execute("SELECT count(*) FROM rows").fetchone()
        return int(count)

    def waiting(*args: Any, progress: Progress, **keywords: Any) -> object:
        def report(*_: object, **_stage: object) -> None:
            while stored() > 1:  # some rows are there: now it is stopped
                progress.check()
                threading.Event().wait(0.002)

        held = SimpleNamespace(report=report, check=progress.check, warn=progress.warn)
        return append_table(*args, progress=held, **keywords)

    monkeypatch.setattr(tables, "append_table", waiting)
    job = controllers.projects.import_table(ImportChoices(more, TableOptions(), (1,), append=True))
    assert job is not None
    qtbot.waitUntil(lambda: stored() > 1, timeout=20_000)
    with qtbot.waitSignal(job.ended, timeout=20_000):
        job.cancel()
    assert job.state == JobState.CANCELLED
    assert project.row_count() == 1
    qtbot.waitUntil(lambda: stored() == 1, timeout=20_000)
