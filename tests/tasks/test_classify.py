from __future__ import annotations

import csv
import json
from dataclasses import fields
from pathlib import Path

import pytest

from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.labels import clean_labels
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.tables import TableOptions
from sce_desktop.tasks.scoring.classify import ClassifyReport, ClassifySettings, classify_table
from sce_desktop.tasks.scoring.models import Baseline
from tests.tasks.fakes import FakeModel, FakeSession, RecordingProgress, StoppingProgress

LABELS = clean_labels(["damage", "delay"])


def classify(table: Path, output: Path, **options: object) -> ClassifyReport:
    arguments = {
        "text_columns": ["text"],
        "labels": LABELS,
        "source": FakeSession(FakeModel()),
        "model": "fake",
        "progress": SilentProgress(),
        **options,
    }
    wanted = {one.name: arguments.pop(one.name) for one in fields(ClassifySettings) if one.name in arguments}
    settings = ClassifySettings(**wanted)  # type: ignore[arg-type]
    return classify_table(table, output, settings, **arguments)  # type: ignore[arg-type]


def table_of(folder: Path, text: str, name: str = "in.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def read(path: Path, delimiter: str = ",") -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=delimiter))


def test_original_cells_first_then_ours(tmp_path: Path) -> None:
    table = table_of(tmp_path, 'id,text\n007,"box with damage, wet"\n2,\n003,a delay\n4,"   "\n')
    report = classify(table, tmp_path / "out.csv")
    header, *rows = read(tmp_path / "out.csv")
    assert header == [
        *("id", "text", "sce_label", "sce_confidence", "sce_status"),
        *("sce_p:damage", "sce_p:delay"),
    ]
    assert rows == [
        ["007", "box with damage, wet", "damage", "0.75", "scored", "0.75", "0.25"],
        ["2", "", "", "", "blank", "", ""],
        ["003", "a delay", "delay", "0.75", "scored", "0.25", "0.75"],
        ["4", "   ", "", "", "blank", "", ""],
    ]
    assert (report.rows, report.scored, report.skipped_blank) == (4, 2, 2)
    assert (report.labels, report.models) == (["damage", "delay"], ["fake"])
    assert set(report.seconds) == {"load", "embed", "score", "total"}


def test_numbers_bring_the_float_back(tmp_path: Path) -> None:
    import numpy as np

    table = table_of(tmp_path, "text\ndamage\n")
    classify(table, tmp_path / "out.csv", labels=clean_labels(["damage", "delay", "praise"]))
    row = read(tmp_path / "out.csv")[1]
    expected = np.asarray([0.75, 0.25, 0.25], dtype=np.float32) / np.float32(1.25)
    assert [np.float32(cell) for cell in row[4:]] == expected.tolist()


def test_a_baseline_has_its_own_columns(tmp_path: Path) -> None:
    table = table_of(tmp_path, "text\na delay\n\n")
    report = classify(table, tmp_path / "out.csv", baselines=[Baseline("near", "similarity", "x")])
    header, row = read(tmp_path / "out.csv")
    assert header[6:] == ["near_label", "near_confidence", "near_p:damage", "near_p:delay"]
    assert row[6:] == ["delay", "0.75", "0.25", "0.75"]
    assert report.models == ["fake", "near"]


def test_labels_with_separators_stay_whole(tmp_path: Path) -> None:
    names = ["Food, drink", "C# / .NET", "a|b", '50% "off"', "{x}"]
    table = table_of(tmp_path, 'text\n"Soup, hot; and ""fresh""\n2nd line: food, drink and c# / .net"\n')
    classify(table, tmp_path / "out.csv", labels=clean_labels(names), multi_label=True)
    header, row = read(tmp_path / "out.csv")
    assert row[0] == 'Soup, hot; and "fresh"\n2nd line: food, drink and c# / .net'
    assert header[5:] == [f"sce_p:{name}" for name in names]
    assert json.loads(row[header.index("sce_labels")]) == ["Food, drink", "C# / .NET"]


def test_threshold_makes_rows_unsure(tmp_path: Path) -> None:
    table = table_of(tmp_path, "text\ndamage\nneither\n")
    classify(table, tmp_path / "out.csv", threshold=0.6)
    assert [row[3] for row in read(tmp_path / "out.csv")[1:]] == ["scored", "unsure"]


def test_a_model_that_can_say_none_has_a_column_for_it(tmp_path: Path) -> None:
    table = table_of(tmp_path, "text\n\ndamage\nneither\n")
    classify(table, tmp_path / "out.csv", source=FakeSession(FakeModel(says_none=True)))
    header, *rows = read(tmp_path / "out.csv")
    assert header[3:5] == ["sce_status", "sce_none"]
    assert [row[3:5] for row in rows] == [["scored", "0"], ["none", "1"]]


def test_clash_with_an_original_column(tmp_path: Path) -> None:
    table = table_of(tmp_path, "text,sce_label\ndamage,mine\n")
    progress = SilentProgress()
    classify(table, tmp_path / "out.csv", progress=progress)
    header, row = read(tmp_path / "out.csv")
    assert (header[:3], row[:3]) == (["text", "sce_label", "sce_label_2"], ["damage", "mine", "damage"])
    assert "sce_label as sce_label_2" in progress.warnings[0]


def test_the_delimiter_of_the_input_is_kept(tmp_path: Path) -> None:
    table = table_of(tmp_path, "id;text\n1;red, green and damage\n2;x, y\n")
    classify(table, tmp_path / "out.csv")
    classify(table, tmp_path / "out.tsv")
    assert read(tmp_path / "out.csv", ";")[1][:3] == ["1", "red, green and damage", "damage"]
    assert read(tmp_path / "out.tsv", "\t")[1][:3] == ["1", "red, green and damage", "damage"]


def test_several_text_columns_are_joined(tmp_path: Path) -> None:
    table = table_of(tmp_path, "subject,id,body\nthe delay,1,of my parcel\n,2,\n,3,damage\n")
    model = FakeModel()
    classify(table, tmp_path / "out.csv", text_columns=["subject", "body"], source=FakeSession(model))
    assert model.scored[-2:] == ["the delay\nof my parcel", "damage"]
    assert [row[5] for row in read(tmp_path / "out.csv")[1:]] == ["scored", "blank", "scored"]


def test_every_row_in_order_over_many_batches(tmp_path: Path) -> None:
    rows = [f"{1000 - number},{'damage' if number % 3 else ''} {number}" for number in range(1000)]
    table = table_of(tmp_path, "id,text\n" + "\n".join(rows) + "\n")
    progress = RecordingProgress()
    report = classify(table, tmp_path / "out.csv", batch_rows=64, progress=progress)
    assert [row[0] for row in read(tmp_path / "out.csv")[1:]] == [str(1000 - n) for n in range(1000)]
    assert report.rows == 1000
    done = [done for done, _, stage in progress.reports if stage == "classifying"]
    assert done == sorted(done)
    assert done[-1] == 1000


def test_an_empty_table_runs_and_says_so(tmp_path: Path) -> None:
    progress = SilentProgress()
    report = classify(table_of(tmp_path, "text,id\n"), tmp_path / "out.csv", progress=progress)
    assert report.rows == 0
    assert read(tmp_path / "out.csv")[0][:3] == ["text", "id", "sce_label"]
    assert "no rows" in progress.warnings[-1]


def test_two_hundred_labels(tmp_path: Path) -> None:
    labels = clean_labels([f"subject {number} of many" for number in range(200)])
    classify(table_of(tmp_path, "text\nabout subject 77 of many\n"), tmp_path / "out.csv", labels=labels)
    header, row = read(tmp_path / "out.csv")
    assert len(header) == 1 + 3 + 200
    assert row[1] == "subject 77 of many"


def test_problems_of_the_table_are_reported(tmp_path: Path) -> None:
    progress = SilentProgress()
    table = table_of(tmp_path, "id,text\n1,damage\n2\n3,delay\n")
    classify(table, tmp_path / "out.csv", progress=progress)
    assert any("line 3" in warning for warning in progress.warnings)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"text_columns": ["comment"]}, "no column “comment”"),
        ({"labels": None}, "has no labels of its own: give at least one"),
        ({"model": "absent"}, "absent"),
        ({"output": "in.csv"}, "replace the table itself"),
        ({"output": "out.docx"}, "must end in"),
        ({"output": "nowhere/out.csv"}, "nowhere"),
        ({"options": TableOptions(encoding="klingon")}, "klingon"),
    ],
)
def test_what_cannot_be_done_is_refused(tmp_path: Path, options: dict[str, object], reason: str) -> None:
    table = table_of(tmp_path, "id,text\n1,damage\n")
    before = table.read_bytes()
    output = tmp_path / str(options.pop("output", "out.csv"))
    with pytest.raises(UserError, match=reason):
        classify(table, output, **options)
    assert table.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


