"""Beginning to review: said once when all rows are scored, and then a key or an entry of the menu."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.queries import order_name, queue_name
from sce_desktop.controllers.review_work import NO_VECTORS, NOT_READY
from sce_desktop.controllers.start_review import DIGITS_QUESTION, NOTHING_OPEN, READY
from sce_desktop.core.annotations import Decision
from sce_desktop.core.query import RowQuery
from sce_desktop.core.queues import DEFAULT_QUEUE
from sce_desktop.store.project import Project
from sce_desktop.store.runs.vector_cache import VectorCache
from sce_desktop.tasks.scoring.vectors import KnownVectors
from sce_desktop.ui.kit.keys_dialog import KeysDialog
from sce_desktop.ui.rows.filter_bar import FilterBar
from sce_desktop.ui.rows.rows_view import RowsView
from sce_desktop.ui.window.main_window import MainWindow
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, give_scores, open_in, settle
from tests.ui.test_whole_window import LOADED_MS, click, the, whole  # noqa: F401
from tests.ui.wiring import wired


@pytest.mark.model
def test_the_first_scoring_leads_to_the_default_queue(
    qtbot: QtBot,
    whole: tuple[MainWindow, Controllers],  # noqa: F811
) -> None:
    window, controllers = whole
    controllers.projects.open_sample()
    qtbot.waitUntil(lambda: window.strip.button.isVisible(), timeout=LOADED_MS)
    assert (window.strip.text.text(), window.strip.button.text()) == (READY, "Start reviewing")
    table = the(window, RowsView).table
    assert order_name(controllers.navigation.query) == "File order"  # as it was opened
    window.tool_bar.focus_search()
    click(qtbot, window.strip.button)
    qtbot.waitUntil(lambda: queue_name(controllers.navigation.query) == DEFAULT_QUEUE, timeout=LOADED_MS)
    drawn = controllers.navigation.query.given
    first = drawn[0]
    qtbot.waitUntil(lambda: controllers.navigation.current_row == first and table.currentIndex().row() == 0)
    assert table.hasFocus()
    assert window.strip.text.text() == DIGITS_QUESTION
    click(qtbot, window.strip.button)  # by rank, as it is
    assert window.strip.isHidden()
    QTest.keyClick(table, Qt.Key.Key_1)
    assert controllers.navigation.current_row == controllers.navigation.query.given[1]
    offered: list[object] = []
    controllers.messages.offered.connect(lambda *told: offered.append(told))
    controllers.navigation.set_query(RowQuery())
    qtbot.waitUntil(
        lambda: len(the(window, RowsView).model.ids) > 1 and controllers.workspace.workers.reads.busy is False
    )
    QTest.keyClick(table, Qt.Key.Key_Q)
    qtbot.waitUntil(lambda: queue_name(controllers.navigation.query) == DEFAULT_QUEUE, timeout=LOADED_MS)
    assert (
        controllers.navigation.query.given == drawn[1:]
    )  # a decision takes its row out and leaves the order as it was
    qtbot.waitUntil(lambda: controllers.navigation.current_row == controllers.navigation.query.given[0])
    QTest.keyClick(table, Qt.Key.Key_J)
    (entry,) = (a for a in window.menus.all_actions() if a.text() == "Start &reviewing")
    entry.trigger()  # once more: the same order, from its top
    qtbot.waitUntil(lambda: controllers.navigation.current_row == controllers.navigation.query.given[0])
    assert controllers.navigation.query.given == drawn[1:]
    job = controllers.scorer.score()
    assert job is not None
    qtbot.waitUntil(lambda: controllers.scorer.job is None, timeout=LOADED_MS)
    settle(qtbot, controllers)
    assert offered == []


def test_without_vectors_the_reason_is_reported(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject
) -> None:
    open_in(qtbot, controllers, make_project(labels=LABELS))
    with qtbot.waitSignal(controllers.messages.notified) as told:
        controllers.review.begin()
    assert told.args == [NOT_READY, "warn"]  # nothing is loaded yet
    controllers.scorer.ready = True
    with qtbot.waitSignal(controllers.messages.notified) as told:
        controllers.review.begin()
    assert told.args == [NO_VECTORS, "warn"]  # an LLM is
    assert controllers.navigation.query == RowQuery()


@pytest.fixture
def vectors(controllers: Controllers, tmp_path: Path) -> Iterator[VectorCache]:
    """Text vectors as a loaded model has them; none is there yet."""
    with VectorCache(tmp_path / "v.db") as cache:
        controllers.scorer.model_cache.known_vectors = KnownVectors("e", cache)
        yield cache


def opened(qtbot: QtBot, controllers: Controllers, path: Path, *, scored: int) -> Project:
    with Project.open(path) as project:
        if scored:
            give_scores(project, [0] * scored, finish=False)
    return open_in(qtbot, controllers, path)


def read_all(cache: VectorCache, count: int, embedder: str = "e") -> None:
    drawn = np.random.default_rng(1).random((count, 4), dtype=np.float32)
    cache.put(embedder, [f"Text {n}" for n in range(count)], drawn)


TEXTS = tuple(f"Text {n}" for n in range(12))


@pytest.mark.parametrize(
    ("scored", "cached", "decided", "reason"),
    [
        (12, True, range(1, 13), NOTHING_OPEN),  # all are scored and none is open
        (12, False, range(1, 13), NOTHING_OPEN),
        (0, False, (), "Nothing is scored yet: score the rows first."),
        (2, False, (1, 2), "These rows are not scored yet: wait until they are, or score them."),  # early
        (
            12,
            False,
            (1,),
            "This computer has no text vectors of these rows: score them first.",
        ),
    ],
)
def test_the_true_reason_is_reported_why_no_queue_can_be_shown(
    qtbot: QtBot,
    controllers: Controllers,
    make_project: MakeProject,
    vectors: VectorCache,
    scored: int,
    cached: bool,
    decided: Sequence[int],
    reason: str,
) -> None:
    opened(qtbot, controllers, make_project(texts=TEXTS, labels=LABELS), scored=scored)
    if cached:
        read_all(vectors, 12)
    controllers.edits.decide(list(decided), Decision.NONE)
    bar = wired(FilterBar, controllers)()
    qtbot.addWidget(bar)
    choose = next(a for a in bar.order_menu().actions() if a.text().startswith("Diverse"))
    choose.setEnabled(True)
    for begin in (controllers.review.begin, choose.trigger):
        with qtbot.waitSignal(controllers.messages.notified) as told:
            begin()
        assert told.args[0].startswith(reason)
    settle(qtbot, controllers)


def begin(qtbot: QtBot, controllers: Controllers) -> tuple[int, ...]:
    found = controllers.review.find_diverse()
    assert found is not None
    with qtbot.waitSignal(found.ended):
        found.finished.connect(controllers.review._on_diverse)
    return controllers.navigation.query.given


def test_the_queue_keeps_its_order_until_something_changes_it(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, vectors: VectorCache
) -> None:
    path = make_project(texts=TEXTS, labels=LABELS)
    project = opened(qtbot, controllers, path, scored=12)
    read_all(vectors, 12)
    first = begin(qtbot, controllers)
    assert sorted(first) == list(range(1, 13))
    assert first != tuple(range(1, 13))  # varied, not as they came
    assert begin(qtbot, controllers) == first  # nothing was decided
    controllers.navigation.set_query(RowQuery())
    assert begin(qtbot, controllers) == first  # nor where another order was shown in between
    controllers.edits.decide([first[0], first[5]], Decision.NONE)
    left = tuple(row for row in first if row not in (first[0], first[5]))
    assert begin(qtbot, controllers) == left
    controllers.edits.undo()
    assert begin(qtbot, controllers) == first  # who takes a decision back finds the row where it was
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        controllers.projects.close_project()
    qtbot.waitUntil(lambda: not controllers.workspace.workers.files.busy)
    project = open_in(qtbot, controllers, path)
    assert begin(qtbot, controllers) == first  # after a restart, too
    more = [(str(n), f"Text {n}") for n in range(12, 16)]
    project.add_rows(("ref", "text"), [more], text_columns=[1], source={})
    read_all(vectors, 16)
    assert sorted(begin(qtbot, controllers)) == list(range(1, 17))  # new rows take part
    controllers.scorer.model_cache.known_vectors = KnownVectors("another", vectors)
    read_all(vectors, 16, "another")
    controllers.edits.decide([1], Decision.NONE)
    assert sorted(begin(qtbot, controllers)) == list(range(2, 17))
    settle(qtbot, controllers)


def test_a_random_order_is_drawn_once(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject
) -> None:
    bar = wired(FilterBar, controllers)()
    qtbot.addWidget(bar)
    open_in(qtbot, controllers, make_project(texts=TEXTS, labels=LABELS))
    drawn = []
    for name in ("Random", "Shortest text", "Random"):
        next(a for a in bar.order_menu().actions() if a.text() == name).trigger()
        drawn.append(controllers.navigation.query)
        settle(qtbot, controllers)
    assert drawn[0] == drawn[2] != drawn[1]
    assert drawn[0].seed


def test_the_menu_marks_the_queue_to_begin_with_and_the_sheet_has_its_key(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject
) -> None:
    bar = wired(FilterBar, controllers)()
    qtbot.addWidget(bar)
    open_in(qtbot, controllers, make_project(labels=LABELS))
    menu = bar.order_menu()
    marked: QAction = menu.defaultAction()
    assert marked.text() == "Diverse (recommended)"
    assert [a.text() for a in menu.actions() if "recommended" in a.text()] == [marked.text()]
    dialog = wired(KeysDialog, controllers)()
    qtbot.addWidget(dialog)
    assert dialog.fields["start"].text() == "Q"
    dialog.fields["skip"].set_key("Q")
    assert dialog.problem.text().startswith("Q is already")
    settle(qtbot, controllers)
