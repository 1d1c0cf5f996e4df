"""Whether the model in use reads the rows and labels of the project; offers another where it does not.

advice = session.advice
advice.warning      what the model cannot read, in one sentence; empty if it reads all, as far as is known
advice.changed      it is another

The languages are looked up behind the window, after a project was opened, rows were added or labels edited.
Another model is offered and never switched to: once for the same reason, and not to whoever has chosen one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from sce_desktop.core.languages import LEAST_SHARE, READS_ALL, Reads, language_name, language_names
from sce_desktop.ui import work
from sce_desktop.ui.jobs import Job, drop

if TYPE_CHECKING:
    from sce_desktop.tasks.choice import Choice
    from sce_desktop.ui.session import Session

LOOK_MS = 600  # after the last of some edits


class ModelAdvice(QObject):
    """Belongs to the session."""

    changed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self.warning = ""
        self._choice: Choice | None = None
        self._reads, self._read_by = READS_ALL, ""
        self._labels: tuple[str, ...] = ()
        self._offered = ""  # the reason that was given with the last offer in this project
        self._job: Job | None = None
        self._soon = QTimer(self, singleShot=True, interval=LOOK_MS)
        self._soon.timeout.connect(self._look)
        session.projectOpened.connect(self._begin)
        session.projectClosed.connect(self._begin)
        session.rowsChanged.connect(self._soon.start)
        session.labelsChanged.connect(self._on_labels)
        session.scorer.modelsChanged.connect(self._on_model)

    @Slot()
    def _begin(self) -> None:
        """Forget the project of before."""
        drop(self._job)
        self._job = self._choice = None
        self._offered = ""
        self._labels = self._names()
        self._show()
        if self._session.project is not None:
            self._soon.start()
        else:
            self._soon.stop()

    def _names(self) -> tuple[str, ...]:
        return tuple(label.name for label in self._session.labels)

    @Slot()
    def _on_labels(self) -> None:
        if (names := self._names()) != self._labels:
            self._labels = names
            self._soon.start()

    @Slot()
    def _on_model(self) -> None:
        if self._session.scorer.base != self._read_by and self._session.project is not None:
            self._soon.start()

    @Slot()
    def _look(self) -> None:
        session = self._session
        if session.project is None:
            return
        drop(self._job)
        model = session.scorer.base
        self._job = session.submit(
            work.model_for,
            session.project,
            model,
            title="Looking up the languages",
            lane="reads",
            tell_failure=False,
            quiet=True,
        )
        self._job.finished.connect(lambda found: self._on_found(model, *found))

    def _on_found(self, model: str, choice: Choice, reads: Reads) -> None:
        self._choice, self._reads, self._read_by = choice, reads, model
        self._show()
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
        found, name = self._choice.languages, self._session.scorer.title
        unread = self._reads.unread(found)
        if (share := sum(unread.values())) >= LEAST_SHARE:
            many = f"About {share:.0%} of the rows are" if share < 0.99 else "The rows are"
            return f"{many} in {language_names(unread)}, which {name} cannot read."
        if not self._reads.reads_labels(found):
            return f"The labels are in {language_name(found.labels)}, which {name} cannot read."
        return ""

    def _offer(self) -> None:
        """Offer the model that reads the rows and labels, where nobody has chosen one."""
        choice, session = self._choice, self._session
        assert choice is not None
        useful = choice.foreign and not choice.missing and choice.model != self._read_by and self.warning
        if not useful or session.scorer.kept.chosen or choice.reason == self._offered:
            return
        self._offered = choice.reason
        session.offer(choice.reason, f"Use {choice.model}", lambda: session.scorer.set_model(choice.model))
