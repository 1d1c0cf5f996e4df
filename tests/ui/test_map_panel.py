"""The map: what is selected on it, what it follows, and what it says where there is none."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolTip
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import map_work
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.map_work import UNKNOWN
from sce_desktop.core.annotations import SKIPPED, Decision
from sce_desktop.core.colours import label_colour
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery, RowState
from sce_desktop.core.training import Fit
from sce_desktop.store.runs.vector_cache import VectorCache
from sce_desktop.tasks.insight import map as maps
from sce_desktop.tasks.insight.map import NO_UMAP
from sce_desktop.tasks.scoring.vectors import KnownVectors
from sce_desktop.ui.map.map_panel import MapPanel
from sce_desktop.ui.map.map_raster import Mark, argb
from tests.ui.conftest import MakeProject
from tests.ui.map_bench import (  # noqa: F401
    READ,
    TEXTS,
    around,
    drag,
    known_fixture,
    legend,
    opened_fixture,
    panel_fixture,
    path_fixture,
    wait_for_map,
)
from tests.ui.panels import add_version, open_in, settle


def test_a_lasso_selects_exactly_the_points_inside(controllers: Controllers, opened: MapPanel) -> None:
    view = opened.view
    drag(view, around(view, list(range(6))))
    assert opened.selected.tolist() == [1, 2, 3, 4, 5, 6]
    assert opened.bar.count.text() == "6 rows selected"
    assert view._looks.faded.tolist() == [False] * 6 + [True] * 6
    drag(view, around(view, [7], 6), Qt.KeyboardModifier.ShiftModifier)
    assert 8 in opened.selected.tolist()
    assert {1, 2, 3, 4, 5, 6} <= set(opened.selected.tolist())
    opened.bar.show_button.click()
    assert controllers.navigation.query.among == tuple(opened.selected.tolist())
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Escape)
    assert not len(opened.selected)
    assert not view._looks.faded.any()


def test_a_rectangle_selects_after_zooming_and_moving(opened: MapPanel) -> None:
    view = opened.view
    opened.bar.tools["rectangle"].click()
    before = view.pixels().copy()
    view.zoom(4, QPointF(*before[8]))
    assert view.pixels()[8] == pytest.approx(before[8])  # what is under the mouse stays there
    view.pan(-5, 7)
    assert view.pixels()[8] == pytest.approx(before[8] + (-5, 7))
    box = around(view, [8], 6)
    drag(view, [box[0], box[2]])
    assert opened.selected.tolist() == [9]
    QTest.keyClick(view, Qt.Key.Key_Home)
    assert view.pixels() == pytest.approx(before)


def test_a_click_chooses_the_row_and_the_mark_moves_along(controllers: Controllers, opened: MapPanel) -> None:
    view = opened.view
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPointF(*view.pixels()[4]).toPoint())
    assert controllers.navigation.current_row == 5
    assert view._current == 4
    controllers.navigation.set_current_row(9)
    assert view._current == 8
    controllers.navigation.set_current_row(14)  # has no vector
    assert view._current == -1


def test_colours_and_legend_follow_decisions(
    qtbot: QtBot, controllers: Controllers, opened: MapPanel
) -> None:
    late, damaged, _ = (label.id for label in controllers.workspace.labels)
    assert legend(opened) == {"Unlabelled": 12}
    controllers.edits.decide([1, 2], Decision.LABEL, [late])
    controllers.edits.decide([3], Decision.LABEL, [damaged])
    controllers.edits.decide([4], Decision.NONE)
    controllers.edits.decide([5], Decision.SKIPPED)
    assert opened.data._changed == {1, 2, 3, 4, 5}  # only these are read again
    wanted = {"Late": 2, "Damaged": 1, "None of these": 1, "Skipped": 1, "Unlabelled": 7}
    qtbot.waitUntil(lambda: legend(opened) == wanted)
    looks = opened.view._looks
    assert looks.marks[:6].tolist() == [Mark.DISC, Mark.DISC, Mark.DISC, Mark.CROSS, Mark.RING, Mark.DOT]
    assert looks.colours[0] == looks.colours[1] == argb(label_colour(0))
    assert looks.colours[2] == argb(label_colour(1))
    controllers.edits.undo()
    qtbot.waitUntil(lambda: "Skipped" not in legend(opened))
    opened.bar.colour.setCurrentIndex(1)
    assert legend(opened) == {"Late": 4, "Damaged": 4, "Praise": 4}
    assert opened.view._looks.marks[3] == Mark.CROSS  # what a person did is seen all the same
    opened.side.legend.list.topLevelItem(0).setSelected(True)
    assert opened.view._looks.faded.tolist() == [n % 3 != 0 for n in range(READ)]


def test_blind_mode_hides_what_the_model_says(controllers: Controllers, opened: MapPanel) -> None:
    opened.bar.colour.setCurrentIndex(1)
    controllers.preferences.change_setting("blind", True)
    assert legend(opened) == {"Unlabelled": 12}
    assert not opened.bar.colour.isEnabled()


def test_only_rows_of_the_table_are_shown_and_selected(
    qtbot: QtBot, controllers: Controllers, opened: MapPanel
) -> None:
    controllers.edits.decide([2, 3], Decision.SKIPPED)
    controllers.navigation.set_query(RowQuery(state=RowState.SKIPPED))
    opened.side.only.setChecked(True)
    qtbot.waitUntil(lambda: opened.data.row_ids.tolist() == [2, 3])
    view = opened.view
    drag(
        view, [QPointF(1, 1), QPointF(view.width(), 1), QPointF(view.width(), view.height()), QPointF(1, 300)]
    )
    assert opened.selected.tolist() == [2, 3]
    controllers.navigation.set_query(RowQuery())
    qtbot.waitUntil(lambda: len(opened.data.points) == READ)


def test_what_is_under_the_mouse_is_reported(
    monkeypatch: pytest.MonkeyPatch, controllers: Controllers, opened: MapPanel
) -> None:
    told: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda _at, text, _widget: told.append(text))
    opened.view._set_hovered(3, QPoint())
    assert "parcel 3" in told[0]
    assert "You: Unlabelled" in told[0]
    assert "Model: Late" in told[0]


def test_rows_without_vectors_are_counted_and_come_with_the_next_scoring(
    qtbot: QtBot, controllers: Controllers, opened: MapPanel, known: KnownVectors
) -> None:
    assert opened.side.note.text() == "12 rows on the map. 1 row has no text vector yet: press Score."
    known.cache.put("e", ["never read"], np.ones((1, 8), np.float32))
    opened.data._scoring = True
    controllers.scorer.modelsChanged.emit()  # a scoring has ended
    qtbot.waitUntil(lambda: len(opened.data.points) == READ + 1)
    assert opened.side.note.text() == "13 rows on the map."


def test_a_version_with_vectors_of_its_own_gets_a_map_of_its_own(
    qtbot: QtBot, controllers: Controllers, opened: MapPanel, known: KnownVectors
) -> None:
    """The map of the base model never stands under what the version predicts."""
    drag(opened.view, around(opened.view, list(range(6))))
    assert controllers.workspace.project is not None
    version = add_version(controllers.workspace.project, Fit(encoder_key="e, adapted"))
    controllers.scorer.use_version(version.id, score=False)
    assert opened.pages.currentWidget() is opened.empty
    qtbot.waitUntil(lambda: "no text vectors of these rows: score them first" in opened.empty.words.text())
    assert opened.pages.currentWidget() is opened.empty
    vectors = np.random.default_rng(1).normal(size=(READ, 8)).astype(np.float32)
    known.cache.put("e, adapted", TEXTS[:READ], vectors)
    opened.data._scoring = True
    controllers.scorer.modelsChanged.emit()  # a scoring has ended
    wait_for_map(qtbot, opened)
    adapted = opened.data.map.places
    assert opened.pages.currentWidget() is not opened.empty
    assert opened.selected.tolist() == [1, 2, 3, 4, 5, 6]  # the rows are the same
    controllers.scorer.use_version(None, score=False)
    wait_for_map(qtbot, opened)
    assert not np.allclose(opened.data.map.places, adapted)


def test_without_vectors_it_says_what_to_do(
    qtbot: QtBot, controllers: Controllers, panel: MapPanel, path: Path, tmp_path: Path
) -> None:
    open_in(qtbot, controllers, path)
    assert panel.pages.currentWidget() is panel.empty
    assert "when the model is loaded" in panel.empty.words.text()
    with VectorCache(tmp_path / "none.db") as cache:
        controllers.scorer._model_cache.known_vectors = KnownVectors("e", cache)
        controllers.scorer.modelsChanged.emit()
        qtbot.waitUntil(lambda: "no text vectors of these rows: score them first" in panel.empty.words.text())
        assert panel.empty.score.isVisible()


def test_umap_that_is_not_installed_and_one_that_is_kept(
    monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, controllers: Controllers, opened: MapPanel
) -> None:
    told: list[str] = []
    controllers.messages.notified.connect(lambda sentence, _tone: told.append(sentence))
    monkeypatch.setattr("sce_desktop.ui.map.map_data.has_umap", lambda: False)
    opened.bar.methodChosen.emit("umap")
    assert told == [NO_UMAP]
    assert opened.bar.method.currentData() == "pca"
    made: list[int] = []

    def other(vectors: np.ndarray, *, seed: int = 0, progress: object) -> np.ndarray:
        made.append(len(vectors))
        return np.ascontiguousarray(vectors[:, :2])

    monkeypatch.setattr("sce_desktop.ui.map.map_data.has_umap", lambda: True)
    monkeypatch.setattr(maps, "umap_map", other)
    for method in ("umap", "pca", "umap"):
        opened.bar.methodChosen.emit(method)
        if method == "umap" and not made:
            assert opened.data._layout_job.worker == "maps"  # for minutes: nothing else may wait there
        qtbot.waitUntil(
            lambda method=method: opened.data.map.method == method and opened.data.facts is not None
        )
    assert made == [READ]


def test_the_project_may_close_while_the_map_is_made(
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
    controllers: Controllers,
    opened: MapPanel,
    make_project: MakeProject,
) -> None:
    opened.data.lay_out_again()
    assert opened.data.working
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        controllers.projects.close_project()
    assert opened.data.map is None
    assert not opened.data.working
    assert opened.pages.currentWidget() is opened.empty
    open_in(qtbot, controllers, make_project("Other", texts=TEXTS[:4]))
    qtbot.waitUntil(lambda: len(opened.data.points) == 4)


def test_a_map_that_was_stopped_can_be_made_again(
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
    controllers: Controllers,
    panel: MapPanel,
    path: Path,
    known: KnownVectors,
) -> None:
    going = threading.Event()

    def endless(*_: object, progress: Progress) -> None:
        going.set()
        while True:
            progress.check()

    controllers.scorer._model_cache.known_vectors = known
    with monkeypatch.context() as patch:
        patch.setattr(map_work, "lay_out", endless)
        open_in(qtbot, controllers, path)
        qtbot.waitUntil(going.is_set)
        panel.data._layout_job.cancel()
        qtbot.waitUntil(lambda: not panel.data.working)
    assert panel.empty.words.text() == "The map was stopped."
    assert panel.empty.again.isVisible()
    assert not panel.empty.score.isVisible()
    panel.empty.again.click()
    wait_for_map(qtbot, panel)
    assert len(panel.data.points) == READ


def test_nothing_is_read_for_a_map_that_nobody_sees(
    qtbot: QtBot, controllers: Controllers, opened: MapPanel
) -> None:
    opened.hide()
    controllers.edits.decide([1], Decision.SKIPPED)
    settle(qtbot, controllers)
    assert opened.data.facts is not None
    assert opened.data.facts.answers[0] == UNKNOWN
    opened.show()
    qtbot.waitUntil(lambda: opened.data.facts.answers[0] == SKIPPED)
