from __future__ import annotations

import csv

from sce_desktop.tasks.tables.pasting import as_tsv


def test_no_text_runs_as_a_formula_and_numbers_stay_numbers() -> None:
    cells = [
        ["Label", "Rows", "Change"],
        ["=1+1", 12, -0.0312],
        ['say "yes"', None, 0.8125],
        ["@a\tb", 0, 1.0],
    ]
    lines = list(csv.reader(as_tsv(cells).splitlines(), dialect="excel-tab"))
    assert lines == [
        ["Label", "Rows", "Change"],
        ["'\u2060=1+1", "12", "-0.0312"],
        ['say "yes"', "", "0.8125"],
        ["'\u2060@a\tb", "0", "1.0000"],
    ]
