"""The window says when it answers, and when the answer is painted."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Decision
from sce_desktop.core.giving_way import end_answer, is_answering
from tests.ui.conftest import MakeProject


def test_an_edit_is_an_answer_until_nothing_is_left_to_do(
    controllers: Controllers, make_project: MakeProject, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(make_project(labels=("Late", "Kind")))
    qtbot.waitUntil(lambda: not is_answering())
    label_id = controllers.workspace.labels[0].id
    assert label_id is not None
    seen: list[bool] = []
    controllers.edits.decided.connect(lambda _ids, _words: seen.append(is_answering()))
    assert controllers.edits.decide([1], Decision.LABEL, [label_id])
    assert seen == [True]
    qtbot.waitUntil(lambda: not is_answering())


def test_another_row_is_an_answer_too(controllers: Controllers, qtbot: QtBot) -> None:
    end_answer()
    seen: list[bool] = []
    controllers.navigation.currentRowChanged.connect(lambda _row: seen.append(is_answering()))
    controllers.navigation.set_current_row(2)
    assert seen == [True]
    qtbot.waitUntil(lambda: not is_answering())
