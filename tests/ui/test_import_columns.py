"""The columns chosen in the import dialog: text, labels, gold labels, our own that come back."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Decision, Label, Origin
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.project import Project
from sce_desktop.tasks.tables.tables import export_table
from tests.ui.conftest import MakeProject
from tests.ui.import_bench import check, choose, column, imported, parcels_fixture, settle, show  # noqa: F401


def test_several_text_columns_are_joined(qtbot: QtBot, controllers: Controllers, parcels: Path) -> None:
    dialog = show(qtbot, controllers, parcels)
    check(dialog, 1, 2)
    settle(qtbot, dialog)
    assert dialog.columns.joined.text().startswith("2 columns")
    project = imported(qtbot, controllers, dialog)
    assert project.texts([1]) == ["Two days late\nLate"]


def test_without_a_text_column_there_is_no_import(
    qtbot: QtBot, controllers: Controllers, parcels: Path
) -> None:
    dialog = show(qtbot, controllers, parcels)
    check(dialog)
    assert not dialog.import_button.isEnabled()
    assert dialog.problem.text() == "Choose the text column."


def test_a_label_column_becomes_imported_annotations(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    """The header and the names are taken as they stand. As typed unless told to merge."""
    path = tmp_path / "a.csv"
    path.write_text("text, label \na,Billing\nb,billing \nc,BILLING\nd,Refund\n", encoding="utf-8")
    dialog = show(qtbot, controllers, path)
    choose(dialog.columns.label_column, 1)
    choose(dialog.columns.use, False)
    settle(qtbot, dialog)
    assert dialog.columns.merge.isVisible()
    assert "“Billing”, “billing ” and “BILLING”" in dialog.columns.alike.text()
    project = imported(qtbot, controllers, dialog)
    assert [label.name for label in controllers.workspace.labels] == [
        "Billing",
        "billing ",
        "BILLING",
        "Refund",
    ]
    assert {a.origin for a in project.annotations([1, 2, 3, 4]).values()} == {Origin.IMPORTED}


LISTS = """text,tags,mood
a,"[""Desire"", ""Disgust""]",x
b,"[""Disgust""]",x
c,[],y
d,,y
e,Joy,y
"""


def test_lists_of_labels_are_taken_apart(qtbot: QtBot, controllers: Controllers, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(LISTS, encoding="utf-8")
    dialog = show(qtbot, controllers, path)
    choose(dialog.columns.label_column, 2)
    settle(qtbot, dialog)
    assert not dialog.columns.several.isVisible()
    choose(dialog.columns.label_column, 1)
    settle(qtbot, dialog)
    assert dialog.columns.several.isVisible()
    assert dialog.columns.several.isChecked()
    told = "\n".join(dialog.facts.texts())
    assert "The label column has lists of labels: a row may have several." in told
    assert "3 labels: “Desire” 1, “Disgust” 2 and “Joy” 1" in told
    project = imported(qtbot, controllers, dialog)
    assert controllers.workspace.label_set is not None
    assert controllers.workspace.label_set.multi_label
    assert [label.name for label in controllers.workspace.labels] == ["Desire", "Disgust", "Joy"]
    desire, disgust, joy = (label.id for label in controllers.workspace.labels)
    found = project.annotations([1, 2, 3, 4, 5])
    assert {row: a.label_ids for row, a in found.items()} == {
        1: (desire, disgust),
        2: (disgust,),
        3: (),
        5: (joy,),
    }
    assert found[3].decision is Decision.NONE
    assert {a.origin for a in found.values()} == {Origin.IMPORTED}


def test_lists_of_labels_can_be_left_as_they_stand(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(LISTS, encoding="utf-8")
    dialog = show(qtbot, controllers, path)
    choose(dialog.columns.label_column, 1)
    settle(qtbot, dialog)
    dialog.columns.several.click()
    assert dialog.columns.several.isVisible()
    settle(qtbot, dialog)
    assert dialog.columns.several.isVisible()
    told = "\n".join(dialog.facts.texts())
    assert "each list is one label" in told
    assert "4 labels" in told
    imported(qtbot, controllers, dialog)
    assert controllers.workspace.label_set is not None
    assert not controllers.workspace.label_set.multi_label
    assert controllers.workspace.labels[0].name == '["Desire", "Disgust"]'


@pytest.mark.parametrize("as_gold", [False, True])
def test_lists_of_labels_come_with_added_rows(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path, as_gold: bool
) -> None:
    path, more = tmp_path / "a.csv", tmp_path / "more.csv"
    path.write_text("text,tags,mood\nz,,x\n", encoding="utf-8")
    more.write_text(LISTS, encoding="utf-8")
    project = imported(qtbot, controllers, show(qtbot, controllers, path))
    dialog = show(qtbot, controllers, more, append=True)
    choose(dialog.columns.label_column, 1)
    choose(dialog.columns.use, as_gold)
    settle(qtbot, dialog)
    assert dialog.columns.several.isVisible()
    with qtbot.waitSignal(controllers.workspace.rowsChanged):
        dialog.accept()
    assert controllers.workspace.label_set is not None
    assert controllers.workspace.label_set.multi_label
    ids = {label.name: label.id for label in controllers.workspace.labels}
    assert set(ids) == {"Desire", "Disgust", "Joy"}
    if as_gold:
        (gold,) = project.coders()
        assert project.coder_answers(gold.id)[2] == {ids["Desire"], ids["Disgust"]}
    else:
        assert project.annotations([2])[2].label_ids == (ids["Desire"], ids["Disgust"])


def test_names_from_right_to_left_move_no_count(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    path = tmp_path / "arabic.csv"
    path.write_text("text,label\n" + "a,شكوى\nb,شكوى\nc,سؤال\nd,Late\n", encoding="utf-8")
    dialog = show(qtbot, controllers, path)
    choose(dialog.columns.label_column, 1)
    settle(qtbot, dialog)
    (said,) = [text for text in dialog.facts.texts() if "3 labels" in text]
    # each name is isolated: without that the bidi algorithm draws its count among the other name's letters
    assert said == "3 labels: “\u2068شكوى\u2069” 2, “\u2068سؤال\u2069” 1 and “Late” 1."
    assert "The labels are in Arabic, which sce-mini cannot read." in dialog.facts.texts()


def test_a_label_column_becomes_right_answers(qtbot: QtBot, controllers: Controllers, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,label\na,Billing\nb,\nc,Refund\n", encoding="utf-8")
    dialog = show(qtbot, controllers, path)
    choose(dialog.columns.label_column, None)
    assert not dialog.columns.use.isVisible()
    choose(dialog.columns.label_column, 1)
    settle(qtbot, dialog)
    assert "Rows stay unlabelled" in dialog.columns.use_words.text()
    choose(dialog.columns.use, False)
    assert "marked as imported" in dialog.columns.use_words.text()
    choose(dialog.columns.use, True)
    assert "Rows stay unlabelled" in dialog.columns.use_words.text()
    project = imported(qtbot, controllers, dialog)
    assert [label.name for label in controllers.workspace.labels] == ["Billing", "Refund"]
    assert project.annotations([1, 2, 3]) == {}
    (gold,) = project.coders()
    assert (gold.name, gold.source, gold.rows) == ("gold", "column label", 2)
    path.write_text("text,label\nd,Other\n", encoding="utf-8")
    more = show(qtbot, controllers, path, append=True)
    choose(more.columns.label_column, 1)
    choose(more.columns.use, True)
    settle(qtbot, more)
    with qtbot.waitSignal(controllers.workspace.rowsChanged):
        more.accept()
    (gold,) = project.coders()
    billing, refund, other = (label.id for label in controllers.workspace.labels)
    assert project.coder_answers(gold.id) == {1: {billing}, 3: {refund}, 4: {other}}


@pytest.mark.parametrize("name", ["gold", "Expected label", "y_true", "annotation", "class"])
def test_a_full_column_named_like_gold_leaves_the_rows_to_review(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"id,message,{name}\n1,Came late,Late\n2,All fine,Fine\n3,Late again,Late\n4,?,\n")
    dialog = show(qtbot, controllers, path)
    columns = dialog.columns
    assert (columns.label, columns.use.currentText()) == (2, "As gold labels (for evaluation)")
    assert columns.use_words.isVisible()  # what that means is told before anything is imported
    assert columns.use_words.text() == (
        "Rows stay unlabelled. The gold label appears after you label a row. Used in Evaluate and Agreement."
    )
    project = imported(qtbot, controllers, dialog)
    assert project.annotations([1, 2, 3, 4]) == {}
    (gold,) = project.coders()
    assert gold.rows == 3


def test_a_column_that_somebody_has_begun_is_offered_as_annotations(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("message,label,gold\nCame late,Late,Late\nAll fine,,Fine\nLate again,,Late\nOdd,,Fine\n")
    dialog = show(qtbot, controllers, path)
    columns = dialog.columns
    choose(columns.label_column, 1)
    assert columns.use.currentText() == "As your annotations"
    assert columns.use_words.text() == (
        "Used as the rows' labels, marked as imported. Only rows without a label are left to review."
    )
    choose(columns.label_column, 2)
    assert columns.use.currentText() == "As gold labels (for evaluation)"
    choose(columns.use, False)  # said by hand: it holds
    choose(columns.label_column, None)
    assert not columns.use.isVisible()
    choose(columns.label_column, 1)
    settle(qtbot, dialog)
    project = imported(qtbot, controllers, dialog)
    assert list(project.annotations([1, 2, 3, 4])) == [1]


def test_labels_that_look_alike_are_merged_if_wanted(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    """As typed unless told to merge."""
    path = tmp_path / "a.csv"
    path.write_text("text,label\na,Billing\nb,billing \nc,BILLING\nd,Refund\n", encoding="utf-8")
    dialog = show(qtbot, controllers, path)
    choose(dialog.columns.label_column, 1)
    choose(dialog.columns.use, False)
    settle(qtbot, dialog)
    dialog.columns.merge.setChecked(True)
    project = imported(qtbot, controllers, dialog)
    qtbot.waitUntil(lambda: [label.name for label in controllers.workspace.labels] == ["Billing", "Refund"])
    billing = controllers.workspace.labels[0].id
    assert [project.annotations([row])[row].label_ids for row in (1, 2, 3)] == [(billing,)] * 3


def test_our_own_export_comes_back(
    qtbot: QtBot, controllers: Controllers, make_project: MakeProject, tmp_path: Path
) -> None:
    out = tmp_path / "again.csv"
    with Project.open(make_project(labels=("Late", "Damaged"))) as project:
        late = project.label_set().labels[0].id  # type: ignore[union-attr]
        project.decide([1], Decision.LABEL, [late])  # type: ignore[list-item]
        project.set_marks(4, flag=True)
        export_table(project, out, progress=SilentProgress())
    dialog = show(qtbot, controllers, out)
    assert dialog.columns.take_back.isVisible()
    assert dialog.columns.take_back.isChecked()
    assert dialog.columns.text_list.count() == 2
    assert dialog.columns.label is None  # no column is gold unless one is chosen
    project = imported(qtbot, controllers, dialog)
    assert project.columns == ("ref", "text")
    assert project.coders() == ()
    assert project.annotations([1])[1].origin is Origin.HAND
    assert project.marks([4])[4].flag


def test_a_column_is_gold_beside_our_own_that_come_back(
    qtbot: QtBot, controllers: Controllers, tmp_path: Path
) -> None:
    out = tmp_path / "again.csv"
    with Project.create(tmp_path / "p.sce") as project:
        rows = [("one", "Late"), ("two", "Lost"), ("three", "")]
        project.add_rows(("text", "topic"), [rows], text_columns=[0], source={})
        project.set_labels([Label("Late"), Label("Damaged")])
        project.decide([1], Decision.LABEL, [2])
        export_table(project, out, progress=SilentProgress())
    dialog = show(qtbot, controllers, out)
    check(dialog, 0)
    columns = dialog.columns
    assert columns.label_words.text() == "Gold labels"
    items = [columns.label_column.itemText(place) for place in range(columns.label_column.count())]
    assert items == ["None", "text", "topic"]
    choose(columns.label_column, 1)
    settle(qtbot, dialog)
    assert columns.use_words.text().startswith("Rows stay unlabelled")
    assert not columns.use.isVisible()
    columns.take_back.setChecked(False)
    assert columns.label_column.count() > 3
    columns.take_back.setChecked(True)
    assert columns.label is None
    choose(columns.label_column, 1)
    settle(qtbot, dialog)
    project = imported(qtbot, controllers, dialog)
    assert [label.name for label in controllers.workspace.labels] == ["Damaged", "Late", "Lost"]
    ids = {label.name: label.id or 0 for label in controllers.workspace.labels}
    assert project.annotations([1])[1].label_ids == (ids["Damaged"],)
    (gold,) = project.coders()
    assert project.coder_answers(gold.id) == {1: {ids["Late"]}, 2: {ids["Lost"]}}
