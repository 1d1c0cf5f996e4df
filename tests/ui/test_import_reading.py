"""The import dialog: how a file is read can be chosen; a guess that may be wrong is told with a button."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.ui.transfer.import_dialog import ImportDialog
from tests.ui.import_bench import choose, column, headers, imported, settle, show

ESCAPED = 'id,text\n1,"She said \\"never again\\", then left"\n2,ok\n'
CZECH = "Na lince mi ochotně a rychle poradili, nechal krabici na dešti"


def table(folder: Path, content: str | bytes, name: str = "a.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def press(qtbot: QtBot, dialog: ImportDialog, words: str) -> None:
    buttons = dialog.doubts.findChildren(QPushButton)
    (button,) = (found for found in buttons if found.text() == words and found.isVisible())
    button.click()
    settle(qtbot, dialog)


def test_two_readings_of_letters_are_reported_and_one_click_takes_the_other(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    path = table(tmp_path, f"text\n{CZECH}\n{CZECH}!\n".encode("iso8859-2"))
    dialog = show(qtbot, controllers, path)
    assert column(dialog, 0)[0] == CZECH
    (sentence,) = dialog.doubts.texts()
    assert sentence.startswith(f"Line 2 reads “{CZECH}” as ISO8859-2")
    press(qtbot, dialog, "Read as CP1250")
    assert column(dialog, 0)[0] == CZECH.replace("š", "ą")
    assert dialog.reading.encoding.currentData() == "cp1250"
    assert not dialog.doubts.isVisible()
    choose(dialog.reading.encoding, "iso8859-2")
    settle(qtbot, dialog)
    assert column(dialog, 0)[0] == CZECH


def test_escapes_are_read_told_and_can_be_refused(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    dialog = show(qtbot, controllers, table(tmp_path, ESCAPED))
    assert column(dialog, 1) == ['She said "never again", then left', "ok"]
    assert dialog.reading.escape.isVisible()
    assert dialog.reading.escape.currentData() == "\\"
    press(qtbot, dialog, "Keep backslashes")
    assert dialog.reading.escape.currentData() == ""
    assert column(dialog, 1)[0].startswith('"She said \\"never again\\"')
    choose(dialog.reading.escape, "\\")
    settle(qtbot, dialog)
    assert not dialog.doubts.texts()
    project = imported(qtbot, controllers, dialog)
    assert project.texts([1]) == ['She said "never again", then left']


def test_backslashes_are_no_question_where_there_are_none(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    dialog = show(qtbot, controllers, table(tmp_path, "id,text\n1,plain\n"))
    assert not dialog.reading.escape.isVisible()
    assert not dialog.doubts.isVisible()


def test_backslashes_far_below_bring_the_question(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    content = "id,text\n" + '1,"plain, as it is"\n' * 50_000 + '2,"She said \\"never\\", then left"\n'
    dialog = show(qtbot, controllers, table(tmp_path, content))
    assert "backslash" in dialog.facts.problems.item(0).text()
    assert dialog.reading.escape.isVisible()
    choose(dialog.reading.escape, "\\")
    settle(qtbot, dialog)
    assert dialog.facts.problems.count() == 0


def test_quotes_can_be_single_double_or_text(qtbot: QtBot, controllers: Controllers, tmp_path: Path) -> None:
    dialog = show(qtbot, controllers, table(tmp_path, "'id','text'\n'1','Its late'\n'2','ok'\n"))
    assert headers(dialog) == ["'id'", "'text'"]
    press(qtbot, dialog, "Read single quotes")
    assert (headers(dialog), column(dialog, 1)) == (["id", "text"], ["Its late", "ok"])
    assert dialog.reading.quoting.currentData() == "'"
    choose(dialog.reading.quoting, True)
    settle(qtbot, dialog)
    assert headers(dialog) == ["'id'", "'text'"]
    assert not dialog.doubts.isVisible()


def test_spaces_before_quotes(qtbot: QtBot, controllers: Controllers, tmp_path: Path) -> None:
    dialog = show(qtbot, controllers, table(tmp_path, 'id, text\n1, "a, b"\n2, "c"\n'))
    assert column(dialog, 1) == ["a, b", "c"]
    assert dialog.reading.quoting.currentData() == "spaces"
    choose(dialog.reading.quoting, True)
    settle(qtbot, dialog)
    assert column(dialog, 1) == [' "a, b"', ' "c"']


def test_a_header_below_a_title_and_none_at_all(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    dialog = show(qtbot, controllers, table(tmp_path, "Report of May\n\nid,text\n1,x\n2,y\n"))
    press(qtbot, dialog, "Use line 3 as header")
    assert (headers(dialog), column(dialog, 1)) == (["id", "text"], ["x", "y"])
    assert dialog.reading.header_row.value() == 3
    content = "1,It came late and broken.\n2,Fine, thanks for all of it.\n3,Nobody answered my mail.\n"
    other = show(qtbot, controllers, table(tmp_path, content.replace("Fine, ", "Fine "), "b.csv"))
    press(qtbot, other, "Read it as a row")
    assert headers(other) == ["Column 1", "Column 2"]
    assert other.table.preview.rowCount() == 3


def test_in_a_text_file_a_line_is_a_cell(qtbot: QtBot, controllers: Controllers, tmp_path: Path) -> None:
    content = 'Hello, you\nNo reply, no refund, nothing\n"unclosed\nok\n'
    dialog = show(qtbot, controllers, table(tmp_path, content, "a.txt"))
    assert column(dialog, 0) == content.splitlines()
    assert dialog.import_button.text() == "Import 4 rows"
    choose(dialog.reading.delimiter, ",")
    settle(qtbot, dialog)
    assert headers(dialog) == ["Hello", " you"]


@pytest.mark.parametrize("content", ["id,text\n1,für\n", "id,text\n1,plain\n"])
def test_a_wrong_encoding_is_a_sentence_and_the_right_one_comes_back(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path, content: str
) -> None:
    dialog = show(qtbot, controllers, table(tmp_path, content))
    choose(dialog.reading.encoding, "utf-16")
    settle(qtbot, dialog)
    assert dialog.unread.text() == "a.csv is not UTF-16 text: choose another encoding."
    assert not dialog.import_button.isEnabled()
    assert dialog.reading.encoding.isVisible()
    choose(dialog.reading.encoding, "utf-8")
    settle(qtbot, dialog)
    assert column(dialog, 1) == [content.splitlines()[1].split(",")[1]]
    assert dialog.import_button.isEnabled()


def test_what_no_guess_can_read_may_be_read_by_choice(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    noise = bytes(range(1, 256)).replace(b"\n", b"").replace(b",", b"")
    dialog = show(qtbot, controllers, table(tmp_path, b"id,text\n1," + noise * 4 + b"\n"))
    assert dialog.unread.isVisible()
    assert dialog.reading.encoding.isVisible()
    assert not dialog.reading.delimiter.isVisible()
    choose(dialog.reading.encoding, "cp1252")
    settle(qtbot, dialog)
    assert dialog.table.isVisible()
    assert headers(dialog) == ["id", "text"]


def test_an_encoding_is_offered_once_however_it_is_spelled(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    dialog = show(qtbot, controllers, table(tmp_path, "text\nОчень вежливый персонал\n".encode("koi8-r")))
    words = [dialog.reading.encoding.itemText(place) for place in range(dialog.reading.encoding.count())]
    assert sum(entry.startswith("KOI8") and "-R" in entry for entry in words) == 1
    assert dialog.reading.encoding.currentText() == "KOI8-R  Cyrillic"


def test_an_import_tells_no_doubt_again(qtbot: QtBot, controllers: Controllers, tmp_path: Path) -> None:
    dialog = show(qtbot, controllers, table(tmp_path, 'id, text\n1, "hello world"\n2, "b"\n'))
    assert len(dialog.doubts.texts()) == 1
    told: list[str] = []
    controllers.messages.notified.connect(lambda sentence, *_: told.append(sentence))
    imported(qtbot, controllers, dialog)
    assert not [sentence for sentence in told if "spaces" in sentence]
