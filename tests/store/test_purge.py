"""What is deleted for good is in no file any more: its bytes are looked for everywhere."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from sce_desktop import paths
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.purging import PurgeScope
from sce_desktop.core.query import RowQuery
from sce_desktop.core.runs import Scores
from sce_desktop.core.training import FinetuneSettings, Fit, TrainingReport
from sce_desktop.store.project import Project
from sce_desktop.store.purge import pending, purge
from sce_desktop.store.runs.vector_cache import VectorCache
from tests.store.test_migrations import make_first

ROW = "龘靐齉"  # of three letters, so that the search index holds it as one term
CELL, NOTE, OLD_NOTE = "Zellmarke-7f", "Notizmarke-7f", "Altnotiz-7f"
LABEL, OLD_LABEL, SYNONYM = "Labelmarke-7f", "Altlabel-7f", "Nebenname-7f"
CODER, GONE_CODER = "Kodiermarke-7f", "Fortkodierer-7f"
MARKED_ROWS = (4, 12)  # the second is the last one
VECTOR = np.arange(1, 9, dtype=np.float32)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SCE_DESKTOP_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A project with marks in all that it can hold, two copies of it, and vectors of its texts."""
    path = tmp_path / "work" / "p.sce"
    path.parent.mkdir()
    with Project.create(path) as project:
        fill(project)
        project.backup(path.with_name("saved.sce"))
        paths.projects_dir().mkdir(parents=True)
        project.backup(paths.projects_dir() / "elsewhere.sce")
        with VectorCache(paths.vector_cache_file()) as cache:
            vectors = np.arange(12, dtype=np.float32)[:, None] + VECTOR
            cache.put("one@1", project.texts(project.row_ids()), vectors)
    return path


def fill(project: Project) -> None:
    texts = [f"text number {number}" for number in range(12)]
    cells = [f"cell {number}" for number in range(12)]
    for row_id in MARKED_ROWS:
        texts[row_id - 1], cells[row_id - 1] = f"{ROW}{row_id}", f"{CELL}{row_id}"
    texts[8] = ""
    project.add_rows(("ref", "text"), [list(zip(cells, texts, strict=True))], text_columns=[1], source={})
    project.set_labels([Label(OLD_LABEL), Label("plain", synonyms=(SYNONYM, "other"))])
    (first, second) = project.label_set().labels  # type: ignore[union-attr]
    project.set_labels([Label(LABEL, id=first.id), second])
    assert first.id is not None
    assert second.id is not None
    project.decide([1, 4, 12], Decision.LABEL, [first.id])
    project.decide([2, 3], Decision.LABEL, [second.id])
    project.set_marks(4, note=f"{NOTE}4", flag=True)
    project.set_marks(5, note=NOTE)
    project.set_marks(6, note=OLD_NOTE)
    project.set_marks(6, note="")
    project.add_coder(CODER, "file.csv", {1: LABEL, 4: "plain", 5: "plain"})
    gone = project.add_coder(GONE_CODER, "file.csv", {1: "plain"})
    project.remove_coder(gone.id)
    project.add_repeat(1, [first.id])
    project.create_audit([4, 7, 12], 1)
    labels = project.label_set().labels  # type: ignore[union-attr]
    run = project.open_run(alias="sce", kind="sce", model="m", fingerprint="f", labels=labels)
    ids = project.unscored_ids(run.id)
    project.add_scores(run.id, ids, Scores(np.tile(np.array([[0.9, 0.1]], np.float32), (len(ids), 1))))
    fit = Fit(labels={LABEL: first.id, "plain": second.id}, row_ids=(2, 4, 12))
    project.add_version(
        name="first tune",
        base="m",
        base_fingerprint="f",
        data_hash="d",
        train_rows=3,
        held_out_rows=0,
        settings=FinetuneSettings(),
        report=TrainingReport(fit=fit, untested=(LABEL,)),
        seconds=1.0,
        weights=b"w",
    )
    project.build_search_index()


