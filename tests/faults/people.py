"""People label while a model scores, fine-tunes, and alone: what must be there when that was killed."""

from __future__ import annotations

import random
import shutil
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

from sce_desktop.core.annotations import Decision
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.training import FinetuneSettings
from sce_desktop.store.project import Project
from tests.faults import actions
from tests.faults.kills import Found, Tell
from tests.faults.material import LABELLED, NEW
from tests.faults.operations import opened, take_away

MODEL = "tiny"
EPOCHS = 3


@dataclass
class Labelling:
    """Decisions, notes, bulk actions, edits of the labels, undo and redo."""

    name: str = "label"
    share: float = 50
    steps: int = 50
    slow_start: bool = False

    def prepare(self, material: Path, folder: Path) -> None:
        shutil.copy(material / "people.sce", folder)
        shutil.copy(material / "people.sce", folder / "again.sce")

    def work(self, folder: Path, draw: random.Random, tell: Tell) -> None:
        with Project.open(folder / "people.sce") as project:
            for action in actions.actions(project, draw.getrandbits(32)):
                tell(action)

    def check(self, folder: Path, draw: random.Random, told: Sequence[str], found: Found) -> None:
        found.acknowledged = len(told)
        with opened(folder / "people.sce", found) as project, Project.open(folder / "again.sce") as again:
            if project is not None:
                seed = draw.getrandbits(32)
                compare(project, again, actions.actions(again, seed), told, found)
        take_away(folder, "people.sce")
        take_away(folder, "again.sce")


def compare(project: Project, again: Project, doing: Any, told: Sequence[str], found: Found) -> None:
    """Note it unless ``project`` is what the acknowledged actions, or one more, make of ``again``."""
    broke_off, can_undo = project.interrupted()
    if broke_off:  # a bulk action of several parts, the last thing that happened
        if not can_undo:
            found.damaged.append("what broke off cannot be undone")
        project.undo()
    before = actions.state_of(project)
    if broke_off:
        del before["redo"]  # that is what broke off now
    names = [next(doing) for _ in told]
    if names != list(told):
        found.damaged.append(f"other actions than those of the seed: {told}")
        return
    states = []
    for _ in range(1 if broke_off else 2):
        states.append({name: value for name, value in actions.state_of(again).items() if name in before})
        if before == states[-1]:
            return
        next(doing)
    differs = [name for name, value in before.items() if value != states[0][name]]
    found.lost.append(f"{differs} differ after {len(told)} actions, the last {list(told[-2:])}")


@dataclass
class Scoring:
    """A model scores while a person labels the same rows."""

    name: str = "score"
    share: float = 40
    steps: int = 25
    slow_start: bool = False
    model: Any = None

    def prepare(self, material: Path, folder: Path) -> None:
        shutil.copy(material / "new.sce", folder)

    def work(self, folder: Path, draw: random.Random, tell: Tell) -> None:
        from sce_desktop.tasks.scoring import scoring
        from sce_desktop.tasks.scoring.models import NamedModel

        scoring.CHUNK_SECONDS = 0.03  # type: ignore[misc]
        with Project.open(folder / "new.sce") as project:
            threading.Thread(target=self._label, args=(project, tell), daemon=True).start()
            for number in count():
                label_set = project.label_set()
                assert label_set is not None
                one, *others = label_set.labels
                project.set_labels([replace(one, description=f"description {number}"), *others])
                scoring.score_project(
                    project,
                    [NamedModel("sce", MODEL, self.model)],
                    on_scored=lambda chunk: tell(
                        f"scored {chunk.run.id} {' '.join(map(str, chunk.row_ids))}"
                    ),
                    progress=SilentProgress(),
                )

    @staticmethod
    def _label(project: Project, tell: Tell) -> None:
        for number in range(NEW - LABELLED):
            row = LABELLED + 1 + number
            project.set_marks(row, note=str(number))
            tell(f"note {row} {number}")
            project.decide([row], Decision.LABEL, [1 + number % 2])
            tell(f"label {row} {1 + number % 2}")

    def check(self, folder: Path, draw: random.Random, told: Sequence[str], found: Found) -> None:
        found.acknowledged = len(told)
        scored: dict[int, set[int]] = {}
        labels: dict[int, tuple[int, ...]] = {}
        notes: dict[int, str] = {}
        for line in told:
            kind, first, *rest = line.split()
            if kind == "scored":
                scored.setdefault(int(first), set()).update(map(int, rest))
            elif kind == "label":
                labels[int(first)] = (int(rest[0]),)
            else:
                notes[int(first)] = rest[0]
        with opened(folder / "new.sce", found) as project:
            if project is not None:
                self._compare(project, scored, labels, notes, found)
        take_away(folder, "new.sce")

    @staticmethod
    def _compare(
        project: Project,
        scored: dict[int, set[int]],
        labels: dict[int, tuple[int, ...]],
        notes: dict[int, str],
        found: Found,
    ) -> None:
        runs = {run.id: run for run in project.runs()}
        newest = max(scored, default=0)
        for run_id, rows in scored.items():
            if run_id in runs:
                gone = rows - set(project.run_arrays(run_id).row_ids.tolist())
                found.lost += [f"score of row {row} in run {run_id}" for row in sorted(gone)]
            elif run_id == newest:  # older ones are removed by those that come after them
                found.lost.append(f"run {run_id}")
        annotations = project.annotations(project.row_ids())
        found.lost += [
            f"label of row {row}"
            for row, ids in labels.items()
            if row not in annotations or annotations[row].label_ids != ids
        ]
        marks = project.marks(list(notes))
        found.lost += [
            f"note of row {row}" for row, note in notes.items() if row not in marks or marks[row].note != note
        ]


@dataclass
class FineTuning:
    """A fine-tune becomes a version, which is put in use.

    What was fitted is the same each time: the fit takes seconds in which nothing is written.
    """

    name: str = "fine-tune"
    share: float = 20
    steps: int = 3
    slow_start: bool = False
    model: Any = None
    fitted: Any = None

    def prepare(self, material: Path, folder: Path) -> None:
        shutil.copy(material / "tune.sce", folder)

    def work(self, folder: Path, draw: random.Random, tell: Tell) -> None:
        from sce_desktop.tasks.training import versions

        versions.method = lambda _settings: lambda *_, **__: self.fitted  # type: ignore[assignment]
        with Project.open(folder / "tune.sce") as project:
            for number in count():
                settings = FinetuneSettings(epochs=EPOCHS, seed=number)
                version = versions.finetune_project(
                    project, self.model, MODEL, settings=settings, progress=SilentProgress()
                ).version
                tell(f"version {version.id} {sha256(project.version_weights(version.id)).hexdigest()}")
                project.activate_version(version.id)
                tell(f"use {version.id} -")

    def check(self, folder: Path, draw: random.Random, told: Sequence[str], found: Found) -> None:
        found.acknowledged = len(told)
        with opened(folder / "tune.sce", found) as project:
            if project is not None:
                there = {version.id for version in project.versions()}
                active = project.active_version()
                in_use = 0 if active is None else active.id
                for line in told:
                    kind, number, digest = line.split()
                    if kind == "use":
                        if in_use < int(number):
                            found.lost.append(f"version {number} in use")
                    elif int(number) not in there:
                        found.lost.append(f"version {number}")
                    elif sha256(project.version_weights(int(number))).hexdigest() != digest:
                        found.damaged.append(f"weights of version {number}")
        take_away(folder, "tune.sce")
