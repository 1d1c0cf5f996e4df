"""Reads the folder of labelled sets: <folder>/train/*.jsonl.gz and <folder>/validation/*.jsonl.gz."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sce_desktop.core.errors import UserError
from sce_desktop.research.pretrain.config import DataConfig
from sce_desktop.research.pretrain.training_data import (
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
class TrainingData:
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


def read_training_data(config: DataConfig, base: Path, *, seed: int = 0, pairs: bool = True) -> TrainingData:
    """Read what ``config`` names, paths relative to ``base``. Raises UserError for what is missing.

    Rows of a train set whose ``split`` is "test" are held out, always. ``pairs`` False spares the halves of
    texts, which a frozen embedder would encode for nothing.
    """
    folder = base / config.folder
    texts, labels = StringTable(), StringTable()
    synonyms = _json(base / config.wordings) if config.wordings else {}
    renamed = _json(base / config.label_names) if config.label_names else {}
    train, validation = [], []
    free_names = {r["id"]: r["labels"] for file in config.free_labels for r in _lines(base / file)}
    free: dict[str, list[str]] = {}
    broader = _json(base / config.broader) if config.broader else {}
    above: list[tuple[list[str], list[str]]] = []
    for path in _files(folder / "train", config.sets):
        name = path.name.split(".")[0]
        rows = [r for r in _lines(path) if r.get("split") != "test"]
        offered = synonyms.get(name, {})
        if name in renamed:
            rows, offered = _rename(rows, offered, renamed[name], name)
        if not rows:
            raise UserError(f"The set {name} has no rows to train on: all are held out as test rows.")
        rows = _sample(rows, config.max_rows, seed)
        if config.held_out:
            everything = rows
            rows, aside = _hold_out(rows, config.held_out, seed)
            validation.append(_validation(f"{name}_seen", aside, everything, config, texts, labels))
        cut = [r["text"][: config.max_characters] for r in rows]
        train.append(
            make_set(
                name,
                cut,
                [r["label"] for r in rows],
                offered,
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
        rows = _sample(everything, config.validation_rows, seed)
        calibrates = path.parent.name == config.validated_in[0] and not config.held_out
        one = _validation(path.name.split(".")[0], rows, everything, config, texts, labels)
        validation.append(replace(one, calibrates=calibrates))
    glosses = None
    if config.wordnet:
        glosses = make_glosses(list(_lines(base / config.wordnet)), text_table=texts, label_table=labels)
    numbers = sorted({int(n) for s in train for n in s.texts})
    halved = [texts.strings[n] for n in numbers] if pairs else []
    halves = make_pairs(halved, text_table=texts, label_table=labels)

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
    return TrainingData(
        texts,
        labels,
        train,
        validation,
        glosses,
        halves,
        free_labels,
        written,
        broader_labels,
        others,
        dictionary,
        translations,
    )


def _rename(
    rows: list[dict[str, Any]],
    synonyms: Mapping[str, list[str]],
    names: Mapping[str, str | None],
    set_name: str,
) -> tuple[list[dict[str, Any]], dict[str, list[str]]]:
    """Return rows and synonyms under other names of the labels; rows of a label without one are left out.

    A name that one of its labels had before keeps that one's synonyms, else it has those of all of them.
    """
    missing = sorted({r["label"] for r in rows} - names.keys())
    if missing:
        raise UserError(f"The label names have no name for “{missing[0]}” of {set_name}: add it.")
    offered: dict[str, list[str]] = {}
    for new in sorted({new for new in names.values() if new}):
        old = [label for label, name in names.items() if name == new]
        same = [label for label in old if label.casefold() == new.casefold()]
        offered[new] = [word for label in same or old for word in synonyms.get(label, ())]
    kept = [{**r, "label": names[r["label"]]} for r in rows if names[r["label"]]]
    return kept, offered


def _hold_out(
    rows: list[dict[str, Any]], share: float, seed: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    aside = _sample(rows, max(1, round(share * len(rows))), seed + 1)
    kept = {id(row) for row in aside}
    return [row for row in rows if id(row) not in kept], aside


def _validation(
    name: str,
    rows: Sequence[dict[str, Any]],
    everything: Sequence[dict[str, Any]],
    config: DataConfig,
    texts: StringTable,
    labels: StringTable,
) -> ValidationSet:
    names = sorted({r["label"] for r in everything})
    return ValidationSet(
        name,
        [texts.add(r["text"][: config.max_characters]) for r in rows],
        [labels.add(n) for n in names],
        [names.index(r["label"]) for r in rows],
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
