"""Undo, duplicates, filters, splitting, versions, thresholds and another person's answers, in the panels."""

from __future__ import annotations

import csv
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialogButtonBox, QSpinBox, QWidget
from pytestqt.qtbot import QtBot

from sce_desktop.controllers import review_work
from sce_desktop.controllers.controllers import Controllers
from sce_desktop.controllers.queries import ORDERS, order_by, queue_name
from sce_desktop.controllers.rows_text import cell
from sce_desktop.core.annotations import Decision, Label, Origin
from sce_desktop.core.choices import ExportChoices
from sce_desktop.core.progress import Progress
from sce_desktop.core.query import CellFilter, RowOrder, RowQuery, RowState
from sce_desktop.core.queues import Queue
from sce_desktop.store.project import Project
from sce_desktop.tasks.insight import review
from sce_desktop.tasks.insight.review import acceptable
from sce_desktop.ui.evaluate.agreement_dialog import AgreementDialog
from sce_desktop.ui.evaluate.annotator_dialog import AnnotatorDialog
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.kit.dialog_parts import open_dialog
from sce_desktop.ui.kit.theme import px
from sce_desktop.ui.labels.label_previews import SplitDialog
from sce_desktop.ui.labels.label_sets_dialog import LabelSetsDialog
from sce_desktop.ui.labels.labels_model import LabelsModel
from sce_desktop.ui.rows.accept_dialog import AcceptDialog
from sce_desktop.ui.rows.column_filter import ColumnFilterDialog
from sce_desktop.ui.rows.confidence_menu import ConfidenceMenu
from sce_desktop.ui.rows.filter_bar import FilterBar
from sce_desktop.ui.rows.filter_words import filters_in_words
from sce_desktop.ui.rows.threshold_dialog import ThresholdDialog
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, give_scores, give_yes, open_in, settle
from tests.ui.row_bench import Bench, decided, open_bench, press
from tests.ui.wiring import wired

TEXTS = ("Two days late", "Box crushed", "Two days late", "Driver was kind", "Two days late", "Lost it")


@pytest.fixture
def opened(qtbot: QtBot, controllers: Controllers, make_project: MakeProject) -> Iterator[Bench]:
    path = make_project(texts=TEXTS, labels=LABELS)
    with Project.open(path) as project:
        give_scores(project, [0, 1, 0, 2, 0, 1], share=0.8)
    with open_bench(qtbot, controllers, path, width=700, height=900) as bench:
        yield bench


