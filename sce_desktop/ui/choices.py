"""What dialogs hand to the session, and the session to the lanes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sce_desktop.core.types import TableOptions


@dataclass(frozen=True, slots=True)
class ImportChoices:
    """What the import dialog hands over. Columns are 0-based indices into the table's columns."""

    path: Path
    options: TableOptions
    text_columns: tuple[int, ...]
    label_column: int | None = None  # an existing label: becomes the label set and imported annotations
    take_back: bool = False  # our own exported columns become annotations again instead of data
    append: bool = False  # to the open project; else a new one
    project_path: Path | None = None  # of a new project; None: named after the table, in the projects folder


@dataclass(frozen=True, slots=True)
class ExportChoices:
    """What the export dialog hands over."""

    path: Path
    only: Literal["all", "labelled", "unlabelled", "flagged", "shown"] = "all"
    columns: tuple[str, ...] | None = None  # names to write; None: all
    excel_safe: bool = False


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """Which models score, and where."""

    model: str  # a name of the catalog or a folder
    baselines: tuple[str, ...]  # each ``[ALIAS=]similarity[:MODEL]``
    device: str  # auto, cpu, cuda, mps
    threads: int  # cores that torch may use
