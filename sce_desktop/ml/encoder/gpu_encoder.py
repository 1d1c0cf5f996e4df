"""A BERT-like body on an NVIDIA GPU: half precision, texts end to end without padding, results fetched later.

Matrix products, attention and what passes between layers are in the half type; token, position and type
embeddings, the statistics of norms, softmax, the mean over tokens and the vectors' length are in float32.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from sce_desktop.core.arrays import FloatArray
from sce_desktop.ml.encoder.bert import EncoderLayer, TextEncoder

TokenIds = NDArray[np.int32]
"""Of one text, special ones included."""
Attend = Callable[[Tensor, Tensor, Tensor, Tensor, int], Tensor]
"""(queries, keys, values (T, heads, width), bounds (n + 1,) int32, tokens of the longest text) to (T, heads,
width): each text attends within itself."""


_T = TypeVar("_T")
_PADDED = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
"""Not cuDNN's: it makes a new plan for every shape, which takes longer than the batch."""


class GPUEncoder:
    """Text vectors of ``encoder``, which must not change any more and stays in float32 where it is.

    The copy of its layers takes half their memory; the token table is shared.

    Args:
        encoder: On a GPU (tests run it on a CPU, where nothing is fetched later).
        dtype: torch.float16 or torch.bfloat16.
        attend: Attention over texts end to end; None: texts are padded to the longest.
    """

    def __init__(self, encoder: TextEncoder, dtype: torch.dtype, attend: Attend | None) -> None:
        self.encoder = encoder
        self.dtype = dtype
        self.attend = attend
        self.layers = [_frozen(layer, dtype) for layer in encoder.layers]

    @classmethod
    def from_encoder(cls, encoder: TextEncoder, precision: str) -> GPUEncoder:
        """Copy ``encoder`` in "float16" or "bfloat16", with the attention that works where it is."""
        dtype: torch.dtype = getattr(torch, precision)
        return cls(encoder, dtype, packed_attention(encoder, dtype))

    @property
    def device(self) -> torch.device:
        """Where the encoder was when its layers were copied."""
        return self.layers[0].qkv.weight.device

    def launch(self, ids: Sequence[TokenIds]) -> Callable[[], FloatArray]:
        """Begin with the vectors of texts given as `WordCache.ids`; return what waits for them (n, dim)."""
        with torch.inference_mode():
            vectors = self.vectors(ids)
            if vectors.device.type == "cpu":
                return vectors.numpy
            fetched = vectors.to("cpu", non_blocking=True)  # into pinned memory
            done = torch.cuda.Event(blocking=True)  # whoever waits leaves its core to others
            done.record(torch.cuda.current_stream(vectors.device))

        def wait() -> FloatArray:
            done.synchronize()
            return fetched.numpy()

        return wait

    def vectors(self, ids: Sequence[TokenIds]) -> Tensor:
        """Return the unit vectors (n, dim) of ``ids``, float32, on the device; NaN where half overflows."""
        return self._padded(ids) if self.attend is None else self._packed(ids, self.attend)

    def _packed(self, ids: Sequence[TokenIds], attend: Attend) -> Tensor:
        lengths = np.array([len(one) for one in ids], dtype=np.int32)
        count, total = len(lengths), int(lengths.sum())
        # in one piece, since each thing sent waits for its turn
        sent = self._send(np.concatenate([[0], np.cumsum(lengths), lengths, *ids], dtype=np.int32))
        bounds, on_device, flat = sent.split([count + 1, count, total])
        on_device = on_device.long()
        starts = torch.repeat_interleave(bounds[:-1], on_device, output_size=total)
        place = torch.arange(total, device=self.device) - starts
        x = self._embedded(flat.long(), place)
        longest = int(lengths.max())
        for layer in self.layers:
            q, k, v = layer.qkv(x).view(total, 3, layer.heads, -1).unbind(1)
            x = layer.finish(x, attend(q, k, v, bounds, longest).flatten(1))
        mean = torch.segment_reduce(x.float(), "mean", lengths=on_device, unsafe=True)
        return F.normalize(mean, dim=-1)

    def _padded(self, ids: Sequence[TokenIds]) -> Tensor:
        padded, there = pad(ids, self.encoder.config.pad_token_id)
        mask = self._send(there)
        x = self._embedded(self._send(padded).long(), torch.arange(there.shape[1], device=self.device))
        seen = self.encoder.seen(there.shape[1], None if there.all() else mask)
        if seen is not None and seen.is_floating_point():
            seen = seen.to(self.dtype)
        with sdpa_kernel(_PADDED):
            for layer in self.layers:
                x = layer(x, seen)
        weight = mask[..., None]
        return F.normalize((x.float() * weight).sum(1) / weight.sum(1), dim=-1)

    def _embedded(self, ids: Tensor, place: Tensor) -> Tensor:
        e = self.encoder
        x = e.tokens(ids) + e.positions(place + e.config.first_position) + e.types.weight[0]
        return e.norm(x).to(self.dtype)

    def _send(self, array: np.ndarray) -> Tensor:
        tensor = torch.from_numpy(array)
        if self.device.type == "cpu":
            return tensor
        return tensor.pin_memory().to(self.device, non_blocking=True)


