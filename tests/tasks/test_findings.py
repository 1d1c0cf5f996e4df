from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sce_desktop.core.annotations import Decision, Label, Origin
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.estimates import Line, part_share, sample_share, wilson_interval
from sce_desktop.core.labels import clean_labels
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.runs import Scores
from sce_desktop.core.training import FinetuneSettings, Fit, TrainingReport
from sce_desktop.store.project import Project
from sce_desktop.tasks.evaluation.annotators import GOLD
from sce_desktop.tasks.evaluation.evidence import AuditSample, Evidence, Source, gather, places_of, rolled_up
from sce_desktop.tasks.insight.findings import EMPTY_NAME, OTHER_NAME, by_value, column_values, examples, find

LABELS = (Label("a", id=1), Label("b", id=2))


def evidence(
    answer: list[int] | IdArray,
    source: Source | list[Source],
    *,
    audit: IdArray | None = None,
    frame: np.ndarray | None = None,
    probabilities: np.ndarray | None = None,
) -> Evidence:
    given = np.asarray(answer)
    sources = np.where(given >= 0, np.asarray(source), Source.UNDECIDED).astype(np.int8)
    return Evidence(
        np.arange(1, len(given) + 1) * 10,
        LABELS,
        False,
        given,
        sources,
        tuple(np.flatnonzero(given == k) for k in range(3)),
        np.asarray([], dtype=np.int64) if audit is None else audit,
        frame=frame,
        probabilities={} if probabilities is None else {"sce": probabilities.astype(np.float32)},
    )


def test_a_table_decided_whole_is_counted() -> None:
    found = find(evidence([0, 0, 0, 1], Source.HAND))
    shares = {share.name: share.share for share in found.whole.shares}
    assert (shares["a"].value, shares["a"].interval) == (0.75, (0.75, 0.75))
    assert (shares["b"].value, shares["none of these"].value) == (0.25, 0.0)
    assert "counts" in found.basis


def test_without_a_sample_no_interval_is_claimed() -> None:
    p = np.asarray([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.1, 0.9]])
    found = find(evidence([0, -1, -1, -1], Source.HAND, probabilities=p), alias="sce")
    share = found.whole.shares[0]
    assert share.share.interval is None
    assert share.share.value == pytest.approx((1 + 0.6 + 0.2 + 0.1) / 4)
    assert (share.decided, share.predicted) == (1, 1)
    assert "model estimates for the rest: possibly biased. Draw an audit sample" in found.basis
    assert find(evidence([0, 1, 1, -1], Source.HAND)).whole.shares[0].share.value == pytest.approx(1 / 3)


def test_without_a_sample_none_of_these_is_not_extrapolated() -> None:
    """The model gives every undecided row to a label: there is no row left that "none" could have."""
    answer = np.full(100, -1)
    answer[:4] = [0, 1, 2, 2]
    found = find(evidence(answer, Source.HAND, probabilities=np.full((100, 2), 0.5)), alias="sce")
    assert [one.share.value for one in found.whole.shares] == pytest.approx([0.49, 0.49, 0.02])
    assert "“None of these” counts only the 2 rows that you labelled so" in found.basis
    alone = find(evidence(answer, Source.HAND)).whole.shares  # of the decided rows, as the labels are
    assert [one.share.value for one in alone] == [0.25, 0.25, 0.5]


def test_without_a_sample_none_of_these_is_what_a_single_label_leaves() -> None:
    answer = np.full(100, -1)
    answer[:3] = [0, 1, 1]
    known = replace(
        evidence(answer, Source.HAND, probabilities=np.full((100, 1), 0.1)),
        labels=LABELS[:1],
        hits=(np.asarray([0]), np.asarray([1, 2])),
    )
    found = find(known, alias="sce")
    assert [one.share.value for one in found.whole.shares] == pytest.approx([0.107, 0.893])
    assert "“None of these” is what remains of the one label." in found.basis


