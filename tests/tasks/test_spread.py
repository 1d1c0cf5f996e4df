"""Classifying on several devices: CPU "devices" stand for GPUs, each with a process of its own."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.labels import clean_labels
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.runs import TextModel
from sce_desktop.data.csv.csv_spans import Span
from sce_desktop.ml.hub.session import ModelSession
from sce_desktop.ml.parallel import pool as pool_module
from sce_desktop.store.content.rows import Shape
from sce_desktop.tasks.scoring import spread as module
from sce_desktop.tasks.scoring.blocks import BlockPlan, BlockScorer
from sce_desktop.tasks.scoring.classify import ClassifyReport, ClassifySettings, classify_table
from sce_desktop.tasks.scoring.final_table import FinalWanted
from sce_desktop.tasks.scoring.models import Baseline, NamedModel
from sce_desktop.tasks.tables.columns import ModelColumns
from tests.ml.tiny import tiny_sce
from tests.tasks.fakes import FakeModel, RecordingProgress

LABELS = clean_labels(["late parcel", "damaged box", "refund"])
WORDS = [*"the parcel was late".split(), *"and the box is wet so i want my money back".split()]  # noqa: SIM905


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """130 rows, some without text, some in another script, some that csv must quote."""
    lines = []
    for n in range(130):
        text = " ".join(WORDS[n % 9 : n % 9 + 5])
        text = {3: "", 7: "посылка опоздала", 11: f'"{text}, ""again"""'}.get(n % 13, text)
        lines.append(f"{n},{text},refund")
    path = tmp_path / "in.csv"
    path.write_text("id,text,gold\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def classify(
    table: Path,
    output: Path,
    device: str,
    model: Path,
    *,
    progress: Progress | None = None,
    **settings: object,
) -> ClassifyReport:
    wanted = ClassifySettings(str(model), batch_rows=16, **settings)  # type: ignore[arg-type]
    return classify_table(
        table,
        output,
        wanted,
        text_columns=["text"],
        labels=LABELS,
        source=ModelSession(device),
        force=True,
        progress=progress or SilentProgress(),
    )


class PoolHere:
    """Does the work of a `WorkerPool` in this process: starting processes takes seconds."""

    def __init__(self, opener: BlockPlan, devices: Sequence[str]) -> None:
        self.work = opener.open(devices[-1])

    def __enter__(self) -> PoolHere:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def map(self, blocks: Iterable[Any], progress: Progress) -> Iterator[Any]:
        return map(self.work, pickle.loads(pickle.dumps(list(blocks))))


@pytest.mark.parametrize(
    ("ending", "settings"),
    [
        (".csv", {"threshold": 0.4, "excel_safe": True}),
        (".jsonl", {"multi_label": True, "threshold": 0.5}),
        (".parquet", {"whole_table": True, "baselines": ("own",)}),
        (".csv", {"final": FinalWanted(column="gold")}),
    ],
)
def test_the_result_is_that_of_one_device(
    tmp_path: Path, table: Path, ending: str, settings: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    if not settings.get("excel_safe"):  # once with processes
        monkeypatch.setattr(pool_module, "WorkerPool", PoolHere)
    model = tiny_sce(tmp_path)
    if "baselines" in settings:
        settings = settings | {"baselines": (Baseline("similarity", "similarity", str(model)),)}
    progress, other = RecordingProgress(), RecordingProgress()
    one = classify(table, tmp_path / f"one{ending}", "cpu", model, progress=progress, **settings)
    two = classify(table, tmp_path / f"two{ending}", "cpu:2", model, progress=other, **settings)
    assert (tmp_path / f"one{ending}").read_bytes() == (tmp_path / f"two{ending}").read_bytes()
    assert other.warnings == progress.warnings
    assert any("Cyrillic" in warning for warning in other.warnings)
    same = {"seconds": {}, "output": ""}
    assert dataclasses.replace(one, **same) == dataclasses.replace(two, **same)
    assert set(two.seconds) == {"load", "embed", "score", "total"}
    assert min(two.seconds.values()) >= 0
    done = [done for done, _, stage in other.reports if stage == "classifying"]
    assert done == sorted(done)
    assert done[-1] == 130


def test_workers_read_a_table_as_one_process_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells with line breaks, blank lines, rows of other lengths; then a row that breaks the rules."""
    monkeypatch.setattr(pool_module, "WorkerPool", PoolHere)
    lines = [f"{n},{' '.join(WORDS[n % 9 : n % 9 + 4])}" for n in range(900)]
    lines[20], lines[50], lines[60] = '20,"late\n\nparcel, ""wet"""', "", "60"
    lines[70], lines[800] = "70,late,more", '800,"late" parcel'
    table = tmp_path / "in.csv"
    table.write_text("id,text\n" + "\n".join(lines), encoding="utf-8")
    read: list[type] = []
    work = module.TablePlan.open

    def opened(plan: module.TablePlan, device: str) -> Any:
        scorer = work(plan, device)
        return lambda block: read.append(type(block.rows)) or scorer(block)

    monkeypatch.setattr(module.TablePlan, "open", opened)
    progress, other = RecordingProgress(), RecordingProgress()
    model = tiny_sce(tmp_path)
    one = classify(table, tmp_path / "one.csv", "cpu", model, progress=progress)
    two = classify(table, tmp_path / "two.csv", "cpu:2", model, progress=other)
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    assert other.warnings == progress.warnings
    assert any("problems in the table" in warning for warning in other.warnings)
    assert one.rows == two.rows == 899
    assert two.languages == pytest.approx(one.languages, abs=0.02)  # a blank row counts in the sample here
    assert (read.count(Span), read.count(list)) == (49, 8)  # from the batch with the broken row on


def test_a_cancel_leaves_nothing(tmp_path: Path, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "WorkerPool", PoolHere)

    class Stopping(RecordingProgress):
        def check(self) -> None:
            if any(stage == "classifying" for _, _, stage in self.reports):
                raise Cancelled

    with pytest.raises(Cancelled):
        classify(table, tmp_path / "out.csv", "cpu:2", tiny_sce(tmp_path), progress=Stopping())
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(("out", "."))] == []


def test_a_model_that_is_another_on_the_worker_is_refused() -> None:
    columns = ModelColumns("sce", ["refund"], main=True)
    plan = BlockPlan(
        "fake", (), LABELS, False, Shape(("text",), (0,)), (columns,), fingerprint="of somebody else"
    )
    model: TextModel = FakeModel()
    with pytest.raises(UserError, match="The model “fake” is not the same on every worker"):
        BlockScorer(plan, [NamedModel("sce", "fake", model)])


def test_one_device_needs_no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert module.Spread.over(ModelSession("cpu")) is None
    several = module.Spread.over(ModelSession("cpu:3"))
    assert several is not None
    assert several.processes == ("cpu", "cpu", "cpu")