@pytest.mark.parametrize(("output", "reason"), [("out.docx", "must end in"), ("nowhere/out.csv", "nowhere")])
def test_where_nothing_can_be_written_no_model_is_loaded(tmp_path: Path, output: str, reason: str) -> None:
    class Unwanted(FakeSession):
        def model(self, name: str) -> FakeModel:
            raise AssertionError(name)

    with pytest.raises(UserError, match=reason):
        classify(table_of(tmp_path, "id,text\n1,damage\n"), tmp_path / output, source=Unwanted(FakeModel()))


def test_labels_of_the_model_itself(tmp_path: Path) -> None:
    source = FakeSession(FakeModel(labels=LABELS))
    report = classify(table_of(tmp_path, "text\nx\n"), tmp_path / "out.csv", labels=None, source=source)
    assert report.labels == ["damage", "delay"]


@pytest.mark.parametrize("after", [2, 5, 9])
def test_cancel_leaves_what_was_there(tmp_path: Path, after: int) -> None:
    table = table_of(tmp_path, "text\n" + "damage\n" * 500)
    output = tmp_path / "out.csv"
    output.write_text("sce_label\nolder result", encoding="utf-8")
    with pytest.raises(Cancelled):
        classify(table, output, batch_rows=50, progress=StoppingProgress(after), force=True)
    assert output.read_text(encoding="utf-8") == "sce_label\nolder result"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "out.csv"]


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "parquet", "jsonl"])
def test_an_older_result_is_replaced_and_nothing_else(tmp_path: Path, ending: str) -> None:
    table = table_of(tmp_path, "id;text\n1;damage\n")
    output = tmp_path / f"out.{ending}"
    output.touch()  # as a script makes a file of its own
    classify(table, output)
    classify(table, output)
    first = output.read_bytes()
    for content in (b"id,text,mine\n1,damage,true\n", b"not a table \x00\xff", b'{"id": 1, "mine": true}\n'):
        output.write_bytes(content)
        with pytest.raises(UserError, match="already exists and is not an earlier result"):
            classify(table, output)
        assert output.read_bytes() == content
    classify(table, output, force=True)
    if ending != "xlsx":  # which says when it was written
        assert output.read_bytes() == first


