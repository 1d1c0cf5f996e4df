"""What can be asked of a column of the table, the user's own and ours, and the query that an answer makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sce_desktop.controllers.queries import column_title
from sce_desktop.controllers.rows_text import alias_title
from sce_desktop.core.annotations import Label
from sce_desktop.core.choices import Counts
from sce_desktop.core.colours import colour_of
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, number
from sce_desktop.core.query import CellFilter, RowQuery, RowState
from sce_desktop.core.readings import Kind, Reading, reading_of
from sce_desktop.core.runs import Run
from sce_desktop.core.tables import Cell
from sce_desktop.ui.rows.filter_words import STATES

MARKS, TEXT, YOURS, SCE, BASELINE = "marks", "text", "yours", "sce", "baseline"
OURS = (TEXT, YOURS, SCE, BASELINE, MARKS)
Target = int | str
"""A 0-based place of the user's columns, or one of `OURS`."""
_MARKED = (RowState.FLAGGED, RowState.UNSURE)


@dataclass(frozen=True, slots=True)
class FilterValue:
    """Something to check. ``key`` stands for it in the query."""

    name: str
    key: int | str
    rows: int | None = None  # None: not known
    colour: str = ""  # of a label


@dataclass(frozen=True, slots=True)
class FilterForm:
    """The fields of a filter, with what is asked now."""

    title: str
    read: bool = False  # the values are read from the project
    values: tuple[FilterValue, ...] = ()
    chosen: frozenset[int | str] = frozenset()  # of the values; none: no condition
    without: bool = False  # all but ``chosen``
    choices: tuple[tuple[str, object], ...] = ()  # of which one holds, the first by default
    choice: object = None
    contains: str | None = None  # None: there is no such field
    range: tuple[str, str] | None = None  # None: there is no such field, or not yet
    hint: str = ""  # how bounds are written


@dataclass(frozen=True, slots=True)
class FilterAnswer:
    """What the user wants of a column."""

    values: tuple[int | str, ...] = ()
    without: bool = False
    choice: object = None
    contains: str = ""
    range: tuple[str, str] = field(default=("", ""))


def target_title(target: Target, columns: Sequence[str], runs: Sequence[Run]) -> str:
    """What a column is called where one is chosen."""
    if isinstance(target, int):
        return column_title(columns, target)
    baseline = alias_title(runs[1].alias if len(runs) > 1 else "similarity")
    names = {TEXT: _("Text"), YOURS: _("Your label"), SCE: _("SCE label and confidence"), MARKS: _("Marks")}
    return names.get(target, baseline)


def form_of(
    target: Target,
    query: RowQuery,
    columns: Sequence[str],
    labels: Sequence[Label],
    runs: Sequence[Run],
    counts: Counts | None = None,
) -> FilterForm:
    """Return the form for a column, with what ``query`` asks of it."""
    title = target_title(target, columns, runs)
    if isinstance(target, int):
        now = next((cell for cell in query.cells if cell.column == target), CellFilter(target))
        chosen = frozenset(value or "" for value in now.values)
        bounds = (now.low, now.high) if now.low or now.high else None
        return FilterForm(
            title, read=True, chosen=chosen, without=now.without, contains=now.contains, range=bounds
        )
    if target == TEXT:
        texts = ((_("All rows"), None), (_("With text"), False), (_("No text"), True))
        return FilterForm(title, choices=texts, choice=query.blank, contains=query.search)
    if target == YOURS:
        states = tuple((name, state) for name, state in STATES if state not in _MARKED)
        return FilterForm(
            title,
            values=_label_values(labels, counts.labels if counts else {}),
            chosen=frozenset(query.label_ids),
            choices=((_("Any status"), RowState.ANY), *states),
            choice=query.state,
        )
    if target == MARKS:
        states = tuple((name, state) for name, state in STATES if state in _MARKED)
        return FilterForm(title, choices=((_("Any"), RowState.ANY), *states), choice=query.state)
    if target == SCE:
        low, high = query.confidence or (0.0, 1.0)
        return FilterForm(
            title,
            values=_label_values(labels, counts.predicted if counts else {}),
            chosen=frozenset(query.predicted_ids),
            range=("" if low <= 0 else f"{100 * low:g}", "" if high >= 1 else f"{100 * high:g}"),
            hint=_("Confidence in %"),
        )
    agree = ((_("All rows"), None), (_("Models agree"), False), (_("Models disagree"), True))
    return FilterForm(title, choices=agree, choice=query.disagree)


