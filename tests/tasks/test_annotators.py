from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sklearn.metrics import cohen_kappa_score

from sce_desktop.core.annotations import Decision, Label, Origin
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.query import RowQuery
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation.annotators import agreements, column_as_annotator, import_annotator
from sce_desktop.tasks.tables.export import export_table
from tests.tasks.fakes import StoppingProgress

ROWS = [("A_1/é", "one", "Billing"), ("a_1/é", "two", ""), ("B", "three", "Other"), ("", "four", "Other")]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with Project.create(tmp_path / "p.sce") as project:
        project.add_rows(("ref", "text", "gold"), [ROWS], text_columns=[1], source={})
        project.set_labels([Label("Billing"), Label("Other")])
        project.decide([1, 3], Decision.LABEL, [1])
        yield project


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_answers_find_their_rows_by_key(project: Project, tmp_path: Path) -> None:
    table = write(tmp_path / "ann.csv", "id,said", "B,Other", "a_1/é,New", "Z,Other", "A_1/é,", ",Other")
    progress = SilentProgress()
    found = import_annotator(project, table, "id", "said", "Ann", progress, own_key="ref")
    assert (found.coder.name, found.coder.source, found.coder.rows) == ("Ann", "ann.csv", 2)
    assert (found.unknown, found.repeated) == (2, 0)
    assert progress.warnings[0].startswith("2 keys were excluded: no row")
    assert project.coder_answers(found.coder.id) == {2: {"New"}, 3: {2}}
    assert project.row_ids(RowQuery(disagreeing=(0, found.coder.id))).tolist() == [3]
    assert project.undo_text() == "Add labels of Ann"


def test_keys_that_name_several_rows_are_left_out_and_told(project: Project, tmp_path: Path) -> None:
    progress = SilentProgress()
    twice = write(tmp_path / "twice.csv", "ref,said", "B,Other", "B,Billing", "A_1/é,Other")
    found = import_annotator(project, twice, "ref", "said", "Ann", progress)
    assert (found.unknown, found.repeated) == (0, 1)
    assert progress.warnings[0] == "1 key was excluded: it occurs more than once."
    assert project.coder_answers(found.coder.id) == {1: {2}}
    table = write(tmp_path / "gold.csv", "gold,said", "Other,Other", "Billing,Other")
    found = import_annotator(project, table, 0, 1, "Bob", progress, own_key=2)
    assert found.repeated == 1
    assert project.coder_answers(found.coder.id) == {1: {2}}


def test_what_fits_nothing_is_reported(project: Project, tmp_path: Path) -> None:
    table = write(tmp_path / "ann.csv", "ref,said", "Z,Other")
    with pytest.raises(UserError, match="No key in the file matches a row"):
        import_annotator(project, table, "ref", "said", "Ann", SilentProgress())
    with pytest.raises(UserError, match=r"no column “Said”\. Did you mean “said”"):
        import_annotator(project, table, "ref", "Said", "Ann", SilentProgress())
    with pytest.raises(Cancelled):
        import_annotator(project, table, "ref", "said", "Ann", StoppingProgress(1))
    assert project.coders() == ()


@pytest.mark.parametrize("multi_label", [False, True])
def test_export_of_another_person_brings_all_answers(
    project: Project, tmp_path: Path, multi_label: bool
) -> None:
    label_set = project.label_set()
    assert label_set is not None
    with Project.create(tmp_path / "hers.sce") as hers:
        hers.add_rows(("ref", "text", "gold"), [ROWS], text_columns=[1], source={})
        hers.set_labels([Label("Other"), Label("Billing")], multi_label=multi_label)
        hers.decide([1], Decision.NONE)
        hers.decide([2], Decision.SKIPPED)
        hers.decide([3], Decision.LABEL, [1, 2] if multi_label else [1])
        export_table(hers, tmp_path / "hers.csv", progress=SilentProgress())
    project.set_labels(label_set.labels, multi_label=multi_label)
    found = import_annotator(project, tmp_path / "hers.csv", "ref", "label", "Her", SilentProgress())
    answers = project.coder_answers(found.coder.id)
    assert answers == {1: frozenset(), 3: frozenset({1, 2} if multi_label else {2})}


