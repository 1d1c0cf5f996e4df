"""What operations work on: tables, projects of today and of the first format, and exports of them."""

from __future__ import annotations

import json
import shutil
import sqlite3
import struct
from contextlib import closing, redirect_stdout
from pathlib import Path

from sce_desktop import cli
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.content.rows import hash_text
from sce_desktop.store.file import first_format, schema
from sce_desktop.store.project import Project
from sce_desktop.tasks.tables.tables import import_table
from tests.faults import actions
from tests.ml.test_finetune import GOLD, TEXTS, WORDS

NEW, OLD, ADDED, FIRST = 600, 100, 250, 400  # rows
LABELLED, OLD_LABELLED = 180, 5
ENDINGS = ("csv", "xlsx", "parquet", "jsonl")
OLD_TEXT = "what was there before"
MOMENT = "2026-01-01T00:00:00.000+00:00"


def make(folder: Path) -> None:
    """Write everything into the empty ``folder``."""
    for name, rows, labelled in (("new", NEW, LABELLED), ("old", OLD, 20)):
        table = write_table(folder / f"{name}.csv", name, rows)
        project_path = folder / f"{name}.sce"
        with import_table(project_path, table, text_columns=["text"], progress=SilentProgress()) as project:
            project.set_labels([Label("a"), Label("b")])
            ids = [label.id or 0 for label in project.label_set().labels]  # type: ignore[union-attr]
            for place, label in enumerate(ids):
                rows_of = range(1 + place, labelled + 1, len(ids))
                project.decide(rows_of, Decision.LABEL, [label])
    write_table(folder / "added.csv", "added", ADDED)
    left = folder / "left"  # as a killed program has left it, with a log beside it
    left.mkdir()
    with Project.open(folder / "old.sce") as project:
        project.clear_decision(range(OLD_LABELLED + 1, 21))
        for file in folder.glob("old.sce*"):
            shutil.copy(file, left / file.name)
    assert (left / "old.sce-wal").stat().st_size
    with Project.create(folder / "people.sce") as project:
        actions.fill(project)
    _write_first(folder / "first.sce")
    with Project.create(folder / "tune.sce") as project:
        project.add_rows(["text"], [[(text,) for text in TEXTS]], text_columns=[0], source={})
        ids = [label.id or 0 for label in project.set_labels([Label(name) for name in WORDS]).labels]
        for row, place in enumerate(GOLD, 1):
            project.decide([row], Decision.LABEL, [ids[place]])
    with open("/dev/null", "w") as nothing, redirect_stdout(nothing):  # noqa: PTH123
        for ending in ENDINGS:
            out = folder / f"reference.{ending}"
            assert cli.main(["project", "export", str(folder / "new.sce"), "-o", str(out)]) == 0


def write_table(path: Path, text: str, rows: int) -> Path:
    """Write a table of so many rows whose texts begin with ``text``."""
    lines = (f"{number},{f'{text} {number} ' * 8}\n" for number in range(rows))
    path.write_text("id,text\n" + "".join(lines), encoding="utf-8")
    return path


def _write_first(path: Path) -> None:
    """Write a project of the first format with rows, annotations, notes and scores."""
    label = {"name": "a", "description": "", "synonyms": [], "colour": "", "shortcut": "", "id": 1}
    labels = json.dumps([label])
    with closing(sqlite3.connect(path)) as plain:
        plain.executescript(first_format.SQL)
        plain.execute("INSERT INTO label_sets VALUES (1, 'Labels', 1, ?, 0, ?)", (labels, MOMENT))
        plain.execute(
            "INSERT INTO project VALUES (1, 'Old', ?, '[\"ref\", \"text\"]', '[1]', 1, 0)", (MOMENT,)
        )
        plain.execute("INSERT INTO labels VALUES (1, 'a', 1)")
        for row in range(1, FIRST + 1):
            text = f"first {row} " * 8
            cells = json.dumps([f"r{row}"])
            plain.execute(
                "INSERT INTO rows VALUES (?, ?, ?, 0, ?, ?)", (row, hash_text(text), len(text), text, cells)
            )
            if row % 2:
                plain.execute("INSERT INTO annotations VALUES (?, 'label', 'hand', ?, '')", (row, MOMENT))
                plain.execute("INSERT INTO annotation_labels VALUES (?, 1)", (row,))
            if row % 3 == 0:
                plain.execute("INSERT INTO marks VALUES (?, 0, 1, ?)", (row, f"note {row}"))
        plain.execute(
            'INSERT INTO imports VALUES (1, \'{"path": "old.csv"}\', ?, 0, 0, ?, ?)', (FIRST, FIRST, MOMENT)
        )
        plain.execute(
            "INSERT INTO runs VALUES (1, 'sce', 'sce', 'sce-mini', 'f', ?, 'key', 0, ?, NULL, 1, ?)",
            (labels, MOMENT, FIRST),
        )
        one = struct.pack("<f", 1.0)
        plain.executemany(
            "INSERT INTO scores VALUES (1, ?, 0, 1.0, 1.0, NULL, ?)",
            [(row, one) for row in range(1, FIRST + 1)],
        )
        plain.execute(f"PRAGMA application_id={schema.APPLICATION_ID}")
        plain.execute("PRAGMA user_version=1")
        plain.commit()
