"""A project with columns of every kind, and with names and cells that nobody should have to expect."""

from __future__ import annotations

from pathlib import Path

from sce_desktop.core.annotations import Label
from sce_desktop.store.project import Project
from tests.ui.panels import give_scores

COLUMNS = ("text", "region", "amount", "date", "ملاحظة", "", "note", "note", "very long " * 60, "🙂 mood")
REGION, AMOUNT, DATE, ARABIC, NAMELESS, NOTE, NOTE_AGAIN, LONG, MOOD = range(1, 10)
_REGIONS = ("north", "South", "", "east", "north", None)
_DATES = ("2024-05-03", "2023-12-31", "2024-01-15", "", "2024-05-02", "2022-07-01")


def cells(row: int) -> tuple[str | None, ...]:
    """The cells of a row, 0-based."""
    return (
        f"The parcel number {row} came late and the box was wet",
        _REGIONS[row % 6],
        f"{(row * 37) % 100}.{row % 10}",
        _DATES[row % 6],
        "وصلت الشحنة متأخرة" if row % 2 else "تم",
        "=cmd|' /C calc'!A0" if row == 3 else "x",
        "with\0NUL" if row == 1 else "a\nb\tc",
        "\ud800half" if row == 2 else "second note",
        "y" * 5_000 if row == 0 else "short",
        "🙂" if row % 3 else "👩‍👩‍👧",
    )


def make(path: Path, rows: int = 30, labels: tuple[str, ...] = ("Late", "Damaged", "Praise")) -> Path:
    """Write the project, with scores of two models."""
    with Project.create(path, name=path.stem) as project:
        project.add_rows(COLUMNS, [[cells(row) for row in range(rows)]], text_columns=[0], source={})
        project.set_labels([Label(label) for label in labels])
        give_scores(project, [row % len(labels) for row in range(rows)])
        give_scores(project, [row % 2 for row in range(rows)], alias="similarity", share=0.6)
    return path
