"""What the map knows of the open project: places of rows, answers, predictions, read while somebody looks.

Places are computed in a worker once for the open project and kept; answers and predictions are read again a
moment after they change. What a job brings is dropped if something newer has been asked for since.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from PySide6.QtCore import QObject, Signal, Slot

from sce_desktop.controllers import map_work
from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.controllers.map_work import Facts
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.scoring import Scorer
from sce_desktop.controllers.words import step_text
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.runs import Run
from sce_desktop.tasks.insight.map import NO_UMAP, Method, RowMap, has_umap
from sce_desktop.ui.kit.visibility import VisibilityGate

SOON_MS = 250  # changes that come together are read once
_PATCHED = 1000  # changed rows up to which only they are asked for
_NO_POINTS = np.zeros(0, np.int64)


class MapData(QObject):
    """Reads only while somebody looks at its panel. A point is a row that has a place and is shown."""

    pointsChanged = Signal()  # other points are shown
    factsChanged = Signal()  # the same points, of which something else is known
    stateChanged = Signal()  # it works, has failed, or waits for something
    progressed = Signal(object)  # how far it is, in words

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        scorer: Scorer,
        messages: Messages,
        visibility: VisibilityGate,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._navigation = navigation
        self._scorer = scorer
        self._messages = messages
        self._visibility = visibility
        self.method: Method = "pca"
        self.map: RowMap | None = None
        self.facts: Facts | None = None  # about all rows of the map
        self.points: IdArray = _NO_POINTS  # their places among the rows of the map
        self.failure = ""  # why there is no map
        self.may_retry = False  # and whether asking for it again may help, as nothing is missing
        self.only_shown = False  # points are only rows that the table shows
        self._maps: dict[Method, RowMap] = {}
        self._embedder = ""  # whose vectors the maps are of
        self._layout_job: Job | None = None
        self._asked = np.zeros(0, bool)  # rows of the map whose answers are being read
        self._changed: set[int] | None = None  # rows whose answers are to be read; None: read everything
        self._scoring = scorer.job is not None
        visibility.due.connect(self._read_facts)
        visibility.changed.connect(self._update)
        workspace.projectOpened.connect(self._start_over)
        workspace.projectClosed.connect(self._start_over)
        workspace.rowsChanged.connect(self._on_rows)
        workspace.annotationsChanged.connect(self._on_annotations)
        workspace.labelsChanged.connect(self.read_all_soon)
        workspace.scoresChanged.connect(self.read_all_soon)
        workspace.thresholdChanged.connect(
            self.read_all_soon
        )  # of several labels it says which ones are given
        navigation.queryChanged.connect(self._on_query)
        scorer.modelsChanged.connect(self._on_models)

    @property
    def run(self) -> Run | None:
        """Whose predictions the facts hold."""
        return self._workspace.runs[0] if self._workspace.runs else None

    @property
    def working(self) -> bool:
        """Whether places are being found."""
        return self._layout_job is not None

    @property
    def row_ids(self) -> IdArray:
        """The rows of the points, in file order."""
        return _NO_POINTS if self.map is None else self.map.row_ids[self.points]

    def point_facts(self) -> Facts:
        """The facts about the points."""
        assert self.facts is not None
        facts, points = self.facts, self.points
        return Facts(facts.answers[points], facts.predicted[points], facts.shown[points])

    def point_of(self, row_id: int | None) -> int:
        """The point of a row, -1 if it has none."""
        if row_id is None:
            return -1
        ids = self.row_ids
        place = int(np.searchsorted(ids, row_id))
        return place if place < len(ids) and ids[place] == row_id else -1

    def set_only_shown(self, on: bool) -> None:
        """Let only rows be points that the table shows."""
        self.only_shown = on
        self.read_all_soon()

    def set_method(self, method: Method) -> None:
        """Lay the rows out another way; a map that was made before is there at once."""
        if method == "umap" and not has_umap():
            self._messages.notify(_(NO_UMAP))
            method = "pca"
        if method != self.method:
            self.method = method
            self._drop_layout()
            self.failure = ""
            self._update()
        self.stateChanged.emit()

    @Slot()
    def lay_out_again(self) -> None:
        """Make the map again: rows have got vectors since."""
        self._maps.pop(self.method, None)
        self.failure = ""
        self._update()

    # --- places --------------------------------------------------------------------------------------------

    @Slot()
    def _start_over(self) -> None:
        """Forget the project of before."""
        self._forget()
        self.pointsChanged.emit()
        self._update()

    def _forget(self) -> None:
        self._visibility.forget()
        self._drop_layout()
        self._maps = {}
        self.map = self.facts = None
        self.points, self.failure = _NO_POINTS, ""

    @Slot()
    def _on_rows(self) -> None:
        self._maps = {}
        self._drop_layout()
        self._update()

    @Slot()
    def _on_models(self) -> None:
        """Another model has other vectors; a scoring that has ended has brought some."""
        scorer = self._scorer
        scoring, self._scoring = self._scoring, scorer.job is not None
        known = scorer.known_vectors
        if known is not None and known.embedder != self._embedder:
            self._embedder = known.embedder
            self._forget()  # the places of other vectors say nothing of what this model predicts
        elif scoring and not self._scoring:
            if (plain := self._maps.get("pca")) is not None and plain.missing:
                del self._maps["pca"]  # made in a moment; the other one waits until it is asked for
            self.failure = ""
        self._update()

    @Slot()
    def _update(self) -> None:
        """Find the places if they are not known, and say what is missing."""
        if self._visibility.seen and self._workspace.project is not None:
            found = self._maps.get(self.method)
            if found is None:
                known = self._scorer.known_vectors
                if self._layout_job is None and known is not None and not self.failure:
                    self._lay_out()
            elif found is not self.map:
                self._take_map(found)
            elif self._changed is None or self._changed:
                self._visibility.soon()
        self.stateChanged.emit()

    def _lay_out(self) -> None:
        method = self.method
        assert self._scorer.known_vectors is not None
        self._embedder = self._scorer.known_vectors.embedder
        job = self._workspace.submit(
            map_work.lay_out,
            self._workspace.project,
            self._scorer.known_vectors,
            method,
            title=_("Computing the map"),
            worker="files" if method == "pca" else "maps",  # for minutes; neither may hold up the table
            notify_failure=False,
        )
        job.progressed.connect(self._on_progress)
        job.finished.connect(self._on_map)
        job.failed.connect(self._on_layout_failed)
        job.cancelled.connect(self._on_layout_stopped)
        self._layout_job = job

    def _drop_layout(self) -> None:
        drop(self._layout_job)
        self._layout_job = None

    @Slot(object)
    def _on_map(self, found: RowMap) -> None:
        self._layout_job = None
        self._maps[found.method] = found
        self.failure = ""
        self._update()

    @Slot()
    def _on_layout_stopped(self) -> None:
        self._on_layout_failed(_("The map was stopped."))

    @Slot(object)
    def _on_layout_failed(self, error: object) -> None:
        self._layout_job = None
        self.may_retry = not isinstance(error, UserError)
        if self.map is not None and self.map.method != self.method:
            self.method = self.map.method  # the map of before is still there
            self._messages.notify_error(error)
        else:
            self.failure = str(error)
        self.stateChanged.emit()

    @Slot()
    def _on_progress(self) -> None:
        if self._layout_job is not None:
            self.progressed.emit(step_text(self._layout_job))

    def _take_map(self, found: RowMap) -> None:
        self._visibility.forget()
        self.map, self.facts, self.points = found, None, _NO_POINTS
        self._changed = None
        self._read_facts()

    # --- answers and predictions ---------------------------------------------------------------------------

    @Slot(object)
    def _on_annotations(self, ids: object) -> None:
        if isinstance(ids, list) and len(ids) <= _PATCHED:
            if self._changed is not None:
                self._changed.update(ids)
        else:
            self._changed = None
        self._wait()

    @Slot()
    def read_all_soon(self) -> None:
        """Read everything but the places again, in a moment."""
        self._changed = None
        self._wait()

    @Slot()
    def _on_query(self) -> None:
        if self.only_shown:
            self.read_all_soon()

    def _wait(self) -> None:
        if self.map is not None:
            self._visibility.soon()

    @Slot()
    def _read_facts(self) -> None:
        """Read answers and predictions: all, or only the answers that have changed."""
        found = self.map
        if self._workspace.project is None or found is None:
            return
        submit = partial(self._workspace.submit, title=_("Loading the map"), worker="reads", quiet=True)
        if self._changed is not None and self.facts is not None:
            ids = np.array(sorted(self._changed), np.int64)
            job = submit(map_work.answers_of, self._workspace.project, found.row_ids, ids.tolist())
            self._asked = np.isin(found.row_ids, ids)
            job.finished.connect(self._patch)
        else:
            query = self._navigation.query if self.only_shown else None
            job = submit(map_work.facts, self._workspace.project, found.row_ids, self.run, query)
            job.finished.connect(self._take_facts)
        self._changed = set()
        self._visibility.follow(job)
        job.failed.connect(self._on_facts_lost)
        job.cancelled.connect(self._on_facts_lost)

    @Slot()
    def _on_facts_lost(self) -> None:
        self._changed = None

    @Slot(object)
    def _patch(self, answers: IdArray) -> None:
        if self.facts is not None:
            self.facts.answers[self._asked] = answers[self._asked]
            self.factsChanged.emit()

    @Slot(object)
    def _take_facts(self, facts: Facts) -> None:
        if self.map is None:
            return
        new = self.facts is None or not np.array_equal(self.facts.shown, facts.shown)
        self.facts = facts
        self.points = np.flatnonzero(facts.shown)
        if new:
            self.pointsChanged.emit()
        else:
            self.factsChanged.emit()
        self.stateChanged.emit()
