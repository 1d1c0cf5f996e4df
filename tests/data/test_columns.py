"""Columns become the bytes that rows of the same cells become, and numbers the text that Python makes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sce_desktop.data.columns import Columns, Numbers
from sce_desktop.data.number_text import joined, rounded
from sce_desktop.data.writers import write_table


def numbers() -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    rng = np.random.default_rng(4)
    edges = [0, 1, 2, 0.5, 0.1, 1e-4, 9.9999997e-5, 1e-9, 1e-10, 1e-45, np.nan, 0.99999994, 12345.678]
    ties = [2.0**-power for power in range(1, 140)]
    edges += [1.17549435e-38, 1.1e-38, 1e-38, 9.99999935e-39, 3.4e38, -0.25, np.inf]
    decades = [np.float32(10.0**-power) for power in range(46)]
    edges += [np.nextafter(one, np.float32(side)) for one in decades for side in (0, 1)] + decades
    spread = 10.0 ** rng.uniform(-46, 0.1, 20_000)
    eighths = rng.integers(0, 1 << 20, 2_000) / (1 << 20)
    return np.concatenate([edges, ties, spread, eighths, rng.random(2_000)]).astype(np.float32)


def test_numbers_are_those_that_python_writes() -> None:
    values = numbers()
    texts = [f"{value:.9g}" for value in values.tolist()]
    assert joined(values[:, None], ";").to_pylist() == texts
    pairs = joined(np.stack([values, values[::-1]], axis=1), ";").to_pylist()
    assert pairs == [f"{one};{other}" for one, other in zip(texts, reversed(texts), strict=True)]
    assert np.array_equal(rounded(values), [float(text) for text in texts], equal_nan=True)


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
@pytest.mark.parametrize("excel_safe", [False, True])
def test_columns_and_rows_become_the_same_file(tmp_path: Path, ending: str, excel_safe: bool) -> None:
    rng = np.random.default_rng(5)
    rows = 300
    words = ["plain", 'a "quote"', "one, two", "line\nbreak", "=1+1", "tab\there", "", None]
    present = rng.random(rows) < 0.7
    columns = Columns(
        (
            [words[place] for place in rng.integers(0, len(words), rows)],
            *(Numbers(rng.random(rows).astype(np.float32), present) for _ in range(3)),
            [f"text {number}" for number in range(rows)],
            Numbers(rng.random(rows).astype(np.float32), ~present),
            [int(number) for number in rng.integers(0, 2, rows)],
        ),
        rows,
    )
    names = [f"column {place}" for place in range(columns.width)]
    as_rows = [list(row) for row in zip(*columns.cells(), strict=True)]
    written = []
    for name, batch in (("columns", columns), ("rows", as_rows)):
        path = tmp_path / f"{name}.{ending}"
        assert write_table(path, names, [batch], excel_safe=excel_safe) == rows
        written.append(path.read_bytes())
    assert written[0] == written[1]
