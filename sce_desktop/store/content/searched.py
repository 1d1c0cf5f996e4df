"""The rows that the terms of a search let through which ask for people's answers (`core.search_terms`).

Those that ask for words in texts and cells are `row_tests`.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from sce_desktop.core.folding import bare, folded
from sce_desktop.core.query import RowState
from sce_desktop.core.search_terms import Field, Term
from sce_desktop.store.annotations import decisions
from sce_desktop.store.annotations.label_sets import active_set
from sce_desktop.store.file import schema

Statement = sa.Select[Any] | sa.CompoundSelect[Any]


def statement(connection: sa.Connection, term: Term, last: int) -> Statement:
    """Return the statement for the ids up to ``last`` that meet ``term``, or that it excludes."""
    match term.field:
        case Field.TEXT | Field.CELL:
            raise ValueError(f"a term for {term.field.value} is a test of each row")
        case Field.LABEL:
            return decisions.ids_with_labels(_labels_named(connection, term.value))
        case Field.ANNOTATOR:
            return _by_annotator(connection, term.value, last)
        case Field.NOTE:
            mark = schema.marks.c
            return sa.select(mark.row_id).where(mark.row_id <= last, contains(mark.note, term.value))
        case Field.STATE if term.value == RowState.UNLABELLED.value:
            row = schema.rows.c
            return sa.select(row.id).where(row.id <= last, row.id.not_in(decisions.ids_decided()))
        case Field.STATE:
            return decisions.ids_in_state(RowState(term.value))


def contains(text: sa.ColumnElement[Any], needle: str) -> sa.ColumnElement[bool]:
    """Return whether ``text`` contains ``needle`` as `core.folding` compares; NULL contains nothing."""
    key, accented = bare(needle), folded(needle)
    if not accented:
        return sa.func.instr(text, needle) > 0
    name = "contains_bare" if key == accented else "contains_folded"
    return text.is_not(None) & (getattr(sa.func, name)(text, accented) == 1)


def _labels_named(connection: sa.Connection, name: str) -> list[int]:
    """Return the ids of the label of that name, or of all whose names contain it."""
    label_set = active_set(connection)
    names = {label.id: bare(label.name) for label in label_set.labels if label.id} if label_set else {}
    key = bare(name)
    exact = [label_id for label_id, one in names.items() if one == key]
    return exact or [label_id for label_id, one in names.items() if key in one]


def _by_annotator(connection: sa.Connection, name: str, last: int) -> sa.Select[Any]:
    """Return the rows that another annotator labelled whose name contains ``name``."""
    coder, label = schema.coders.c, schema.other_annotations.c
    coders = sa.select(coder.id).where(coder.removed == sa.false(), contains(coder.name, name))
    return sa.select(label.row_id).where(label.row_id <= last, label.coder_id.in_(coders))
