"""Rows and names of labels in what a project keeps as JSON."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from sce_desktop.core.escapes import shown
from sce_desktop.core.i18n import _
from sce_desktop.core.labels import label_key
from sce_desktop.core.quoting import shortened


def without(
    labels: list[dict[str, Any]], label_ids: Collection[int], keys: set[str], present: Mapping[int, str]
) -> list[dict[str, Any]]:
    """Return the labels of a snapshot without those that go, and without their names.

    ``keys``: of the names, which others may have as synonyms, or as a former name. ``present``: what labels
    that stay are called now, by id.
    """
    kept = []
    for label in labels:
        if label["id"] in label_ids:
            continue
        words = [word for word in label["synonyms"] if label_key(word) not in keys]
        name = label["name"]
        if label_key(name) in keys:
            name = present.get(label["id"], name)
        kept.append({**label, "name": name, "synonyms": words})
    return kept


def cleaned(found: Any, rows: Collection[int], names: Mapping[int, list[str]]) -> Any:
    """Return what a version tells of its training without ``rows``, and without the names of labels.

    ``names``: all names of each label by its id. Where a figure is about such a label, it stays without the
    name.
    """
    neutral = {
        name: _("deleted label {number}", number=label_id)
        for label_id, borne in names.items()
        for name in borne
    }
    return _cleaned(found, set(rows), neutral)


def _cleaned(found: Any, rows: set[int], neutral: Mapping[str, str]) -> Any:
    if isinstance(found, dict):
        kept = found
        if rows:
            kept = {key: _rows_kept(key, value, rows) for key, value in found.items()}
        return {neutral.get(key, key): _cleaned(value, rows, neutral) for key, value in kept.items()}
    if isinstance(found, list):
        return [_cleaned(one, rows, neutral) for one in found]
    if isinstance(found, str):
        if found in neutral:
            return neutral[found]
        for name, instead in neutral.items():  # in a sentence names are quoted, as its language does
            as_written = "|".join(map(re.escape, {name, shown(shortened(name))}))
            quotes = f'([“„«"]\u2068?)(?:{as_written})(\u2069?[”“»"])'
            found = re.sub(quotes, rf"\g<1>{instead.replace(chr(92), chr(92) * 2)}\g<2>", found)
    return found


def _rows_kept(key: str, value: Any, rows: set[int]) -> Any:
    if not isinstance(value, list):
        return value
    if key == "row_ids":
        return [row_id for row_id in value if row_id not in rows]
    if key == "changed_rows":
        return [one for one in value if not (isinstance(one, dict) and one.get("row_id") in rows)]
    return value
