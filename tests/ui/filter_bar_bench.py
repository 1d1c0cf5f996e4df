"""The filter bar over a small project that two models have scored."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.store.project import Project
from sce_desktop.ui.rows import filter_bar
from sce_desktop.ui.rows.filter_bar import FilterBar
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, TEXTS, give_scores, open_in, settle
from tests.ui.wiring import wired


@pytest.fixture(name="bar")
def bar_fixture(
    qtbot: QtBot, controllers: Controllers, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FilterBar]:
    monkeypatch.setattr(filter_bar, "_COUNT_MS", 0)
    bar = wired(FilterBar, controllers)()
    qtbot.addWidget(bar)
    bar.resize(760, 60)
    bar.show()
    yield bar
    settle(qtbot, controllers)


@pytest.fixture(name="opened")
def opened_fixture(
    qtbot: QtBot, controllers: Controllers, bar: FilterBar, make_project: MakeProject
) -> FilterBar:
    path = make_project(texts=TEXTS, labels=LABELS)
    with Project.open(path) as project:
        give_scores(project, [0, 1, 2, 0])
        give_scores(project, [0, 2, 2, 0], alias="similarity", share=0.6)
    open_in(qtbot, controllers, path)
    settle(qtbot, controllers)
    return bar


def entries(menu: QMenu) -> dict[str, QAction]:
    found: dict[str, QAction] = {}
    for action in menu.actions():
        inner = action.menu()
        if isinstance(inner, QMenu):
            found |= {f"{action.text()}/{text}": each for text, each in entries(inner).items()}
        elif action.text():
            found[action.text()] = action
    return found