@settings(deadline=None)  # of a busy machine it says nothing
@given(data=st.data())
def test_without_a_sample_shares_of_one_label_a_row_never_exceed_the_whole(data: st.DataObject) -> None:
    count, labels = data.draw(st.integers(1, 20)), data.draw(st.integers(1, 4))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    p = rng.dirichlet(np.full(labels, 0.3), count).astype(np.float32)
    if labels == 1:
        p = rng.random((count, 1), dtype=np.float32)
    p[rng.random(count) < data.draw(st.sampled_from([0, 0.5]))] = np.nan  # not scored
    p[:, rng.random(labels) < data.draw(st.sampled_from([0, 0.5]))] = np.nan  # labels that the run lacks
    answer = rng.integers(-1, labels + 1, count)
    known = Evidence(
        np.arange(count),
        tuple(Label(str(place)) for place in range(labels)),
        False,
        answer,
        np.where(answer >= 0, rng.choice([Source.HAND, Source.BULK], count), Source.UNDECIDED).astype(
            np.int8
        ),
        tuple(np.flatnonzero(answer == place) for place in range(labels + 1)),
        np.zeros(0, dtype=np.int64),
        probabilities={"sce": p} if data.draw(st.booleans()) else {},
    )
    found = find(known, alias="sce", codes=rng.integers(-1, 3, count), names=["x", "y", "z"])
    for group in (found.whole, *found.groups):
        assert sum(one.share.value for one in group.shares) <= 1 + 1e-6


def test_what_was_accepted_in_bulk_is_no_evidence() -> None:
    p = np.asarray([[0.9, 0.1], [0.9, 0.1]])
    found = find(evidence([0, 0], Source.BULK, probabilities=p), alias="sce")
    assert found.decided == 0
    assert found.whole.shares[0].share.value == pytest.approx(0.9)
    assert found.whole.shares[0].decided == 0


def sampled(rows: int = 1000, n: int = 100, known: int = 0) -> tuple[Evidence, IdArray, np.ndarray]:
    rng = np.random.default_rng(3)
    gold = (rng.random(rows) < 0.3).astype(np.int64)
    p = np.clip(0.5 * gold + rng.random(rows) * 0.5, 0, 1)
    frame = np.arange(rows) >= known
    audit = np.sort(rng.choice(np.flatnonzero(frame), n, replace=False))
    answer = np.full(rows, -1)
    answer[:known], answer[audit] = gold[:known], gold[audit]
    source = np.where(frame, Source.AUDIT, Source.HAND)
    found = evidence(
        answer, source.tolist(), audit=audit, frame=frame, probabilities=np.stack([1 - p, p], axis=1)
    )
    return found, gold, p


def test_the_sample_corrects_the_model() -> None:
    found, gold, p = sampled()
    share = find(found, alias="sce").whole.shares[1].share
    expected = sample_share(
        gold[found.audit], p.astype(np.float32)[found.audit], mean=float(p.mean()), rows=1000
    )
    assert share.value == pytest.approx(expected.value, abs=1e-6)
    assert share.interval == pytest.approx(expected.interval, abs=1e-6)
    none = find(found, alias="sce").whole.shares[2].share  # never decided, nothing predicts it
    assert none.interval == pytest.approx(wilson_interval(0, 100, rows=1000))


def test_rows_decided_before_the_sample_was_drawn_are_known() -> None:
    found, gold, _ = sampled(known=500)
    share = find(found).whole.shares[1].share
    low, high = sample_share(gold[found.audit], rows=500).interval or (0, 0)
    assert share.interval == pytest.approx(
        tuple((gold[:500].sum() + 500 * end) / 1000 for end in (low, high))
    )


