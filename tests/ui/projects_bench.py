"""What tests of projects, their tables and their edits have in common."""

from __future__ import annotations

import threading
from pathlib import Path

from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.progress import Progress
from sce_desktop.store.project import Project

LABELS = ("Late", "Damaged", "Praise")


def open_in(qtbot: QtBot, controllers: Controllers, path: Path) -> Project:
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(path)
    assert controllers.workspace.project is not None
    return controllers.workspace.project


def told(controllers: Controllers) -> list[tuple[str, str]]:
    heard: list[tuple[str, str]] = []
    controllers.messages.notified.connect(lambda sentence, tone: heard.append((tone, sentence)))
    return heard


def endless(project: Project, *, progress: Progress) -> None:
    while True:
        progress.check()
        threading.Event().wait(0.002)
