"""Labels from nothing: clusters, their names, coverage, a language model's choice."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.discovery import Discovery, Wanted
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.runs import Scores, VectorCache
from sce_desktop.core.tables import TableOptions
from sce_desktop.store.project import Project
from sce_desktop.tasks.insight import cluster_names
from sce_desktop.tasks.insight.clusters import cluster
from sce_desktop.tasks.insight.discover import discover, discover_table, fitting
from sce_desktop.tasks.scoring.models import NamedModel
from tests.tasks.fakes import FakeModel, StoppingProgress

THEMES = {
    "refund": "money invoice charged refund",
    "courier": "driver polite kind courier",
    "login": "password app account login",
}
WORDS = sorted({word for words in THEMES.values() for word in words.split()})


class VectorModel(FakeModel):
    """Its text vectors count words; a label fits as far as its words are in the text."""

    def __init__(self) -> None:
        super().__init__()
        self.embedded: list[str] = []

    def embed(
        self, texts: Sequence[str], *, cache: VectorCache | None = None, progress: Progress | None = None
    ) -> FloatArray:
        self.embedded += texts
        if progress is not None:
            progress.check()
        rng = np.random.default_rng(len(texts))
        found = np.array([[word in text.lower() for word in WORDS] for text in texts], dtype=np.float32)
        return found + 0.05 * rng.standard_normal(found.shape).astype(np.float32)

    def score(
        self,
        vectors: FloatArray,
        labels: Sequence[Label],
        *,
        multi_label: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        hits = np.zeros((len(vectors), len(labels)), dtype=np.float32)
        for place, label in enumerate(labels):
            for word in label.name.lower().split():
                if word in WORDS:
                    hits[:, place] = np.maximum(hits[:, place], vectors[:, WORDS.index(word)] > 0.5)
        rows = 0.1 + 0.8 * hits
        if not multi_label:
            rows = rows / np.maximum(rows.sum(axis=1, keepdims=True), 1)
        return Scores(rows.astype(np.float32))


@pytest.fixture
def named() -> NamedModel:
    return NamedModel("sce", "fake", VectorModel())


def texts(each: int) -> list[str]:
    return [f"The {words} case {n}" for n in range(each) for words in THEMES.values()]


def make(path: Path, rows: Sequence[str]) -> Project:
    project = Project.create(path)
    project.add_rows(["text"], [[(text,) for text in rows]], text_columns=[0], source={})
    return project


def found_in(project: Project, named: NamedModel, **wanted: Any) -> Discovery:
    return discover(project, named, Wanted(**wanted), cache=None, progress=SilentProgress())


def test_clusters_are_those_of_the_vectors_with_names_and_typical_rows(
    tmp_path: Path, named: NamedModel
) -> None:
    with make(tmp_path / "p.sce", texts(20)) as project:
        found = found_in(project, named)
        assert (found.sampled, found.total, found.covered) == (60, 60, None)
        assert [one.rows for one in found.clusters] == [20, 20, 20]
        for one in found.clusters:
            (theme,) = {theme for theme, words in THEMES.items() if words in one.typical[0].text}
            assert {word.lower() for word in one.name.split()} <= set(THEMES[theme].split())
            assert len({row.text for row in one.typical}) == 5
            assert all(THEMES[theme] in row.text for row in one.typical)
            assert project.texts([one.typical[0].row_id]) == [one.typical[0].text]
            assert len(one.row_ids) == one.rows
        assert found == found_in(project, named)


def test_equal_texts_are_one_point_and_count_as_rows(tmp_path: Path, named: NamedModel) -> None:
    rows = [*texts(10), *[f"The {THEMES['login']} case 0"] * 30, " "]
    with make(tmp_path / "p.sce", rows) as project:
        found = found_in(project, named, clusters=3)
        assert found.sampled == 60  # the blank row has nothing to say
        assert [one.rows for one in found.clusters] == [40, 10, 10]
        assert len({row.text for row in found.clusters[0].typical}) == 5


def test_a_large_table_is_sampled_the_same_way_every_time(tmp_path: Path, named: NamedModel) -> None:
    with make(tmp_path / "p.sce", texts(200)) as project:
        found = found_in(project, named, rows=90)
        assert (found.sampled, found.total) == (90, 600)
        assert sum(one.rows for one in found.clusters) == 90
        assert found == found_in(project, named, rows=90)
        assert found != found_in(project, named, rows=90, seed=1)


def test_rows_that_a_label_fits_are_set_aside(tmp_path: Path, named: NamedModel) -> None:
    with make(tmp_path / "p.sce", texts(20)) as project:
        covering = (Label("refund"), Label("login"))
        found = found_in(project, named, covering=covering)
        assert (found.covered, found.clustered, found.fits_from) == (40, 20, 0.6)
        assert all("courier" in row.text for one in found.clusters for row in one.typical)


def test_people_know_better_which_rows_a_label_fits(tmp_path: Path, named: NamedModel) -> None:
    with make(tmp_path / "p.sce", texts(40)) as project:
        refund, login = project.set_labels([Label("refund"), Label("login")]).labels
        assert refund.id is not None
        project.decide([2], Decision.LABEL, [refund.id])  # a row about couriers
        project.decide([1, 4], Decision.NONE)  # rows about refunds
        found = found_in(project, named, covering=(refund, login))
        clustered = {row_id for one in found.clusters for row_id in one.row_ids}
        assert found.covered == 80 + 1 - 2
        assert {1, 4} <= clustered
        assert 2 not in clustered


def test_where_labels_cover_the_table_that_is_the_answer(tmp_path: Path, named: NamedModel) -> None:
    covering = (Label("refund"), Label("login"), Label("courier"))
    with (
        make(tmp_path / "p.sce", texts(20)) as project,
        pytest.raises(UserError, match="the labels cover the table"),
    ):
        found_in(project, named, covering=covering)


def test_too_little_to_cluster_is_one_sentence(tmp_path: Path, named: NamedModel) -> None:
    with make(tmp_path / "p.sce", ["same"] * 40) as project:
        with pytest.raises(UserError, match="at least 20 different texts"):
            found_in(project, named)
        with pytest.raises(UserError, match="LLMs make none"):
            found_in(project, NamedModel("sce", "llm", FakeModel(kind="llm")))


def test_it_can_be_stopped(tmp_path: Path, named: NamedModel) -> None:
    with make(tmp_path / "p.sce", texts(20)) as project:
        for checks in (1, 3, 20):
            with pytest.raises(Cancelled):
                discover(project, named, Wanted(), cache=None, progress=StoppingProgress(checks))


def test_a_language_model_chooses_among_the_names(tmp_path: Path, named: NamedModel) -> None:
    class Last(FakeModel):
        def probabilities(self, texts: Sequence[str], labels: Sequence[Label], **_more: Any) -> Scores:
            self.scored += texts
            return Scores(np.eye(len(labels), dtype=np.float32)[[-1]])

    llm = Last("chat", kind="llm")
    with make(tmp_path / "p.sce", texts(20)) as project:
        found = discover(
            project,
            named,
            Wanted(llm="llm"),
            llm=NamedModel("llm", "chat", llm),
            cache=None,
            progress=SilentProgress(),
        )
    assert len(llm.scored) == 3
    for one, text in zip(found.clusters, llm.scored, strict=True):
        assert one.llm_name == one.names[:8][-1]
        assert text.split("\n") == [row.text for row in one.typical]


def test_a_table_is_read_without_a_project(tmp_path: Path, named: NamedModel) -> None:
    path = tmp_path / "t.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("id", "text"), ("0", ""), *enumerate(texts(20))])
    found = discover_table(
        path, ["text"], named, Wanted(), options=TableOptions(), cache=None, progress=SilentProgress()
    )
    assert (found.sampled, found.total) == (60, 60)
    first = found.clusters[0].typical[0]
    assert texts(20)[first.row_id - 2] == first.text  # the blank row is the first of the table


# --- the parts ---------------------------------------------------------------------------------------------


def blobs(each: int, *sizes: int) -> tuple[FloatArray, list[int]]:
    rng = np.random.default_rng(0)
    centres = np.eye(40)[: len(sizes)]
    found = [centres[n] + 0.1 * rng.standard_normal((size * each, 40)) for n, size in enumerate(sizes)]
    return np.concatenate(found).astype(np.float32), [
        n for n, size in enumerate(sizes) for _ in range(size * each)
    ]


@pytest.mark.parametrize("groups", [2, 3, 5, 9])
def test_the_number_of_clusters_is_found(groups: int) -> None:
    vectors, gold = blobs(30, *range(groups, 0, -1))
    found = cluster(vectors, progress=SilentProgress())
    assert len(found) == groups
    assert found.members.tolist() == gold  # numbered by size, too
    assert len(cluster(vectors, 4, progress=SilentProgress())) == 4


def test_equal_vectors_are_one_cluster() -> None:
    found = cluster(np.ones((30, 8), dtype=np.float32), progress=SilentProgress())
    assert found.members.tolist() == [0] * 30
    assert len(found.typical(0, 3)) == 3


def test_typical_rows_are_near_the_centre_and_unlike_each_other() -> None:
    vectors, _gold = blobs(50, 1, 1)
    vectors[1:20] = vectors[0]  # copies
    found = cluster(vectors, 2, progress=SilentProgress())
    group = int(found.members[0])
    chosen = found.typical(group, 5)
    assert (chosen < 20).sum() <= 1
    assert set(found.members[chosen]) == {group}


def test_names_are_words_of_the_cluster_that_others_lack() -> None:
    rows = texts(10)
    members = np.array([n % 3 for n in range(30)])
    found = cluster_names.candidates(rows, members, 3)
    for own, words in zip(found, THEMES.values(), strict=True):
        assert own
        assert {word for name in own for word in name.split()} <= {*words.split(), "case"}
        assert not {"the", "case"} & set(own)  # beside a word that is rare elsewhere it may stand


def test_names_in_other_languages_are_not_grammar() -> None:
    german = [
        "Die Rechnung ist nicht richtig und der Betrag ist zu hoch",
        "Der Bote war sehr freundlich und hat bei der Nachbarin geklingelt",
        "Ich kann mich in der App nicht anmelden, das Kennwort ist falsch",
    ]
    rows = [f"{text} {n}" for n in range(12) for text in german]
    members = np.array([n % 3 for n in range(36)])
    found = cluster_names.candidates(rows, members, 3)
    written = cluster_names.as_written(found, rows)
    names = {written[name] for own in found for name in own}
    assert {"Rechnung", "Bote", "Kennwort"} <= names
    assert "App" in names
    assert not {"Die", "Der", "Ist", "Nicht", "Und", "Ich", "Mich", "War"} & names
    assert "Bote freundlich" in names or "Freundlich" in names


def test_chinese_rows_have_names() -> None:
    themes = ("包裹破损了，要求退款", "快递员很有礼貌，谢谢", "应用程序打不开，密码错误")
    rows = [f"{theme}{n}" for n in range(12) for theme in themes]
    found = cluster_names.candidates(rows, np.array([n % 3 for n in range(36)]), 3)
    assert {"退款", "包裹"} & set(found[0])
    assert {"密码", "应用"} & set(found[2])


def test_texts_without_a_common_word_have_no_names(tmp_path: Path, named: NamedModel) -> None:
    rows = [f"{chr(97 + n // 26)}{chr(97 + n % 26)}{chr(97 + n % 25)}" for n in range(60)]
    assert cluster_names.candidates(rows, np.zeros(60, dtype=np.int64), 1) == [[]]
    with make(tmp_path / "p.sce", rows) as project:
        found = found_in(project, named, clusters=2)
        assert {one.name for one in found.clusters} == {"Cluster 1", "Cluster 2"}


def test_the_model_ranks_names_by_how_much_sooner_it_gives_them_to_the_cluster() -> None:
    members = np.array([0, 0, 1, 1])
    names = ["everywhere", "here", "there"]
    scores = np.array([[0.9, 0.6, 0.1], [0.9, 0.6, 0.1], [0.9, 0.1, 0.7], [0.9, 0.1, 0.7]], dtype=np.float32)
    found = cluster_names.ranked([["everywhere", "here"], ["everywhere", "there"]], members, scores, names)
    assert found == [["here", "everywhere"], ["there", "everywhere"]]
    assert cluster_names.ranked([["here"]], np.zeros(4, dtype=np.int64), scores, names) == [["here"]]


def test_no_two_clusters_have_one_name() -> None:
    assert cluster_names.distinct([["Card", "Pin"], ["card", "Loan"], ["Card"]]) == [
        ["Card", "Pin"],
        ["Loan", "card"],
        ["Card"],
    ]


def test_a_label_fits_from_sixty_per_cent_up_unless_the_model_says_that_none_does() -> None:
    scores = Scores(
        np.array([[0.6, 0.4], [0.59, 0.41], [0.9, 0.1]], dtype=np.float32),
        np.array([0.1, 0.1, 0.5], dtype=np.float32),
    )
    assert fitting(scores, multi_label=False).tolist() == [True, False, False]
    several = Scores(np.array([[0.5, 0.1], [0.49, 0.2]], dtype=np.float32))
    assert fitting(several, multi_label=True).tolist() == [True, False]
