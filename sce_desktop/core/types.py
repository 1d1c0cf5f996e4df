"""The words of the program as frozen types (DESIGN glossary). Nothing here does input or output."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import PurePath
from typing import Any, Final, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from sce_desktop.core.blank import is_blank
from sce_desktop.core.progress import Progress

Cell = str | None
"""A cell as it was read. None only where the format itself has a null (parquet, jsonl, xlsx)."""


class TypedCells(tuple[Cell, ...]):
    """The cells of a row of JSON, with a letter a cell in ``types`` for what each was (see `CellType`)."""

    types: str

    def __new__(cls, cells: Sequence[Cell], types: str) -> Self:
        """Make the row; plain tuples are rows of texts and nulls alone."""
        row = super().__new__(cls, cells)
        row.types = types
        return row


class CellType(StrEnum):
    """What a cell was where its format has more than texts."""

    TEXT = "t"  # a text or a null, as the cell says
    VALUE = "j"  # the cell is the JSON of a number, a truth value, a list or an object
    MISSING = "-"  # nothing: the object had no such key


def first_cells(cells: Sequence[Cell], count: int | None) -> tuple[Cell, ...]:
    """Return the first ``count`` cells of a row with their types."""
    if isinstance(cells, TypedCells):
        return TypedCells(cells[:count], cells.types[:count])
    return tuple(cells[:count])


FloatArray = NDArray[np.float32]
IdArray = NDArray[np.int64]

NO_LABEL, SKIPPED = 0, -1
"""Stand where a label's id would: none fits, and the row was skipped."""


@dataclass(frozen=True, slots=True)
class Label:
    """One answer that a user may give. ``id`` is set once a project holds it and survives a rename."""

    name: str
    description: str = ""
    synonyms: tuple[str, ...] = ()
    colour: str = ""  # "#rrggbb", or empty: chosen by the window
    shortcut: str = ""  # a key sequence, or empty: chosen by the window
    id: int | None = None

    @property
    def wordings(self) -> tuple[str, ...]:
        """The name and its synonyms: a label's vector is the mean over them."""
        return (self.name, *self.synonyms)


@dataclass(frozen=True, slots=True)
class LabelSet:
    """An ordered set of labels as stored in a project. Immutable: an edit makes the next version."""

    id: int
    name: str
    version: int
    labels: tuple[Label, ...]
    multi_label: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One text to classify with its original cells, in the order of the project's columns."""

    id: int
    position: int  # 0-based place in import order
    text: str
    cells: tuple[Cell, ...]

    @property
    def blank(self) -> bool:
        """Whether there is nothing to classify."""
        return is_blank(self.text)


class Decision(StrEnum):
    """What a person decided about a row."""

    LABEL = "label"
    NONE = "none"
    SKIPPED = "skipped"


class Origin(StrEnum):
    """How the decision came about; kept apart in metrics and export."""

    HAND = "hand"
    BULK = "bulk"
    IMPORTED = "imported"


ACCEPTED = "accepted predictions"
"""The queue of decisions that are a model's answers, accepted for many rows at once."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """A person's decision about a row. ``label_ids`` is empty unless decision is LABEL."""

    row_id: int
    decision: Decision
    label_ids: tuple[int, ...]
    origin: Origin
    decided_at: str  # ISO 8601, UTC
    queue: str = ""  # the order in which the row was shown when it was decided

    @property
    def accepted(self) -> bool:
        """Whether it is a model's answer, accepted for many rows at once.

        Without a queue, as after the import of an export, nobody knows: it is taken for one.
        """
        return self.origin is Origin.BULK and self.queue in (ACCEPTED, "")


@dataclass(frozen=True, slots=True)
class RowMarks:
    """What a person noted about a row beside its label."""

    row_id: int
    unsure: bool = False
    flag: bool = False
    note: str = ""


class ChangeKind(StrEnum):
    """What a user can take back."""

    DECIDE = "decide"
    BULK = "bulk"
    BULK_PART = "bulk part"  # what there is as yet of one that goes on, or that broke off
    IMPORT = "import"
    CLEAR = "clear"
    MARKS = "marks"
    LABELS = "labels"
    MERGE = "merge"
    DELETE = "delete"
    SPLIT = "split"
    VERSION = "version"
    CODER = "coder"
    AUDIT = "audit"


