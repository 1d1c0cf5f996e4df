"""Classifying in parts, without Ray: what the workers do is done here, in this process."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import fsspec.implementations.local
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.labels import clean_labels
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.tables import TableOptions
from sce_desktop.ml.hub.session import ModelSession
from sce_desktop.ml.parallel.pool import Opener
from sce_desktop.tasks.cluster import parts as parts_module
from sce_desktop.tasks.cluster.classify import ClusterReport, Pool, classify_on_cluster
from sce_desktop.tasks.cluster.parts import cut, look, open_part, sources
from sce_desktop.tasks.scoring.classify import ClassifySettings, classify_table
from sce_desktop.tasks.scoring.final_table import FinalWanted
from sce_desktop.tasks.scoring.models import Baseline
from tests.ml.tiny import tiny_sce

LABELS = clean_labels(["late parcel", "damaged box", "refund"])
WORDS = [*"the parcel was late".split(), *"and the box is wet so i want my money back".split()]  # noqa: SIM905


def text_of(n: int) -> str:
    return " ".join(WORDS[n % 9 : n % 9 + 3 + n % 4])


class Here:
    """Workers of a cluster, in this process. What is pickled there is pickled here."""

    def __init__(self, opener: Opener, log: list[Any], dies_at: int | None = None) -> None:
        self.work, self.log, self.dies_at = pickle.loads(pickle.dumps(opener)).open("cpu"), log, dies_at

    def map(self, blocks: Iterable[Any], progress: Progress, *, ordered: bool = True) -> Iterator[Any]:
        for block in list(blocks)[:: 1 if ordered else -1]:
            progress.check()
            if self.dies_at is not None and len(self.log) >= self.dies_at:
                raise Cancelled
            self.log.append(block)
            yield pickle.loads(pickle.dumps(self.work(pickle.loads(pickle.dumps(block)))))


def classify(
    place: Path | str,
    out: Path,
    model: Path,
    *,
    dies_at: int | None = None,
    log: list[Any] | None = None,
    force: bool = False,
    part_bytes: int = 700,
    progress: Progress | None = None,
    text: str = "text",
    **settings: Any,
) -> ClusterReport:
    done: list[Any] = [] if log is None else log

    def start(opener: Opener) -> AbstractContextManager[Pool]:
        return nullcontext(Here(opener, done, dies_at))

    return classify_on_cluster(
        str(place),
        str(out),
        ClassifySettings(str(model), batch_rows=16, **settings),
        text_columns=[text],
        labels=LABELS,
        source=ModelSession("cpu"),
        start_pool=start,
        part_bytes=part_bytes,
        force=force,
        progress=progress or SilentProgress(),
    )


def local(path: Path, out: Path, model: Path, **settings: Any) -> None:
    classify_table(
        path,
        out,
        ClassifySettings(str(model), batch_rows=16, **settings),
        text_columns=["text"],
        labels=LABELS,
        source=ModelSession("cpu"),
        force=True,
        progress=SilentProgress(),
    )


def read(folder: Path) -> pd.DataFrame:
    files = sorted(folder.glob("part-*"))
    if folder.suffix == ".parquet":
        return pa.concat_tables([pq.read_table(file) for file in files]).to_pandas()
    if folder.suffix == ".jsonl":
        return pd.DataFrame([json.loads(line) for file in files for line in file.open(encoding="utf-8")])
    return pd.concat([pd.read_csv(file, dtype=str, keep_default_na=False) for file in files])


def same(found: pd.DataFrame, right: pd.DataFrame) -> None:
    assert list(found.columns) == list(right.columns)
    assert len(found) == len(right)
    for name in right.columns:
        if "_p:" in name or name.endswith(("confidence", "_none")):
            one, other = (pd.to_numeric(frame[name]).to_numpy(float) for frame in (found, right))
            assert np.allclose(one, other, atol=1e-6, equal_nan=True), name
        else:
            assert found[name].tolist() == right[name].tolist(), name


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """100 rows that are easily read otherwise: leading zeros, blanks, quotes and line feeds in cells."""
    path = tmp_path / "in.csv"
    lines = []
    for n in range(100):
        text = {3: "", 7: f'"{text_of(n)}\n""{n}"", again"'}.get(n % 11, text_of(n))
        lines.append(f"{n:04},{text}")
    path.write_text("id,text\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("ending", "settings"),
    [
        (".csv", {"threshold": 0.4}),
        (".parquet", {"whole_table": True, "baselines": True}),
        (".jsonl", {"multi_label": True, "threshold": 0.5}),
    ],
)
def test_parts_together_are_the_local_result(
    tmp_path: Path, table: Path, ending: str, settings: dict[str, Any]
) -> None:
    model = tiny_sce(tmp_path)
    if settings.get("baselines"):
        settings = settings | {"baselines": (Baseline("similarity", "similarity", str(model)),)}
    local(table, tmp_path / f"right{ending}", model, **settings)
    log: list[Any] = []
    out = tmp_path / f"out{ending}"
    report = classify(table, out, model, log=log, **settings)
    (tmp_path / "whole").mkdir()
    whole = (tmp_path / f"right{ending}").rename(tmp_path / "whole" / f"part-0{ending}")
    same(read(out), read(whole.parent.rename(tmp_path / f"whole{ending}")))
    assert report.parts >= 4
    assert (report.rows, report.skipped_blank, report.resumed) == (100, 9, 0)
    assert not [path.name for path in out.iterdir() if not path.name.startswith(("part-", "_manifest"))]


def test_a_stopped_call_is_resumed_and_makes_nothing_twice(tmp_path: Path, table: Path) -> None:
    model, out = tiny_sce(tmp_path), tmp_path / "out.csv"
    first: list[Any] = []
    with pytest.raises(Cancelled):
        classify(table, out, model, dies_at=2, log=first)
    assert len(list(out.glob("part-*"))) == 2
    rest: list[Any] = []
    report = classify(table, out, model, log=rest, part_bytes=300)  # the parts of the first call count
    assert not {part.number for part in first} & {part.number for part in rest}
    assert (report.resumed, report.parts) == (2, 2 + len(rest))
    local(table, tmp_path / "right.csv", model)
    same(read(out), pd.read_csv(tmp_path / "right.csv", dtype=str, keep_default_na=False))
    nothing: list[Any] = []
    again = classify(table, out, model, log=nothing)
    assert (nothing, again.rows, again.resumed) == ([], 0, report.parts)


def test_other_settings_and_other_files_are_refused(tmp_path: Path, table: Path) -> None:
    model, out = tiny_sce(tmp_path), tmp_path / "out.csv"
    classify(table, out, model)
    with pytest.raises(UserError, match="holds parts made with other settings: choose another name or add"):
        classify(table, out, model, threshold=0.9)
    before = sorted(out.iterdir())
    classify(table, out, model, threshold=0.9, force=True)
    assert sorted(out.iterdir()) == before
    table.write_text(table.read_text(encoding="utf-8") + "0100,new\n", encoding="utf-8")
    with pytest.raises(UserError, match="holds parts of other files, or these changed"):
        classify(table, out, model, threshold=0.9)
    (tmp_path / "mine.csv").mkdir()
    (tmp_path / "mine.csv" / "letter.txt").write_text("dear")
    with pytest.raises(UserError, match="already exists and holds other files"):
        classify(table, tmp_path / "mine.csv", model, force=True)
    with pytest.raises(UserError, match="is a file: name a folder"):
        classify(table, table, model)
    with pytest.raises(UserError, match="Final labels need the local engine"):
        classify(table, tmp_path / "new.csv", model, final=FinalWanted())
    with pytest.raises(UserError, match=r"must end in \.parquet"):
        classify(table, tmp_path / "new.xlsx", model)
    (out / "_manifest.json").write_text("{")
    with pytest.raises(UserError, match="is damaged: add --force"):
        classify(table, out, model)


def test_folders_globs_and_objects_with_other_keys(tmp_path: Path) -> None:
    model, folder = tiny_sce(tmp_path), tmp_path / "texts"
    (folder / "deep").mkdir(parents=True)
    rows = [{"text": text_of(n), "n": n} | ({"more": [n]} if n > 40 else {}) for n in range(60)]
    for name, part in (("b.jsonl", rows[30:]), ("deep/a.jsonl", rows[:30])):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in part))
    (folder / "_notes.txt").write_text("no table")
    found = classify(folder, tmp_path / "out.jsonl", model)
    assert (found.rows, found.parts > 2) == (60, True)
    frame = read(tmp_path / "out.jsonl")
    assert frame["n"].tolist() == [row["n"] for row in (*rows[30:], *rows[:30])]
    assert frame["more"].dropna().tolist() == [[n] for n in range(41, 60)]
    globbed = classify(f"{folder}/*.jsonl", tmp_path / "some.parquet", model)
    assert globbed.rows == 30


def test_parquet_keeps_its_types_and_is_cut_at_row_groups(tmp_path: Path) -> None:
    model = tiny_sce(tmp_path)
    texts = [text_of(n) if n > 19 else None for n in range(80)]  # a part without any text, too
    pq.write_table(pa.table({"n": range(80), "text": texts}), tmp_path / "in.parquet", row_group_size=10)
    report = classify(tmp_path / "in.parquet", tmp_path / "out.parquet", model, part_bytes=1)
    assert report.parts == 8
    schemas = {pq.read_schema(file).to_string() for file in (tmp_path / "out.parquet").glob("part-*")}
    assert len(schemas) == 1
    assert "n: int64" in schemas.pop()
    local(tmp_path / "in.parquet", tmp_path / "right.parquet", model)
    same(read(tmp_path / "out.parquet"), pq.read_table(tmp_path / "right.parquet").to_pandas())


def test_an_address_of_another_file_system(tmp_path: Path, table: Path) -> None:
    import fsspec

    memory = fsspec.filesystem("memory")
    memory.pipe_file("/bucket/in.csv", table.read_bytes())
    model = tiny_sce(tmp_path)
    report = classify("memory://bucket/in.csv", "memory://bucket/out.csv", model)  # type: ignore[arg-type]
    names = sorted(name.rsplit("/", 1)[-1] for name in memory.ls("/bucket/out.csv", detail=False))
    assert names[0] == "_manifest.json"
    assert len(names) == 1 + report.parts
    local(table, tmp_path / "right.csv", model)
    for name in names[1:]:
        (tmp_path / name).write_bytes(memory.cat_file(f"/bucket/out.csv/{name}"))
    found = [pd.read_csv(tmp_path / name, dtype=str, keep_default_na=False) for name in names[1:]]
    same(pd.concat(found), pd.read_csv(tmp_path / "right.csv", dtype=str, keep_default_na=False))
    assert classify("memory://bucket/in.csv", "memory://bucket/out.csv", model).resumed == report.parts  # type: ignore[arg-type]


@pytest.mark.parametrize("step", [1, 50, 333, 2000])
@pytest.mark.parametrize("chunk", [7, 1_000_000])
def test_cut_anywhere_every_row_is_there_once(
    tmp_path: Path, table: Path, step: int, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts_module, "_CHUNK", chunk)
    files = sources(str(table))
    whole = look(files[0], TableOptions(), tmp_path)
    right = [cells for batch in whole.batches() for cells in batch]
    parts = cut(files, whole.options, part_bytes=step)
    assert (len(parts) > 20) == (step < 100)
    found = []
    for part in parts:
        opened = open_part(part, whole.options, tmp_path)
        assert opened.columns == whole.columns
        found += [cells for batch in opened.batches() for cells in batch]
    assert found == right


def test_places_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place, message in (
        (str(tmp_path / "none.csv"), "does not exist"),
        (str(tmp_path), "has no CSV, JSON Lines or Parquet file"),
        ("nowhere://bucket/x.csv", r"cannot be opened \(Protocol not known: nowhere\): check the address"),
    ):
        with pytest.raises(UserError, match=message):
            sources(place)

    def refuse(*_: object) -> bool:
        raise PermissionError(13, "Permission denied", "/bucket/x.csv")

    with monkeypatch.context() as inside:
        inside.setattr(fsspec.implementations.local.LocalFileSystem, "isdir", refuse)
        with pytest.raises(
            UserError, match=r"x\.csv cannot be read \(Permission denied\): check the address"
        ):
            sources(str(tmp_path / "x.csv"))
    (tmp_path / "book.xlsx").write_bytes(b"PK\x03\x04")
    with pytest.raises(UserError, match=r"book\.xlsx cannot be read in parts"):
        sources(str(tmp_path / "book.xlsx"))
