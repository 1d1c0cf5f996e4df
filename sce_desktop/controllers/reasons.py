"""Why the current row has its label: asked in the background, forgotten as soon as another row is shown.

explainer.ask(row, label_id)    what the panel shows now; None: nothing
explainer.wordsFound            Reasons: words that speak for the label and against it
explainer.neighboursFound       list of Neighbour: similar rows that a person labelled
explainer.failed                one sentence: why there are no words

A worker of its own reads with the model that scores, so that neither waits for the other: a row takes some
ten milliseconds of one core. Only where that model is not loaded yet is the worker of models asked.
"""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from sce_desktop.controllers import reasons_work
from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.controllers.reasons_work import Question
from sce_desktop.controllers.scoring import Scorer
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import Row
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.tasks.scoring.model_cache import MainModel

SOON_MS = 60  # after the row has come: who walks through rows by a key waits for none of them


class Explainer(QObject):
    """Asks for the words of one row at a time."""

    wordsFound = Signal(object)
    neighboursFound = Signal(object)
    failed = Signal(str)

    def __init__(self, workspace: Workspace, scorer: Scorer, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._scorer = scorer
        self._row: Row | None = None
        self._label_id: int | None = None
        self._neighbours_of: int | None = None  # the row that they were asked for
        self._labelled: object | None = None  # `LabelledRows`, which only the worker uses
        self._asked: MainModel | None = None  # the model that was asked last
        self._jobs: list[Job] = []
        self._soon = QTimer(self, singleShot=True, interval=SOON_MS)
        self._soon.timeout.connect(self._begin)
        scorer.modelsChanged.connect(self._on_models)
        workspace.projectClosed.connect(self.forget)

    @property
    def busy(self) -> bool:
        """Whether something is asked for and not found yet."""
        return self._soon.isActive() or any(job.active for job in self._jobs)

    @Slot()
    def forget(self) -> None:
        """Ask for nothing any more."""
        self.ask(None, None)

    def ask(self, row: Row | None, label_id: int | None) -> None:
        """Ask about ``row``; what was asked before is dropped. None: about nothing."""
        drop(*self._jobs)
        self._jobs = []
        self._row, self._label_id = row, label_id
        if row is None or row.blank:
            self._row = None
            self._soon.stop()
        else:
            self._soon.start()

    def ask_neighbours_again(self) -> None:
        """Look again for labelled rows, as labels have changed, with the next `ask`."""
        self._neighbours_of = None

    @Slot()
    def _on_models(self) -> None:
        """Another model may be the one that scores: what it says is not what is shown."""
        main = self._scorer.model_cache.main
        if self._row is not None and main is not None and not self.busy and main is not self._asked:
            self._neighbours_of = None
            self.ask(self._row, self._label_id)

    @Slot()
    def _begin(self) -> None:
        project = self._workspace.project
        if project is None or self._row is None:
            return
        main = self._scorer.model_cache.main
        version = self._scorer.version.id if self._scorer.version is not None else None
        if main is not None and (main.base, main.version) == (self._scorer.base, version):
            self._explain(main)
            return
        job = self._workspace.submit(
            reasons_work.load_main,
            project,
            self._scorer.model_cache,
            replace(self._scorer.choice(), baselines=()),
            title=_("Loading {model}", model=self._scorer.title),
            worker="models",
            first=True,
            quiet=True,
            notify_failure=False,
        )
        job.finished.connect(self._explain)
        job.failed.connect(self._on_failed)
        self._jobs.append(job)

    @Slot(object)
    def _explain(self, main: MainModel | None) -> None:
        project, label_set = self._workspace.project, self._workspace.label_set
        row, known = self._row, self._scorer.model_cache.known_vectors
        if project is None or row is None or main is None:
            return
        self._asked = main
        if reason := reasons_work.why_not(main):
            self.failed.emit(reason)
            return
        if label_set is not None and self._label_id in {label.id for label in label_set.labels}:
            assert self._label_id is not None
            job = self._workspace.submit(
                reasons_work.explain,
                main,
                Question(row, label_set, self._label_id),
                title=_("Why this label"),
                worker="reasons",
                quiet=True,
                notify_failure=False,
            )
            job.finished.connect(self.wordsFound)
            job.failed.connect(self._on_failed)
            self._jobs.append(job)
        if self._neighbours_of != row.id and known is not None:
            if self._labelled is None:
                from sce_desktop.tasks.insight.labelled_rows import LabelledRows

                self._labelled = LabelledRows()
            job = self._workspace.submit(
                reasons_work.nearest,
                project,
                main,
                known.cache,
                self._labelled,
                row,
                title=_("Similar labelled rows"),
                worker="reasons",
                quiet=True,
                notify_failure=False,
            )
            job.finished.connect(self._on_neighbours)
            self._jobs.append(job)

    @Slot(object)
    def _on_neighbours(self, found: object) -> None:
        self._neighbours_of = self._row.id if self._row is not None else None
        self.neighboursFound.emit(found)

    @Slot(object)
    def _on_failed(self, error: object) -> None:
        self.failed.emit(str(error) if isinstance(error, UserError) else "")
