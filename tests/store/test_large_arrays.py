"""Arrays in a file that nobody sees: filled and read like others, and in memory where the disk is full."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.runs import Scores
from sce_desktop.store.project import Project
from sce_desktop.store.runs import large_arrays
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


def test_without_room_on_the_disk_it_is_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int, _size: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(large_arrays, "_MOST", 10)
    monkeypatch.setattr(large_arrays, "_reserve", full)
    found = large_arrays.large((4, 5))
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
