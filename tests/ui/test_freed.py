"""Parts of panels go with the last reference to them: no slot of a child keeps them."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.ui.evaluate.confusion_view import ConfusionView
from sce_desktop.ui.evaluate.evaluate_bar import EvaluateBar
from sce_desktop.ui.findings.findings_bar import FindingsBar
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.map.map_controls import EmptyMap, MapBar, MapSide


@pytest.mark.parametrize("make", [MapBar, MapSide, EmptyMap, EvaluateBar, ConfusionView, FindingsBar])
def test_a_part_is_freed_without_a_search_for_cycles(
    qtbot: QtBot, theme: Theme, make: Callable[[], QWidget]
) -> None:
    gc.collect()
    gc.disable()
    try:
        part = make()
        seen = weakref.ref(part)
        del part
        assert seen() is None
    finally:
        gc.enable()
