"""What repair gives back of a file that is cut, zeroed or garbled anywhere, page by page."""

from __future__ import annotations

import random
import shutil
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.errors import DamagedProject, UserError
from sce_desktop.core.runs import Scores
from sce_desktop.store.file.opening import PAGE_BYTES
from sce_desktop.store.project import Project
from sce_desktop.store.repair.repair import RepairReport
from tests.store.conftest import fill

COUNT = 1_800
DECIDED = COUNT * 3 // 4
NONE = 40


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a project in which every table but those of samples has something, over many pages."""
    path = tmp_path_factory.mktemp("whole") / "survey.sce"
    with Project.create(path) as project:
        texts: list[str | None] = [f"text number {number} " * 8 for number in range(COUNT)]
        texts[7], texts[8] = "", "a long text, over several pages: " * 1_000
        fill(project, texts)
        labels = project.set_labels([Label("a", "first"), Label("b", synonyms=("bee",))]).labels
        for start, label in zip((1, 2), labels, strict=True):
            project.decide(range(start, DECIDED - NONE + 1, 2), Decision.LABEL, [label.id or 0])
        project.decide(range(DECIDED - NONE + 1, DECIDED + 1), Decision.NONE)
        for row in range(1, COUNT, 9):
            project.set_marks(row, note=f"note {row} " * 9)
        run = project.open_run("sce", "sce", "m", "f", labels)
        p = np.random.default_rng(0).dirichlet([1.0, 1.0], COUNT).astype(np.float32)
        project.add_scores(run.id, range(1, COUNT + 1), Scores(p))
        project.add_coder("other", "", dict.fromkeys(range(1, COUNT, 5), "a"))
        project.build_search_index()
    return path


@pytest.fixture
def damaged(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(whole, tmp_path / "survey.sce"))


def roots(path: Path) -> dict[str, int]:
    with closing(sqlite3.connect(path)) as plain:
        return dict(plain.execute("SELECT name, rootpage FROM sqlite_schema WHERE rootpage").fetchall())


def leaves(path: Path, table: str) -> list[tuple[int, int]]:
    """Return the leaf pages of a table in the order of its records, and how many of those each holds."""
    with closing(sqlite3.connect(path)) as plain:
        return plain.execute(
            "SELECT pageno, ncell FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path", (table,)
        ).fetchall()


def zero(path: Path, *pages: int) -> None:
    with path.open("r+b") as stream:
        for page in pages:
            stream.seek((page - 1) * PAGE_BYTES)
            stream.write(bytes(PAGE_BYTES))


def repaired(path: Path) -> RepairReport:
    """Repair, and check what has to be true of every result."""
    before = path.read_bytes()
    copy = path.with_name("copy.sce")
    report = Project.repair_file(path, copy)
    assert path.read_bytes() == before
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["copy.sce", "survey.sce"]
    with Project.open(copy) as new:
        assert new.verify() == []
        ids = new.row_ids().tolist()
        assert (len(ids), len(new.annotations(ids))) == (report.rows, report.annotations)
        kept = {table.table: table for table in report.tables}
        assert (kept["rows"].kept, kept["scores"].kept) == (report.rows, report.scores)
        cells = [("appended",) * len(new.columns)]
        assert new.add_rows(new.columns, [cells], text_columns=new.text_columns, source={}).rows == 1
    if not all(table.complete for table in report.tables):
        assert report.problems
    return report


def everything(path: Path) -> list[object]:
    with Project.open(path) as project:
        ids = range(1, COUNT + 1)
        return [project.rows(ids), project.annotations(ids), project.marks(ids), project.label_set()]


CUTS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


@pytest.mark.parametrize("share", CUTS)
def test_cut_file_gives_back_the_rows_of_all_pages_left(damaged: Path, share: float) -> None:
    length = int(damaged.stat().st_size * share)
    whole_pages = length // PAGE_BYTES
    left = sum(cells for page, cells in leaves(damaged, "rows") if page <= whole_pages)
    predicted = sum(cells for page, cells in leaves(damaged, "scores") if page <= whole_pages)
    with damaged.open("r+b") as stream:
        stream.truncate(length)
    if not left:
        with pytest.raises(UserError, match="can be read: restore it from a backup"):
            Project.repair_file(damaged, damaged.with_name("copy.sce"))
        assert list(damaged.parent.iterdir()) == [damaged]
        return
    report = repaired(damaged)
    assert left - 1 <= report.rows <= left + 40  # the long text may be cut; part of a page may be left
    assert report.scores >= min(predicted, left) - 1
    assert any("rows are lost" in problem for problem in report.problems) == (report.rows < COUNT)


@pytest.mark.parametrize("by", [1, PAGE_BYTES // 2, PAGE_BYTES], ids=["a byte", "half a page", "a page"])
def test_file_short_by_its_end_gives_back_all_else(damaged: Path, by: int) -> None:
    with damaged.open("r+b") as stream:
        stream.truncate(damaged.stat().st_size - by)
    if by == PAGE_BYTES:
        with pytest.raises(UserError, match="is damaged"):
            Project.open(damaged)
    report = repaired(damaged)
    assert (report.rows, report.annotations) == (COUNT, DECIDED)  # the search index is last


DERIVED = {"runs": "scores"}  # what is worth nothing without it


@pytest.mark.parametrize(
    "name",
    [
        "actions",
        "annotation_labels",
        "annotations",
        "audit_rows",
        "audits",
        "cell_types",
        "coders",
        "imports",
        "ix_annotation_labels_label_id",
        "ix_annotations_decision",
        "ix_rows_blank",
        "ix_rows_text_hash",
        "ix_scores_confidence",
        "ix_scores_margin",
        "ix_scores_none",
        "ix_scores_top",
        "label_sets",
        "labels",
        "marks",
        "model_versions",
        "other_annotations",
        "project",
        "row_changes",
        "row_trigrams",
        "rows",
        "runs",
        "scores",
        "sqlite_autoindex_scores_1",
        "sqlite_sequence",
    ],
)
def test_root_of_a_table_or_index_is_not_needed(damaged: Path, name: str) -> None:
    before = everything(damaged)
    zero(damaged, roots(damaged)[name])
    report = repaired(damaged)
    assert (report.rows, report.annotations) == (COUNT, DECIDED)
    assert report.scores == (0 if name == "runs" else COUNT)
    if name in ("rows", "scores", "annotation_labels"):  # other tables say that nothing is missing
        assert report.problems == ()
    if name == "runs":
        assert f"{COUNT:,} predictions belong to lost runs, first of row 1: score again." in report.problems
    if name not in ("project", "labels", "label_sets", "marks"):
        assert everything(damaged.with_name("copy.sce")) == before


@pytest.mark.parametrize("table", ["rows", "annotations", "scores", "marks"])
def test_root_that_leads_to_a_part_alone_hides_nothing(damaged: Path, table: str) -> None:
    before = everything(damaged)
    root, page = roots(damaged)[table], leaves(damaged, table)[1][0]
    content = damaged.read_bytes()
    with damaged.open("r+b") as stream:
        stream.seek((root - 1) * PAGE_BYTES)
        stream.write(content[(page - 1) * PAGE_BYTES : page * PAGE_BYTES])
    report = repaired(damaged)
    assert (report.rows, report.annotations, report.scores) == (COUNT, DECIDED, COUNT)
    assert everything(damaged.with_name("copy.sce")) == before


def test_what_was_deleted_does_not_come_back(damaged: Path) -> None:
    """Its pages are on the list of free ones, with all that was on them where SQLite does not clear them."""
    with closing(sqlite3.connect(damaged, isolation_level=None)) as plain:
        plain.execute("PRAGMA secure_delete=OFF")
        plain.execute("DELETE FROM marks WHERE row_id < 800")
        plain.execute("UPDATE imports SET rows = 900, last_row_id = 900, blank = 1, duplicates = 0")
        plain.execute("DELETE FROM rows WHERE id > 900")
        plain.execute("DELETE FROM annotation_labels WHERE row_id > 900")
        plain.execute("DELETE FROM annotations WHERE row_id > 900")
        plain.execute("DELETE FROM scores WHERE row_id > 900")
        assert plain.execute("PRAGMA freelist_count").fetchone()[0] > 20
    zero(damaged, roots(damaged)["rows"], roots(damaged)["marks"])
    report = repaired(damaged)
    assert (report.rows, report.annotations) == (900, 900)
    with Project.open(damaged.with_name("copy.sce")) as new:
        assert min(new.marks(range(1, 901))) == 802


def test_known_tables_are_those_tried(whole: Path) -> None:
    parameters = test_root_of_a_table_or_index_is_not_needed.pytestmark[0].args[1]  # type: ignore[attr-defined]
    rest = {"sqlite_autoindex_label_sets_1"}
    assert set(parameters) | rest == set(roots(whole))


def test_roots_of_all_tables_with_many_records_are_not_needed(damaged: Path) -> None:
    before = everything(damaged)
    found = roots(damaged)
    zero(damaged, *(found[name] for name in ("rows", "annotations", "scores", "annotation_labels", "marks")))
    report = repaired(damaged)
    assert (report.rows, report.annotations, report.scores) == (COUNT, DECIDED, COUNT)
    assert everything(damaged.with_name("copy.sce")) == before


@pytest.mark.parametrize("garbage", [bytes(PAGE_BYTES), b"\xff" * 100, b"\xff" * 3_000, bytes(16)])
def test_first_page_is_not_needed(damaged: Path, garbage: bytes) -> None:
    before = everything(damaged)
    with damaged.open("r+b") as stream:
        stream.write(garbage)
    with pytest.raises(DamagedProject, match="is damaged"):
        Project.open(damaged)
    report = repaired(damaged)
    assert (report.rows, report.annotations, report.scores) == (COUNT, DECIDED, COUNT)
    assert everything(damaged.with_name("copy.sce")) == before


@pytest.mark.parametrize("table", ["rows", "annotations", "scores"])
def test_zeroed_leaf_takes_its_own_records_alone(damaged: Path, table: str) -> None:
    pages = leaves(damaged, table)
    page, cells = pages[len(pages) // 2]
    zero(damaged, page)
    report = repaired(damaged)
    kept = {entry.table: entry for entry in report.tables}
    assert not kept[table].complete
    assert kept["rows"].kept == COUNT - cells * (table == "rows")
    assert kept["scores"].kept >= COUNT - cells * (table != "annotations")
    if table == "annotations":
        assert f"The time and origin of {cells:,} annotations are lost." in report.problems
        assert report.annotations == DECIDED


@pytest.mark.parametrize("seed", range(11))
def test_garbled_bytes_take_few_records(damaged: Path, seed: int) -> None:
    """Overwrite 300 bytes anywhere but in the only copies of names: all but a few records stay."""
    choose = random.Random(seed)
    content = bytearray(damaged.read_bytes())
    start = choose.randrange(len(content) - 300)
    content[start : start + 300] = choose.randbytes(300)
    damaged.write_bytes(content)
    report = repaired(damaged)
    assert report.rows >= COUNT - 2
    assert report.annotations >= DECIDED - 2


@pytest.mark.parametrize("place", range(0, PAGE_BYTES, 1_170))
@pytest.mark.parametrize("table", ["rows", "annotations"])
def test_garbled_page_gives_back_the_records_between(damaged: Path, table: str, place: int) -> None:
    """The list of records at the head of a page is not needed either."""
    pages = leaves(damaged, table)
    start = (pages[len(pages) // 3][0] - 1) * PAGE_BYTES + place
    content = bytearray(damaged.read_bytes())
    content[start : start + 300] = random.Random(place).randbytes(300)
    damaged.write_bytes(content)
    report = repaired(damaged)
    assert report.rows >= COUNT - 4
    assert report.annotations >= DECIDED - 4


def test_page_size_that_the_header_misstates(damaged: Path) -> None:
    with damaged.open("r+b") as stream:
        stream.seek(16)
        stream.write(struct.pack(">H", 1024))
    assert repaired(damaged).rows == COUNT


SCORES = "SELECT row_id, top, confidence, margin FROM scores ORDER BY row_id"


def test_bad_best_labels_are_computed_again(damaged: Path) -> None:
    with closing(sqlite3.connect(damaged, isolation_level=None)) as plain:
        before = plain.execute(
            "SELECT row_id, top, confidence, margin FROM scores ORDER BY row_id"
        ).fetchall()
        plain.execute("UPDATE scores SET top = 1 - top WHERE row_id % 3 = 0")
        plain.execute("UPDATE scores SET confidence = 0.123 WHERE row_id % 100 = 1")
    with Project.open(damaged) as project:
        (problem,) = project.verify()
    assert "scores of run 1 (sce) do not follow from its probabilities" in problem
    report = repaired(damaged)
    assert "The best labels of 612 predictions were recomputed." in report.problems
    with closing(sqlite3.connect(damaged.with_name("copy.sce"))) as plain:
        after = plain.execute(SCORES).fetchall()
    assert after == before


# --- the log beside the file


def with_log(damaged: Path, whole: Path, change: Callable[[Project], object]) -> None:
    """Put a log with a change beside the file, as a killed program leaves it."""
    other = damaged.parent / "work"
    other.mkdir()
    with Project.open(shutil.copy(whole, other / "survey.sce")) as project:
        change(project)
        shutil.copy(other / "survey.sce-wal", damaged.parent)
    shutil.rmtree(other)


def decide(project: Project) -> None:
    project.decide([COUNT], Decision.NONE)


@pytest.mark.parametrize("cut", [0, PAGE_BYTES], ids=["whole", "cut"])
def test_log_beside_a_damaged_file_is_used(damaged: Path, whole: Path, cut: int) -> None:
    with_log(damaged, whole, decide)
    with damaged.open("r+b") as stream:
        stream.truncate(damaged.stat().st_size - cut)
    report = Project.repair_file(damaged, damaged.with_name("copy.sce"))
    assert (report.rows, report.annotations) == (COUNT, DECIDED + 1)
    with Project.open(damaged.with_name("copy.sce")) as new:
        assert new.annotations([COUNT])[COUNT].decision is Decision.NONE
        assert new.verify() == []


def test_unfinished_end_of_a_log_is_left_out(damaged: Path, whole: Path) -> None:
    with_log(damaged, whole, decide)
    log = damaged.with_name("survey.sce-wal")
    log.write_bytes(log.read_bytes()[:-5])
    zero(damaged, roots(whole)["rows"])
    report = Project.repair_file(damaged, damaged.with_name("copy.sce"))
    assert (report.rows, report.annotations) == (COUNT, DECIDED)


@pytest.mark.parametrize("content", [b"", b"x" * 5_000, bytes(40)])
def test_log_that_is_none_is_left_out(damaged: Path, content: bytes) -> None:
    damaged.with_name("survey.sce-wal").write_bytes(content)
    report = Project.repair_file(damaged, damaged.with_name("copy.sce"))
    assert (report.rows, report.annotations, report.problems) == (COUNT, DECIDED, ())


def test_log_of_another_project_is_left_out(damaged: Path, tmp_path: Path) -> None:
    with Project.create(tmp_path / "other.sce") as other:
        fill(other, ["another text"] * 300)
        shutil.copy(tmp_path / "other.sce-wal", tmp_path / "survey.sce-wal")
    report = Project.repair_file(damaged, tmp_path / "copy.sce")
    assert (report.rows, report.annotations) == (COUNT, DECIDED)
    assert report.problems == ("The log survey.sce-wal does not belong to this project and was not used.",)
