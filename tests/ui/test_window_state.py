"""The file of the window's layout may hold, or be, anything: it is set aside and the window opens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings

from sce_desktop import state_files
from sce_desktop.ui.kit.window_state import window_state
from tests.hostile.state_files import BUILDERS

# Qt reads what is no ini file as lines without a meaning, and says nothing.
FINE = {"empty", "deep lists", "deep objects", "deep and whole", "many lists", "cut off", "another kind"}
FINE |= {"nothing but NaN"}


@pytest.fixture(autouse=True)
def _nothing_reported_before_and_after() -> Iterator[None]:
    with state_files.hearing(lambda _: None):
        pass
    yield
    with state_files.hearing(lambda _: None):
        pass


@pytest.mark.parametrize("builder", [name for name in BUILDERS if name not in FINE])
def test_what_is_no_layout_is_set_aside_and_reported(tmp_path: Path, builder: str) -> None:
    file = tmp_path / "window.ini"
    BUILDERS[builder](file)
    heard: list[str] = []
    with state_files.hearing(heard.append):
        state = window_state(file)
        assert state.value("geometry") is None
        state.setValue("front", "Map")
        state.sync()
        assert state.status() is QSettings.Status.NoError
        assert window_state(file).value("front") == "Map"
    (told,) = heard
    assert told == (
        "The layout of the window could not be read and is the default one; "
        f"the file is kept as {file}.unreadable."
    )


@pytest.mark.parametrize("builder", sorted(FINE))
def test_what_qt_reads_as_nothing_is_the_default(tmp_path: Path, builder: str) -> None:
    file = tmp_path / "window.ini"
    BUILDERS[builder](file)
    state = window_state(file)
    assert state.value("geometry") is None
