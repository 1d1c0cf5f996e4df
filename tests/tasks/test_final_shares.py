from __future__ import annotations

from pathlib import Path

from sce_desktop.controllers.findings_work import Wanted, look
from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.project import Project
from sce_desktop.tasks.insight.final_shares import final_counts, final_sentence
from tests.tasks.finals import scored_project


def test_final_labels_are_counted_and_said_in_a_line(tmp_path: Path) -> None:
    project, _gold = scored_project(tmp_path / "p.sce", rows=200)
    with project:
        label_set = project.label_set()
        assert label_set is not None
        late, damaged = (label.id or 0 for label in label_set.labels)
        project.decide(range(1, 21), Decision.LABEL, [damaged])
        project.decide([21, 22], Decision.NONE)
        project.decide([23], Decision.SKIPPED)
        project.set_threshold(0.9)
        found, review, rows = final_counts(project)
        _ids, codes = project.final_sources(1)
        by_model = int((codes == 2).sum())
        assert found == {"late": by_model, "damaged": 20, "none of these": 2}
        assert (review, rows) == (200 - 22 - by_model, 200)
        assert late != damaged
        said = final_sentence(project)
        assert said.startswith("Final labels: late ")
        assert "damaged 10%" in said
        assert f"({review})." in said
        shown = look(project, Wanted("shares", None, None, "sce"), None, progress=SilentProgress())
        assert said in shown.notes
        alone = look(project, Wanted("shares", None, None, ""), None, progress=SilentProgress())
        assert said not in alone.notes  # without a model, as in blind mode
        project.set_threshold(None)
        shown = look(project, Wanted("shares", None, None, "sce"), None, progress=SilentProgress())
        assert not any(note.startswith("Final") for note in shown.notes)


def test_children_are_rolled_up_and_several_labels_have_no_line(tmp_path: Path) -> None:
    with Project.create(tmp_path / "p.sce") as project:
        project.add_rows(("text",), [[(f"t {n}",) for n in range(4)]], text_columns=[0], source={})
        labels = project.set_labels([Label("A > x"), Label("A > y"), Label("B")]).labels
        for row, label in enumerate(labels, 1):
            project.decide([row], Decision.LABEL, [label.id or 0])
        assert final_counts(project)[0] == {"A > x": 1, "A > y": 1, "B": 1}
        assert final_counts(project, rolled=True) == ({"A": 2, "B": 1}, 1, 4)
        project.set_labels(list(labels), multi_label=True)
        assert final_sentence(project) == ""
