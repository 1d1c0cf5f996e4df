"""What a GPU runs, on the CPU with a plain attention in the place of the card's; `test_gpu` has the rest."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import Tensor

from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.errors import UserError
from sce_desktop.ml.encoder import embedder as module
from sce_desktop.ml.encoder import native
from sce_desktop.ml.encoder.bert import TextEncoder
from sce_desktop.ml.encoder.gpu_encoder import GPUEncoder, TokenIds, ahead, packed_attention, pad
from sce_desktop.ml.encoder.native import NativeEmbedder
from sce_desktop.ml.encoder.precision import choose_precision, precisions
from tests.ml.tiny import MAX_TOKENS, tiny_text_encoder, tiny_tokenizer

TEXTS = [f"the parcel number {i} was late " * (1 + i % 4) for i in range(20)] + ["refund"]


def each_alone(q: Tensor, k: Tensor, v: Tensor, bounds: Tensor, longest: int) -> Tensor:
    """The `Attend` of these tests."""
    cuts = bounds.tolist()
    parts = []
    for start, end in pairwise(cuts):
        assert 0 < end - start <= longest
        one = [x[start:end].transpose(0, 1) for x in (q, k, v)]
        parts.append(torch.softmax(one[0] @ one[1].mT / one[0].shape[-1] ** 0.5, -1) @ one[2])
    return torch.cat([part.transpose(0, 1) for part in parts])


def embedder_of(encoder: TextEncoder, model_type: str = "bert") -> NativeEmbedder:
    return NativeEmbedder(encoder, tiny_tokenizer(model_type), name="tiny", max_tokens=MAX_TOKENS)  # type: ignore[arg-type]


@pytest.mark.parametrize("model_type", ["bert", "roberta"])
@pytest.mark.parametrize("attend", [each_alone, None])
@pytest.mark.parametrize(
    ("dtype", "apart"), [(torch.float32, 1e-6), (torch.float16, 2e-3), (torch.bfloat16, 2e-2)]
)
def test_vectors_are_the_encoders(
    model_type: str, attend: Callable[..., Tensor] | None, dtype: torch.dtype, apart: float
) -> None:
    encoder = tiny_text_encoder(model_type)  # type: ignore[arg-type]
    embedder = embedder_of(encoder, model_type)
    ids = embedder.token_ids(TEXTS)
    found = GPUEncoder(encoder, dtype, attend).launch(ids)()
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, embedder._forward(ids), atol=apart)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)


def test_distances_between_tokens_count_where_texts_are_padded() -> None:
    """MPNet's bias: the packed attention has no place for it."""
    torch.manual_seed(0)
    plain = tiny_text_encoder("roberta")
    config = type(plain.config).from_dict(
        plain.config.to_dict() | {"model_type": "mpnet", "relative_attention_num_buckets": 8}
    )
    encoder = TextEncoder(config).eval()
    encoder.load_state_dict(plain.state_dict(), strict=False)
    assert packed_attention(encoder, torch.float16) is None
    embedder = embedder_of(encoder, "roberta")
    ids = embedder.token_ids(TEXTS)
    right = embedder._forward(ids)
    np.testing.assert_allclose(GPUEncoder(encoder, torch.float32, None).launch(ids)(), right, atol=1e-6)
    np.testing.assert_allclose(GPUEncoder(encoder, torch.float16, None).launch(ids)(), right, atol=5e-3)


def test_the_encoder_stays_as_it_was() -> None:
    encoder = tiny_text_encoder()
    before = {name: tensor.clone() for name, tensor in encoder.state_dict().items()}
    GPUEncoder(encoder, torch.float16, None).launch(embedder_of(encoder).token_ids(TEXTS))
    for name, tensor in encoder.state_dict().items():
        assert tensor.dtype == before[name].dtype
        assert torch.equal(tensor, before[name])


def test_padding_fills_up_and_says_where() -> None:
    padded, there = pad([np.array([5, 6, 7], np.int32), np.array([8], np.int32)], 9)
    assert padded.tolist() == [[5, 6, 7], [8, 9, 9]]
    assert there.tolist() == [[True, True, True], [True, False, False]]


def test_later_ones_are_launched_before_one_is_handed_out() -> None:
    launched: list[int] = []

    def launch() -> Iterator[int]:
        for number in range(6):
            launched.append(number)
            yield number

    seen = [(number, len(launched)) for number in ahead(launch(), 2)]
    assert seen == [(0, 3), (1, 4), (2, 5), (3, 6), (4, 6), (5, 6)]
    launched.clear()
    assert [(number, len(launched)) for number in ahead(launch(), 0)] == [(n, n + 1) for n in range(6)]
    assert list(ahead([], 2)) == []


@pytest.mark.parametrize(
    ("capability", "possible", "automatic"),
    [
        ((6, 1), ("float32",), "float32"),  # Pascal
        ((7, 5), ("float32", "float16"), "float16"),  # Turing
        ((9, 0), ("float32", "float16", "bfloat16"), "float16"),  # Hopper
    ],
)
def test_a_card_offers_what_it_has_tensor_cores_for(
    capability: tuple[int, int], possible: tuple[str, ...], automatic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.version, "cuda", "12.4")
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: capability)
    card = torch.device("cuda")
    assert precisions(card) == possible
    assert choose_precision("auto", card) == automatic
    with pytest.raises(UserError, match="no instructions for int8"):
        choose_precision("int8", card)