@dataclass(frozen=True, slots=True)
class Change:
    """What an undo or a redo has changed, so that the window can go there."""

    kind: ChangeKind  # of the action that was undone or done again
    text: str  # the action in a few words, for menus
    rows: int  # how many rows it touched
    row_ids: tuple[int, ...]  # the first 1,000 of them, in file order
    labels: tuple[int, ...]  # ids of the labels that came, went or were edited
    label_set: bool  # whether another label set (or another order of labels) is in use now


@dataclass(frozen=True, slots=True)
class LabelEffect:
    """What an edit of labels would touch."""

    rows: int  # annotated with one of the labels
    hand: int  # of these, by the origin of the decision
    bulk: int
    imported: int
    overlap: int  # of these, with another label as well: the one that takes over, if one does, else any
    runs: int  # runs that scored with one of the labels and are out of date then


@dataclass(frozen=True, slots=True)
class SwitchEffect:
    """What using another version of the label set would do to rows."""

    hidden: int  # rows with a label that it lacks
    several: int  # rows with several labels of it, where a row may have one


@dataclass(frozen=True, slots=True)
class Audit:
    """A random sample of rows that claims about the whole table rest on."""

    id: int
    seed: int
    size: int
    frame: int  # how many rows it was drawn from
    blind: bool  # decided without seeing what the models say
    created_at: str


USER: Final = 0
"""The user among the coders: there is no record of them."""


@dataclass(frozen=True, slots=True)
class Coder:
    """Somebody else who has answered for rows, or a column of right answers."""

    id: int  # never `USER`
    name: str
    source: str  # where the answers came from
    rows: int
    created_at: str


ModelKind = Literal["sce", "similarity", "llm"]

_OF_A_VERSION = re.compile(r" \+ version \d+$")  # as `version_title` writes it


@dataclass(frozen=True, slots=True)
class Run:
    """One pass of one model over the rows with one label set. Its description never changes."""

    id: int
    alias: str  # column prefix: "sce", "similarity", or what the user named a baseline
    kind: ModelKind
    model: str  # name or folder as the user gave it
    fingerprint: str  # hash of weights and settings: same fingerprint, same numbers
    labels: tuple[Label, ...]  # snapshot, in the order of the probability vectors
    multi_label: bool
    created_at: str
    finished_at: str | None = None
    scored: int = 0
    whole_table: bool = False  # the table's other rows were counted in

    @property
    def label_names(self) -> tuple[str, ...]:
        """Names in the order of the probability vectors."""
        return tuple(label.name for label in self.labels)

    @property
    def title(self) -> str:
        """What people read of it: its model, and that the table's other rows were counted in."""
        return model_title(self.model, whole_table=self.whole_table)

    @property
    def of_version(self) -> bool:
        """Whether its model is a version of a project's own, which may have been deleted since."""
        return _OF_A_VERSION.search(self.model) is not None


def model_title(name: str, *, whole_table: bool) -> str:
    """What people read of a model that scores, as in "sce-mini, whole table"."""
    return f"{name}, whole table" if whole_table else name


def version_title(base: str, number: int) -> str:
    """What runs of a model version are called, as in "sce-mini + version 3"."""
    return f"{PurePath(base).name or base} + version {number}"


@dataclass(frozen=True, slots=True)
class ModelVersion:
    """The immutable result of a fine-tune; its weights stay in the project until they are asked for."""

    id: int
    number: int  # as people call it; never used again, even after a deletion
    name: str
    base: str  # name or folder of the model that was fine-tuned
    base_fingerprint: str
    created_at: str  # ISO 8601, UTC
    data_hash: str  # of the rows and answers that it learned from
    train_rows: int
    held_out_rows: int
    settings: Mapping[str, Any]
    seed: int
    metrics: Mapping[str, Any]  # before and after, on the same rows
    seconds: float
    active: bool  # scores come from this version instead of its base

    @property
    def title(self) -> str:
        """What its runs are called."""
        return version_title(self.base, self.number)

    @property
    def learned(self) -> IdArray:
        """Ids (n,) of the rows that it learned from, sorted; none if they were not kept."""
        return np.array(self.settings.get("row_ids", ()), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Scores:
    """Probabilities of n texts over K labels: ``probabilities`` (n, K) float32 in the caller's label order.

    Rows sum to 1 unless multi-label, where each entry is its own yes/no probability. ``none`` (n,) is the
    probability that no label fits, where the model can say so.
    """

    probabilities: FloatArray
    none: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.probabilities)