def test_rows_decided_in_the_frame_after_the_sample_change_nothing() -> None:
    """They were chosen, and among the sample's rows nobody knows which would have been chosen too."""
    found, gold, _ = sampled()
    later = np.setdiff1d(np.flatnonzero(gold == 1), found.audit)[:100]
    answer = found.answer.copy()
    answer[later] = 1
    source = np.where(np.isin(np.arange(1000), found.audit), Source.AUDIT, Source.HAND)
    more = evidence(
        answer,
        source.tolist(),
        audit=found.audit,
        frame=found.frame,
        probabilities=found.probabilities["sce"],
    )
    assert find(more, alias="sce").whole.shares[1].share == find(found, alias="sce").whole.shares[1].share


def test_parts_of_the_table() -> None:
    found, gold, p = sampled(n=100)
    codes = np.where(np.arange(1000) < 980, 0, 1)
    codes[5] = -1
    result = find(found, alias="sce", column="place", codes=codes, names=["north", "south"], unreadable=1)
    north, south = result.groups
    assert (north.rows, south.rows) == (979, 20)
    assert north.sampled + south.sampled == np.isin(found.audit, np.flatnonzero(codes >= 0)).sum()
    inside = found.audit[codes[found.audit] == 0]
    f = p.astype(np.float32).astype(float)
    line = Line.through(gold[found.audit], f[found.audit])
    expected = part_share(gold[inside], f[inside], line, mean=f[codes == 0].mean(), rows=979)
    assert north.shares[1].share.value == pytest.approx(expected.value, abs=1e-6)
    assert north.shares[1].share.interval == pytest.approx(expected.interval, abs=1e-6)
    assert south.sampled < 10
    assert south.shares[1].share.interval is None
    few = found.audit[codes[found.audit] == 1]
    expected = part_share(gold[few], f[few], line, mean=f[980:].mean(), rows=20)
    assert south.shares[1].share.value == pytest.approx(expected.value, abs=1e-6)


def test_a_part_without_a_hit_in_its_sample_keeps_what_the_model_says() -> None:
    rng = np.random.default_rng(0)
    gold = (rng.random(1200) < 0.25).astype(np.int64)
    p = np.where(gold == 1, 0.7, 0.1)
    codes = np.arange(1200) % 12
    missed = rng.choice(np.flatnonzero((codes == 0) & (gold == 0)), 15, replace=False)
    audit = np.sort(np.concatenate([missed, rng.choice(np.flatnonzero(codes > 0), 165, replace=False)]))
    answer = np.full(1200, -1)
    answer[audit] = gold[audit]
    known = evidence(
        answer,
        Source.AUDIT,
        audit=audit,
        frame=np.ones(1200, dtype=bool),
        probabilities=np.stack([1 - p, p], axis=1),
    )
    group = find(known, alias="sce", codes=codes, names=[str(n) for n in range(12)]).groups[0]
    share, true = group.shares[1].share, gold[codes == 0].mean()
    assert group.sampled == 15
    assert share.value == pytest.approx(true, abs=0.05)
    assert share.interval is not None
    assert share.interval[0] == 0.0  # its own rows speak for none at all
    assert share.interval[1] > true
    assert sum(one.share.value for one in group.shares) == pytest.approx(1, abs=1e-6)


def test_rows_without_scores_take_the_mean() -> None:
    found, _, _ = sampled()
    holes = found.probabilities["sce"].copy()
    holes[::7] = np.nan
    share = find(
        evidence(found.answer, Source.AUDIT, audit=found.audit, frame=found.frame, probabilities=holes),
        alias="sce",
    ).whole.shares[1]
    assert share.share.interval is not None
    assert 0.2 < share.share.value < 0.4


def test_example_rows() -> None:
    p = np.asarray([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.95, 0.05], [np.nan, np.nan]])
    found = evidence([-1, 0, -1, -1, -1], Source.HAND, probabilities=p)
    assert examples(found, 0, alias="sce").tolist() == [20, 40, 10]
    assert examples(found, 0, alias="sce", codes=np.asarray([0, 0, 0, 1, 1]), group=0).tolist() == [20, 10]
    assert examples(found, 2, alias="sce").tolist() == []


