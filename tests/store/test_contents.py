"""Projects whose contents the program cannot have written: a sentence, and repair makes them usable."""

from __future__ import annotations

import contextlib
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.errors import DamagedProject
from sce_desktop.core.runs import Scores
from sce_desktop.store.project import Project
from tests.store.conftest import fill

ROWS = 60
DEEP = "[" * 100_000
LABEL = '{"name": "a", "description": "", "synonyms": [], "colour": "", "shortcut": "", "id": 1}'


@pytest.fixture
def closed(path: Path, project: Project) -> Path:
    fill(project, [f"text number {number}" for number in range(ROWS)])
    labels = project.set_labels([Label("a"), Label("b")]).labels
    project.decide(range(1, 31), Decision.LABEL, [labels[0].id or 0])
    project.set_marks(1, note="mind")
    run = project.open_run("sce", "sce", "m", "f", labels)
    project.add_scores(
        run.id, range(1, ROWS + 1), Scores(np.tile(np.array([0.75, 0.25], np.float32), (ROWS, 1)))
    )
    project.add_coder("other", "", {1: "a"})
    project.close()
    return path


def harm(path: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as plain:
        plain.execute("PRAGMA ignore_check_constraints=ON")
        plain.execute(statement, values)


AT_OPENING = {
    "last row": ("UPDATE imports SET last_row_id = 1000000000", ()),
    "last row is a text": ("UPDATE imports SET last_row_id = 'x'", ()),
    "rows of an import": ("UPDATE imports SET rows = 1000000000", ()),
    "less than no rows": ("UPDATE imports SET blank = -1", ()),
    "rows far away": ("UPDATE rows SET id = 1000000000 WHERE id = 60", ()),
    "and their import": ("UPDATE imports SET last_row_id = 1 + (SELECT max(id) FROM rows)", ()),
    "columns null": ("UPDATE project SET columns = 'null'", ()),
    "columns deep": ("UPDATE project SET columns = ?", (DEEP,)),
    "columns are numbers": ("UPDATE project SET columns = '[1, 2]'", ()),
    "columns are no JSON": ("UPDATE project SET columns = 'x'", ()),
    "columns an object": ("UPDATE project SET columns = '{}'", ()),
    "text column beyond": ("UPDATE project SET text_columns = '[7]'", ()),
    "text column a text": ("UPDATE project SET text_columns = '[\"1\"]'", ()),
    "no text column": ("UPDATE project SET text_columns = '[]'", ()),
    "threshold a text": ("UPDATE project SET threshold = 'high'", ()),
    "threshold beyond": ("UPDATE project SET threshold = 7.5", ()),
    "name a blob": ("UPDATE project SET name = x'ff'", ()),
    "label set missing": ("UPDATE project SET label_set_id = 99", ()),
    "source deep": ("UPDATE imports SET source = ?", (DEEP,)),
    "source a list": ("UPDATE imports SET source = '[1]'", ()),
    "searchable beyond": ("UPDATE project SET searchable_to = 1000000000", ()),
    "labels deep": ("UPDATE label_sets SET labels = ?", (DEEP,)),
    "label lacks a key": ('UPDATE label_sets SET labels = \'[{"name": "a"}]\'', ()),
    "label with a key more": ("UPDATE label_sets SET labels = ?", (f'[{LABEL[:-1]}, "more": 1}}]',)),
    "label without number": ("UPDATE label_sets SET labels = ?", (f"[{LABEL.replace('1', 'null')}]",)),
    "label named by a number": ("UPDATE label_sets SET labels = ?", ("[" + LABEL.replace('"a"', "5") + "]",)),
    "same label twice": ("UPDATE label_sets SET labels = ?", (f"[{LABEL}, {LABEL}]",)),
    "labels an object": ("UPDATE label_sets SET labels = ?", (LABEL,)),
    "labels a number": ("UPDATE label_sets SET labels = '5'", ()),
    "label active": ("UPDATE labels SET active = 'x'", ()),
    "labels of a run": ("UPDATE runs SET labels = 'null'", ()),
    "kind of a run": ("UPDATE runs SET kind = 'evil'", ()),
    "scored of a run": ("UPDATE runs SET scored = 'x'", ()),
    "predictions far away": ("UPDATE scores SET row_id = 1000000000 WHERE row_id = 9", ()),
    "best label far away": ("UPDATE scores SET top = 1000000000 WHERE row_id = 9", ()),
    "best label a text": ("UPDATE scores SET top = 'x' WHERE row_id = 9", ()),
    "confidence bytes": ("UPDATE scores SET confidence = x'00' WHERE row_id = 9", ()),
    "margin a text": ("UPDATE scores SET margin = 'x' WHERE row_id = 9", ()),
    "confidence beyond": ("UPDATE scores SET confidence = 9e999 WHERE row_id = 9", ()),
    "label of a row a text": ("UPDATE annotation_labels SET label_id = 'x' WHERE row_id = 9", ()),
    "annotation far away": ("UPDATE annotations SET row_id = 1000000000 WHERE row_id = 9", ()),
    "note far away": ("UPDATE marks SET row_id = 1000000000", ()),
    "annotator": ("UPDATE coders SET name = x'00'", ()),
}

LATER = {
    "cells deep": ("UPDATE rows SET cells = ? WHERE id = 5", (DEEP,)),
    "cells an object": ("UPDATE rows SET cells = '{\"a\": 1}' WHERE id = 5", ()),
    "cells null": ("UPDATE rows SET cells = 'null' WHERE id = 5", ()),
    "cells are numbers": ("UPDATE rows SET cells = '[1]' WHERE id = 5", ()),
    "cells too many": ('UPDATE rows SET cells = \'["a", "b", "c"]\' WHERE id = 5', ()),
    "cells a blob": ("UPDATE rows SET cells = x'ff' WHERE id = 5", ()),
    "text a blob": ("UPDATE rows SET text = x'ff' WHERE id = 5", ()),
    "text no UTF-8": ("UPDATE rows SET text = CAST(x'61ff' AS TEXT) WHERE id = 5", ()),
    "note a blob": ("UPDATE marks SET note = x'ff'", ()),
    "no label fits a text": ("UPDATE scores SET none = 'x' WHERE row_id = 5", ()),
    "probabilities cut": ("UPDATE scores SET probabilities = x'00' WHERE row_id = 5", ()),
    "decision": ("UPDATE annotations SET decision = 'maybe' WHERE row_id = 5", ()),
    "time in bytes": ("UPDATE annotations SET decided_at = x'07' WHERE row_id = 5", ()),
    "queue in bytes": ("UPDATE annotations SET queue = x'07' WHERE row_id = 5", ()),
    "origin": ("UPDATE annotations SET origin = 'evil' WHERE row_id = 5", ()),
}

FOR_VERIFY = {
    "row missing": ("DELETE FROM rows WHERE id = 5", ()),
    "first row missing": ("DELETE FROM rows WHERE id = 1", ()),
    "time of a decision": ("UPDATE annotations SET decided_at = 'yesterday' WHERE row_id = 5", ()),
    "no time of a decision": ("UPDATE annotations SET decided_at = '' WHERE row_id = 5", ()),
    "time of a label set": ("UPDATE label_sets SET created_at = '32 May'", ()),
    "time of an import": ("UPDATE imports SET finished_at = '2026-13-01T00:00:00+00:00'", ()),
    "time of a run": ("UPDATE runs SET created_at = '5'", ()),
    "origin of a decision": ("UPDATE annotations SET origin = 'evil' WHERE row_id = 5", ()),
    "hash a text": ("UPDATE rows SET text_hash = 'x' WHERE id = 5", ()),
    "blank a text": ("UPDATE rows SET blank = 'x' WHERE id = 5", ()),
    "probabilities a text": ("UPDATE scores SET probabilities = 'x' WHERE row_id = 5", ()),
    "best label": ("UPDATE scores SET top = 1 WHERE row_id = 5", ()),
}


def repaired(path: Path) -> tuple[int, int]:
    """Repair and return how many rows and annotations came back, having looked at all of it."""
    Project.repair_file(path, path.with_name("copy.sce"))
    with Project.open(path.with_name("copy.sce")) as new:
        assert new.verify() == []
        ids = new.row_ids().tolist()
        assert len(new.rows(ids)) == len(ids)
        assert new.label_set() is not None
        assert [run.alias for run in new.runs()] in ([], ["sce"])
        return len(ids), len(new.annotations(ids))


@pytest.mark.parametrize(("statement", "values"), AT_OPENING.values(), ids=AT_OPENING)
def test_what_would_make_the_window_stumble_is_refused_at_opening(
    closed: Path, statement: str, values: tuple[object, ...]
) -> None:
    if statement.startswith("UPDATE imports SET last_row_id = 1 +"):
        harm(closed, "UPDATE rows SET id = 100000000 WHERE id = 60")
    harm(closed, statement, *values)
    for read_only in (False, True):
        with pytest.raises(DamagedProject, match=r"^survey\.sce is damaged \(.*project repair"):
            Project.open(closed, read_only=read_only)
    rows, annotations = repaired(closed)
    assert ROWS - 1 <= rows <= ROWS
    assert 29 <= annotations <= 30


def read_some(project: Project) -> None:
    ids = range(1, 11)
    project.rows(ids)
    project.annotations(ids)
    project.marks(ids)
    project.scores(1, ids)


@pytest.mark.parametrize(("statement", "values"), LATER.values(), ids=LATER)
def test_what_is_found_later_is_a_sentence_too(
    closed: Path, statement: str, values: tuple[object, ...]
) -> None:
    harm(closed, statement, *values)
    with Project.open(closed) as project:
        with pytest.raises(DamagedProject, match=r"^survey\.sce is damaged"):
            read_some(project)
        with contextlib.suppress(DamagedProject):  # where not even this can go on
            assert project.verify()
    rows, annotations = repaired(closed)
    assert rows >= ROWS - 1
    assert annotations >= 29


@pytest.mark.parametrize(("statement", "values"), FOR_VERIFY.values(), ids=FOR_VERIFY)
def test_verify_reports_and_repair_fixes(closed: Path, statement: str, values: tuple[object, ...]) -> None:
    harm(closed, statement, *values)
    with Project.open(closed) as project:
        assert project.verify()
    rows, annotations = repaired(closed)
    assert rows == ROWS - statement.startswith("DELETE")
    assert annotations == 30 - statement.startswith("DELETE")


def test_a_time_that_is_none_is_reported(closed: Path) -> None:
    harm(closed, "UPDATE annotations SET decided_at = 'yesterday' WHERE row_id IN (5, 6)")
    with Project.open(closed) as project:
        assert project.verify() == [
            "2 records of table annotations have an invalid “decided_at”, first in record 5."
        ]


@pytest.mark.parametrize("gone", [1, 5, 31, 59])
def test_rows_that_are_gone_are_a_sentence(closed: Path, gone: int) -> None:
    harm(closed, f"DELETE FROM rows WHERE id = {gone}")
    with Project.open(closed) as project:
        reads = (
            lambda: project.rows(project.row_ids()),
            lambda: project.texts(project.row_ids()),
            lambda: list(project.iter_rows()),
            lambda: list(project.iter_rows(batch=2)),
        )
        for read in reads:
            with pytest.raises(DamagedProject, match=r"damaged \(rows of it are missing\).*project repair"):
                read()
    copy = closed.with_name("copy.sce")
    Project.repair_file(closed, copy)
    with Project.open(copy) as project:  # a gap is no damage any more
        ids = project.row_ids().tolist()
        assert ids == [id_ for id_ in range(1, ROWS + 1) if id_ != gone]
        assert [row.id for rows in project.iter_rows(batch=7) for row in rows] == ids
        assert len(project.texts(ids)) == ROWS - 1
        with pytest.raises(KeyError):  # who asks for it is wrong
            project.rows([gone])
