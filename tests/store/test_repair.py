from __future__ import annotations

import random
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.runs import Scores
from sce_desktop.store.file import schema
from sce_desktop.store.file.opening import PAGE_BYTES
from sce_desktop.store.project import Project
from sce_desktop.store.repair import salvage
from tests.store.conftest import fill
from tests.store.test_importing import CancelAfter
from tests.store.test_migrations import make_first

COUNT = 1_500


@pytest.fixture
def full(path: Path, project: Project) -> Path:
    """Make a project with something of everything and return its path, closed."""
    texts: list[str | None] = [f"text number {number} " * 10 for number in range(COUNT)]
    texts[3], texts[4], texts[6] = "", None, texts[5]
    fill(project, texts[:1_000])
    fill(project, texts[1_000:])
    labels = project.set_labels([Label("a", "first"), Label("b", synonyms=("bee",))]).labels
    for start, label in zip((1, 4), labels, strict=True):
        project.decide(range(start, COUNT, 6), Decision.LABEL, [label.id or 0])
    project.decide([2], Decision.NONE)
    project.set_marks(5, note="mind", flag=True)
    run = project.open_run("sce", "sce", "m", "f", labels, whole_table=True)
    p = np.random.default_rng(0).dirichlet([1.0, 1.0], COUNT).astype(np.float32)
    project.add_scores(run.id, range(1, COUNT + 1), Scores(p, p[:, 0]))
    project.build_search_index()
    project.use_whole_table(True)
    project.use_model("sce-multi", chosen=True)
    project.set_threshold(0.7)
    project.close()
    return path


def everything(project: Project, ids: list[int]) -> list[object]:
    return [
        project.columns,
        project.text_columns,
        project.rows(ids),
        project.annotations(ids),
        project.marks(ids),
        project.label_set(),
        project.whole_table(),
        project.model(),
        project.threshold(),
        [(id_, score.top, score.none) for id_, score in project.scores(1, ids).items()],
    ]


def test_sound_project_is_copied_whole(full: Path, tmp_path: Path) -> None:
    report = Project.repair_file(full, tmp_path / "copy.sce")
    assert (report.rows, report.annotations, report.scores, report.problems) == (COUNT, 501, COUNT, ())
    with Project.open(full) as old, Project.open(tmp_path / "copy.sce") as new:
        ids = old.row_ids().tolist()
        assert new.row_ids().tolist() == ids
        assert everything(new, ids) == everything(old, ids)
        for count in ("row_count", "blank_count", "duplicate_count"):
            assert getattr(new, count)() == getattr(old, count)()
        assert new.runs() == old.runs()
        assert new.verify() == []
        assert fill(new, ["appended"]).rows == 1


def pages_of(path: Path, table: str) -> list[int]:
    with closing(sqlite3.connect(path)) as plain:
        pages = plain.execute("SELECT pageno FROM dbstat WHERE name = ? ORDER BY path", (table,))
        return [page for (page,) in pages]  # the root first


