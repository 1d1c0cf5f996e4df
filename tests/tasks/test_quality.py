from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sce_desktop.core.annotations import Label
from sce_desktop.tasks.evaluation.evidence import Evidence, Gold, Source
from sce_desktop.tasks.evaluation.quality import assess, suggested_audit, threshold_for

GOLD = [0, 0, 1, 1, 2, 0]


def evidence(sources: list[Source], gold: list[int] = GOLD, **more: object) -> Evidence:
    answer = np.asarray(gold)
    source = np.asarray(sources, dtype=np.int8)
    p = np.asarray([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8], [0.3, 0.7], [0.8, 0.2], [np.nan, np.nan]])
    return Evidence(
        np.arange(1, len(gold) + 1),
        (Label("a", id=1), Label("b", id=2)),
        bool(more.get("multi_label")),
        answer,
        source,
        more.get("hits") or tuple(np.flatnonzero(answer == k) for k in range(3)),  # type: ignore[arg-type]
        np.flatnonzero(source == Source.AUDIT),
        probabilities={
            "sce": p.astype(np.float32),
            "similarity": np.nan_to_num(p[:, ::-1], nan=0.5).astype(np.float32),
        },
    )


def test_every_model_on_the_same_rows() -> None:
    found = assess(evidence([Source.AUDIT] * 6))
    (part,) = found.parts
    assert (part.decided, part.rows, part.none) == (6, 4, 1)  # the last row has no score
    sce, similarity = part.models
    assert (sce.alias, sce.measures.accuracy, sce.measures.rows) == ("sce", 0.75, 4)
    assert (similarity.alias, similarity.measures.accuracy) == ("similarity", 0.25)
    assert sce.measures.confusion.tolist() == [[1, 1], [0, 2]]
    (confusion,) = sce.confusions
    assert (confusion.gold, confusion.predicted, confusion.rows, confusion.row_ids) == ("a", "b", 1, (2,))
    assert sce.curve[0].coverage == 1.0
    assert (sce.curve[0].rows, sce.curve[0].precision) == (5, 0.6)  # the row that fits no label is wrong
    assert (sce.curve[85].rows, sce.curve[85].precision) == (1, 1.0)
    assert sum(b.rows for b in sce.reliability) == 4
    assert [part.cell(0, *pair).tolist() for pair in ((0, 0), (0, 1), (1, 0))] == [[1], [2], []]
    assert sce.behind is None
    assert similarity.behind is not None
    assert (similarity.behind.won, similarity.behind.lost) == (3, 1)  # by the first model


def test_ways_of_deciding_are_kept_apart_and_bulk_measures_nothing() -> None:
    sources = [Source.BULK, Source.BULK, Source.HAND, Source.IMPORTED, Source.AUDIT, Source.UNDECIDED]
    found = assess(evidence(sources, [0, 0, 1, 1, 0, -1]))
    parts = {part.source: part for part in found.parts}
    assert list(parts) == [Source.AUDIT, Source.HAND, Source.BULK, Source.IMPORTED]
    assert parts[Source.BULK].decided == 2
    assert parts[Source.BULK].models == ()
    assert parts[Source.BULK].rows == 0
    assert "by construction" in parts[Source.BULK].validity
    assert [parts[s].rows for s in (Source.AUDIT, Source.HAND, Source.IMPORTED)] == [1, 1, 1]


def _gold(answer: list[int], unknown: list[int] | None = None) -> Gold:
    found = np.asarray(answer)
    hits = tuple(np.flatnonzero(found == k) for k in range(3))
    return Gold("column truth", found, hits, np.asarray(unknown or [], dtype=np.int64))


def test_right_answers_are_measured_beside_decisions_and_not_instead() -> None:
    decided = evidence([Source.AUDIT] * 2 + [Source.UNDECIDED] * 4, [0, 0, -1, -1, -1, -1])
    found = assess(replace(decided, gold=_gold([1, 1, 1, 0, -1, -1])))
    audit, gold = found.parts
    assert (audit.source, audit.rows, audit.models[0].measures.accuracy) == (Source.AUDIT, 2, 0.5)
    assert (gold.source, gold.decided, gold.rows, gold.unknown) == (Source.GOLD, 4, 4, 0)
    assert [model.alias for model in gold.models] == ["sce", "similarity"]
    assert gold.models[0].measures.accuracy == 0.5  # rows 2 and 3
    assert gold.models[0].measures.confusion.tolist() == [[0, 1], [1, 2]]
    assert gold.cell(0, 0, 1).tolist() == [4]
    assert gold.models[1].behind is not None
    assert "from column truth: results apply to all rows only if" in gold.validity


