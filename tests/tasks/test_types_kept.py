"""JSON lines into JSON lines and Parquet into Parquet keep every original value, through a project, too."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sce_desktop.core.annotations import Label
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.project import Project
from sce_desktop.tasks.scoring.classify import ClassifySettings, classify_table
from sce_desktop.tasks.scoring.models import NamedModel
from sce_desktop.tasks.scoring.scoring import score_project
from sce_desktop.tasks.tables.decided import DECISION_COLUMNS
from sce_desktop.tasks.tables.export import export_table
from sce_desktop.tasks.tables.tables import append_table, import_table
from tests.tasks.fakes import FakeModel, FakeSession

LABELS = (Label("late"), Label("rude"))
QUIET = SilentProgress()
OBJECTS: list[dict[str, Any]] = [
    {"id": 1, "text": "it came late", "ok": True, "tags": ["x", None, {"y": 1.5}], "meta": {"a": {}}},
    {"id": None, "text": "rude driver", "ok": "true", "n": 10**25},
    {"text": "", "id": "1", "tags": []},
    {"text": None, "id": 2.50, "when": "2024-05-01"},
    {"text": 7, "id": [1]},
    {"text": "\u200b", "id": False},
    {},
]


def lines(path: Path, objects: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in objects))
    return path


def found(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def originals(path: Path, objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what a file of JSON lines holds under the keys of ``objects``."""
    keys = {key for one in objects for key in one}
    return [{key: value for key, value in one.items() if key in keys} for one in found(path)]


def classify(table: Path, output: Path) -> None:
    classify_table(
        table,
        output,
        ClassifySettings("fake", batch_rows=2),
        text_columns=["text"],
        labels=LABELS,
        source=FakeSession(FakeModel()),
        progress=QUIET,
    )


def project_of(folder: Path, table: Path) -> Project:
    return import_table(folder / "p.sce", table, text_columns=["text"], labels=LABELS, progress=QUIET)


def test_jsonl_classified(tmp_path: Path) -> None:
    classify(lines(tmp_path / "a.jsonl", OBJECTS), tmp_path / "b.jsonl")
    assert exact(originals(tmp_path / "b.jsonl", OBJECTS)) == exact(OBJECTS)
    statuses = [one["sce_status"] for one in found(tmp_path / "b.jsonl")]
    assert statuses == ["scored", "scored", "blank", "blank", "scored", "blank", "blank"]


def exact(objects: list[dict[str, Any]]) -> list[str]:
    """Return objects so that 1, 1.0, True and "1" differ, whatever the order of their keys."""
    return [json.dumps(one, sort_keys=True) for one in objects]


def test_jsonl_through_a_project(tmp_path: Path) -> None:
    with project_of(tmp_path, lines(tmp_path / "a.jsonl", OBJECTS)) as project:
        more: list[dict[str, Any]] = [dict.fromkeys(project.columns, number) for number in range(2)]
        append_table(project, lines(tmp_path / "more.jsonl", more), progress=QUIET)
        score_project(project, [NamedModel("sce", "fake", FakeModel())], progress=QUIET)
        export_table(project, tmp_path / "b.jsonl", progress=QUIET)
        assert exact(originals(tmp_path / "b.jsonl", OBJECTS)) == exact([*OBJECTS, *more])
        export_table(project, tmp_path / "c.jsonl", columns=["tags", "id", "label"], progress=QUIET)
        assert found(tmp_path / "c.jsonl")[:4] == [
            {"id": 1, "tags": ["x", None, {"y": 1.5}], "label": None},
            {"id": None, "label": None},
            {"id": "1", "tags": [], "label": None},
            {"id": 2.5, "label": None},
        ]
    with import_table(
        tmp_path / "2.sce", tmp_path / "b.jsonl", text_columns=["text"], take_back=True, progress=QUIET
    ) as again:
        export_table(again, tmp_path / "d.jsonl", progress=QUIET)
        assert exact(originals(tmp_path / "d.jsonl", OBJECTS)) == exact([*OBJECTS, *more])


