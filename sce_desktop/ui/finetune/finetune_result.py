"""The middle of the Fine-tune panel: what a version brought, by label and row by row; two side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QScrollArea,
    QTabWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.controllers.label_edits import quoted, rows
from sce_desktop.controllers.rows_text import NOT_YET, alias_title
from sce_desktop.controllers.tuning_work import Watch
from sce_desktop.core.annotations import Label
from sce_desktop.core.colours import colour_of
from sce_desktop.core.comparison import recorded
from sce_desktop.core.runs import ModelVersion
from sce_desktop.tasks.training.training import ORIGINS, Plan
from sce_desktop.ui.finetune.finetune_start import ORIGIN_NAMES
from sce_desktop.ui.kit.dialog_parts import flat_list
from sce_desktop.ui.kit.figures_grid import FiguresGrid
from sce_desktop.ui.kit.icons import label_icon
from sce_desktop.ui.kit.loss_curve import LossCurve
from sce_desktop.ui.kit.theme import SPACE_L, SPACE_M, SPACE_S, font, px, set_role

_ROW_ID = Qt.ItemDataRole.UserRole
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_SAID = (2, 3)  # columns of the rows that changed: labels of models
_MOST_CHANGES = 300  # as many as anybody looks through; filling more would hold up the window
EMPTY = (
    "No fine-tuned version yet. Label at least five rows per label, then choose Fine-tune. "
    "It takes seconds and is evaluated on held-out rows."
)


class ResultPane(QWidget):
    """Shows versions that are chosen, the examples that there are, and the curves of what runs."""

    rowAsked = Signal(object)  # row id
    useAsked = Signal(object)  # ModelVersion
    differencesAsked = Signal(object)  # two ModelVersions, or one: against its base
    textsAsked = Signal(object)  # row ids whose texts are wanted: `show_texts` takes them

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.versions: tuple[ModelVersion, ...] = ()
        self.on_base = False  # the base model is chosen, though there are versions
        self._labels: tuple[Label, ...] = ()
        self.title = QLabel()
        set_role(self.title, "title")
        self.sentence = QLabel(wordWrap=True)
        self.sentence.setAccessibleName("What it brought")
        self.notes = QLabel(wordWrap=True)
        self.notes.setAccessibleName("What the figures rest on")
        set_role(self.notes, "muted")
        for label in (self.title, self.sentence, self.notes):
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.use_button = QPushButton()
        self.use_button.clicked.connect(self._on_use)
        self.differ_button = QPushButton("Rows that differ")
        self.differ_button.clicked.connect(self._on_differ)
        self.figures = FiguresGrid()
        self.curve = LossCurve()
        self.examples = flat_list(
            "Examples by label", ("Label", *(ORIGIN_NAMES[origin] for origin in ORIGINS), "Learned from")
        )
        self.by_label = flat_list("Change by label", ("Label", "Rows", "F1 before", "F1 after", "Change"))
        self.changed = flat_list(
            "Rows that changed their label", ("Row", "Text", "Before", "After", "You said")
        )
        self.changed.itemActivated.connect(self._on_row)
        self.changed.itemClicked.connect(self._on_row)
        for tree, widths in (
            (self.examples, (180, 80, 80, 80, 100)),
            (self.by_label, (180, 60, 80, 80, 80)),
            (self.changed, (60, 220, 120, 120, 120)),
        ):
            tree.header().setStretchLastSection(False)
            wide = 1 if tree is self.changed else 0
            for column, width in enumerate(widths):
                tree.header().resizeSection(column, px(width))
            tree.header().setSectionResizeMode(wide, QHeaderView.ResizeMode.Stretch)
            if tree is not self.changed:
                for column in range(1, len(widths)):
                    tree.headerItem().setTextAlignment(column, _RIGHT)
        head = QHBoxLayout()
        head.setSpacing(px(SPACE_M))
        head.addWidget(self.title)
        head.addStretch(1)
        head.addWidget(self.differ_button)
        head.addWidget(self.use_button)
        both = QHBoxLayout()
        both.setSpacing(px(SPACE_L))
        both.addWidget(self.figures, 0, Qt.AlignmentFlag.AlignTop)
        both.addWidget(self.curve, 1)
        inner = QWidget()
        stack = QVBoxLayout(inner)
        stack.setContentsMargins(px(SPACE_M), px(SPACE_S), px(SPACE_M), px(SPACE_S))
        stack.setSpacing(px(SPACE_S))
        stack.addLayout(head)
        stack.addWidget(self.sentence)
        stack.addLayout(both)
        stack.addWidget(self.notes)
        stack.addStretch()
        self.page = QScrollArea(widgetResizable=True)
        self.page.setAccessibleName("Result")
        inner.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        set_role(inner, "pane")
        self.page.setWidget(inner)
        self.tabs = QTabWidget()
        self.tabs.setAccessibleName("What a fine-tune brought")
        self.tabs.tabBar().setDrawBase(False)
        for title, widget in (
            ("Result", self.page),
            ("Examples", self.examples),
            ("By label", self.by_label),
            ("Changed rows", self.changed),
        ):
            self.tabs.addTab(widget, title)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.tabs)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        set_role(self, "pane")
        self.show_versions(())

    # --- the examples that there are, and a fine-tune that runs --------------------------------------------

    def show_plan(self, plan: Plan | None) -> None:
        """Count the examples of every label."""
        found = plan.rows if plan is not None else None
        if found is None:
            self.examples.clear()
            self._labels = ()
            return
        numbers = [
            [*map(int, counts), int(learned)]
            for counts, learned in zip(found.counts, found.examples, strict=True)
        ]
        if found.labels == self._labels and self.examples.topLevelItemCount() == len(numbers):
            self._recount(numbers)  # after every decision: icons for 200 labels would take too long
            return
        self._labels = found.labels
        self.examples.clear()
        self.examples.addTopLevelItems(
            [self._line(label, line) for label, line in zip(found.labels, numbers, strict=True)]
        )

    def _recount(self, numbers: Sequence[Sequence[int]]) -> None:
        for place, line in enumerate(numbers):
            item = self.examples.topLevelItem(place)
            for column, number in enumerate(line, 1):
                if item is not None and item.text(column) != (text := f"{number:,}"):
                    item.setText(column, text)

    def _line(self, label: Label, numbers: Sequence[int]) -> QTreeWidgetItem:
        item = QTreeWidgetItem([label.name, *(f"{number:,}" for number in numbers)])
        item.setIcon(0, label_icon(colour_of(label)))
        item.setToolTip(0, label.name)
        for column in range(1, len(numbers) + 1):
            item.setTextAlignment(column, _RIGHT)
        return item

    def show_running(self, watch: Watch) -> None:
        """Draw what has come of a fine-tune that runs."""
        self.tabs.setCurrentWidget(self.page)
        self.title.hide()
        self.sentence.setText(
            "Every part of the rows is left out once and measured: the curves are those of one part."
        )
        set_role(self.sentence, "muted")
        for widget in (self.figures, self.notes, self.use_button, self.differ_button):
            widget.hide()
        self.sentence.show()
        if watch.kept:
            self.curve.show_losses([loss for _, loss in watch.kept])
        elif watch.adapted:
            part = watch.adapted[-1][0]
            self.curve.show_losses([loss for fold, _, loss in watch.adapted if fold == part])
        elif watch.measured:
            fold = watch.measured[-1][0]
            points = [point for point in watch.measured if point[0] == fold]
            self.curve.show_losses([point[2] for point in points], [point[3] for point in points])
        else:
            self.curve.show_losses(())
        self.curve.show()

    # --- versions ------------------------------------------------------------------------------------------

    def show_versions(self, versions: Sequence[ModelVersion]) -> None:
        """Show one version, or two side by side; none: say what there could be."""
        self.versions, self.on_base = tuple(versions), False
        self.by_label.clear()
        self._fill_changed(())
        single = versions[0] if len(versions) == 1 else None
        self.use_button.setVisible(single is not None)
        self.differ_button.setVisible(bool(versions))
        others = "the model as it was gives another label" if single else "the two give different labels"
        self.differ_button.setToolTip(f"Show the rows of the whole table to which {others}")
        for widget in (self.figures, self.notes):
            widget.setVisible(bool(versions))
        self.curve.setVisible(single is not None)
        self.title.setVisible(bool(versions))
        set_role(self.sentence, "muted")
        if not versions:
            self.sentence.setText(EMPTY)
            return
        if single is None:
            self._compare(versions)
            return
        self.follow_use(versions)
        self.title.setText(f"{single.name}, from {rows(single.train_rows)}")
        metrics = single.metrics
        difference = recorded(metrics["measured"], metrics["difference"])
        self.sentence.setText(difference.sentence)
        if difference.shown:
            set_role(self.sentence, "good" if difference.better else "warn")
        self.figures.show_figures(
            [
                (f"Before: {single.base}", metrics["before"]),
                *((alias_title(alias), one) for alias, one in metrics.get("baselines", {}).items()),
                ("Logistic regression", metrics.get("logistic_regression")),
                *_fast_way(metrics),
                (f"After: {single.name}", metrics["after"]),
            ]
        )
        self.notes.setText(" ".join(_notes(single)))
        self.curve.show_losses(metrics.get("losses", ()))
        self._fill_labels(metrics.get("labels_changed", {}))
        self._fill_changed(metrics.get("changed_rows", ()))

    def show_base(self, name: str, versions: Sequence[ModelVersion]) -> None:
        """Say what the base model ``name`` is, and which of its ``versions`` there are beside it."""
        self.show_versions(())
        self.on_base = True
        used = next((version for version in versions if version.active), None)
        use = "It is in use." if used is None else f"Not in use: {used.name} is."
        if len(versions) == 1:
            others = f"One fine-tuned version exists, {versions[0].name}: select it to see its results."
        else:
            newest = max(versions, key=lambda version: version.number)
            others = (
                f"{len(versions)} fine-tuned versions exist, {newest.name} is the newest: "
                "select one to see its results."
            )
        self.title.setText(f"{name}, the base model")
        self.title.show()
        self.sentence.setText(f"The model before any fine-tuning. {use} {others}")

    def follow_use(self, versions: Sequence[ModelVersion]) -> None:
        """Show whether the version that is shown is in use."""
        self.versions = tuple(versions)
        if len(versions) == 1:
            self.use_button.setText("In use" if versions[0].active else f"Use {versions[0].name}")
            self.use_button.setEnabled(not versions[0].active)

    def _compare(self, versions: Sequence[ModelVersion]) -> None:
        older, newer = sorted(versions, key=lambda version: version.number)
        self.title.setText(f"{older.name} and {newer.name}")
        counts = [version.metrics["measured"] for version in (older, newer)]
        parts = [f"Each was measured on its own rows: {counts[0]:,} and {counts[1]:,}."]
        words = ""
        since = newer.metrics.get("since")
        if since and since["version"] == older.number and since["rows"]:
            words = f"On rows that are new to both: {recorded(since['rows'], since).points}."
        self.sentence.setText(words)
        lines: list[tuple[str, Mapping[str, Any] | None]] = []
        for version in (older, newer):
            lines.append((f"Before: {version.base}", version.metrics["before"]))
            lines.append((f"After: {version.name}", version.metrics["after"]))
        self.figures.show_figures(lines)
        for version in (older, newer):
            settings = version.settings
            asked = f"{settings.get('epochs')} epochs, seed {version.seed}"
            parts.append(f"{version.name}: {rows(version.train_rows)}, {asked}.")
        self.notes.setText(" ".join(parts))

    def _fill_labels(self, changes: Mapping[str, Any]) -> None:
        by_name = {label.name: label for label in self._labels}
        for name, change in changes.items():
            before, after = change["before"]["f1"], change["after"]["f1"]
            figures = [NOT_YET if f1 is None else f"{f1:.2f}" for f1 in (before, after)]
            both = before is not None and after is not None
            figures.append(f"{after - before:+.2f}" if both else NOT_YET)
            item = QTreeWidgetItem([name, f"{change['rows']:,}", *figures])
            if name in by_name:
                item.setIcon(0, label_icon(colour_of(by_name[name])))
            item.setToolTip(0, name)
            for column in range(1, 5):
                item.setTextAlignment(column, _RIGHT)
            self.by_label.addTopLevelItem(item)

    def _fill_changed(self, changes: Sequence[Mapping[str, Any]]) -> None:
        shown = changes[:_MOST_CHANGES]
        count = f" {len(shown):,}" if len(shown) == len(changes) else f" {len(shown):,} of {len(changes):,}"
        self.tabs.setTabText(3, f"Changed rows{count if changes else ''}")
        used = {change[key] for change in shown for key in ("before", "after", "gold")}
        icons = {label.name: label_icon(colour_of(label)) for label in self._labels if label.name in used}
        items = []
        for change in shown:
            names = [change["before"], change["after"], change["gold"]]
            item = QTreeWidgetItem([f"{change['row_id']:,}", "", *names])
            item.setData(0, _ROW_ID, change["row_id"])
            item.setTextAlignment(0, _RIGHT)
            for column, name in enumerate(names, 2):
                if name in icons:
                    item.setIcon(column, icons[name])
                item.setToolTip(column, name)
            if change["after"] == change["gold"]:
                item.setFont(3, font("strong"))
            items.append(item)
        self.changed.clear()
        self.changed.addTopLevelItems(items)
        if shown:
            self.textsAsked.emit([change["row_id"] for change in shown])

    def set_blind(self, blind: bool) -> None:
        """Hide what models say about single rows, or show it."""
        for column in _SAID:
            self.changed.setColumnHidden(column, blind)

    def show_texts(self, texts: Mapping[int, str]) -> None:
        """Put the texts beside the rows that changed."""
        for place in range(self.changed.topLevelItemCount()):
            item = self.changed.topLevelItem(place)
            if item is not None:
                item.setText(1, texts.get(item.data(0, _ROW_ID), ""))

    # --- what is asked for ---------------------------------------------------------------------------------

    @Slot(QTreeWidgetItem, int)
    def _on_row(self, item: QTreeWidgetItem, _column: int) -> None:
        self.rowAsked.emit(item.data(0, _ROW_ID))

    @Slot()
    def _on_use(self) -> None:
        if len(self.versions) == 1:
            self.useAsked.emit(self.versions[0])

    @Slot()
    def _on_differ(self) -> None:
        if self.versions:
            self.differencesAsked.emit(self.versions)


def _fast_way(metrics: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The figures of the fine-tune that leaves the embedder as it is, where the version has another."""
    embedder = metrics.get("embedder")
    return [("The fast way", embedder["fast"])] if embedder and embedder["kept"] else []


def _notes(version: ModelVersion) -> list[str]:
    """What the figures of a version rest on."""
    metrics = version.metrics
    notes = []
    if metrics["measured"]:
        how = "held out" if version.held_out_rows else "each left out of training once"
        notes.append(f"Measured on {rows(metrics['measured'])}, {how}; the version has learned from all.")
    if metrics.get("embedder"):
        notes.append(metrics["embedder"]["sentence"])
    if metrics.get("cut_short"):
        notes.append("It was stopped before all was measured.")
    if not version.settings.get("calibrated"):
        notes.append("Its probabilities are not calibrated yet: that takes 50 measured rows.")
    if untested := metrics.get("untested_labels"):
        notes.append(f"Not measured for want of examples: {quoted(untested)}.")
    since = metrics.get("since")
    if since and since["rows"]:
        notes.append(f"Against version {since['version']}, on rows that are new to both: {since['sentence']}")
    if version.settings.get("stopped") == "non-finite":
        notes.append("The training left the range of numbers: lower the learning rate.")
    return notes
