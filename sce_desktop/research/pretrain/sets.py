"""Reads the folder of labelled sets: <folder>/train/*.jsonl.gz and <folder>/validation/*.jsonl.gz."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sce_desktop.core.errors import UserError
from sce_desktop.research.pretrain.config import DataConfig
from sce_desktop.research.pretrain.material import (
    FACETS,
    FreeLabels,
    Glosses,
    Ints,
    StringTable,
    TrainSet,
    WrittenSets,
    make_dictionary,
    make_free_labels,
    make_glosses,
    make_pairs,
    make_set,
    make_translations,
    make_written,
)

MERGES = 300
"""Names of two labels together that are made up for each set."""

OTHERS = (
    "Other",
    "Others",
    "Something else",
    "None of these",
    "Miscellaneous",
    "Other topics",
    "Anything else",
)


@dataclass(frozen=True)
class ValidationSet:
    """A set that is never trained on. ``right`` holds each text's place in ``labels``."""

    name: str
    texts: list[int]
    labels: list[int]
    right: list[int]
    calibrates: bool = True  # False: looked at only, as the same sentences in other languages are


@dataclass
class Material:
    """All that training reads, with the two tables that everything numbers into."""

    texts: StringTable
    labels: StringTable
    train: list[TrainSet]
    validation: list[ValidationSet]
    glosses: Glosses | None
    pairs: Glosses
    free: FreeLabels | None
    written: WrittenSets | None
    broader: FreeLabels | None
    others: Ints  # label numbers of what users call the rest
    dictionary: tuple[Glosses, ...] = ()  # by language of the labels
    translations: Ints | None = None  # (labels, languages): the label's number in that language, -1: none


def read_material(config: DataConfig, base: Path, *, seed: int = 0) -> Material:
    """Read what ``config`` names, paths relative to ``base``. Raises UserError for what is missing.

    Rows of a train set whose ``split`` is "test" are held out, always.
    """
    folder = base / config.folder
    texts, labels = StringTable(), StringTable()
    synonyms = _json(base / config.wordings) if config.wordings else {}
    train, validation = [], []
    free_names = {r["id"]: r["labels"] for file in config.free_labels for r in _lines(base / file)}
    free: dict[str, list[str]] = {}
    broader = _json(base / config.broader) if config.broader else {}
    above: list[tuple[list[str], list[str]]] = []
    for path in _files(folder / "train", config.sets):
        name = path.name.split(".")[0]
        rows = [r for r in _lines(path) if r.get("split") != "test"]
        if not rows:
            raise UserError(f"The set {name} has no rows to train on: all are held out as test rows.")
        rows = _sample(rows, config.max_rows, seed)
        cut = [r["text"][: config.max_characters] for r in rows]
        train.append(
            make_set(
                name,
                cut,
                [r["label"] for r in rows],
                synonyms.get(name, {}),
                text_table=texts,
                label_table=labels,
                merges=MERGES,
            )
        )
        for label, categories in broader.get(name, {}).items():
            if own_texts := [text for row, text in zip(rows, cut, strict=True) if row["label"] == label]:
                above.append((own_texts, categories))
        if free_names:
            for row, text in zip(rows, cut, strict=True):
                if own := free_names.get(text_id(row["text"])):
                    free[text] = own
    if not train:
        raise UserError(f"There are no training sets (*.jsonl or *.jsonl.gz) in {folder / 'train'}.")
    places = [folder / part for part in config.validated_in if (folder / part).is_dir()]
    for path in _validation_files(places, config.validation):
        everything = list(_lines(path))
        names = sorted({r["label"] for r in everything})
        rows = _sample(everything, config.validation_rows, seed)
        validation.append(
            ValidationSet(
                path.name.split(".")[0],
                [texts.add(r["text"][: config.max_characters]) for r in rows],
                [labels.add(n) for n in names],
                [names.index(r["label"]) for r in rows],
                path.parent.name == config.validated_in[0],
            )
        )
    glosses = None
    if config.wordnet:
        glosses = make_glosses(list(_lines(base / config.wordnet)), text_table=texts, label_table=labels)
    numbers = sorted({int(n) for s in train for n in s.texts})
    pairs = make_pairs([texts.strings[n] for n in numbers], text_table=texts, label_table=labels)

    def _free(
        lines: Sequence[tuple[list[str], list[str]]], facets: Sequence[Sequence[int]] | None
    ) -> FreeLabels | None:
        return make_free_labels(lines, facets, text_table=texts, label_table=labels) if lines else None

    dictionary = make_dictionary(_lines(base / config.dictionary), texts, labels) if config.dictionary else ()
    written = _written([base / file for file in config.written], texts, labels) if config.written else None
    free_labels = _free([([text], own) for text, own in free.items()], FACETS)
    broader_labels = _free(above, None)
    others = np.array([labels.add(name) for name in OTHERS])
    translations = None
    if config.translations:
        translations = make_translations(_json(base / config.translations)["labels"], labels)
    return Material(
        texts,
        labels,
        train,
        validation,
        glosses,
        pairs,
        free_labels,
        written,
        broader_labels,
        others,
        dictionary,
        translations,
    )


def _written(paths: Sequence[Path], texts: StringTable, labels: StringTable) -> WrittenSets:
    try:
        lines = [line for path in paths for line in _lines(path)]
        return make_written(lines, text_table=texts, label_table=labels)
    except (KeyError, TypeError, ValueError) as error:
        names = " or ".join(path.name for path in paths)
        raise UserError(f"{names} is not a file of label sets with texts: {error!r}.") from None


def text_id(text: str) -> str:
    """Return the name by which a file of free labels knows a text, which it does not hold itself."""
    return hashlib.blake2b(text[:300].encode(), digest_size=6).hexdigest()


def _files(folder: Path, names: Sequence[str]) -> list[Path]:
    found = {p.name.split(".")[0]: p for p in sorted(folder.glob("*.jsonl*"))}
    missing = [n for n in names if n not in found]
    if missing:
        raise UserError(f"There is no set {missing[0]} in {folder}.")
    return [found[n] for n in (names or found)]


def _validation_files(folders: Sequence[Path], names: Sequence[str]) -> list[Path]:
    found = {p.name.split(".")[0]: p for folder in folders for p in sorted(folder.glob("*.jsonl*"))}
    missing = [n for n in names if n not in found]
    if missing:
        raise UserError(f"There is no set {missing[0]} to choose by in {' or '.join(map(str, folders))}.")
    return [found[n] for n in (names or found)]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            for line in file:
                if line.strip():
                    yield json.loads(line)
    except FileNotFoundError:
        raise UserError(f"There is no file {path}.") from None
    except (ValueError, EOFError, OSError) as error:
        raise UserError(f"{path.name} is not a file of JSON lines: {error}.") from None


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"The label wordings {path} cannot be read: {error}.") from None


def _sample(rows: list[dict[str, Any]], limit: int, seed: int) -> list[dict[str, Any]]:
    if len(rows) <= limit:
        return rows
    kept = random.Random(seed).sample(range(len(rows)), limit)
    return [rows[i] for i in sorted(kept)]
