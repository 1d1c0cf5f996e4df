"""All operations, and the process that they are forked from."""

from __future__ import annotations

import gc
import json
import math
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from sce_desktop.core.annotations import Label
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.training import FinetuneSettings
from tests.faults import kills
from tests.faults.kills import Found, Operation, Tell
from tests.faults.operations import COMMANDS
from tests.faults.people import EPOCHS, FineTuning, Labelling, Scoring


def operations(names: Sequence[str] | None = None) -> list[Operation]:
    """Return the operations called ``names``, all without, in the order of a project's life."""
    from sce_desktop.ml.finetune.standard import finetune
    from tests.faults.window import Window
    from tests.ml.test_finetune import GOLD, TEXTS, WORDS
    from tests.ml.tiny import tiny_sce_model

    model = tiny_sce_model()
    labels = [Label(name, id=number) for number, name in enumerate(WORDS, 1)]
    settings = FinetuneSettings(epochs=EPOCHS)
    fitted = finetune(model, TEXTS, GOLD, labels, settings=settings, progress=SilentProgress())
    importing, adding, *others = COMMANDS
    every: list[Operation] = [
        importing,
        adding,
        Scoring(model=model),
        Labelling(),
        FineTuning(model=model, fitted=fitted),
        *others,
        Window(),
    ]
    known = {operation.name: operation for operation in every}
    return every if names is None else [known[name] for name in names]


def run(
    number: int,
    seed: int,
    *,
    names: Sequence[str] | None = None,
    folder: Path | None = None,
    lanes: int = 1,
    minutes: float = math.inf,
) -> dict[str, Found]:
    """Kill so often and return what was found by operation. What was found is kept in ``folder``."""
    load_everything()
    chosen = operations(names)
    place = folder or Path(tempfile.mkdtemp(prefix="sce-faults-", dir=_fast_folder()))
    place.mkdir(parents=True, exist_ok=True)
    material = place / "material"
    _make_material(place, material)
    gc.freeze()  # what is here now is never collected, so that children share it
    spans = {op.name: kills.measure(op, material, place / op.name, seed) for op in chosen}
    if lanes == 1:
        counts = kills.rehearse(chosen, material, place / "kills", number, seed, spans, seconds=60 * minutes)
    else:
        counts = _in_lanes(chosen, material, place, number, seed, spans, lanes, 60 * minutes)
    if folder is None and not any(f.lost or f.damaged or f.litter for f in counts.values()):
        shutil.rmtree(place, ignore_errors=True)
    return counts


def load_everything() -> None:
    """Import what children need, so that none spends its life on that."""
    import charset_normalizer  # noqa: F401
    import clevercsv  # noqa: F401
    import pyarrow.compute
    import pyarrow.parquet  # noqa: F401
    import python_calamine  # noqa: F401
    import torch
    import xlsxwriter  # noqa: F401

    import sce_desktop.app
    import sce_desktop.tasks.scoring.scoring
    import sce_desktop.tasks.tables.export
    import sce_desktop.tasks.tables.replaceable
    import sce_desktop.tasks.training.versions  # noqa: F401
    import tests.ui.at_work  # noqa: F401
    from sce_desktop.tasks.scoring.languages import languages_of

    torch.set_num_threads(1)
    languages_of(["The parcel was two days late."])


def _make_material(place: Path, material: Path) -> None:
    from tests.faults.material import make

    def work(tell: Tell) -> None:
        make(material)
        tell("made")

    maker = place / "maker"
    for folder in (material, maker / "files"):
        folder.mkdir(parents=True)
    child, reader = kills._fork(work, maker)
    said, _ = kills._read(reader, until=None, seconds=kills.PATIENCE_S)
    os.close(reader)
    os.waitpid(child, 0)
    if said != b"made\n":
        raise RuntimeError((maker / "output.txt").read_text(encoding="utf-8"))


def _in_lanes(
    chosen: Sequence[Operation],
    material: Path,
    place: Path,
    number: int,
    seed: int,
    spans: dict[str, float],
    lanes: int,
    seconds: float,
) -> dict[str, Found]:
    """Share the kills among processes, each with seeds of its own."""
    readers = []
    for lane in range(lanes):
        share = number // lanes + (lane < number % lanes)

        def work(lane: int = lane, share: int = share) -> str:
            counts = kills.rehearse(
                chosen, material, place / f"lane{lane}", share, seed * 64 + lane, spans, seconds=seconds
            )
            return json.dumps({name: vars(found) for name, found in counts.items()})

        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            try:
                os.write(writer, work().encode())
            finally:
                os._exit(0)
        os.close(writer)
        readers.append((reader, child))
    counts = {operation.name: Found() for operation in chosen}
    for reader, child in readers:
        with os.fdopen(reader, "rb") as stream:
            for name, found in json.loads(stream.read()).items():
                counts[name].add(Found(**found))
        os.waitpid(child, 0)
    return counts


def _fast_folder() -> str | None:
    """Return a folder in memory: a killed program's writes are safe with the system there, too."""
    memory = "/dev/shm"
    return memory if os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 2 << 30 else None
