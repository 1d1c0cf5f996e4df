"""A filter by a column, as a spreadsheet has it: values to check, what cells contain, from and to."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, QTimer, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QDialogButtonBox,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QWidget,
)

from sce_desktop.controllers.in_worker import in_worker
from sce_desktop.controllers.navigation import Navigation
from sce_desktop.controllers.queries import follow_runs
from sce_desktop.controllers.workspace import Workspace
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, ngettext
from sce_desktop.core.readings import ColumnValues, Kind
from sce_desktop.ui.kit.checked_list import CheckedList
from sce_desktop.ui.kit.dialog_parts import dialog_column, ok_and_cancel
from sce_desktop.ui.kit.fields import ComboBox
from sce_desktop.ui.kit.icons import label_icon
from sce_desktop.ui.kit.plain_label import plain_label
from sce_desktop.ui.kit.project_dialog import ProjectDialog
from sce_desktop.ui.kit.theme import SPACE_S, px, set_role
from sce_desktop.ui.rows.filter_forms import (
    OURS,
    FilterAnswer,
    FilterForm,
    FilterValue,
    Target,
    answered,
    cleared,
    filtered,
    form_of,
    target_title,
)

MOST_LISTED = 1000  # values
_SEARCH_MS = 300
_SHOWN = 200  # characters of a value


class ColumnFilterDialog(ProjectDialog):
    """OK puts the filter by the column in the place of the one before."""

    def __init__(
        self,
        workspace: Workspace,
        navigation: Navigation,
        parent: QWidget | None = None,
        *,
        target: Target | None = None,
    ) -> None:
        super().__init__(workspace, _("Filter by column"), parent)
        self._navigation = navigation
        self._kind = Kind.TEXT
        self._checked: dict[int | str, bool] = {}  # what the user changed, whether it is listed now or not
        self._default = True  # of values that nobody touched
        self._form = FilterForm("")
        self._distinct = 0
        columns = workspace.project.columns if workspace.project is not None else ()
        self.column = ComboBox()
        self.column.setAccessibleName(_("Column"))
        for target_ in (*range(len(columns)), *OURS):
            self.column.addItem(target_title(target_, columns, workspace.runs), target_)
        self.choice = ComboBox()
        self.choice.setAccessibleName(_("Status"))
        self.contains = QLineEdit(placeholderText=_("Contains…"), clearButtonEnabled=True)
        self.contains.setAccessibleName(_("Contains"))
        self.low, self.high = (QLineEdit(placeholderText=words) for words in (_("From"), _("To")))
        self.low.setAccessibleName(_("From"))
        self.high.setAccessibleName(_("To"))
        self.range = QWidget()
        bounds = QHBoxLayout(self.range)
        bounds.setContentsMargins(0, 0, 0, 0)
        bounds.setSpacing(px(SPACE_S))
        bounds.addWidget(self.low)
        bounds.addWidget(self.high)
        self.all = QCheckBox(_("Select all"))
        self.all.setTristate(True)
        self.values = CheckedList("value")
        self.state = plain_label(_("Message"), "muted")
        self.clear_button = QPushButton(_("Clear filter"))
        self.clear_button.setAutoDefault(False)
        set_role(self.clear_button, "quiet")
        self.buttons = ok_and_cancel(self)
        self.buttons.addButton(self.clear_button, QDialogButtonBox.ButtonRole.ResetRole)
        self.ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        layout = dialog_column(self)
        for widget in (
            self.column,
            self.choice,
            self.contains,
            self.range,
            self.all,
            self.values,
            self.state,
        ):
            layout.addWidget(widget)
        layout.addWidget(self.buttons)
        self.resize(px(360), px(480))
        self._search_soon = QTimer(self, singleShot=True, interval=_SEARCH_MS)
        self._search_soon.timeout.connect(self._read)
        self.clear_button.clicked.connect(self.clear)
        self.all.clicked.connect(self._toggle_all)
        self.values.list.itemChanged.connect(self._on_item)
        self.values.search.textChanged.connect(self._on_search)
        self.column.setCurrentIndex(max(0, self.column.findData(self._first() if target is None else target)))
        self.column.currentIndexChanged.connect(self._show_form)
        self._show_form()

    def open_at(self, at: QPoint) -> None:
        """Open as a popup below a heading, on the screen as a whole; a click elsewhere closes it."""
        self.setWindowFlag(Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.column.hide()
        self.adjustSize()
        screen = self.screen().availableGeometry()
        left = at.x() - (self.width() if self.layoutDirection() is Qt.LayoutDirection.RightToLeft else 0)
        left = min(max(left, screen.left()), screen.right() - self.width())
        self.move(left, min(at.y(), max(screen.top(), screen.bottom() - self.height())))
        self.show()
        (self.values.search if self.values.isVisible() else self.choice).setFocus()

    @property
    def target(self) -> Target:
        """The column that is filtered by."""
        target: Target = self.column.currentData()
        return target

    def _first(self) -> Target:
        """The column that is filtered by already, else the first one beside the text."""
        project = self._workspace.project
        if self._navigation.query.cells:
            return self._navigation.query.cells[0].column
        texts = project.text_columns if project is not None else ()
        count = len(project.columns) if project is not None else 0
        return next((place for place in range(count) if place not in texts), 0)

    # --- what is shown -------------------------------------------------------------------------------------

    @Slot()
    def _show_form(self) -> None:
        self._drop_job()
        workspace, query = self._workspace, self._navigation.query
        if workspace.project is None or self.column.currentIndex() < 0:
            return
        columns = workspace.project.columns
        form = form_of(self.target, query, columns, workspace.labels, workspace.runs, workspace.counts)
        self._form, self._kind, self._distinct = form, Kind.TEXT, len(form.values)
        self._default = not form.chosen or form.without
        self._checked = dict.fromkeys(form.chosen, not self._default)
        self.setAccessibleName(_("Filter by {column}", column=form.title))
        self.choice.clear()
        self.choice.addItems([words for words, _value in form.choices])
        self.choice.setCurrentIndex(
            next((at for at, (_w, value) in enumerate(form.choices) if value == form.choice), 0)
        )
        self.choice.setVisible(bool(form.choices))
        self.contains.setVisible(form.contains is not None)
        self.contains.setText(form.contains or "")
        self._show_range(form.range)
        listed = form.read or bool(form.values)
        self.values.setVisible(listed)
        self.all.setVisible(listed)
        self.clear_button.setEnabled(self.target in filtered(query))
        self.values.search.blockSignals(True)
        self.values.search.clear()
        self.values.search.blockSignals(False)
        self.state.clear()
        if form.read:
            self._read()
        else:
            self._list(form.values)

    def _show_range(self, bounds: tuple[str, str] | None) -> None:
        self.range.setVisible(bounds is not None)
        low, high = bounds or ("", "")
        self.low.setText(low)
        self.high.setText(high)
        for field, words in ((self.low, _("From")), (self.high, _("To"))):
            field.setToolTip(self._form.hint)
            field.setAccessibleDescription(self._form.hint)
            field.setPlaceholderText(words)

    @Slot()
    def _read(self) -> None:
        project = self._workspace.project
        if project is None or not isinstance(self.target, int):
            return
        self.state.setText(_("Loading…"))
        self.values.list.setAccessibleDescription(_("Loading…"))
        job = self._watch(
            self._workspace.submit(
                in_worker("sce_desktop.tasks.insight.review", "column_values"),
                project,
                self.target,
                self._navigation.query,
                most=MOST_LISTED,
                containing=self.values.search.text().strip() if self._distinct > MOST_LISTED else "",
                title=_("Reading a column"),
                worker="reads",
                quiet=True,
            )
        )
        job.finished.connect(self._show_values)

    @Slot(object)
    def _show_values(self, found: ColumnValues) -> None:
        first = self._kind is Kind.TEXT and not self._distinct
        self._kind = found.kind
        self._distinct = max(self._distinct, found.distinct)
        if first and found.kind is not Kind.TEXT:
            self._show_range(self._form.range or ("", ""))
        rows = [FilterValue(_one_line(value) or _("(blank)"), value, count) for value, count in found.values]
        rows.sort(key=lambda value: value.key != "")  # blank cells first, else as they come
        self._list(rows)
        self.values.list.setAccessibleDescription("")
        self.state.setText(
            ngettext(
                "The {most} most frequent of {count} value. Type to find others.",
                "The {most} most frequent of {count} values. Type to find others.",
                found.distinct,
                most=len(found.values),
            )
            if found.distinct > len(found.values)
            else ngettext("{count} value", "{count} values", found.distinct)
        )

    def _list(self, values: tuple[FilterValue, ...] | list[FilterValue]) -> None:
        self.values.list.blockSignals(True)
        self.values.list.clear()
        for value in values:
            on = self._checked.get(value.key, self._default)
            image = label_icon(value.colour) if value.colour else None
            self.values.add(value.name, value.rows, value.key, checked=on, icon=image)
        self.values.list.blockSignals(False)
        self.values.narrow()
        self._show_all()

    def _show_all(self) -> None:
        """Show whether all that is listed is checked, and whether there is anything to show rows by."""
        listed = self.values.shown
        on = sum(self._checked.get(key, self._default) for key in listed)
        state = Qt.CheckState
        self.all.setCheckState(
            state.Unchecked if not on else state.Checked if on == len(listed) else state.PartiallyChecked
        )
        self.ok.setEnabled(self._any_checked())

    def _any_checked(self) -> bool:
        values, _without = self._chosen()
        return self._default or bool(values) or not (self._form.read or self._form.values)

    @Slot()
    def _on_item(self) -> None:
        listed, checked = self.values.every, set(self.values.checked)
        for key in listed:
            if (key in checked) != self._checked.get(key, self._default):
                self._checked[key] = key in checked
        self._show_all()

    @Slot(bool)
    def _toggle_all(self, _on: bool) -> None:
        """Check or uncheck what is listed; with nothing typed that is every value."""
        listed = self.values.shown
        on = not all(self._checked.get(key, self._default) for key in listed)
        if not self.values.search.text().strip():
            self._default, self._checked = on, {}
        self._checked |= dict.fromkeys(listed, on)
        self.values.check(listed, on=on)
        self._show_all()

    @Slot()
    def _on_search(self) -> None:
        if self._form.read and self._distinct > MOST_LISTED:
            self._search_soon.start()
        self._show_all()

    # --- the answer ----------------------------------------------------------------------------------------

    def _chosen(self) -> tuple[tuple[int | str, ...], bool]:
        """Return the values of the filter, and whether all but them are meant; none: no condition."""
        differing = tuple(key for key, on in self._checked.items() if on is not self._default)
        if not self._form.read and self._default:  # of labels those are named that are wanted
            left = tuple(key for key in self.values.every if key not in differing)
            return (left if differing else ()), False
        return differing, self._default

    @Slot()
    def clear(self) -> None:
        """Show the rows without a filter by this column."""
        super().accept()
        self._take(cleared(self.target, self._navigation.query))

    def accept(self) -> None:
        """Filter by what is asked; a bound that cannot be read is said and nothing changes."""
        values, without = self._chosen()
        if not self._any_checked():
            return
        answer = FilterAnswer(
            values,
            without,
            self._form.choices[self.choice.currentIndex()][1] if self._form.choices else None,
            self.contains.text(),
            (self.low.text(), self.high.text()) if not self.range.isHidden() else ("", ""),
        )
        try:
            query = answered(self.target, self._navigation.query, answer, self._kind, self._workspace.runs)
        except UserError as error:
            self.state.setText(str(error))
            self.state.setAccessibleDescription(str(error))
            return
        super().accept()
        self._take(query)

    def _take(self, query: object) -> None:
        self._navigation.set_query(follow_runs(query, self._workspace.runs))  # type: ignore[arg-type]


def _one_line(value: str) -> str:
    return " ".join(value[:_SHOWN].replace("\0", "\N{REPLACEMENT CHARACTER}").split())