def held(folder: Path, *marks: str) -> dict[str, list[str]]:
    """Return the files below ``folder`` with one of ``marks`` in one of the ways that it may be written."""
    found = {}
    for file in sorted(folder.rglob("*")):
        if not file.is_file():
            continue
        content = file.read_bytes()
        ways = {
            mark: (
                mark.encode(),
                mark.encode("utf-16-le"),
                mark.encode("utf-16-be"),
                json.dumps(mark)[1:-1].encode(),
                mark.casefold().encode(),
            )
            for mark in marks
        }
        if there := [mark for mark, written in ways.items() if any(way in content for way in written)]:
            found[file.name] = there
    return found


SCOPES: dict[str, tuple[Callable[[Project], PurgeScope], tuple[str, ...]]] = {
    "rows": (lambda _: PurgeScope(rows=MARKED_ROWS), (ROW, CELL, f"{NOTE}4")),
    "notes": (lambda _: PurgeScope(notes=True), (NOTE,)),
    "label": (lambda project: PurgeScope(labels=(1,)), (LABEL, OLD_LABEL)),
    "annotator": (lambda project: PurgeScope(annotators=(project.coders()[0].id,)), (CODER,)),
    "history": (lambda _: PurgeScope(), ()),
}
ALWAYS = (OLD_NOTE, GONE_CODER)
ALL = (ROW, CELL, NOTE, LABEL, OLD_LABEL, CODER, *ALWAYS)


@pytest.mark.parametrize("what", SCOPES)
def test_nothing_is_left_in_any_file(path: Path, tmp_path: Path, what: str) -> None:
    make, marks = SCOPES[what]
    everywhere = {"p.sce", "saved.sce", "elsewhere.sce"}
    for mark in (*marks, *ALWAYS):
        assert set(held(tmp_path, mark)) == everywhere, mark
    with Project.open(path) as project:
        scope = make(project)
        effect = project.purge_effect(scope)
    report = Project.purge_file(path, scope)
    assert report.effect == effect
    assert {copy.name for copy in report.cleaned} == everywhere - {"p.sce"}
    assert report.remains == ()
    assert held(tmp_path, *marks, *ALWAYS) == {}
    others = [mark for mark in ALL if mark not in (*marks, *ALWAYS) and not (what == "rows" and mark == NOTE)]
    assert set(held(tmp_path, *others)) == everywhere  # the rest stays
    names = {file.name for file in path.parent.iterdir()}
    assert names == {"p.sce", "saved.sce"}
    for file in (path, path.with_name("saved.sce"), paths.projects_dir() / "elsewhere.sce"):
        with Project.open(file) as project:
            assert project.verify() == []
            project.build_search_index()
            assert project.undo() is None
        with Project.open(file) as project:
            assert project.verify() == []
            assert project.finished_purge == ""


def test_rows_leave_gaps(path: Path) -> None:
    with Project.open(path) as project:
        before = {row.id: row for row in project.rows(project.row_ids())}
        effect = project.purge_effect(PurgeScope(rows=MARKED_ROWS))
    assert (effect.rows, effect.annotations, effect.notes) == (2, 3, 1)
    assert effect.versions == ("first tune",)
    Project.purge_file(path, PurgeScope(rows=MARKED_ROWS))
    with Project.open(path) as project:
        kept = [row_id for row_id in before if row_id not in MARKED_ROWS]
        assert project.row_ids().tolist() == kept
        assert project.rows(kept) == [before[row_id] for row_id in kept]
        assert (project.row_count(), project.blank_count()) == (10, 1)
        assert project.last_row_id() == max(project.row_ids())  # rows keep their numbers
        assert [row.id for batch in project.iter_rows(3) for row in batch] == kept
        with pytest.raises(KeyError):
            project.texts([4])
        assert project.annotation_counts() == {1: 1, 2: 2}
        (audit,) = project.audits()
        assert (audit.size, project.audit_frame(audit.id).tolist()) == (1, [r for r in kept if r != 9])
        (run,) = project.runs()
        assert run.scored == 9
        assert not len(project.unscored_ids(run.id))
        assert project.coder_answers(project.coders()[0].id).keys() == {1, 5}
        (version,) = project.versions()
        assert version.report.fit.row_ids == (2,)
        project.build_search_index()
        assert project.row_ids(RowQuery(search=ROW)).tolist() == []
        assert project.row_ids(RowQuery(search="text number 6")).tolist() == [7]
        # Rows that come later take the numbers at the end, and none in between.
        project.add_rows(
            ("ref", "text"), [[("new", "new"), ("new", "text number 0")]], text_columns=[1], source={}
        )
        assert project.row_ids().tolist() == [*kept, 12, 13]
        assert project.unscored_ids(run.id).tolist() == [12, 13]
        assert (project.duplicate_count(), project.annotations([12])) == (1, {})
        assert project.verify() == []


