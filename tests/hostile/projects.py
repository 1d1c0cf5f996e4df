"""Project files that somebody made to do harm, or that a careless program has changed: a builder for each.

`make_sound` makes a project with something in every table. Each of `PROJECTS` changes a copy of it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.figures import Figures, PairedCounts
from sce_desktop.core.runs import Scores
from sce_desktop.core.tables import TypedCells
from sce_desktop.core.training import FinetuneSettings, TrainingReport
from sce_desktop.store.project import Project
from tests.hostile.project_contents import CONTENTS
from tests.hostile.project_edits import Builder
from tests.hostile.project_files import FILES
from tests.hostile.project_schemas import SCHEMAS

ROWS: Final = 60
COLUMNS: Final = ("ref", "text", "group")


def make_sound(path: Path) -> None:
    """Make a project that uses every table: 60 rows, 2 labels, 2 runs, a version, a sample, annotators."""
    with Project.create(path) as project:
        cells = [
            TypedCells((f"r{n}", f"text number {n} of the table", str(n % 4)), "ttj") for n in range(ROWS)
        ]
        project.add_rows(COLUMNS, [cells], text_columns=[1], source={"path": "table.csv"})
        a, b = project.set_labels([Label("a", synonyms=("first",)), Label("b")]).labels
        project.decide(range(1, 31), Decision.LABEL, [a.id or 0])
        project.decide([31], Decision.NONE)
        project.decide([32], Decision.SKIPPED)
        project.set_marks(1, note="mind")
        project.set_marks(2, flag=True)
        for alias, high in (("sce", 0.75), ("similarity", 0.625)):
            run = project.open_run(alias, "sce" if alias == "sce" else "similarity", "m", "f", (a, b))
            vectors = np.tile(np.array([high, 1 - high], np.float32), (ROWS, 1))
            project.add_scores(run.id, range(1, ROWS + 1), Scores(vectors))
        figures = Figures(0.5, (0.4, 0.6), 0.5, 0.1)
        report = TrainingReport(PairedCounts(40, 10, 0), figures, replace(figures, accuracy=0.75), figures)
        for name in ("first", "second"):
            project.add_version(
                name=name,
                base="sce-mini",
                base_fingerprint="f",
                data_hash="d",
                train_rows=80,
                held_out_rows=20,
                settings=FinetuneSettings(epochs=3, seed=7),
                report=report,
                seconds=1.5,
                weights=b"\0weights\xff",
            )
        project.activate_version(1)
        project.create_audit([33, 40, 35], 1)
        project.add_coder("other", "file.csv", {1: "a", 2: "b", 3: None, 4: "unknown"})
        project.add_repeat(5, [a.id or 0])
        project.set_threshold(0.5)
        project.decide([50], Decision.LABEL, [b.id or 0])
        project.undo()
        project.build_search_index()


PARTS: Final = {"schema": SCHEMAS, "file": FILES, "contents": CONTENTS}
PROJECTS: Final[dict[str, Builder]] = {name: build for part in PARTS.values() for name, build in part.items()}
