from __future__ import annotations

from typing import Any

import pytest

from sce_desktop.research.pretrain.prefetch import drawn
from tests.ml.parallel.threads import Looking


def test_processes_that_draw_have_a_thread_each(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    sampler: Any = Looking()
    with drawn(sampler, start=3, workers=1) as batches:
        found: Any = next(batches)
    assert found == (3, ("1", "1", "1"))
