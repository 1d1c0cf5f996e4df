"""The left of the Fine-tune panel: which rows, what it takes, settings folded away, start and stop."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.scoring import Scorer
from sce_desktop.controllers.tuning import Tuner
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import Origin
from sce_desktop.core.choices import TuneChoices
from sce_desktop.core.text import duration, size_text
from sce_desktop.tasks.training.training import MEASURED_ON, ORIGINS, AdapterPace, Cost, Plan
from sce_desktop.ui.kit.dialog_parts import indent_number
from sce_desktop.ui.kit.fields import DoubleSpinBox, SpinBox
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, px, set_role

ORIGIN_NAMES = {Origin.HAND: "By hand", Origin.BULK: "In bulk", Origin.IMPORTED: "Imported"}
_ORIGIN_TIPS = {
    Origin.HAND: "Rows that you labelled one by one",
    Origin.BULK: "Rows whose label was accepted or given to many at once: learned from, never measured on",
    Origin.IMPORTED: "Rows whose label came with the table",
}
_LEFT_OUT = {
    "audit": "{} of a random sample, with their copies (figures rest on them)",
    "several": "{} with several labels",
    "blank": "{} without text",
}
_PACE_COMES = "How long adapting the text embedder takes is tried as soon as the model is free"
_WIDTH = 310


class StartPane(QWidget):
    """Shows a `Plan` and what the tuner does; emits ``choicesChanged`` when another plan is asked for."""

    choicesChanged = Signal()

    def __init__(
        self,
        workspace: Workspace,
        scorer: Scorer,
        tuner: Tuner,
        preferences: Preferences,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._scorer = scorer
        self._preferences = preferences
        self._tuner = tuner
        self.plan: Plan | None = None
        self.pace: AdapterPace | None = None  # of adapting the text embedder; None: not known
        self._cannot_adapt = ""
        self.setMinimumWidth(px(_WIDTH - 40))
        self.origins = {origin: QCheckBox(ORIGIN_NAMES[origin]) for origin in ORIGINS}
        boxes = QHBoxLayout()
        boxes.setSpacing(px(SPACE_M))
        for origin, box in self.origins.items():
            box.setChecked(origin in MEASURED_ON)
            box.setToolTip(_ORIGIN_TIPS[origin])
            box.toggled.connect(self.choicesChanged)
            boxes.addWidget(box)
        boxes.addStretch()
        self.base, self.held_out, self.left_out, self.takes = (_fact() for _ in range(4))
        self.base.setToolTip("Every fine-tune begins at the model as it was, so that no row counts twice.")
        form = self._form = QFormLayout()
        form.setVerticalSpacing(px(SPACE_S) // 2)
        form.setHorizontalSpacing(px(SPACE_M))
        for name, fact in (
            ("Starts from", self.base),
            ("Held out", self.held_out),
            ("Left out", self.left_out),
            ("Takes", self.takes),
        ):
            title = QLabel(name)
            set_role(title, "muted")
            fact.setAccessibleName(name)
            form.addRow(title, fact)
        self.problem = QLabel(wordWrap=True)
        self.problem.setAccessibleName("What stands in the way")
        self.problem.setTextFormat(Qt.TextFormat.PlainText)

        self.start_button = QPushButton("Fine-tune")
        self.start_button.setAccessibleName("Fine-tune")
        set_role(self.start_button, "primary")
        self.start_button.clicked.connect(self._start)
        self.keep_button = QPushButton("Stop and keep")
        self.keep_button.clicked.connect(self._tuner.stop_and_keep)
        self.cancel_button = QPushButton("Cancel")
        self.cancel_button.setToolTip("Stop and keep nothing")
        self.cancel_button.clicked.connect(self._tuner.cancel)
        buttons = QHBoxLayout()
        for button in (self.start_button, self.keep_button, self.cancel_button):
            buttons.addWidget(button)
        buttons.addStretch()
        self.settings_button = QToolButton()
        self.settings_button.setText("Settings")
        self.settings_button.setCheckable(True)
        self.settings_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        set_role(self.settings_button, "quiet")
        buttons.addWidget(self.settings_button)
        self.bar = QProgressBar(textVisible=False)
        self.bar.setAccessibleName("Progress of the fine-tune")
        self.kept_note = _fact()  # below what one aims at: it changes while one waits
        self.kept_note.setAccessibleName("What stopping keeps")
        set_role(self.kept_note, "muted")
        self.settings = self._build_settings()
        self.settings_button.toggled.connect(self._fold)

        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(px(SPACE_M), px(SPACE_M), px(SPACE_M), px(SPACE_M))
        column.setSpacing(px(SPACE_S))
        heading = QLabel("Learn from rows labelled")
        set_role(heading, "heading")
        column.addWidget(heading)
        column.addLayout(boxes)
        column.addLayout(form)
        column.addWidget(self.problem)
        column.addLayout(buttons)
        column.addWidget(self.bar)
        column.addWidget(self.kept_note)
        column.addWidget(self.settings)
        column.addStretch()
        set_role(page, "pane")
        scroll = self._scroll = QScrollArea(widgetResizable=True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setAccessibleName("What to learn from")
        scroll.setWidget(page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(scroll)
        self._tuner.changed.connect(self.show_state)
        preferences.settingsChanged.connect(self._follow_settings)
        scorer.modelsChanged.connect(self.show_state)
        self._fold(False)
        self.show_plan(None)

    def _build_settings(self) -> QWidget:
        self.epochs = SpinBox(minimum=1, maximum=10_000, value=TuneChoices().epochs)
        self.epochs.valueChanged.connect(self.choicesChanged)
        self.rate = DoubleSpinBox(minimum=0.01, maximum=100.0, decimals=2, singleStep=0.1, value=1.0)
        self.seed = SpinBox(minimum=0, maximum=2**31 - 1)
        self.balanced = QCheckBox("Rare labels count as much as frequent ones")
        self.balanced.setChecked(True)
        self.auto = SpinBox(minimum=0, maximum=100_000, singleStep=10, suffix=" new rows")
        self.auto.setSpecialValueText("Never")
        self.auto.setValue(int(self._preferences.settings["auto_finetune"]))
        self.auto.valueChanged.connect(self._choose_auto)
        tips = (
            (
                self.epochs,
                "Epochs",
                "Passes over the rows at most; it ends earlier when nothing moves any more",
            ),
            (self.rate, "Learning rate", "Multiplies the steps: 1 cannot overshoot, above 2 they may grow"),
            (self.seed, "Seed", "Of how rows are held out: the same seed gives the same model"),
            (
                self.auto,
                "By itself after",
                "Runs in the background. The new version is used only if an exact test finds it better",
            ),
        )
        box = QWidget()
        form = QFormLayout(box)
        form.setContentsMargins(0, 0, 0, 0)
        form.setVerticalSpacing(px(SPACE_S))
        for field, name, tip in tips:
            title = QLabel(name)
            title.setToolTip(tip)
            field.setToolTip(tip)
            field.setAccessibleName(name)
            field.setAccessibleDescription(tip)
            indent_number(field)
            form.addRow(title, field)
        form.addRow(self.balanced)
        self.adapt = QCheckBox("Adapt the text embedder too (slower)")
        self.adapt.setToolTip(
            "Kept only if at least as many validation rows are right and their labels are more probable"
        )
        self.adapt.toggled.connect(self._show_takes)
        self.adapt_note = _fact()
        self.adapt_note.setAccessibleName("What adapting the text embedder takes")
        set_role(self.adapt_note, "muted")
        form.addRow(self.adapt)
        form.addRow(self.adapt_note)
        return box

    @property
    def choices(self) -> TuneChoices:
        """What is entered now."""
        return TuneChoices(
            self.epochs.value(),
            self.rate.value(),
            self.seed.value(),
            self.balanced.isChecked(),
            tuple(origin for origin, box in self.origins.items() if box.isChecked()),
            self.adapts,
        )

    @property
    def adapts(self) -> bool:
        """Whether the text embedder is to be adapted: nothing starts then before its pace is known."""
        return self.adapt.isChecked()

    @property
    def cost(self) -> Cost | None:
        """What a fine-tune takes as it is chosen now; None: not known."""
        if self.plan is None:
            return None
        return self.slower if self.adapts else self.plan.cost

    @property
    def slower(self) -> Cost | None:
        """What it takes with the text embedder adapted; None: not known, or not for what there is now."""
        return self.plan.slower if self.plan is not None and self.pace is not None else None

    # --- what is shown -------------------------------------------------------------------------------------

    def show_plan(self, plan: Plan | None) -> None:
        """Show what would be learned from; None: it is not known yet."""
        self.plan = plan
        found = plan.rows if plan is not None else None
        counts = found.counts.sum(0) if found is not None else [0] * len(ORIGINS)
        for (origin, box), count in zip(self.origins.items(), counts, strict=True):
            box.setText(f"{ORIGIN_NAMES[origin]} {count:,}" if found is not None else ORIGIN_NAMES[origin])
        left_out = held_out = ""
        if plan is not None and found is not None:
            held_out = plan.held_out
            left_out = ", ".join(
                words.format(f"{found.left_out[reason]:,}")
                for reason, words in _LEFT_OUT.items()
                if found.left_out[reason]
            )
        self._show_fact(self.held_out, held_out)
        self._show_fact(self.left_out, left_out)
        self._show_takes()

    def show_pace(self, found: AdapterPace | str | None) -> None:
        """Take in how long adapting the text embedder takes, or why it cannot be; None: not known yet."""
        self.pace = None if isinstance(found, str) else found
        self._cannot_adapt = found if isinstance(found, str) else ""
        if self._cannot_adapt:
            self.adapt.setChecked(False)
        self._show_takes()
        if found is not None and self.settings.isVisible():
            self._look_at_settings()  # which have grown by what the note says

    @Slot()
    def _show_takes(self) -> None:
        slower = self.slower
        self.adapt.setEnabled(self.pace is not None or self.adapts)  # it can always be taken back
        note = self._cannot_adapt or _PACE_COMES
        if slower is not None:
            note = f"About {duration(slower.seconds)}, {size_text(slower.memory)}"
            if slower.again >= 1:
                note += f"; then {duration(slower.again)} to read all rows again, once it is used"
        self.adapt_note.setText(note)
        cost, takes = self.cost, ""
        if cost is not None:
            takes = f"About {duration(cost.seconds)}, {size_text(cost.memory)}"
            if cost.read >= 1:
                takes += f"; {duration(cost.read)} of it to read new texts"
        self._show_fact(self.takes, takes)
        self.show_state()

    def _show_fact(self, fact: QLabel, text: str) -> None:
        fact.setText(text)
        self._form.setRowVisible(fact, bool(text))

    @Slot()
    def show_state(self) -> None:
        """Show what can be pressed, and how far a running fine-tune is."""
        tuner, plan = self._tuner, self.plan
        job = tuner.job
        asked = job is not None and not tuner.by_itself
        self.base.setText(self._scorer.base)
        too_large = self.cost.too_large if self.cost is not None else ""
        no_pace = _PACE_COMES if self.adapts and self.slower is None else ""
        in_plan = plan.problem if plan is not None else ""
        problem = self._workspace.why_not() or in_plan or too_large or no_pace
        told = problem or (plan.hint if plan is not None else "")
        if job is not None:
            stopping = tuner.watch.enough.is_set() or not job.active or job.state == "cancelling"
            told = "Stopping…" if stopping else self._stage()
        self.problem.setText(told)
        self.problem.setVisible(bool(told))
        set_role(self.problem, "warn" if problem and job is None else "muted")
        self.start_button.setVisible(not asked)
        self.start_button.setEnabled(plan is not None and not problem)
        self.start_button.setToolTip(problem or "Learn from these rows; the model in use stays as it is")
        for button in (self.keep_button, self.cancel_button):
            button.setVisible(asked)
            button.setEnabled(job is not None and job.state != "cancelling")
        self.keep_button.setEnabled(self.keep_button.isEnabled() and not tuner.watch.enough.is_set())
        kept = f"“Stop and keep” keeps {self._kept_by_stop()}."
        self.kept_note.setText(kept)
        self.kept_note.setVisible(self.keep_button.isEnabled() and asked)
        self.keep_button.setToolTip(kept)
        self.keep_button.setAccessibleDescription(kept)
        self.bar.setVisible(job is not None)
        if job is not None:
            self.bar.setRange(0, job.total or 0)
            self.bar.setValue(job.done)
        for widget in (*self.origins.values(), self.settings):
            widget.setEnabled(not asked)

    def _stage(self) -> str:
        job, watch = self._tuner.job, self._tuner.watch
        assert job is not None
        if self._tuner.by_itself:
            return "Fine-tuning by itself…"
        if watch.adapted:
            rows = "to all rows" if watch.kept else f"without part {watch.adapted[-1][0]} of the rows"
            return f"Adapting the text embedder {rows}"
        if watch.kept:
            return "Fitting all rows, which is what is kept"
        if watch.measured:
            return f"Measured part {watch.measured[-1][0]} of the rows left out"
        if job.state == "waiting":
            return "Waiting until the model is free"
        return job.stage.capitalize() or "Starting"

    def _kept_by_stop(self) -> str:
        """What "Stop and keep" keeps, as far as the fine-tune is."""
        watch = self._tuner.watch
        if watch.adapted and watch.kept:
            return "the text embedder as it is by then where that was better, else the fast way's model"
        if self.adapts or watch.adapted:
            return "the fast way's model, with the text embedder as it was"
        return "a model of all rows, and measures no more"

    @Slot(bool)
    def _fold(self, shown: bool) -> None:
        self.settings.setVisible(shown)
        set_icon(self.settings_button, "up" if shown else "down", "muted")
        self.settings_button.setAccessibleName("Hide the settings" if shown else "Show the settings")
        if shown:
            self._look_at_settings()

    def _look_at_settings(self) -> None:
        """Scroll to them, once they have a place."""
        QTimer.singleShot(0, self, lambda: self._scroll.ensureWidgetVisible(self.settings, 0, px(SPACE_S)))

    # --- what is done --------------------------------------------------------------------------------------

    @Slot()
    def _start(self) -> None:
        self._tuner.start(self.choices)

    @Slot(int)
    def _choose_auto(self, every: int) -> None:
        if every != self._preferences.settings["auto_finetune"]:
            self._preferences.change_setting("auto_finetune", every)

    @Slot(object)
    def _follow_settings(self, keys: set[str]) -> None:
        if "auto_finetune" in keys:
            self.auto.setValue(int(self._preferences.settings["auto_finetune"]))


def _fact() -> QLabel:
    label = QLabel(wordWrap=True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label
