"""A project of cells that are hard to write, decided and scored in every way, for tests of exports."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Final

import numpy as np

from sce_desktop.core.annotations import Decision, Label, Origin
from sce_desktop.core.runs import Scores
from sce_desktop.core.tables import Cell
from sce_desktop.data.csv.excel_safe import PREFIX
from sce_desktop.store.project import Project

COLUMNS: Final = ("id", "text", 'a "name", really', "=note", "label")
PLAIN: Final[list[Cell]] = [
    "",
    " ",
    "plain",
    "one, two",
    "a; b",
    "tab\there",
    "-1",
    "=1+1",
    "@x",
    "Zoë",
    "日本",
]
ODD: Final[list[Cell]] = [
    *('He said "no"', '"', '""', '","', '"],["', '["a","b"]', "],[", "back\\slash", "\\", '\\"', "\\u0041"),
    *("line\nbreak", "dos\r\nbreak", "mac\rbreak", "\r", "\n", "\t", "nul\0inside", "\0", "\x1b[0m\x7f\x80"),
    *(PREFIX, f"{PREFIX}=1+1", "'=1+1", "＝1", "+", "-", "@", "\ufeffbom", "\u2028", "\u202ertl", "مرحبا"),
    *("👩‍👩‍👧 🇩🇪", "Cafe\u0301", "𝒜" * 30, "null", "NaN", "1e5", "007", "word " * 20_000, "," * 300, None),
]  # fmt: skip
NAMES: Final = ("plain", 'a, "b"', "=cmd|x", "עברית 👩")
PART: Final = 50  # rows of one kind


def make(path: Path, *, labels: int = 4, multi_label: bool = False, scored: bool = True) -> Project:
    """Return a project of 350 rows: parts in which nothing is unusual, and parts in which everything is."""
    drawn = random.Random(3)
    pools: list[list[Cell]] = [["a"], PLAIN, [*PLAIN, *ODD], ODD, PLAIN, [*PLAIN, None], ["b", "c"]]
    table = [tuple(drawn.choice(pool) for _ in COLUMNS) for pool in pools for _row in range(PART)]
    project = Project.create(path)
    project.add_rows(COLUMNS, [table], text_columns=[1], source={"delimiter": ";"})
    names = [NAMES[place] if place < len(NAMES) else f"label {place}" for place in range(labels)]
    made = project.set_labels([Label(name) for name in names], multi_label=multi_label).labels
    ids = [label.id or 0 for label in made]
    _decide(project, ids, drawn, multi_label=multi_label)
    rng = np.random.default_rng(7)
    for alias in ("sce", "baseline") if scored else ():
        run = project.open_run(alias, "sce", alias, alias, made, multi_label)
        project.activate(run.id)
        rows = np.flatnonzero(rng.random(len(table)) < 0.8) + 1
        rows = rows[(rows < 4 * PART) | (rows > 5 * PART)]  # and nothing in one part
        raw = rng.random((len(rows), labels), dtype=np.float32) ** np.float32(12)
        raw[::17] = np.eye(labels, dtype=np.float32)[0]  # 0 and 1
        raw[::19] = np.float32(2**-10)  # ties of decimal digits
        raw[5] = np.float32(1e-45)
        none = rng.random(len(rows), dtype=np.float32) if alias == "sce" else None
        probabilities = raw if multi_label else raw / raw.sum(axis=1, keepdims=True)
        project.add_scores(run.id, rows, Scores(probabilities, none))
    return project


def _decide(project: Project, labels: list[int], drawn: random.Random, *, multi_label: bool) -> None:
    rows = project.row_count()
    for row in range(1, rows + 1, 3):
        several = drawn.sample(labels, drawn.randint(1, 3)) if multi_label else [drawn.choice(labels)]
        project.decide([row], Decision.LABEL, several, origin=drawn.choice([Origin.HAND, Origin.BULK]))
    project.decide(range(2, 60, 7), Decision.NONE)
    project.decide(range(2, 200, 11), Decision.NONE, origin=Origin.BULK)
    project.decide(range(5, 300, 13), Decision.SKIPPED)
    for row, note in enumerate(("=1", 'a "quoted" note', "two\nlines", "ask; me"), 40):
        project.set_marks(row, unsure=True, note=note)
        project.set_marks(row + 100, flag=True)
