"""Whether the model in use reads the rows and labels of the project; offers another where it does not.

advice = controllers.advice
advice.warning      what the model cannot read, in one sentence; empty if it reads all, as far as is known
advice.changed      it is another

The languages are detected in the background, after a project was opened, rows were added or labels edited.
Another model is offered and never switched to: once for the same reason, and not to whoever has chosen one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from sce_desktop.controllers import work
from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.scoring import Scorer
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.i18n import _
from sce_desktop.core.languages import LEAST_SHARE, READS_ALL, Reads, language_name, language_names
from sce_desktop.core.text import share_text

if TYPE_CHECKING:
    from sce_desktop.tasks.scoring.choice import Choice

LOOK_MS = 600  # after the last of some edits


class ModelAdvice(QObject):
    """Lives as long as the window."""

    changed = Signal()
    over = Signal(str)  # the offer whose button says this has lost its ground

    def __init__(self, workspace: Workspace, scorer: Scorer, messages: Messages) -> None:
        super().__init__(workspace)
        self._workspace = workspace
        self._scorer = scorer
        self._messages = messages
        self.warning = ""
        self._choice: Choice | None = None
        self._reads, self._read_by = READS_ALL, ""
        self._labels: tuple[str, ...] = ()
        self._offered = ""  # the reason that was given with the last offer in this project
        self._button = ""  # of that offer, as long as it has its ground
        self._job: Job | None = None
        self._soon = QTimer(self, singleShot=True, interval=LOOK_MS)
        self._soon.timeout.connect(self._look)
        self._workspace.projectOpened.connect(self._begin)
        self._workspace.projectClosed.connect(self._begin)
        self._workspace.rowsChanged.connect(self._soon.start)
        self._workspace.labelsChanged.connect(self._on_labels)
        self._scorer.modelsChanged.connect(self._on_model)

    @Slot()
    def _begin(self) -> None:
        """Forget the project of before."""
        drop(self._job)
        self._job = self._choice = None
        self._offered = self._button = ""
        self._labels = self._names()
        self._show()
        if self._workspace.project is not None:
            self._soon.start()
        else:
            self._soon.stop()

    def _names(self) -> tuple[str, ...]:
        return tuple(label.name for label in self._workspace.labels)

    @Slot()
    def _on_labels(self) -> None:
        if (names := self._names()) != self._labels:
            self._labels = names
            self._soon.start()

    @Slot()
    def _on_model(self) -> None:
        if self._scorer.base != self._read_by and self._workspace.project is not None:
            self._soon.start()

    @Slot()
    def _look(self) -> None:
        if self._workspace.project is None:
            return
        drop(self._job)
        model = self._scorer.base
        self._job = self._workspace.submit(
            work.model_for,
            self._workspace.project,
            model,
            title=_("Detecting the languages"),
            worker="reads",
            notify_failure=False,
            quiet=True,
        )
        self._job.finished.connect(lambda found: self._on_found(model, *found))

    def _on_found(self, model: str, choice: Choice, reads: Reads) -> None:
        self._choice, self._reads, self._read_by = choice, reads, model
        self._show()
        if self._button and not self.warning:  # another model or other labels were chosen
            self.over.emit(self._button)
            self._button = ""
        self._offer()

    def _show(self) -> None:
        warning = self._unread()
        if warning != self.warning:
            self.warning = warning
            self.changed.emit()

    def _unread(self) -> str:
        """What the model cannot read, in one sentence."""
        if self._choice is None:
            return ""
        found, name = self._choice.languages, self._scorer.title
        unread = self._reads.unread(found)
        if (share := sum(unread.values())) >= LEAST_SHARE:
            languages = language_names(unread)
            if share >= 0.99:
                return _(
                    "The rows are in {languages}, which {model} cannot read.", languages=languages, model=name
                )
            return _(
                "About {share} of the rows are in {languages}, which {model} cannot read.",
                share=share_text(share),
                languages=languages,
                model=name,
            )
        if not self._reads.reads_labels(found):
            return _(
                "The labels are in {language}, which {model} cannot read.",
                language=language_name(found.labels),
                model=name,
            )
        return ""

    def _offer(self) -> None:
        """Offer the model that reads the rows and labels, where nobody has chosen one."""
        choice = self._choice
        assert choice is not None
        useful = choice.foreign and not choice.missing and choice.model != self._read_by and self.warning
        if not useful or self._scorer.kept.chosen or choice.reason == self._offered:
            return
        self._offered = choice.reason
        self._button = _("Use {model}", model=choice.model)
        self._messages.offer(choice.reason, self._button, lambda: self._scorer.set_model(choice.model))