def test_where_every_row_has_a_right_answer_the_figure_is_exact_and_first() -> None:
    all_scored = evidence([Source.AUDIT] * 5 + [Source.HAND], [0, 0, 1, 1, 0, 0])
    all_scored.probabilities["sce"][5] = (0.9, 0.1)
    found = assess(replace(all_scored, gold=_gold([0, 0, 1, 1, 0, 1])))
    assert [part.source for part in found.parts] == [Source.GOLD, Source.AUDIT, Source.HAND]
    assert found.parts[0].models[0].measures.accuracy == pytest.approx(4 / 6)
    assert "the accuracy is exact for this table" in found.parts[0].validity
    # A right answer that is no label, one that no label fits, and a row without a score: not every row then.
    less = assess(replace(evidence([Source.UNDECIDED] * 6, [-1] * 6), gold=_gold([0, -1, 1, 2, 0, 1], [1])))
    (part,) = less.parts
    assert (part.decided, part.rows, part.unknown, part.none) == (6, 3, 1, 1)
    assert part.row_ids.tolist() == [1, 3, 5]
    assert "exact for the rows evaluated" in part.validity
    assert part.models[0].curve[0].rows == 4  # the row that no label fits is wrong there


def test_rows_learned_from_are_left_out_of_right_answers_too() -> None:
    found = replace(
        evidence([Source.HAND] * 6, gold=[0] * 6),
        gold=_gold([0, 0, 1, 1, 0, 1]),
        learned=np.asarray([1]),
        learned_by="version 2",
    )
    part = assess(found).parts[0]
    assert (part.source, part.rows, part.learned) == (Source.GOLD, 4, 1)
    assert "apply to the rows that it was not trained on" in part.notes[1]


def test_any_of_several_labels_is_right() -> None:
    several = (np.asarray([0, 1]), np.asarray([1, 2, 3]), np.asarray([4]))
    found = assess(evidence([Source.HAND] * 6, [0, 0, 1, 1, 2, -1], multi_label=True, hits=several))
    assert found.parts[0].models[0].measures.accuracy == 1.0


def test_rows_that_a_version_learned_from_are_left_out_for_all_models() -> None:
    found = replace(evidence([Source.AUDIT] * 6), learned=np.asarray([0, 1, 4]), learned_by="version 2")
    (part,) = assess(found).parts
    assert (part.decided, part.rows, part.learned, part.none) == (6, 2, 3, 0)
    assert part.row_ids.tolist() == [3, 4]
    assert [model.measures.accuracy for model in part.models] == [1.0, 0.0]
    assert part.models[0].curve[0].rows == 2  # nor is one that fits no label
    assert part.notes[0] == "Rows that version 2 was trained on are excluded for all models."
    assert part.notes[1] == "Results apply to the rows that it was not trained on."
    (part,) = assess(replace(found, learned=np.arange(6))).parts
    assert (part.rows, part.learned, part.models) == (0, 6, ())
    (part,) = assess(replace(found, learned=np.zeros(0, np.int64))).parts
    assert "The training rows of version 2 are unknown" in part.notes[0]
    assert threshold_for(replace(found, learned=np.arange(6)), "sce", 0.5)[0] is None


def test_a_model_that_has_scored_less_shrinks_nothing() -> None:
    found = evidence([Source.AUDIT] * 6)
    llm = np.where(np.arange(6)[:, None] == 1, 0.5, np.nan).repeat(2, axis=1).astype(np.float32)
    found = replace(found, probabilities={**found.probabilities, "llm": llm})
    quality = assess(found)
    assert [model.alias for model in quality.parts[0].models] == ["sce", "similarity"]
    assert quality.parts[0].rows == 4
    (missing,) = quality.left_out
    assert (missing.alias, missing.scored, missing.rows) == ("llm", 1, 5)


def test_without_models_the_decisions_are_still_counted() -> None:
    found = assess(evidence([Source.HAND] * 6), aliases=[])
    assert found.parts[0].decided == 6
    assert found.parts[0].models == ()


def test_a_threshold_comes_from_the_sample_if_there_is_one() -> None:
    rng = np.random.default_rng(0)
    confidence = rng.uniform(0.5, 1, 800)
    right = rng.random(800) < confidence
    p = np.stack([confidence, 1 - confidence], axis=1).astype(np.float32)
    answer = np.where(right, 0, 1)
    source = np.where(np.arange(800) < 600, Source.AUDIT, Source.HAND).astype(np.int8)
    found = Evidence(
        np.arange(800),
        (Label("a"), Label("b")),
        False,
        answer,
        source,
        tuple(np.flatnonzero(answer == k) for k in range(3)),
        np.arange(600),
        probabilities={"sce": p},
    )
    suggestion, where = threshold_for(found, "sce", 0.85)
    assert where is Source.AUDIT
    assert suggestion is not None
    assert suggestion.interval[0] >= 0.85
    assert suggestion.rows == (confidence[:600].astype(np.float32) >= suggestion.threshold).sum()
    assert suggestion.coverage == pytest.approx((confidence >= suggestion.threshold).mean())


def test_the_size_of_a_sample() -> None:
    assert suggested_audit(100_000) == pytest.approx(381, abs=3)
    assert suggested_audit(40) == 40
    assert suggested_audit(100_000, width=0.9) == 50
    assert suggested_audit(100_000, accuracy=0.95) < 381