def test_a_card_that_is_not_nvidias_runs_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.version, "cuda", None)
    assert precisions(torch.device("cuda")) == precisions(torch.device("mps")) == ("float32",)
    with pytest.raises(UserError, match="no instructions for float16"):
        choose_precision("float16", torch.device("cpu"))


def test_no_attention_over_packed_texts_is_found_where_there_is_none() -> None:
    assert packed_attention(tiny_text_encoder(), torch.float16) is None  # a CPU


# --- in the embedder ---------------------------------------------------------------------------------------


class PretendedGPU(NativeEmbedder):
    """Goes the way of a GPU; there is room for so many texts in a batch."""

    def __init__(self, room: int = 1000) -> None:
        encoder = tiny_text_encoder()
        super().__init__(encoder, tiny_tokenizer(), name="tiny", max_tokens=MAX_TOKENS)
        self.copy = _SmallGPU(encoder, room)

    def _on_gpu(self) -> GPUEncoder:
        return self.copy


class _SmallGPU(GPUEncoder):
    def __init__(self, encoder: TextEncoder, room: int) -> None:
        super().__init__(encoder, torch.float32, each_alone)
        self.room, self.tried, self.fetched = room, list[int](), 0

    def launch(self, ids: list[TokenIds]) -> Callable[[], FloatArray]:  # type: ignore[override]
        self.tried.append(len(ids))
        if len(ids) > self.room:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        wait = super().launch(ids)

        def counted() -> FloatArray:
            self.fetched += 1
            return wait()

        return counted


@pytest.fixture
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WINDOW", 8)
    monkeypatch.setattr(native, "TOKENS_PER_BATCH", {"cpu": 64})


@pytest.mark.usefixtures("small_windows")
def test_batches_in_flight_come_back_to_their_places() -> None:
    right = embedder_of(tiny_text_encoder()).encode(TEXTS)
    np.testing.assert_allclose(PretendedGPU().encode(TEXTS), right, atol=1e-6)


@pytest.mark.usefixtures("small_windows")
def test_batches_are_launched_ahead_and_no_further() -> None:
    gpu = PretendedGPU()
    for number, _ in enumerate(gpu.batches(TEXTS * 3, batch_size=2), 1):
        assert gpu.copy.fetched == number
        assert len(gpu.copy.tried) <= number + native.BATCHES_AHEAD
        if number == 1:
            assert len(gpu.copy.tried) == 1 + native.BATCHES_AHEAD


def test_running_out_of_memory_halves_the_batch_and_later_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WINDOW", 16)
    gpu = PretendedGPU(room=4)
    texts = [f"late {i} " * 10 for i in range(32)]
    np.testing.assert_allclose(gpu.encode(texts), embedder_of(tiny_text_encoder()).encode(texts), atol=1e-6)
    assert gpu.copy.tried[:4] == [16, 16, 8, 4]
    assert max(gpu.copy.tried[8:]) <= 8  # the second window did not start with 16 again


def test_no_memory_for_one_text_is_reported() -> None:
    with pytest.raises(UserError, match="no memory left"):
        PretendedGPU(room=0).encode(["late", "early"])


def test_what_half_cannot_hold_is_computed_in_float32() -> None:
    """float16 ends at 65504: a model whose layers go beyond has no number there."""
    encoder = tiny_text_encoder()
    with torch.no_grad():
        layer = encoder.layers[0]
        layer.up.weight *= 1e5  # type: ignore[union-attr, operator]
        layer.down.weight /= 1e5  # type: ignore[union-attr, operator]
    embedder = embedder_of(encoder)
    right = embedder.encode(TEXTS)
    half = GPUEncoder(encoder, torch.float16, each_alone)
    assert not np.isfinite(half.launch(embedder.token_ids(TEXTS))()).all()
    embedder._on_gpu = lambda: half  # type: ignore[method-assign]
    np.testing.assert_allclose(embedder.encode(TEXTS), right, atol=1e-6)


def test_windows_are_tokenised_ahead_in_threads_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts come back to their places, a cancel ends the threads, and few texts need none."""
    monkeypatch.setattr(module, "WINDOW", 4)
    gpu = PretendedGPU()
    gpu.words = None  # of a tokenizer whose words cannot be looked up: that takes no threads
    right = embedder_of(tiny_text_encoder()).encode(TEXTS)
    before = threading.active_count()
    batches = gpu.batches(TEXTS * 9)
    places, vectors = next(batches)
    np.testing.assert_allclose(vectors, right[places % len(TEXTS)], atol=1e-6)
    assert threading.active_count() > before
    batches.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before
    monkeypatch.setattr(native, "ThreadPoolExecutor", lambda _: pytest.fail("one window needs no thread"))
    assert len(gpu.encode(TEXTS[:4])) == 4
