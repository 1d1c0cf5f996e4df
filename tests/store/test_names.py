"""Names that no project can have are refused with a sentence, before anything is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from sce_desktop.core.errors import UserError
from sce_desktop.core.names import MOST_NAME, check_name
from sce_desktop.store.project import Project

UNFIT = [f"{'n' * 241}.sce", f"{'é' * 120}.sce", f"{'n' * 300}.sce", "pr\udce9.sce"]


@pytest.mark.parametrize("name", UNFIT)
def test_names_too_long_or_no_text(project: Project, tmp_path: Path, name: str) -> None:
    copy = tmp_path / name
    before = sorted(tmp_path.iterdir())
    for attempt in (
        lambda: Project.create(copy),
        lambda: project.backup(copy),
        lambda: project.repair(copy),
    ):
        with pytest.raises(UserError, match=r"too long|not valid UTF-8") as caught:
            attempt()
        assert len(str(caught.value)) < 120 + len(str(tmp_path))
        str(caught.value).encode()
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("name", [f"{'n' * 300}.sce", "pr\udce9.sce"])
def test_opening_them(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError):
        Project.open(tmp_path / name)


def test_the_longest_name_does(tmp_path: Path) -> None:
    path = tmp_path / f"{'n' * (MOST_NAME - 4)}.sce"
    check_name(path)
    with Project.create(path) as project:
        project.backup(tmp_path / f"{'m' * (MOST_NAME - 4)}.sce")
    Project.open(path).close()
