"""Parquet that Hugging Face `datasets` loads with its label columns as ClassLabel features.

The features are described as `datasets.Features` writes them: JSON in the key "huggingface" of the schema's
metadata. A label is its place in the list of names; a row without one has null there, and `datasets` None.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

from sce_desktop.core.names import numbered
from sce_desktop.data.exchange.records import ExchangeProject, ExchangeRow

_BATCH = 5000
KEY: Final = b"huggingface"


def write_dataset(path: Path, project: ExchangeProject, rows: Iterable[ExchangeRow]) -> None:
    """Write rows to a parquet file at ``path``.

    Columns: the original ones as texts, then ``label`` (or ``labels`` where a row may have several), the
    marks, the model's label, its confidence and its probabilities.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [label.name for label in project.labels]
    class_label = {"names": names, "_type": "ClassLabel"}
    label_column = "labels" if project.multi_label else "label"
    label: tuple[Any, Any] = (pa.int64(), class_label)
    if project.multi_label:
        # "Sequence" is what versions before 4 know too; later ones read it as a list
        label = (pa.list_(pa.int64()), {"feature": class_label, "_type": "Sequence"})
    own = [
        (label_column, *label),
        ("decided", pa.string(), _value("string")),
        ("note", pa.string(), _value("string")),
        ("sce_label", pa.int64(), class_label),
        ("sce_confidence", pa.float32(), _value("float32")),
    ]
    titles = numbered([*project.columns, *(name for name, _type, _feature in own)])
    types = [*(pa.string() for _ in project.columns), *(kind for _name, kind, _feature in own)]
    features = [*(_value("string") for _ in project.columns), *(feature for *_rest, feature in own)]
    described = {"info": {"features": dict(zip(titles, features, strict=True))}}
    schema = pa.schema(list(zip(titles, types, strict=True)), metadata={KEY: json.dumps(described).encode()})
    place_of = {name: place for place, name in enumerate(names)}

    def cells(row: ExchangeRow) -> list[Any]:
        labels = row.labels
        given: Any = None
        if labels is not None and project.multi_label:
            given = [place_of[name] for name in labels]
        elif labels:
            given = place_of[labels[0]]
        best = row.prediction.labels[0] if row.prediction is not None and row.prediction.labels else None
        return [
            *row.cells,
            given,
            row.decided or ("skipped" if row.skipped else None),
            row.note or None,
            place_of.get(best[0]) if best is not None else None,
            best[1] if best is not None else None,
        ]

    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for some in _batches(rows):
            columns = zip(*(cells(row) for row in some), strict=True)
            arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
            writer.write_batch(pa.record_batch(arrays, schema=schema))


def _value(dtype: str) -> dict[str, str]:
    return {"dtype": dtype, "_type": "Value"}


def _batches(rows: Iterable[ExchangeRow]) -> Iterator[list[ExchangeRow]]:
    pending = iter(rows)
    while some := list(islice(pending, _BATCH)):
        yield some
