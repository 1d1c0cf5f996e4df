"""WorkerQueues and controllers that end with the test, and small projects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from sce_desktop.app import make_window
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.jobs import WorkerQueues
from sce_desktop.core.annotations import Label
from sce_desktop.settings import Settings
from sce_desktop.store.project import Project
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.window.main_window import MainWindow
from tests.ui.at_work import write_material
from tests.ui.panels import settle

MakeProject = Callable[..., Path]


@pytest.fixture(autouse=True)
def no_multilingual_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is proposed hangs on no model that a checkout may have; none is loaded that takes seconds."""
    monkeypatch.setattr("sce_desktop.tasks.scoring.choice.is_here", lambda _name: False)


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    palette, sheet = qapp.palette(), qapp.styleSheet()
    theme = Theme(qapp, "light")
    yield theme
    theme.deleteLater()
    qapp.setStyleSheet(sheet)
    qapp.setPalette(palette)


@pytest.fixture
def restored(qapp: QApplication) -> Iterator[QApplication]:
    """The application, for tests that give it themes and fonts; it looks as before afterwards."""
    palette, sheet, text = qapp.palette(), qapp.styleSheet(), qapp.font()
    yield qapp
    for child in qapp.children():
        if isinstance(child, Theme):
            child.deleteLater()
    qapp.setStyleSheet(sheet)
    qapp.setPalette(palette)
    qapp.setFont(text)


@pytest.fixture
def workers(qapp) -> Iterator[WorkerQueues]:
    with WorkerQueues() as workers:
        yield workers


@pytest.fixture
def controllers(workers: WorkerQueues, tmp_path: Path, qtbot: QtBot) -> Iterator[Controllers]:
    """Controllers without a project; what it opens is closed at the end."""
    controllers = Controllers(workers, Settings(tmp_path / "settings.json"))
    yield controllers
    with qtbot.waitSignal(controllers.projects.settled):
        controllers.projects.shut_down()


@pytest.fixture
def make_project(tmp_path: Path) -> MakeProject:
    """Write a project file and return its path; it is closed."""

    def make(name: str = "Parcels", texts: tuple[str, ...] = (), labels: tuple[str, ...] = ()) -> Path:
        path = tmp_path / f"{name}.sce"
        texts = texts or ("Two days late", "Box crushed", "", "Driver was kind", "Two days late")
        with Project.create(path, name=name) as project:
            project.add_rows(
                ("ref", "text"),
                [[(str(place), text) for place, text in enumerate(texts)]],
                text_columns=[1],
                source={},
            )
            if labels:
                project.set_labels([Label(label) for label in labels])
        return path

    return make


@pytest.fixture(scope="session")
def material(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a large table and a project of it, for jobs that are to be interrupted."""
    folder = tmp_path_factory.mktemp("material")
    write_material(folder)
    return folder


@pytest.fixture
def real_window(controllers: Controllers, theme: Theme, qtbot: QtBot) -> Iterator[MainWindow]:
    """The window with its real panels at 1280x800; no model is loaded."""
    window = make_window(controllers, theme)
    window.resize(1280, 800)
    window.show()
    window.activateWindow()
    yield window
    settle(qtbot, controllers)
    window._settled = True  # the fixture ends the work
    window.close()
    window.deleteLater()
