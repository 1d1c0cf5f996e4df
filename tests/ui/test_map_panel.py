"""The map: what is selected on it, what it follows, and what it says where there is none."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolTip
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import map_work
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.map_work import UNKNOWN
from sce_desktop.core.annotations import NO_LABEL, SKIPPED, Decision
from sce_desktop.core.colours import label_colour
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import RowQuery, RowState
from sce_desktop.core.runs import Scores
from sce_desktop.core.training import Fit
from sce_desktop.store.project import Project
from sce_desktop.store.runs.vector_cache import VectorCache
from sce_desktop.tasks.insight import map as maps
from sce_desktop.tasks.insight.map import NO_UMAP
from sce_desktop.tasks.scoring.vectors import KnownVectors
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.map import map_raster
from sce_desktop.ui.map.map_panel import MapPanel
from sce_desktop.ui.map.map_raster import Looks, Mark, argb
from sce_desktop.ui.map.map_view import MapView
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, add_version, give_scores, give_yes, open_in, settle
from tests.ui.wiring import wired

TEXTS = (*(f"parcel {n}" for n in range(12)), "", "never read")
READ = 12


@pytest.fixture
def path(make_project: MakeProject) -> Path:
    path = make_project(texts=TEXTS, labels=LABELS)
    with Project.open(path) as project:
        give_scores(project, [n % 3 for n in range(READ)])
    return path


@pytest.fixture
def known(tmp_path: Path) -> Iterator[KnownVectors]:
    """Vectors of the first rows: two far groups of six."""
    with VectorCache(tmp_path / "vectors.db") as cache:
        rng = np.random.default_rng(0)
        vectors = rng.normal(size=(READ, 8)) + np.repeat([[20.0], [-20.0]], 6, axis=0)
        cache.put("e", TEXTS[:READ], vectors.astype(np.float32))
        yield KnownVectors("e", cache)


@pytest.fixture
def panel(qtbot: QtBot, controllers: Controllers, theme: Theme) -> Iterator[MapPanel]:
    panel = wired(MapPanel, controllers)()
    qtbot.addWidget(panel)
    panel.resize(1100, 320)
    panel.show()
    qtbot.waitExposed(panel)
    yield panel
    settle(qtbot, controllers)
    qtbot.waitUntil(lambda: not controllers.workspace.workers.files.busy)


@pytest.fixture
def opened(
    qtbot: QtBot, controllers: Controllers, panel: MapPanel, path: Path, known: KnownVectors
) -> MapPanel:
    controllers.scorer._model_cache.known_vectors = known
    open_in(qtbot, controllers, path)
    wait_for_map(qtbot, panel)
    return panel


def wait_for_map(qtbot: QtBot, panel: MapPanel) -> None:
    qtbot.waitUntil(lambda: panel.data.facts is not None and panel.data._visibility.idle, timeout=60_000)


def legend(panel: MapPanel) -> dict[str, int]:
    return {entry.name: entry.count for entry in panel.side.legend.entries}


def drag(
    view: MapView, corners: list[QPointF], modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    left = Qt.MouseButton.LeftButton
    points = [corner.toPoint() for corner in corners]
    QTest.mousePress(view, left, modifier, points[0])
    for point in points[1:]:
        QTest.mouseMove(view, point)
    QTest.mouseRelease(view, left, modifier, points[-1])


def around(view: MapView, points: list[int], margin: float = 15) -> list[QPointF]:
    """The corners of a box round some points."""
    pixels = view.pixels()[points]
    (left, top), (right, bottom) = pixels.min(axis=0) - margin, pixels.max(axis=0) + margin
    return [QPointF(left, top), QPointF(right, top), QPointF(right, bottom), QPointF(left, bottom)]


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


# --- the picture -------------------------------------------------------------------------------------------


def ink(image: QImage, x: int, y: int) -> str:
    return QColor(image.pixelColor(x, y)).name(QColor.NameFormat.HexArgb)


def test_marks_are_where_they_belong_and_cut_at_the_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(map_raster, "SMOOTH_UP_TO", 0)
    pixels = np.array([[20.0, 10.0], [0.0, 0.0], [39.9, 19.9], [-300.0, 5.0], [20.0, 10.0]])
    looks = Looks(
        np.array(
            [argb("#ff0000"), argb("#00ff00"), argb("#0000ff"), argb("#ffffff"), argb("#aabbcc")], np.uint32
        ),
        np.array([Mark.DISC, Mark.DOT, Mark.CROSS, Mark.DOT, Mark.DOT], np.uint8),
        np.array([False] * 5),
    )
    order = map_raster.paint_order(looks.marks, np.arange(len(pixels)))
    image = map_raster.draw(pixels[order], looks, order, 40, 20, 1.0, "#000000")
    assert (image.width(), image.height()) == (40, 20)
    assert ink(image, 20, 10) == "#ffff0000"  # a decided row lies above an undecided one
    assert ink(image, 0, 0) == "#ff00ff00"
    assert ink(image, 39, 19) == "#ff0000ff"
    assert ink(image, 10, 10) == "#00000000"


@pytest.mark.parametrize("mark", list(Mark))
@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_points_at_every_distance_from_the_edges_can_be_drawn(mark: Mark, scale: float) -> None:
    pixels = np.stack(np.meshgrid(np.arange(-40.0, 80), np.arange(-40.0, 60)), axis=-1).reshape(-1, 2)
    count = len(pixels)
    looks = Looks(np.full(count, argb("#ff0000")), np.full(count, mark, np.uint8), np.zeros(count, bool))
    order = map_raster.paint_order(looks.marks, np.arange(len(pixels)))
    image = map_raster.draw(pixels[order], looks, order, 40, 20, scale, "#000000")
    assert {ink(image, x, y) for x in (0, 39) for y in (0, 19)} == {"#ffff0000"}


def test_of_very_many_points_a_part_is_painted_but_all_that_people_decided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(map_raster, "MOST_PAINTED", 10)
    marks = np.full(100, Mark.DOT, np.uint8)
    marks[[5, 50]] = Mark.DISC
    order = map_raster.paint_order(marks, np.arange(100))
    assert len(order) == 10
    assert set(order[-2:].tolist()) == {5, 50}


def test_a_part_of_the_points_is_painted_and_pointed_at_and_a_lasso_selects_all(
    monkeypatch: pytest.MonkeyPatch, controllers: Controllers, opened: MapPanel
) -> None:
    monkeypatch.setattr(map_raster, "MOST_PAINTED", 4)
    opened.clear_selection()
    opened.data.stateChanged.emit()
    assert "12 rows on the map. 4 rows, chosen at random, are drawn" in opened.side.note.text()
    view = opened.view
    found = {view.point_at(QPointF(*at)) for at in view.pixels()}
    assert found - {-1} <= set(view.painted.tolist())
    drag(view, around(view, list(range(6))))
    assert opened.selected.tolist() == [1, 2, 3, 4, 5, 6]


def test_rows_that_no_label_fits_are_coloured_so(
    qtbot: QtBot, controllers: Controllers, panel: MapPanel, make_project: MakeProject, known: KnownVectors
) -> None:
    path = make_project(texts=TEXTS, labels=LABELS[:1])
    with Project.open(path) as project:
        give_yes(project, [0.9, 0.4] * 5)
    controllers.scorer._model_cache.known_vectors = known
    open_in(qtbot, controllers, path)
    wait_for_map(qtbot, panel)
    panel.bar.colour.setCurrentIndex(1)
    panel.bar.colour.activated.emit(1)
    assert panel.bar.by_prediction
    assert legend(panel) == {"Late": 5, "None of these": 5, "Not scored": 2}
    assert {entry.mark for entry in panel.side.legend.entries} == {Mark.DOT}  # what one has decided oneself
    assert panel.data.facts is not None
    assert panel.data.facts.predicted[:2].tolist() == [1, NO_LABEL]


def test_the_map_follows_from_where_up_a_label_of_several_is_given(
    qtbot: QtBot, controllers: Controllers, opened: MapPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = controllers.workspace.project
    assert project is not None
    monkeypatch.setattr(controllers.scorer, "follow", lambda: None)  # no scores but those given here
    controllers.edits.set_labels(controllers.workspace.labels, multi_label=True)
    run = project.open_run(
        "sce", "sce", "sce-mini", "several", controllers.workspace.labels, multi_label=True
    )
    p = np.full((READ, 3), 0.1, np.float32)
    p[:, 1] = np.linspace(0.3, 0.85, READ)
    project.add_scores(run.id, np.arange(1, READ + 1), Scores(p))
    project.activate(run.id)
    controllers.scorer.refresh()

    def given() -> int:
        return 0 if opened.data.facts is None else int((opened.data.facts.predicted == 2).sum())

    qtbot.waitUntil(lambda: given() == 8)
    controllers.edits.set_threshold(0.8)
    qtbot.waitUntil(lambda: given() == 2)


def test_no_two_marks_look_alike() -> None:
    shapes = {mark: map_raster.stamp(mark, 3.0)[0].tolist() for mark in Mark}
    assert len({str(shape) for shape in shapes.values()}) == len(Mark)
    assert {NO_LABEL, SKIPPED, UNKNOWN}.isdisjoint({1, 2, 3})
