"""Rows a second of an embedder on an NVIDIA GPU, step by step, and what half precision costs in accuracy."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import numpy as np
import torch

from sce_desktop.core.annotations import Label
from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.precision import FLOAT32
from sce_desktop.ml.encoder import native as way
from sce_desktop.ml.encoder.bert import EncoderConfig, TextEncoder
from sce_desktop.ml.encoder.gpu_encoder import GPUEncoder, TokenIds
from sce_desktop.ml.encoder.native import NativeEmbedder
from sce_desktop.ml.encoder.precision import choose_precision
from sce_desktop.ml.hub import catalog
from sce_desktop.ml.sce.model import SCEModel
from tests.benchmarks.embed import multiply_adds
from tests.benchmarks.measure import print_table

MATRIX = 8192
Batch = list[TokenIds]


def run(*, model: str, data: Path, names: Sequence[str] | None, seconds: float) -> None:
    """Measure on the texts of labelled sets and print; ``names``: all that the folder ``data`` has."""
    if not torch.cuda.is_available():
        raise SystemExit("embed-gpu needs an NVIDIA GPU that torch can use.")
    device = torch.device("cuda")
    folder = catalog.resolve(model)
    precision = choose_precision("auto", device)
    exact = SCEModel.from_pretrained(folder, device=device, precision=FLOAT32)
    half = SCEModel.from_pretrained(folder, device=device, precision=precision)
    files = sorted(data.glob("*.jsonl.gz"))
    sets = {path.name.removesuffix(".jsonl.gz"): path for path in files}
    rows = {name: _rows(sets[name]) for name in names or sets}
    texts = [text for several in rows.values() for text, _ in several]
    texts = [texts[i] for i in np.random.default_rng(0).permutation(len(texts))]
    peak = _peak(getattr(torch, precision))
    print(
        f"{torch.cuda.get_device_name()}, {precision} peak {2 * peak / 1e12:.0f} TFLOP/s ({MATRIX} squared)"
    )
    _steps(exact.text_embedder, half.text_embedder, texts, peak, seconds)
    _deep(half.text_embedder, texts, peak, seconds)
    _accuracy(exact, half, rows)


def _rows(path: Path) -> list[tuple[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [(row["text"], row["label"]) for row in map(json.loads, lines)]


def _peak(dtype: torch.dtype) -> float:
    """Return the multiply-adds a second of a large matrix product."""
    a, b = torch.randn(2, MATRIX, MATRIX, device="cuda").to(dtype)
    return _rate(lambda: MATRIX**3 * len([a @ b for _ in range(10)]), 0.5)


def _rate(work: Callable[[], int], seconds: float) -> float:
    """Return units a second of ``work`` (which says how many it did), the card's part included."""
    work()
    torch.cuda.synchronize()
    done, started = 0, time.perf_counter()
    while (spent := time.perf_counter() - started) < seconds:
        done += work()
        torch.cuda.synchronize()
    return done / spent


def _batches(embedder: NativeEmbedder, texts: Sequence[str]) -> list[Batch]:
    return [ids for _, ids in embedder._cut(embedder._windows(texts), None)]


