"""A list of the installed models to choose from, for the settings: what new projects begin with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from PySide6.QtWidgets import QWidget

from sce_desktop.core.i18n import _
from sce_desktop.core.runs import ModelKind
from sce_desktop.ui.kit.fields import ComboBox

Models = Iterable[tuple[str, ModelKind]]
Choices = Iterator[tuple[str, str]]  # the value of the setting, and what it is called


def main_models(models: Models) -> Choices:
    """Yield the models that can score a project."""
    yield from ((name, name) for name, kind in models if kind == "sce")


def baselines(models: Models) -> Choices:
    """Yield the baselines that can be shown beside it, as `Baseline.parse` reads them, or none."""
    yield "", _("None")
    yield "similarity", _("Similarity")
    for name, kind in models:
        if kind == "similarity":
            yield f"similarity:{name}", _("Similarity ({model})", model=name)
        elif kind == "llm":
            yield f"llm:{name}", _("LLM ({model})", model=name)


CHOOSERS: dict[str, Callable[[Models], Choices]] = {"model": main_models, "baseline": baselines}
"""What is chosen by a `ModelChooser`, by the key of the setting."""


class ModelChooser(ComboBox):
    """Offers what ``choices`` makes of the installed models, and whatever value is set now."""

    def __init__(
        self, choices: Callable[[Models], Choices], value: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._choices = choices
        self._add(value, value)
        self.show_models(())

    def show_models(self, models: Models) -> None:
        """Offer ``models``, each a name and a kind; what is chosen stays chosen."""
        chosen = str(self.currentData())
        offered = dict(self._choices(models))
        offered.setdefault(chosen, chosen)
        self.clear()
        for value, title in offered.items():
            self._add(value, title)
        self.setCurrentIndex(self.findData(chosen))

    def _add(self, value: str, title: str) -> None:
        self.addItem(title, value)
