"""The left of the Fine-tune panel: which rows, what it takes, settings folded away, start and stop."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
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
from sce_desktop.core.heads import NAMES, Way
from sce_desktop.core.i18n import _, number, pgettext
from sce_desktop.core.text import duration, size_text
from sce_desktop.core.training import MEASURED_ON, FinetuneSettings
from sce_desktop.tasks.training.cost import AdapterPace, Cost
from sce_desktop.tasks.training.training import ORIGINS, Plan
from sce_desktop.ui.finetune.start_words import excluded_words, kept_by_stop, stage_words
from sce_desktop.ui.kit.dialog_parts import indent_number
from sce_desktop.ui.kit.fields import ComboBox, DoubleSpinBox, SpinBox
from sce_desktop.ui.kit.flow_layout import FlowLayout
from sce_desktop.ui.kit.icons import set_icon
from sce_desktop.ui.kit.motion import ProgressBar
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, SPACE_XS, px, set_role

ORIGIN_NAMES = {Origin.HAND: _("By hand"), Origin.BULK: _("In bulk"), Origin.IMPORTED: _("Imported")}
_ORIGIN_TIPS = {
    Origin.HAND: _("Rows that you labelled one by one"),
    Origin.BULK: _("Rows labelled in bulk, such as accepted predictions. Never used for validation."),
    Origin.IMPORTED: _("Rows whose label came with the table"),
}
_PACE_COMES = _("The time is estimated as soon as the model is free.")
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
        self.setMinimumWidth(px(_WIDTH - 8))
        set_role(self, "pane")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        boxes = self._build_origins()
        facts = self._build_facts()
        buttons = self._build_buttons()
        self.bar = ProgressBar(textVisible=False)
        self.bar.setAccessibleName(_("Progress of the fine-tune"))
        self.kept_note = _fact()  # below what one aims at: it changes while one waits
        self.kept_note.setAccessibleName(_("What stopping keeps"))
        set_role(self.kept_note, "muted")
        self.settings = self._build_settings()
        self.settings_button.toggled.connect(self._fold)
        self._lay_out((boxes, facts, self.problem, self.bar, self.kept_note, self.settings), buttons)
        self._tuner.changed.connect(self.show_state)
        preferences.settingsChanged.connect(self._follow_settings)
        scorer.modelsChanged.connect(self.show_state)
        self._fold(False)
        self.show_plan(None)

    def _build_origins(self) -> QWidget:
        self.origins = {origin: QCheckBox(ORIGIN_NAMES[origin]) for origin in ORIGINS}
        boxes = QWidget()
        flow = FlowLayout(boxes, gap=px(SPACE_M))
        for origin, box in self.origins.items():
            box.setChecked(origin in MEASURED_ON)
            box.setToolTip(_ORIGIN_TIPS[origin])
            box.toggled.connect(self.choicesChanged)
            flow.addWidget(box)
        return boxes

    def _build_facts(self) -> QLayout:
        self.base, self.validation, self.excluded, self.takes = (_fact() for _number in range(4))
        self.base.setToolTip(_("Every fine-tune starts from the base model, so that no row counts twice."))
        form = self._form = QFormLayout()
        form.setVerticalSpacing(px(SPACE_S) // 2)
        form.setHorizontalSpacing(px(SPACE_M))
        for name, fact in (
            (_("Base model"), self.base),
            (_("Validation"), self.validation),
            (_("Excluded"), self.excluded),
            (_("Cost"), self.takes),
        ):
            title = QLabel(name)
            set_role(title, "muted")
            fact.setAccessibleName(name)
            form.addRow(title, fact)
        self.problem = QLabel(wordWrap=True)
        self.problem.setAccessibleName(_("Validation message"))
        self.problem.setTextFormat(Qt.TextFormat.PlainText)
        return form

    def _build_buttons(self) -> QLayout:
        self.start_button = QPushButton(_("Fine-tune"))
        self.start_button.setAccessibleName(_("Fine-tune"))
        set_role(self.start_button, "primary")
        self.start_button.clicked.connect(self._start)
        self.keep_button = QPushButton(_("Stop and keep"))
        self.keep_button.clicked.connect(self._tuner.stop_and_keep)
        self.cancel_button = QPushButton(_("Cancel"))
        self.cancel_button.setToolTip(_("Stop and discard the result"))
        self.cancel_button.clicked.connect(self._tuner.cancel)
        buttons = QHBoxLayout()
        for button in (self.start_button, self.keep_button, self.cancel_button):
            buttons.addWidget(button)
        buttons.addStretch()
        self.settings_button = QToolButton()
        self.settings_button.setText(_("Settings"))
        self.settings_button.setCheckable(True)
        self.settings_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        set_role(self.settings_button, "quiet")
        buttons.addWidget(self.settings_button)
        return buttons

    def _lay_out(self, parts: Sequence[QLayout | QWidget], buttons: QLayout) -> None:
        """Put the parts below one another, under a heading, in a page that scrolls; the buttons below it."""
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(px(SPACE_M), px(SPACE_M), px(SPACE_M), px(SPACE_M))
        column.setSpacing(px(SPACE_S))
        heading = QLabel(_("Train on rows labelled"))
        set_role(heading, "heading")
        column.addWidget(heading)
        for part in parts:
            if isinstance(part, QWidget):
                column.addWidget(part)
            else:
                column.addLayout(part)
        column.addStretch()
        set_role(page, "pane")
        scroll = self._scroll = QScrollArea(widgetResizable=True)
        self._end = 0  # of the settings, as far as one can scroll
        scroll.verticalScrollBar().rangeChanged.connect(self._stay_at_end)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setAccessibleName(_("Training rows"))
        scroll.setWidget(page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(scroll)
        buttons.setContentsMargins(px(SPACE_M), px(SPACE_XS), px(SPACE_M), px(SPACE_S))
        layout.addLayout(buttons)  # not in what scrolls: the next step is always seen

    def _build_settings(self) -> QWidget:
        self.epochs = SpinBox(minimum=1, maximum=10_000, value=FinetuneSettings().epochs)
        self.epochs.valueChanged.connect(self.choicesChanged)
        self.rate = DoubleSpinBox(minimum=0.01, maximum=100.0, decimals=2, singleStep=0.1, value=1.0)
        self.seed = SpinBox(minimum=0, maximum=2**31 - 1)
        self.balanced = QCheckBox(_("Class-balanced (rare labels count as much)"))
        self.balanced.setChecked(True)
        self.auto = SpinBox(
            minimum=0, maximum=100_000, singleStep=10, suffix=pgettext("after a number", " new rows")
        )
        self.auto.setSpecialValueText(_("Never"))
        self.auto.setValue(int(self._preferences.settings["auto_finetune"]))
        self.auto.valueChanged.connect(self._choose_auto)
        tips = (
            (
                self.epochs,
                _("Epochs"),
                _("Maximum passes over the rows. Training stops early when it has converged."),
            ),
            (
                self.rate,
                _("Learning rate"),
                _("Step-size multiplier. 1 is always stable; values above 2 may diverge."),
            ),
            (
                self.seed,
                _("Seed"),
                _("Random seed of the validation split. The same seed gives the same model."),
            ),
            (
                self.auto,
                _("Auto fine-tune after"),
                _("Runs in the background. The new version is used only if it is better."),
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
        self.head = ComboBox()
        self.head.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.head.addItem(_("Automatic"), None)
        for way in (Way.PRODUCT, Way.SCE, Way.LOGISTIC):
            self.head.addItem(_(NAMES[way]), way)
        title = QLabel(_("Predict with"))
        for widget in (title, self.head):
            widget.setToolTip(_("Which head predicts. All are measured and can be used afterwards."))
        self.head.setAccessibleName(_("Predict with"))
        form.addRow(title, self.head)
        self.adapt = QCheckBox(_("Also fine-tune the text encoder (LoRA, slower)"))
        self.adapt.setToolTip(_("Kept only if it beats the standard fine-tune on validation rows."))
        self.adapt.toggled.connect(self._show_takes)
        self.adapt_note = _fact()
        self.adapt_note.setAccessibleName(_("Cost of fine-tuning the text encoder"))
        set_role(self.adapt_note, "muted")
        form.addRow(self.adapt)
        form.addRow(self.adapt_note)
        return box

    @property
    def entered(self) -> FinetuneSettings:
        """The settings as they are entered now."""
        return FinetuneSettings(
            epochs=self.epochs.value(),
            lr=self.rate.value(),
            seed=self.seed.value(),
            balanced=self.balanced.isChecked(),
            adapt_embedder=self.adapts,
            head=Way(head) if (head := self.head.currentData()) else None,  # Qt makes it a plain string
            origins=tuple(origin for origin, box in self.origins.items() if box.isChecked()),
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
            name = ORIGIN_NAMES[origin]
            box.setText(_("{name} {count}", name=name, count=number(int(count))) if found else name)
        self._show_fact(self.validation, plan.held_out if plan is not None and found is not None else "")
        self._show_fact(self.excluded, excluded_words(found.left_out) if found is not None else "")
        self._show_takes()

    def show_pace(self, found: AdapterPace | str | None) -> None:
        """Take in how long adapting the text embedder takes, or why it cannot be; None: not known yet."""
        self.pace = None if isinstance(found, str) else found
        self._cannot_adapt = found if isinstance(found, str) else ""
        if self._cannot_adapt:
            self.adapt.setChecked(False)
        self._show_takes()
        if found is not None and self.settings.isVisible():
            self._look_at(self.adapt_note)

    @Slot()
    def _show_takes(self) -> None:
        slower = self.slower
        self.adapt.setEnabled(self.pace is not None or self.adapts)  # it can always be undone
        note = self._cannot_adapt or _PACE_COMES
        if slower is not None:
            note = _("About {time}, {memory}", time=duration(slower.seconds), memory=size_text(slower.peak))
            if slower.again >= 1:
                note = _(
                    "About {time}, {memory}, then {more} to embed all rows again once it is in use",
                    time=duration(slower.seconds),
                    memory=size_text(slower.peak),
                    more=duration(slower.again),
                )
        self.adapt_note.setText(note)
        cost, takes = self.cost, ""
        if cost is not None:
            time, memory = duration(cost.seconds), size_text(cost.peak)
            takes = _("About {time}, {memory}", time=time, memory=memory)
            if cost.read >= 1:
                takes = _(
                    "About {time} ({part} of it to embed new texts), {memory}",
                    time=time,
                    part=duration(cost.read),
                    memory=memory,
                )
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
        asked = job is not None and not tuner.automatic
        self.base.setText(self._scorer.base)
        too_large = self.cost.too_large if self.cost is not None else ""
        no_pace = _PACE_COMES if self.adapts and self.slower is None else ""
        in_plan = plan.problem if plan is not None else ""
        problem = self._workspace.why_not() or in_plan or too_large or no_pace
        shown = problem or (plan.hint if plan is not None else "")
        if job is not None:
            stopping = tuner.watch.stop_early.is_set() or not job.active or job.state == "cancelling"
            shown = _("Stopping…") if stopping else stage_words(job, tuner.watch, automatic=tuner.automatic)
        self.problem.setText(shown)
        self.problem.setVisible(bool(shown))
        set_role(self.problem, "warn" if problem and job is None else "muted")
        self.start_button.setVisible(not asked)
        self.start_button.setEnabled(plan is not None and not problem)
        self.start_button.setToolTip(problem or _("Train on these rows. The model in use does not change."))
        for button in (self.keep_button, self.cancel_button):
            button.setVisible(asked)
            button.setEnabled(job is not None and job.state != "cancelling")
        self.keep_button.setEnabled(self.keep_button.isEnabled() and not tuner.watch.stop_early.is_set())
        kept = kept_by_stop(tuner.watch, adapts=self.adapts)
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

    @Slot(bool)
    def _fold(self, shown: bool) -> None:
        self.settings.setVisible(shown)
        set_icon(self.settings_button, "up" if shown else "down", "muted")
        self.settings_button.setAccessibleName(_("Hide the settings") if shown else _("Show the settings"))
        if shown:
            self._look_at(self.settings)

    def _look_at(self, widget: QWidget) -> None:
        """Scroll to a widget, once it has a place."""
        QTimer.singleShot(0, self, lambda: self._scroll.ensureWidgetVisible(widget, 0, px(SPACE_S)))

    @Slot(int, int)
    def _stay_at_end(self, _least: int, most: int) -> None:
        """Keep the end of the settings in view where a note there gets longer."""
        bar = self._scroll.verticalScrollBar()
        if self.settings.isVisible() and bar.value() >= self._end:
            bar.setValue(most)
        self._end = most

    # --- what is done --------------------------------------------------------------------------------------

    @Slot()
    def _start(self) -> None:
        self._tuner.start(self.entered)

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