def answered(
    target: Target, query: RowQuery, answer: FilterAnswer, kind: Kind, runs: Sequence[Run]
) -> RowQuery:
    """Return ``query`` with the filter by a column that ``answer`` wants; ``kind``: what the column reads as.

    Raises:
        UserError: A bound cannot be read.
    """
    low, high = (bound.strip() for bound in answer.range)
    if isinstance(target, int):
        _check_bounds(kind, low, high)
        values: tuple[Cell, ...] = tuple(str(value) or None for value in answer.values)
        wanted = CellFilter(target, values, answer.without and bool(values), answer.contains, low, high)
        rest = tuple(cell for cell in query.cells if cell.column != target)
        return replace(query, cells=(*rest, wanted) if wanted.hides else rest)
    ids = tuple(value for value in answer.values if isinstance(value, int))
    choice = answer.choice
    if target == TEXT:
        assert choice is None or isinstance(choice, bool)
        return replace(query, search=answer.contains, blank=choice)
    if target == YOURS:
        assert isinstance(choice, RowState)
        return replace(query, label_ids=ids, state=choice)
    if target == MARKS:
        assert isinstance(choice, RowState)
        return replace(query, state=choice)
    if not runs:
        return query
    if target == SCE:
        confidence = (_share(low, 0.0), _share(high, 1.0)) if low or high else None
        return replace(query, predicted_ids=ids, confidence=confidence, run_id=runs[0].id)
    if len(runs) < 2:
        return query
    assert choice is None or isinstance(choice, bool)
    return replace(query, disagree=choice, compare=query.compare or (runs[0].id, runs[1].id))


def cleared(target: Target, query: RowQuery) -> RowQuery:
    """Return ``query`` without any filter by a column."""
    if isinstance(target, int):
        return replace(query, cells=tuple(cell for cell in query.cells if cell.column != target))
    if target == TEXT:
        return replace(query, search="", pattern="", blank=None)
    if target == YOURS:
        return replace(query, label_ids=(), state=query.state if query.state in _MARKED else RowState.ANY)
    if target == MARKS:
        return replace(query, state=RowState.ANY if query.state in _MARKED else query.state)
    if target == SCE:
        return replace(query, predicted_ids=(), confidence=None)
    return replace(query, disagree=None)


def filtered(query: RowQuery) -> frozenset[Target]:
    """Return the columns by which ``query`` filters."""
    found: set[Target] = {cell.column for cell in query.cells}
    return frozenset(found | {target for target in OURS if cleared(target, query) != query})


def _label_values(labels: Sequence[Label], rows: object) -> tuple[FilterValue, ...]:
    known = rows if isinstance(rows, dict) else {}
    return tuple(
        FilterValue(label.name, label.id, known.get(label.id), colour_of(label))
        for label in labels
        if label.id is not None
    )


def _check_bounds(kind: Kind, low: str, high: str) -> None:
    bounds = [bound for bound in (low, high) if bound]
    for bound in bounds:
        if reading_of([bound]).kind is not kind:
            raise UserError(
                _("“{text}” is not a date: write it as 2024-05-31.", text=bound)
                if kind is Kind.DATE
                else _("“{text}” is not a number.", text=bound)
            )


def _share(bound: str, default: float) -> float:
    if not bound:
        return default
    value = Reading(Kind.NUMBER).value(bound.replace(",", "."))
    if not 0 <= value <= 100:
        raise UserError(_("“{text}” is not a number from 0 to {most}.", text=bound, most=number(100)))
    return value / 100
