from __future__ import annotations

import json

import numpy as np
import pytest

from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.runs import Scores
from sce_desktop.core.tables import TableProblem
from sce_desktop.tasks.tables.columns import (
    ModelColumns,
    are_lists,
    as_list,
    beside,
    find_column,
    find_columns,
    from_list,
    report_problems,
)


def scores(*rows: list[float], none: list[float] | None = None) -> Scores:
    return Scores(
        np.asarray(rows, dtype=np.float32), None if none is None else np.asarray(none, dtype=np.float32)
    )


def test_a_column_is_matched_exactly_as_shown() -> None:
    columns = ("id", " text ", "text")
    progress = SilentProgress()
    assert find_column(columns, " text ", progress) == 1
    assert find_column(columns, "text", progress) == 2
    assert progress.warnings == []


def test_of_several_columns_of_the_same_name_the_first_is_read_and_told() -> None:
    progress = SilentProgress()
    assert find_columns(("a", "text", "text"), ["text", "a", 0], progress) == (1, 0)
    assert progress.warnings == ["2 columns are called “text”: the first was read."]


def test_a_missing_column_is_refused_with_what_there_is() -> None:
    with pytest.raises(UserError, match=r"Did you mean “Text”\?$"):
        find_column(("id", "Text"), "text", SilentProgress())
    with pytest.raises(UserError, match="The columns are “id” and “x”"):
        find_column(("id", "x"), "comment", SilentProgress())
    with pytest.raises(UserError, match="and 80 more"):
        find_column([f"c{number}" for number in range(100)], "zzz", SilentProgress())
    with pytest.raises(UserError, match="Choose the text column"):
        find_columns(("id",), [], SilentProgress())


def test_problems_are_reported_by_line() -> None:
    progress = SilentProgress()
    report_problems([], 0, progress)
    assert progress.warnings == []
    report_problems([TableProblem(n, "too few cells.") for n in (3, 5, 9, 12)], 1200, progress)
    assert progress.warnings == [
        "1,200 problems in the table: line 3: too few cells; line 5: too few cells; line 9: too few cells; "
        "and 1,197 more."
    ]
    report_problems([TableProblem(7, "no")], 1, progress)
    assert progress.warnings[1] == "1 problem in the table: line 7: no."


def test_columns_of_the_main_model() -> None:
    columns = ModelColumns("sce", ["a", "b, c"], main=True, threshold=0.6)
    assert columns.header == ["sce_label", "sce_confidence", "sce_status", "sce_p:a", "sce_p:b, c"]
    cells = columns.cells(scores([0.25, 0.75], [0.5, 0.5]))
    assert cells == [["b, c", 0.75, "scored", 0.25, 0.75], ["a", 0.5, "unsure", 0.5, 0.5]]
    assert columns.blank == [None, None, "blank", None, None]
    assert columns.unscored == [None] * 5


def test_columns_of_a_baseline_have_no_status() -> None:
    columns = ModelColumns("tiny", ["a", "b"], main=False, none=True, multi_label=True)
    assert columns.header == ["tiny_label", "tiny_confidence", "tiny_p:a", "tiny_p:b"]
    assert columns.cells(scores([0.5, 0.25], none=[0.1])) == [["a", 0.5, 0.5, 0.25]]
    assert columns.blank == [None] * 4


def test_columns_of_a_model_that_can_say_none_for_several_labels() -> None:
    columns = ModelColumns("sce", ["a, b", 'c"d'], main=True, none=True, multi_label=True)
    assert columns.header == [
        *("sce_label", "sce_confidence", "sce_status", "sce_none", "sce_labels"),
        *("sce_p:a, b", 'sce_p:c"d'),
    ]
    first, second = columns.cells(scores([0.75, 0.5], [0.25, 0.125], none=[0.0, 0.25]))
    assert first[:4] == ["a, b", 0.75, "scored", 0.0]
    assert json.loads(str(first[4])) == ["a, b", 'c"d']
    assert second[2] == "none"
    assert second[4] == "[]"


def test_the_status_says_that_a_single_label_does_not_fit() -> None:
    columns = ModelColumns("sce", ["sports"], main=True, none=True)
    said = scores([0.01], [0.75], none=[0.99, 0.25])
    assert [row[:3] for row in columns.cells(said)] == [
        ["sports", pytest.approx(0.01), "none"],
        ["sports", 0.75, "scored"],
    ]


def test_no_rows_no_cells() -> None:
    assert ModelColumns("sce", ["a"], main=True).cells(Scores(np.empty((0, 1), dtype=np.float32))) == []


def test_a_list_of_names_survives_any_name() -> None:
    names = ["Food, drink", "a|b", '50% "off"', "Ärger\nim Büro"]
    assert json.loads(as_list(names)) == names
    assert "Ä" in as_list(names)


def test_clashes_get_a_suffix_and_are_reported() -> None:
    progress = SilentProgress()
    ours = ["sce_label", "sce_p:a", "sce_p:b"]
    assert beside(["text", "sce_label", "sce_label_2"], ours, progress) == [
        "sce_label_3",
        "sce_p:a",
        "sce_p:b",
    ]
    assert progress.warnings == [
        "The table already has columns with these names. Ours are renamed: sce_label as sce_label_3."
    ]
    assert beside(["text"], ["x", "x"], progress) == ["x", "x_2"]  # an alias may make two of ours the same


def test_many_clashes_are_reported_by_number() -> None:
    progress = SilentProgress()
    names = [f"n{number}" for number in range(6)]
    assert beside(names, names, progress) == [f"{name}_2" for name in names]
    assert progress.warnings[0].endswith("n0 as n0_2, n1 as n1_2, n2 as n2_2 and 3 more.")


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ('["a", "b, c", "a", " "]', ("a", "b, c")),
        (" []", ()),
        ("[1]", None),
        ('["a"', None),
        ("[a]", None),
        ('{"a": []}', None),
        ("a", None),
        ("[" * 100_000, None),
    ],
)
def test_a_list_of_labels_is_read_from_a_cell(cell: str, names: tuple[str, ...] | None) -> None:
    assert from_list(cell) == names


def test_most_cells_say_whether_a_column_holds_lists() -> None:
    assert are_lists({'["a"]': 2, "b": 1})
    assert not are_lists({'["a"]': 1, "b": 1})
    assert not are_lists({})
