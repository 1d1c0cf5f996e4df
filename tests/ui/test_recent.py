"""The list of recent projects: order, bounds, and no failure ever."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from sce_desktop.controllers.recent import RecentProjects


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
    for text in ("{", "[1]", '[{"path": "x", "newer_key": 1}]', "[" * 200_000, "null", "3", '{"a": 1}'):
        file.write_text(text, encoding="utf-8")
        assert RecentProjects(file).all() == []
    file.write_bytes(bytes(range(256)))
    assert RecentProjects(file).all() == []
    file.mkdir()
    assert RecentProjects(file).all() == []
    RecentProjects(file).remember(tmp_path / "a.sce", rows=0, labelled=0, scored=0)
    (tmp_path / "folder").write_text("a file where a folder should be", encoding="utf-8")
    blocked = RecentProjects(tmp_path / "folder" / "recent.json")
    blocked.remember(tmp_path / "a.sce", rows=0, labelled=0, scored=0)
    assert blocked.all() == []


@pytest.mark.parametrize(
    "change",
    [
        {"path": 3},
        {"path": None},
        {"path": ["a"]},
        {"opened_at": "yesterday"},
        {"opened_at": None},
        {"opened_at": float("nan")},
        {"opened_at": 1e300},
        {"rows": "many"},
        {"rows": -1},
        {"rows": 1.5},
        {"rows": 10**30},
        {"scored": True},
        {"labelled": {"a": 1}},
    ],
    ids=str,
)
def test_an_entry_that_makes_no_sense_is_ignored_and_logged(
    tmp_path: Path, change: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "recent.json"
    good = {"path": "/a.sce", "opened_at": 1.0, "rows": 1, "labelled": 1, "scored": 1}
    file.write_text(json.dumps([good | change, good]), encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        assert [entry.path for entry in RecentProjects(file).all()] == ["/a.sce"]
    assert "what cannot be understood in it is ignored" in caplog.text
    RecentProjects(file).remember(tmp_path / "b.sce", rows=0, labelled=0, scored=0)
    assert [entry.name for entry in RecentProjects(file).all()] == ["b", "a"]


@pytest.mark.parametrize("path", ["a" * 10_000, "a\0b", ""])
def test_what_is_no_path_is_a_file_that_is_gone(tmp_path: Path, path: str) -> None:
    file = tmp_path / "recent.json"
    file.write_text(json.dumps([{"path": path, "opened_at": 1.0}]), encoding="utf-8")
    assert [entry.exists for entry in RecentProjects(file).all()] == [False]


def test_a_copy_has_the_state_of_what_it_is_of(tmp_path: Path) -> None:
    recent = RecentProjects(tmp_path / "recent.json")
    recent.remember(tmp_path / "a.sce", rows=10, labelled=2, scored=5)
    recent.remember_copy(tmp_path / "a.sce", tmp_path / "b.sce")
    recent.remember_copy(tmp_path / "never seen.sce", tmp_path / "c.sce")
    assert [(entry.name, entry.rows, entry.labelled) for entry in recent.all()] == [
        ("c", 0, 0),
        ("b", 10, 2),
        ("a", 10, 2),
    ]
