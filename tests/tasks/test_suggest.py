from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.runs import Scores
from sce_desktop.store.project import Project
from sce_desktop.tasks.insight.suggest import UNSURE, suggest_labels, unfitting_rows
from sce_desktop.tasks.scoring.vectors import KnownVectors

THEMES = {"refund": "money invoice charged", "courier": "driver polite kind", "login": "password app account"}


def make(path: Path, each: int) -> Project:
    project = Project.create(path)
    rows = [(f"{theme} {words} case {n}",) for n in range(each) for theme, words in THEMES.items()]
    project.add_rows(["text"], [rows], text_columns=[0], source={})
    return project


def test_groups_are_named_by_their_words(tmp_path: Path) -> None:
    with make(tmp_path / "p.sce", 20) as project:
        found = suggest_labels(project, None, progress=SilentProgress())
        assert 50 <= sum(count for _, count in found) <= 60  # what is like nothing else is left out
        words = " ".join(f"{label.name} {label.description}".lower() for label, _ in found)
        assert all(any(word in words for word in (theme, *more.split())) for theme, more in THEMES.items())
        assert found == suggest_labels(project, None, progress=SilentProgress())


def test_numbers_and_halves_of_words_name_nothing(tmp_path: Path) -> None:
    with Project.create(tmp_path / "p.sce") as project:
        rows = [(f"They didn't refund 85 for invoice {n}",) for n in range(12)]
        rows += [(f"Doesn't open: app crashed 90 times on {n}",) for n in range(12)]
        project.add_rows(["text"], [rows], text_columns=[0], source={})
        found = suggest_labels(project, None, progress=SilentProgress())
    words = {word for label, _ in found for word in label.description.replace(",", "").split()}
    assert words <= {"refund", "invoice", "open", "app", "crashed", "times"}


def test_german_groups_are_not_named_by_their_grammar(tmp_path: Path) -> None:
    sentences = [
        ("Die Rechnung ist nicht richtig und der Betrag ist zu hoch", "Rechnung Betrag"),
        ("Der Bote war sehr freundlich und hat bei der Nachbarin geklingelt", "Bote Nachbarin"),
        ("Ich kann mich in der App nicht anmelden, das Kennwort ist falsch", "App Kennwort"),
    ]
    with Project.create(tmp_path / "p.sce") as project:
        rows = [(f"{text}, {words} {n}",) for n in range(12) for text, words in sentences]
        project.add_rows(["text"], [rows], text_columns=[0], source={})
        found = suggest_labels(project, None, progress=SilentProgress())
    words = {word for label, _ in found for word in label.description.replace(",", "").split()}
    assert words & {"rechnung", "bote", "kennwort"}
    assert not words & {"die", "der", "ist", "nicht", "und", "ich", "mich", "war"}
    assert not any(" and " in label.name for label, _ in found)


def test_chinese_groups_have_names(tmp_path: Path) -> None:
    with Project.create(tmp_path / "p.sce") as project:
        themes = ("包裹破损了，要求退款", "快递员很有礼貌，谢谢", "应用程序打不开，密码错误")
        rows = [(f"{theme}{n}",) for n in range(12) for theme in themes]
        project.add_rows(["text"], [rows], text_columns=[0], source={})
        found = suggest_labels(project, None, progress=SilentProgress())
    named = " ".join(label.description for label, _ in found)
    assert "退款" in named or "包裹" in named
    assert "密码" in named or "应用" in named


class StopAt(SilentProgress):
    """Cancels at a check of the stage "grouping"."""

    def __init__(self, checks: int) -> None:
        self.stage = ""
        self.checks = checks

    def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
        self.stage = stage

    def check(self) -> None:
        self.checks -= self.stage == "grouping"
        if not self.checks:
            raise Cancelled


@pytest.mark.parametrize("checks", [1, 5, 10])
def test_grouping_can_be_stopped_between_its_starts(tmp_path: Path, checks: int) -> None:
    with make(tmp_path / "p.sce", 20) as project, pytest.raises(Cancelled):
        suggest_labels(project, None, progress=StopAt(checks))


def test_few_texts_are_reported(tmp_path: Path) -> None:
    with (
        make(tmp_path / "p.sce", 2) as project,
        pytest.raises(UserError, match="at least 20 different texts"),
    ):
        suggest_labels(project, None, progress=SilentProgress())


class Vectors:
    """A cache that knows some texts, each at the end of an axis of its own group."""

    def __init__(self, group_of: dict[str, int]) -> None:
        self.group_of = group_of

    def get(self, embedder: str, texts: Sequence[str]) -> tuple[NDArray[np.bool_], FloatArray | None]:
        assert embedder == "ours"
        found = np.array([text in self.group_of for text in texts])
        if not found.any():
            return found, None
        return found, np.eye(4, dtype=np.float32)[[self.group_of[t] for t in texts if t in self.group_of]]

    def put(self, embedder: str, texts: Sequence[str], vectors: FloatArray) -> None:
        raise AssertionError("nothing is embedded")


def test_the_models_vectors_decide_what_is_alike(tmp_path: Path) -> None:
    with Project.create(tmp_path / "p.sce") as project:
        days = ["monday"] * 8 + ["friday"] * 12 + ["sunday"] * 4
        rows = [(f"{words} {day} {n}",) for n, day in enumerate(days) for words in THEMES.values()]
        project.add_rows(["text"], [rows], text_columns=[0], source={})
        texts = project.texts(project.row_ids())
        known = KnownVectors("ours", Vectors({text: "mfs".index(text.split()[-2][0]) for text in texts}))
        found = suggest_labels(project, None, vectors=known, progress=SilentProgress())
        named = {label.name.split()[0]: count for label, count in found}
        assert named == {
            "Friday": 36,
            "Monday": 24,
            "Sunday": 12,
        }  # by their words they would be other groups
        few = KnownVectors("ours", Vectors(dict.fromkeys(texts[:5], 0)))
        by_words = suggest_labels(project, None, progress=SilentProgress())
        assert by_words == suggest_labels(project, None, vectors=few, progress=SilentProgress())


def test_unsure_rows_and_those_without_a_fitting_label(tmp_path: Path) -> None:
    with make(tmp_path / "p.sce", 40) as project:
        labels = project.set_labels([Label("A"), Label("B")]).labels
        run = project.open_run("sce", "sce", "m", "f", labels)
        ids = project.row_ids()
        sure = np.linspace(0.99, 0.51, len(ids), dtype=np.float32)
        project.add_scores(run.id, ids, Scores(np.stack([sure, 1 - sure], axis=1)))
        project.decide([1], Decision.NONE)
        project.decide([120], Decision.LABEL, [labels[0].id or 0])
        run = project.active_run("sce") or run
        unsure = ids[sure < UNSURE]
        assert unfitting_rows(project, run).tolist() == [1, *unsure[unsure != 120].tolist()]


def test_where_every_label_fits_nothing_is_suggested(tmp_path: Path) -> None:
    with make(tmp_path / "p.sce", 10) as project:
        labels = project.set_labels([Label("A"), Label("B")]).labels
        run = project.open_run("sce", "sce", "m", "f", labels)
        ids = project.row_ids()
        project.add_scores(run.id, ids, Scores(np.tile(np.float32([0.9, 0.1]), (len(ids), 1))))
        with pytest.raises(UserError, match="fits well"):
            suggest_labels(project, project.active_run("sce"), progress=SilentProgress())
