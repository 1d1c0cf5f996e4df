"""How long a scoring would take: found out before it begins, and said where it is long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from sce_desktop.controllers import work
from sce_desktop.controllers.jobs import Job
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.choices import ModelChoice
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.core.text import duration
from sce_desktop.tasks.scoring.models import Baseline
from sce_desktop.tasks.scoring.sample_first import SAMPLE_FROM

if TYPE_CHECKING:
    from sce_desktop.controllers.messages import Messages
    from sce_desktop.controllers.workspace import Workspace

LONG_SECONDS = 30  # a scoring that takes longer is announced
SURELY_SHORT = 200  # rows times models: not worth an estimate, unless an LLM is among them


class ScoringTime(QObject):
    """Belongs to `Scorer`, which begins when it hears that all is said."""

    said = Signal()  # what takes long is announced: scoring may begin
    failed = Signal(object)
    ended = Signal()  # in whichever way

    def __init__(
        self, workspace: Workspace, messages: Messages, cache: work.ModelCache, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._messages = messages
        self._cache = cache
        self.job: Job | None = None  # that finds it out

    def is_surely_short(self, choice: ModelChoice) -> bool:
        """Whether ``choice`` needs no estimate: few rows, and no LLM reads them."""
        llm = choice.model.startswith("llm:") or _asks_llm(choice)
        return self._rows() * (1 + len(choice.baselines)) <= SURELY_SHORT and not llm

    def find_out(self, choice: ModelChoice, screen: IdArray) -> None:
        """Estimate how long ``choice`` takes for all rows, from those on the ``screen``, and say it."""
        rows = self._rows()
        job = self._workspace.submit(
            work.estimate,
            self._workspace.project,
            self._cache,
            choice,
            screen,
            title=_("Estimating the scoring time"),
            worker="models",
            notify_failure=False,
        )
        job.finished.connect(lambda seconds: self._say(rows, choice, seconds, tuple(job.warnings)))
        job.failed.connect(self.failed)
        job.ended.connect(self._on_ended)
        self.job = job

    def _rows(self) -> int:
        counts, project = self._workspace.counts, self._workspace.project
        if counts is not None:
            return counts.rows - counts.blank
        return project.row_count() if project is not None else 0

    def _say(self, rows: int, choice: ModelChoice, seconds: float, notes: tuple[str, ...]) -> None:
        if seconds > LONG_SECONDS:
            self._messages.notify(" ".join((*_sentences(rows, choice, seconds), *notes)))
        self.job = None
        self.said.emit()

    @Slot()
    def _on_ended(self) -> None:
        self.job = None
        self.ended.emit()


def _asks_llm(choice: ModelChoice) -> bool:
    return any(Baseline.parse(text).kind == "llm" for text in choice.baselines)


def _sentences(rows: int, choice: ModelChoice, seconds: float) -> list[str]:
    """Return what is said of a scoring that takes long."""
    sentences = [
        ngettext(
            "Scoring {count} row takes about {time}.",
            "Scoring {count} rows takes about {time}.",
            rows,
            time=duration(seconds),
        )
        if not choice.baselines
        else _(
            "Scoring {rows} rows with {models} models takes about {time}.",
            rows=number(rows),
            models=number(1 + len(choice.baselines)),
            time=duration(seconds),
        )
    ]
    if choice.llm_on_screen and _asks_llm(choice):
        sentences.append(_("The LLM scores visible rows only."))
    if rows > SAMPLE_FROM:
        sentences.append(_("Visible rows come first, then a random sample of the table."))
    else:
        sentences.append(_("Visible rows come first."))
    sentences.append(_("You can continue working; Stop keeps finished scores."))
    return sentences