def test_values_by_how_often_they_come() -> None:
    codes, names = by_value(["x", "y", "y", None, "", "z", "NA", "y", "x"], most=2)
    assert names == ("y", "x", OTHER_NAME, EMPTY_NAME)
    assert codes.tolist() == [1, 0, 0, 3, 3, 2, 2, 0, 1]
    codes, names = by_value(["(empty)", "1"])
    assert names == ("(empty)", "1")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    rows = [(str(n % 3), "" if n == 4 else f"text {n}") for n in range(12)]
    with Project.create(tmp_path / "p.sce") as project:
        project.add_rows(["part", "text"], [rows], text_columns=[1], source={})
        yield project


def test_gathering_keeps_the_ways_of_deciding_apart(project: Project) -> None:
    with pytest.raises(UserError, match="no labels"):
        gather(project)
    labels = project.set_labels(clean_labels(["a", "b"])).labels
    a, b = (label.id for label in labels)
    assert a is not None
    assert b is not None
    project.decide([1, 2], Decision.LABEL, [a])
    project.decide([3], Decision.LABEL, [b], origin=Origin.BULK)
    project.decide([4], Decision.LABEL, [b], origin=Origin.IMPORTED)
    project.decide([6], Decision.NONE)
    project.decide([7], Decision.SKIPPED)
    run = project.open_run("sce", "sce", "m", "f", labels[::-1])
    project.add_scores(run.id, [1, 2], Scores(np.asarray([[0.25, 0.75], [0.5, 0.5]], dtype=np.float32)))
    found = gather(project, ["sce", "similarity"], AuditSample(np.asarray([6, 9, 2])))
    assert found.row_ids.tolist() == [1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12]
    assert found.answer.tolist()[:6] == [0, 0, 1, 1, 2, -1]
    assert found.source.tolist()[:6] == [
        Source.HAND,
        Source.AUDIT,
        Source.BULK,
        Source.IMPORTED,
        Source.AUDIT,
        0,
    ]
    assert [places.tolist() for places in found.hits] == [[0, 1], [2, 3], [4]]
    assert (found.audit.tolist(), found.waiting) == ([1, 4], 1)
    assert list(found.probabilities) == ["sce"]
    assert found.probabilities["sce"][0].tolist() == [0.75, 0.25]  # in the label set's order
    assert np.isnan(found.probabilities["sce"][2:]).all()
    values = column_values(project, found.row_ids, 0, SilentProgress())
    assert values[:3] == ["0", "1", "2"]


@pytest.mark.parametrize("read", ["annotations", "coder_answers"])
def test_labels_that_are_edited_while_it_gathers_count_the_next_time(
    project: Project, monkeypatch: pytest.MonkeyPatch, read: str
) -> None:
    """A label comes back that answers name, when the labels have been read and the answers have not."""
    both = project.set_labels(clean_labels(["a", "b"])).labels
    project.decide([1], Decision.LABEL, [both[0].id or 0])
    project.decide([2], Decision.LABEL, [both[1].id or 0])
    project.add_coder(GOLD, "column truth", {1: "a", 2: "b"})
    project.set_labels(both[:1])
    as_it_is = getattr(project, read)

    def edited(*args: Any) -> Any:
        with ThreadPoolExecutor(1) as window:
            window.submit(project.set_labels, both).result(10)
        return as_it_is(*args)

    with monkeypatch.context() as patch:
        patch.setattr(project, read, edited)
        found = gather(project, gold=True)
    assert found.names == ("a",)
    assert found.gold is not None
    assert (found.gold.answer[:2].tolist(), found.gold.unknown.tolist()) == ([0, -1], [1])
    found = gather(project, gold=True)
    assert found.gold is not None
    assert (found.names, found.gold.answer[:2].tolist()) == (("a", "b"), [0, 1])


