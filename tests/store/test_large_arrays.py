"""Arrays in a file that nobody sees: filled and read like others, and in memory where the disk is full."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.errors import UserError
from sce_desktop.core.runs import Scores
from sce_desktop.store.file.connections import raw
from sce_desktop.store.project import Project
from sce_desktop.store.runs import large_arrays, run_matrix
from tests.store.conftest import fill, use_labels


def test_probabilities_in_a_file_are_those_in_memory(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    aside = tmp_path / "aside"
    aside.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(aside))
    fill(project, [f"text {number}" for number in range(30)])
    use_labels(project, "a", "b", "c")
    label_set = project.label_set()
    assert label_set is not None
    run = project.open_run("sce", "sce", "m", "f", label_set.labels)
    given = np.random.default_rng(0).random((30, 3), np.float32)
    project.add_scores(run.id, np.arange(1, 31), Scores(given))
    ids, held = project.run_matrix(run.id)
    monkeypatch.setattr(large_arrays, "_MOST", 10)
    _, filed = project.run_matrix(run.id)
    assert ids.tolist() == list(range(1, 31))
    assert isinstance(filed, np.memmap)
    assert not isinstance(held, np.memmap)
    assert held.tolist() == filed.tolist() == given.tolist()
    if os.name == "posix":
        assert list(aside.iterdir()) == []


def test_a_matrix_comes_in_pieces_and_names_a_damaged_vector(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A piece has seven rows here, and one statement reads it: not one fetch a row."""
    monkeypatch.setattr(run_matrix, "_MOST_BYTES", 7 * 3 * 4)
    fill(project, [f"text {number}" for number in range(40)])
    use_labels(project, "a", "b", "c")
    label_set = project.label_set()
    assert label_set is not None
    run = project.open_run("sce", "sce", "m", "f", label_set.labels)
    scored = np.array([1, 2, 5, *range(9, 39)])
    given = np.random.default_rng(0).random((len(scored), 3), np.float32)
    project.add_scores(run.id, scored, Scores(given))
    asked: list[str] = []
    with project._database.read() as connection:
        plain = raw(connection)
        plain.set_trace_callback(asked.append)
        try:
            ids, found = run_matrix.matrix(connection, run.id)
        finally:
            plain.set_trace_callback(None)
    assert ids.dtype == np.int32
    assert ids.tolist() == scored.tolist()
    assert found.tolist() == given.tolist()
    assert sum("LIMIT" in one for one in asked) == -(-len(scored) // 7)
    with project._database.write() as connection:
        connection.exec_driver_sql("UPDATE scores SET probabilities = x'00' WHERE row_id = 20")
    with pytest.raises(UserError, match="20"):
        project.run_matrix(run.id)


def test_pages_that_are_let_go_keep_what_they_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_arrays, "_MOST", 10)
    given = np.random.default_rng(0).random((2_000, 1_000), np.float32)
    found = large_arrays.large((1_000, 2_000), np.float32).T
    found[:] = given
    before = _file_pages()
    large_arrays.let_go(found)
    if sys.platform == "linux":
        assert before - _file_pages() > 7_000_000 // os.sysconf("SC_PAGE_SIZE")
    assert (found == given).all()
    large_arrays.let_go(given)  # held in memory: nothing happens
    assert (found == given).all()


def _file_pages() -> int:
    statm = Path("/proc/self/statm")
    return int(statm.read_text(encoding="ascii").split()[2]) if statm.exists() else 0


def test_without_room_on_the_disk_it_is_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int, _size: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(large_arrays, "_MOST", 10)
    monkeypatch.setattr(large_arrays, "_reserve", full)
    found = large_arrays.large((4, 5), np.float32)
    assert not isinstance(found, np.memmap)
    assert found.shape == (4, 5)


@pytest.mark.parametrize("size", [1, 999_999, 1_000_000, 2_500_000])
def test_a_file_is_made_as_long_as_it_will_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    for name in ("as it comes", "without the call of POSIX"):
        with (tmp_path / name).open("wb") as file:
            large_arrays._reserve(file.fileno(), size)
        assert (tmp_path / name).stat().st_size == size
        monkeypatch.delattr(os, "posix_fallocate", raising=False)