def pad(ids: Sequence[TokenIds], padding: int) -> tuple[TokenIds, NDArray[np.bool_]]:
    """Return ``ids`` (n, longest) filled up with ``padding``, and where the tokens are."""
    lengths = np.array([len(one) for one in ids])
    there = np.arange(lengths.max()) < lengths[:, None]
    padded = np.full(there.shape, padding, dtype=np.int32)
    padded[there] = np.concatenate(ids)
    return padded, there


def ahead(launched: Iterable[_T], most: int) -> Iterator[_T]:
    """Yield what ``launched`` yields in its order, ``most`` later ones having been launched by then."""
    queue: deque[_T] = deque()
    for one in launched:
        queue.append(one)
        if len(queue) > most:
            yield queue.popleft()
    yield from queue


def packed_attention(encoder: TextEncoder, dtype: torch.dtype) -> Attend | None:
    """Return the attention over texts end to end that works for ``encoder`` here; None: there is none.

    It is tried, since torch's versions and builds, cards and widths of heads differ.
    """
    config = encoder.config
    if config.relative_attention_num_buckets:  # it has no place for a bias
        return None
    width = config.hidden_size // config.num_attention_heads
    q, k, v = torch.randn(
        3, 5, config.num_attention_heads, width, device=encoder.device, dtype=dtype
    ).unbind()
    bounds = torch.tensor([0, 2, 5], device=encoder.device, dtype=torch.int32)
    right = torch.cat([_alone(q[part], k[part], v[part]) for part in (slice(0, 2), slice(2, 5))])
    for attend in (_flash, _public_flash):
        try:
            if torch.allclose(attend(q, k, v, bounds, 3), right, atol=0.02):
                return attend
        except (RuntimeError, ImportError, AttributeError, TypeError):
            continue
    return None


def _alone(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    q, k, v = (one.transpose(0, 1) for one in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v).transpose(0, 1)


def _flash(q: Tensor, k: Tensor, v: Tensor, bounds: Tensor, longest: int) -> Tensor:
    # What the public function calls: older versions of torch have it too, and it imports no compiler.
    run = torch.ops.aten._flash_attention_forward
    mixed: Tensor = run(q, k, v, bounds, bounds, longest, longest, 0.0, False, False)[0]
    return mixed


def _public_flash(q: Tensor, k: Tensor, v: Tensor, bounds: Tensor, longest: int) -> Tensor:
    from torch.nn.attention.varlen import varlen_attn  # since torch 2.10

    mixed = varlen_attn(q, k, v, bounds, bounds, longest, longest)
    assert isinstance(mixed, Tensor)
    return mixed


def _frozen(layer: nn.Module, dtype: torch.dtype) -> EncoderLayer:
    assert isinstance(layer, EncoderLayer)
    return copy.deepcopy(layer).to(dtype).requires_grad_(False).eval()
