"""The import dialog: what is seen and told before anything is imported, and what is handed over."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.ui.kit.theme import px
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


def test_the_preview_leaves_no_place_empty(qtbot: QtBot, controllers: Controllers, parcels: Path) -> None:
    dialog = show(qtbot, controllers, parcels)
    dialog.resize(1300, 700)
    header, table = dialog.table.horizontalHeader(), dialog.table
    qtbot.waitUntil(lambda: header.length() == table.viewport().width())
    assert header.sectionSize(1) == max(header.sectionSize(column) for column in range(header.count()))


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


def test_a_long_file_name_makes_the_dialog_no_wider(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    path = tmp_path / f"{'survey_' * 30}.csv"
    path.write_text("ref,text\n1,Two days late\n")
    dialog = show(qtbot, controllers, path)
    assert dialog.minimumSizeHint().width() <= px(980)
    title = next(label for label in dialog.findChildren(QLabel) if label.accessibleName() == "File")
    assert title.toolTip() == f"{path.name}\n{path}"