def test_all_rows_may_go(path: Path) -> None:
    Project.purge_file(path, PurgeScope(rows=tuple(range(1, 13))))
    with Project.open(path) as project:
        assert (project.row_count(), project.row_ids().tolist(), project.audits()) == (0, [], ())
        assert project.columns == ("ref", "text")
        project.add_rows(("ref", "text"), [[("a", "b")]], text_columns=[1], source={})
        assert project.row_ids().tolist() == [1]
        assert project.verify() == []


def test_a_label_goes_with_its_runs(path: Path) -> None:
    with Project.open(path) as project:
        effect = project.purge_effect(PurgeScope(labels=(1,)))
    assert (effect.labels, effect.annotations, effect.runs) == ((LABEL,), 5, 1)
    Project.purge_file(path, PurgeScope(labels=(1,)))
    with Project.open(path) as project:
        label_set = project.label_set()
        assert label_set is not None
        assert [label.name for label in label_set.labels] == ["plain"]
        assert label_set.labels[0].synonyms == (SYNONYM, "other")
        assert project.runs() == ()
        assert project.annotation_counts() == {2: 2}
        assert {row for row in (1, 4, 12) if row in project.annotations([1, 4, 12])} == set()
        assert project.repeats() == []
        (version,) = project.versions()
        assert set(version.report.fit.labels) == {"plain", "deleted label 1"}


def test_another_label_that_took_a_name_stays(path: Path) -> None:
    with Project.open(path) as project:
        first, second = project.label_set().labels  # type: ignore[union-attr]
        project.set_labels([first, second, Label(OLD_LABEL)])
        third = project.label_set().labels[2]  # type: ignore[union-attr]
        assert third.id == 3
        project.decide([7], Decision.LABEL, [3])
    Project.purge_file(path, PurgeScope(labels=(1,)))
    with Project.open(path) as project:
        assert [label.name for label in project.label_set().labels] == ["plain", OLD_LABEL]  # type: ignore[union-attr]
        assert project.annotation_counts() == {2: 2, 3: 1}
        assert project.verify() == []


def test_vectors_of_rows_go(path: Path) -> None:
    texts = [f"{ROW}4", "text number 1"]
    with VectorCache(paths.vector_cache_file()) as cache:
        assert cache.get("one@1", texts)[0].tolist() == [True, True]
    stored = (np.float32(3) + VECTOR).astype("<f2").tobytes()
    assert stored in paths.vector_cache_file().read_bytes()
    Project.purge_file(path, PurgeScope(rows=(4,)))
    with VectorCache(paths.vector_cache_file()) as cache:
        assert cache.get("one@1", texts)[0].tolist() == [False, True]
    assert stored not in paths.vector_cache_file().read_bytes()