def test_other_kinds_hold_texts_as_ever(tmp_path: Path) -> None:
    with project_of(tmp_path, lines(tmp_path / "a.jsonl", OBJECTS[:2])) as project:
        export_table(project, tmp_path / "b.csv", progress=QUIET)
        export_table(project, tmp_path / "b.parquet", progress=QUIET)
    (_, first, *_) = (tmp_path / "b.csv").read_text(encoding="utf-8").splitlines()
    assert first.startswith('1,it came late,true,"[""x"", null, {""y"": 1.5}]",')
    assert pq.read_table(tmp_path / "b.parquet")["id"].to_pylist() == ["1", None]


def test_rows_of_csv_beside_those_of_json_stay_texts(tmp_path: Path) -> None:
    with project_of(tmp_path, lines(tmp_path / "a.jsonl", [{"text": "a", "n": 1}])) as project:
        (tmp_path / "b.csv").write_text("text,n\nb,2\n")
        append_table(project, tmp_path / "b.csv", progress=QUIET)
        export_table(project, tmp_path / "c.jsonl", columns=["text", "n"], progress=QUIET)
    assert found(tmp_path / "c.jsonl") == [{"text": "a", "n": 1}, {"text": "b", "n": "2"}]


VALUES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text('a[]{}"\\1 ', max_size=3)
    | st.lists(st.integers(), max_size=2)
)


