"""The file that says which scorings were running or paused when the program ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sce_desktop.controllers.scoring_states import Kept, ScoringStates

MADE = "2026-01-02"  # when a project was created


@pytest.mark.parametrize("content", ["", "[1]", '{"a": 1}', "\x00", '{"/p.sce": "exploded"}'])
def test_states_that_make_no_sense_are_none(tmp_path: Path, content: str) -> None:
    file = tmp_path / "scoring.json"
    file.write_text(content)
    project = tmp_path / "p.sce"
    project.touch()
    states = ScoringStates(file)
    assert states.of(Path("/p.sce"), MADE) is None
    states.keep(project, Kept("paused", True), MADE)
    assert ScoringStates(file).of(project, MADE) == Kept("paused", True)
    states.keep(project, None, MADE)
    assert ScoringStates(file).of(project, MADE) is None


def test_the_oldest_states_are_forgotten(tmp_path: Path) -> None:
    states = ScoringStates(tmp_path / "scoring.json")
    projects = [tmp_path / f"{number}.sce" for number in range(40)]
    for project in projects:
        project.touch()
        states.keep(project, Kept("running", False), MADE)
    found: list[Any] = [states.of(project, MADE) for project in projects]
    assert found == [None] * 10 + [Kept("running", False)] * 30


def test_states_of_projects_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    file = tmp_path / "scoring.json"
    states = ScoringStates(file)
    gone, other = tmp_path / "gone.sce", tmp_path / "other.sce"
    for project in (gone, other):
        project.touch()
    states.keep(gone, Kept("running", False), MADE)
    gone.unlink()
    states.keep(other, Kept("running", False), MADE)
    assert list(json.loads(file.read_text())) == [str(other)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('"running"', Kept("running", False)),  # by an older version
        ('"paused"', Kept("paused", True)),
        ('{"state": "running"}', Kept("running", False)),
        ('{"state": "running", "whole": true}', Kept("running", True)),
        ('{"state": "paused", "whole": false}', Kept("paused", False)),
        ('{"state": "running", "whole": []}', Kept("running", False)),
        ('{"state": "running", "made": "2026-01-02"}', Kept("running", False)),
        ('{"state": "running", "made": "2026-01-03"}', None),
        ('{"state": "running", "made": null}', None),
        ('{"state": ["running"]}', None),
        ("{}", None),
    ],
)
def test_what_stands_in_the_file(tmp_path: Path, content: str, expected: Kept | None) -> None:
    file = tmp_path / "scoring.json"
    file.write_text('{"/p.sce": ' + content + "}")
    assert ScoringStates(file).of(Path("/p.sce"), MADE) == expected
