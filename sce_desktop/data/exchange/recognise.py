"""Which lists of JSON objects are files of other annotation tools, and their rows as a table has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sce_desktop.core.i18n import _
from sce_desktop.data.exchange import argilla, doccano, label_studio
from sce_desktop.data.exchange.records import as_rows


def exchanged_rows(items: Sequence[Any]) -> tuple[str, str, list[dict[str, Any]]] | None:
    """Return the kind of file, what to say of it, and its rows; None for a list of anything else."""
    if label_studio.is_tasks(items):
        rows = as_rows(label_studio.read_tasks(items))
        return "label studio", _("This is a file of Label Studio: its labels are restored."), rows
    if argilla.is_records(items):
        rows = as_rows(argilla.read_records(items))
        return "argilla", _("This is a file of Argilla: its labels are restored."), rows
    if items and all(isinstance(item, dict) and doccano.is_line(item) for item in items):
        found = [doccano.read_line(item) for item in items]
        return "doccano", _("This is a file of Doccano: its labels are restored."), found
    return None
