"""Makes the draft of a model: `sce-desktop distil MODEL CONFIG`, CONFIG that of the model's training.

Only texts that the model was trained on are used: rows held out, validation and benchmark sets are not.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from tokenizers import Tokenizer

from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.runs import VectorCache
from sce_desktop.ml.draft.model import encoder_key
from sce_desktop.ml.draft.static import StaticVectors
from sce_desktop.ml.encoder.embedder import cached_encode
from sce_desktop.ml.encoder.native import NativeEmbedder
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.research.draft.fitting import Texts, fit
from sce_desktop.research.pretrain.config import read_config
from sce_desktop.research.pretrain.sets import read_training_data

if TYPE_CHECKING:
    from sce_desktop.research.pretrain.sets import TrainingData

WIDTH = 192
"""Numbers of a token's vector that are kept, a byte each."""
MOST_TEXTS = 60_000
OF_A_SET = 1_400
OF_THE_REST = 12_000
"""Texts of a labelled set, and of the glosses and of the written sets, at most."""
READ_FIRST = 32
"""Texts of a table that the encoder reads before a draft by a vocabulary of many languages."""
LARGEST_BYTES = 16_500_000
_TOKENS_AT_ONCE = 512


def distil(
    folder: Path,
    config: Path,
    *,
    most_texts: int = MOST_TEXTS,
    width: int = WIDTH,
    device: str = "auto",
    cache: VectorCache | None = None,
    log: Callable[[str], None],
    progress: Progress,
) -> Path:
    """Make the draft of the model in ``folder``, write it there and return the file.

    Args:
        folder: Of an SCE with a text encoder of its own.
        config: The TOML file of its training, which names the sets of texts.
        most_texts: That are read by the text encoder.
        width: Numbers that are kept of a token's vector.
        device: Where the text encoder reads.
        cache: Of text vectors.
        log: Gets a line for each step.
        progress: Told of texts.

    Raises:
        UserError: The model or the texts are not there, or the file would be too large.
        Cancelled: The user stopped; vectors of texts are in ``cache``.
    """
    from sce_desktop.ml.hub.session import ModelSession

    model = ModelSession(device).model(str(folder))
    embedder = getattr(model, "text_embedder", None)
    if not isinstance(model, SCEModel) or not isinstance(embedder, NativeEmbedder):
        raise UserError(f"{folder} has no text encoder of its own: no draft can be made of it.")
    vocabulary = embedder.encoder.config.vocab_size
    if vocabulary * width > LARGEST_BYTES:
        raise UserError(
            f"{vocabulary:,} tokens of {width} bytes each are more than {LARGEST_BYTES:,} bytes: a draft of "
            "this model would be too large. Choose a smaller --width."
        )
    texts = training_texts(config, most_texts)
    log(f"{len(texts):,} texts")
    vectors = cached_encode(embedder, texts, cache, progress)
    alone = torch.from_numpy(_alone(embedder, progress))
    reader = StaticVectors(
        torch.zeros(vocabulary, 1, dtype=torch.int8),
        torch.ones(vocabulary),
        torch.zeros(1, embedder.dim),
        embedder.tokenizer,
        "",
    )
    numbers, starts = reader.token_ids(texts)
    numbers[numbers == vocabulary] = embedder.encoder.config.pad_token_id  # of a text without tokens
    given = Texts(numbers, starts, torch.from_numpy(vectors))
    shares = usual_shares(embedder.tokenizer, vocabulary)
    found = fit(alone, given, width=width, shares=shares, log=log)
    static = StaticVectors(
        found.tokens,
        found.scales,
        found.to_text,
        embedder.tokenizer,
        encoder_key(model),
        read_first=0 if shares is None else READ_FIRST,
    )
    return static.save(folder)


def training_texts(config: Path, most: int, seed: int = 0) -> list[str]:
    """Return at most ``most`` texts that a model was trained on, by the ``config`` of its training.

    Raises:
        UserError: The file cannot be read, or a set is missing.
    """
    data = replace(read_config(config).data, dictionary="")  # of labels: it has no texts of its own
    return chosen_texts(read_training_data(data, config.parent, pairs=False), most, seed)


def chosen_texts(data: TrainingData, most: int, seed: int = 0) -> list[str]:
    """Return at most ``most`` of the texts that ``data`` trains with; none that it validates by."""
    generator = random.Random(seed)
    groups = [(one.texts, OF_A_SET) for one in data.train]
    groups += [(one.texts, OF_THE_REST) for one in (data.glosses, data.written) if one is not None]
    chosen: list[int] = []
    for texts, limit in groups:
        numbers = sorted({int(number) for number in texts})
        chosen += numbers if len(numbers) <= limit else generator.sample(numbers, limit)
    judged = {number for one in data.validation for number in one.texts}
    chosen = [number for number in dict.fromkeys(chosen) if number not in judged]
    generator.shuffle(chosen)
    return [data.texts.strings[number] for number in chosen[:most]]


def usual_shares(tokenizer: Tokenizer, count: int) -> torch.Tensor | None:
    """Return the shares of the first ``count`` tokens in what ``tokenizer`` was made from; None: unknown.

    A unigram tokenizer keeps the logarithms of them (Kudo 2018, https://arxiv.org/abs/1804.10959).
    Special tokens have 0 there, which gives them next to no weight.
    """
    model = json.loads(tokenizer.to_str())["model"]
    if model["type"] != "Unigram":
        return None
    shares = torch.zeros(count)  # an added token has none
    known = torch.tensor([logarithm for _token, logarithm in model["vocab"]]).exp()[:count]
    shares[: len(known)] = known
    return shares


def _alone(embedder: NativeEmbedder, progress: Progress | None = None) -> FloatArray:
    """Return what the encoder makes of each token of its vocabulary by itself (V, d)."""
    watcher = progress or SilentProgress()
    count = embedder.encoder.config.vocab_size
    around = embedder.token_ids([""])[0]  # the special tokens
    half = len(around) // 2
    out = np.empty((count, embedder.dim), np.float32)
    for start in range(0, count, _TOKENS_AT_ONCE):
        watcher.report(start, count, stage="reading tokens")
        watcher.check()
        numbers = range(start, min(count, start + _TOKENS_AT_ONCE))
        ids = [
            np.concatenate([around[:half], [number], around[half:]]).astype(np.int32) for number in numbers
        ]
        with torch.inference_mode():
            out[start : start + len(ids)] = embedder.vectors(ids).float().cpu().numpy()
    return out
