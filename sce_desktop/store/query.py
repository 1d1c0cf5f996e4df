"""Which rows, in which order: the question that the window and the tasks put to a project."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class RowState(StrEnum):
    """What a person has done with a row, as far as a filter asks.

    The first five exclude each other: a row whose labels were all removed from the label set counts as
    unlabelled until one of them comes back. Blank rows count as unlabelled too; see `RowQuery.blank`.
    """

    ANY = "any"
    UNLABELLED = "unlabelled"
    LABELLED = "labelled"
    NONE = "none"
    SKIPPED = "skipped"
    FLAGGED = "flagged"
    UNSURE = "unsure"


class RowOrder(StrEnum):
    """The order of rows. Ties, and rows that lack what is ordered by, follow in file order at the end."""

    FILE = "file"
    CONFIDENCE = "confidence"  # of `RowQuery.run_id`, least certain first
    MARGIN = "margin"  # of `RowQuery.run_id`, smallest first
    PREDICTED = "predicted"  # top label of `RowQuery.run_id` in the run's label order, surest first
    DISAGREE = "disagree"  # rows on which the runs of `RowQuery.compare` disagree first
    ANNOTATION = "annotation"  # by label in the order of the label set, then none of these, then skipped
    LENGTH = "length"  # characters of the text, shortest first
    RANDOM = "random"  # by `RowQuery.seed`; a row keeps its place among the others when the filter changes


@dataclass(frozen=True, slots=True)
class RowQuery:
    """A filter and an order. The defaults ask for every row in file order; conditions are joined by "and"."""

    search: str = ""  # text that the row's text must contain, letter case aside
    state: RowState = RowState.ANY
    label_ids: tuple[int, ...] = ()  # annotated with any of these
    run_id: int | None = None  # the run that predicted_ids, confidence and the score orders look at
    predicted_ids: tuple[int, ...] = ()  # the run's top label is any of these label ids
    confidence: tuple[float, float] | None = None  # the run's confidence lies in [low, high]
    compare: tuple[int, int] | None = None  # the two runs that disagree and RowOrder.DISAGREE look at
    disagree: bool | None = None  # True: both scored, different top labels; False: the same top label
    blank: bool | None = None  # True: nothing but white space; False: something to classify
    order: RowOrder = RowOrder.FILE
    descending: bool = False  # turns the order round; rows that lack what is ordered by stay at the end
    seed: int = 0

    def __post_init__(self) -> None:
        needs_run = bool(self.predicted_ids) or self.confidence is not None
        needs_run |= self.order in (RowOrder.CONFIDENCE, RowOrder.MARGIN, RowOrder.PREDICTED)
        if needs_run and self.run_id is None:
            raise ValueError("a filter or an order by scores needs run_id")
        if (self.disagree is not None or self.order is RowOrder.DISAGREE) and self.compare is None:
            raise ValueError("a filter or an order by disagreement needs compare")
