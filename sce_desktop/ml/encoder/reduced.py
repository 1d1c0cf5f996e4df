"""The layers of a `TextEncoder` run on a CPU in fewer bits: bfloat16 or int8.

A CPU with AMX or AVX-512 BF16 multiplies bfloat16 matrices several times faster than float32, and one with
VNNI int8 (`precision`). Sums within a product, norms, softmax and the pooling over tokens are computed in
float32; what passes from one step to the next is bfloat16, or float32 where the matrices are int8
(docs/adr/0017-fewer-bits.md). For reading alone: gradients come from the encoder itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, Protocol

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from torch import Tensor, nn

from sce_desktop.ml.encoder.bert import EncoderLayer, TextEncoder

STRIDE = 16
"""Attention reads texts padded to a multiple of so many tokens. A vector of the CPU holds 16 numbers, and
torch's kernel computes what is left over one by one: 75 tokens take twice as long as 80."""
_LEVELS = 127
"""An int8 number is at most so far from 0."""
_SMALLEST = 1e-12


class ReducedLinear(Protocol):
    """A linear map whose matrix is kept in fewer bits."""

    def __call__(self, x: Tensor) -> Tensor:
        """Return the map of ``x`` (n, in), as (n, out)."""

    def gelu(self, x: Tensor, approximate: str) -> Tensor:
        """Return GELU of the map of ``x``."""

    def added_to(self, residual: Tensor, x: Tensor) -> Tensor:
        """Return ``residual`` (n, out) + the map of ``x``."""


def fused_linear() -> Any:
    """Return the product of oneDNN that has something fused to it, as torch's compiler uses it, or None."""
    return getattr(torch.ops.mkldnn, "_linear_pointwise", None)


class BFloat16Linear:
    """In and out bfloat16. oneDNN adds up in float32 and rounds once, behind what is fused to the product."""

    def __init__(self, linear: nn.Linear) -> None:
        self.weight, self.bias = linear.weight.detach().bfloat16(), linear.bias.detach().bfloat16()
        self._fused = fused_linear()

    def __call__(self, x: Tensor) -> Tensor:
        """Return the map of ``x`` (n, in), as (n, out)."""
        return F.linear(x, self.weight, self.bias)

    def gelu(self, x: Tensor, approximate: str) -> Tensor:
        """Return GELU of the map of ``x``."""
        if self._fused is None:
            return F.gelu(self(x), approximate=approximate)
        out: Tensor = self._fused(x, self.weight, self.bias, "gelu", [], approximate)
        return out

    def added_to(self, residual: Tensor, x: Tensor) -> Tensor:
        """Return ``residual`` (n, out) + the map of ``x``."""
        if self._fused is None:
            return residual + self(x)
        out: Tensor = self._fused.binary(x, residual, self.weight, self.bias, "add")
        return out


class Int8Linear:
    """In and out float32; one scale for each row of the matrix and one for each token that comes in.

    Both are symmetric: the largest of a row is 127. Tokens are moved by 128, as VNNI multiplies unsigned by
    signed numbers.
    """

    def __init__(self, linear: nn.Linear) -> None:
        weight = linear.weight.detach()
        self.scales = weight.abs().amax(1).clamp_min(_SMALLEST) / _LEVELS
        rounded = (weight / self.scales[:, None]).round().to(torch.int8)
        self.weight = torch.ops.onednn.qlinear_prepack(rounded, None)
        self.zeros = torch.zeros(len(rounded), dtype=torch.int64)
        self.bias = linear.bias.detach()

    def __call__(self, x: Tensor) -> Tensor:
        """Return the map of ``x`` (n, in), as (n, out)."""
        peak = x.abs().amax(1, keepdim=True).clamp_min_(_SMALLEST)
        # What is cut off behind the half that is added rounds to the nearest.
        tokens = (x * (_LEVELS / peak)).add_(_LEVELS + 1.5).to(torch.uint8)
        product = torch.ops.onednn.qlinear_pointwise(
            *(tokens, 1.0, _LEVELS + 1, self.weight, self.scales, self.zeros, None),
            *(1.0, 0, torch.float32, "none", [], ""),
        )
        return torch.addcmul(self.bias, product, peak / _LEVELS)

    def gelu(self, x: Tensor, approximate: str) -> Tensor:
        """Return GELU of the map of ``x``."""
        return F.gelu(self(x), approximate=approximate)

    def added_to(self, residual: Tensor, x: Tensor) -> Tensor:
        """Return ``residual`` (n, out) + the map of ``x``."""
        return self(x).add_(residual)


_LINEAR: dict[str, tuple[type[BFloat16Linear] | type[Int8Linear], torch.dtype]] = {
    "bfloat16": (BFloat16Linear, torch.bfloat16),
    "int8": (Int8Linear, torch.float32),
}


