"""The list of recent projects: order, bounds, and no failure ever."""

from __future__ import annotations

from pathlib import Path

from sce_desktop.ui.recent import RecentProjects


def test_newest_first_each_once(tmp_path: Path) -> None:
    recent = RecentProjects(tmp_path / "state" / "recent.json")
    for name in ("a", "b", "a"):
        recent.remember(tmp_path / f"{name}.sce", rows=10, labelled=2, scored=5)
    assert [project.name for project in recent.all()] == ["a", "b"]
    assert (recent.all()[0].rows, recent.all()[0].labelled, recent.all()[0].scored) == (10, 2, 5)


def test_it_stays_short(tmp_path: Path) -> None:
    recent = RecentProjects(tmp_path / "recent.json")
    for number in range(30):
        recent.remember(tmp_path / f"{number}.sce", rows=0, labelled=0, scored=0)
    assert len(recent.all()) == 12
    assert recent.all()[0].name == "29"


def test_forgetting_leaves_the_file(tmp_path: Path) -> None:
    project = tmp_path / "Übung, 1.sce"
    project.write_bytes(b"data")
    recent = RecentProjects(tmp_path / "recent.json")
    recent.remember(project, rows=1, labelled=0, scored=0)
    assert recent.all()[0].exists
    recent.forget(str(project))
    assert recent.all() == []
    assert project.exists()


def test_damaged_or_unwritable_file_is_an_empty_list(tmp_path: Path) -> None:
    file = tmp_path / "recent.json"
    for text in ("{", "[1]", '[{"path": "x", "newer_key": 1}]'):
        file.write_text(text, encoding="utf-8")
        assert RecentProjects(file).all() == []
    (tmp_path / "folder").write_text("a file where a folder should be", encoding="utf-8")
    blocked = RecentProjects(tmp_path / "folder" / "recent.json")
    blocked.remember(tmp_path / "a.sce", rows=0, labelled=0, scored=0)
    assert blocked.all() == []
