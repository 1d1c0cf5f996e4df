"""Where models run: how many cores they may use, and how that is said."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sce_desktop.core.i18n import _
from sce_desktop.core.precision import FLOAT32

if TYPE_CHECKING:
    from sce_desktop.controllers.work import ModelCache


def window_threads() -> int:
    """Cores that torch may use while the window is open: all but one, so that the window breathes."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2
    return max(1, available - 1)


def device_text(cache: ModelCache, threads: int) -> str:
    """Return where the models in ``cache`` run, on how many cores, and in what unless it is float32."""
    if cache.device == "cpu":
        where = _("CPU, {used} of {all} cores", used=threads, all=os.cpu_count() or threads)
    else:
        where = cache.device.upper()
    if cache.precision in ("", FLOAT32):
        return where
    return _("{device}, {precision}", device=where, precision=cache.precision)
