"""The middle of the Fine-tune panel: the result of a version, by label and row by row; two side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QHeaderView,
    QLabel,
    QPushButton,
    QScrollArea,
    QTabWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.controllers.rows_text import NOT_YET, alias_title
from sce_desktop.controllers.tuning_work import Watch
from sce_desktop.core.annotations import Label
from sce_desktop.core.colours import colour_of
from sce_desktop.core.figures import ChangedRow, Figures, LabelChange
from sce_desktop.core.heads import Way
from sce_desktop.core.i18n import _, ngettext, number
from sce_desktop.core.training import TrainingReport
from sce_desktop.core.versions import ModelVersion
from sce_desktop.tasks.training.training import ORIGINS, Plan
from sce_desktop.ui.finetune.finetune_start import ORIGIN_NAMES
from sce_desktop.ui.finetune.result_notes import notes_about
from sce_desktop.ui.finetune.versions_list import signed
from sce_desktop.ui.finetune.ways_grid import WaysGrid
from sce_desktop.ui.kit.dialog_parts import flat_list
from sce_desktop.ui.kit.empty_text import EmptyText
from sce_desktop.ui.kit.figures_grid import FiguresGrid
from sce_desktop.ui.kit.flow_layout import FlowLayout
from sce_desktop.ui.kit.icons import label_icon
from sce_desktop.ui.kit.loss_curve import LossCurve
from sce_desktop.ui.kit.side_or_below import SideOrBelow
from sce_desktop.ui.kit.theme import SPACE_L, SPACE_M, SPACE_S, font, px, set_role
from sce_desktop.ui.kit.title_tabs import TitleTabs

_ROW_ID = Qt.ItemDataRole.UserRole
_TRAILING = Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter
_PREDICTIONS = (2, 3)  # columns of the rows that changed: labels of models
_MOST_CHANGES = 300  # as many as anybody looks through; filling more would hold up the window
EMPTY = _(
    "No fine-tuned version yet. Label at least five rows per label, then choose Fine-tune. "
    "It takes seconds and is evaluated on held-out rows."
)


class ResultPane(QWidget):
    """Shows versions that are chosen, the examples that there are, and the curves of what runs."""

    rowAsked = Signal(object)  # row id
    useAsked = Signal(object)  # ModelVersion
    wayAsked = Signal(object, object)  # ModelVersion, Way: to predict in another way
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
        self.sentence.setAccessibleName(_("Result"))
        self.notes = QLabel(wordWrap=True)
        self.notes.setAccessibleName(_("About the validation"))
        set_role(self.notes, "muted")
        for label in (self.title, self.sentence, self.notes):
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.use_button = QPushButton()
        self.use_button.clicked.connect(self._on_use)
        self.differ_button = QPushButton(_("Rows that differ"))
        self.differ_button.clicked.connect(self._on_differ)
        self.figures = FiguresGrid()
        self.ways = WaysGrid()
        self.ways.wayAsked.connect(self._on_way)
        self.curve = LossCurve()
        self.examples = flat_list(
            _("Examples by label"),
            (_("Label"), *(ORIGIN_NAMES[origin] for origin in ORIGINS), _("Training rows")),
        )
        self.by_label = flat_list(
            _("Change by label"), (_("Label"), _("Rows"), _("F1 before"), _("F1 after"), _("Change"))
        )
        self.changed = flat_list(
            _("Rows whose prediction changed"),
            (_("Row"), _("Text"), _("Before"), _("After"), _("Your label")),
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
                    tree.headerItem().setTextAlignment(column, _TRAILING)
        for tree, sentence in (
            (self.examples, _("No examples yet. Label some rows: they are counted here.")),
            (self.by_label, _("No result to compare. Choose Fine-tune, or select a version.")),
            (self.changed, _("No changed row to show. Choose Fine-tune, or select a version.")),
        ):
            EmptyText(tree, sentence)
        head = FlowLayout(gap=px(SPACE_M))  # a second line where the panel is narrow
        head.addWidget(self.title)
        head.addWidget(self.differ_button)
        head.addWidget(self.use_button)
        inner = QWidget()
        stack = QVBoxLayout(inner)
        stack.setContentsMargins(px(SPACE_M), px(SPACE_S), px(SPACE_M), px(SPACE_S))
        stack.setSpacing(px(SPACE_S))
        stack.addLayout(head)
        stack.addWidget(self.sentence)
        stack.addWidget(SideOrBelow(self.figures, self.curve, gap=px(SPACE_L)))
        stack.addWidget(self.notes)
        stack.addStretch()
        self.page = QScrollArea(widgetResizable=True)
        self.page.setAccessibleName(_("Result"))
        inner.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        set_role(inner, "pane")
        self.page.setWidget(inner)
        self.tabs = QTabWidget()
        self.tabs.setAccessibleName(_("Result of a fine-tune"))
        self.tabs.setTabBar(TitleTabs())
        self.tabs.tabBar().setDrawBase(False)
        set_role(self.tabs.tabBar(), "dense")
        self.tabs.setUsesScrollButtons(False)  # all in sight: cut titles rather than hidden tabs
        self.tabs.setElideMode(Qt.TextElideMode.ElideRight)
        for title, widget in (
            (_("Result"), self.page),
            (_("Examples"), self.examples),
            (_("By label"), self.by_label),
            (_("Changed rows"), self.changed),
            (_("Ways to predict"), self.ways),
        ):
            self.tabs.setTabToolTip(self.tabs.addTab(widget, title), title)
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
            for column, count in enumerate(line, 1):
                if item is not None and item.text(column) != (text := number(count)):
                    item.setText(column, text)

    def _line(self, label: Label, numbers: Sequence[int]) -> QTreeWidgetItem:
        item = QTreeWidgetItem([label.name, *map(number, numbers)])
        item.setIcon(0, label_icon(colour_of(label)))
        item.setToolTip(0, label.name)
        for column in range(1, len(numbers) + 1):
            item.setTextAlignment(column, _TRAILING)
        return item

    def show_running(self, watch: Watch) -> None:
        """Draw what has come of a fine-tune that runs."""
        self.tabs.setCurrentWidget(self.page)
        self.title.hide()
        self.sentence.setText(
            _("Each fold of the rows is held out and evaluated once. The curves show one fold.")
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
        self.differ_button.setToolTip(
            _("Show all rows where it and the base model predict different labels")
            if single
            else _("Show all rows where the two predict different labels")
        )
        for widget in (self.figures, self.notes):
            widget.setVisible(bool(versions))
        self.curve.setVisible(single is not None)
        self.ways.show_version(single)
        self.tabs.setTabVisible(self.tabs.indexOf(self.ways), self.ways.filled)
        self.title.setVisible(bool(versions))
        set_role(self.sentence, "muted")
        if not versions:
            self.sentence.setText(EMPTY)
            return
        if single is None:
            self._compare(versions)
            return
        self.follow_use(versions)
        self.title.setText(
            ngettext(
                "{version}, trained on {count} row",
                "{version}, trained on {count} rows",
                single.train_rows,
                version=single.name,
            )
        )
        report = single.report
        self.sentence.setText(report.sentence)
        if report.problem:
            set_role(self.sentence, "warn")
        elif report.difference.shown:
            set_role(self.sentence, "good" if report.difference.better else "warn")
        self.figures.show_figures(
            [
                (_("Before: {model}", model=single.base), report.before),
                *((alias_title(alias), one) for alias, one in report.baselines.items()),
                (_("Logistic regression"), report.logistic),
                *_standard(report),
                (_("After: {model}", model=single.name), report.after),
            ]
        )
        self.notes.setText(" ".join(notes_about(single)))
        self.curve.show_losses(report.fit.losses)
        self._fill_labels(report.by_label)
        self._fill_changed(report.changed_rows)

    def show_base(self, name: str, versions: Sequence[ModelVersion]) -> None:
        """Say what the base model ``name`` is, and which of its ``versions`` there are beside it."""
        self.show_versions(())
        self.on_base = True
        used = next((version for version in versions if version.active), None)
        use = _("It is in use.") if used is None else _("Not in use: {version} is.", version=used.name)
        newest = max(versions, key=lambda version: version.number)
        others = ngettext(
            "{count} fine-tuned version exists, {newest}: select it to see its results.",
            "{count} fine-tuned versions exist, {newest} is the newest: select one to see its results.",
            len(versions),
            newest=newest.name,
        )
        self.title.setText(_("{model}, the base model", model=name))
        self.title.show()
        self.sentence.setText(" ".join((_("The model before any fine-tuning."), use, others)))

    def follow_use(self, versions: Sequence[ModelVersion]) -> None:
        """Show whether the version that is shown is in use."""
        self.versions = tuple(versions)
        if len(versions) == 1:
            self.use_button.setText(
                _("In use") if versions[0].active else _("Use {version}", version=versions[0].name)
            )
            self.use_button.setEnabled(not versions[0].active)
            self.ways.follow_use(versions[0])

    def _compare(self, versions: Sequence[ModelVersion]) -> None:
        older, newer = sorted(versions, key=lambda version: version.number)
        self.title.setText(_("{older} and {newer}", older=older.name, newer=newer.name))
        counts = [version.report.measured for version in (older, newer)]
        parts = [
            _(
                "Validated on separate rows: {first} and {second}.",
                first=number(counts[0]),
                second=number(counts[1]),
            )
        ]
        words = ""
        since = newer.report.since
        if since is not None and since.version == older.number and since.paired.rows:
            words = _("On rows new to both: {difference}.", difference=since.paired.difference.points)
        self.sentence.setText(words)
        lines: list[tuple[str, Figures | None]] = []
        for version in (older, newer):
            lines.append((_("Before: {model}", model=version.base), version.report.before))
            lines.append((_("After: {model}", model=version.name), version.report.after))
        self.figures.show_figures(lines)
        for version in (older, newer):
            parts.append(
                ngettext(
                    "{version}: {count} row, epochs {epochs}, seed {seed}.",
                    "{version}: {count} rows, epochs {epochs}, seed {seed}.",
                    version.train_rows,
                    version=version.name,
                    epochs=version.settings.epochs if version.settings is not None else "?",
                    seed=version.seed,
                )
            )
        self.notes.setText(" ".join(parts))

    def _fill_labels(self, changes: Sequence[LabelChange]) -> None:
        by_name = {label.name: label for label in self._labels}
        for change in changes:
            before, after = change.before, change.after
            figures = [NOT_YET if f1 is None else number(f1, 2) for f1 in (before, after)]
            figures.append(
                NOT_YET if before is None or after is None else signed(after - before, 2),
            )
            item = QTreeWidgetItem([change.label, number(change.rows), *figures])
            if change.label in by_name:
                item.setIcon(0, label_icon(colour_of(by_name[change.label])))
            item.setToolTip(0, change.label)
            for column in range(1, 5):
                item.setTextAlignment(column, _TRAILING)
            self.by_label.addTopLevelItem(item)

    def _fill_changed(self, changes: Sequence[ChangedRow]) -> None:
        shown = changes[:_MOST_CHANGES]
        title = _("Changed rows")
        if len(shown) < len(changes):
            title = _("Changed rows {shown} of {all}", shown=number(len(shown)), all=number(len(changes)))
        elif changes:
            title = _("Changed rows {count}", count=number(len(shown)))
        self.tabs.setTabText(3, title)
        used = {name for change in shown for name in (change.before, change.after, change.gold)}
        icons = {label.name: label_icon(colour_of(label)) for label in self._labels if label.name in used}
        items = []
        for change in shown:
            names = [change.before, change.after, change.gold]
            item = QTreeWidgetItem([number(change.row_id), "", *names])
            item.setData(0, _ROW_ID, change.row_id)
            item.setTextAlignment(0, _TRAILING)
            for column, name in enumerate(names, 2):
                if name in icons:
                    item.setIcon(column, icons[name])
                item.setToolTip(column, name)
            if change.after == change.gold:
                item.setFont(3, font("strong"))
            items.append(item)
        self.changed.clear()
        self.changed.addTopLevelItems(items)
        if shown:
            self.textsAsked.emit([change.row_id for change in shown])

    def set_blind(self, blind: bool) -> None:
        """Hide what models say about single rows, or show it."""
        for column in _PREDICTIONS:
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

    @Slot(object)
    def _on_way(self, way: Way) -> None:
        if len(self.versions) == 1:
            self.wayAsked.emit(self.versions[0], way)

    @Slot()
    def _on_differ(self) -> None:
        if self.versions:
            self.differencesAsked.emit(self.versions)


def _standard(report: TrainingReport) -> list[tuple[str, Figures | None]]:
    """The figures of the standard fine-tune, where the version has a fine-tuned text encoder."""
    encoder = report.encoder
    return [(_("Standard fine-tune"), encoder.standard)] if encoder is not None and encoder.kept else []
