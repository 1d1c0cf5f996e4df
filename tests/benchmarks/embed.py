"""Rows a second of our embedders, in every precision, beside sentence-transformers' encode of MiniLM."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from tokenizers import Tokenizer

from sce_desktop.ml.encoder.embedder import Embedder
from sce_desktop.ml.encoder.native import NativeEmbedder
from sce_desktop.ml.encoder.precision import precisions
from sce_desktop.ml.hub import catalog, model_places
from sce_desktop.ml.hub.known_models import MINILM, SCE_MINI, SCE_MULTI
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.ml.similarity import SimilarityModel
from tests.benchmarks.measure import MATRIX, matrix_peak, print_table, rate

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

LENGTHS = (15, 75)
SPREAD = 0.6  # of the logarithm of a text's length, in the row of mixed lengths
ROUNDS = 2  # ours and theirs take turns, so that a slow minute of the machine hits both


def multiply_adds(tokens: float, *, d: int = 384, feed_forward: int = 1536, layers: int = 6) -> float:
    """Return the multiply-adds of one text in MiniLM: linear layers and the two products of attention."""
    return layers * (4 * tokens * d**2 + 2 * tokens**2 * d + 2 * tokens * d * feed_forward)


def texts_of(lengths: Sequence[int], tokenizer: Tokenizer, seed: int = 0) -> list[str]:
    """Return a text of each number of tokens, special ones included, from words that are one token each."""
    found = sorted({w.removeprefix("▁") for w in tokenizer.get_vocab()})
    plain = [w for w in found if w.isascii() and w.isalpha() and w.islower() and len(w) > 2][
        :: len(found) // 5000
    ]
    encoded = tokenizer.encode_batch(plain, add_special_tokens=False)
    words = [word for word, one in zip(plain, encoded, strict=True) if len(one.ids) == 1]
    rng = np.random.default_rng(seed)
    return [" ".join(words[i] for i in rng.integers(0, len(words), length - 2)) for length in lengths]


def run(*, rows: int, seconds: float) -> None:
    """Measure and print; ``rows`` texts a call, ``seconds`` a measurement."""
    import torch
    from sentence_transformers import SentenceTransformer

    here = precisions(torch.device("cpu"))
    minilm = SimilarityModel.from_pretrained(precision="float32").embedder
    embedders = {MINILM: minilm}
    for precision in here:
        for name in (SCE_MINI, SCE_MULTI):
            if (folder := model_places.installed(name)) is not None:
                model = SCEModel.from_pretrained(folder, precision=precision)
                embedders[f"{name}, {precision}"] = model.text_embedder
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
    theirs = SentenceTransformer(str(catalog.resolve(MINILM)), device="cpu")
    theirs.max_seq_length = minilm.max_tokens
    rng = np.random.default_rng(1)
    mixed = np.clip(rng.lognormal(np.log(75) - SPREAD**2 / 2, SPREAD, rows), 5, minilm.max_tokens).astype(int)
    cases = {str(n): [n] * rows for n in LENGTHS}
    cases[f"{mixed.min()}-{mixed.max()}, mean {mixed.mean():.0f}"] = mixed.tolist()
    for name, lengths in cases.items():
        _measure(name, lengths, embedders, theirs, seconds)


def _measure(
    name: str,
    lengths: list[int],
    embedders: Mapping[str, Embedder],
    theirs: SentenceTransformer,
    seconds: float,
) -> None:
    """Print a table for texts of ``lengths``: every embedder beside sentence-transformers."""
    import torch

    texts = {key: texts_of(lengths, _tokenizer(one)) for key, one in embedders.items()}
    for key, one in embedders.items():
        if one.token_counts(texts[key]).tolist() != lengths:
            raise AssertionError("the texts do not have the lengths that the table would claim")
    their_texts = texts[MINILM]
    their = lambda: len(theirs.encode(their_texts, show_progress_bar=False))  # noqa: E731
    rates: dict[str, list[float]] = {key: [] for key in embedders}
    beside: dict[str, list[float]] = {key: [] for key in embedders}
    peaks: dict[str, list[float]] = {kind: [] for kind in ("float32", "bfloat16")}
    for _ in range(ROUNDS):
        for kind, found in peaks.items():
            found.append(matrix_peak(precision=kind))
        for key, one in embedders.items():
            beside[key].append(rate(their, seconds / 2))
            rates[key].append(rate(lambda: len(one.encode(texts[key])), seconds))  # noqa: B023 - used in this turn
    st = float(np.mean([*beside.values()]))
    table = []
    for key, one in embedders.items():
        assert isinstance(one, NativeEmbedder)
        config = one.encoder.config
        work = sum(multiply_adds(n, layers=config.num_hidden_layers) for n in lengths) / len(lengths)
        mine = float(np.mean(rates[key]))
        # An int8 product has no peak of its own in torch.mm: its share is of bfloat16's.
        peak = float(np.mean(peaks["float32" if one.precision == "float32" else "bfloat16"]))
        table.append(
            [
                *(
                    key,
                    f"{mine:,.1f}",
                    f"{mine / np.mean(beside[key]):.2f}",
                    f"{work / 1e6:,.0f}",
                    f"{mine * work / peak:.0%}",
                ),
                _least_cosine(one, key, embedders, texts[key]),
            ]
        )
    of_peak = st * sum(map(multiply_adds, lengths)) / len(lengths) / float(np.mean(peaks["float32"]))
    table.append([f"sentence-transformers, {MINILM}", f"{st:,.1f}", "1.00", "", f"{of_peak:.0%}", ""])
    print_table(
        f"Embedding texts of {name} tokens, {torch.get_num_threads()} threads",
        ["", "rows/s", "ratio", "M mult-adds", "of the peak", "least cosine"],
        table,
        [
            "ratio: to sentence-transformers' encode in float32 just before, from strings to vectors.",
            f"Peak: torch.mm of {MATRIX}x{MATRIX}, in between; "
            + ", ".join(f"{kind} {np.mean(found) / 1e9:.0f} G/s" for kind, found in peaks.items())
            + "; int8 beside bfloat16's.",
            "least cosine: of a text's vector with the one in float32.",
        ],
    )


def _tokenizer(embedder: Embedder) -> Tokenizer:
    assert isinstance(embedder, NativeEmbedder)
    return embedder.tokenizer


def _least_cosine(
    embedder: Embedder, key: str, embedders: Mapping[str, Embedder], texts: Sequence[str]
) -> str:
    exact = embedders.get(key.replace(embedder.precision, "float32"))
    if exact is None or exact is embedder:
        return ""
    return f"{(embedder.encode(texts) * exact.encode(texts)).sum(1).min():.5f}"
