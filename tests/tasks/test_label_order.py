from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import Cancelled
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.runs import Scores
from sce_desktop.tasks.evaluation.label_order import label_order_sensitivity
from sce_desktop.tasks.scoring.models import NamedModel
from sce_desktop.tasks.scoring.slow import duration, report_time
from tests.tasks.fakes import FakeModel, StoppingProgress

LABELS = [Label("late"), Label("lost"), Label("damaged")]
TEXTS = ["late", "lost", "damaged", "nothing"]


class FirstWins(FakeModel):
    """Answers with whatever label stands first."""

    def probabilities(self, texts: Sequence[str], labels: Sequence[Label], **_: object) -> Scores:  # type: ignore[override]
        rows = np.zeros((len(texts), len(labels)), dtype=np.float32)
        rows[:, 0] = 1
        return Scores(rows)


class Slow(FakeModel):
    def seconds_a_row(self, texts: Sequence[str], labels: Sequence[Label]) -> float:
        return 2.0


def test_a_model_that_looks_at_names_never_changes() -> None:
    model, texts = FakeModel(), TEXTS[:3]
    usual = model.probabilities(texts, LABELS).probabilities
    found = label_order_sensitivity(
        model, texts, LABELS, usual, shuffles=5, cache=None, progress=SilentProgress()
    )
    assert (found.shuffles, found.changed, found.rows) == (5, 0.0, 0.0)


def test_a_model_that_takes_the_first_label_changes_with_it() -> None:
    model = FirstWins(kind="llm")
    usual = model.probabilities(TEXTS, LABELS).probabilities
    found = label_order_sensitivity(
        model, TEXTS, LABELS, usual, shuffles=30, cache=None, progress=SilentProgress()
    )
    assert found.rows == 1.0
    assert 0.4 < found.changed < 0.9  # two thirds of random orders begin with another label
    stop = StoppingProgress(1)
    with pytest.raises(Cancelled):
        label_order_sensitivity(FakeModel(), TEXTS, LABELS, usual, shuffles=2, cache=None, progress=stop)


def test_a_slow_run_is_reported_before_it_starts() -> None:
    progress = SilentProgress()
    models = [NamedModel("sce", "fast", FakeModel()), NamedModel("llm", "llm", Slow(kind="llm"))]
    report_time(models, TEXTS, LABELS, 5, progress)
    assert progress.warnings == []
    report_time(models, TEXTS, LABELS, 5000, progress)
    assert len(progress.warnings) == 1
    assert "takes about 2 h 47 min for 5,000 rows" in progress.warnings[0]
    assert (duration(30), duration(600)) == ("30 s", "10 min")
