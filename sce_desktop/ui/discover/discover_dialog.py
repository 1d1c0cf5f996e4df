"""Suggest labels from the rows: clusters to accept, rename, merge and drop, and the labels made of them."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QCheckBox,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSplitter,
    QWidget,
)

from sce_desktop.controllers import discover_work, label_edits
from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.scoring import Scorer
from sce_desktop.controllers.words import step_text
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import Label
from sce_desktop.core.discovery import MOST_CLUSTERS, Discovery, Wanted, labels_of
from sce_desktop.core.i18n import _, ngettext, number, percent
from sce_desktop.ui.discover.clusters_list import ClustersList
from sce_desktop.ui.discover.clusters_model import ClustersModel
from sce_desktop.ui.discover.typical_rows import TypicalRows
from sce_desktop.ui.kit.dialog_parts import dialog_column, indent_number, primary_and_cancel
from sce_desktop.ui.kit.fields import ComboBox, SpinBox
from sce_desktop.ui.kit.motion import ProgressBar
from sce_desktop.ui.kit.project_dialog import ProjectDialog
from sce_desktop.ui.kit.resize_keys import add_resize_keys
from sce_desktop.ui.kit.theme import SPACE_M, px, set_role

ALL, UNFITTING = range(2)


class DiscoverDialog(ProjectDialog):
    """Clusters the rows as soon as it opens: all of them, or those that none of the project's labels fits."""

    def __init__(
        self, workspace: Workspace, edits: Edits, scorer: Scorer, parent: QWidget | None = None
    ) -> None:
        super().__init__(workspace, _("Suggest labels from the rows"), parent)
        self._edits = edits
        self._scorer = scorer
        self._covering: tuple[Label, ...] = ()
        self.words = QLabel(wordWrap=True)
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setAccessibleName(_("Result"))
        self.bar = ProgressBar()
        self.bar.setAccessibleName(_("Progress"))
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(px(4))
        self.model = ClustersModel(self)
        self.model.changed.connect(self._show_choices)
        self.list = ClustersList(self.model)
        self.list.shown.connect(self._show_cluster)
        self.side = TypicalRows()
        self.side.nameChosen.connect(self._on_name)
        split = QSplitter()
        split.setAccessibleName(_("Clusters and rows"))
        split.addWidget(self.list)
        split.addWidget(self.side)
        split.setChildrenCollapsible(False)
        split.setSizes([px(340), px(460)])
        keys = QLabel(
            _("Space accepts, Enter renames, A takes another name, M merges, Del drops, Ctrl+Z undoes."),
            wordWrap=True,
        )
        keys.setAccessibleName(_("Hint"))
        set_role(keys, "muted")
        layout = dialog_column(self)
        layout.addLayout(self._choices())
        for widget in (self.words, self.bar):
            layout.addWidget(widget)
        layout.addWidget(split, 1)
        layout.addWidget(keys)
        layout.addWidget(self._buttons())
        add_resize_keys(self)
        for sequence in ("Ctrl+Return", "Ctrl+Enter"):
            QShortcut(QKeySequence(sequence), self).activated.connect(self.accept)
        self.resize(px(840), px(560))
        self._show_choices()
        self.list.setFocus()
        self.start()

    def sizeHint(self) -> QSize:
        """Wide enough for a list and the rows beside it."""
        return QSize(px(840), px(560))

    # --- building ------------------------------------------------------------------------------------------

    def _choices(self) -> QHBoxLayout:
        """What is clustered, into how many clusters, and whether a language model is asked."""
        self.scope = ComboBox()
        self.scope.setAccessibleName(_("Rows to cluster"))
        self.scope.addItem(_("All rows"), ALL)
        self.scope.addItem(_("Rows that no label fits"), UNFITTING)
        self.scope.setCurrentIndex(UNFITTING if self._workspace.labels else ALL)
        self.count = SpinBox(minimum=1, maximum=MOST_CLUSTERS, value=1)
        self.count.setSpecialValueText(_("automatic"))
        indent_number(self.count)
        self.count.setAccessibleName(_("Number of clusters"))
        self.count.setToolTip(_("Automatic: the number with the best silhouette"))
        self.llm = QCheckBox(_("Ask the LLM too"))
        self.llm.setAccessibleName(_("Ask the LLM for names too"))
        self.llm.setToolTip(_("The LLM marks its choice among the names of each cluster"))
        self.llm.setVisible(bool(self._scorer.llm))
        self.again = QPushButton(_("Cluster again"))
        self.again.setAccessibleName(_("Cluster the rows again"))
        self.again.setAutoDefault(False)
        self.again.clicked.connect(self.start)
        line = QHBoxLayout()
        line.setSpacing(px(SPACE_M))
        for text, field in ((_("&Rows"), self.scope), (_("&Clusters"), self.count)):
            label = QLabel(text)
            label.setBuddy(field)
            line.addWidget(label)
            line.addWidget(field)
        line.addWidget(self.llm)
        line.addStretch()
        line.addWidget(self.again)
        return line

    def _buttons(self) -> QDialogButtonBox:
        self.add_button = QPushButton(_("Add"))
        self.add_button.setToolTip(_("Add the accepted labels (Ctrl+Enter)"))
        self.add_button.setAutoDefault(False)
        return primary_and_cancel(self, self.add_button)

    # --- clustering ----------------------------------------------------------------------------------------

    @Slot()
    def start(self) -> None:
        """Cluster what is chosen; accepted clusters stay where rows are those that no label fits."""
        project = self._workspace.project
        if project is None:
            return
        self._covering = ()
        if self.scope.currentData() == UNFITTING:
            self._covering = (*self._workspace.labels, *self._new_labels())
            if not self._covering:
                self._say(_("Accept a cluster first: there are no labels yet."), "warn")
                return
        label_set = self._workspace.label_set
        wanted = Wanted(
            clusters=self.count.value() if self.count.value() > 1 else None,
            covering=self._covering,
            multi_label=label_set is not None and label_set.multi_label,
            llm=self._scorer.llm if self.llm.isChecked() else "",
        )
        job = self._workspace.submit(
            discover_work.discover,
            project,
            self._scorer.model_cache,
            self._scorer.choice(),
            wanted,
            title=_("Suggesting labels"),
            worker="models",
            first=True,
            notify_failure=False,
        )
        self._watch(job)
        job.progressed.connect(self._on_progressed)
        job.finished.connect(self._on_found)
        job.failed.connect(self._on_failed)
        waiting = self._scorer.job is not None
        self._say(_("Waiting until scoring ends…") if waiting else _("Loading the model…"))
        self.bar.setRange(0, 0)
        self.bar.show()
        self.again.setEnabled(False)

    def _say(self, sentence: str, role: str = "muted") -> None:
        self.words.setText(sentence)
        set_role(self.words, role)
        self.bar.hide()
        self.again.setEnabled(True)

    @Slot(object, object, object)
    def _on_progressed(self, done: int, total: int | None, _stage: str) -> None:
        if self._job is not None:
            self.words.setText(step_text(self._job))
            self.bar.setRange(0, total or 0)
            self.bar.setValue(done)

    @Slot(object)
    def _on_failed(self, error: object) -> None:
        self._say(str(error), "warn")

    @Slot(object)
    def _on_found(self, found: Discovery) -> None:
        kept = self.model.accepted if self._covering else []
        self.model.show_clusters((*kept, *found.clusters))
        self._say(_result(found))
        self.list.go_to(len(kept))

    # --- choosing ------------------------------------------------------------------------------------------

    def _new_labels(self) -> list[Label]:
        """The accepted labels that the project does not have yet."""
        there = {label.name.strip() for label in self._workspace.labels}
        return [label for label in labels_of(self.model.clusters) if label.name not in there]

    @Slot()
    def _show_choices(self) -> None:
        count = len(self._new_labels())
        possible = count > 0 and not self._workspace.read_only
        self.add_button.setEnabled(possible)
        text = ngettext("Add {count} label", "Add {count} labels", count) if count else _("Add")
        self.add_button.setText(text)
        self.add_button.setAccessibleName(text)
        self._show_cluster()

    @Slot()
    def _show_cluster(self) -> None:
        place = self.list.place
        known = 0 <= place < len(self.model.clusters)
        self.side.show_cluster(self.model.clusters[place] if known else None)

    @Slot(object)
    def _on_name(self, name: str) -> None:
        if self.list.place >= 0:
            self.model.call(self.list.place, name)

    def accept(self) -> None:
        """Add the accepted labels to the project, in one step to undo."""
        self.list.setFocus()  # a name that is being typed counts
        labels = self._new_labels()
        if labels and label_edits.add(self._workspace, self._edits, labels):
            super().accept()


def _result(found: Discovery) -> str:
    """Say in two sentences which rows were read, and what came of them."""
    if found.sampled < found.total:
        read = _(
            "{sampled} of {total} rows, drawn at random.",
            sampled=number(found.sampled),
            total=number(found.total),
        )
    else:
        read = ngettext("{count} row.", "{count} rows.", found.total)
    sentences = [read]
    if found.covered is not None:
        sentences.append(
            ngettext(
                "A label fits {covered} of them (probability ≥ {share}); no label fits {count} row.",
                "A label fits {covered} of them (probability ≥ {share}); no label fits {count} rows.",
                found.clustered,
                covered=number(found.covered),
                share=percent(found.fits_from),
            )
        )
    sentences.append(ngettext("{count} cluster.", "{count} clusters.", len(found.clusters)))
    return " ".join(sentences)