@pytest.mark.parametrize("block", [PAGE_BYTES, 512])
@pytest.mark.parametrize("seed", range(4))
def test_what_can_be_read_is_rescued(full: Path, tmp_path: Path, seed: int, block: int) -> None:
    """Overwrite random blocks of the larger tables, their roots aside, without which nothing can be found."""
    choose = random.Random(seed)
    with Project.open(full) as old:
        ids = old.row_ids().tolist()
        before = {row.id: row for row in old.rows(ids)}
        decided = old.annotations(ids)
    tables = ("rows", "annotations", "scores", "ix_rows_text_hash")
    pages = [page for table in tables for page in pages_of(full, table)[1:]]
    content = bytearray(full.read_bytes())
    for page in choose.sample(pages, 5):
        start = (page - 1) * PAGE_BYTES + block * choose.randrange(PAGE_BYTES // block)
        content[start : start + block] = choose.randbytes(block)
    full.write_bytes(content)
    report = Project.repair_file(full, tmp_path / "copy.sce")
    with Project.open(tmp_path / "copy.sce") as new:
        assert new.verify() == []
        kept = new.row_ids().tolist()
        assert len(kept) == new.row_count() == report.rows
        assert len(kept) > COUNT / 2
        assert len(kept) == COUNT or any(
            re.search(r"rows? (is|are) lost\.", problem) for problem in report.problems
        )
        changed = [row.id for row in new.rows(kept) if before[row.id].text != row.text]
        told = [
            re.search(r"texts? of (\d+) rows? may differ from what was imported", problem)
            for problem in report.problems
        ]
        doubtful = sum(int(match[1]) for match in told if match)
        assert len(changed) <= doubtful <= len(changed) + 5  # where the hash is broken, the text may be whole
        found = new.annotations(kept)
        assert len(found) > len(decided) / 3
        same = [id_ for id_, a in found.items() if id_ in decided and decided[id_].label_ids == a.label_ids]
        assert len(same) >= len(found) - 1  # a flipped bit may make it another decision
        assert fill(new, ["appended"]).rows == 1
        assert new.row_ids().tolist() == [*kept, max(kept, default=0) + 1]


def test_lost_rows_leave_gaps_and_take_their_decisions_along(full: Path, tmp_path: Path) -> None:
    page = pages_of(full, "rows")[20]
    content = bytearray(full.read_bytes())
    content[(page - 1) * PAGE_BYTES : page * PAGE_BYTES] = bytes(PAGE_BYTES)
    full.write_bytes(content)
    report = Project.repair_file(full, tmp_path / "copy.sce")
    assert COUNT - 60 < report.rows < COUNT
    assert any("of 1,500 rows are lost." in problem for problem in report.problems)
    assert any("annotations belong to lost rows, first row" in problem for problem in report.problems)


def test_project_without_its_record_keeps_the_texts(full: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(full, isolation_level=None)) as plain:
        plain.execute("DELETE FROM project")
    report = Project.repair_file(full, tmp_path / "copy.sce")
    assert any("names of the columns are lost" in problem for problem in report.problems)
    with Project.open(tmp_path / "copy.sce") as new:
        assert (new.columns, new.row_count()) == (("column 1", "text"), COUNT)
        assert new.rows([1])[0].cells == ("r0", "text number 0 " * 10)
        label_set = new.label_set()
        assert label_set is not None
        assert [label.name for label in label_set.labels] == ["a", "b"]
        assert len(new.annotations(range(1, COUNT + 1))) == 501


def test_decisions_outlive_their_table(full: Path, tmp_path: Path) -> None:
    """Labels lie in a table and what else was decided in an index, which are left."""
    content = bytearray(full.read_bytes())
    for page in pages_of(full, "annotations"):
        content[(page - 1) * PAGE_BYTES : page * PAGE_BYTES] = bytes(PAGE_BYTES)
    full.write_bytes(content)
    report = Project.repair_file(full, tmp_path / "copy.sce")
    assert "The time and origin of 501 annotations are lost." in report.problems
    with Project.open(tmp_path / "copy.sce") as new:
        assert new.annotations([1, 2, 3, 4])[2].decision is Decision.NONE
        assert sorted(new.annotation_counts().values()) == [250, 250]
        assert new.verify() == []


def test_rows_of_a_broken_off_import_stay_behind(full: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(full, isolation_level=None)) as plain:
        plain.execute(
            "INSERT INTO rows (text_hash, length, blank, text, cells) VALUES (x'00', 1, 0, 'x', '[]')"
        )
    assert Project.repair_file(full, tmp_path / "copy.sce").rows == COUNT


def test_missing_table_is_reported(full: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(full, isolation_level=None)) as plain:
        plain.execute("DROP TABLE scores")
        plain.execute("UPDATE label_sets SET labels = 'no json'")
    report = Project.repair_file(full, tmp_path / "copy.sce")
    assert "The table scores is missing." in report.problems
    with Project.open(tmp_path / "copy.sce") as new:
        assert new.verify() == []
        label_set = new.label_set()
        assert label_set is not None  # made of what the labels and the run still know
        assert [(label.name, label.description) for label in label_set.labels] == [("a", "first"), ("b", "")]
        assert new.row_count() == COUNT


def test_runs_of_the_first_format_are_rescued(tmp_path: Path) -> None:
    make_first(tmp_path / "first.sce")
    report = Project.repair_file(tmp_path / "first.sce", tmp_path / "copy.sce")
    assert (report.rows, report.scores, report.problems) == (2, 1, ())
    with Project.open(tmp_path / "copy.sce") as new:
        assert [(run.model, run.whole_table, run.scored) for run in new.runs()] == [("sce-mini", False, 1)]
        assert new.verify() == []


def test_database_programs_stay_behind(full: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(full, isolation_level=None)) as plain:
        plain.execute("CREATE TRIGGER bad AFTER INSERT ON annotations BEGIN DELETE FROM rows; END")
        plain.execute("ALTER TABLE marks RENAME TO hidden")
        plain.execute("CREATE VIEW marks AS SELECT 1 row_id, 1 unsure, 1 flag, load_extension('evil') note")
    report = Project.repair_file(full, tmp_path / "copy.sce")
    assert report.problems == ("The table marks is missing.",)
    with Project.open(tmp_path / "copy.sce") as new:
        new.decide([2], Decision.SKIPPED)
        assert new.row_count() == COUNT


def test_repair_never_touches_what_is_there(full: Path, tmp_path: Path) -> None:
    before = full.read_bytes()
    other = tmp_path / "other.sce"
    other.write_text("mine")
    with pytest.raises(UserError, match="already exists"):
        Project.repair_file(full, other)
    with pytest.raises(UserError, match="already exists"):
        Project.repair_file(full, full)
    with pytest.raises(Cancelled):
        Project.repair_file(full, tmp_path / "copy.sce", CancelAfter(1))
    assert full.read_bytes() == before
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["other.sce", "survey.sce"]


def test_repair_of_an_open_project(full: Path, tmp_path: Path) -> None:
    with Project.open(full) as project:
        project.decide([2], Decision.SKIPPED)
        assert project.repair(tmp_path / "copy.sce").rows == COUNT
    with Project.open(tmp_path / "copy.sce") as new:
        assert new.annotations([2])[2].decision is Decision.SKIPPED


@pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\n" + b"\0" * 2000], ids=["empty", "png"])
def test_what_is_no_project_cannot_be_repaired(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.sce"
    path.write_bytes(content)
    with pytest.raises(UserError, match="not a project"):
        Project.repair_file(path, tmp_path / "copy.sce")
    with pytest.raises(UserError, match="not a file"):
        Project.repair_file(tmp_path, tmp_path / "copy.sce")
    assert list(tmp_path.iterdir()) == [path]


def test_every_table_is_brought_over_or_left_behind_on_purpose() -> None:
    """Whoever adds one has to say what repair does with it; columns that are added are copied as they are."""
    tables = schema.metadata.tables
    assert set(tables) - set(salvage.TABLES) == {"actions", "row_changes"}
    assert tuple(tables["rows"].columns.keys()) == salvage._ROW
