"""The program is killed while it adapts a text embedder: the version in use stays usable."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path

import pytest

from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.training import FinetuneSettings
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.store.project import Project
from sce_desktop.tasks.training.version_models import version_model
from sce_desktop.tasks.training.versions import finetune_project
from tests.ml.test_finetune import GOLD, TEXTS, WORDS
from tests.ml.tiny import tiny_sce

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no kill -9")

CODE = """
    import sys
    from pathlib import Path
    import torch
    from sce_desktop.core.progress import SilentProgress
    from sce_desktop.ml.finetune import finetune_embedder
    from sce_desktop.core.training import FinetuneSettings
    from sce_desktop.ml.sce.model import SCEModel
    from sce_desktop.store.project import Project
    from sce_desktop.tasks.training.versions import finetune_project

    def on_epoch(epoch):
        if epoch.stage == sys.argv[3]:
            print(epoch.number, flush=True)
        return True

    torch.set_num_threads(1)
    finetune_embedder._better = lambda *_: True  # so that it comes to what is kept
    settings = FinetuneSettings(epochs=10, lr=1.9, adapt_embedder=True)
    with Project.open(Path(sys.argv[1])) as project:
        base = SCEModel.from_pretrained(sys.argv[2])
        finetune_project(
            project, base, sys.argv[2], settings=settings, progress=SilentProgress(), on_epoch=on_epoch
        )
"""


class Folders:
    """Where models come from: their folders."""

    def model(self, name: str) -> SCEModel:
        return SCEModel.from_pretrained(name)

    def baseline(self, spec: str) -> SCEModel:
        raise NotImplementedError


@pytest.mark.parametrize("stage", ["adapting", "keeping"])
def test_killed_while_the_embedder_is_adapted(tmp_path: Path, stage: str) -> None:
    folder, path = str(tiny_sce(tmp_path)), tmp_path / "p.sce"
    with Project.create(path) as project:
        project.add_rows(["text"], [[(text,) for text in TEXTS]], text_columns=[0], source={})
        ids = [label.id or 0 for label in project.set_labels([Label(name) for name in WORDS]).labels]
        for row, place in enumerate(GOLD, 1):
            project.decide([row], Decision.LABEL, [ids[place]])
        base = SCEModel.from_pretrained(folder)
        quick = FinetuneSettings(epochs=10)
        first = finetune_project(project, base, folder, settings=quick, progress=SilentProgress()).version
        project.activate_version(first.id)
        labels = project.label_set()
        assert labels is not None
        said = version_model(project, first, Folders()).probabilities(TEXTS, labels.labels).probabilities
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(CODE), str(path), folder, stage],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    assert child.stdout is not None
    with child.stdout:
        assert child.stdout.readline().strip() == "1"
        child.kill()
    assert child.wait() == -signal.SIGKILL
    with closing(sqlite3.connect(path)) as plain:
        assert plain.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    with Project.open(path) as project:
        assert project.verify() == []
        (version,) = project.versions()
        assert version.id == first.id
        assert version.active
        again = version_model(project, version, Folders()).probabilities(TEXTS, labels.labels).probabilities
        assert (again == said).all()
