"""What the guide says of clusters, one by one: in this process, and with Ray where it is installed."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sce_desktop.core.annotations import Label
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.training import FinetuneSettings
from sce_desktop.ml.finetune.standard import finetune
from sce_desktop.ml.hub.session import ModelSession
from sce_desktop.ml.parallel.pool import Opener
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.tasks.cluster import classify as module
from sce_desktop.tasks.cluster.classify import ClusterReport, Pool, StartPool, classify_on_cluster
from sce_desktop.tasks.cluster.scorer import PartPlan, Survey
from sce_desktop.tasks.scoring.classify import ClassifySettings, classify_table
from sce_desktop.tasks.scoring.models import Baseline
from tests.ml.tiny import tiny_sce, tiny_sce_model
from tests.tasks.cluster.test_cluster import LABELS, Here, read, same, text_of

ROWS = [{"id": f"{n:03}", "text": text_of(n) if n % 13 else "", "n": n} for n in range(60)]
ENDINGS = (".csv", ".jsonl", ".parquet")
ON_RAY = (("file", ".csv"), ("folder", ".jsonl"), ("glob", ".parquet"), ("address", ".csv"))


@dataclass
class Cluster:
    """Starts pools, and keeps what they were started with."""

    start: StartPool
    openers: list[Opener] = field(default_factory=list)

    def pool(self, opener: Opener) -> AbstractContextManager[Pool]:
        self.openers.append(opener)
        return self.start(opener)


@pytest.fixture(scope="module")
def _ray() -> Iterator[StartPool]:
    from sce_desktop.tasks.cluster.ray_pool import RayCluster, RayWish

    short = tempfile.mkdtemp(prefix="r", dir="/tmp")  # Ray's sockets need short names
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", short)
        with RayCluster(RayWish(workers=1)) as cluster:
            patch.setattr(tempfile, "tempdir", None)
            yield cluster.pool
    shutil.rmtree(short, ignore_errors=True)


@pytest.fixture(
    params=[
        "here",
        pytest.param(
            "ray",
            marks=[
                pytest.mark.ray,
                pytest.mark.slow,
                pytest.mark.enable_socket,
                pytest.mark.timeout(600),
            ],
        ),
    ]
)
def cluster(request: pytest.FixtureRequest) -> Cluster:
    if request.param == "ray":
        return Cluster(request.getfixturevalue("_ray"))
    return Cluster(lambda opener: nullcontext(Here(opener, [])))


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".csv":
        pd.DataFrame(rows).to_csv(path, index=False)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=20)
    return path


def on_cluster(cluster: Cluster, place: str, out: str, settings: ClassifySettings) -> ClusterReport:
    return classify_on_cluster(
        place,
        out,
        settings,
        text_columns=["text"],
        labels=LABELS,
        source=ModelSession("cpu"),
        start_pool=cluster.pool,
        part_bytes=600,
        progress=SilentProgress(),
    )


def by_local(path: Path, out: Path, settings: ClassifySettings) -> pd.DataFrame:
    classify_table(
        path,
        out,
        settings,
        text_columns=["text"],
        labels=LABELS,
        source=ModelSession("cpu"),
        progress=SilentProgress(),
    )
    folder = out.with_name(f"local{out.suffix}")
    folder.mkdir()
    out.rename(folder / f"part-0{out.suffix}")
    return read(folder)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("kind", ["file", "folder", "glob", "address"])
def test_every_kind_of_input_in_every_format(
    tmp_path: Path, cluster: Cluster, ending: str, kind: str, request: pytest.FixtureRequest
) -> None:
    if "ray" in request.node.callspec.id and (kind, ending) not in ON_RAY:
        pytest.skip("each kind and each format once will do on a real cluster")
    settings = ClassifySettings(str(tiny_sce(tmp_path)), batch_rows=16)
    out = {".csv": ".parquet", ".jsonl": ".csv", ".parquet": ".jsonl"}[ending]
    right = by_local(write(tmp_path / f"whole{ending}", ROWS), tmp_path / f"right{out}", settings)
    folder = tmp_path / "texts"
    if kind in ("file", "address"):
        write(folder / f"a{ending}", ROWS)
        place = str(folder / f"a{ending}")
    else:
        write(folder / f"a{ending}", ROWS[:25])
        write(folder / f"b{ending}", ROWS[25:])
        (folder / "_SUCCESS").touch()
        place = str(folder) if kind == "folder" else f"{folder}/?{ending}"
    prefix = "file://" if kind == "address" else ""
    report = on_cluster(cluster, prefix + place, f"{prefix}{tmp_path}/out{out}", settings)
    found = read(tmp_path / f"out{out}")
    assert (report.rows, report.parts > 1) == (60, True)
    if out == ".csv":
        for frame in (found, right):
            frame["n"] = frame["n"].astype(str)
    same(found, right)


@pytest.mark.parametrize(
    "settings",
    [
        {"threshold": 0.99},
        {"multi_label": True, "threshold": 0.45},
        {"baselines": True},
        {"none": True},
        {"tuned": True},
    ],
    ids=lambda settings: "-".join(settings),
)
def test_every_setting_gives_the_local_rows(
    tmp_path: Path, cluster: Cluster, settings: dict[str, Any]
) -> None:
    model = tmp_path / "tiny"
    if settings.pop("none", False):
        tiny_sce_model(says_none=True).save_pretrained(model)
    else:
        tiny_sce(tmp_path)
    if settings.pop("tuned", False):
        _tuned(model).save_pretrained(tmp_path / "mine")
        model = tmp_path / "mine"
    if settings.pop("baselines", False):
        settings["baselines"] = (Baseline("similarity", "similarity", str(model)),)
    wanted = ClassifySettings(str(model), batch_rows=16, **settings)
    table = write(tmp_path / "in.csv", ROWS)
    right = by_local(table, tmp_path / "right.csv", wanted)
    report = on_cluster(cluster, str(table), str(tmp_path / "out.csv"), wanted)
    assert report.parts > 2
    found = read(tmp_path / "out.csv")
    same(found, right)
    assert ("sce_none" in found.columns) == (model.name == "tiny" and _says_none(model))
    assert ("similarity_label" in found.columns) == ("baselines" in settings)
    if "threshold" in settings and not wanted.multi_label:
        assert 0 < (found["sce_status"] == "unsure").sum() < 55


def _says_none(model: Path) -> bool:
    return SCEModel.from_pretrained(model).probabilities(["?"], LABELS).none is not None


def _tuned(model: Path) -> SCEModel:
    """A version that has learned what the names do not say."""
    texts = [text_of(n) for n in range(1, 25)]
    gold = [n % 3 for n in range(1, 25)]
    base = SCEModel.from_pretrained(model)
    labels = [Label(label.name) for label in LABELS]
    found = finetune(
        base, texts, gold, labels, settings=FinetuneSettings(epochs=20), progress=SilentProgress()
    )
    before = base.probabilities(texts, labels).probabilities
    assert np.abs(found.model.probabilities(texts, labels).probabilities - before).max() > 0.01
    return found.model


def test_the_reference_sample_is_drawn_once_and_sent_to_all(
    tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_TEXTS", 20)  # what parts name is sampled again on the way
    settings = ClassifySettings(str(tiny_sce(tmp_path)), batch_rows=16, whole_table=True)
    table = write(tmp_path / "in.csv", ROWS)
    right = by_local(table, tmp_path / "right.csv", settings)
    report = on_cluster(cluster, str(table), str(tmp_path / "out.csv"), settings)
    assert report.whole_table
    same(read(tmp_path / "out.csv"), right)
    survey, plan = cluster.openers  # one pool draws, one scores
    assert isinstance(survey, Survey)
    assert survey.sampled
    assert isinstance(plan, PartPlan)
    assert plan.plan.reference is not None
    assert len(plan.plan.reference.vectors) == sum(bool(row["text"]) for row in ROWS)
    (tmp_path / "out.csv" / "part-000001.csv").unlink()
    assert on_cluster(cluster, str(table), str(tmp_path / "out.csv"), settings).resumed == report.parts - 1
    same(read(tmp_path / "out.csv"), right)
