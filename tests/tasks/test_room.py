"""What an import takes is said, and refused where it does not fit, before anything is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from sce_desktop.core.errors import UserError
from sce_desktop.core.limits import MAX_LABELS
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.project import Project
from sce_desktop.tasks.tables import room
from sce_desktop.tasks.tables.tables import append_table, import_table


class Said(SilentProgress):
    """Keeps the notes."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def warn(self, message: str) -> None:
        self.notes.append(message)


def table(folder: Path, rows: int = 400) -> Path:
    path = folder / "a.csv"
    path.write_text("id,text\n" + "".join(f"{n},the parcel number {n} came late\n" for n in range(rows)))
    return path


def test_the_estimate_is_near_what_a_project_takes(tmp_path: Path) -> None:
    rows = [(str(n), f"text number {n} " + "of some words " * 20) for n in range(3000)]
    path = tmp_path / "a.csv"
    path.write_text("id,text\n" + "".join(f"{a},{b}\n" for a, b in rows))
    with import_table(tmp_path / "p.sce", path, text_columns=["text"], progress=SilentProgress()):
        pass
    size = room.size_of(rows[:1000], 3000)
    taken = (tmp_path / "p.sce").stat().st_size
    assert 0.7 < size.project / taken < 1.5
    with Project.open(tmp_path / "p.sce") as project:
        project.build_search_index(SilentProgress())
    assert (tmp_path / "p.sce").stat().st_size - taken < 1.2 * size.index  # texts of few words take less


def test_what_does_not_fit_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "free_disk", lambda folder: 10_000)
    path, project = table(tmp_path), tmp_path / "p.sce"
    with pytest.raises(UserError, match=r"^a.csv would take about .* and .* are free in .*: free some space"):
        import_table(project, path, text_columns=["text"], progress=SilentProgress())
    assert [found.name for found in tmp_path.iterdir()] == ["a.csv"]


def test_rows_that_do_not_fit_are_not_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = table(tmp_path, 5)
    with import_table(tmp_path / "p.sce", path, text_columns=["text"], progress=SilentProgress()) as project:
        monkeypatch.setattr(room, "free_disk", lambda folder: 100)
        with pytest.raises(UserError, match="would take about"):
            append_table(project, path, progress=SilentProgress())
        assert project.row_count() == 5


def test_a_large_import_says_what_it_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = Said()
    monkeypatch.setattr(room, "LARGE", 1000)
    with import_table(tmp_path / "p.sce", table(tmp_path), text_columns=["text"], progress=said) as project:
        assert project.row_count() == 400
    assert any(note.startswith("The project may take up to ") for note in said.notes)


def test_a_small_import_says_nothing(tmp_path: Path) -> None:
    said = Said()
    with import_table(tmp_path / "p.sce", table(tmp_path), text_columns=["text"], progress=said):
        pass
    assert not said.notes


def test_labels_that_memory_has_no_room_for_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "_free_memory", lambda: 1 << 30)
    monkeypatch.setattr(room, "free_disk", lambda folder: None)
    size = room.TableSize(10_000_000, 10.0, 10.0)
    assert "would take about 4.0 GB of memory" in room.import_obstacle(size, tmp_path, "a.csv", labelled=True)
    assert not room.import_obstacle(size, tmp_path, "a.csv")


def test_scores_that_do_not_fit_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = table(tmp_path)
    with import_table(tmp_path / "p.sce", path, text_columns=["text"], progress=SilentProgress()) as project:
        room.check_scores(project, 10, 1)
        monkeypatch.setattr(room, "free_disk", lambda folder: 10_000)
        with pytest.raises(UserError, match="The scores of 400 rows would take about"):
            room.check_scores(project, 10, 1)


def test_a_column_of_texts_is_no_column_of_labels(tmp_path: Path) -> None:
    path = table(tmp_path, MAX_LABELS + 1)
    with pytest.raises(UserError, match="“text” has more than 10,000 different values"):
        import_table(
            tmp_path / "p.sce", path, text_columns=["text"], gold_column="text", progress=SilentProgress()
        )
    assert not (tmp_path / "p.sce").exists()
