"""The collection of labelled sets that models are trained and measured on.

A folder with ``train/``, ``validation/``, ``benchmark/`` and perhaps ``multilingual/``, each of gzipped JSON
Lines ``NAME.jsonl.gz`` with text, label and, where a set has some, split, and with ``paper_labels.json``: for
some sets, the paper's name of every label, null where the paper leaves the class out.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sce_desktop.core.errors import UserError
from sce_desktop.data.csv.text_source import reading

Part = Literal["train", "validation", "benchmark", "multilingual"]

_PARTS: tuple[Part, ...] = ("train", "validation", "benchmark", "multilingual")
_ENDING = ".jsonl.gz"


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """Texts with one label each, in the order of the file."""

    name: str
    part: Part
    texts: tuple[str, ...]
    labels: tuple[str, ...]  # one a text

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def label_names(self) -> tuple[str, ...]:
        """The label space, in the order in which labels first appear."""
        return tuple(dict.fromkeys(self.labels))


def list_sets(data_dir: str | Path, part: str) -> tuple[str, ...]:
    """Return the names of the sets in ``part`` (train, validation, benchmark or multilingual), sorted.

    Raises UserError if there is no such part, or nothing in it.
    """
    if part not in _PARTS:
        raise UserError(f"There is no part “{part}”: choose {', '.join(_PARTS)}.")
    folder = Path(data_dir) / part
    names = sorted(path.name.removesuffix(_ENDING) for path in folder.glob(f"*{_ENDING}"))
    if not names:
        raise UserError(f"There are no sets (*{_ENDING}) in {folder}: give the folder that holds {part}/.")
    return tuple(names)


def load_set(
    data_dir: str | Path, name: str, *, paper_labels: bool = False, split: str | None = None
) -> LabelledSet:
    """Read the set ``name``, whichever part it is in.

    With ``paper_labels``, labels bear the paper's names where it has some for this set, and rows whose
    class it leaves out are dropped. ``split`` takes only rows of that split. Raises UserError.
    """
    part, path = _find(data_dir, name)
    renamed = _paper_labels(data_dir).get(name) if paper_labels else None
    texts: list[str] = []
    labels: list[str] = []
    for row in _rows(path):
        if split is not None and row.get("split") != split:
            continue
        label: str | None = row["label"]
        if renamed is not None:
            if row["label"] not in renamed:
                raise UserError(f"paper_labels.json has no name for “{label}” of {name}: add it.")
            label = renamed[row["label"]]
        if label is not None:
            texts.append(row["text"])
            labels.append(label)
    if not texts:
        raise UserError(f"The set {name} has no rows with split “{split}”: choose another split.")
    return LabelledSet(name, part, tuple(texts), tuple(labels))


def _find(data_dir: str | Path, name: str) -> tuple[Part, Path]:
    for part in _PARTS:
        path = Path(data_dir) / part / f"{name}{_ENDING}"
        if path.is_file():
            return part, path
    raise UserError(f"There is no set “{name}” in {data_dir}: list its parts {', '.join(_PARTS)}.")


def _rows(path: Path) -> list[dict[str, str]]:
    with reading(path), gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        try:
            rows = [json.loads(line) for line in file]
        except ValueError:
            raise UserError(f"{path.name} is damaged: download it again.") from None
    if not all(isinstance(row, dict) and {"text", "label"} <= row.keys() for row in rows):
        raise UserError(f"{path.name} should have text and label in every line.")
    return rows


def _paper_labels(data_dir: str | Path) -> dict[str, dict[str, str | None]]:
    path = Path(data_dir) / "paper_labels.json"
    try:
        with reading(path):
            return dict(json.loads(path.read_bytes()))
    except ValueError:
        raise UserError(f"{path} is not valid JSON: download it again.") from None