def test_copies_of_older_versions_are_cleaned_and_stay_old(tmp_path: Path) -> None:
    path = tmp_path / "p.sce"
    make_first(path)
    Project.open(path).close()  # keeps a copy of what it was
    (copy,) = [file for file in tmp_path.glob("*.sce") if file != path]
    with Project.open(path) as project:
        row = project.rows([1])[0]
        words = max(row.text.split(), key=len)
    assert words in held(tmp_path, words)[copy.name]
    report = Project.purge_file(path, PurgeScope(rows=(1,)))
    assert report.cleaned == (copy,)
    with closing(sqlite3.connect(copy)) as plain:
        assert plain.execute("PRAGMA user_version").fetchone() == (1,)
        assert plain.execute("SELECT count(*) FROM rows WHERE id = 1").fetchone() == (0,)
    with Project.open(copy, read_only=True, older=True) as project:
        assert 1 not in project.row_ids()
    assert len(list(tmp_path.glob("*.sce"))) == 2


def test_copies_may_stay(path: Path, tmp_path: Path) -> None:
    report = Project.purge_file(path, PurgeScope(notes=True), with_copies=False)
    assert report.cleaned == ()
    assert set(held(tmp_path, NOTE)) == {"saved.sce", "elsewhere.sce"}


def test_a_copy_that_is_open_is_named(path: Path, tmp_path: Path) -> None:
    with Project.open(path.with_name("saved.sce")):
        report = Project.purge_file(path, PurgeScope(notes=True))
    assert [copy.name for copy in report.cleaned] == ["elsewhere.sce"]
    (sentence,) = report.remains
    assert "saved.sce still has it: saved.sce is open" in sentence
    assert set(held(tmp_path, NOTE)) == {"saved.sce"}


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE label_sets SET labels = '[{}]'",
        "UPDATE label_sets SET labels = 'none'",
        "UPDATE model_versions SET metrics = '['",
        "UPDATE audits SET frame = 7",
        "PRAGMA user_version=99",
        "CREATE TABLE foreign_table (a)",
    ],
)
def test_a_damaged_copy_is_named(path: Path, damage: str) -> None:
    with closing(sqlite3.connect(path.with_name("saved.sce"))) as plain, plain:
        plain.execute(damage)
    report = Project.purge_file(path, PurgeScope(rows=(4,), labels=(1,)))
    assert [copy.name for copy in report.cleaned] == ["elsewhere.sce"]
    (sentence,) = report.remains
    assert sentence.startswith(f"{path.with_name('saved.sce')} still has it: ")
    assert "damaged" in sentence
    with Project.open(path) as project:
        assert 4 not in project.row_ids()


def test_refused_while_open(path: Path) -> None:
    with Project.open(path), pytest.raises(UserError, match=r"p\.sce is open"):
        Project.purge_file(path, PurgeScope(notes=True))
    assert not pending.note_of(path).exists()