class _ReducedLayer:
    def __init__(self, layer: EncoderLayer, make: type[BFloat16Linear] | type[Int8Linear]) -> None:
        self.layer = layer
        self.qkv: ReducedLinear = make(layer.qkv)
        self.out: ReducedLinear = make(layer.out)
        self.up: ReducedLinear = make(layer.up)
        self.down: ReducedLinear = make(layer.down)


class ReducedEncoder:
    """Reads texts as `TextEncoder.packed` does, with the maps of its layers in fewer bits.

    Args:
        encoder: On the CPU; its weights must not change any more.
        precision: "bfloat16" or "int8".
    """

    def __init__(self, encoder: TextEncoder, precision: str) -> None:
        make, self.dtype = _LINEAR[precision]
        self.encoder = encoder
        self.layers = []
        for layer in encoder.layers:
            assert isinstance(layer, EncoderLayer)
            self.layers.append(_ReducedLayer(layer, make))

    @torch.no_grad()
    def packed(self, ids: Tensor, lengths: Sequence[int]) -> Tensor:
        """Return text vectors (B, d), float32, of texts laid end to end, token ``ids`` (sum of ``lengths``,).

        It is the faster the more texts that take as many strides are neighbours.
        """
        encoder, texts = self.encoder, _Padded(lengths)
        start = encoder.config.first_position
        x = encoder.tokens(ids) + encoder.positions.weight[start:][texts.place] + encoder.types.weight[0]
        x = encoder.norm(x).to(self.dtype)
        masks = [self._mask(run) for run in texts.runs]
        for reduced in self.layers:
            layer = reduced.layer
            projected = texts.pad(reduced.qkv(x)).split([run.tokens for run in texts.runs])
            attended = [
                layer.attend(*layer.split(part.view(run.count, run.length, -1)), mask).flatten(0, 1)
                for part, run, mask in zip(projected, texts.runs, masks, strict=True)
            ]
            joined = texts.unpad(torch.cat(attended) if len(attended) > 1 else attended[0])
            x = _normed(layer.norm_attention, reduced.out.added_to(x, joined))
            up = reduced.up.gelu(x, layer.approximate)
            x = _normed(layer.norm_output, reduced.down.added_to(x, up))
        return F.normalize(texts.mean(x.float()), dim=-1)

    def _mask(self, run: _Run) -> Tensor | None:
        """Return what attention over a run gets as its mask: no text sees padding."""
        mask = self.encoder.seen(run.length, run.inside)
        return mask.to(self.dtype) if mask is not None and mask.is_floating_point() else mask


def _normed(norm: nn.LayerNorm, x: Tensor) -> Tensor:
    """Return ``x`` (n, d) normed, in its own type, by weights and sums in float32."""
    return F.layer_norm(x, norm.normalized_shape, norm.weight, norm.bias, norm.eps)


class _Run:
    """Neighbours that take as many strides: ``count`` texts, ``length`` tokens each with the padding.

    ``inside`` (count, length) is True for a token and False for padding; None where there is no padding.
    """

    def __init__(self, count: int, length: int, inside: Tensor) -> None:
        self.count, self.length, self.tokens = count, length, count * length
        self.inside = None if bool(inside.all()) else inside.view(count, length)


class _Padded:
    """Where the tokens of texts lie end to end, and where with each text padded to whole strides.

    ``place`` (tokens,) is each token's place in its text.
    """

    def __init__(self, lengths: Sequence[int]) -> None:
        self.lengths = torch.tensor(lengths)
        padded = (self.lengths + STRIDE - 1) // STRIDE * STRIDE
        text = torch.repeat_interleave(padded)
        place = torch.arange(len(text)) - (padded.cumsum(0) - padded)[text]
        inside = place < self.lengths[text]
        self.place = place[inside]
        self._kept = inside.nonzero()[:, 0]
        first = (self.lengths.cumsum(0) - self.lengths)[text]
        self._source = first + torch.where(inside, place, 0)  # padding may be anything: nobody sees it
        self._whole = bool(inside.all())
        self.runs: list[_Run] = []
        at = 0
        for length, same in groupby(padded.tolist()):
            count = len(list(same))
            self.runs.append(_Run(count, length, inside[at : at + count * length]))
            at += count * length

    def pad(self, x: Tensor) -> Tensor:
        """Return ``x`` (tokens, ...) with padding behind each text."""
        return x if self._whole else x.index_select(0, self._source)

    def unpad(self, x: Tensor) -> Tensor:
        """Return ``x`` (padded tokens, ...) without padding."""
        return x if self._whole else x.index_select(0, self._kept)

    def mean(self, x: Tensor) -> Tensor:
        """Return the mean (texts, d) of ``x`` (tokens, d) over the tokens of each text."""
        return torch.segment_reduce(x, "mean", lengths=self.lengths, axis=0)
