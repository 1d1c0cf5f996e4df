"""Make the paper's folder of labelled sets from the original downloads."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from sce_desktop.core.progress import Progress
from sce_desktop.data.atomic import replacing
from sce_desktop.research.paper_sources import SOURCES, Example, draw
from sce_desktop.tasks.tables.replaceable import check_output

_LONGEST = 10_000_000  # characters of a line; there is no longer text in these sets


def prepare_paper_data(
    downloads: Mapping[str, Sequence[Path]],
    output: Path,
    *,
    seed: int = 0,
    force: bool = False,
    progress: Progress,
) -> dict[str, dict[str, int]]:
    """Write what `pretrain` and `benchmark` read, and return how many rows of each split every set has.

    Sets that the paper trains on go to ``train/`` (rows of the split "test" are never trained on) and, under
    ``NAME_validation``, to ``validation/``; the unseen ones to ``benchmark/``.

    Sets that an earlier call made are made again; other files are replaced only with ``force``.

    Raises:
        UserError: A download is not what it should be, or the place cannot be written.
    """
    counts = {}
    for name in downloads:
        for target in _targets(output, name):
            check_output(target, force=force, ours=partial(_is_set, target), what="a set of this command")
    for number, (name, paths) in enumerate(downloads.items()):
        progress.report(number, len(downloads), stage=f"reading {name}")
        progress.check()
        source = SOURCES[name]
        rows = draw(source, paths, seed=seed)
        counts[name] = {split: len(found) for split, found in rows.items()}
        targets = _targets(output, name)
        if source.seen:
            _write(targets[0], {"train": rows["train"], "test": rows["test"]})
            _write(targets[1], {"validation": rows["validation"]})
        else:
            _write(targets[0], {"test": rows["test"]})
    return counts


def _targets(output: Path, name: str) -> list[Path]:
    if SOURCES[name].seen:
        places = [output / "train" / name, output / "validation" / f"{name}_validation"]
    else:
        places = [output / "benchmark" / name]
    return [place.with_name(f"{place.name}.jsonl.gz") for place in places]


def _is_set(target: Path) -> bool:
    try:
        with gzip.open(target, "rt", encoding="utf-8") as file:
            return list(json.loads(file.readline(_LONGEST))) == ["text", "label", "split"]
    except (OSError, EOFError, zlib.error, ValueError, TypeError, RecursionError):
        return False


def _write(target: Path, splits: Mapping[str, Sequence[Example]]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing(target) as aside, gzip.open(aside, "wt", encoding="utf-8") as file:
        for split, rows in splits.items():
            for text, label in rows:
                line = {"text": text, "label": label, "split": split}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
