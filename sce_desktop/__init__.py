"""SCE Desktop: sort texts into categories of your own, on your own machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Project", "SCEClassifier", "VectorMemory", "__version__"]

if TYPE_CHECKING:
    from sce_desktop.ml.classifier import SCEClassifier
    from sce_desktop.ml.vector_memory import VectorMemory
    from sce_desktop.project import Project

_PLACES = {
    "Project": "sce_desktop.project",
    "SCEClassifier": "sce_desktop.ml.classifier",
    "VectorMemory": "sce_desktop.ml.vector_memory",
}


def __getattr__(name: str) -> Any:
    # Importing the package must stay cheap: torch and SQLAlchemy come only with what needs them.
    if name in _PLACES:
        from importlib import import_module

        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
