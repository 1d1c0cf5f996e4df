"""SetFit itself, on a tiny model; only where its extra is installed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.errors import Cancelled
from sce_desktop.core.progress import SilentProgress
from sce_desktop.research.few_shot_learning import Draw, Space
from sce_desktop.research.setfit_learner import SetFit, check_setfit
from tests.ml.tiny import tiny_sentence_transformer
from tests.tasks.fakes import StoppingProgress

pytest.importorskip("setfit")
TEXTS = [f"{word} {more}" for more in ("new", "old", "very", "not") for word in ("football", "market")]
GOLD = np.array([0, 1] * 4)
NOTHING = Space(np.empty((0, 0)), np.empty((0, 0)), np.empty((0, 0)), 1.0)


def test_it_learns_from_the_texts_and_can_be_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_setfit()
    folder = tiny_sentence_transformer(tmp_path)
    before = (folder / "model.safetensors").read_bytes()
    draw = Draw(np.arange(4), GOLD[:4], np.arange(4, 8), 0)
    learner = SetFit(folder, TEXTS)
    assert learner(NOTHING, draw, SilentProgress()).tolist() == [0, 1, 0, 1]
    assert capsys.readouterr() == ("", "")  # what `--json` prints stays readable
    with pytest.raises(Cancelled):
        learner(NOTHING, draw, StoppingProgress(0))
    assert (folder / "model.safetensors").read_bytes() == before


def test_what_it_said_is_logged_when_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        print("the reason")
        raise RuntimeError

    learner = SetFit(tmp_path, TEXTS)
    monkeypatch.setattr(learner, "_trained", fail)
    with pytest.raises(RuntimeError):
        learner(NOTHING, Draw(np.arange(4), GOLD[:4], np.arange(4, 8), 0), SilentProgress())
    assert "the reason" in caplog.text
