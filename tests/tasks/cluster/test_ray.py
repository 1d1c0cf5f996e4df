"""A real Ray cluster on this machine, once: killed workers, resumed runs, and that nothing of it is left."""

from __future__ import annotations

import csv
import os
import signal
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sce_desktop.core.errors import UserError
from sce_desktop.core.labels import clean_labels
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.ml.hub.session import ModelSession
from sce_desktop.ml.parallel import embedder as embedder_module
from sce_desktop.ml.parallel.embedder import EmbedderPool
from sce_desktop.tasks.cluster import ray_pool as module
from sce_desktop.tasks.cluster.classify import ClusterReport, classify_on_cluster
from sce_desktop.tasks.cluster.ray_pool import RayCluster, RayPool, RayWish, check_installed
from sce_desktop.tasks.evaluation.evaluation import EvaluationSettings, evaluate_table
from sce_desktop.tasks.evaluation.gold import GoldSource
from sce_desktop.tasks.scoring.classify import ClassifySettings, classify_table
from tests.ml.tiny import tiny_sce

LABELS = clean_labels(["late parcel", "refund"])


def test_without_ray_one_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r'^Ray is not installed: run pip install "sce-desktop\[ray\]"\.$'):
        check_installed()


class Killing:
    """A pool that kills the process of the first result."""

    def __init__(self, pool: RayPool) -> None:
        self.pool = pool
        self.processes: list[int] = []

    def __enter__(self) -> Killing:
        return self

    def __exit__(self, *rest: object) -> None:
        self.pool.close()

    def map(self, blocks: Iterable[Any], progress: Progress, *, ordered: bool = True) -> Iterator[Any]:
        for found in self.pool.map(blocks, progress, ordered=ordered):
            if not self.processes:
                os.kill(found.process, signal.SIGKILL)
            self.processes.append(found.process)
            yield found


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.enable_socket
@pytest.mark.timeout(900)
def test_a_cluster_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    short = Path(tempfile.mkdtemp(prefix="r", dir="/tmp"))
    monkeypatch.setattr(tempfile, "tempdir", str(short))
    monkeypatch.setattr(embedder_module, "BLOCK", 64)
    monkeypatch.setattr(EmbedderPool, "alone", 64)
    model, table = tiny_sce(tmp_path), tmp_path / "in.csv"
    lines = [f"{n},the parcel was {'late' if n % 2 else 'lost'} {n},{LABELS[n % 2].name}" for n in range(400)]
    table.write_text("id,text,gold\n" + "\n".join(lines) + "\n")
    source = ModelSession("cpu")
    settings = ClassifySettings(str(model), batch_rows=50)
    classify_table(
        table,
        tmp_path / "right.csv",
        settings,
        text_columns=["text"],
        labels=LABELS,
        source=source,
        progress=SilentProgress(),
    )
    right = list(csv.reader((tmp_path / "right.csv").open(encoding="utf-8")))
    out = tmp_path / "out.csv"
    with RayCluster(RayWish(workers=2)) as cluster:
        pools: list[Killing] = []

        def start(opener: Any) -> Killing:
            pools.append(Killing(cluster.pool(opener)))
            return pools[-1]

        def classify() -> ClusterReport:
            return classify_on_cluster(
                str(table),
                str(out),
                settings,
                text_columns=["text"],
                labels=LABELS,
                source=source,
                start_pool=start,
                part_bytes=1200,
                progress=SilentProgress(),
            )

        report = classify()
        assert (report.rows, report.resumed) == (400, 0)
        killed = pools[0].processes[0]
        assert len(set(pools[0].processes)) >= 2
        assert pools[0].processes.count(killed) < report.parts
        parts = sorted(out.glob("part-*.csv"))
        found = [row for part in parts for row in list(csv.reader(part.open(encoding="utf-8")))[1:]]
        assert [row[:4] for row in found] == [row[:4] for row in right[1:]]
        for one, other in zip(found, right[1:], strict=True):
            assert [float(cell) for cell in one[-2:]] == pytest.approx(
                [float(c) for c in other[-2:]], abs=1e-6
            )

        parts[3].unlink()
        again = classify()
        assert (again.rows, again.resumed) == (len(list(csv.reader(parts[3].open()))) - 1, report.parts - 1)

        class Failing:
            def open(self, device: str) -> Any:
                raise UserError("There is no model here.")

        with (
            cluster.pool(Failing()) as pool,
            pytest.raises(UserError, match=r"^There is no model here\.$"),
        ):
            list(pool.map(range(3), SilentProgress()))

        elsewhere = ModelSession("cpu")
        elsewhere.workers = cluster.pool
        gold = GoldSource(table, ["text"], "gold")
        measured = [
            evaluate_table(gold, EvaluationSettings((str(model),)), source=one, progress=SilentProgress())
            for one in (source, elsewhere)
        ]
        assert measured[0].models[str(model)].accuracy == measured[1].models[str(model)].accuracy
        elsewhere.unload()
    assert list(short.glob("sce-ray-*")) == []
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
