"""Records of Argilla 2, as `Dataset.records.to_json` writes them and `from_json` reads them."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from sce_desktop.data.exchange.records import (
    ExchangeProject,
    ExchangeRow,
    Incoming,
    Names,
    kept_aside,
    restore,
    text_list,
)

_SPACE: Final = uuid.UUID("6a0f3ee5-0d0c-5a52-9a5e-0c2b7a1b7d11")
"""Users of a file are numbered by their names within this space: Argilla knows them by UUIDs alone."""
_OWN = "sce_desktop"
_QUESTION = "label"
_FIELD = "text"
_KEPT: Final = "sce_desktop"
"""The key of the metadata that holds, as JSON, what a record of Argilla has no place for."""


def is_records(items: Sequence[Any]) -> bool:
    """Whether items of a JSON list are records of Argilla 2."""
    first = next((item for item in items if isinstance(item, dict)), None)
    return (
        first is not None
        and isinstance(first.get("fields"), dict)
        and (isinstance(first.get("responses"), dict) or isinstance(first.get("suggestions"), dict))
    )


def read_records(items: Sequence[Any]) -> list[Incoming]:
    """Return the rows of records; the first question that has a label or labels is read."""
    return [_read_record(item) for item in items if isinstance(item, dict)]


def _read_record(record: dict[str, Any]) -> Incoming:
    fields, metadata = record.get("fields"), record.get("metadata")
    row = Incoming(dict(fields) if isinstance(fields, dict) else {})
    kept: dict[str, Any] = {}
    for name, value in metadata.items() if isinstance(metadata, dict) else ():
        if name == _KEPT:
            kept = _decoded(value)
        elif name not in row.data:
            row.data[name] = value
    users = kept.get("users")
    names = users if isinstance(users, dict) else {}
    responses = record.get("responses")
    for answers in responses.values() if isinstance(responses, dict) else ():
        found = [_answer(one, names) for one in answers if isinstance(one, dict)] if _is_list(answers) else []
        row.given = [one for one in found if one is not None]
        if row.given:
            break
    row.skipped = record.get("status") == "discarded" and not row.given
    if kept:
        restore(row, kept, by_us=_OWN)
    return row


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _decoded(value: Any) -> dict[str, Any]:
    try:
        found = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _answer(one: dict[str, Any], names: dict[str, Any]) -> tuple[str, Names] | None:
    labels = text_list(one.get("value"))
    if labels is None or one.get("status") in ("discarded", "draft"):
        return None
    user = one.get("user_id")
    key = str(user) if isinstance(user, str) else ""
    name = names.get(key, key)
    return (str(name) if isinstance(name, str) else key), labels


def write_records(project: ExchangeProject, rows: Iterable[ExchangeRow]) -> Iterator[str]:
    """Yield the text of a file of records, a row at a time."""
    yield "["
    for place, row in enumerate(rows):
        yield ",\n" if place else "\n"
        yield json.dumps(_record(project, row), ensure_ascii=False)
    yield "\n]\n"


def _record(project: ExchangeProject, row: ExchangeRow) -> dict[str, Any]:
    def value(labels: Names) -> Any:
        return list(labels) if project.multi_label else labels[0]

    given = [(_OWN, row.labels)] if row.labels is not None else []
    given += list(row.others)
    answers = [(who, labels) for who, labels in given if labels or project.multi_label]
    users = {str(uuid.uuid5(_SPACE, who)): who for who, _labels in answers}
    kept = kept_aside(row) | ({"users": users} if users else {})
    metadata = {name: row.cells[place] for place, name in project.other_columns if row.cells[place]}
    suggestions: dict[str, Any] = {}
    if row.prediction is not None and row.prediction.labels:
        best = row.prediction.labels if project.multi_label else row.prediction.labels[:1]
        shares = [share for _name, share in best]
        suggestions[_QUESTION] = {
            "value": value(tuple(name for name, _share in best)),
            "score": shares if project.multi_label else shares[0],
            "agent": row.prediction.model,
        }
    return {
        "id": str(row.number),
        "fields": {_FIELD: row.text},
        "metadata": {**metadata, _KEPT: json.dumps(kept, ensure_ascii=False)},
        "suggestions": suggestions,
        "responses": {
            _QUESTION: [
                {"value": value(labels), "user_id": str(uuid.uuid5(_SPACE, who))} for who, labels in answers
            ]
        }
        if answers
        else {},
        "vectors": {},
        "status": "completed" if answers else "discarded" if row.skipped or row.labels == () else "pending",
    }
