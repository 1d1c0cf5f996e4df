"""What the map paints: marks, colours, and a part of very many points."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.map_work import UNKNOWN
from sce_desktop.core.annotations import NO_LABEL, SKIPPED
from sce_desktop.core.runs import Scores
from sce_desktop.store.project import Project
from sce_desktop.tasks.scoring.vectors import KnownVectors
from sce_desktop.ui.map import map_raster
from sce_desktop.ui.map.map_panel import MapPanel
from sce_desktop.ui.map.map_raster import Looks, Mark, argb
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
from tests.ui.panels import LABELS, give_yes, open_in


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