def test_an_export_is_no_result_unless_of_one(tmp_path: Path) -> None:
    exported = "id,text,label,decided,unsure,flag,note,decided_at"
    table, output = table_of(tmp_path, "id,text\n1,damage\n"), tmp_path / "out.csv"
    output.write_text(f"{exported},sce_label\n1,damage,damage,hand,0,0,,,damage\n", encoding="utf-8")
    before = output.read_bytes()
    with pytest.raises(UserError, match="not an earlier result"):
        classify(table, output)
    assert output.read_bytes() == before
    output.unlink()
    table.write_text(f"{exported}\n1,damage,damage,hand,0,0,,\n", encoding="utf-8")
    classify(table, output)
    classify(table, output)


@pytest.mark.parametrize("text", ["\u200b", "\ufeff", "\u2060", "\0", "\u00ad\u200b", "\ufe0f"])
def test_invisible_texts_are_blank(tmp_path: Path, text: str) -> None:
    model = FakeModel()
    table = table_of(tmp_path, f"text\nbox with damage\n{text}\n")
    report = classify(table, tmp_path / "out.csv", source=FakeSession(model))
    assert (report.scored, report.skipped_blank) == (1, 1)
    assert model.scored[1:] == ["box with damage"]  # the first one asks whether it can say none
    assert read(tmp_path / "out.csv")[2] == [text, "", "", "blank", "", ""]


@pytest.mark.parametrize(
    "content",
    ['{"data": [\n{"text": "damage"},\n{"text": "delay"}\n]}', '{"text": {"0": "damage", "1": "delay"}}'],
)
def test_how_a_document_was_read_is_reported(tmp_path: Path, content: str) -> None:
    progress = SilentProgress()
    report = classify(table_of(tmp_path, content, "in.json"), tmp_path / "out.csv", progress=progress)
    assert report.rows == 2
    assert [told for told in progress.warnings if "“data”" in told or "each column" in told]
