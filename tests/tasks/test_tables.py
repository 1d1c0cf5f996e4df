from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sce_desktop.core.annotations import Decision, Label, Origin
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.labels import clean_labels
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.content.staging import StagedRows
from sce_desktop.store.project import Project
from sce_desktop.tasks.tables import round_trip
from sce_desktop.tasks.tables.decided import DECISION_COLUMNS
from sce_desktop.tasks.tables.round_trip import our_columns
from sce_desktop.tasks.tables.tables import append_table, export_table, import_table, preview_table
from tests.tasks.fakes import RecordingProgress, StoppingProgress


def write(folder: Path, text: str, name: str = "in.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def imported(folder: Path, text: str, **options: object) -> Project:
    arguments = {"text_columns": ["text"], "progress": SilentProgress(), **options}
    return import_table(folder / "p.sce", write(folder, text), **arguments)  # type: ignore[arg-type]


def test_cells_come_in_exactly_as_they_are(tmp_path: Path) -> None:
    text = 'ref,text,country\nA_1/é, one ,NA\na_1/é,two,null\nA_1/é,"three\nlines",\n'
    with imported(tmp_path, text) as project:
        assert project.columns == ("ref", "text", "country")
        assert project.text_columns == (1,)
        assert [row.cells for row in project.rows(project.row_ids())] == [
            ("A_1/é", " one ", "NA"),
            ("a_1/é", "two", "null"),
            ("A_1/é", "three\nlines", ""),
        ]
        assert project.name == "p"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "p.sce"]


def test_what_was_done_is_reported(tmp_path: Path) -> None:
    progress = SilentProgress()
    text = "text,id\ngood,1\n,2\n   ,3\ngood,4\nbad\n"
    with imported(tmp_path, text, progress=progress) as project:
        assert (project.row_count(), project.blank_count(), project.duplicate_count()) == (5, 2, 1)
    told = "\n".join(progress.warnings)
    assert "line 6" in told
    assert "2 rows have no text" in told
    assert "1 row repeats the text of an earlier row (kept)." in told


def test_progress_is_reported_once_with_a_total(tmp_path: Path) -> None:
    progress = RecordingProgress()
    text = "text\n" + "".join(f"row {number}\n" for number in range(12_000))
    imported(tmp_path, text, progress=progress).close()
    assert {stage for _, _, stage in progress.reports} == {"reading"}
    assert progress.reports[-1][:2] == (12_000, 12_000)


def test_an_empty_table_makes_an_empty_project(tmp_path: Path) -> None:
    progress = SilentProgress()
    with imported(tmp_path, "text,id\n", progress=progress) as project:
        assert project.row_count() == 0
    assert progress.warnings == ["The table has no rows."]


def test_labels_come_along(tmp_path: Path) -> None:
    with imported(tmp_path, "text\nx\n", labels=clean_labels(["a", "b"]), multi_label=True) as project:
        kept = project.label_set()
        assert kept is not None
        assert ([label.name for label in kept.labels], kept.multi_label) == (["a", "b"], True)


def test_a_gold_column_becomes_the_answers_of_a_coder(tmp_path: Path) -> None:
    text = "topic,text\nlate,x\n,y\nlost,z\n"
    with imported(tmp_path, text, gold_column="topic", as_gold=True, labels=(Label("lost"),)) as project:
        label_set = project.label_set()
        assert label_set is not None
        lost, late = label_set.labels
        assert (lost.name, late.name) == ("lost", "late")
        assert project.annotations([1, 2, 3]) == {}
        (gold,) = project.coders()
        assert project.coder_answers(gold.id) == {1: {late.id}, 3: {lost.id}}
        project.remove_coder(gold.id)
        project.add_coder("gold", "ann.csv", {1: "late"})
        more = tmp_path / "more.csv"
        more.write_text("topic,text\nlate,u\n", encoding="utf-8")
        with pytest.raises(UserError, match=r"already has gold labels \(ann.csv\)"):
            append_table(project, more, gold_column=0, as_gold=True, progress=SilentProgress())
        assert project.row_count() == 3


def test_several_right_answers_are_a_json_list(tmp_path: Path) -> None:
    text = 'topic;text\n["late", "lost"];x\n[];y\n'
    with imported(tmp_path, text, gold_column="topic", as_gold=True, multi_label=True) as project:
        label_set = project.label_set()
        assert label_set is not None
        assert label_set.multi_label
        assert [label.name for label in label_set.labels] == ["late", "lost"]
        assert project.coder_answers(project.coders()[0].id) == {1: {1, 2}, 2: frozenset()}


