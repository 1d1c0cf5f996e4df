"""Scores that come in while a model scores, and when the window shows them."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from sce_desktop.controllers.answering import CalmTimer
from sce_desktop.core.runs import Run
from sce_desktop.core.scored import ALL_SCORES, ScoredChunk, ScoredRows, scores_since
from sce_desktop.tasks.scoring.models import MAIN_ALIAS, Baseline

if TYPE_CHECKING:
    from sce_desktop.controllers.workspace import Workspace

SHOW_MS = 500  # how often new scores are shown while they come; those on the screen at once


class NewScores(QObject):
    """Belongs to `Scorer`: takes scores from the worker, and tells the window which rows have new ones."""

    drafted = Signal()  # by the worker

    def __init__(
        self, workspace: Workspace, baselines: Callable[[], tuple[str, ...]], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._baselines = baselines
        self._chunks: queue.SimpleQueue[ScoredChunk] = queue.SimpleQueue()  # not shown yet, of all scorings
        self.of_older = False  # what the scoring that runs scores with is no longer in use
        self._stage = ""  # of the scoring that runs
        self._shown = 0  # how much of it is shown
        self._soon = CalmTimer(self, interval=SHOW_MS)
        self._soon.calm.connect(self.show)
        self.drafted.connect(self.show_drafts)

    @property
    def put(self) -> Callable[[ScoredChunk], None]:
        """What the worker calls with the scores of a batch."""
        return self._chunks.put

    def forget(self) -> None:
        """Forget what has come: runs of another project may have the same ids."""
        self._chunks = queue.SimpleQueue()

    def begin(self) -> None:
        """Note that a scoring begins, with what is in use."""
        self.of_older, self._stage, self._shown = False, "", 0

    def look_up(self) -> bool:
        """Look up which runs are shown and say whether they are other ones."""
        project = self._workspace.project
        runs: list[Run] = []
        if project is not None:
            with project.snapshot():
                for alias in (MAIN_ALIAS, *(Baseline.parse(text).alias for text in self._baselines())):
                    if (run := project.active_run(alias)) is not None:
                        runs.append(run)
        shown = [run.id for run in self._workspace.runs]
        self._workspace.runs = tuple(runs)
        return shown != [run.id for run in runs]

    def progressed(self, done: int, stage: str) -> None:
        """Show what has come, soon; at once where a model has seen the rows on the screen, or all rows."""
        before, self._stage = self._stage, stage
        if done < self._shown:  # what was done was no scoring yet
            self._shown = 0
        if done > self._shown and stage != before:
            self._shown = done
            self.show()
        elif not self._soon.isActive():
            self._soon.start()

    @Slot()
    def show(self) -> None:
        """Show what has come until now."""
        self._soon.stop()
        if self._workspace.project is None:
            return
        before = self._workspace.runs
        self.look_up()  # and only then what has come: it is about runs that are known by now
        change = scores_since(before, self._workspace.runs, _drained(self._chunks))
        if self.of_older:
            change = ALL_SCORES
        if not isinstance(change, ScoredRows) or not change.empty:
            self._workspace.scoresChanged.emit(change)
            self._workspace.count_soon()

    @Slot()
    def show_drafts(self) -> None:
        """Show drafts, once the run that they are of is known."""
        self.show()
        self._workspace.draftChanged.emit()
        self._workspace.count_soon()


def _drained(chunks: queue.SimpleQueue[ScoredChunk]) -> Iterator[ScoredChunk]:
    try:
        while True:
            yield chunks.get_nowait()
    except queue.Empty:
        return
