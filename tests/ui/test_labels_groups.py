"""Labels named "Parent > Child" in the list: groups, their sums, and how they move."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.labels_groups import Span, grouped, moved, short_name
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.ui.kit.theme import ROW_HEIGHTS, px
from sce_desktop.ui.labels.labels_list import HEADING
from sce_desktop.ui.labels.labels_menus import LabelMenu
from sce_desktop.ui.labels.labels_model import FoldedRole, GroupRole
from sce_desktop.ui.labels.labels_panel import LabelsPanel
from tests.ui.conftest import MakeProject
from tests.ui.panels import open_in, settle
from tests.ui.row_bench import Bench
from tests.ui.wiring import wired

NAMES = ("Delivery > Late", "Praise", "Delivery > Lost", "Delivery", "Parcel > Damaged > Contents")
SHOWN = ["Delivery > Late", "Delivery > Lost", "Delivery", "Praise", "Parcel > Damaged > Contents"]


@pytest.fixture
def panel(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> LabelsPanel:
    monkeypatch.setattr(controllers.scorer, "labels_changed", lambda: None)
    open_in(qtbot, controllers, make_project(labels=NAMES))
    panel = wired(LabelsPanel, controllers)()
    qtbot.addWidget(panel)
    panel.resize(232, 700)
    panel.show()
    return panel


def names(panel: LabelsPanel) -> list[str]:
    return [panel.model.index(row).data() for row in range(panel.model.rowCount())]


def labels(*given: str) -> list[Label]:
    return [Label(name, id=place) for place, name in enumerate(given)]


def test_groups_are_side_by_side() -> None:
    ordered, spans = grouped(labels(*NAMES))
    assert [label.name for label in ordered] == SHOWN
    assert spans == (Span(0, 3, "Delivery"), Span(3, 4), Span(4, 5, "Parcel"))
    assert short_name("Parcel > Damaged > Contents", "Parcel") == "Damaged > Contents"
    assert short_name("Delivery", "Delivery") == "Delivery"


@pytest.mark.parametrize("names", [("a", "b"), ("a>b", " > b", "a > ", "a >b"), (), ("a", "a -> b")])
def test_without_parents_nothing_is_grouped(names: tuple[str, ...]) -> None:
    ordered, spans = grouped(labels(*names))
    assert [label.name for label in ordered] == list(names)
    assert [span.parent for span in spans] == [""] * len(names)


@pytest.mark.parametrize(
    ("place", "before", "after"),
    [
        (0, 2, ["a > 2", "a > 1", "b", "c > 1", "c > 2"]),  # in its group
        (1, 3, ["b", "a > 1", "a > 2", "c > 1", "c > 2"]),  # out of it: the group goes along
        (2, 0, ["b", "a > 1", "a > 2", "c > 1", "c > 2"]),
        (2, 1, ["b", "a > 1", "a > 2", "c > 1", "c > 2"]),  # never into another one
        (2, 4, ["a > 1", "a > 2", "c > 1", "c > 2", "b"]),
        (4, 1, ["c > 1", "c > 2", "a > 1", "a > 2", "b"]),
        (3, 5, ["a > 1", "a > 2", "b", "c > 2", "c > 1"]),
        (0, 0, ["a > 1", "a > 2", "b", "c > 1", "c > 2"]),
    ],
)
def test_labels_move_with_their_group(place: int, before: int, after: list[str]) -> None:
    given = labels("a > 1", "a > 2", "b", "c > 1", "c > 2")
    ordered, spans = grouped(given)
    found = moved(ordered, spans, place, before)
    assert [label.name for label in found] == after
    assert [label.name for label in grouped(found)[0]] == after


def test_the_list_shows_groups_with_their_sums(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel
) -> None:
    assert names(panel) == SHOWN
    by_name = {label.name: label.id or 0 for label in controllers.workspace.labels}
    controllers.edits.decide([1, 2], Decision.LABEL, [by_name["Delivery > Late"]])
    controllers.edits.decide([4], Decision.LABEL, [by_name["Delivery"]])
    settle(qtbot, controllers)
    group = panel.model.index(0).data(GroupRole)
    assert panel.model.sums(group) == (3, None)
    assert panel.model.index(3).data(GroupRole) is None
    heights = [panel.list.sizeHintForIndex(panel.model.index(row)).height() for row in range(5)]
    high, low = px(ROW_HEIGHTS["normal"]) + px(HEADING), px(ROW_HEIGHTS["normal"])
    assert heights == [high, low, low, low, high]
    assert panel.list.maximumHeight() == sum(heights) + px(4)
    index = panel.model.index(0)
    assert index.data(Qt.ItemDataRole.ToolTipRole) == "Delivery > Late"
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "Delivery > Late, you: 2 rows"
    assert panel.list.grab().toImage().width() > 0  # it is painted


def test_a_click_on_the_heading_selects_the_group(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel
) -> None:
    qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(px(60), px(10)))
    assert [label.name for label in panel._selected()] == SHOWN[:3]
    panel.show_rows()
    by_name = {label.name: label.id for label in controllers.workspace.labels}
    assert controllers.navigation.query.label_ids == tuple(by_name[name] for name in SHOWN[:3])
    below = QPoint(px(60), px(HEADING + 10))
    qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=below)
    assert [label.name for label in panel._selected()] == SHOWN[:1]


def test_labels_are_moved_and_renamed_as_they_are_shown(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel
) -> None:
    panel.list.setCurrentIndex(panel.model.index(1))
    qtbot.keyClick(panel.list, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert [label.name for label in controllers.workspace.labels] == [
        "Delivery > Lost",
        "Delivery > Late",
        *SHOWN[2:],
    ]
    assert panel.list.currentIndex().row() == 0
    move = Qt.DropAction.MoveAction
    panel.model.dropMimeData(panel.model.mimeData([panel.model.index(3)]), move, 0, 0, QModelIndex())
    assert names(panel)[0] == "Praise"
    label_id = panel.model.label(panel.model.index(0)).id
    assert panel.model.setData(panel.model.index(0), "Parcel > Praised")
    assert names(panel) == [
        "Parcel > Praised",
        "Parcel > Damaged > Contents",
        "Delivery > Lost",
        "Delivery > Late",
        "Delivery",
    ]
    assert panel.model.row_of(label_id) == 0
    panel.select(controllers.workspace.labels[1].id)
    assert panel.list.currentIndex().data() == controllers.workspace.labels[1].name


def shown(panel: LabelsPanel) -> list[str]:
    """The rows of the list that can be seen; a folded group by the name of its parent."""
    rows = [row for row in range(panel.model.rowCount()) if not panel.list.isRowHidden(row)]
    indexes = [panel.model.index(row) for row in rows]
    return [x.data(GroupRole).parent + " …" if x.data(FoldedRole) else x.data() for x in indexes]


FOLDED = ["Delivery …", "Praise", "Parcel > Damaged > Contents"]


def test_a_group_folds_by_mouse(qtbot: QtBot, panel: LabelsPanel) -> None:
    view, left = panel.list.viewport(), Qt.MouseButton.LeftButton
    high = panel.list.maximumHeight()
    qtbot.mouseClick(view, left, pos=QPoint(px(6), px(10)))
    assert shown(panel) == FOLDED
    assert panel.list.maximumHeight() == high - 3 * px(ROW_HEIGHTS["normal"])
    assert panel.list.sizeHintForIndex(panel.model.index(0)).height() == px(HEADING)
    qtbot.waitUntil(lambda: panel.list.visualRect(panel.model.index(3)).top() == px(HEADING))
    spoken = panel.model.index(0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken.startswith("Delivery, folded group of 3 labels")
    qtbot.mouseClick(view, left, pos=QPoint(px(60), px(10)))  # the heading stands for its labels
    assert [label.name for label in panel._selected()] == SHOWN[:3]
    assert panel.list.grab().toImage().width() > 0  # it is painted
    qtbot.mouseDClick(view, left, pos=QPoint(px(60), px(10)))
    assert shown(panel) == SHOWN
    assert panel.list.maximumHeight() == high


def test_a_group_folds_by_keys_and_is_then_one_row(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel.list.setCurrentIndex(panel.model.index(1))
    qtbot.keyClick(panel.list, Qt.Key.Key_Left)
    assert shown(panel) == FOLDED
    assert panel.list.currentIndex().row() == 0
    assert [label.name for label in panel._selected()] == SHOWN[:3]
    qtbot.keyClick(panel.list, Qt.Key.Key_Down)
    assert [label.name for label in panel._selected()] == ["Praise"]
    qtbot.keyClick(panel.list, Qt.Key.Key_Up)
    assert [label.name for label in panel._selected()] == SHOWN[:3]  # whatever is asked, is asked of all
    qtbot.keyClick(panel.list, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    assert shown(panel) == ["Praise", "Delivery …", "Parcel > Damaged > Contents"]
    qtbot.keyClick(panel.list, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert shown(panel) == FOLDED
    asked: list[bool] = []
    monkeypatch.setattr(panel, "show_details", lambda: asked.append(True))
    qtbot.keyClick(panel.list, Qt.Key.Key_Return)  # whose details could not be seen
    assert (shown(panel), asked) == (SHOWN, [])
    qtbot.keyClick(panel.list, Qt.Key.Key_Left)
    qtbot.keyClick(panel.list, Qt.Key.Key_Right)
    assert shown(panel) == SHOWN


def test_what_is_added_or_asked_for_is_unfolded(controllers: Controllers, panel: LabelsPanel) -> None:
    panel.model.fold(panel.model.parents)
    assert shown(panel) == ["Delivery …", "Praise", "Parcel …"]
    panel._add_names(["Delivery > By hand"])
    assert shown(panel) == [*SHOWN[:3], "Delivery > By hand", "Praise", "Parcel …"]
    panel.select(next(label.id for label in controllers.workspace.labels if label.name == SHOWN[-1]))
    assert "Parcel …" not in shown(panel)
    menu = LabelMenu(panel, editable=True, several=False)
    entries = {action.text().split("\t")[0]: action for action in menu.actions()}
    entries["Fold all groups"].trigger()
    assert shown(panel) == ["Delivery …", "Praise", "Parcel …"]


def test_folded_groups_stay_folded_over_restarts_and_leave_the_keys_alone(
    qtbot: QtBot, controllers: Controllers, panel: LabelsPanel
) -> None:
    bench = Bench(controllers)
    qtbot.addWidget(bench)
    bench.show()
    panel.model.fold(["Delivery"])
    assert controllers.workspace.project is not None
    path = controllers.workspace.project.path
    with qtbot.waitSignal(controllers.workspace.projectClosed):
        controllers.projects.close_project()
    qtbot.waitUntil(lambda: not controllers.workspace.workers.files.busy)
    controllers.navigation.folded = frozenset()
    open_in(qtbot, controllers, path)
    settle(qtbot, controllers)
    assert shown(panel) == FOLDED
    controllers.navigation.set_current_row(1)
    assert [line.name for line in bench.panel.labels.shown()] == [
        label.name for label in controllers.workspace.labels
    ]
    bench.panel.labels.choose_place(1)  # what the key 2 does
    assert controllers.workspace.project is not None
    given = controllers.workspace.project.annotations([1])[1].label_ids
    assert given == (controllers.workspace.labels[1].id,)