def test_lists_in_a_gold_column_as_they_stand(tmp_path: Path) -> None:
    text = 'topic;text\n["late", "lost"];x\nlate;y\n'
    with imported(
        tmp_path, text, gold_column="topic", as_gold=True, multi_label=True, lists=False
    ) as project:
        label_set = project.label_set()
        assert label_set is not None
        assert [label.name for label in label_set.labels] == ['["late", "lost"]', "late"]
        more = tmp_path / "more.csv"
        more.write_text('topic;text\n["lost"];z\n', encoding="utf-8")
        append_table(project, more, gold_column=0, as_gold=True, lists=False, progress=SilentProgress())
        label_set = project.label_set()
        assert label_set is not None
        assert label_set.labels[-1].name == '["lost"]'


def test_a_gold_column_without_answers_is_reported(tmp_path: Path) -> None:
    progress = SilentProgress()
    with imported(
        tmp_path, "topic,text\n,x\n", gold_column="topic", as_gold=True, progress=progress
    ) as project:
        assert project.coders() == ()
    assert any("no gold labels" in warning for warning in progress.warnings)


def test_a_gold_column_becomes_labels_and_annotations(tmp_path: Path) -> None:
    text = "text, topic \nx,Billing\ny,\nz,Refund\nw,Billing\n"
    with imported(tmp_path, text, gold_column=" topic ", labels=(Label("Refund", "money back"),)) as project:
        kept = project.label_set()
        assert kept is not None
        assert [(label.name, label.description) for label in kept.labels] == [
            ("Refund", "money back"),
            ("Billing", ""),
        ]
        refund, billing = (label.id for label in kept.labels)
        annotations = project.annotations(project.row_ids())
        assert {row: one.label_ids for row, one in annotations.items()} == {
            1: (billing,),
            3: (refund,),
            4: (billing,),
        }
        assert {one.origin for one in annotations.values()} == {Origin.IMPORTED}
        assert project.columns == ("text", " topic ")


