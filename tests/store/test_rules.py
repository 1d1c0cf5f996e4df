"""The rules of a project: the same in Python and in SQL, one for every column, none that cannot fail."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sce_desktop.core.annotations import Decision
from sce_desktop.store.file import schema
from sce_desktop.store.project import Project
from sce_desktop.store.repair.stored import Malformed
from sce_desktop.store.rules import fields, records, relations, whole
from tests.hostile.projects import make_sound

EVERY = {(table, column): rule for table, of in records.FIELDS.items() for column, rule in of.items()}
stored = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-3, 3),
    st.floats(allow_nan=False),
    st.text(max_size=5),
    st.binary(max_size=20),
    st.sampled_from(
        ["label", "hand", "sce", "decide", "[]", '["a", null]', "[1]", "{}", "[" * 100, "[[]]", b"\0" * 16]
    ),
)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rules") / "sound.sce"
    make_sound(path)
    return path


@given(stored)
def test_python_and_sql_agree_on_what_a_column_can_hold(value: object) -> None:
    with closing(sqlite3.connect(":memory:")) as plain:
        for (table, column), rule in EVERY.items():
            if rule.test is not None and not rule.sql:
                continue
            statement = f"SELECT {rule.wrong('held')} FROM (SELECT ? AS held)"
            (wrong,) = plain.execute(statement, (value,)).fetchone()
            assert bool(wrong) != rule.holds(value), (table, column, value)


def test_every_column_has_a_rule() -> None:
    columns = {
        (table.name, column.name) for table in schema.metadata.tables.values() for column in table.columns
    }
    assert set(EVERY) == columns


def test_a_column_that_nobody_named_is_known_by_its_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(records.FIELDS, "marks", {})
    records.field.cache_clear()
    try:
        assert records.field("marks", "note").holds("x")
        assert not records.field("marks", "note").holds(None)
        assert not records.field("marks", "flag").holds(2)
    finally:
        records.field.cache_clear()


def test_what_is_read_is_named_by_table_and_number_and_not_shown() -> None:
    good = [(1, "label", "hand"), (2, "none", "bulk")]
    assert records.checked("annotations", ("row_id", "decision", "origin"), good) is good
    with pytest.raises(Malformed, match=r"^record 7 of table annotations has an invalid “origin”$"):
        records.checked("annotations", ("row_id", "decision", "origin"), [*good, (7, "none", "secret")])
    with pytest.raises(Malformed, match=r"^a record of table marks has an invalid “note”$"):
        records.checked("marks", ("note",), [(b"secret",)])


BROKEN = {
    "an annotation is about a row": "UPDATE annotations SET row_id = 61 WHERE row_id = 32",
    "a label of a row is known": "UPDATE annotation_labels SET label_id = 77 WHERE row_id = 9",
    "a row with labels is annotated": "UPDATE annotations SET decision = 'none' WHERE row_id = 9",
    "a labelled row has a label": "DELETE FROM annotation_labels WHERE row_id = 9",
    "a note is about a row": "UPDATE marks SET row_id = 61 WHERE row_id = 2",
    "a sample's rows exist, each once": "UPDATE audit_rows SET row_id = 33",
    "a sample has rows": "DELETE FROM audit_rows",
    "a sample was drawn from the rows": "UPDATE audits SET frame = x'ffffffffffffffff'",
    "an annotator's labels are about rows": "UPDATE other_annotations SET row_id = 61 WHERE row_id = 4",
    "a prediction is of a run": "UPDATE scores SET run_id = 9 WHERE row_id = 9 AND run_id = 1",
    "a prediction is about a row": "UPDATE scores SET row_id = 61 WHERE row_id = 9",
    "a prediction fits the labels of its run": "UPDATE scores SET probabilities = x'00000000'",
    "the best label is one of the run's": "UPDATE scores SET top = 2 WHERE row_id = 9",
    "cells of one kind are of rows": "UPDATE cell_types SET last_row = 61",
    "types of cells fit the columns": "UPDATE cell_types SET types = 'tt'",
    "one run is shown under an alias": "UPDATE runs SET alias = 'sce', active = 1",
    "one version is in use": "UPDATE model_versions SET active = 1",
    "what can be undone leads to a label set": "UPDATE actions SET label_set_id = 99",
    "what can be undone is about rows": "UPDATE row_changes SET row_id = 61 WHERE row_id = 9",
    "what can be undone has known labels": "UPDATE row_changes SET decision = 'label', labels = '77'",
    "what can be undone is complete": "UPDATE row_changes SET decision = 'none'",
    "numbers can be counted up": "UPDATE sqlite_sequence SET seq = 9223372036854775807",
}


def test_every_rule_between_records_is_broken_below() -> None:
    assert set(BROKEN) == {rule.name for rule in relations.RELATIONS}
    assert set(relations.AT_OPENING) <= set(BROKEN)


def test_a_sound_project_breaks_none(sound: Path) -> None:
    with Project.open(sound, read_only=True) as project:
        assert project.verify() == []


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_is_found_and_restored(sound: Path, name: str) -> None:
    rule = relations.relation(name)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as plain:
        with closing(sqlite3.connect(sound)) as file:
            file.backup(plain)
        relations.register(plain)
        assert rule.problem(plain) == ""
        plain.execute("PRAGMA ignore_check_constraints=ON")
        plain.execute(BROKEN[name])
        problem = rule.problem(plain)
        assert problem.endswith(".")
        assert problem in whole.problems_between_records(plain, _Silent())
        if name in relations.AT_OPENING:
            with pytest.raises(Malformed):
                whole.check_opening(plain)
        if rule.mend is not None:
            assert rule.restore(plain) == problem
            assert rule.problem(plain) == ""
            assert rule.restore(plain) == ""


class _Silent:
    """A progress that nobody watches."""

    def check(self) -> None:
        """Go on."""


def test_ids_beyond_which_nothing_can_be_counted_are_refused() -> None:
    assert fields.whole(1).holds(fields.MOST_ID)
    assert not fields.whole(1).holds(fields.MOST_ID + 1)
    assert not fields.ids().holds("1,x")
    assert not fields.ids().holds("1," + "9" * 30)
    assert fields.ids().holds("1,22")


def test_times_are_soft_where_they_are_read_and_not_for_verify(sound: Path, tmp_path: Path) -> None:
    path = tmp_path / "p.sce"
    path.write_bytes(sound.read_bytes())
    with closing(sqlite3.connect(path)) as plain:
        plain.execute("UPDATE annotations SET decided_at = 'yesterday' WHERE row_id IN (5, 6)")
        plain.commit()
    with Project.open(path) as project:
        assert project.annotations([5])[5].decision is Decision.LABEL
        assert len(project.label_moments()) == 32 - 2
        assert project.verify() == [
            "2 records of table annotations have an invalid “decided_at”, first in record 5."
        ]