def _steps(exact: object, half: object, texts: list[str], peak: float, seconds: float) -> None:
    assert isinstance(exact, NativeEmbedder)
    assert isinstance(half, NativeEmbedder)
    batches = _batches(half, texts)
    lengths = [len(ids) for batch in batches for ids in batch]
    work = sum(map(multiply_adds, lengths)) / len(lengths)
    packed = half._on_gpu()
    assert packed is not None
    padded = GPUEncoder(half.encoder, packed.dtype, None)
    kind = half.precision
    steps: list[tuple[str, NativeEmbedder, Callable[[Batch], object], GPUEncoder | None, int, bool, bool]] = [
        ("float32, padded: as before", exact, exact._forward, None, 0, False, False),
        (f"{kind}, padded", half, lambda ids: padded.launch(ids)(), padded, 0, False, False),
        (f"{kind}, end to end", half, lambda ids: packed.launch(ids)(), packed, 0, False, False),
        ("batches launched ahead", half, packed.launch, packed, way.BATCHES_AHEAD, False, False),
        ("windows tokenised ahead", half, packed.launch, packed, way.BATCHES_AHEAD, True, False),
        ("words looked up in place of that", half, packed.launch, packed, way.BATCHES_AHEAD, False, True),
    ]
    table = []
    for name, embedder, launch, gpu, ahead, threads, words in steps:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        fast = _rate(lambda: sum(len(ids) for ids in batches if launch(ids) is not None), seconds)  # noqa: B023
        memory = torch.cuda.max_memory_allocated() - before
        with _way(embedder, gpu, ahead, threads, words):
            strings = _rate(lambda: len(embedder.encode(texts)), seconds)  # noqa: B023
        cells = f"{strings:,.0f}", f"{fast:,.0f}", f"{fast * work / peak:.1%}", f"{memory / 1e6:,.0f}"
        table.append([name, *cells])
    right, found = exact.encode(texts), half.encode(texts)
    cosines = (right * found).sum(1)
    started = time.perf_counter()
    with mock.patch.dict(half.__dict__, {"words": None}):
        half.token_counts(texts)
    alone = len(texts) / (time.perf_counter() - started)
    print_table(
        f"Embedding on a GPU, {exact.name}, {len(texts):,} texts, mean of {np.mean(lengths):.0f} tokens",
        ["", "rows/s from strings", "rows/s from tokens", "of the peak", "memory of batches, MB"],
        table,
        [
            f"Tokenising alone, all cores: {alone:,.0f} rows/s. Each line has what those above it have.",
            f"Cosine to float32: mean {cosines.mean():.7f}, least {cosines.min():.7f}.",
        ],
    )


@contextmanager
def _way(
    embedder: NativeEmbedder, gpu: GPUEncoder | None, ahead: int, threads: bool, words: bool
) -> Iterator[None]:
    windows = embedder._windows_ahead if threads else embedder._windows
    with (
        mock.patch.object(embedder, "_on_gpu", return_value=gpu),
        mock.patch.object(embedder, "_windows_ahead", windows),
        mock.patch.dict(embedder.__dict__, {"words": embedder.words if words else None}),
        mock.patch.object(way, "BATCHES_AHEAD", ahead),
    ):
        yield


def _deep(embedder: object, texts: list[str], peak: float, seconds: float) -> None:
    """Print the same for a body of sce-multi's shape with random weights, on the ids of ``embedder``."""
    assert isinstance(embedder, NativeEmbedder)
    config = EncoderConfig(vocab_size=250_037, num_hidden_layers=12, token_bits=4)
    encoder = TextEncoder(config).to("cuda").eval()
    with torch.no_grad():
        for tensor in encoder.buffers():
            tensor.copy_(
                torch.randint(256, tensor.shape) if tensor.dtype == torch.uint8 else torch.tensor(0.01)
            )
    deep = NativeEmbedder(encoder, embedder.tokenizer, name="12 layers", precision=embedder.precision)
    batches = _batches(deep, texts)
    lengths = [len(ids) for batch in batches for ids in batch]
    work = sum(multiply_adds(n, layers=12) for n in lengths) / len(lengths)
    gpu = deep._on_gpu()
    assert gpu is not None
    ways: dict[str, Callable[[Batch], object]] = {FLOAT32: deep._forward, embedder.precision: gpu.launch}
    table = []
    for name, launch in ways.items():
        fast = _rate(lambda: sum(len(ids) for ids in batches if launch(ids) is not None), seconds)  # noqa: B023
        table.append([name, f"{fast:,.0f}", f"{fast * work / peak:.1%}"])
    print_table(
        "A body of sce-multi's shape, random weights", ["", "rows/s from tokens", "of the peak"], table
    )


def _accuracy(exact: SCEModel, half: SCEModel, rows: dict[str, list[tuple[str, str]]]) -> None:
    table = []
    for name, several in rows.items():
        names = sorted({label for _, label in several})
        gold = np.array([names.index(label) for _, label in several])
        found: list[FloatArray] = [
            one.probabilities([text for text, _ in several], [Label(label) for label in names]).probabilities
            for one in (exact, half)
        ]
        a, b = (probabilities.argmax(1) for probabilities in found)
        shares = [f"{(guess == gold).mean():.3%}" for guess in (a, b)]
        changed = f"{int((a != b).sum()):,} of {len(a):,}"
        table.append([name, *shares, changed, f"{np.abs(found[0] - found[1]).max():.1e}"])
    print_table(
        f"Zero-shot accuracy of {exact.name}",
        ["", exact.precision, half.precision, "another label", "probabilities apart"],
        table,
    )
