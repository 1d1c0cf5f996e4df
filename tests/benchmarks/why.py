"""Words that speak for a label: milliseconds a row, and the deletion test, on labelled sets.

For each row the label is the model's own prediction, and the score its log-odds. The words that a method
names first are taken out of the text, which the model then reads again; so are as many words at random. The
difference of what the score loses is what naming the words is worth. Only words that the model reads count,
and rows with at least six of them. Gradient times input is here for comparison alone.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from numpy.typing import NDArray

from sce_desktop.core.annotations import Decision, Label
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.word_spans import without_spans, word_spans
from sce_desktop.ml.attribution import (
    MOST_WORDS,
    Attribution,
    LogOdds,
    attribute,
    embedder_of,
    log_odds_by,
)
from sce_desktop.ml.encoder.embedder import readable
from sce_desktop.ml.encoder.native import NativeEmbedder
from sce_desktop.ml.hub import catalog
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.research.collections import load_set
from sce_desktop.store.project import Project
from sce_desktop.store.runs.vector_cache import VectorCache
from sce_desktop.tasks.insight.labelled_rows import LabelledRows
from sce_desktop.tasks.scoring.vectors import KnownVectors
from tests.benchmarks.measure import print_table

REMOVED = (1, 3, 5)
DRAWS = 3  # of random words, a row
LEAST_WORDS = 6
STEP = 1e-2  # of the finite differences that give the gradient of the score by the text vector

Weigh = Callable[[str, int], Attribution]


def run(
    *,
    model: str,
    data: Path,
    names: Sequence[str],
    rows: int,
    threads: int,
    methods: Sequence[str],
    seed: int = 0,
) -> None:
    """Measure and print, for ``rows`` random rows of each set."""
    torch.set_num_threads(threads)
    sce = SCEModel.from_pretrained(catalog.resolve(model))
    for name in names:
        labelled = load_set(data, name)
        labels = [Label(one) for one in labelled.label_names]
        chosen = np.random.default_rng(seed).permutation(len(labelled))
        _measure(sce, name, [labelled.texts[place] for place in chosen], labels, rows, methods, seed)


def run_neighbours(*, rows: int, asked: int = 200, width: int = 384) -> None:
    """Measure and print how long the most similar of ``rows`` labelled rows take, for ``asked`` of them."""
    rng = np.random.default_rng(0)
    texts = [f"row {number} of the table" for number in range(rows)]
    vectors = rng.standard_normal((rows, width)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    with tempfile.TemporaryDirectory() as folder, VectorCache(Path(folder) / "vectors.db") as cache:
        cache.put("embedder", texts, vectors)
        with Project.create(Path(folder) / "a.sce") as project:
            project.add_rows(("text",), [[(text,) for text in texts]], text_columns=[0], source={})
            label_set = project.set_labels([Label("one")])
            project.decide(range(1, rows + 1), Decision.LABEL, [label_set.labels[0].id or 0])
            known, labelled = KnownVectors("embedder", cache), LabelledRows()
            seconds = []
            for place in rng.choice(rows, asked + 1, replace=False).tolist():
                start = time.perf_counter(), time.process_time()
                labelled.nearest(project, known, place + 1, vectors[place], progress=SilentProgress())
                seconds.append((time.perf_counter() - start[0], time.process_time() - start[1]))
    first, *others = 1000 * np.array(seconds)
    ms, busy = np.array(others).T
    print_table(
        f"The most similar of {rows:,} labelled rows, {asked} rows asked for",
        ["", "first", "ms", "99%"],
        [
            ["by the clock", f"{first[0]:.0f}", f"{np.median(ms):.0f}", f"{np.percentile(ms, 99):.0f}"],
            ["processor", f"{first[1]:.0f}", f"{np.median(busy):.0f}", f"{np.percentile(busy, 99):.0f}"],
        ],
        ["first: the first row of a session, for which the vectors of all labelled rows are read."],
    )


def _measure(
    sce: SCEModel,
    name: str,
    texts: Sequence[str],
    labels: Sequence[Label],
    rows: int,
    methods: Sequence[str],
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    seconds: dict[str, list[tuple[float, float]]] = {method: [] for method in methods}
    lost: dict[str, list[list[float]]] = {method: [] for method in [*methods, "random"]}
    words: list[int] = []
    attribute(sce, texts[0], labels, 0)  # the labels' own pass
    for text in texts:
        if len(words) == rows:
            break
        vector = sce.embed([text])
        place = int(sce.score(vector, labels).probabilities[0].argmax())
        log_odds = log_odds_by(sce, labels, place, multi_label=False)
        found = {}
        for method in methods:
            start, start_busy = time.perf_counter(), time.process_time()
            found[method] = _weigh(sce, text, labels, place, method)
            seconds[method].append((time.perf_counter() - start, time.process_time() - start_busy))
        spans = found[methods[0]].spans
        read = found[methods[0]].read
        spans = tuple(span for span in spans if span[1] <= read)
        if len(spans) < LEAST_WORDS:
            for method in methods:
                seconds[method].pop()
            continue
        words.append(len(spans))
        whole = float(log_odds(vector)[0])
        for method, one in found.items():
            order = np.argsort(-one.weights[: len(spans)], kind="stable")
            lost[method].append(_lost(sce, text, spans, [order[:n] for n in REMOVED], whole, log_odds))
        draws = [rng.choice(len(spans), n, replace=False) for n in REMOVED for _ in range(DRAWS)]
        changes = _lost(sce, text, spans, draws, whole, log_odds)
        lost["random"].append(np.array(changes).reshape(len(REMOVED), DRAWS).mean(axis=1).tolist())
    random = np.array(lost.pop("random"))
    table = []
    for method in methods:
        ms, busy = 1000 * np.array(seconds[method]).T
        cells = [method, *(f"{np.percentile(part, at):.0f}" for part in (ms, busy) for at in (50, 99))]
        for column in range(len(REMOVED)):
            own = np.array(lost[method])[:, column]
            more = own - random[:, column]
            margin = 1.96 * more.std(ddof=1) / np.sqrt(len(more))
            cells += [
                f"{own.mean():.2f}",
                f"{random[:, column].mean():.2f}",
                f"{more.mean():.2f} ± {margin:.2f}",
            ]
        table.append(cells)
    print_table(
        f"Why this label, {sce.name}, {name}: {len(words)} rows, {len(labels)} labels, "
        f"{int(np.median(words))} words a row (median), {torch.get_num_threads()} threads",
        [
            *("method", "ms", "99%", "CPU ms", "99%"),
            *(f"{kind} {n}" for n in REMOVED for kind in ("lost", "random", "more")),
        ],
        table,
        [
            "ms: median and 99th percentile of a row, the reading of its text included, by the clock and of "
            "the processor, which other work on the machine hardly makes longer.",
            "lost: log-odds of the predicted label that go with the first words of the method; random: with "
            f"as many random words, mean of {DRAWS} draws a row; more: the difference, with its 95% "
            "confidence interval.",
        ],
    )


def _lost(
    sce: SCEModel,
    text: str,
    spans: Sequence[tuple[int, int]],
    removed: Sequence[NDArray[np.int64]],
    whole: float,
    log_odds: LogOdds,
) -> list[float]:
    """Return by how much the score of ``text`` falls without each set of words."""
    variants = [without_spans(text, [spans[word] for word in words]) for words in removed]
    return (whole - log_odds(sce.text_embedder.encode(variants))).tolist()


def _weigh(sce: SCEModel, text: str, labels: Sequence[Label], place: int, method: str) -> Attribution:
    if method == "gradient":
        return _gradient(sce, text, labels, place)
    assert method in ("pooled", "occlusion")
    return attribute(sce, text, labels, place, method=method)  # type: ignore[arg-type]


def _gradient(sce: SCEModel, text: str, labels: Sequence[Label], place: int) -> Attribution:
    """Weigh words by gradient times input: one pass back to what the tokens enter the encoder as."""
    embedder = embedder_of(sce)
    assert isinstance(embedder, NativeEmbedder)
    encoder = embedder.encoder
    found = embedder.tokenizer.encode(readable(text))
    ids = torch.tensor(found.ids)
    start = encoder.config.first_position
    with torch.no_grad():
        entered = encoder.tokens(ids).float()
        rest = encoder.positions.weight[start : start + len(ids)] + encoder.types.weight[0]
    entered = entered.detach().requires_grad_()
    x = encoder.norm(entered + rest)[None]
    for layer in encoder.layers:
        x = layer(x, None)
    vector = F.normalize(x.mean(1), dim=-1)
    log_odds = log_odds_by(sce, labels, place, multi_label=False)
    q = vector.detach().numpy()[0]
    steps = STEP * np.eye(len(q), dtype=np.float32)
    slope = (log_odds(q + steps) - log_odds(q - steps)) / (2 * STEP)
    vector.backward(torch.tensor(slope[None], dtype=torch.float32))
    assert entered.grad is not None
    by_token = (entered.grad * entered).sum(-1).detach().numpy()
    starts, ends = np.array(found.offsets).T
    read = int(ends.max(initial=0))
    spans = tuple(word_spans(text[:read], starts[ends > starts].tolist())[:MOST_WORDS])
    weights = [by_token[(starts < end) & (ends > begin)].sum() for begin, end in spans]
    return Attribution(
        spans, np.array(weights, dtype=np.float32), float(log_odds(q[None])[0]), read, "pooled"
    )
