"""What dialogs hand to the controllers, these to the workers, and the workers back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from sce_desktop.core.i18n import N_
from sce_desktop.core.query import FinalSource, RowState
from sce_desktop.core.tables import TableOptions

DIGIT_KEYS = {"rank": N_("By rank"), "fixed": N_("Fixed per label")}
DEVICES = {
    "auto": N_("Automatic"),
    "cpu": N_("CPU"),
    "cuda": N_("NVIDIA GPU"),
    "cuda:all": N_("All NVIDIA GPUs"),
    "mps": N_("Apple GPU"),
}
PRECISION_NAMES = {
    "auto": N_("Automatic"),
    "float32": N_("32 bits (float32)"),
    "float16": N_("16 bits (float16)"),
    "bfloat16": N_("16 bits (bfloat16)"),
    "int8": N_("8 bits (int8)"),
}
"""What the values of these settings are called; translated where they are shown."""


@dataclass(frozen=True, slots=True)
class ImportChoices:
    """What the import dialog hands over. Columns are 0-based indices into the table's columns."""

    path: Path
    options: TableOptions
    text_columns: tuple[int, ...]
    label_column: int | None = None  # an existing label: becomes the label set and imported annotations
    as_gold: bool = False  # the label column: gold labels to compare with, instead of annotations
    lists: bool | None = None  # cells of the label column are lists of labels; None: if most of them are
    take_back: bool = False  # our own exported columns become annotations again instead of data
    append: bool = False  # to the open project; else a new one
    model: str = ""  # that scores a new project; empty: as for a project that keeps none
    model_chosen: bool = False  # by the user, who is offered no other
    project_path: Path | None = None  # of a new project; None: named after the table, in the projects folder


@dataclass(frozen=True, slots=True)
class ExportChoices:
    """What the export dialog hands over."""

    path: Path
    only: Literal["all", "labelled", "unlabelled", "flagged", "shown"] = "all"
    columns: tuple[str, ...] | None = None  # names to write; None: all
    excel_safe: bool = False
    note: bool = False  # say in a file beside it which models the columns are of
    format: str = ""  # of another annotation tool, by `tasks.tables.exchange.Exchange`; empty: a table
    replace: bool = True  # what is there: whoever asks for a file has asked about that
    drafts: bool = False  # write draft scores where the model has scored nothing yet


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """Which models score, and where."""

    model: str  # a name of the catalog or a folder
    baselines: tuple[str, ...]  # each as `tasks.scoring.models.Baseline.parse` reads it
    device: str  # auto, cpu, cuda, cuda:all, mps
    threads: int  # cores that torch may use
    precision: str = "auto"  # what text embedders multiply in (core.precision)
    llm_on_screen: bool = False  # LLMs among the baselines score the rows on the screen alone


@dataclass(frozen=True, slots=True)
class Counts:
    """How many rows there are of each kind."""

    states: Mapping[RowState, int]  # rows by what a person has done with them; RowState.ANY: all
    labels: Mapping[int, int]  # annotated rows by label id
    predicted: Mapping[int, int]  # rows by the id of the label that the shown model puts first
    scored: int  # rows that the shown model has scored
    blank: int
    final: Mapping[FinalSource, int] = field(default_factory=dict)  # rows with text by their final label
    draft: int = 0  # rows that have a draft and no score yet

    @property
    def rows(self) -> int:
        """All rows."""
        return self.states[RowState.ANY]

    @property
    def labelled(self) -> int:
        """Rows that a person has answered: with a label, or that none fits."""
        return self.states[RowState.LABELLED] + self.states[RowState.NONE]
