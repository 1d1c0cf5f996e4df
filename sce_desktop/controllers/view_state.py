"""The last view of each project: filters, order, row, columns, groups. A review goes on where it stopped.

The file lies outside the project, so it holds numbers only: no search, no filter by cells, no label's name.
Those are remembered until the program ends.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from sce_desktop import state_files
from sce_desktop.controllers.own_columns import OwnColumn, read_columns
from sce_desktop.controllers.queries import without_filters
from sce_desktop.core.i18n import N_
from sce_desktop.core.query import CellFilter, RowOrder, RowQuery, RowState

_UNREADABLE = N_("The last view of your projects could not be read; the file is kept as {file}.")
MOST_PROJECTS = 30  # projects
_TEXTS = ("search", "pattern", "cells")  # of a query
MOST_ROW_IDS = 20_000  # that are named one by one: the file is written while the window closes


def to_json(query: RowQuery) -> dict[str, Any]:
    """What differs from the plain query, as JSON can hold it.

    A choice of very many rows is not kept: a part of it would look like all of it. An order of very many is
    kept as far as people get; the other rows follow in file order.
    """
    if query.among is not None and len(query.among) > MOST_ROW_IDS:
        query = without_filters(query)
    query = replace(query, given=query.given[:MOST_ROW_IDS])
    plain = asdict(RowQuery())
    return {name: value for name, value in asdict(query).items() if value != plain[name]}


def from_json(stored: dict[str, Any]) -> RowQuery:
    """The query that `to_json` stored. ValueError, TypeError or KeyError if it is none."""
    known = {field.name for field in fields(RowQuery)}
    found: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in stored.items()
        if name in known
    }
    if "cells" in found:
        found["cells"] = tuple(
            CellFilter(**{**cell, "values": tuple(cell.get("values", ()))}) for cell in found["cells"]
        )
    if "order" in found:
        found["order"] = RowOrder(found["order"])
    if "state" in found:
        found["state"] = RowState(found["state"])
    return RowQuery(**found)


def _without_texts(states: dict[str, Any]) -> dict[str, Any]:
    """Leave out texts of the user, those too that an older version has kept."""
    for state in states.values():
        if isinstance(state, dict):
            if isinstance(query := state.get("query"), dict):
                state["query"] = {name: value for name, value in query.items() if name not in _TEXTS}
            if isinstance(folded := state.get("folded"), list):
                state["folded"] = [one for one in folded if type(one) is int]
    return states


class ViewState:
    """Views in a small file beside the settings. Losing it loses no work, so failed writes are silent."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._texts: dict[str, dict[str, Any]] = {}  # what is not in the file, by project

    def shown_last(self, project: Path) -> tuple[RowQuery, int | None]:
        """Return the query and the row that were shown last; every row from the top if nothing is known."""
        try:
            state = self._read()[str(project)]
            row = state.get("row")
            query = from_json(state["query"] | self._texts.get(str(project), {}))
            return query, row if isinstance(row, int) else None
        except (KeyError, TypeError, ValueError, AttributeError):
            return RowQuery(), None

    def folded(self, project: Path) -> frozenset[int]:
        """Return the ids of the labels in the groups that were folded."""
        state = self._read().get(str(project))
        found = state.get("folded") if isinstance(state, dict) else None
        return (
            frozenset(label_id for label_id in found if type(label_id) is int)
            if isinstance(found, list)
            else frozenset()
        )

    def own_columns(self, project: Path, count: int) -> tuple[OwnColumn, ...]:
        """Return which of the table's ``count`` columns were shown beside the text, in their order."""
        state = self._read().get(str(project))
        return read_columns(state.get("columns") if isinstance(state, dict) else None, count)

    def keep(
        self,
        project: Path,
        query: RowQuery,
        row: int | None,
        folded: Iterable[int] = (),
        columns: Iterable[OwnColumn] = (),
    ) -> None:
        """Remember where one is."""
        states = self._read()
        states.pop(str(project), None)
        kept = to_json(query)
        self._texts[str(project)] = {name: value for name, value in kept.items() if name in _TEXTS}
        states[str(project)] = {
            "query": kept,
            "row": row,
            "folded": sorted(folded),
            "columns": [[column.place, column.width] for column in columns],
        }
        self._write(_without_texts(dict(list(states.items())[-MOST_PROJECTS:])))

    def forget(self, project: Path) -> None:
        """Forget how a project was shown."""
        states = self._read()
        if states.pop(str(project), None) is not None:
            self._write(states)

    def _write(self, states: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            state_files.write_text(self._file, json.dumps(states, ensure_ascii=False))

    def _read(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] | None = state_files.read_json(self._file, dict)
        except state_files.MalformedError as error:
            state_files.set_aside(self._file, _UNREADABLE, error)
            return {}
        return found or {}