def test_the_rows_that_a_version_learned_from_are_known_by_its_runs(project: Project) -> None:
    labels = project.set_labels(clean_labels(["a", "b"])).labels
    report = TrainingReport(fit=Fit(row_ids=(2, 5, 9)))
    made = {
        "base_fingerprint": "f",
        "data_hash": "h",
        "train_rows": 3,
        "held_out_rows": 0,
        "settings": FinetuneSettings(),
        "seconds": 1.0,
        "weights": b"w",
    }
    version = project.add_version(name="", base="sce-mini", report=report, **made)  # type: ignore[arg-type]
    old = project.open_run("sce", "sce", "sce-mini", "f", labels)
    project.add_scores(old.id, [1], Scores(np.full((1, 2), 0.5, np.float32)))
    found = gather(project, ["sce"])
    assert (found.learned_by, found.learned.tolist()) == ("", [])  # the run that is shown is older
    run = project.open_run("sce", "sce", version.title, "g", labels)
    project.activate(run.id)
    found = gather(project, ["sce"])
    assert found.learned_by == version.name
    assert found.row_ids[found.learned].tolist() == [2, 9]  # row 5 is blank
    project.delete_version(version.id)
    found = gather(project, ["sce"])
    assert (found.learned_by, found.learned.tolist()) == (version.title, [])


def test_several_labels_a_row(project: Project) -> None:
    labels = project.set_labels(clean_labels(["a", "b"]), multi_label=True).labels
    ids = [label.id for label in labels if label.id is not None]
    project.decide([1], Decision.LABEL, ids)
    project.decide([2], Decision.LABEL, ids[1:])
    found = gather(project)
    assert [places.tolist() for places in found.hits] == [[0], [0, 1], []]
    shares = find(found).whole.shares
    assert (shares[0].share.value, shares[1].share.value) == (0.5, 1.0)


def test_places_of_rows_that_are_not_there() -> None:
    ids = np.asarray([2, 5, 9])
    assert places_of(ids, np.asarray([9, 1, 2, 10])).tolist() == [2, 0]
    assert places_of(ids[:0], ids).tolist() == []


def test_children_are_rolled_up_into_their_parents() -> None:
    names = ("Bill > wrong", "Delay", "Bill > late", "A>B")
    p = np.asarray([[0.1, 0.2, 0.3, 0.4], [np.nan] * 4, [0.5, 0.1, 0.2, 0.2]], dtype=np.float32)
    found = Evidence(
        np.arange(3),
        tuple(Label(name) for name in names),
        False,
        np.asarray([2, -1, 4]),
        np.asarray([Source.HAND, Source.UNDECIDED, Source.HAND], dtype=np.int8),
        tuple(np.asarray(places, dtype=np.int64) for places in ([], [], [0], [], [2])),
        np.zeros(0, dtype=np.int64),
        probabilities={"sce": p},
    )
    rolled = rolled_up(found)
    assert rolled.names == ("Bill", "Delay", "A>B")
    assert rolled.answer.tolist() == [0, -1, 3]
    assert [places.tolist() for places in rolled.hits] == [[0], [], [], [2]]
    assert rolled.probabilities["sce"][0] == pytest.approx([0.4, 0.2, 0.4])
    assert np.isnan(rolled.probabilities["sce"][1]).all()
    assert find(rolled, alias="sce").answers == ("Bill", "Delay", "A>B", "none of these")


def test_what_was_decided_bounds_what_the_sample_says() -> None:
    """A sample without a hit must not say "none" of a label that people gave to other rows."""
    answer = np.full(100, -1)
    answer[:60] = 0
    answer[60:70] = 1
    found = find(evidence(answer, Source.HAND, audit=np.arange(20), frame=np.ones(100, dtype=bool)))
    first, second, none = (one.share for one in found.whole.shares)
    assert (first.value, second.value, none.value) == (
        0.9,
        0.1,
        0.0,
    )  # 20 of 20 in the sample, but 10 are not
    assert first.interval is not None
    assert second.interval is not None
    assert first.interval[1] == 0.9
    assert second.interval[0] == 0.1
    assert "Other labelled rows narrow the intervals." in found.basis
