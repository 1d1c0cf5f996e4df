"""What a person types into the search box, as terms that must all be met.

    late parcel            both words, anywhere in the text
    "late parcel"          exactly this, spaces and all
    -refund  -"my money"   not in the text
    city:york              a cell of the column “city” contains it; city:"New York" with spaces
    "Order date":2024      a column with spaces in its name
    label:complaint        labelled so; annotator:Eva, note:call, is:flagged

Whatever is none of these is searched for as it stands: a quote without its partner, a colon behind a word
that names no column, a minus alone. So no search is ever wrong. What is compared, and how, is
`core.folding`'s.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sce_desktop.core.folding import bare
from sce_desktop.core.query import RowState

_TOKEN = re.compile(
    r"""
    (?P<minus>-(?=[^\s-]))?
    (?:(?P<field>"[^"]+"|[^\s":]+):(?=\S))?
    (?:"(?P<phrase>[^"]+)"(?=\s|$)|(?P<word>\S+))
    """,
    re.VERBOSE,
)
_STATES: Final = frozenset(state.value for state in RowState) - {RowState.ANY.value}


class Field(StrEnum):
    """Where a term looks: in the text, in a column, or in what people said of the row."""

    TEXT = "text"
    CELL = "cell"
    LABEL = "label"
    ANNOTATOR = "annotator"
    NOTE = "note"
    STATE = "is"


_BY_PEOPLE: Final = {field.value: field for field in (Field.LABEL, Field.ANNOTATOR, Field.NOTE, Field.STATE)}


@dataclass(frozen=True, slots=True)
class Term:
    """One condition. ``column`` is the 0-based place of a `Field.CELL`."""

    value: str
    field: Field = Field.TEXT
    column: int = 0
    excluded: bool = False


def search_terms(search: str, columns: Sequence[str] = ()) -> tuple[Term, ...]:
    """Return what ``search`` asks for, each term once.

    Args:
        search: As it was typed. White space alone is searched for as it stands.
        columns: The headers of the table; they go before the names that are ours.
    """
    if search and not search.strip():
        return (Term(search),)
    places = {bare(name): place for place, name in reversed(list(enumerate(columns)))}
    found: list[Term] = []
    at = 0
    while match := _TOKEN.search(search, at):
        term = _term(match, places)
        if term is None:  # not a field: the same without one
            match = _WITHOUT_FIELD.search(search, match.start())
            assert match is not None
            term = Term(match["phrase"] or match["word"], excluded=bool(match["minus"]))
        found.append(term)
        at = match.end()
    return tuple(dict.fromkeys(found))


_WITHOUT_FIELD = re.compile(
    r'(?P<minus>-(?=[^\s-]))?(?:"(?P<phrase>[^"]+)"(?=\s|$)|(?P<word>\S+))',
)


def _term(match: re.Match[str], places: dict[str, int]) -> Term | None:
    """Return the term of a match; None where what stands before the colon names nothing."""
    value, excluded = match["phrase"] or match["word"], bool(match["minus"])
    if match["field"] is None:
        return Term(value, excluded=excluded)
    name = bare(match["field"].strip('"'))
    if name in places:
        return Term(value, Field.CELL, places[name], excluded)
    field = _BY_PEOPLE.get(name)
    if field is None or (field is Field.STATE and value.lower() not in _STATES):
        return None
    return Term(value.lower() if field is Field.STATE else value, field, 0, excluded)


def needles(search: str, columns: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the pieces of text that are marked where they are found: those that must be in the text."""
    terms = search_terms(search, columns)
    return tuple(term.value for term in terms if term.field is Field.TEXT and not term.excluded)


def asks_people(search: str, columns: Sequence[str] = ()) -> bool:
    """Whether an annotation or a mark may change which rows ``search`` finds."""
    return any(term.field in _BY_PEOPLE.values() for term in search_terms(search, columns))


def is_plain(search: str, columns: Sequence[str] = ()) -> bool:
    """Whether ``search`` asks for one piece of text and nothing else."""
    terms = search_terms(search, columns)
    return len(terms) == 1 and terms[0].field is Field.TEXT and not terms[0].excluded
