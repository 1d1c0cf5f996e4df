"""All controllers of the window, made and connected once: the one place that knows them all.

Panels and dialogs get from here, by their constructors, the few that they need.
"""

from __future__ import annotations

from PySide6.QtCore import QObject

from sce_desktop.controllers.audit_review import AuditReview
from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.jobs import WorkerQueues
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.model_advice import ModelAdvice
from sce_desktop.controllers.model_store import ModelStore
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.projects import Projects
from sce_desktop.controllers.repeats import Repeats
from sce_desktop.controllers.scoring import Scorer
from sce_desktop.controllers.start_review import StartReview
from sce_desktop.controllers.takeover import Takeover
from sce_desktop.controllers.tuning import Tuner
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.settings import Settings


class Controllers(QObject):
    """What the window works with. Lives as long as the window."""

    def __init__(self, workers: WorkerQueues, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.messages = Messages(self)
        self.preferences = Preferences(settings, self.messages, self)
        self.workspace = Workspace(workers, self.messages, self)
        self.navigation = Navigation(self.preferences, self)
        self.scorer = Scorer(self.workspace, self.navigation, self.preferences, self.messages)
        self.edits = Edits(self.workspace, self.navigation, self.scorer, self.messages, self)
        self.projects = Projects(
            self.workspace,
            self.navigation,
            self.edits,
            self.scorer,
            self.preferences,
            self.messages,
            self,
        )
        self.models = ModelStore(self.workspace, self.scorer, self.preferences, self.messages)
        self.advice = ModelAdvice(self.workspace, self.scorer, self.messages)
        self.tuner = Tuner(self.workspace, self.scorer, self.preferences, self.messages)
        self.audit = AuditReview(self.workspace, self.navigation, self.edits, self.messages)
        self.review = StartReview(
            self.workspace, self.navigation, self.scorer, self.preferences, self.messages
        )
        self.repeats = Repeats(self.workspace, self.edits, self.preferences)
        self.takeover = Takeover(self.workspace, self.projects, self.messages)
