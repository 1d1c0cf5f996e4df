"""The installed and the available models; every change to them runs in a worker.

    store = controllers.models
    store.refresh()                     # look again; then ``changed``
    store.installed, store.known        # what is here, what goes by name
    store.get("e5-base-v2")             # in the worker for downloads, which holds nothing else up
    store.add(folder, "mine")           # store.remove(name), store.verify(name)
    store.jobs["e5-base-v2"]            # what is being done about a model now
    store.notes["mine"]                 # how it ended: a sentence, and whether that is well
    store.in_use(name)                  # why it cannot be removed now; empty if it can

A download continues when the dialog that began it is closed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from sce_desktop.controllers.jobs import Job, WorkerQueue
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress
from sce_desktop.tasks.scoring import models as tasks
from sce_desktop.tasks.scoring.models import Baseline

if TYPE_CHECKING:
    from sce_desktop.controllers.messages import Messages
    from sce_desktop.controllers.preferences import Preferences
    from sce_desktop.controllers.scoring import Scorer
    from sce_desktop.controllers.workspace import Workspace
    from sce_desktop.core.models import Entry, Known, Verified


@dataclass(frozen=True, slots=True)
class Inventory:
    """What `take_stock` found. ``begun``: bytes of downloads that were interrupted, by name."""

    installed: tuple[Entry, ...]
    known: tuple[Known, ...]
    begun: Mapping[str, int]


def take_stock(*, progress: Progress) -> Inventory:
    """Look which models are installed."""
    progress.check()
    installed, known = tasks.installed_models(), tasks.known_models()
    here = {entry.name for entry in installed}
    begun = {one.name: tasks.fetched_so_far(one.name) for one in known if one.name not in here}
    return Inventory(installed, known, {name: size for name, size in begun.items() if size})


def look_into(folder: Path, *, progress: Progress) -> bool:
    """Return whether the model in ``folder`` brings program code."""
    progress.check()
    return tasks.brings_code(folder)


def remove_model(name: str, *, progress: Progress) -> None:
    """Delete one of the user's models."""
    progress.check()
    tasks.remove_model(name)


class ModelStore(QObject):
    """Lives as long as the window."""

    changed = Signal()

    def __init__(
        self, workspace: Workspace, scorer: Scorer, preferences: Preferences, messages: Messages
    ) -> None:
        super().__init__(workspace)
        self._workspace = workspace
        self._scorer = scorer
        self._preferences = preferences
        self._messages = messages
        self.installed: tuple[Entry, ...] = ()
        self.known: tuple[Known, ...] = ()
        self.begun: Mapping[str, int] = {}
        self.jobs: dict[str, Job] = {}
        self.notes: dict[str, tuple[str, bool]] = {}
        preferences.settingsChanged.connect(self._on_settings)

    @Slot(object)
    def _on_settings(self, keys: Collection[str]) -> None:
        if "offline" in keys:
            tasks.set_offline(bool(self._preferences.settings["offline"]))

    # --- what is here --------------------------------------------------------------------------------------

    @Slot()
    def refresh(self) -> None:
        """Look which models are here; ``changed`` follows."""
        job = self._workspace.workers.files.submit(take_stock, title=_("Searching for models"), quiet=True)
        job.finished.connect(self._on_stock)

    @Slot(object)
    def _on_stock(self, found: Inventory) -> None:
        self.installed, self.known, self.begun = found.installed, found.known, found.begun
        self.changed.emit()

    def entry(self, name: str) -> Entry | None:
        """The installed model ``name``."""
        return next((entry for entry in self.installed if entry.name == name), None)

    @property
    def available(self) -> tuple[Known, ...]:
        """The published models that are not here."""
        here = {entry.name for entry in self.installed}
        return tuple(one for one in self.known if one.name not in here)

    def of_kind(self, kind: str) -> list[str]:
        """Names of the sound models that can play this part."""
        return [entry.name for entry in self.installed if entry.kind == kind and not entry.problem]

    def in_use(self, name: str) -> str:
        """Why the model cannot be removed now, in a sentence; empty if it can."""
        scorer = self._scorer
        baselines = [Baseline.parse(text) for text in scorer.baselines]
        used = {scorer.model, *(one.model or tasks.default_of(one.kind) for one in baselines)}
        if name in used or f"llm:{name}" in used:
            return _("{model} is in use: choose another model first.", model=name)
        return ""

    # --- changes -------------------------------------------------------------------------------------------

    def look_up(self, name: str) -> Job:
        """Ask what a model on the hub is; the job finishes with a `Known`. The caller shows failures."""
        return self._workspace.workers.fetch.submit(
            tasks.look_up, name, title=_("Looking up {model}", model=name), quiet=True
        )

    def get(self, name: str, *, code: bool = False) -> Job:
        """Download a model; an interrupted download is resumed."""
        job = self._begin(
            name,
            self._workspace.workers.fetch.submit(
                tasks.get_model, name, code=code, title=_("Downloading {model}", model=name)
            ),
        )
        job.finished.connect(
            lambda _done: self._messages.notify_of_program(_("{model} was installed.", model=name))
        )
        return job

    def look_into(self, folder: Path) -> Job:
        """Find out whether a folder's model brings program code; the job finishes with that."""
        return self._worker.submit(
            look_into, folder, title=_("Reading {folder}", folder=folder.name), quiet=True
        )

    def add(self, folder: Path, *, code: bool = False) -> Job:
        """Copy a model's folder into the user's models."""
        title = _("Adding {folder}", folder=folder.name)
        job = self._begin(folder.name, self._worker.submit(tasks.add_model, folder, code=code, title=title))
        job.finished.connect(
            lambda entry: self._messages.notify_of_program(
                _("{model} was added to your models.", model=entry.name)
            )
        )
        return job

    def remove(self, name: str) -> Job:
        """Delete one of the user's models, unless it scores now."""
        return self._begin(
            name, self._worker.submit(remove_model, name, title=_("Removing {model}", model=name))
        )

    def verify(self, name: str) -> Job:
        """Compare a model's files with their hashes; `notes` has the outcome."""
        job = self._begin(
            name, self._worker.submit(tasks.verify_model, name, title=_("Verifying {model}", model=name))
        )
        job.finished.connect(self._on_verified)
        return job

    @property
    def _worker(self) -> WorkerQueue:
        return self._workspace.workers.files

    def _begin(self, name: str, job: Job) -> Job:
        self.jobs[name] = job
        self.notes.pop(name, None)
        job.failed.connect(lambda error: self._on_failed(name, error))
        job.ended.connect(lambda: self._on_ended(name, job))
        self.changed.emit()
        return job

    @Slot(object)
    def _on_verified(self, found: Verified) -> None:
        self.notes[found.name] = (
            (_("All files verified."), True)
            if found.ok
            else (_("{problem}: remove the model and download it again.", problem=found.problem), False)
        )

    def _on_failed(self, name: str, error: object) -> None:
        self.notes[name] = (str(error), False)
        self._messages.notify_of_program(str(error), "warn")

    def _on_ended(self, name: str, job: Job) -> None:
        if self.jobs.get(name) is job:
            del self.jobs[name]
        self.changed.emit()
        self.refresh()
