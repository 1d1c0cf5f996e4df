"""The map of a project whose rows have text vectors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.store.project import Project
from sce_desktop.store.runs.vector_cache import VectorCache
from sce_desktop.tasks.scoring.vectors import KnownVectors
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.map.map_panel import MapPanel
from sce_desktop.ui.map.map_view import MapView
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, give_scores, open_in, settle
from tests.ui.wiring import wired

TEXTS = (*(f"parcel {n}" for n in range(12)), "", "never read")
READ = 12


@pytest.fixture(name="path")
def path_fixture(make_project: MakeProject) -> Path:
    path = make_project(texts=TEXTS, labels=LABELS)
    with Project.open(path) as project:
        give_scores(project, [n % 3 for n in range(READ)])
    return path


@pytest.fixture(name="known")
def known_fixture(tmp_path: Path) -> Iterator[KnownVectors]:
    """Vectors of the first rows: two far groups of six."""
    with VectorCache(tmp_path / "vectors.db") as cache:
        rng = np.random.default_rng(0)
        vectors = rng.normal(size=(READ, 8)) + np.repeat([[20.0], [-20.0]], 6, axis=0)
        cache.put("e", TEXTS[:READ], vectors.astype(np.float32))
        yield KnownVectors("e", cache)


@pytest.fixture(name="panel")
def panel_fixture(qtbot: QtBot, controllers: Controllers, theme: Theme) -> Iterator[MapPanel]:
    panel = wired(MapPanel, controllers)()
    qtbot.addWidget(panel)
    panel.resize(1100, 320)
    panel.show()
    qtbot.waitExposed(panel)
    yield panel
    settle(qtbot, controllers)
    qtbot.waitUntil(lambda: not controllers.workspace.workers.files.busy)


@pytest.fixture(name="opened")
def opened_fixture(
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
