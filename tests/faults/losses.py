"""What is recorded for power losses, and what must be there after each.

``python -m tests.faults.losses FOLDER`` does the work under the library of ``power.c``; `check_cuts` makes
what power losses would have left of it, and opens that.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults import power

ACTIONS = 45
_states: list[object] = []


def mark(text: str) -> None:
    """Say in the recording that the program has acknowledged something."""
    ctypes.CDLL(None).power_mark(text.encode())


# --- in the process that is recorded -----------------------------------------------------------------------


def label(folder: Path) -> None:
    """Decisions, notes, bulk actions, edits of the labels, undo; then the project is closed."""
    from sce_desktop.store.project import Project
    from tests.faults import actions

    with Project.open(folder / "people.sce") as project:
        _states.append(actions.state_of(project))
        for _, action in zip(range(ACTIONS), actions.actions(project, seed=7), strict=False):
            mark(action)
            _states.append(actions.state_of(project))
        project.shorten_log()
    mark("closed")


def add(folder: Path) -> None:
    """Rows are added to an open project, then one is labelled."""
    from sce_desktop.core.annotations import Decision
    from sce_desktop.core.progress import SilentProgress
    from sce_desktop.store.project import Project
    from sce_desktop.tasks.tables.tables import append_table

    with Project.open(folder / "new.sce") as project:
        for _ in range(2):
            append_table(project, folder / "added.csv", progress=SilentProgress())
            mark("added")
            project.decide([project.row_count()], Decision.NONE)
            mark("labelled")


def make(folder: Path) -> None:
    """An import, a backup and a repair, each over an older project; exports over an older file."""
    from sce_desktop.core.progress import SilentProgress
    from sce_desktop.store.project import Project
    from sce_desktop.tasks.tables.export import export_table
    from sce_desktop.tasks.tables.tables import import_table

    progress = SilentProgress()
    import_table(
        folder / "p0.sce", folder / "new.csv", text_columns=["text"], overwrite=True, progress=progress
    ).close()
    mark("p0.sce")
    with Project.open(folder / "new.sce", read_only=True) as project:
        project.backup(folder / "p1.sce", progress, overwrite=True)
        mark("p1.sce")
        for ending in ("csv", "xlsx", "jsonl"):
            export_table(project, folder / f"out.{ending}", progress=progress)
            mark(f"out.{ending}")
    Project.repair_file(folder / "new.sce", folder / "p2.sce", progress, overwrite=True)
    mark("p2.sce")


def migrate(folder: Path) -> None:
    """A project of the first format is opened, and a row labelled."""
    from sce_desktop.core.annotations import Decision
    from sce_desktop.store.project import Project

    with Project.open(folder / "first.sce") as project:
        mark("opened")
        project.decide([2], Decision.NONE)
        mark("labelled")


WORK: dict[str, tuple[Callable[[Path], None], tuple[str, ...]]] = {
    "label": (label, ("people.sce",)),
    "add": (add, ("new.sce", "added.csv")),
    "make": (make, ("new.sce", "new.csv")),
    "migration": (migrate, ("first.sce",)),
}


# --- in the process that records and checks ----------------------------------------------------------------


@dataclass
class Recording:
    """One part of the work: where it was done, what the folder had before, and what was recorded."""

    name: str
    folder: Path
    base: Path
    events: list[power.Event]
    states: list[object]


@dataclass
class Losses:
    """What came of power losses."""

    cuts: int = 0
    acknowledged: int = 0
    wrong: list[str] = field(default_factory=list)


def record(place: Path, library: Path) -> list[Recording]:
    """Do the work once, and return what was recorded."""
    from tests.faults import material

    (place / "material").mkdir()
    material.make(place / "material")
    for name, (_, files) in WORK.items():
        for folder in (place / "work" / name, place / "base" / name):
            folder.mkdir(parents=True)
            for file in files:
                shutil.copy(place / "material" / file, folder)
            if name == "make":
                for number in range(3):
                    shutil.copy(place / "material" / "old.sce", folder / f"p{number}.sce")
                for ending in ("csv", "xlsx", "jsonl"):
                    (folder / f"out.{ending}").write_text(material.OLD_TEXT, encoding="utf-8")
    environment = os.environ | {
        "LD_PRELOAD": str(library),
        "POWER_FOLDER": str(place / "work"),
        "POWER_LOG": str(place / "log"),
        "SCE_DESKTOP_HOME": str(place / "home"),
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "tests.faults.losses", str(place)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise RuntimeError(ended.stderr)
    states = json.loads((place / "states.json").read_text(encoding="utf-8"))
    recordings: dict[str, list[power.Event]] = {name: [] for name in WORK}
    current = ""
    for event in power.read(place / "log"):
        if event.kind == "m" and event.data.decode() in WORK:
            current = event.data.decode()
        else:
            recordings[current].append(event)
    return [
        Recording(name, place / "work" / name, place / "base" / name, events, states)
        for name, events in recordings.items()
    ]


def check_cuts(recording: Recording, cuts: int, seed: int, place: Path) -> Losses:
    """Lose power at so many moments, drawn with ``seed``, and return what was found.

    The last one is the end, when all has been acknowledged: few draws may all be before the first time.
    """
    losses = Losses()
    for number in range(cuts):
        draw = random.Random(f"{recording.name} {seed} {number}")
        journal, at = draw.random() < 0.5, draw.randint(0, len(recording.events))
        if number == cuts - 1:
            at = len(recording.events)
        disk = power.Disk(recording.base, recording.folder)
        told = []
        for event in recording.events[:at]:
            if event.kind == "m":
                told.append(event.data.decode())
            else:
                disk.take(event, journal=journal)
        left = place / f"{recording.name} {number}"
        left.mkdir(parents=True)
        disk.lose_power(left, draw)
        names = sorted(file.name for file in left.iterdir())
        wrong = _CHECKS[recording.name](left, told, recording)
        losses.cuts += 1
        losses.acknowledged += len(told)
        if wrong:
            kind = "journal" if journal else "strict"
            losses.wrong.append(
                f"{left.name} (seed {seed}, {kind}, event {at}, told {told[-3:]}, {names}): {wrong}"
            )
        else:
            shutil.rmtree(left)
    return losses


def _check_label(left: Path, told: Sequence[str], recording: Recording) -> str:
    from tests.faults import actions
    from tests.faults.kills import Found
    from tests.faults.operations import opened

    found = Found()
    done = len([one for one in told if one != "closed"])
    with opened(left / "people.sce", found) as project:
        if project is None:
            return str(found.damaged)
        broke_off, can_undo = project.interrupted()
        if broke_off and can_undo:
            project.undo()
        state = json.loads(json.dumps(actions.state_of(project)))
    allowed = recording.states[done : done + (1 if broke_off else 2)]
    if broke_off:
        state.pop("redo")
        allowed = [{name: value for name, value in one.items() if name != "redo"} for one in allowed]  # type: ignore[attr-defined]
    if state not in allowed:
        found.lost.append(f"not what {done} actions make: {state['undo']!r}")
    return " ".join(found.damaged + found.lost)


def _check_add(left: Path, told: Sequence[str], _recording: Recording) -> str:
    from tests.faults.kills import Found
    from tests.faults.material import ADDED, LABELLED, NEW
    from tests.faults.operations import opened

    found, counts = Found(), Counter(told)
    with opened(left / "new.sce", found) as project:
        if project is None:
            return str(found.damaged)
        more, rest = divmod(project.row_count() - NEW, ADDED)
        labelled = len(project.annotations(project.row_ids())) - LABELLED
    if rest or not counts["added"] <= more <= counts["added"] + 1:
        found.lost.append(f"{more} tables and {rest} rows of {counts['added']} tables")
    if not counts["labelled"] <= labelled <= counts["labelled"] + 1:
        found.lost.append(f"{labelled} labels of {counts['labelled']}")
    return " ".join(found.damaged + found.lost)


def _check_make(left: Path, told: Sequence[str], recording: Recording) -> str:
    from tests.faults.kills import Found
    from tests.faults.material import OLD_TEXT
    from tests.faults.operations import Exporting, Writing, opened

    found = Found()
    material = recording.base.parent.parent / "material"
    for number, name in enumerate(("import", "backup", "repair")):
        path = left / f"p{number}.sce"
        what = Writing(name, 1)._what(path, found) if path.exists() else "gone"
        if what not in ({"new"} if path.name in told else {"new", "old"}):
            found.lost.append(f"{path.name} is {what}")
    exporting = Exporting(_material=material)
    for ending in ("csv", "xlsx", "jsonl"):
        path = left / f"out.{ending}"
        if not path.exists():
            found.lost.append(f"{path.name} is gone")
        elif not exporting._is_whole(path) and (path.name in told or path.read_text() != OLD_TEXT):
            found.lost.append(f"{path.name} is half written")
    with opened(left / "new.sce", found):
        pass
    return " ".join(found.damaged + found.lost)


def _check_migration(left: Path, told: Sequence[str], _recording: Recording) -> str:
    from tests.faults.kills import Found
    from tests.faults.material import FIRST
    from tests.faults.operations import opened

    found = Found()
    with opened(left / "first.sce", found) as project:
        if project is None:
            return str(found.damaged)
        facts = project.row_count(), len(project.annotations(project.row_ids())) - FIRST // 2
    if facts[0] != FIRST or not ("labelled" in told) <= facts[1] <= ("opened" in told):
        found.lost.append(f"rows and new labels: {facts}")
    return " ".join(found.damaged + found.lost)


_CHECKS: dict[str, Callable[[Path, Sequence[str], Recording], str]] = {
    "label": _check_label,
    "add": _check_add,
    "make": _check_make,
    "migration": _check_migration,
}


def main(place: Path) -> None:
    """Do all of the work."""
    for name, (work, _) in WORK.items():
        mark(name)
        work(place / "work" / name)
    (place / "states.json").write_text(json.dumps(_states), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
