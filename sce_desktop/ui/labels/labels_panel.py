"""The labels: type a name and Enter, paste many, rename, reorder, describe, remove; counts and keys."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from sce_desktop.controllers import label_edits
from sce_desktop.controllers.edits import Edits
from sce_desktop.controllers.jobs import Job, drop
from sce_desktop.controllers.labels_groups import Span
from sce_desktop.controllers.messages import Messages
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.preferences import Preferences
from sce_desktop.controllers.scoring import Scorer
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.annotations import Change, Label, LabelEffect
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.labels import roll_up, why_several
from sce_desktop.core.purging import PurgeScope
from sce_desktop.core.query import RowQuery, RowState
from sce_desktop.core.text import isolated
from sce_desktop.ui.kit.dialog_parts import open_dialog
from sce_desktop.ui.kit.theme import SPACE_M, SPACE_S, px, set_role
from sce_desktop.ui.kit.wrapped_button import WrappedButton
from sce_desktop.ui.labels.label_editor import LabelEditor
from sce_desktop.ui.labels.label_filter import LabelFilter
from sce_desktop.ui.labels.label_offers import LabelOffers
from sce_desktop.ui.labels.label_previews import LabelQuestions, SplitDialog, ids_of
from sce_desktop.ui.labels.label_sets_dialog import LabelSetsDialog
from sce_desktop.ui.labels.labels_hints import Hint, hint_for, of_rename
from sce_desktop.ui.labels.labels_list import MARGIN, LabelsList, margins
from sce_desktop.ui.labels.labels_menus import LabelMenu, SourcesButton
from sce_desktop.ui.labels.labels_model import FoldedRole, GroupRole, LabelsModel
from sce_desktop.ui.labels.other_answers import OtherAnswers


class LabelsPanel(QWidget):
    """The left zone of the window."""

    _built = False  # its style changes while it is made
    suggestAsked = Signal()  # labels from the rows: the window knows the dialog

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        edits: Edits,
        scorer: Scorer,
        preferences: Preferences,
        messages: Messages,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._navigation = navigation
        self._edits = edits
        self._preferences = preferences
        self._messages = messages
        self._hint: Hint | None = None
        self._renaming: Job | None = None  # counts what another name touches
        self.setAccessibleName(_("Labels panel"))
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        set_role(self, "pane")
        heading = QLabel(_("Labels"))
        set_role(heading, "heading")
        self.count_headings = (QLabel(_("You")), QLabel(_("SCE")))
        tips = (_("Rows that you labelled"), _("Rows with this label as the prediction"))
        for column, tip in zip(self.count_headings, tips, strict=True):
            column.setToolTip(tip)
            set_role(column, "muted")
        self.offers = LabelOffers(workspace, edits, messages, self)
        self.sources = SourcesButton()
        self.sources.columnAsked.connect(self.offers.add_from_column)
        self.sources.fileAsked.connect(self.offers.ask_file)
        self.sources.templateAsked.connect(self.offers.add_from_file)
        self.sources.suggestAsked.connect(self.suggestAsked)
        self.sources.saveAsked.connect(self.offers.ask_save)
        self.sources.setsAsked.connect(self.show_sets)
        self.sources.severalAsked.connect(self.allow_several)
        head = QHBoxLayout()
        head.setContentsMargins(margins(px(MARGIN), px(5)))
        head.setSpacing(px(4))
        head.addWidget(heading)
        head.addStretch()
        head.addWidget(self.count_headings[0])
        head.addSpacing(px(2))
        head.addWidget(self.count_headings[1])
        head.addSpacing(px(2))  # so that they end where the counts below do
        head.addWidget(self.sources)

        self._questions = LabelQuestions(workspace, edits, messages, self)
        self.model = LabelsModel(workspace, navigation, preferences, self)
        self.model.renameAsked.connect(self.rename)
        self.model.moveAsked.connect(self.move_label)
        self.list = LabelsList(self.model)
        self.list.removeAsked.connect(self.ask_remove)
        self.list.detailsAsked.connect(self.show_details)
        self.list.stepAsked.connect(self.step)
        self.list.renaming.connect(self._on_renaming)
        self.list.customContextMenuRequested.connect(self._show_menu)
        self.model.foldsChanged.connect(self._fit_list)
        self.filter = LabelFilter(self.model, self.list)
        self.filter.filtered.connect(self._fit_list)
        above = QVBoxLayout()
        above.setContentsMargins(px(SPACE_M), 0, px(SPACE_M), 0)
        above.addWidget(self.filter)
        self.empty = QLabel(
            _(
                "Type the first label and press Enter, or paste a list, one per line. "
                "For a column, a file or a template, use the button with the dots."
            ),
            wordWrap=True,
        )
        self.empty.setAccessibleName(_("Hint"))
        set_role(self.empty, "muted")
        self.empty.setContentsMargins(px(MARGIN), px(SPACE_S), px(MARGIN), px(SPACE_S))
        self.suggest_button = WrappedButton(_("Suggest labels from the rows…"))
        self.suggest_button.setAccessibleName(_("Suggest labels from the rows"))
        self.suggest_button.setToolTip(_("Cluster the rows and name the clusters"))
        self.suggest_button.clicked.connect(self.suggestAsked)
        self.field = QLineEdit(placeholderText=_("Add label…"))
        self.field.setAccessibleName(_("Add label"))
        self.field.setAccessibleDescription(_("Type a name and press Enter, or paste several, one per line"))
        set_role(self.field, "quiet")
        self.field.returnPressed.connect(self._on_typed)
        self.field.textChanged.connect(self._on_text)
        self.message = QLabel(wordWrap=True)
        self.message.setTextFormat(Qt.TextFormat.PlainText)
        self.message.setAccessibleName(_("About the labels"))
        self.merge_button = QPushButton(_("Merge…"))
        self.merge_button.setAccessibleName(_("Merge labels that look the same"))
        self.merge_button.clicked.connect(self._ask_merge_alike)
        below = QVBoxLayout()
        below.setContentsMargins(px(SPACE_M), 0, px(SPACE_M), px(SPACE_S))
        below.setSpacing(px(SPACE_S))
        below.addWidget(self.field)
        below.addWidget(self.suggest_button)
        below.addWidget(self.message)
        below.addWidget(self.merge_button, 0, Qt.AlignmentFlag.AlignLeft)
        self.answers = OtherAnswers(workspace, preferences)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, px(SPACE_S), 0, px(SPACE_S))
        layout.setSpacing(px(SPACE_S))
        layout.addLayout(head)
        layout.addWidget(self.empty)
        layout.addLayout(above)
        layout.addWidget(self.list)
        layout.addLayout(below)
        layout.addWidget(self.answers)
        layout.addStretch(1)
        layout.setStretchFactor(self.list, 1000)
        for signal in (workspace.labelsChanged, workspace.projectOpened, workspace.projectClosed):
            signal.connect(self._show_labels)
        workspace.projectOpened.connect(self._begin)
        edits.changed.connect(self._go_to)
        self._built = True
        self._show_labels()

    # --- what is shown -------------------------------------------------------------------------------------

    @Slot()
    def _show_labels(self) -> None:
        labels, editable = self._workspace.labels, not self._workspace.read_only
        self.empty.setVisible(not labels)
        self.suggest_button.setVisible(not labels and self._workspace.project is not None)
        self.suggest_button.setEnabled(editable)
        self.list.setVisible(bool(labels))
        self.filter.follow(len(labels))
        self._fit_list()
        for column in self.count_headings:
            column.setVisible(bool(labels))
        self.field.setEnabled(editable)
        label_set = self._workspace.label_set
        several = label_set is not None and label_set.multi_label
        self.sources.set_state(editable=editable, labels=bool(labels), several=several)
        self._show_hint()

    @Slot()
    def _fit_list(self) -> None:
        self.list.setMaximumHeight(self.list.full_height())

    def changeEvent(self, event: QEvent) -> None:
        """Let the list be as high as its labels at another density."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.StyleChange and self._built:
            self.list.scheduleDelayedItemsLayout()
            self._fit_list()

    @Slot()
    def _begin(self) -> None:
        """Go where the first labels are typed."""
        if not self._workspace.labels:
            self.field.setFocus()

    def _show_hint(self) -> None:
        label_set = self._workspace.label_set
        multi = label_set is not None and label_set.multi_label
        self._hint = hint_for(self._workspace.labels, multi_label=multi)
        self._show_message(self._hint.sentence if self._hint else "", "muted")
        alike = self._hint is not None and bool(self._hint.alike)
        self.merge_button.setVisible(alike and not self._workspace.read_only)

    @Slot(object)
    def _on_renaming(self, label: Label | None) -> None:
        """While a name is typed, show which rows it affects; then the hint again."""
        drop(self._renaming)
        self._renaming = None
        if label is None or label.id is None or self._workspace.project is None:
            self._show_hint()
        else:
            self._renaming = label_edits.submit_rename_effect(self._workspace, label.id)
            self._renaming.finished.connect(self._show_touched)

    @Slot(object)
    def _show_touched(self, effect: LabelEffect | None) -> None:
        if effect is not None:
            self.merge_button.hide()
            self._show_message(of_rename(effect), "muted")

    def _show_message(self, sentence: str, role: str = "warn") -> None:
        self.message.setText(sentence)
        set_role(self.message, role)
        self.message.setVisible(bool(sentence))

    def _selected(self) -> list[Label]:
        return [self.model.label(self.model.index(row)) for row in self.list.chosen()]

    def select(self, label_id: int | None) -> None:
        """Make a label the current one."""
        if (row := self.model.row_of(label_id)) is not None:
            if row in self.model.hidden_rows():
                self.filter.clear()
            self.list.reveal(row)

    @Slot(object)
    def _go_to(self, change: Change) -> None:
        """Show the label that an undo or a redo has changed."""
        if change.labels:
            self.select(change.labels[0])

    # --- adding --------------------------------------------------------------------------------------------

    @Slot()
    def _on_typed(self) -> None:
        self._add_names([self.field.text()])

    @Slot(str)
    def _on_text(self, text: str) -> None:
        """Add a list that was pasted; else forget the message about the last name."""
        lines = text.splitlines()
        if len(lines) > 1:
            self._add_names(lines)
        elif text:
            self._show_hint()

    def _add_names(self, names: list[str]) -> None:
        wanted = [Label(name.strip()) for name in names if name.strip()]
        if not wanted:
            return
        added = label_edits.add(self._workspace, self._edits, wanted)
        self.field.clear()
        if added:
            self.model.fold(roll_up(label.name for label in wanted).values(), folded=False)
            self.list.scrollToBottom()
        if len(wanted) == 1 and not added:
            self._show_message(_("The label “{name}” already exists.", name=isolated(wanted[0].name)))
            self.select(next((x.id for x in self._workspace.labels if x.name == wanted[0].name), None))
        elif len(wanted) > 1:
            sentences = [ngettext("{count} label was added.", "{count} labels were added.", added)]
            if rest := len(wanted) - added:
                sentences.append(ngettext("{count} already exists.", "{count} already exist.", rest))
            self._show_message(" ".join(sentences), "muted")

    # --- editing -------------------------------------------------------------------------------------------

    @Slot(object, object)
    def rename(self, label_id: int, name: str) -> None:
        """Give a label another name; onto the name of another label, offer to merge them."""
        other = next((x for x in self._workspace.labels if x.name.strip() == name and x.id != label_id), None)
        label = next((x for x in self._workspace.labels if x.id == label_id), None)
        if label is None:
            return
        if other is not None:
            self._ask_merge([label], other)
        else:
            label_edits.change(self._workspace, self._edits, label_id, name=name)

    @Slot(object, object)
    def move_label(self, place: int, before: int) -> None:
        """Put the label at ``place`` of the list before the one at ``before``."""
        index = self.model.index(place)
        label, folded = self.model.label(index), index.data(FoldedRole)
        if self._edits.set_labels(self.model.moved(place, before)):
            row = self.model.row_of(label.id)
            if folded and row is not None:
                self.list.setCurrentIndex(self.model.index(row))
            else:
                self.select(label.id)

    @Slot(int)
    def step(self, direction: int) -> None:
        """Move the current label up (-1) or down (1)."""
        current = self.list.currentIndex()
        place = current.row()
        folded: Span | None = current.data(GroupRole) if current.data(FoldedRole) else None
        target = folded.end if folded and direction > 0 else place + direction
        if place >= 0 and 0 <= target < len(self._workspace.labels):
            self.move_label(place, target + (direction > 0))

    @Slot()
    def show_details(self) -> LabelEditor | None:
        """Show everything about the current label."""
        if not self.list.currentIndex().isValid() or self._workspace.refuses_edit():
            return None
        label = self.model.label(self.list.currentIndex())
        editor = LabelEditor(self._workspace, self._edits, self._preferences, label, self.window())
        editor.purgeAsked.connect(self.ask_purge)
        return open_dialog(editor)

    @Slot()
    def ask_remove(self) -> None:
        """Remove the selected labels; ask first if that changes annotations."""
        self._questions.remove(self._selected())

    def _ask_merge(self, labels: list[Label], into: Label) -> None:
        self._questions.merge(labels, into)

    @Slot()
    def split_selected(self) -> SplitDialog | None:
        """Put several labels in the place of the current one."""
        if not self.list.currentIndex().isValid() or self._workspace.refuses_edit():
            return None
        dialog = SplitDialog(
            self._workspace,
            self._navigation,
            self._edits,
            self.model.label(self.list.currentIndex()),
            self.window(),
        )
        return open_dialog(dialog)

    @Slot(object)
    def allow_several(self, several: bool) -> None:
        """Let rows have several labels or one; where that cannot be, a message says why."""
        of_several = RowQuery(state=RowState.SEVERAL)
        if (
            several
            or self._workspace.project is None
            or not (rows := len(self._workspace.project.row_ids(of_several)))
        ):
            self._edits.set_labels(self._workspace.labels, multi_label=several)
        else:
            self._messages.offer(
                why_several(rows), _("Show in table"), lambda: self._navigation.set_query(of_several)
            )
        self._show_labels()

    @Slot()
    def show_sets(self) -> LabelSetsDialog:
        """Show the versions of the label set."""
        dialog = LabelSetsDialog(self._workspace, self._edits, self.window())
        return open_dialog(dialog)

    @Slot()
    def _ask_merge_alike(self) -> None:
        if self._hint is not None and self._hint.alike:
            alike = [label for label in self._workspace.labels if label.name in self._hint.alike]
            into = max(  # the one used most; where none is, one without spaces around it and in capitals
                alike,
                key=lambda label: (
                    self.model.counts(label)[0] or 0,
                    label.name == label.name.strip(),
                    not label.name.isupper(),
                ),
            )
            self._ask_merge([label for label in alike if label is not into], into)

    @Slot(QPoint)
    def _show_menu(self, place: QPoint) -> None:
        index = self.list.indexAt(place)
        if not index.isValid():
            return
        menu = LabelMenu(self, editable=not self._workspace.read_only, several=len(self._selected()) > 1)
        menu.popup(self.list.viewport().mapToGlobal(place))

    @Slot()
    def ask_purge(self) -> None:
        """Offer to delete the selected label for good, from the history too."""
        if ids := ids_of(self._selected()):
            self._navigation.purgeAsked.emit(PurgeScope(labels=(ids[0],)))

    @Slot()
    def merge_selected(self) -> None:
        """Merge the selected labels into the first of them."""
        labels = self._selected()
        if len(labels) < 2:
            self._messages.notify(
                _("Select at least two labels in the list first: the others are merged into the first.")
            )
        else:
            self._ask_merge(labels[1:], labels[0])

    @Slot()
    def show_rows(self) -> None:
        """Show the rows that have the selected labels."""
        ids = tuple(label.id for label in self._selected() if label.id is not None)
        self._navigation.set_query(RowQuery(label_ids=ids))
