from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.project import Project
from sce_desktop.store.runs.vector_cache import VectorCache
from sce_desktop.tasks.scoring.vectors import KnownVectors, project_vectors
from tests.tasks.fakes import StoppingProgress


def test_rows_that_were_read_have_vectors_in_their_order(tmp_path: Path) -> None:
    with Project.create(tmp_path / "p.sce") as project, VectorCache(tmp_path / "v.db") as cache:
        rows = [("",) if n == 3 else (f"text {n}",) for n in range(10)]
        project.add_rows(["text"], [rows], text_columns=[0], source={})
        known = KnownVectors("e", cache)
        with pytest.raises(UserError, match="score the rows"):
            project_vectors(project, known, progress=SilentProgress())
        cache.put("e", ["text 7", "text 1"], np.asarray([[7, 0], [1, 0]], dtype=np.float32))
        ids, vectors = project_vectors(project, known, progress=SilentProgress())
        assert ids.tolist() == [2, 8]
        assert vectors[:, 0].tolist() == [1, 7]
        ids, vectors = project_vectors(project, known, np.asarray([8, 2, 5]), progress=SilentProgress())
        assert ids.tolist() == [8, 2]
        assert vectors[:, 0].tolist() == [7, 1]
        with pytest.raises(Cancelled):
            project_vectors(project, known, progress=StoppingProgress(0))
