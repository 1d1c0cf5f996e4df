"""Diagnostics say how things stand and nothing of what is in them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.diagnostics import diagnostics
from sce_desktop.core.log_tail import keeping_lines
from sce_desktop.ui.window.main_window import MainWindow

MARKER = "zqxmarker"


def text_of(controllers: Controllers) -> str:
    return diagnostics(controllers.workspace, controllers.scorer, controllers.preferences)


def section(text: str, title: str) -> list[str]:
    (found,) = [part for part in text.split("\n\n") if part.splitlines()[0] == title]
    return found.splitlines()[1:]


def test_without_a_project(controllers: Controllers) -> None:
    text = text_of(controllers)
    assert section(text, "Project") == ["none"]
    assert section(text, "Settings that differ from their defaults") == ["none"]
    assert any("sce-mini" in line for line in section(text, "Models"))
    assert any("processor cores" in line for line in section(text, "Machine"))


def test_a_project_by_its_sizes_alone(
    qtbot: QtBot, controllers: Controllers, make_project: Callable[..., Path], tmp_path: Path
) -> None:
    path = make_project(MARKER, texts=(f"{MARKER} one", "", "two"), labels=(f"{MARKER} label", "other"))
    settings = controllers.preferences.settings
    settings["projects_folder"] = str(tmp_path / MARKER)
    settings["model"] = str(tmp_path / MARKER / "model")
    settings["theme"] = "dark"
    with keeping_lines():
        logging.getLogger().setLevel(logging.INFO)
        controllers.projects.open_project(path)
        qtbot.waitUntil(lambda: controllers.workspace.counts is not None)
        controllers.messages.notify(f"A sentence with {MARKER}")
        logging.getLogger("sce_desktop").info("Opened %s", path)
        text = text_of(controllers)
    assert MARKER not in text
    assert str(tmp_path) not in text
    project = section(text, "Project")
    assert project[0].startswith("3 rows, 2 columns, 0.")
    assert "2 labels, one per row" in project
    assert "0 labelled, 0 scored, 1 without text" in project
    assert section(text, "Settings that differ from their defaults") == [
        "model: a model that was added",
        "projects_folder: set",
        "theme: dark",
    ]
    assert any("Opened …" in line for line in section(text, "Log"))


def test_the_menu_copies_them(real_window: MainWindow) -> None:
    (action,) = [one for one in real_window.menus.all_actions() if one.objectName() == "Copy diagnostics"]
    action.trigger()
    assert QApplication.clipboard().text().startswith("SCE Desktop diagnostics\n")
    assert "without texts or file names" in real_window.strip.text.text()
