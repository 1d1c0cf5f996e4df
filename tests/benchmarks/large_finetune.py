"""``large-finetune``: very many labelled rows: what a fine-tune takes, and what its sample costs in accuracy.

With ``--data FOLDER`` (labelled sets as JSON Lines): a table of 40,000 rows (``--large-rows``) with 100
labels is made of the training sets and fine-tuned by the command, which notes what it expects to take. With
``--sets``, each of these is learned from whole and as a stratified sample of half of it instead, both
measured on the same fifth that neither has seen.
"""

from __future__ import annotations

import gzip
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROWS, LABELS = 40_000, 100
SETS = (
    *("biomedical_titles", "stackoverflow_titles", "open_trivia", "huffpost", "tagmynews", "argument_topics"),
    *("jeopardy_topics", "nyt_sections", "clinc150", "goemotions", "bitext_support_intents"),
)
"""Training sets of short texts: titles, headlines, questions, requests."""


def read(file: Path) -> list[tuple[str, str]]:
    """Return (text, label) of a labelled set, of a training set without its test part."""
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    return [
        (row["text"], row["label"])
        for row in rows
        if file.parent.name != "train" or row.get("split") != "test"
    ]


def table(data: Path, path: Path, rows: int = ROWS, labels: int = LABELS) -> None:
    """Write a table of the labels that have the most rows in the training sets, all of the same size."""
    texts: dict[str, list[str]] = {}
    seen: set[str] = set()
    for file in (data / "train" / f"{name}.jsonl.gz" for name in SETS):
        for text, label in read(file):
            if text not in seen:
                seen.add(text)
                texts.setdefault(label.lower(), []).append(text)
    random = np.random.default_rng(0)
    chosen = sorted(texts, key=lambda label: -len(texts[label]))[:labels]
    found = [
        {"text": text, "label": label}
        for label in chosen
        for text in random.permutation(texts[label])[: rows // labels].tolist()
    ]
    print(f"{len(found):,} rows, {np.mean([len(row['text']) for row in found]):.0f} characters on average")
    order = random.permutation(len(found)).tolist()
    with path.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(found[place]) + "\n" for place in order)


def run_command(data: Path, rows: int = ROWS) -> None:
    """Make the table, run ``sce-desktop finetune`` on it and print its time and peak memory."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "table.jsonl"
        table(data, path, rows)
        command = [sys.executable, "-m", "sce_desktop", "finetune", str(path), "--text", "text"]
        command += ["--gold", "label", "-o", str(Path(place) / "tuned"), "--model", "sce-mini"]
        started = time.perf_counter()
        done = subprocess.run(command, check=False)
        took = time.perf_counter() - started
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{rows:,} rows, {LABELS} labels: exit {done.returncode}, {took:.0f} s, "
        f"{usage.ru_utime + usage.ru_stime:.0f} s of the processor, {usage.ru_maxrss / 1024:.0f} MiB"
    )


def compare(file: Path, model_name: str, part: float = 0.5, most: int = 20_000) -> None:
    """Print the accuracy on a fifth of a set after learning from the rest, and from a sample of the rest."""
    from sce_desktop.core.annotations import Label
    from sce_desktop.core.figures import PairedCounts
    from sce_desktop.core.progress import SilentProgress
    from sce_desktop.ml.finetune.standard import finetune
    from sce_desktop.ml.hub import catalog
    from sce_desktop.ml.sce.model import SCEModel
    from sce_desktop.tasks.training.sampling import stratified

    rows = read(file)
    random = np.random.default_rng(0)
    rows = [rows[place] for place in random.permutation(len(rows))[:most].tolist()]
    names = sorted({label for _text, label in rows})
    labels = [Label(name) for name in names]
    gold = np.array([names.index(label) for _text, label in rows])
    texts = [text for text, _label in rows]
    model = SCEModel.from_pretrained(catalog.resolve(model_name))
    vectors = model.embed(texts, progress=SilentProgress())
    test, rest = np.arange(len(rows) // 5), np.arange(len(rows) // 5, len(rows))
    right = {}
    for name, places in (("all", rest), ("sample", rest[stratified(gold[rest], int(part * len(rest)), 0)])):
        model.embed = lambda _texts, places=places, **_more: vectors[places]  # type: ignore[method-assign,misc]
        started = time.process_time()
        learned = [texts[place] for place in places.tolist()]
        tuned = finetune(model, learned, gold[places].tolist(), labels, progress=SilentProgress())
        found = tuned.model.score(vectors[test], labels).probabilities.argmax(1)
        right[name] = found == gold[test]
        print(
            f"{file.name[:-9]:20} {len(names):4} labels, {name:6} {len(places):6,} rows: "
            f"{right[name].mean():.1%} of {len(test):,}, {time.process_time() - started:.0f} s",
            flush=True,
        )
    gained = int((right["all"] & ~right["sample"]).sum())
    lost = int((right["sample"] & ~right["all"]).sum())
    print(
        f"{'':20} all against the sample: {PairedCounts(len(test), gained, lost).difference.sentence}",
        flush=True,
    )


def main(data: Path, sets: list[str], model: str, rows: int = ROWS) -> None:
    """Run both parts: the comparison where sets are named, else the command."""
    for name in sets:
        (file,) = (
            place for part in ("validation", "train") for place in (data / part).glob(f"{name}.jsonl.gz")
        )
        compare(file, model)
    if not sets:
        run_command(data, rows)