def test_refused_without_room(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    usage = purge.shutil.disk_usage(path)
    monkeypatch.setattr(purge.shutil, "disk_usage", lambda _: usage._replace(free=1_000_000))
    before = path.read_bytes()
    with pytest.raises(UserError, match="not enough disk space"):
        Project.purge_file(path, PurgeScope(notes=True))
    assert path.read_bytes() == before
    assert not pending.note_of(path).exists()


STEPS = {
    "before the note": (pending, "write", 0),
    "after the note": (purge, "_forget_vectors", 0),
    "between the copies": (purge, "_clean_copy", 1),
    "in the transaction": (purge.Records, "drop_history", 2),
    "after the transaction": (pending, "write", 1),
    "before the file is rewritten": (purge, "_compact", 2),
    "at the end": (pending, "remove", 0),
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("what", ["rows", "label"])
def test_killed_at_any_step(path: Path, tmp_path: Path, step: str, what: str) -> None:
    make, marks = SCOPES[what]
    scope = make(None)  # type: ignore[arg-type]
    owner, name, calls = STEPS[step]
    child = os.fork()
    if not child:
        os.close(2)
        called = getattr(owner, name)
        seen = iter(range(1_000))

        def dies(*args: object, **keywords: object) -> object:
            if next(seen) == calls:
                os.kill(os.getpid(), signal.SIGKILL)
            return called(*args, **keywords)

        setattr(owner, name, dies)
        try:
            Project.purge_file(path, scope)
        finally:
            os._exit(9)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)
    begun = step != "before the note"
    with Project.open(path) as project:
        assert bool(project.finished_purge) == begun
        assert project.verify() == []
        assert len(project.row_ids()) == (10 if begun and what == "rows" else 12)
    assert set(held(tmp_path, *marks)) == (set() if begun else {"p.sce", "saved.sce", "elsewhere.sce"})
    with Project.open(path) as project:
        assert project.finished_purge == ""


def test_what_came_after_an_interrupted_purge_stays(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever keeps the note there: rows with the numbers of those that went are other ones."""
    Project.purge_file(path, PurgeScope(rows=MARKED_ROWS, notes=True))
    with Project.open(path) as project:
        (made,) = project._database._readers.connect().exec_driver_sql("SELECT created_at FROM project").one()
        project.add_rows(("ref", "text"), [[("new", "new")]], text_columns=[1], source={})
        project.set_marks(1, note="later")
        assert project.row_ids()[-1] == 12
    pending.write(path, pending.Pending(made, 1, PurgeScope(), copies=True, deleted=True))
    with Project.open(path) as project:
        assert project.texts([12]) == ["new"]
        assert project.marks([1])[1].note == "later"
        assert project.finished_purge
    pending.write(path, pending.Pending(made, 1, PurgeScope(rows=(12,)), copies=True))
    with Project.open(path) as project:
        assert project.texts([12]) == ["new"]


@pytest.mark.parametrize("content", ["", "[" * 100_000, "{}", '{"format": 1}', "\0" * 1000])
def test_a_note_that_makes_no_sense_is_removed(path: Path, content: str) -> None:
    pending.note_of(path).write_text(content, encoding="utf-8")
    with Project.open(path) as project:
        assert project.row_count() == 12
        assert project.finished_purge == ""
    assert not pending.note_of(path).exists()


def test_a_note_of_another_project_is_removed(path: Path) -> None:
    pending.write(path, pending.Pending("2001-01-01", 1, PurgeScope(rows=(1,)), copies=False))
    with Project.open(path) as project:
        assert project.row_count() == 12
    assert not pending.note_of(path).exists()


@pytest.mark.parametrize(("step", "gone"), [("_delete", False), ("_compact", True)])
def test_a_failure_says_what_is_deleted(
    path: Path, monkeypatch: pytest.MonkeyPatch, step: str, gone: bool
) -> None:
    def full(plain: sqlite3.Connection, *_: object) -> bool:
        (pages,) = plain.execute("PRAGMA page_count").fetchone()
        plain.execute(f"PRAGMA max_page_count={pages}")
        plain.execute("CREATE TABLE large AS SELECT zeroblob(1000000)")
        return False

    with monkeypatch.context() as patch:
        patch.setattr(purge, step, full)
        words = "It is deleted, but" if gone else r"Nothing was deleted from p\.sce: The disk is full"
        with pytest.raises(UserError, match=words):
            Project.purge_file(path, PurgeScope(rows=(4,)), with_copies=False)
    assert pending.note_of(path).exists() == gone
    with Project.open(path) as project:
        assert (4 in project.row_ids()) == (not gone)
        assert bool(project.finished_purge) == gone
        assert project.verify() == []
    assert not pending.note_of(path).exists()


def test_a_purge_that_cannot_be_finished_is_reported(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> bool:
        raise UserError("The disk is full: free some space.")

    with Project.open(path) as project:
        (made,) = project._database._readers.connect().exec_driver_sql("SELECT created_at FROM project").one()
    pending.write(path, pending.Pending(made, 1, PurgeScope(rows=(4,)), copies=False))
    monkeypatch.setattr(purge, "_delete", fails)
    with pytest.raises(UserError, match="is not finished: The disk is full"):
        Project.open(path)
    monkeypatch.undo()
    monkeypatch.setenv("SCE_DESKTOP_HOME", str(path.parent.parent / "home"))
    monkeypatch.setattr(purge, "_compact", fails)
    with Project.open(path) as project:  # what was to go is gone
        assert "is not finished: The disk is full" in project.finished_purge
        assert 4 not in project.row_ids()
