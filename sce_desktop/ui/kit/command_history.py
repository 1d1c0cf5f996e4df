"""Which commands are used often and lately: they come first in the command palette."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TypeVar

from PySide6.QtCore import QSettings

_KEY = "commands"
_FADING = 0.9  # what is left of each earlier use with every new one: ten uses later, about a third
_MOST = 30  # commands that are remembered

T = TypeVar("T")


class CommandHistory:
    """Keeps a weight for each command by its name: every use adds 1, and all earlier uses fade.

    Args:
        state: Where the weights are kept; what cannot be read there counts as nothing.
    """

    def __init__(self, state: QSettings) -> None:
        self._state = state

    def weights(self) -> dict[str, float]:
        """Return the weights of the commands that were used, by name."""
        try:
            stored = json.loads(str(self._state.value(_KEY, "{}")))
        except (ValueError, RecursionError):
            return {}
        pairs = stored.items() if isinstance(stored, dict) else ()
        return {name: float(weight) for name, weight in pairs if type(weight) in (int, float)}

    def note(self, name: str) -> None:
        """Count a use of the command ``name``."""
        weights = {used: weight * _FADING for used, weight in self.weights().items()}
        weights[name] = weights.get(name, 0.0) + 1.0
        heaviest = sorted(weights, key=lambda used: -weights[used])[:_MOST]
        if name not in heaviest:
            heaviest[-1] = name
        self._state.setValue(_KEY, json.dumps({used: weights[used] for used in heaviest}))

    def ordered(self, commands: Iterable[T], name_of: Callable[[T], str]) -> list[T]:
        """Return ``commands``, used ones first, the heaviest of them before all; the others as they stood."""
        weights = self.weights()
        return sorted(commands, key=lambda command: -weights.get(name_of(command), 0.0))
