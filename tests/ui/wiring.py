"""Panels, dialogs and functions get the controllers that they name; tests have all of them in one object."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from PySide6.QtCore import QObject

from sce_desktop.controllers.controllers import Controllers

T = TypeVar("T")


def wired(make: Callable[..., T], controllers: Controllers) -> Callable[..., T]:
    """Return ``make`` with the controllers that its first parameters name: ``wired(RowPanel, all)()``."""
    names = [name for name in inspect.signature(make).parameters if name in vars(controllers)]
    return partial(make, *(getattr(controllers, name) for name in names))


def controllers_of(panel: Any) -> Controllers:
    """Return all controllers of the window that ``panel`` was made for."""
    workspace: QObject = panel._workspace
    found = workspace.parent()
    assert isinstance(found, Controllers)
    return found