def test_several_answers_are_a_json_list_where_several_may_fit(project: Project, tmp_path: Path) -> None:
    label_set = project.label_set()
    assert label_set is not None
    table = write(tmp_path / "ann.csv", "ref;said", 'B;["Other", "Billing"]', "A_1/é;[", "a_1/é;[]")
    one = import_annotator(project, table, "ref", "said", "Ann", SilentProgress())
    assert project.coder_answers(one.coder.id)[3] == {'["Other", "Billing"]'}
    project.set_labels(label_set.labels, multi_label=True)
    several = import_annotator(project, table, "ref", "said", "Bob", SilentProgress())
    assert project.coder_answers(several.coder.id) == {2: frozenset(), 3: {1, 2}}


def test_column_of_right_answers(project: Project) -> None:
    coder = column_as_annotator(project, "gold", SilentProgress())
    assert (coder.name, coder.source) == ("gold", "column gold")
    assert project.coder_answers(coder.id) == {1: {1}, 3: {2}, 4: {2}}
    assert project.annotations([4]) == {}
    with pytest.raises(UserError, match="already"):
        column_as_annotator(project, "gold", SilentProgress())


def test_agreement_with_the_user_in_figures_and_words(project: Project, tmp_path: Path) -> None:
    assert agreements(project, SilentProgress()) == []
    project.decide([2], Decision.LABEL, [2])
    project.decide([4], Decision.NONE)
    table = write(
        tmp_path / "ann.csv", "text,said", "one,Billing", "two,Billing", "three,Billing", "four,Strange"
    )
    coder = import_annotator(project, table, "text", "said", "Ann", SilentProgress()).coder
    (found,) = agreements(project, SilentProgress())
    assert found.coder == coder
    assert (found.agreement.rows, found.agreement.same) == (4, 0.5)
    assert found.agreement.kappa == pytest.approx(cohen_kappa_score([0, 1, 0, 2], [0, 0, 0, 3]))
    assert found.unknown == {"Strange": 1}
    assert found.sentence.startswith("You and Ann agree on 50% of 4 rows. Cohen's kappa ")
    assert project.answers_of_others(2) == [("Ann", {1})]
    assert project.answers_of_others(4) == [("Ann", {"Strange"})]
    project.remove_coder(coder.id)
    assert project.answers_of_others(2) == []


def test_agreement_is_of_rows_decided_by_hand_and_others_are_measured_apart(project: Project) -> None:
    project.decide([1], Decision.LABEL, [1])
    project.decide([2, 3], Decision.LABEL, [2], origin=Origin.BULK)
    project.decide([4], Decision.LABEL, [1], origin=Origin.IMPORTED)
    project.add_coder("gold", "column gold", {1: "Other", 2: "Other", 3: "Other", 4: "Other"})
    (found,) = agreements(project, SilentProgress())
    assert (found.agreement.rows, found.agreement.same) == (1, 0.0)
    apart = {origin: (one.rows, one.same) for origin, one in found.apart.items()}
    assert apart == {Origin.BULK: (2, 1.0), Origin.IMPORTED: (1, 0.0)}
    assert found.sentence.startswith("You and gold agree on 0% of 1 row.")
    assert "Your labels in bulk and gold agree on 100% of 2 rows." in found.sentence
    assert project.row_ids(RowQuery(disagreeing=(0, found.coder.id))).tolist() == [1, 4]
    project.decide([2, 3, 4], Decision.SKIPPED, origin=Origin.BULK)
    (found,) = agreements(project, SilentProgress())
    assert found.apart == {}
    project.clear_decision([1])
    (found,) = agreements(project, SilentProgress())
    assert found.sentence == "You and gold have labelled no row in common."


def test_damaged_lists_are_no_answer_and_told(project: Project, tmp_path: Path) -> None:
    labels = project.label_set()
    assert labels is not None
    project.set_labels(labels.labels, multi_label=True)
    keys = ["B", "a_1/é", "A_1/é", "x"]
    cells = ['["Other"]', '["Other"', '["Other", "New"]', '["Other"]']
    table = write(
        tmp_path / "ann.tsv", "ref\tsaid", *(f"{key}\t{cell}" for key, cell in zip(keys, cells, strict=True))
    )
    progress = SilentProgress()
    found = import_annotator(project, table, "ref", "said", "Ann", progress)
    assert project.coder_answers(found.coder.id) == {1: {2, "New"}, 3: {2}}
    assert any('“["Other"”' in told for told in progress.warnings), progress.warnings
