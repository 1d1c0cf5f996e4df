"""The import dialog says what a table takes on disk, and cannot be accepted where it does not fit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.tasks.tables import room
from tests.ui.import_bench import show


def table(folder: Path) -> Path:
    path = folder / "parcels.csv"
    path.write_text("id,text\n" + "".join(f"{n},the parcel number {n} came late\n" for n in range(400)))
    return path


def test_a_table_that_does_not_fit_cannot_be_imported(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "free_disk", lambda folder: 10_000)
    dialog = show(qtbot, controllers, table(tmp_path))
    assert dialog.problem.text().startswith("parcels.csv would take about ")
    assert "free some space" in dialog.problem.text()
    assert not dialog.import_button.isEnabled()


def test_a_large_table_says_what_it_takes(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "LARGE", 1000)
    dialog = show(qtbot, controllers, table(tmp_path))
    (room_text,) = [text for text in dialog.facts.texts() if text.startswith("The project may take up to")]
    assert re.search(r"\d\N{NO-BREAK SPACE}[MG]B are free\.$", room_text)  # no line ends in a size
    assert dialog.import_button.isEnabled()


def test_a_small_table_says_nothing(qtbot: QtBot, controllers: Controllers, tmp_path: Path) -> None:
    dialog = show(qtbot, controllers, table(tmp_path))
    assert not any("on disk" in text for text in dialog.facts.texts())
