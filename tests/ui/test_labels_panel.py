"""The labels panel: labels added from names, files and columns; hints, counts, colours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QLineEdit
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.colours import label_colour
from sce_desktop.ui.kit.theme import px
from sce_desktop.ui.labels.add_labels_dialog import AddLabelsDialog
from sce_desktop.ui.labels.labels_hints import hint_for
from sce_desktop.ui.labels.labels_list import LabelDelegate, compact
from sce_desktop.ui.labels.labels_menus import templates
from sce_desktop.ui.labels.labels_model import KeyRole, PredictedRole, YoursRole
from sce_desktop.ui.labels.labels_panel import LabelsPanel
from tests.ui.conftest import MakeProject
from tests.ui.labels_bench import Key, add, answer, counted, names, panel_fixture  # noqa: F401
from tests.ui.panels import settle
from tests.ui.wiring import wired

# --- adding ------------------------------------------------------------------------------------------------


def test_empty_panel_says_what_to_do(panel: LabelsPanel) -> None:
    assert panel.empty.isVisible()
    assert not panel.list.isVisible()


def test_a_name_and_enter_adds_a_label(qtbot: QtBot, controllers: Controllers, panel: LabelsPanel) -> None:
    """Names are opaque."""
    for name in ("Food, drink", "C# / .NET", "a|b", '50% "off"', "{x}"):
        qtbot.keyClicks(panel.field, name)
        qtbot.keyClick(panel.field, Key.Key_Return)
    assert names(controllers) == ["Food, drink", "C# / .NET", "a|b", '50% "off"', "{x}"]
    assert panel.field.text() == ""
    assert len({label.colour for label in controllers.workspace.labels}) == 5
    assert not panel.empty.isVisible()


def test_labels_of_the_command_line_have_colours_too(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel, make_project: MakeProject
) -> None:
    with qtbot.waitSignal(controllers.workspace.projectOpened):
        controllers.projects.open_project(make_project("Another", labels=("Late", "Damaged")))
    assert [label.colour for label in controllers.workspace.labels] == [label_colour(0), label_colour(1)]
    image = panel.list.grab().toImage()
    colours = {image.pixelColor(x, y).name() for x in range(px(40)) for y in range(image.height())}
    assert {label_colour(0), label_colour(1)} <= colours


def test_many_lines_are_pasted(qtbot: QtBot, controllers: Controllers, panel: LabelsPanel) -> None:
    QGuiApplication.clipboard().setText("Late\nDamaged\r\n\n  Praise  \nLate\n")
    panel.field.paste()
    assert names(controllers) == ["Late", "Damaged", "Praise"]
    assert panel.message.text() == "3 labels were added. 1 already exists."
    assert panel.field.text() == ""


def test_the_same_name_twice_is_reported_in_place(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel
) -> None:
    add(controllers, "Late", "Damaged")
    qtbot.keyClicks(panel.field, "Damaged ")
    qtbot.keyClick(panel.field, Key.Key_Return)
    assert names(controllers) == ["Late", "Damaged"]
    assert panel.message.text() == "The label “Damaged” already exists."
    assert panel.list.currentIndex().row() == 1
    qtbot.keyClicks(panel.field, " ")
    qtbot.keyClick(panel.field, Key.Key_Return)
    assert len(names(controllers)) == 2


@pytest.mark.parametrize("template", templates(), ids=lambda path: path.stem)
def test_templates_can_be_added(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel, template: Path
) -> None:
    dialog = panel.offers.add_from_file(template)
    qtbot.waitUntil(lambda: dialog.list.count() > 0)
    wanted = [label.name for label in dialog.chosen]
    dialog.add_button.click()
    assert names(controllers) == wanted
    assert all(label.description for label in controllers.workspace.labels)


def test_labels_of_a_column(qtbot: QtBot, controllers: Controllers, panel: LabelsPanel) -> None:
    add(controllers, "Two days late")
    dialog = panel.offers.add_from_column()
    dialog.column.setCurrentIndex(1)
    dialog.column.activated.emit(1)
    qtbot.waitUntil(lambda: dialog.list.count() == 3)
    assert "1 already exists." in dialog.words.text()
    dialog.list.item(1).setCheckState(Qt.CheckState.Unchecked)
    assert dialog.add_button.text() == "Add 1 label"
    dialog.add_button.click()
    assert names(controllers) == ["Two days late", "Driver was kind"]


def test_labels_of_a_bad_file_are_one_sentence(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel, tmp_path: Path
) -> None:
    (tmp_path / "labels.json").write_text("[1, 2]", encoding="utf-8")
    dialog = panel.offers.add_from_file(tmp_path / "labels.json")
    qtbot.waitUntil(lambda: dialog.words.property("role") == "warn")
    assert dialog.words.text().startswith("labels.json has 1 among its labels: ")
    assert not dialog.add_button.isEnabled()


def test_many_values_are_not_checked_at_first(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel
) -> None:
    dialog = wired(AddLabelsDialog, controllers)("Labels")
    qtbot.addWidget(dialog)
    dialog.show_found([(Label(f"v{n}"), 1) for n in range(60)])
    assert dialog.chosen == []
    assert not dialog.add_button.isEnabled()


def test_labels_from_the_rows_are_asked_for_where_there_are_none(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel
) -> None:
    assert panel.suggest_button.isVisible()
    with qtbot.waitSignal(panel.suggestAsked):
        panel.suggest_button.click()
    add(controllers, "Late")
    assert not panel.suggest_button.isVisible()


def test_labels_are_saved(qtbot: QtBot, controllers: Controllers, panel: LabelsPanel, tmp_path: Path) -> None:
    add(controllers, "Late", "Damaged")
    with qtbot.waitSignal(controllers.messages.notified):
        panel.offers.save_to(tmp_path / "labels.csv")
    dialog = panel.offers.add_from_file(tmp_path / "labels.csv")
    qtbot.waitUntil(lambda: dialog.list.count() == 2)
    assert "2 already exist." in dialog.words.text()


# --- what is shown -----------------------------------------------------------------------------------------


def test_counts_keys_and_words(qtbot: QtBot, controllers: Controllers, panel: LabelsPanel) -> None:
    late, _ = add(controllers, "Late", "Damaged")
    controllers.edits.decide([1], Decision.LABEL, [late])
    controllers.edits.decide([2], Decision.NONE)
    counted(qtbot, controllers)
    index = panel.model.index(0)
    assert (index.data(YoursRole), index.data(PredictedRole), index.data(KeyRole)) == (1, None, "")
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "Late, you: 1 row"
    spoken = [answer.accessibleName() for answer in panel.answers.answers.values()]
    assert spoken == ["None of these, 1 row, key 0", "Skip, 0 rows, key S"]


@pytest.mark.parametrize(
    ("count", "text"), [(None, "–"), (0, "0"), (9999, "9,999"), (12_345, "12k"), (3_000_000, "3.0M")]
)
def test_counts_are_short(count: int | None, text: str) -> None:
    assert compact(count) == text


def test_two_hundred_labels_with_any_name_are_painted(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel
) -> None:
    odd = ["التأخير في التسليم", "包裹损坏", "Praise 🎉😀", "<b>bold</b>", "long " * 60, "two\nlines"]
    panel.field.setText("\n".join([*odd[:5], *(f"Label number {n} of many" for n in range(200))]))
    assert len(names(controllers)) == 205
    panel.list.scrollToTop()
    assert not panel.grab().isNull()
    panel.list.scrollToBottom()
    assert not panel.grab().isNull()
    tip = panel.model.index(3).data(Qt.ItemDataRole.ToolTipRole)
    assert tip == "<qt>&lt;b&gt;bold&lt;/b&gt;</qt>"
    assert panel.list.height() < panel.height()


def test_only_labels_that_are_other_ones_are_painted_again(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    painted: list[int] = []
    paint = LabelDelegate.paint

    def noted(self: LabelDelegate, painter: Any, option: Any, index: QModelIndex) -> None:
        painted.append(index.row())
        paint(self, painter, option, index)

    monkeypatch.setattr(LabelDelegate, "paint", noted)
    add(controllers, *(f"Label {number}" for number in range(12)))
    counted(qtbot, controllers)
    panel.list.viewport().repaint()  # whatever else was to be painted
    assert 11 in painted  # all are on the screen
    changed: list[tuple[int, int]] = []
    panel.model.dataChanged.connect(lambda first, last: changed.append((first.row(), last.row())))
    edits: dict[int, Callable[[Label], Label]] = {
        4: lambda label: replace(label, name="Another"),
        11: lambda label: replace(label, colour="#112233"),
        0: lambda label: replace(label, description="of it"),
    }
    for row, edit in edits.items():
        painted.clear()
        changed.clear()
        labels = list(controllers.workspace.labels)
        labels[row] = edit(labels[row])
        controllers.edits.set_labels(labels)
        qtbot.waitUntil(partial(painted.__contains__, row))
        settle(qtbot, controllers)
        assert set(changed) == {(row, row)}
        assert set(painted) == {row}
    labels[3], labels[6] = replace(labels[3], name="Three"), replace(labels[6], name="Six")
    changed.clear()
    controllers.edits.set_labels(labels)
    qtbot.waitUntil(lambda: {3, 6} <= set(painted))
    assert set(changed) == {(3, 6)}


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["Late", "Damaged"], ""),
        (["Late"], "scored for whether it fits"),
        (["complaint", "Complaint", "Caf\u00e9"], "“complaint” and “Complaint” look the same"),
        (["Caf\u00e9", "Cafe\u0301", "Tea"], "look the same"),
        (["1", "2", "Tea"], "“1” and “2” say nothing"),
        (["Q7", "Tea"], "“Q7” says nothing"),
    ],
)
def test_hints(labels: list[str], words: str) -> None:
    hint = hint_for([Label(name) for name in labels])
    assert words in (hint.sentence if hint else "")
    assert bool(hint) == bool(words)


def test_a_description_gives_a_number_its_meaning() -> None:
    assert hint_for([Label("1", description="Calm"), Label("2", synonyms=("Angry",))]) is None


def test_look_alikes_are_merged_into_the_one_used_most(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel
) -> None:
    _, upper = add(controllers, "billing", "BILLING")
    controllers.edits.decide([1, 2], Decision.LABEL, [upper])
    counted(qtbot, controllers)
    panel._show_labels()
    assert panel.merge_button.isVisible()
    panel.merge_button.click()
    answer(qtbot, panel, "Merge")
    qtbot.waitUntil(lambda: names(controllers) == ["BILLING"])


def test_look_alikes_that_nobody_used_are_merged_into_the_tidiest(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel
) -> None:
    controllers.edits.set_labels([Label(name) for name in ("  Billing ", "BILLING", "billing")])
    counted(qtbot, controllers)
    panel._show_labels()
    panel.merge_button.click()
    answer(qtbot, panel, "Merge")
    qtbot.waitUntil(lambda: names(controllers) == ["billing"])


def test_everything_has_a_name(qtbot: QtBot, controllers: Controllers, panel: LabelsPanel) -> None:
    add(controllers, "Late", "Damaged")
    panel.list.setCurrentIndex(panel.model.index(0))
    editor = panel.show_details()
    assert editor is not None
    for widget in (panel, editor):
        controls = [*widget.findChildren(QAbstractButton), *widget.findChildren(QLineEdit)]
        ours = [c for c in controls if not c.objectName().startswith("qt_")]
        assert [c for c in ours if not c.accessibleName()] == []
    editor.reject()
