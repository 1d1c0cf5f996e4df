"""What an SCE knows of a label by its wordings: means over the name, synonyms and descriptions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from tokenizers import Tokenizer
from torch import Tensor

from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress
from sce_desktop.ml.encoder.embedder import Embedder, readable
from sce_desktop.ml.encoder.quantised import QuantisedTable
from sce_desktop.ml.hub import tokenizer_check
from sce_desktop.ml.sce.sce import mean_token_embeddings


def wording_vectors(
    wordings: Sequence[tuple[str, ...]],
    tokenizer: Tokenizer,
    table: Tensor | QuantisedTable,
    embedder: Embedder,
    *,
    name: str,
    progress: Progress | None = None,
) -> Iterator[tuple[Tensor, Tensor]]:
    """Give h_k (d,) and g(label) (d_q,), of unit length, of labels with these ``wordings``.

    ``tokenizer`` and ``table`` are those of the label tokens of the model that is called ``name``. Warns of a
    label in which the tokenizer finds nothing (h_k is then zero).
    """
    flat = [readable(text) for one in wordings for text in one]
    ids = [found.ids for found in tokenizer_check.encode(tokenizer, flat, name, special=False)]
    sizes = [len(one) for one in wordings]
    if progress is not None:
        for one, tokens in zip(wordings, _split(ids, sizes), strict=True):
            if not any(tokens):
                progress.warn(
                    _("The label “{label}” has no meaning for the model: give it another name.", label=one[0])
                )
    hs = mean_token_embeddings(table, ids)
    gs = torch.from_numpy(embedder.encode(flat)).to(hs.device)
    for h, g in zip(hs.split(sizes), gs.split(sizes), strict=True):
        yield h.mean(0), F.normalize(g.mean(0), dim=0)


def _split(ids: list[list[int]], sizes: Sequence[int]) -> Iterator[list[list[int]]]:
    rest = iter(ids)
    for size in sizes:
        yield [next(rest) for _ in range(size)]
