"""A field for whole per cent, with the sign as the chosen language sets it."""

from __future__ import annotations

from sce_desktop.core.i18n import number, percent
from sce_desktop.ui.kit.dialog_parts import indent_number
from sce_desktop.ui.kit.fields import SpinBox


def percent_field(name: str, *, minimum: int = 1, value: int = 1) -> SpinBox:
    """Return a field from ``minimum`` to 100 per cent that screen readers call ``name``."""
    field = SpinBox(minimum=minimum, maximum=100, suffix=percent(0).removeprefix(number(0)), value=value)
    field.setAccessibleName(name)
    indent_number(field)
    return field
