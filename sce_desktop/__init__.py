"""SCE Desktop: sort texts into categories of your own, on your own machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["SCEClassifier", "__version__"]

if TYPE_CHECKING:
    from sce_desktop.ml.classifier import SCEClassifier


def __getattr__(name: str) -> Any:
    # Importing the package must stay cheap: torch comes only with the classifier.
    if name == "SCEClassifier":
        from sce_desktop.ml.classifier import SCEClassifier

        return SCEClassifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
