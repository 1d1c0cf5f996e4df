"""Small steps from one `RowQuery` to the next, and what a query hangs on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sce_desktop.core.i18n import _
from sce_desktop.core.query import AUDIT, OPEN_AUDIT, RowOrder, RowQuery, RowState
from sce_desktop.core.runs import Run
from sce_desktop.core.search_terms import asks_people

BY_SCORE = (RowOrder.CONFIDENCE, RowOrder.MARGIN, RowOrder.PREDICTED, RowOrder.RARE)
# The first word is stored with each decision (`queue_name`): it is never translated; `order_name` is shown.
ORDERS: tuple[tuple[str, RowOrder, bool], ...] = (
    ("file order", RowOrder.FILE, False),
    ("least certain", RowOrder.CONFIDENCE, False),
    ("most certain", RowOrder.CONFIDENCE, True),
    ("smallest margin", RowOrder.MARGIN, False),
    ("models disagree", RowOrder.DISAGREE, False),
    ("rare label first", RowOrder.RARE, False),
    ("diverse", RowOrder.GIVEN, False),
    ("SCE label", RowOrder.PREDICTED, False),
    ("your label", RowOrder.ANNOTATION, False),
    ("shortest text", RowOrder.LENGTH, False),
    ("longest text", RowOrder.LENGTH, True),
    ("random", RowOrder.RANDOM, False),
)
CHOSEN = "chosen rows"
OWN_COLUMN = "column of the table"
_NAMES = {
    "file order": _("File order"),
    "least certain": _("Least confident"),
    "most certain": _("Most confident"),
    "smallest margin": _("Smallest margin"),
    "models disagree": _("Models disagree"),
    "rare label first": _("Rare labels first"),
    "diverse": _("Diverse"),
    "SCE label": _("SCE label"),
    "your label": _("Your label"),
    "shortest text": _("Shortest text"),
    "longest text": _("Longest text"),
    "random": _("Random"),
    CHOSEN: _("Chosen rows"),
    OWN_COLUMN: _("Column of the table"),
    AUDIT: _("Audit sample"),
    OPEN_AUDIT: _("Audit sample, not blind"),
}
_BY_COLUMN = (
    *(RowOrder.FILE, RowOrder.LENGTH, RowOrder.ANNOTATION, RowOrder.CONFIDENCE, RowOrder.MARGIN),
    RowOrder.CONFIDENCE,  # of final labels: those to review come first
)


def has_filters(query: RowQuery) -> bool:
    """Whether ``query`` hides rows."""
    scored = query.predicted_ids or query.confidence is not None or query.disagree is not None
    scored = scored or query.final is not None
    by_people = query.state is not RowState.ANY or query.label_ids
    by_text = query.search or query.pattern or query.cells or query.blank is not None
    given = query.among is not None or query.duplicate is not None or query.former_ids or query.disagreeing
    return bool(by_text or by_people or scored or given or query.decided_since)


def is_selection(query: RowQuery) -> bool:
    """Whether ``query`` shows given rows in their own order: similar ones, not a queue to decide."""
    return query.order is RowOrder.GIVEN and query.among is not None and query.among == query.given


def in_audit(query: RowQuery) -> bool:
    """Whether ``query`` shows an audit sample in the order in which it was drawn."""
    return is_selection(query) and query.name in (AUDIT, OPEN_AUDIT)


def starts_over(query: RowQuery, before: RowQuery | None) -> bool:
    """Whether one works down the rows of ``query`` from their top, coming from those of ``before``.

    So it is with another order, but for an audit sample, which continues where it was left.
    """
    if before is None or in_audit(query):
        return False
    if query.order is RowOrder.GIVEN and not is_selection(query) and query.given != before.given:
        return True
    return (before.order, before.descending) != (query.order, query.descending)


def leads_to_open(query: RowQuery) -> bool:
    """Whether one who chooses ``query`` comes to decide: chosen rows, own answers, columns are looked at."""
    return not is_selection(query) and query.order not in (RowOrder.ANNOTATION, RowOrder.COLUMN)


def without_filters(query: RowQuery) -> RowQuery:
    """Every row, in the order of ``query``. The runs stay where the order needs them."""
    if is_selection(query):
        return RowQuery(seed=query.seed)  # its order says nothing about the other rows
    plain = RowQuery(order=RowOrder.FILE, seed=query.seed, descending=query.descending)
    if query.order in BY_SCORE:
        return replace(plain, order=query.order, run_id=query.run_id)
    if query.order is RowOrder.DISAGREE:
        return replace(plain, order=query.order, compare=query.compare)
    if query.order is RowOrder.COLUMN:
        return replace(plain, order=query.order, order_column=query.order_column)
    return replace(plain, order=query.order, given=query.given)


def order_by(
    query: RowQuery,
    order: RowOrder,
    runs: Sequence[Run],
    *,
    descending: bool = False,
    seed: int = 0,
    place: int = 1,
) -> RowQuery | None:
    """``query`` in another order, None if that needs scores that there are not.

    ``place``: of the baseline among ``runs`` that `RowOrder.DISAGREE` compares with.
    """
    if order in BY_SCORE:
        if not runs:
            return None
        query = replace(query, run_id=runs[0].id)
    if order is RowOrder.DISAGREE:
        if len(runs) <= place:
            return None
        query = replace(query, compare=(runs[0].id, runs[place].id))
    return replace(query, order=order, descending=descending, seed=seed, name="", order_column=None)


def order_by_own(query: RowQuery, place: int, *, descending: bool | None = None) -> RowQuery:
    """``query`` in the order of a column of the table; a second time turns it round."""
    same = query.order is RowOrder.COLUMN and query.order_column == place
    turned = same and not query.descending if descending is None else descending
    return replace(query, order=RowOrder.COLUMN, order_column=place, descending=turned, name="")


def order_by_column(query: RowQuery, column: int, runs: Sequence[Run]) -> RowQuery | None:
    """The order that a click on a heading asks for: a second click turns it round."""
    order = _BY_COLUMN[column] if column < len(_BY_COLUMN) else RowOrder.DISAGREE
    descending = query.order is order and not query.descending
    return order_by(query, order, runs, descending=descending, place=max(1, column - len(_BY_COLUMN) + 1))


def column_title(columns: Sequence[str], place: int) -> str:
    """What a column of the table is called on one line; one without a name has its number."""
    shown = " ".join(columns[place][:200].replace("\0", "").split()) if place < len(columns) else ""
    return shown or _("Column {number}", number=place + 1)


def name_of(key: str) -> str:
    """What is shown for a name of `ORDERS`, or for `RowQuery.name`."""
    return _NAMES.get(key) or _(key)


def order_name(query: RowQuery, columns: Sequence[str] = ()) -> str:
    """What is shown for the order of ``query``; ``columns`` are the names of those of the table."""
    key, is_reversed = _order_key(query)
    if key == OWN_COLUMN and query.order_column is not None and query.order_column < len(columns):
        name = column_title(columns, query.order_column)
        return _("{order} (reversed)", order=name) if is_reversed else name
    return _("{order} (reversed)", order=name_of(key)) if is_reversed else name_of(key)


def queue_name(query: RowQuery) -> str:
    """What is kept with a decision: how its row came up, by the names of `core.queues.Queue`."""
    key, is_reversed = _order_key(query)
    if is_reversed:
        return f"{key}, reversed"
    return "file" if key == "file order" else key


def _order_key(query: RowQuery) -> tuple[str, bool]:
    """Return the name of the order of ``query`` in `ORDERS`, and whether it is turned round."""
    if is_selection(query):
        return query.name or CHOSEN, False
    if query.order is RowOrder.COLUMN:
        return OWN_COLUMN, query.descending
    for key, order, descending in ORDERS:
        if query.order is order and query.descending == descending:
            return key, False
    return next(key for key, order, descending in ORDERS if query.order is order and not descending), True


def sorted_column(query: RowQuery) -> int | None:
    """The column whose heading shows the order; None for an order of no column."""
    if query.order is RowOrder.DISAGREE:
        return len(_BY_COLUMN)
    if query.order is RowOrder.PREDICTED:
        return _BY_COLUMN.index(RowOrder.CONFIDENCE)
    return _BY_COLUMN.index(query.order) if query.order in _BY_COLUMN else None


def follow_runs(query: RowQuery, runs: Sequence[Run]) -> RowQuery:
    """``query`` about the runs that are shown now; what needs scores goes where there are none."""
    main = runs[0].id if runs else None
    pair = (runs[0].id, runs[1].id) if len(runs) > 1 else None
    if query.compare is not None and query.compare[1] in [run.id for run in runs[1:]] and main is not None:
        pair = (main, query.compare[1])
    if main is None:
        query = replace(query, predicted_ids=(), confidence=None)
    if pair is None:
        query = replace(query, disagree=None)
    if (query.order in BY_SCORE and main is None) or (query.order is RowOrder.DISAGREE and pair is None):
        query = replace(query, order=RowOrder.FILE, descending=False)
    needs_main = bool(query.predicted_ids) or query.confidence is not None or query.order in BY_SCORE
    needs_main = needs_main or query.final is not None
    needs_pair = query.disagree is not None or query.order is RowOrder.DISAGREE
    return replace(query, run_id=main if needs_main else None, compare=pair if needs_pair else None)


def depends_on_scores(query: RowQuery) -> bool:
    """Whether new scores may change which rows ``query`` finds, or their order."""
    return query.run_id is not None or query.compare is not None or query.final is not None


def depends_on_people(query: RowQuery) -> bool:
    """Whether a decision or a mark may change which rows ``query`` finds, or their order."""
    filtered = query.label_ids or query.former_ids or query.decided_since or query.disagreeing or query.final
    ordered = query.order in (RowOrder.ANNOTATION, RowOrder.RARE)
    return query.state is not RowState.ANY or bool(filtered) or ordered or asks_people(query.search)
