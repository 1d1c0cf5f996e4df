"""Labels, rows, and what people say of them; every edit as a change that can be undone."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sce_desktop.core.blank import is_blank
from sce_desktop.core.tables import Cell

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
