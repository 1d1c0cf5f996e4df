from __future__ import annotations

from pathlib import Path

import pytest

from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.project import Project
from sce_desktop.tasks.tables.scan import TableScan, scan_table
from sce_desktop.tasks.tables.tables import import_table
from tests.tasks.fakes import StoppingProgress


def scan(path: Path, **choices: object) -> TableScan:
    return scan_table(path, progress=SilentProgress(), **choices)  # type: ignore[arg-type]


def test_counts_are_those_of_the_import(tmp_path: Path) -> None:
    """Empty and blank texts are rows, an empty line is none."""
    table = tmp_path / "t.csv"
    table.write_text('id,text\n1,good\n2,\n3,"   "\n\n5,good\n6,包裹晚了两天才到\n', encoding="utf-8")
    found = scan(table, text_columns=[1])
    assert (found.rows, found.blank, found.duplicates) == (5, 2, 1)
    assert (found.foreign, found.scripts) == (1, ("Chinese",))
    with import_table(tmp_path / "p.sce", table, text_columns=["text"], progress=SilentProgress()) as project:
        assert project.row_count() == found.rows
        assert (project.blank_count(), project.duplicate_count()) == (found.blank, found.duplicates)


def test_problems_are_reported_by_line(tmp_path: Path) -> None:
    """A quote that is never closed swallows nothing."""
    table = tmp_path / "t.csv"
    table.write_text(
        'id;text\n1;"Fast" delivery, slow refund\n2;"she said ""never again"""\n3;5" pipe\n'
        '4;"unclosed starts here\n5;fine\n',
        encoding="utf-8",
    )
    found = scan(table, text_columns=[1])
    assert found.rows == 5
    assert found.problem_count == 1
    assert found.problems[0].line == 5


def test_labels_that_look_the_same(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    names = ["billing ", "Billing", "BILLING", "Caf\u00e9", "Cafe\u0301", "Refund", "", "Billing"]
    table.write_text("text, label \n" + "".join(f"t{n},{name}\n" for n, name in enumerate(names)), "utf-8")
    found = scan(table, text_columns=[0], label_column=1)
    assert dict(found.labels) == {
        "Billing": 2,
        "billing ": 1,
        "BILLING": 1,
        "Caf\u00e9": 1,
        "Cafe\u0301": 1,
        "Refund": 1,
    }
    assert found.alike == (("Billing", "billing ", "BILLING"), ("Caf\u00e9", "Cafe\u0301"))


def test_what_a_project_has_already(tmp_path: Path) -> None:
    first, second = tmp_path / "1.csv", tmp_path / "2.csv"
    first.write_text('text\nlate\ncrushed\n""\n', encoding="utf-8")
    second.write_text('text\nkind\ncrushed\n""\nlate\nlate\n', encoding="utf-8")
    with import_table(tmp_path / "p.sce", first, text_columns=["text"], progress=SilentProgress()) as project:
        found = scan(second, text_columns=[0], project=project)
    assert (found.rows, found.known, found.blank) == (5, 3, 1)
    assert found.known_head == {1, 3, 4}


def test_several_text_columns_are_joined(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,b\nx,\n,x\nx,x\n,\n", encoding="utf-8")
    found = scan(table, text_columns=[0, 1])
    assert (found.rows, found.blank, found.duplicates) == (4, 1, 1)


def test_scan_can_be_stopped_and_fails_in_a_sentence(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("text\n" + "late\n" * 20_000, encoding="utf-8")
    with pytest.raises(Cancelled):
        scan_table(table, text_columns=[0], progress=StoppingProgress(1))
    with pytest.raises(UserError):
        scan(tmp_path / "missing.csv", text_columns=[0])


def test_project_is_searched_by_the_hash_of_this_process(tmp_path: Path) -> None:
    with Project.create(tmp_path / "p.sce") as project:
        table = tmp_path / "t.csv"
        table.write_text("text\nlate\n", encoding="utf-8")
        assert scan(table, text_columns=[0], project=project).known == 0


def test_names_that_differ_in_spaces_are_counted_as_one(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,g\na,Late\nb,Late \nc,Rude\nd,2\ne,2.0\n")
    found = scan(tmp_path / "a.csv", text_columns=[0], label_column=1)
    assert found.labels == (("Late", 2), ("Rude", 1), ("2", 1), ("2.0", 1))
    assert found.alike == (("2", "2.0"),)


def test_invisible_texts_are_blank_and_notes_come_along(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(
        '{"data": [\n{"text": "\\u200b"}, {"text": "\\ufeff \\u00ad"}, {"text": "a"}]}'
    )
    found = scan(tmp_path / "a.json", text_columns=[0])
    assert (found.rows, found.blank, found.duplicates) == (3, 2, 0)
    assert ["“data”" in note for note in found.notes] == [True]