def test_undo_goes_back_to_the_row_though_a_filter_hides_it(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    press(opened, Qt.Key.Key_1)
    controllers.navigation.set_query(RowQuery(state=RowState.NONE))
    qtbot.waitUntil(lambda: not len(opened.rows.model.ids))
    controllers.edits.undo()
    assert decided(controllers, 1) is None
    qtbot.waitUntil(lambda: len(opened.rows.model.ids) == len(TEXTS))
    assert controllers.navigation.current_row == 1
    controllers.edits.redo()
    assert decided(controllers, 1) == (Decision.LABEL, (controllers.workspace.labels[0].id,))


def test_marks_and_label_edits_are_undone_too(qtbot: QtBot, controllers: Controllers, opened: Bench) -> None:
    press(opened, Qt.Key.Key_F)
    controllers.edits.set_labels(
        [replace(controllers.workspace.labels[0], name="Delayed"), *controllers.workspace.labels[1:]]
    )
    assert controllers.workspace.labels[0].name == "Delayed"
    controllers.edits.undo()
    assert [label.name for label in controllers.workspace.labels] == list(LABELS)
    assert controllers.workspace.project is not None
    assert controllers.workspace.project.marks([1])[1].flag
    controllers.edits.undo()
    assert not controllers.workspace.project.marks([1])
    assert not opened.panel.decision.flag.isChecked()


def test_duplicates_are_decided_alike_when_the_user_says_so(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    controllers.edits.decide([5], Decision.SKIPPED)
    press(opened, Qt.Key.Key_1)
    qtbot.waitUntil(lambda: opened.panel.last.copies.text() == "+1  =")
    assert not opened.panel.last.copies.isHidden()
    assert decided(controllers, 3) is None
    press(opened, Qt.Key.Key_Equal)
    qtbot.waitUntil(lambda: decided(controllers, 3) == decided(controllers, 1))
    settle(qtbot, controllers)
    assert decided(controllers, 5) == (Decision.SKIPPED, ())
    press(opened, Qt.Key.Key_Equal)  # nothing is offered any more
    controllers.edits.undo()
    assert decided(controllers, 3) is None
    assert decided(controllers, 1) is not None


def test_duplicates_are_not_waited_for(qtbot: QtBot, controllers: Controllers, opened: Bench) -> None:
    press(opened, Qt.Key.Key_1)
    press(opened, Qt.Key.Key_Equal)  # before they are known
    assert decided(controllers, 3) is None
    qtbot.waitUntil(lambda: decided(controllers, 5) is not None)
    assert decided(controllers, 3) == decided(controllers, 5) == decided(controllers, 1)
    settle(qtbot, controllers)
    controllers.edits.undo()
    assert decided(controllers, 3) is decided(controllers, 5) is None
    press(opened, Qt.Key.Key_1)
    opened.panel.last.clear()  # the moment is over before they are known
    press(opened, Qt.Key.Key_Equal)
    settle(qtbot, controllers)
    assert decided(controllers, 5) is None


def test_the_queue_of_a_decision_is_kept(controllers: Controllers, opened: Bench) -> None:
    queue = order_by(controllers.navigation.query, RowOrder.RARE, controllers.workspace.runs)
    assert queue is not None
    controllers.navigation.set_query(queue)
    controllers.edits.decide([2], Decision.SKIPPED)
    assert controllers.workspace.project is not None
    assert controllers.workspace.project.annotations([2])[2].queue == Queue.RARE_LABEL
    names = {queue_name(RowQuery(order=order, run_id=1, compare=(1, 2))) for _, order, _ in ORDERS}
    assert names >= {queue.value for queue in Queue}


def test_predictions_are_accepted_after_a_look(qtbot: QtBot, controllers: Controllers, opened: Bench) -> None:
    controllers.edits.decide([1], Decision.SKIPPED)
    dialog = wired(AcceptDialog, controllers)()
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.confidence.setValue(81)
    qtbot.waitUntil(lambda: dialog.preview is not None)
    ok = dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)
    assert not ok.isEnabled()
    assert "Choose a lower minimum" in dialog.facts.text()
    dialog.confidence.setValue(80)
    qtbot.waitUntil(ok.isEnabled)
    assert ok.text() == "Accept 5 rows"
    assert dialog.examples.topLevelItemCount() == 5
    with qtbot.waitSignal(dialog.accepted):
        dialog.accept()
    assert decided(controllers, 6) == (Decision.LABEL, (controllers.workspace.labels[1].id,))
    controllers.edits.undo()
    assert decided(controllers, 6) is None


def test_a_split_sends_its_rows_to_a_queue(qtbot: QtBot, controllers: Controllers, opened: Bench) -> None:
    late = controllers.workspace.labels[0]
    controllers.edits.decide([1, 3], Decision.LABEL, [late.id or 0])
    dialog = wired(SplitDialog, controllers)(late)
    qtbot.addWidget(dialog)
    qtbot.waitUntil(lambda: "2 rows (2 by hand)" in dialog.facts.text())
    dialog.parts.setPlainText("Late by days\nDamaged")
    dialog.accept()
    assert "“Damaged” already exists" in dialog.problem.text()
    dialog.parts.setPlainText("Late by days\n\nLate by hours\n")
    dialog.accept()
    assert [label.name for label in controllers.workspace.labels] == [
        "Late by days",
        "Late by hours",
        *LABELS[1:],
    ]
    assert all(label.colour for label in controllers.workspace.labels[:2])
    qtbot.waitUntil(lambda: list(opened.rows.model.ids) == [1, 3])
    controllers.edits.undo()
    assert decided(controllers, 3) == (Decision.LABEL, (late.id,))


def test_an_earlier_version_of_the_labels_is_used_again(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    controllers.edits.set_labels(controllers.workspace.labels[:2])
    dialog = wired(LabelSetsDialog, controllers)()
    qtbot.addWidget(dialog)
    found = [dialog.list.topLevelItem(place) for place in range(dialog.list.topLevelItemCount())]
    assert [item.text(1) for item in found if item is not None] == ["2, in use", "1"]
    dialog.list.setCurrentItem(found[1])  # type: ignore[arg-type]
    dialog.accept()
    assert [label.name for label in controllers.workspace.labels] == list(LABELS)
    other = wired(LabelSetsDialog, controllers)()
    qtbot.addWidget(other)
    other.add_set("Second try")
    assert controllers.workspace.label_set is not None
    assert (controllers.workspace.label_set.name, len(controllers.workspace.labels)) == ("Second try", 3)


def test_a_version_says_which_answers_it_hides_before_it_is_used(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    controllers.edits.set_labels(
        [*controllers.workspace.labels, Label("Lost"), Label("Found")], multi_label=True
    )
    late, damaged, _, lost, found = (label.id or 0 for label in controllers.workspace.labels)
    controllers.edits.decide([1, 2], Decision.LABEL, [lost])
    controllers.edits.decide([4], Decision.LABEL, [late, damaged, lost, found])
    dialog = wired(LabelSetsDialog, controllers)()
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(dialog.use.isEnabled)
    assert dialog.list.currentItem().text(1) == "2, in use"
    assert dialog.effect.text() == ""
    first = dialog.list.topLevelItem(1)
    assert first is not None
    dialog.list.setCurrentItem(first)
    assert not dialog.use.isEnabled()  # until it is known
    hidden = (
        "3 rows have labels that this version lacks. They are hidden until you return to the version in "
        "use now."
    )
    qtbot.waitUntil(lambda: dialog.effect.text() != "")
    several = "This version allows one label per row. 1 row has several labels: reduce it to one label first."
    assert dialog.effect.text() == f"{several} {hidden}"
    assert not dialog.use.isEnabled()
    controllers.edits.decide([4], Decision.LABEL, [late, found])
    dialog.list.setCurrentItem(dialog.list.topLevelItem(0))
    dialog.list.setCurrentItem(first)
    qtbot.waitUntil(lambda: dialog.effect.text() == hidden)
    dialog.list.itemDoubleClicked.emit(first, 0)  # what is said there is to be read first
    assert len(controllers.workspace.labels) == 5
    dialog.use.click()
    assert [label.name for label in controllers.workspace.labels] == list(LABELS)
    assert decided(controllers, 1) is None
    again = wired(LabelSetsDialog, controllers)()
    qtbot.addWidget(again)
    again.show()
    assert again.list.currentItem().text(1) == "1, in use"
    again.list.setCurrentItem(again.list.topLevelItem(0))
    qtbot.waitUntil(again.use.isEnabled)
    assert again.effect.text() == ""
    again.use.click()
    assert decided(controllers, 1) == (Decision.LABEL, (lost,))


def test_the_threshold_says_what_it_gives(qtbot: QtBot, controllers: Controllers, opened: Bench) -> None:
    controllers.edits.decide([1], Decision.LABEL, [controllers.workspace.labels[0].id or 0])
    controllers.edits.decide([2], Decision.LABEL, [controllers.workspace.labels[0].id or 0])
    dialog = wired(ThresholdDialog, controllers)()
    qtbot.addWidget(dialog)
    dialog.slider.setValue(70)
    qtbot.waitUntil(lambda: "100%" in dialog.coverage.text())
    assert "50% (" in dialog.precision.text()
    dialog.spin.setValue(90)
    assert "0 of 6" in dialog.coverage.text()
    assert "unknown" in dialog.precision.text()
    dialog.accept()
    model = opened.rows.model
    row = model.row_at(0)
    assert row is not None
    assert cell(row, 3, model.labels, model.runs, model.threshold).endswith("low confidence")


def test_the_threshold_cuts_nothing_off(
    qtbot: QtBot, controllers: Controllers, theme: Theme, opened: Bench
) -> None:
    controllers.edits.decide([1, 2], Decision.LABEL, [controllers.workspace.labels[0].id or 0])
    dialog = open_dialog(wired(ThresholdDialog, controllers)(opened))
    qtbot.waitUntil(lambda: "scored rows" in dialog.coverage.text())
    dialog.spin.setValue(70)
    qtbot.waitUntil(lambda: dialog.precision.text() != "")
    buttons = dialog.findChild(QDialogButtonBox)
    for part in (dialog.coverage, dialog.precision, buttons):
        assert isinstance(part, QWidget)
        qtbot.waitUntil(lambda part=part: part.height() >= part.heightForWidth(part.width()))  # type: ignore[misc]
        assert part.height() >= part.minimumSizeHint().height()
    assert buttons is not None
    assert buttons.geometry().bottom() < dialog.height()
    dialog.reject()


def exported(qtbot: QtBot, controllers: Controllers, path: Path) -> list[dict[str, str]]:
    job = controllers.projects.export_table(ExportChoices(path))
    assert job is not None
    with qtbot.waitSignal(job.finished):
        pass
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_numbers_beside_a_slider_stand_away_from_the_frame(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    for parent in (wired(ThresholdDialog, controllers)(opened), ConfidenceMenu(opened)):
        (spin,) = parent.findChildren(QSpinBox)
        assert spin.lineEdit().textMargins().left() >= px(6)
        parent.deleteLater()


def test_one_label_that_does_not_fit_is_none_of_these_everywhere(
    qtbot: QtBot, controllers: Controllers, opened: Bench, make_project: MakeProject, tmp_path: Path
) -> None:
    path = make_project("one", texts=TEXTS, labels=("Sports",))
    with Project.open(path) as project:
        give_yes(project, [0.01, 0.9, 0.49, 0.5, 0.2, 0.1])
    labels = wired(LabelsModel, controllers)()
    open_in(qtbot, controllers, path)
    settle(qtbot, controllers)
    model = opened.rows.model
    shown = [cell(model.row_at(n), 3, model.labels, model.runs) for n in range(6)]  # type: ignore[arg-type]
    assert shown == [
        "None of these",
        "Sports, 90%",
        "None of these",
        "None of these",
        *["None of these"] * 2,
    ]
    sports = controllers.workspace.labels[0]
    assert labels.counts(sports) == (0, 1)
    controllers.navigation.set_query(
        RowQuery(run_id=controllers.workspace.runs[0].id, predicted_ids=(sports.id or 0,))
    )
    qtbot.waitUntil(lambda: model.ids.tolist() == [2])
    controllers.navigation.set_query(RowQuery())
    qtbot.waitUntil(lambda: len(model.ids) == 6)
    controllers.navigation.set_current_row(1)
    assert opened.panel.decision.accept.text() == "Accept None of these ⏎"
    press(opened, Qt.Key.Key_Return)
    assert decided(controllers, 1) == (Decision.NONE, ())
    assert opened.panel.decision.accept.accessibleName() == "Accept Sports"
    rows = exported(qtbot, controllers, tmp_path / "out.csv")
    assert [(row["sce_label"], row["sce_status"]) for row in rows[:3]] == [
        ("Sports", "none"),  # the most probable label, and that it does not fit
        ("Sports", "scored"),
        ("Sports", "none"),
    ]
    found = acceptable(controllers.workspace.project, controllers.workspace.runs[0], RowQuery(), 0.0)  # type: ignore[arg-type]
    assert found.row_ids.tolist() == [2]


def test_the_threshold_is_the_projects(
    qtbot: QtBot, controllers: Controllers, opened: Bench, make_project: MakeProject, tmp_path: Path
) -> None:
    assert controllers.workspace.project is not None
    path = controllers.workspace.project.path
    controllers.edits.set_threshold(0.9)

    def statuses() -> set[str]:
        return {row["sce_status"] for row in exported(qtbot, controllers, tmp_path / "out.csv")}

    assert statuses() == {"unsure"}
    other = make_project("other", texts=("one",), labels=LABELS)
    open_in(qtbot, controllers, other)
    assert (controllers.workspace.threshold, opened.rows.model.threshold) == (0.0, 0.0)
    open_in(qtbot, controllers, path)
    assert controllers.workspace.threshold == 0.9
    controllers.edits.set_threshold(0.0)
    assert statuses() == {"scored"}


def test_rows_are_filtered_by_a_column(qtbot: QtBot, controllers: Controllers, opened: Bench) -> None:
    dialog = wired(ColumnFilterDialog, controllers)()
    qtbot.addWidget(dialog)
    assert dialog.column.currentText() == "ref"
    qtbot.waitUntil(lambda: dialog.values.list.topLevelItemCount() == len(TEXTS))
    item = dialog.values.list.topLevelItem(4)
    assert item is not None
    dialog.all.click()
    assert not dialog.ok.isEnabled()  # nothing is checked
    item.setCheckState(0, Qt.CheckState.Checked)
    dialog.accept()
    assert controllers.navigation.query.cells == (CellFilter(0, (item.text(0),)),)
    qtbot.waitUntil(lambda: len(opened.rows.model.ids) == 1)
    assert filters_in_words(controllers.navigation.query, controllers.workspace.labels, ("ref", "text")) == [
        f"ref: {item.text(0)}"
    ]


def test_duplicates_have_a_filter(qtbot: QtBot, controllers: Controllers, opened: Bench) -> None:
    bar = wired(FilterBar, controllers)()
    qtbot.addWidget(bar)
    next(action for action in bar.more_menu().actions() if action.text() == "Duplicates").trigger()
    qtbot.waitUntil(lambda: list(opened.rows.model.ids) == [1, 3, 5])
    assert bar.more.accessibleDescription() == "Duplicates"


def test_answers_of_another_person_show_where_both_differ(
    qtbot: QtBot, controllers: Controllers, opened: Bench, tmp_path: Path
) -> None:
    path = tmp_path / "Ada.csv"
    path.write_text("ref,label\n0,Late\n1,Late\n3,Praise\n", encoding="utf-8")
    late, damaged, _ = (label.id or 0 for label in controllers.workspace.labels)
    controllers.edits.decide([1], Decision.LABEL, [late])
    controllers.edits.decide([2], Decision.LABEL, [damaged])
    dialog = wired(AnnotatorDialog, controllers)(path)
    qtbot.addWidget(dialog)
    dialog.show()
    ok = dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)
    qtbot.waitUntil(ok.isEnabled)
    assert (dialog.our_key.currentText(), dialog.their_key.currentText()) == ("ref", "ref")
    assert dialog.their_label.currentText() != "ref"  # keys are no labels
    dialog.their_label.setCurrentText("label")
    slow = 60_000  # scikit-learn is imported
    with (
        qtbot.waitSignal(dialog.accepted, timeout=slow),
        qtbot.waitSignal(controllers.messages.notified, timeout=slow) as told,
    ):
        dialog.accept()
    assert "agree on" in told.args[0]
    qtbot.waitUntil(lambda: list(opened.rows.model.ids) == [2])
    qtbot.waitUntil(lambda: controllers.navigation.current_row == 2)
    assert opened.panel.others.isVisible()
    assert opened.panel.others.text().endswith(f": {LABELS[0]}")
    controllers.preferences.change_setting("blind", True)
    assert not opened.panel.others.isVisible()
    controllers.preferences.change_setting("blind", False)
    controllers.edits.decide([2], Decision.LABEL, [late])  # adjudicated
    opened.rows.refresh()
    qtbot.waitUntil(lambda: not len(opened.rows.model.ids))


def test_agreement_is_shown_and_leads_to_the_rows(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    assert controllers.workspace.project is not None
    late, lost = controllers.workspace.labels[0], controllers.workspace.labels[1]
    controllers.edits.decide([1, 2], Decision.LABEL, [late.id or 0])
    controllers.workspace.project.add_coder("Ann", "ann.csv", {1: late.name, 2: lost.name, 4: lost.name})
    dialog = wired(AgreementDialog, controllers)()
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.list.topLevelItemCount() == 1, timeout=60_000)  # scikit-learn is imported
    item = dialog.list.topLevelItem(0)
    assert item is not None
    assert [item.text(column) for column in range(4)] == ["Ann", "3", "2", "50%"]
    assert "agree on 50% of 2 rows" in dialog.sentence.text()
    dialog.show_button.click()
    qtbot.waitUntil(lambda: list(opened.rows.model.ids) == [2])
    dialog = wired(AgreementDialog, controllers)()
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.remove_button.isEnabled())
    dialog.remove_button.click()
    qtbot.waitUntil(lambda: "No other annotator" in dialog.sentence.text())
    assert controllers.workspace.project.coders() == ()
    controllers.edits.undo()
    assert [coder.name for coder in controllers.workspace.project.coders()] == ["Ann"]


def test_what_was_accepted_in_bulk_is_no_agreement_of_the_user(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    assert controllers.workspace.project is not None
    late, lost = controllers.workspace.labels[0], controllers.workspace.labels[1]
    controllers.edits.decide([1], Decision.LABEL, [late.id or 0])
    controllers.edits.decide([3, 5], Decision.LABEL, [late.id or 0], origin=Origin.BULK)
    controllers.workspace.project.add_coder("gold", "column gold", {1: lost.name, 3: late.name, 5: late.name})
    dialog = wired(AgreementDialog, controllers)()
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.list.topLevelItemCount() == 2, timeout=60_000)  # scikit-learn is imported
    hand, bulk = (dialog.list.topLevelItem(place) for place in range(2))
    assert hand is not None
    assert bulk is not None
    assert [hand.text(at) for at in range(4)] == ["gold: labelled by you", "3", "1", "0%"]
    assert [bulk.text(at) for at in range(4)] == ["gold: labelled in bulk", "", "2", "100%"]
    assert "You and gold agree on 0% of 1 row." in dialog.sentence.text()
    dialog.list.setCurrentItem(bulk)
    assert "Your labels in bulk and gold agree on 100% of 2 rows." in dialog.sentence.text()
    dialog.show_button.click()
    qtbot.waitUntil(lambda: list(opened.rows.model.ids) == [1])


def test_similar_rows_need_vectors(qtbot: QtBot, controllers: Controllers, opened: Bench) -> None:
    with qtbot.waitSignal(controllers.messages.notified) as told:
        controllers.review.show_similar(1)
    assert told.args[0] == review_work.NOT_READY  # nothing was loaded


def test_a_decision_about_chosen_rows_is_of_no_queue(controllers: Controllers, opened: Bench) -> None:
    controllers.navigation.show_ids([4, 2])
    controllers.edits.decide([2], Decision.SKIPPED)
    assert controllers.workspace.project is not None
    assert controllers.workspace.project.annotations([2])[2].queue == "chosen rows"


def test_the_parts_of_a_label_get_colours_of_their_own(controllers: Controllers, opened: Bench) -> None:
    assert controllers.edits.split_label(
        controllers.workspace.labels[0].id or 0, [Label("one"), Label("two")]
    )
    colours = [label.colour for label in controllers.workspace.labels]
    assert len(colours) == len(set(colours)) == len(LABELS) + 1


def test_a_dialog_that_is_done_hears_no_more_of_its_job(
    qtbot: QtBot, controllers: Controllers, opened: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, stopped = threading.Event(), threading.Event()

    def never(*_: object, progress: Progress, **_keywords: object) -> None:
        begun.set()
        try:
            while True:
                progress.check()
        finally:
            stopped.set()

    monkeypatch.setattr(review, "column_values", never)
    dialog = open_dialog(wired(ColumnFilterDialog, controllers)())
    qtbot.waitUntil(begun.is_set)
    with qtbot.waitSignal(dialog.destroyed):
        dialog.reject()
    qtbot.waitUntil(stopped.is_set)


def test_agreement_with_oneself_is_a_line_and_leads_to_its_rows(
    qtbot: QtBot, controllers: Controllers, opened: Bench
) -> None:
    assert controllers.workspace.project is not None
    late, lost = (label.id or 0 for label in controllers.workspace.labels[:2])
    controllers.edits.decide([1, 2], Decision.LABEL, [late])
    controllers.edits.add_repeat(1, [late])
    controllers.edits.add_repeat(2, [lost])
    dialog = wired(AgreementDialog, controllers)()
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.list.topLevelItemCount() == 1, timeout=60_000)  # scikit-learn is imported
    item = dialog.list.topLevelItem(0)
    assert item is not None
    assert [item.text(column) for column in range(4)] == ["You (repeat)", "2", "2", "50%"]
    assert "2 repeated rows the same label in 50% of cases (1 to 99%)" in dialog.sentence.text()
    assert not dialog.remove_button.isEnabled()  # each is undone by itself
    dialog.show_button.click()
    qtbot.waitUntil(lambda: list(opened.rows.model.ids) == [2])
