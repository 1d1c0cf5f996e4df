"""Make the paper's folder of labelled sets from the original downloads."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from sce_desktop.core.progress import Progress
from sce_desktop.data.atomic import replacing
from sce_desktop.data.paper_sources import SOURCES, Example, draw


def prepare_paper_data(
    downloads: Mapping[str, Sequence[Path]], output: Path, *, seed: int = 0, progress: Progress
) -> dict[str, dict[str, int]]:
    """Write what `pretrain` and `benchmark` read, and return how many rows of each split every set has.

    Sets that the paper trains on go to ``train/`` (rows of the split "test" are never trained on) and, under
    ``NAME_validation``, to ``validation/``; the unseen ones to ``benchmark/``.

    Raises:
        UserError: A download is not what it should be, or the place cannot be written.
    """
    counts = {}
    for number, (name, paths) in enumerate(downloads.items()):
        progress.report(number, len(downloads), stage=f"reading {name}")
        progress.check()
        source = SOURCES[name]
        rows = draw(source, paths, seed=seed)
        counts[name] = {split: len(found) for split, found in rows.items()}
        if source.seen:
            _write(output / "train" / name, {"train": rows["train"], "test": rows["test"]})
            _write(output / "validation" / f"{name}_validation", {"validation": rows["validation"]})
        else:
            _write(output / "benchmark" / name, {"test": rows["test"]})
    return counts


def _write(place: Path, splits: Mapping[str, Sequence[Example]]) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    target = place.with_name(f"{place.name}.jsonl.gz")
    with replacing(target) as aside, gzip.open(aside, "wt", encoding="utf-8") as file:
        for split, rows in splits.items():
            for text, label in rows:
                line = {"text": text, "label": label, "split": split}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
