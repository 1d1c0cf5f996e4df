"""Which rows, in which order: the question that the window and the tasks put to a project."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from sce_desktop.core.tables import Cell


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
    SEVERAL = "several"  # labels in use


class RowOrder(StrEnum):
    """The order of rows. Ties, and rows that lack what is ordered by, follow in file order at the end."""

    FILE = "file"
    CONFIDENCE = "confidence"  # of `RowQuery.run_id`, least certain first
    MARGIN = "margin"  # of `RowQuery.run_id`, smallest first
    PREDICTED = "predicted"  # by the label that `RowQuery.run_id` gives, surest first; then none of these
    DISAGREE = "disagree"  # rows on which the runs of `RowQuery.compare` disagree first
    ANNOTATION = "annotation"  # by label in the order of the label set, then none of these, then skipped
    LENGTH = "length"  # characters of the text, shortest first
    RARE = "rare"  # undecided rows; labels that `RowQuery.run_id` gives with the fewest decisions take turns
    GIVEN = "given"  # as in `RowQuery.given`
    COLUMN = "column"  # by the cells of `RowQuery.order_column`: numbers, dates or texts, as it reads
    RANDOM = "random"  # by `RowQuery.seed`; a row keeps its place among the others when the filter changes


class FinalSource(StrEnum):
    """Who gives a row its final label: one answer a row, the annotator's where there is one."""

    ANNOTATOR = "annotator"
    MODEL = "model"  # the prediction of a row without an annotation, from the confidence threshold up
    NONE = "none"  # nobody: the row is to be reviewed


@dataclass(frozen=True, slots=True)
class CellFilter:
    """Rows by their cell in a column; all of the conditions that are given have to hold.

    ``low`` and ``high`` are written as the cells are. They compare as numbers or dates where the whole column
    reads so (`core.readings`), and cells without a value do not lie between them.
    """

    column: int  # 0-based place in the project's columns
    values: tuple[Cell, ...] = ()  # one of these, exactly as it was read; None is an empty cell too
    without: bool = False  # none of ``values``, instead of one of them
    contains: str = ""  # compared as `RowQuery.search` is, letter case aside
    low: str = ""  # this or more
    high: str = ""  # this or less

    @property
    def hides(self) -> bool:
        """Whether there is any condition."""
        return bool(self.values or self.contains or self.low or self.high)


AUDIT = "audit"
"""`RowQuery.name` of a random sample in the order of its draw, decided without seeing predictions."""
OPEN_AUDIT = "audit, not blind"


@dataclass(frozen=True, slots=True)
class RowQuery:
    """A filter and an order. The defaults ask for every row in file order; conditions are joined by "and"."""

    search: str = ""  # as typed into the search box: words, phrases, columns; see `core.search_terms`
    pattern: str = ""  # regular expression that the row's text must match somewhere, letter case aside
    cells: tuple[CellFilter, ...] = ()  # all of these
    among: Sequence[int] | None = None  # only these rows: a selection on the map, similar rows, a sample
    duplicate: bool | None = None  # True: another row has exactly the same text; False: none has
    state: RowState = RowState.ANY
    label_ids: tuple[int, ...] = ()  # annotated with any of these
    former_ids: tuple[int, ...] = ()  # bears any of these labels, which is out of use: a split, a deletion
    decided_since: str = ""  # decided at this moment or later; ISO 8601, UTC
    disagreeing: tuple[int, ...] = ()  # coders (0: the user) of whom two at least differ about the row
    run_id: int | None = None  # the run that predicted_ids, confidence and the score orders look at
    predicted_ids: tuple[int, ...] = ()  # the run gives any of these labels, so not where it says none fits
    confidence: tuple[float, float] | None = None  # the run's confidence lies in [low, high]
    final: FinalSource | None = None  # who gives the final label, `run_id` being the model; rows with text
    compare: tuple[int, int] | None = None  # the two runs that disagree and RowOrder.DISAGREE look at
    disagree: bool | None = None  # True: the second's top label is not what the first gives; False: it is
    blank: bool | None = None  # True: nothing but white space; False: something to classify; None: `no_text`
    order: RowOrder = RowOrder.FILE
    order_column: int | None = None  # 0-based place of the column, for RowOrder.COLUMN
    descending: bool = False  # turns the order round; rows that lack what is ordered by stay at the end
    seed: int = 0
    given: tuple[int, ...] = ()  # rows, for RowOrder.GIVEN; others follow in file order
    name: str = ""  # what the rows of ``given`` are, as it is kept with decisions about them: `AUDIT`, ...

    @property
    def no_text(self) -> bool | None:
        """Whether the rows have no text; None: some may have none, others have.

        In file order and by a column it is the table as it was imported. In any other order rows come up to
        be decided, and there is nothing to decide about those without text; unless they are asked for one by
        one.
        """
        in_question = self.order not in (RowOrder.FILE, RowOrder.COLUMN) and self.among is None
        return False if self.blank is None and in_question else self.blank

    @property
    def scored_by(self) -> frozenset[int]:
        """The runs whose scores of every row the answer needs."""
        found = set[int]()
        if self.run_id is not None and (self._asks_run or self.final is not None):
            found.add(self.run_id)
        if self.compare is not None and self._compares:
            found.update(self.compare)
        return frozenset(found)

    @property
    def _asks_run(self) -> bool:
        by_score = self.order in (RowOrder.CONFIDENCE, RowOrder.MARGIN, RowOrder.PREDICTED, RowOrder.RARE)
        return by_score or bool(self.predicted_ids) or self.confidence is not None

    @property
    def _compares(self) -> bool:
        return self.disagree is not None or self.order is RowOrder.DISAGREE

    def __post_init__(self) -> None:
        if self._asks_run and self.run_id is None:
            raise ValueError("a filter or an order by scores needs run_id")
        if self._compares and self.compare is None:
            raise ValueError("a filter or an order by disagreement needs compare")
        if self.order is RowOrder.COLUMN and self.order_column is None:
            raise ValueError("an order by a column needs order_column")