@settings(deadline=None, max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(objects=st.lists(st.dictionaries(st.sampled_from(["text", "a", "b"]), VALUES), min_size=1, max_size=5))
def test_any_objects_through_a_project(tmp_path: Path, objects: list[dict[str, Any]]) -> None:
    objects = [{"text": "first"}, *objects]
    (tmp_path / "p.sce").unlink(missing_ok=True)
    with project_of(tmp_path, lines(tmp_path / "a.jsonl", objects)) as project:
        export_table(project, tmp_path / "b.jsonl", columns=project.columns, progress=QUIET)
    assert exact(found(tmp_path / "b.jsonl")) == exact(objects)


# --- Parquet

TABLE = pa.table(
    {
        "id": pa.array([1, 2, None], pa.int16()),
        "text": ["it came late", "rude driver", None],
        "ok": [True, None, False],
        "when": pa.array([0, 10**15, None], pa.timestamp("us", "Europe/Berlin")),
        "day": pa.array([dt.date(2024, 5, 1), None, dt.date(1, 1, 1)]),
        "price": pa.array([Decimal("1.10"), None, Decimal(-3)], pa.decimal128(6, 2)),
        "tags": pa.array([["x"], [], None], pa.list_(pa.string())),
        "span": pa.array([{"a": 1, "b": b"\xff"}, None, {"a": None, "b": b"x"}]),
        "kind": pa.array(["u", None, "v"]).dictionary_encode(),
        "f": pa.array([0.1, None, -0.0], pa.float32()),
    },
    metadata={"source": "a survey"},
)


def same(path: Path, table: pa.Table) -> None:
    kept = pq.read_table(path)
    for name, column in zip(table.schema.names, table.columns, strict=True):
        assert kept.schema.field(name).type == column.type
        assert kept[name].to_pylist() == column.to_pylist()
    assert kept.schema.metadata[b"source"] == b"a survey"


def test_parquet_classified(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "a.parquet")
    classify(tmp_path / "a.parquet", tmp_path / "b.parquet")
    same(tmp_path / "b.parquet", TABLE)
    assert pq.read_table(tmp_path / "b.parquet")["sce_status"].to_pylist() == ["scored", "scored", "blank"]


def test_parquet_through_a_project(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "a.parquet")
    with project_of(tmp_path, tmp_path / "a.parquet") as project:
        append_table(project, tmp_path / "a.parquet", progress=QUIET)
        export_table(project, tmp_path / "b.parquet", progress=QUIET)
        same(tmp_path / "b.parquet", pa.concat_tables([TABLE, TABLE]))
        export_table(project, tmp_path / "c.parquet", columns=["when", "id", "note"], progress=QUIET)
        same(tmp_path / "c.parquet", pa.concat_tables([TABLE, TABLE]).select(["id", "when"]))
        export_table(project, tmp_path / "b.jsonl", progress=QUIET)
        assert found(tmp_path / "b.jsonl")[0]["id"] == "1"
    with import_table(
        tmp_path / "2.sce", tmp_path / "b.parquet", text_columns=["text"], take_back=True, progress=QUIET
    ) as again:
        assert again.columns == tuple(TABLE.schema.names)
        export_table(again, tmp_path / "d.parquet", progress=QUIET)
        same(tmp_path / "d.parquet", pa.concat_tables([TABLE, TABLE]))


def test_columns_of_other_types_in_tables_added_later_become_texts(tmp_path: Path) -> None:
    pq.write_table(TABLE.select(["id", "text", "ok"]), tmp_path / "a.parquet")
    other = pa.table({"id": pa.array([300_000], pa.int64()), "text": ["c"], "ok": [True]})
    pq.write_table(other, tmp_path / "b.parquet")
    with project_of(tmp_path, tmp_path / "a.parquet") as project:
        append_table(project, tmp_path / "b.parquet", progress=QUIET)
        export_table(project, tmp_path / "c.parquet", progress=QUIET)
        kept = pq.read_table(tmp_path / "c.parquet")
        assert kept["id"].to_pylist() == ["1", "2", None, "300000"]
        assert kept["ok"].to_pylist() == [True, None, False, True]
        (tmp_path / "d.csv").write_text("id,text,ok\nx,d,maybe\n")
        append_table(project, tmp_path / "d.csv", progress=QUIET)
        export_table(project, tmp_path / "c.parquet", progress=QUIET)
        assert pq.read_table(tmp_path / "c.parquet")["ok"].to_pylist()[-2:] == ["true", "maybe"]


def test_names_of_hugging_face_labels_are_labels_and_stay_numbers_in_parquet(tmp_path: Path) -> None:
    feature = {"label": {"names": ["late", "rude"], "_type": "ClassLabel"}}
    info = {"huggingface": json.dumps({"info": {"features": feature}}), "source": "a survey"}
    table = pa.table({"text": ["a", "b", "c"], "label": [1, 0, -1]}, metadata=info)
    pq.write_table(table, tmp_path / "a.parquet")
    progress = SilentProgress()
    with import_table(
        tmp_path / "p.sce",
        tmp_path / "a.parquet",
        text_columns=["text"],
        gold_column="label",
        progress=progress,
    ) as project:
        label_set = project.label_set()
        assert label_set is not None
        assert [label.name for label in label_set.labels] == ["rude", "late"]
        assert sorted(project.annotations([1, 2, 3])) == [1, 2]
        export_table(project, tmp_path / "b.parquet", progress=QUIET)
        same(tmp_path / "b.parquet", table)
        export_table(project, tmp_path / "b.csv", progress=QUIET)
    assert (tmp_path / "b.csv").read_text().splitlines()[1].startswith("a,rude,")
    assert [note for note in progress.warnings if "Hugging Face" in note]


@pytest.mark.parametrize("types", ["nonsense", "", None, 5])
def test_types_that_make_no_sense_count_for_nothing(tmp_path: Path, types: object) -> None:
    with Project.create(tmp_path / "p.sce") as project:
        source = {"kind": "parquet", "types": types}
        project.add_rows(["text", "n"], [[("a", "1")]], text_columns=[0], source=source)
        export_table(project, tmp_path / "a.parquet", progress=QUIET)
    kept = pq.read_table(tmp_path / "a.parquet")
    assert kept.select(["text", "n"]).to_pylist() == [{"text": "a", "n": "1"}]
    assert kept.schema.names[2:] == list(DECISION_COLUMNS)