class VectorCache(Protocol):
    """Text vectors by (embedder key, text). Implemented in store/, used by ml/ through this protocol."""

    def get(self, embedder: str, texts: Sequence[str]) -> tuple[NDArray[np.bool_], FloatArray | None]:
        """Return (found (n,), vectors of the found ones (found.sum(), d) in order, None if none found)."""

    def put(self, embedder: str, texts: Sequence[str], vectors: FloatArray) -> None:
        """Keep ``vectors`` (n, d); losing them later is harmless."""


@dataclass(frozen=True, slots=True)
class KeptModel:
    """The model that a project keeps: name or folder, empty where nobody has said."""

    name: str = ""
    chosen: bool = False  # by a person, so that no other is offered


class TextModel(Protocol):
    """Anything that gives probabilities for texts and labels: an SCE, or a baseline."""

    @property
    def kind(self) -> ModelKind:
        """What it is."""

    @property
    def name(self) -> str:
        """Its own name."""

    @property
    def fingerprint(self) -> str:
        """Hash of weights and settings: same fingerprint, same numbers."""

    @property
    def labels(self) -> tuple[Label, ...]:
        """Labels that the model carries itself (after a fine-tune); often empty."""

    @property
    def max_tokens(self) -> int:
        """How far a text is read."""

    def probabilities(
        self,
        texts: Sequence[str],
        labels: Sequence[Label],
        *,
        multi_label: bool = False,
        cache: VectorCache | None = None,
        progress: Progress | None = None,
    ) -> Scores:
        """Score non-blank ``texts`` against ``labels``; `Progress.check` is called every batch."""


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How to read a table. None means: find out."""

    encoding: str | None = None
    delimiter: str | None = None  # "": every line is one cell
    quoting: bool | None = None  # False: quotes are plain text
    header_row: int | None = None  # 1-based line of the header; 0: there is none
    sheet: str | None = None
    quote: str | None = None  # the sign that encloses cells, unless quotes are plain text
    escape: str | None = None  # "\\": a backslash makes the next sign plain text; "": it is text itself
    spaces: bool | None = None  # True: those around a cell's quotes are no part of it

    @property
    def settled(self) -> TableOptions:
        """The same with what is usual for quotes, where nothing else was found: it is not guessed again."""
        return replace(self, quote=self.quote or '"', escape=self.escape or "", spaces=bool(self.spaces))


@dataclass(frozen=True, slots=True)
class TableProblem:
    """Something in a file that is not as it should be, by its 1-based line (or sheet row)."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Doubt:
    """A guess about how to read a table that may as well be otherwise."""

    sentence: str  # what was guessed, and the line that shows the difference
    offer: str  # what reading it the other way is called
    option: str  # the field of `TableOptions` that decides
    value: str | int | bool  # of that field, for the other way
    flag: str  # the same on the command line


@dataclass(frozen=True, slots=True)
class TablePreview:
    """What the import dialog shows before anything is imported."""

    path: str
    kind: str  # csv, xlsx, parquet, jsonl
    options: TableOptions  # as found or chosen
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    problems: tuple[TableProblem, ...]
    problem_count: int
    estimated_rows: int | None
    sheets: tuple[str, ...] = ()
    encodings: tuple[str, ...] = ()  # plausible ones, best first
    text_column: int | None = None  # our guess
    label_column: int | None = None  # our guess, None if nothing looks like one
    doubts: tuple[Doubt, ...] = ()  # about the options that were not chosen
    notes: tuple[str, ...] = ()  # how it was read, where that is not plain
    extra: dict[str, str] = field(default_factory=dict)