@pytest.mark.parametrize("after", [1, 2, 3, 4, 5])
def test_cancel_leaves_no_half_project(tmp_path: Path, after: int) -> None:
    text = "text\n" + "".join(f"row {number}\n" for number in range(20_000))
    with pytest.raises(Cancelled):
        imported(tmp_path, text, progress=StoppingProgress(after))
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_failure_leaves_no_half_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: object, **_options: object) -> None:
        raise UserError("The disk is full.")

    monkeypatch.setattr(Project, "set_labels", full)
    with pytest.raises(UserError, match="disk is full"):
        imported(tmp_path, "text\nx\n", labels=clean_labels(["a", "b"]))
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_a_project_is_never_replaced(tmp_path: Path) -> None:
    imported(tmp_path, "text\nx\n").close()
    before = (tmp_path / "p.sce").read_bytes()
    with pytest.raises(UserError, match="already exists"):
        imported(tmp_path, "text\ny\n")
    assert (tmp_path / "p.sce").read_bytes() == before


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(range(200)), "picture"),
        (b"PK\x03\x04" + bytes(100), "in.csv"),
        (b"", "empty"),
        (b"id,comment\n1,x\n", "no column “text”"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes(content)
    with pytest.raises(UserError, match=reason):
        import_table(tmp_path / "p.sce", path, text_columns=["text"], progress=SilentProgress())
    with pytest.raises(UserError):
        import_table(tmp_path / "p.sce", tmp_path, text_columns=["text"], progress=SilentProgress())
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    table = write(tmp_path, "text\nx\n")
    with pytest.raises(UserError):
        import_table(tmp_path / "no" / "p.sce", table, text_columns=["text"], progress=SilentProgress())


def test_rows_are_appended(tmp_path: Path) -> None:
    with imported(tmp_path, "id,text\n1,x\n") as project:
        more = write(tmp_path, "id,text\n2,y\n3,x\n", "more.csv")
        report = append_table(project, more, progress=SilentProgress())
        assert (report.rows, report.duplicates, project.row_count()) == (2, 1, 3)
        other = write(tmp_path, "id,body\n2,y\n", "other.csv")
        with pytest.raises(UserError, match=r"Missing: “text”\. Not in the project: “body”\."):
            append_table(project, other, progress=SilentProgress())
        assert project.row_count() == 3


def test_labels_come_with_rows_that_are_appended(tmp_path: Path) -> None:
    with imported(tmp_path, "topic,text\nlate,x\n", gold_column="topic") as project:
        known = project.label_set()
        assert known is not None
        more = write(tmp_path, "topic,text\nprice,y\n,z\nlate,w\n", "more.csv")
        append_table(project, more, gold_column=0, progress=SilentProgress())
        now = project.label_set()
        assert now is not None
        assert [label.name for label in now.labels] == ["late", "price"]
        assert now.labels[0] == known.labels[0]  # the same label, not one of the same name
        found = project.annotations([1, 2, 3, 4])
        assert {row: a.label_ids for row, a in found.items()} == {
            1: (now.labels[0].id,),
            2: (now.labels[1].id,),
            4: (now.labels[0].id,),
        }
        assert found[2].origin is Origin.IMPORTED


def test_rows_and_their_labels_are_there_together_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that is killed in between leaves as much: nothing is written until all is."""
    monkeypatch.setattr(round_trip, "_BATCH", 2)
    with imported(tmp_path, "topic,text\nlate,x\n", gold_column="topic") as project:
        more = write(tmp_path, "topic,text\nprice,y\nlate,z\nlate,w\n", "more.csv")
        annotate = StagedRows.annotate
        calls: list[tuple[int, int]] = []

        def failing(self: StagedRows, *args: Any, **options: Any) -> int | None:
            with ThreadPoolExecutor(1) as other:  # what anybody else sees, between the parts
                found = other.submit(lambda: (project.row_count(), len(project.annotations([1, 2, 3, 4]))))
            calls.append(found.result())
            if len(calls) == 2:
                raise OSError("the end")
            return annotate(self, *args, **options)

        monkeypatch.setattr(StagedRows, "annotate", failing)
        with pytest.raises(OSError, match="the end"):
            append_table(project, more, gold_column=0, progress=SilentProgress())
        assert calls == [(1, 1), (1, 1)]
        assert (project.row_count(), list(project.annotations([1, 2, 3, 4]))) == (1, [1])
        label_set = project.label_set()
        assert label_set is not None
        assert [label.name for label in label_set.labels] == ["late"]
        monkeypatch.setattr(StagedRows, "annotate", annotate)
        append_table(project, more, gold_column=0, progress=SilentProgress())
        assert list(project.annotations([1, 2, 3, 4])) == [1, 2, 3, 4]
        project.undo()  # one step
        assert list(project.annotations([1, 2, 3, 4])) == [1]


def test_preview(tmp_path: Path) -> None:
    preview = preview_table(write(tmp_path, "id;text\n1;a b c\n2;d e f\n"), rows=1, progress=SilentProgress())
    assert preview.options.delimiter == ";"
    assert preview.rows == (("1", "a b c"),)
    with pytest.raises(Cancelled):
        preview_table(tmp_path / "in.csv", progress=StoppingProgress(1))


def test_our_columns_are_found_at_the_end() -> None:
    assert our_columns(("text", "label")) is None
    assert our_columns(("text", *DECISION_COLUMNS, "sce_label")) == 1
    assert our_columns((*DECISION_COLUMNS, "text", *DECISION_COLUMNS)) == len(DECISION_COLUMNS) + 1


@pytest.mark.parametrize("multi_label", [False, True])
@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet", "jsonl"])
def test_an_export_comes_back_as_annotations(tmp_path: Path, multi_label: bool, ending: str) -> None:
    names = ["Food, drink", "C# / .NET", "a|b"]
    text = "id,text\n3,x\n1,y\n2,z\n9,\n5,w\n"
    with imported(tmp_path, text, labels=clean_labels(names), multi_label=multi_label) as project:
        kept = project.label_set()
        assert kept is not None
        ids = [label.id for label in kept.labels]
        both = (ids[2], ids[0]) if multi_label else (ids[0],)
        project.decide([1], Decision.LABEL, both)  # type: ignore[arg-type]
        project.decide([2], Decision.NONE)
        project.decide([3], Decision.LABEL, [ids[1]], origin=Origin.BULK)  # type: ignore[list-item]
        project.decide([4], Decision.SKIPPED)
        project.set_marks(5, flag=True, note="look; again")
        project.set_marks(1, unsure=True)
        out = tmp_path / f"out.{ending}"
        export_table(project, out, progress=SilentProgress())
        before = project.annotations(project.row_ids())
        marks = project.marks(project.row_ids())
    with import_table(
        tmp_path / "again.sce", out, text_columns=["text"], take_back=True, progress=SilentProgress()
    ) as again:
        assert again.columns == ("id", "text")
        assert [row.cells[0] for row in again.rows(again.row_ids())] == ["3", "1", "2", "9", "5"]
        kept_again = again.label_set()
        assert kept_again is not None
        assert kept_again.multi_label == multi_label
        after = again.annotations(again.row_ids())
        name_of = {label.id: label.name for label in kept.labels}
        name_again = {label.id: label.name for label in kept_again.labels}

        def said(annotations: dict, names: dict) -> list:  # type: ignore[type-arg]
            return [
                (row, one.decision, {names[i] for i in one.label_ids}, one.origin, one.decided_at)
                for row, one in sorted(annotations.items())
                if one.decision is Decision.LABEL
            ]

        assert said(after, name_again) == said(before, name_of)
        assert {row: one.decision for row, one in after.items()} == {r: o.decision for r, o in before.items()}
        assert again.marks(again.row_ids()) == marks


# --- labels that are written in other ways, and blank texts


def labels_of(project: Project) -> list[str]:
    label_set = project.label_set()
    return [label.name for label in label_set.labels] if label_set else []


@pytest.mark.parametrize("as_gold", [False, True])
@pytest.mark.parametrize("place", ["label", "decided", "labels", "label:a"])
def test_a_column_of_labels_among_those_that_are_taken_back_is_refused(
    tmp_path: Path, place: str, as_gold: bool
) -> None:
    header = ["text", *DECISION_COLUMNS, "labels", "label:a"]
    table = write(tmp_path, f"{','.join(header)}\nx{',' * (len(header) - 1)}\n")
    with pytest.raises(UserError, match=f"“{place}” belongs to an earlier export"):
        import_table(
            tmp_path / "p.sce",
            table,
            text_columns=["text"],
            gold_column=header.index(place),
            as_gold=as_gold,
            take_back=True,
            progress=SilentProgress(),
        )
    assert not (tmp_path / "p.sce").exists()


@pytest.mark.parametrize("as_gold", [False, True])
def test_python_lists_are_lists_of_labels(tmp_path: Path, as_gold: bool) -> None:
    progress = SilentProgress()
    text = "text,tags\na,\"['Late', 'Rude']\"\nb,['Late']\nc,[]\nd,\"['It\\'s wet' 'Late']\"\n"
    with imported(tmp_path, text, gold_column="tags", as_gold=as_gold, progress=progress) as project:
        assert labels_of(project) == ["Late", "Rude", "It's wet"]
        assert project.label_set().multi_label  # type: ignore[union-attr]
    assert [told for told in progress.warnings if "lists of labels" in told]


BROKEN = ["[null,3]", '["Late"', '[["a"]]', '{"a":1}', "[1,2]", '[""]', "['\u200b']", "[Late]"]


@pytest.mark.parametrize("as_gold", [False, True])
@pytest.mark.parametrize("broken", BROKEN)
def test_a_damaged_list_gives_no_label_and_is_reported(tmp_path: Path, broken: str, as_gold: bool) -> None:
    progress = SilentProgress()
    rows = ['["Late"]'] * 3 + ["[]", broken, "abc", '["Late", "Rude"]']
    text = "text\ttags\n" + "".join(f"t{number}\t{cell}\n" for number, cell in enumerate(rows))
    with imported(tmp_path, text, gold_column="tags", as_gold=as_gold, progress=progress) as project:
        assert project.columns == ("text", "tags")
        assert labels_of(project) == ["Late", "abc", "Rude"]
        if as_gold:
            said = set(project.coder_answers(project.coders()[0].id))
        else:
            said = set(project.annotations(project.row_ids()))
        assert said == {1, 2, 3, 4, 6, 7}
    assert (
        f"1 cell of “tags” has no label, as it is not a list of labels: row 5: “{broken}”."
        in progress.warnings
    )
    assert "1 cell of “tags” is not a list and was read as one label: row 6: “abc”." in progress.warnings
    assert len(progress.warnings) == 3


def test_many_damaged_lists_are_counted(tmp_path: Path) -> None:
    progress = SilentProgress()
    text = "text\ttags\n" + 'a\t["Late"]\n' * 20 + "b\t[1]\n" * 8 + "c\tabc\nd\tword\n"
    with imported(tmp_path, text, gold_column="tags", progress=progress) as project:
        assert len(project.annotations(project.row_ids())) == 22
        table = write(tmp_path, 'text\ttags\ne\t["Late"]\ne\t[]\nf\t["Late"\n', "more.csv")
        append_table(project, table, gold_column=1, progress=progress)
        assert sorted(project.annotations(project.row_ids()))[-2:] == [31, 32]
        assert labels_of(project) == ["Late", "abc", "word"]
    told = "\n".join(progress.warnings)
    assert "8 cells of “tags” have no label, as they are not lists of labels: row 21: “[1]”; row 22:" in told
    assert "row 25: “[1]”; and 3 more." in told
    assert "2 cells of “tags” are not lists and were read as one label each. First: row 29: “abc”." in told


def test_names_in_brackets_are_labels_where_the_column_holds_no_lists(tmp_path: Path) -> None:
    progress = SilentProgress()
    text = "text,g\na,[urgent] call\nb,{x}\nc,late\n"
    with imported(
        tmp_path, text, gold_column="g", as_gold=True, multi_label=True, progress=progress
    ) as project:
        assert labels_of(project) == ["[urgent] call", "{x}", "late"]
    assert progress.warnings == []


@pytest.mark.parametrize("as_gold", [False, True])
def test_labels_that_look_the_same_are_reported_by_group(tmp_path: Path, as_gold: bool) -> None:
    progress = SilentProgress()
    text = "text,g\na,2\nb,2.0\nc,Late\nd,late\ne,late\u200b\nf,Rude \ng,Rude\nh,other\n"
    with imported(tmp_path, text, gold_column="g", as_gold=as_gold, progress=progress) as project:
        assert labels_of(project) == ["2", "2.0", "Late", "late", "late\u200b", "Rude ", "other"]
        counts = project.annotation_counts()
        if not as_gold:
            assert list(counts.values()) == [1, 1, 1, 1, 1, 2, 1]
    told = "\n".join(progress.warnings)
    assert "look the same: “2” and “2.0”." in told
    assert "look the same: “Late”, “late” and “late\u200b”." in told
    assert "differ only in spaces and are one label: “Rude ” and “Rude”." in told
    assert "other" not in told


def test_labels_given_and_those_of_the_column_are_one_set(tmp_path: Path) -> None:
    with imported(
        tmp_path, "text,g\na,Late \nb,Rude\n", gold_column="g", labels=clean_labels(["Late"])
    ) as project:
        assert labels_of(project) == ["Late", "Rude"]
        assert list(project.annotation_counts().values()) == [1, 1]


@pytest.mark.parametrize(
    ("given", "labels"),
    [
        (["late", "Damaged"], ["late", "Damaged", "Praise"]),
        (["Damaged", "late"], ["Damaged", "late", "Praise"]),
        (["PRAISE", "late"], ["PRAISE", "late", "Damaged"]),
        (["other"], ["other", "Late", "Damaged", "Praise"]),
        ([], ["Late", "Damaged", "Praise"]),
    ],
)
@pytest.mark.parametrize("as_gold", [False, True])
def test_labels_given_stand_for_those_that_look_like_them(
    tmp_path: Path, given: list[str], labels: list[str], as_gold: bool
) -> None:
    text = "text,g\na,Late\nb,Late\nc,late\nd,Damaged\ne,damaged\nf,Damaged\ng,Praise\nh,LATE\n"
    chosen = tuple(map(Label, given))
    with imported(tmp_path, text, gold_column="g", as_gold=as_gold, labels=chosen, merge=True) as project:
        assert labels_of(project) == labels
        if not as_gold:
            assert sum(project.annotation_counts().values()) == 8


def test_invisible_texts_and_labels_count_as_none(tmp_path: Path) -> None:
    text = "text,g\n\u200b,a\nb,\u2060\n\ufeff\u00ad,b\n"
    with imported(tmp_path, text, gold_column="g") as project:
        assert project.blank_count() == 2
        assert labels_of(project) == ["a", "b"]
        assert sorted(project.annotations([1, 2, 3])) == [1, 3]


@pytest.mark.parametrize("name", [f"{'n' * 241}.sce", f"{'n' * 300}.sce", "pr\udce9.sce"])
def test_names_that_no_project_can_have(tmp_path: Path, name: str) -> None:
    table = write(tmp_path, "text\na\n")
    with pytest.raises(UserError):
        import_table(tmp_path / name, table, text_columns=["text"], progress=SilentProgress())
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_where_rows_were_found_is_reported(tmp_path: Path) -> None:
    progress = SilentProgress()
    table = write(tmp_path, '{"data": [\n{"text": "a"},\n{"text": "b"}\n]}\n', "in.json")
    with import_table(tmp_path / "p.sce", table, text_columns=["text"], progress=progress) as project:
        assert project.row_count() == 2
        assert append_table(project, table, progress=progress).rows == 2
    assert [told for told in progress.warnings if "“data”" in told]
