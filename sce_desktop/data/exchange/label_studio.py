"""Tasks of Label Studio, as it exports them (JSON) and imports them with annotations and predictions.

The shapes are those of its documentation, "Export annotations" and "Import pre-annotations": a list of tasks
with ``data``, ``annotations`` and ``predictions``, each of these with results of the type ``choices``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final
from xml.sax.saxutils import quoteattr

from sce_desktop.core.names import numbered
from sce_desktop.data.exchange.records import (
    ExchangeProject,
    ExchangeRow,
    Incoming,
    Names,
    Prediction,
    kept_aside,
    restore,
    text_list,
    valid_xml,
)

KEPT_IN: Final = "sce_desktop"
"""The key in a task's ``meta`` that holds what Label Studio has no place for."""
_FROM, _TO = "label", "text"


def is_tasks(items: Sequence[Any]) -> bool:
    """Whether items of a JSON list are tasks of Label Studio."""
    first = next((item for item in items if isinstance(item, dict)), None)
    if first is None or not isinstance(first.get("data"), dict):
        return False
    return any(isinstance(first.get(key), list) for key in ("annotations", "completions", "predictions"))


def read_tasks(items: Sequence[Any]) -> list[Incoming]:
    """Return the rows of tasks; what is no task is passed over."""
    return [_read_task(item) for item in items if isinstance(item, dict)]


def _read_task(task: dict[str, Any]) -> Incoming:
    data = task.get("data")
    row = Incoming(dict(data) if isinstance(data, dict) else {})
    annotations = task.get("annotations", task.get("completions"))
    for one in annotations if isinstance(annotations, list) else ():
        if not isinstance(one, dict):
            continue
        if one.get("was_cancelled") is True:
            row.skipped = True
            continue
        labels = _choices(one.get("result"))
        if labels is None:
            continue
        row.given.append((_annotator(one), labels))
        moment = one.get("updated_at") or one.get("created_at")
        if isinstance(moment, str):
            row.decided_at = max(row.decided_at, str(moment))
    meta = task.get("meta")
    if isinstance(meta, dict) and isinstance(kept := meta.get(KEPT_IN), dict):
        restore(row, kept)
    return row


def _choices(result: Any) -> Names | None:
    """Return the choices of an annotation, none of them too; None where it is of other things."""
    if not isinstance(result, list):
        return None
    found: list[str] = []
    other = False
    for region in result:
        if not isinstance(region, dict):
            continue
        value = region.get("value")
        names = text_list(value.get("choices")) if isinstance(value, dict) else None
        if names is None and isinstance(value, dict) and isinstance(tree := value.get("taxonomy"), list):
            paths = [text_list(path) for path in tree]
            names = tuple(" > ".join(path) for path in paths if path)
        if names is None:
            other = True
        else:
            found += names
    if not found and other:
        return None
    return tuple(dict.fromkeys(found))


def _annotator(one: dict[str, Any]) -> str:
    """Return the name of who made an annotation: an address, else a number as text."""
    if isinstance(name := one.get("annotator"), str):  # as this program writes it
        return str(name)
    by = one.get("completed_by")
    if isinstance(by, dict):
        by = by.get("email") or by.get("id")
    return str(by) if isinstance(by, str) and by else ""


def write_tasks(project: ExchangeProject, rows: Iterable[ExchangeRow]) -> Iterator[str]:
    """Yield the text of a file of tasks, a row at a time."""
    names = numbered([_TO, *(name for _place, name in project.other_columns)])[1:]
    yield "["
    for place, row in enumerate(rows):
        yield ",\n" if place else "\n"
        yield json.dumps(_task(project, row, names), ensure_ascii=False)
    yield "\n]\n"


def _task(project: ExchangeProject, row: ExchangeRow, names: Sequence[str]) -> dict[str, Any]:
    data: dict[str, Any] = {_TO: row.text}
    for name, (place, _name) in zip(names, project.other_columns, strict=True):
        data[name] = row.cells[place]
    annotations: list[dict[str, Any]] = []
    if row.labels is not None:
        annotations.append({"result": _result(row.labels), "ground_truth": False})
    elif row.skipped:
        annotations.append({"result": [], "was_cancelled": True})
    for who, labels in row.others:
        by = {"completed_by": {"email": who}} if "@" in who else {}
        annotations.append({"result": _result(labels), "annotator": who, **by})
    return {
        "id": row.number,
        "data": data,
        "annotations": annotations,
        "predictions": [_prediction(row.prediction)] if row.prediction is not None else [],
        "meta": {KEPT_IN: kept_aside(row)},
    }


def _result(labels: Names, score: float | None = None) -> list[dict[str, Any]]:
    if not labels:
        return []
    region: dict[str, Any] = {
        "from_name": _FROM,
        "to_name": _TO,
        "type": "choices",
        "value": {"choices": list(labels)},
    }
    return [region if score is None else {**region, "score": score}]


def _prediction(found: Prediction) -> dict[str, Any]:
    given = found.labels if found.multi_label else found.labels[:1]
    score = min((share for _name, share in given), default=0.0)
    names = tuple(name for name, _share in given)
    return {"model_version": found.model, "score": score, "result": _result(names, score)}


def labeling_interface(project: ExchangeProject) -> str:
    """Return the labeling interface that a project of Label Studio needs for these tasks."""
    choice = "multiple" if project.multi_label else "single"
    lines = [
        "<View>",
        f'  <Text name="{_TO}" value="${_TO}"/>',
        f'  <Choices name="{_FROM}" toName="{_TO}" choice="{choice}" showInline="true">',
        *(f"    <Choice value={quoteattr(valid_xml(label.name))}/>" for label in project.labels),
        "  </Choices>",
        "</View>",
    ]
    return "\n".join(lines) + "\n"
