"""Every dialog that writes a file asks before it replaces one, about the very file that it would replace."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

import sce_desktop.ui
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.ui.findings.findings_exports import FindingsExports
from sce_desktop.ui.finetune import versions_list
from sce_desktop.ui.kit.dialog_parts import ask_replace, ask_save
from sce_desktop.ui.labels.label_offers import LabelOffers
from sce_desktop.ui.transfer.export_dialog import ExportDialog
from sce_desktop.ui.window.file_commands import FileCommands
from sce_desktop.ui.window.lost_project import LostProject
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, give_scores
from tests.ui.wiring import wired

Chosen = list[tuple[Path, bool]]


def labels(controllers: Controllers, parent: QWidget, chosen: Chosen) -> QWidget:
    offers = wired(LabelOffers, controllers)(parent)
    offers.save_to = lambda *found: chosen.append(found)  # type: ignore[method-assign,assignment]
    offers.ask_save()
    return parent


def workbook(controllers: Controllers, parent: QWidget, chosen: Chosen) -> QWidget:
    return _findings(controllers, parent, chosen, FindingsExports.ask_workbook)


def page(controllers: Controllers, parent: QWidget, chosen: Chosen) -> QWidget:
    return _findings(controllers, parent, chosen, FindingsExports.ask_page)


def _findings(
    controllers: Controllers, parent: QWidget, chosen: Chosen, ask: Callable[[FindingsExports], None]
) -> QWidget:
    exports = wired(FindingsExports, controllers)(parent)
    exports.answer = object()  # type: ignore[assignment]
    exports.save_to = lambda *found: chosen.append(found)  # type: ignore[method-assign,assignment]
    ask(exports)
    return parent


def save_as(controllers: Controllers, parent: QWidget, chosen: Chosen) -> QWidget:
    lost = wired(LostProject, controllers)(parent)
    lost.save_as = lambda *found: chosen.append(found)  # type: ignore[method-assign,assignment]
    lost.ask_place()
    return parent


def copy(controllers: Controllers, parent: QWidget, chosen: Chosen) -> QWidget:
    class State:
        value = staticmethod(lambda *_: "")
        setValue = staticmethod(lambda *_: None)

    controllers.projects.save_copy = lambda *found: chosen.append(found)  # type: ignore[method-assign,assignment,return-value]
    parts, state = object(), State()  # nothing of them is asked for but the folder
    FileCommands(controllers, parts, state, chosen.append, parent).ask_copy()  # type: ignore[arg-type]
    return parent


DIALOGS: dict[Callable[[Controllers, QWidget, Chosen], QWidget], str] = {
    labels: ".csv",
    workbook: ".xlsx",
    page: ".html",
    save_as: ".sce",
    copy: ".sce",
}


def choose(parent: QWidget, name: str) -> None:
    """Type a name into the open dialog and press Save."""
    (dialog,) = (one for one in parent.findChildren(QFileDialog) if one.isVisible())
    dialog.selectFile(name)
    dialog.accept()


def question(parent: QWidget) -> QMessageBox | None:
    boxes = [one for one in parent.findChildren(QMessageBox) if one.isVisible()]
    assert len(boxes) <= 1
    return boxes[0] if boxes else None


@pytest.fixture
def opened(qtbot: QtBot, controllers: Controllers, make_project: MakeProject) -> Controllers:
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(make_project(labels=LABELS))
    return controllers


@pytest.mark.parametrize("ending", [True, False], ids=["as it is called", "without its ending"])
@pytest.mark.parametrize("ask", DIALOGS, ids=lambda ask: ask.__name__)
def test_a_dialog_asks_before_it_replaces(
    qtbot: QtBot, opened: Controllers, tmp_path: Path, ask: Callable[..., QWidget], ending: bool
) -> None:
    """Also where the ending is added to what was typed: native dialogs have asked about another name then."""
    parent, chosen = QWidget(), []  # type: tuple[QWidget, Chosen]
    qtbot.addWidget(parent)
    mine = tmp_path / f"mine{DIALOGS[ask]}"
    mine.write_text("mine")
    typed = str(mine if ending else mine.with_suffix(""))
    for answer, expected in (("Cancel", []), ("Replace", [(mine, True)])):
        where = ask(opened, parent, chosen)
        choose(where, typed)
        box = question(where)
        assert box is not None
        assert box.text() == f"“{mine.name}” already exists. Replace it?"
        assert chosen == []
        (button,) = (one for one in box.buttons() if one.text().replace("&", "") == answer)
        button.click()
        assert chosen == expected
    chosen.clear()
    where = ask(opened, parent, chosen)
    choose(where, str(tmp_path / "new"))
    assert question(where) is None
    assert chosen == [(tmp_path / f"new{DIALOGS[ask]}", False)]


def test_no_other_dialog_lets_files_be_written() -> None:
    """All go by `ask_save`; the export dialog has its question in it."""
    folder = Path(sce_desktop.ui.__file__).parent
    found = {file.name for file in folder.rglob("*.py") if re.search(r"AcceptSave|getSave", file.read_text())}
    assert found == {"dialog_parts.py", "export_file.py"}


def test_what_is_no_file_is_asked_about_too(qtbot: QtBot, tmp_path: Path) -> None:
    parent, chosen = QWidget(), []  # type: tuple[QWidget, Chosen]
    qtbot.addWidget(parent)
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "nowhere.csv")
    box = ask_replace(parent, link, lambda *found: chosen.append(found))
    assert box is not None
    assert chosen == []
    box.close()


def test_a_file_that_comes_while_one_is_asked_is_not_replaced(
    qtbot: QtBot, opened: Controllers, tmp_path: Path
) -> None:
    """Nobody was asked about it."""
    parent = QWidget()
    qtbot.addWidget(parent)
    offers = wired(LabelOffers, opened)(parent)
    mine = tmp_path / "labels.csv"
    ask_save(parent, "Save", "CSV (*.csv)", lambda *_: None, suffix="csv").close()
    mine.write_text("mine")
    with qtbot.waitSignal(opened.messages.notified) as told:
        offers.save_to(mine, False)
    assert "already exists" in told.args[0]
    assert mine.read_text() == "mine"
    with qtbot.waitSignal(opened.messages.notified):
        offers.save_to(mine, True)
    assert mine.read_text().startswith("name")


def test_a_model_folder_that_is_there_is_asked_about(
    qtbot: QtBot, opened: Controllers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Version:
        title, name = "version 1 of sce-mini", "version 1"

    parent = QWidget()
    qtbot.addWidget(parent)
    exported: list[Any] = []
    monkeypatch.setattr(versions_list, "ask_folder", lambda _parent, _title, chosen: chosen(str(tmp_path)))
    monkeypatch.setattr(versions_list.VersionsPane, "selected", (Version(),))
    monkeypatch.setattr(opened.tuner, "export", lambda *found: exported.append(found))
    pane = wired(versions_list.VersionsPane, opened)(parent)
    folder = tmp_path / "version-1-of-sce-mini"
    pane.ask_export()
    assert [found[1:] for found in exported] == [(folder, False)]
    folder.mkdir()
    pane.ask_export()
    box = question(pane)
    assert box is not None
    assert len(exported) == 1
    box.button(QMessageBox.StandardButton.Yes).click()
    assert exported[1][1:] == (folder, True)


@pytest.mark.parametrize("what", ["file", "note", "own note", "link"])
def test_the_export_dialog_asks_in_place(
    qtbot: QtBot, opened: Controllers, tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """About the table, and about a note beside it that is none of ours."""
    assert opened.workspace.project is not None
    give_scores(opened.workspace.project, [0, 1, 2])
    dialog = wired(ExportDialog, opened)()
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: dialog._facts is not None)
    out = tmp_path / "out.csv"
    there = {"file": out, "link": out}.get(what, tmp_path / "out.csv.about.txt")
    if what == "link":
        there.symlink_to(tmp_path / "nowhere.csv")
    else:
        there.write_text("Written by SCE Desktop 0.0" if what == "own note" else "mine")
    dialog.target.path.setText(str(out))
    if what == "own note":
        assert not dialog.target.replace.isVisible()
        assert dialog.export_button.isEnabled()
        return
    assert dialog.target.replace.isVisible()
    assert dialog.target.replace.text() == f"Replace “{there.name}”, which already exists"
    assert not dialog.export_button.isEnabled()
    if what == "note":
        dialog.target.note.setChecked(False)  # then nothing is written there
        assert dialog.export_button.isEnabled()
        dialog.target.note.setChecked(True)
    dialog.accept()
    assert os.path.lexists(there)
    exported: list[Any] = []
    monkeypatch.setattr(opened.projects, "export_table", exported.append)
    dialog.target.replace.setChecked(True)
    dialog.accept()
    assert exported[0].replace
