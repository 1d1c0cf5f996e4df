"""Which key does what: single keys that decide about a row, changed by the user and never two for one key.

Digits choose labels, as the user wants it: by rank, the buttons of the row panel from top to bottom, which
stand in order of probability; or fixed, the first labels of the list. A label may have a key of its own
beside. Keys with Ctrl, Alt or Meta belong to the menus.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtGui import QKeySequence

from sce_desktop.controllers.labels_groups import grouped
from sce_desktop.core.annotations import Label
from sce_desktop.core.i18n import _
from sce_desktop.core.text import isolated
from sce_desktop.settings import Settings

SETTING = "keys"
DIGITS = tuple("123456789")


@dataclass(frozen=True, slots=True)
class Command:
    """Something that a single key does. ``name`` is what the settings file calls it."""

    name: str
    words: str
    key: str


COMMANDS = (
    Command("accept", _("Keep your label or accept the prediction"), "Return"),
    Command("find", _("Find a label"), "/"),
    Command("none", _("None of these"), "0"),
    Command("skip", _("Skip"), "S"),
    Command("unsure", _("Mark as unsure"), "U"),
    Command("flag", _("Flag"), "F"),
    Command("note", _("Write a note"), "N"),
    Command("back", _("Undo the label"), "Backspace"),
    Command("copies", _("Apply label to duplicates"), "="),
    Command("similar", _("Show similar rows"), "M"),
    Command("why", _("Why this label"), "W"),
    Command("evidence", _("Show the evidence in focus mode"), "."),
    Command("start", _("Start reviewing"), "Q"),
    Command("next", _("Next row"), "J"),
    Command("previous", _("Previous row"), "K"),
)
_STANDARD = {
    "Space": _("pressing a button"),
    "Tab": _("the next field"),
    "Backtab": _("the previous field"),
    "Esc": _("closing and leaving"),
    "Up": _("moving up"),
    "Down": _("moving down"),
    "Left": _("moving left"),
    "Right": _("moving right"),
    "PgUp": _("scrolling"),
    "PgDown": _("scrolling"),
    "Home": _("the first row"),
    "End": _("the last row"),
    "Del": _("deleting"),
    "Menu": _("the row menu"),
    **dict.fromkeys(DIGITS, _("the label buttons")),
}
_MODIFIERS = ("Ctrl+", "Alt+", "Meta+")


def plain_key(text: str) -> str:
    """The key as Qt writes it, or "" where it is none or several."""
    sequence = QKeySequence(text.strip())
    if sequence.count() != 1:
        return ""
    key = sequence.toString(QKeySequence.SequenceFormat.PortableText)
    return {"Enter": "Return"}.get(key, key)


class Keymap:
    """The keys in use; a change is written to the settings file."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.menu_keys: dict[str, str] = {}  # key to what a menu does with it

    def key(self, name: str) -> str:
        """The key of a command."""
        return self.keys()[name]

    def keys(self) -> dict[str, str]:
        """The key of every command by its name; where the settings name one twice, the first has it."""
        try:
            own = json.loads(str(self._settings[SETTING]) or "{}")
        except (ValueError, RecursionError):
            own = {}
        own = own if isinstance(own, dict) else {}
        chosen = {c.name: plain_key(str(own[c.name])) for c in COMMANDS if c.name in own}
        chosen = {name: key for name, key in chosen.items() if key and not _standard_owner(key)}
        taken: set[str] = set()
        keys: dict[str, str] = {}
        for name, key in chosen.items():
            if key not in taken:
                keys[name] = key
                taken.add(key)
        for command in COMMANDS:
            if command.name not in keys:
                keys[command.name] = command.key if command.key not in taken else ""
                taken.add(keys[command.name])
        return keys

    def label_keys(self, labels: Sequence[Label]) -> dict[int, str]:
        """The keys of their own that labels have, by label id; one that is taken does not count."""
        keys: dict[int, str] = {}
        taken = set(self.keys().values())
        for label in labels:
            key = plain_key(label.shortcut) if label.shortcut else ""
            if label.id is not None and key and key not in taken and not self.fixed_owner(key):
                keys[label.id] = key
                taken.add(key)
        return keys

    def digits(self, labels: Sequence[Label]) -> dict[int, str] | None:
        """The digits that labels keep, by label id; None where digits go by rank."""
        if self._settings["digit_keys"] != "fixed":
            return None
        ordered, _ = grouped(labels)  # as their list shows them
        return {
            label.id: digit for label, digit in zip(ordered, DIGITS, strict=False) if label.id is not None
        }

    def all_label_keys(self, labels: Sequence[Label]) -> dict[int, tuple[str, ...]]:
        """Every key that always means a label, by label id: its own one first, then its digit."""
        own, digits = self.label_keys(labels), self.digits(labels) or {}
        ids = [label.id for label in labels if label.id in own or label.id in digits]
        return {i: tuple(keys[i] for keys in (own, digits) if i in keys) for i in ids if i is not None}

    def owner(self, key: str, labels: Sequence[Label], *, label_id: int | None = None) -> str:
        """Who has ``key`` already, in words, other than the label that asks; "" if nobody."""
        keys = self.keys()
        for command in COMMANDS:
            if keys[command.name] == key:
                return _("“{name}”", name=command.words)
        return self.fixed_owner(key, labels, label_id=label_id)

    def fixed_owner(self, key: str, labels: Sequence[Label] = (), *, label_id: int | None = None) -> str:
        """What has ``key`` beside the commands: a menu, the system, or another label than ``label_id``."""
        if key in self.menu_keys:
            return _("“{name}”", name=self.menu_keys[key])
        if owner := _standard_owner(key):
            return owner
        for label in labels:
            if label.id != label_id and plain_key(label.shortcut) == key:
                return _("the label “{name}”", name=isolated(label.name))
        return ""

    def changed(self, keys: Mapping[str, str]) -> str:
        """What the setting has to be so that commands have ``keys``; only what differs is kept."""
        usual = {command.name: command.key for command in COMMANDS}
        own = {name: key for name, key in keys.items() if key != usual[name]}
        return json.dumps(own, sort_keys=True) if own else ""


def _standard_owner(key: str) -> str:
    if key in _STANDARD:
        return _STANDARD[key]
    return _("the menus") if key.startswith(_MODIFIERS) else ""


def shown_key(key: str) -> str:
    """A key as buttons and lists name it."""
    return {"Return": "⏎", "Backspace": "⌫"}.get(key, key)
