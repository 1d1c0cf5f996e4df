"""A scoring of hours: paused and resumed, continued at the next start, slower or paused on battery.

long = scorer.long
long.lasting              a scoring runs that takes longer: it can be paused
long.paused               "user" or "battery", empty if nothing is paused; kept when the program ends
long.pause(), .resume()   scored rows keep their scores, and text vectors stay in the cache
long.text                 what the status bar says of a paused scoring
long.changed              any of these changed

A paused scoring is no job: other work has the model meanwhile. After an edit of the labels only the rows on
the screen are scored then. What was running when the program ended, however it did, continues by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QGuiApplication

from sce_desktop.controllers.jobs import Job, JobState
from sce_desktop.controllers.scoring_states import Kept, ScoringStates, State
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.tasks.scoring import pace
from sce_desktop.tasks.scoring.pace import Pace

if TYPE_CHECKING:
    from sce_desktop.controllers.messages import Messages
    from sce_desktop.controllers.preferences import Preferences
    from sce_desktop.controllers.workspace import Workspace

LASTING_MS = 8_000
LOOK_MS = 15_000  # how often it is looked whether the computer runs on battery
USER, BATTERY = "user", "battery"
SETTINGS = frozenset({"on_battery", "slow_in_background"})


class ScoringController(Protocol):
    """What this needs of `Scorer`."""

    job: Job | None

    def score(self) -> Job | None:
        """Score all rows."""

    def follow(self) -> Job | None:
        """Score after an edit."""

    def why_not(self) -> str:
        """Why nothing can be scored."""


class LongScoring(QObject):
    """Belongs to `Scorer`, which asks it what to run and tells it what runs."""

    changed = Signal()

    def __init__(
        self,
        scorer: ScoringController,
        workspace: Workspace,
        preferences: Preferences,
        messages: Messages,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._scorer = scorer
        self._workspace = workspace
        self._preferences = preferences
        self._messages = messages
        self._states = ScoringStates(preferences.settings.file.with_name("scoring.json"))
        self.paused = ""
        self.lasting = False
        self.whole = False  # what runs or is paused is `Scorer.score`, not `follow`: it continues as such
        self.pace = Pace()
        self._anyway = False  # the user has resumed on battery
        self._lasting_soon = QTimer(self, singleShot=True, interval=LASTING_MS)
        self._lasting_soon.timeout.connect(self._on_lasting)
        self._look_often = QTimer(self, interval=LOOK_MS)
        self._look_often.timeout.connect(self._look)
        app = QGuiApplication.instance()
        if isinstance(app, QGuiApplication):
            app.applicationStateChanged.connect(self._look)
        preferences.settingsChanged.connect(self._on_settings)
        workspace.projectOpened.connect(self._on_opened)
        workspace.projectClosed.connect(self._on_closed)

    # --- what the scorer asks and tells ---------------------------------------------------------------------

    def paced(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Return what runs in place of ``fn``: the same, as fast as it may now."""
        return partial(pace.paced, self.pace, fn)

    @property
    def only(self) -> dict[str, Any]:
        """What to hand to `work.score`: while paused the rows on the screen alone are scored."""
        return {"screen_only": True} if self.paused else {}

    def begin(self, job: Job, *, whole: bool) -> None:
        """Follow ``job``, of `Scorer.score` if it is ``whole``, which takes the place of the one before."""
        self._lasting_soon.stop()
        if not self.paused:
            self.whole = whole
            self._lasting_soon.start()
            job.finished.connect(self.forget)
            job.failed.connect(self.forget)
        job.ended.connect(self.ended)

    @Slot()
    def forget(self) -> None:
        """Note that nothing is left to be continued: all rows are scored, or the user stopped."""
        self.paused, self.lasting = "", False
        self._lasting_soon.stop()  # a scoring that is stopped may go on for a batch
        self._look_often.stop()
        self._keep(None)
        self.changed.emit()

    @Slot(object)
    def stopped(self, job: Job) -> None:
        """Note that the user has stopped ``job``, in the status bar."""
        if job is self._scorer.job:
            self.forget()

    def start_all(self) -> None:
        """Note that the user wants all rows to be scored now."""
        self._anyway = self._anyway or self.paused == BATTERY
        self.paused = ""

    # --- pause and resume ----------------------------------------------------------------------------------

    @Slot()
    def toggle(self) -> None:
        """Pause what is scored, or continue what is paused; say so if there is neither."""
        if self.paused:
            self.resume()
        elif self._going_on is not None:
            self.pause()
        else:
            self._messages.notify(_("Nothing is being scored."))

    @Slot()
    def pause(self) -> None:
        """Pause until `resume`, also when the program is closed meanwhile."""
        if self._workspace.project is not None and self._going_on is not None:
            self._keep("paused")
            self._pause(USER)

    def _pause(self, why: str) -> None:
        self.paused = why
        if self._scorer.job is not None:
            self._scorer.job.cancel()
        self.changed.emit()

    @Slot()
    def resume(self) -> None:
        """Continue with the rows that have no score."""
        if self.paused and not self._workspace.refuses_edit():
            self._anyway = self._anyway or self.paused == BATTERY
            self._go_on()

    def _go_on(self) -> None:
        """Continue what is paused; it stays paused if nothing can be scored just now."""
        paused, self.paused = self.paused, ""  # a paused scoring is about the rows on the screen alone
        if self._score_on() is None:
            self.paused = paused
            self._look_often.start()
            self.changed.emit()

    def _score_on(self) -> Job | None:
        return self._scorer.score() if self.whole else self._scorer.follow()

    def _keep(self, state: State | None) -> None:
        if (project := self._workspace.project) is not None:
            kept = Kept(state, self.whole) if state is not None else None
            self._states.keep(project.path, kept, project.created_at)

    @property
    def text(self) -> str:
        """What is paused and why; empty if nothing is."""
        counts, runs = self._workspace.counts, self._workspace.runs
        if not self.paused:
            return ""
        if counts is None or not runs:
            return _("Scoring is paused") if self.paused == USER else _("Scoring is paused on battery")
        figures = {"done": number(runs[0].scored), "total": number(counts.rows - counts.blank)}
        if self.paused == USER:
            return _("Scoring is paused: {done} of {total} rows are scored", **figures)
        return _("Scoring is paused on battery: {done} of {total} rows are scored", **figures)

    @property
    def _going_on(self) -> Job | None:
        """The scoring that runs, unless it is being stopped."""
        job = self._scorer.job
        return job if job is not None and job.state is not JobState.CANCELLING else None

    # --- what happens --------------------------------------------------------------------------------------

    @Slot()
    def _on_lasting(self) -> None:
        if self._going_on is None or self._workspace.project is None:
            return
        self.lasting = True
        self._keep("running")
        self._look_often.start()
        self._look()
        self.changed.emit()

    @Slot()
    def ended(self) -> None:
        """Note that no scoring runs any more: it has ended, or the scorer hears no more of it."""
        self._lasting_soon.stop()
        self.lasting = False
        if self.paused != BATTERY:
            self._look_often.stop()
        self.changed.emit()

    @Slot()
    def _look(self) -> None:
        """Look where the power comes from, and whether another program is in front."""
        if not self._look_often.isActive():
            return
        battery = pace.on_battery()
        wish = str(self._preferences.settings["on_battery"])
        if not battery:
            self._anyway = False
        if self.paused == BATTERY and not (battery and wish == "pause"):
            project = self._workspace.project
            busy = self._workspace.writing is not None or self._scorer.why_not()
            if project is not None and not busy and not project.lost():  # else at a later look, silently
                self._go_on()
        elif battery and wish == "pause" and self.lasting and not self._anyway:
            if self._going_on is not None:
                self._pause(BATTERY)
        elif battery and wish == "slow":
            self.pace.slow = pace.ON_BATTERY
        elif self._preferences.settings["slow_in_background"] and not self._in_front():
            self.pace.slow = pace.IN_BACKGROUND
        else:
            self.pace.slow = pace.FULL

    @staticmethod
    def _in_front() -> bool:
        return QGuiApplication.applicationState() == Qt.ApplicationState.ApplicationActive

    @Slot(object)
    def _on_settings(self, keys: set[str]) -> None:
        if keys & SETTINGS:
            self._look()

    @Slot()
    def _on_opened(self) -> None:
        project = self._workspace.project
        if project is None or project.read_only:
            return
        kept = self._states.of(project.path, project.created_at)
        if kept is None:
            return
        self.whole = kept.whole
        if kept.state == "paused":
            self.paused = USER
            self.changed.emit()
        else:
            QTimer.singleShot(0, self, self._continue)  # the table says first which rows it shows

    @Slot()
    def _continue(self) -> None:
        if self._workspace.project is None or self._scorer.job is not None or self._scorer.why_not():
            return
        if self._score_on() is not None and self._workspace.runs:
            self._messages.notify(
                ngettext(
                    "Scoring continues where it stopped: {count} row is already scored.",
                    "Scoring continues where it stopped: {count} rows are already scored.",
                    self._workspace.runs[0].scored,
                )
            )

    @Slot()
    def _on_closed(self) -> None:
        self._lasting_soon.stop()
        self._look_often.stop()
        self.paused, self.lasting, self.whole = "", False, False
        self.changed.emit()
