"""Rows a second of our embedder beside sentence-transformers' own encode of the same weights."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np
from tokenizers import Tokenizer

from sce_desktop.ml.hub import catalog
from sce_desktop.ml.similarity import SimilarityModel
from tests.benchmarks.measure import MATRIX, matrix_peak, print_table, rate

LENGTHS = (15, 75)
SPREAD = 0.6  # of the logarithm of a text's length, in the row of mixed lengths
ROUNDS = 2  # ours and theirs take turns, so that a slow minute of the machine hits both


def multiply_adds(tokens: float, *, d: int = 384, feed_forward: int = 1536, layers: int = 6) -> float:
    """Return the multiply-adds of one text in MiniLM: linear layers and the two products of attention."""
    return layers * (4 * tokens * d**2 + 2 * tokens**2 * d + 2 * tokens * d * feed_forward)


def texts_of(lengths: Sequence[int], tokenizer: Tokenizer, seed: int = 0) -> list[str]:
    """Return a text of each number of tokens, special ones included, from words that are one token each."""
    words = sorted(w for w in tokenizer.get_vocab() if w.isascii() and w.isalpha() and len(w) > 2)
    rng = np.random.default_rng(seed)
    return [" ".join(words[i] for i in rng.integers(0, len(words), length - 2)) for length in lengths]


def run(*, rows: int, seconds: float) -> None:
    """Measure and print; ``rows`` texts a call, ``seconds`` a measurement."""
    import torch
    from sentence_transformers import SentenceTransformer

    folder = catalog.resolve(catalog.MINILM)
    ours = SimilarityModel.from_pretrained().embedder
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
    theirs = SentenceTransformer(str(folder), device="cpu")
    theirs.max_seq_length = ours.max_tokens
    rng = np.random.default_rng(1)
    mixed = np.clip(rng.lognormal(np.log(75) - SPREAD**2 / 2, SPREAD, rows), 5, ours.max_tokens).astype(int)
    cases = {str(n): [n] * rows for n in LENGTHS}
    cases[f"{mixed.min()}-{mixed.max()}, mean {mixed.mean():.0f}"] = mixed.tolist()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    table = []
    for name, lengths in cases.items():
        texts = texts_of(lengths, tokenizer)
        if ours.token_counts(texts).tolist() != lengths:
            raise AssertionError("the texts do not have the lengths that the table would claim")
        work = sum(map(multiply_adds, lengths)) / rows
        mine, their, peaks = [], [], [matrix_peak()]
        for _ in range(ROUNDS):
            mine.append(rate(lambda: len(ours.encode(texts)), seconds))  # noqa: B023 - used within this turn
            their.append(rate(lambda: len(theirs.encode(texts, show_progress_bar=False)), seconds))  # noqa: B023
            peaks.append(matrix_peak())
        apart = np.abs(ours.encode(texts) - theirs.encode(texts, show_progress_bar=False)).max()
        a, b, peak = float(np.mean(mine)), float(np.mean(their)), float(np.mean(peaks))
        table.append(
            [
                *(
                    name,
                    f"{a:,.1f}",
                    f"{b:,.1f}",
                    f"{a / b:.2f}",
                    f"{work / 1e6:,.0f}",
                    f"{peak / work:,.1f}",
                ),
                *(f"{a * work / peak:.0%}", f"{b * work / peak:.0%}", f"{peak / 1e9:.0f}", f"{apart:.0e}"),
            ]
        )
    print_table(
        f"Embedding, {catalog.MINILM}, float32, {torch.get_num_threads()} threads",
        [
            *("tokens", "ours rows/s", "s-t rows/s", "ratio", "M mult-adds", "rows/s at peak"),
            *("ours of it", "s-t of it", "peak G/s", "apart"),
        ],
        table,
        [
            "s-t: sentence-transformers' encode with its default batch size; both from strings to vectors.",
            f"At peak: if all multiply-adds ran like torch.mm of {MATRIX}x{MATRIX}, measured in between.",
            "apart: largest difference between two entries of the vectors.",
        ],
    )
