"""What a project keeps as JSON or as a word, read so that a file from elsewhere cannot make us stumble."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Final

from sce_desktop.core.annotations import Label
from sce_desktop.core.i18n import _

MOST_LABEL: Final = 10_000_000
"""The greatest id of a label: arrays are made by them, and they count up from 1."""
_MOST_COLUMNS: Final = 100_000


class Malformed(ValueError):  # noqa: N818 - as `DamagedProject`, which it becomes
    """Something in a project that the program cannot have written. ``str()`` says what, for a sentence."""


def read_json(text: object) -> Any:
    """Return what a JSON text says. `Malformed` if it is none, or nested more deeply than we ever do."""
    if not isinstance(text, str):
        raise Malformed(_("something in it is not a text"))
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise Malformed(_("a list in it cannot be read")) from None


def read_labels(text: object) -> tuple[Label, ...]:
    """Return the labels of the snapshot in a label set or a run. `Malformed` if they make no sense."""
    try:
        labels = tuple(Label(**{**label, "synonyms": tuple(label["synonyms"])}) for label in read_json(text))
    except (TypeError, KeyError):
        raise Malformed(_("a label set in it cannot be read")) from None
    for label in labels:
        texts = (label.name, label.description, label.colour, label.shortcut, *label.synonyms)
        if not all(isinstance(text, str) for text in texts) or not label.name.strip():
            raise Malformed(_("a label in it has no name"))
        if type(label.id) is not int or not 1 <= label.id <= MOST_LABEL:
            raise Malformed(_("a label in it has no id"))
    if len({label.id for label in labels}) < len(labels):
        raise Malformed(_("two labels in it have the same id"))
    return labels


def read_shape(columns: object, text_columns: object) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the headers and the places of the texts among them. `Malformed` if they do not fit."""
    names, places = read_json(columns), read_json(text_columns)
    if (
        not isinstance(names, list)
        or not isinstance(places, list)
        or not all(isinstance(name, str) for name in names)
        or not all(type(place) is int and 0 <= place < len(names) for place in places)
        or bool(names) != bool(places)
        or len(set(places)) < len(places)
        or len(names) > _MOST_COLUMNS
    ):
        raise Malformed(_("the names of its columns cannot be read"))
    return tuple(names), tuple(places)


def is_moment(stored: object) -> bool:
    """Return whether something is a date and time as the program writes it, in ISO 8601."""
    if not isinstance(stored, str):
        return False
    try:
        datetime.fromisoformat(stored)
    except ValueError:
        return False
    return True
