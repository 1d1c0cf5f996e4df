"""Text vectors: order, length, cache, cancel, and what a text may hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.runs import as_kept
from sce_desktop.ml.encoder import embedder as module
from sce_desktop.ml.encoder import native
from sce_desktop.ml.encoder.embedder import cached_encode, digest, windows
from sce_desktop.ml.encoder.native import NativeEmbedder
from tests.ml.tiny import MAX_TOKENS, DictCache, tiny_text_encoder, tiny_tokenizer

TEXTS = [
    "the parcel was late",
    "refund",
    "my driver was very rude and the box was broken, i want my money back today",
    "thanks",
    "late " * 30,
]


class CountingEmbedder(NativeEmbedder):
    """Counts the texts that went through the model."""

    def __init__(self, **options: int) -> None:
        super().__init__(
            tiny_text_encoder(),
            tiny_tokenizer(),
            name="tiny",
            max_tokens=options.get("max_tokens", MAX_TOKENS),
        )
        self.batch_sizes: list[int] = []

    @property
    def embedded(self) -> int:
        return sum(self.batch_sizes)

    def _forward(self, ids: list[list[int]]) -> FloatArray:
        self.batch_sizes.append(len(ids))
        return super()._forward(ids)


class CancelAfter(SilentProgress):
    """Cancels at the n-th check."""

    def __init__(self, checks: int) -> None:
        super().__init__()
        self.left = checks
        self.reports: list[tuple[int, int | None]] = []

    def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
        self.reports.append((done, total))

    def check(self) -> None:
        self.left -= 1
        if self.left <= 0:
            raise Cancelled


@pytest.fixture
def embedder() -> CountingEmbedder:
    return CountingEmbedder()


def test_vectors_come_in_the_order_of_the_texts_and_have_unit_length(embedder: CountingEmbedder) -> None:
    found = embedder.encode(TEXTS)
    alone = np.concatenate([embedder.encode([text]) for text in TEXTS])
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, alone, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    assert np.linalg.norm(found[0] - found[1]) > 0.1  # different texts, different vectors


def test_windows_and_batches_change_nothing(
    embedder: CountingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = embedder.encode(TEXTS * 3)
    monkeypatch.setattr(module, "WINDOW", 4)
    monkeypatch.setattr(native, "TOKENS_PER_BATCH", {"cpu": 40})
    np.testing.assert_allclose(embedder.encode(TEXTS * 3), right, atol=1e-6)
    np.testing.assert_allclose(embedder.encode(TEXTS * 3, batch_size=2), right, atol=1e-6)


def test_windows_hold_so_many_texts_and_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WINDOW", 3)
    monkeypatch.setattr(module, "WINDOW_CHARACTERS", 10)
    texts = ["a", "b", "c", "d", "e" * 9, "f" * 50, "g", "h" * 10]
    found = list(windows(texts))
    assert [len(part) for _, part in found] == [3, 2, 1, 1, 1]
    assert [text for _, part in found for text in part] == texts
    assert [start for start, _ in found] == [0, 3, 5, 6, 7]
    assert list(windows([])) == []


def test_a_batch_holds_its_tokens_and_no_more(
    embedder: CountingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "TOKENS_PER_BATCH", {"cpu": 20})
    embedder.encode(["late late late"] * 9)  # 5 tokens with the special ones
    assert embedder.batch_sizes == [4, 4, 1]


def test_padding_as_on_a_gpu_gives_the_same_vectors(embedder: CountingEmbedder) -> None:
    ids = [e.ids for e in embedder.tokenizer.encode_batch(TEXTS)]
    with torch.inference_mode():
        packed = embedder._packed(ids)
        torch.testing.assert_close(embedder._padded(ids), packed, atol=1e-6, rtol=0)
        torch.testing.assert_close(embedder._padded(ids[:1]), packed[:1], atol=1e-6, rtol=0)


def test_nothing_gives_nothing(embedder: CountingEmbedder) -> None:
    assert embedder.encode([]).shape == (0, embedder.dim)
    assert cached_encode(embedder, [], DictCache()).shape == (0, embedder.dim)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "\x00",
        "\ud83d alone",
        "{x} [PAD] [SEP]",
        "Müsli für Zoë – 5 €",
        "天気 🌧️ مطر",
        "\u200b\ufeff",
        "a\r\nb",
    ],
)
def test_whatever_a_text_holds_gives_a_finite_vector(embedder: CountingEmbedder, text: str) -> None:
    vector = embedder.encode([text])
    assert np.isfinite(vector).all()
    np.testing.assert_allclose(np.linalg.norm(vector), 1, atol=1e-6)


def test_a_long_text_is_read_up_to_the_limit_and_counted_whole(embedder: CountingEmbedder) -> None:
    """300,000 characters; the row beside it is as it was alone."""
    long, short = "word " * 60_000, "ok"
    counts = embedder.token_counts([long, short])
    assert counts[0] > 60_000 > embedder.max_tokens
    assert counts[1] == len(embedder.tokenizer.encode(short).ids) == 4
    assert embedder.token_counts(["word " * 2_000_000])[0] > 200_000  # 10 million characters, in a moment
    found = embedder.encode([long, short])
    np.testing.assert_allclose(found[0], embedder.encode(["word " * 100])[0], atol=1e-6)
    np.testing.assert_allclose(found[1], embedder.encode([short])[0], atol=1e-6)


def test_counting_is_exact_around_the_limit(embedder: CountingEmbedder) -> None:
    whole = Tokenizer.from_str(embedder.tokenizer.to_str())
    whole.no_truncation()
    texts = ["late " * words for words in (0, 1, *range(MAX_TOKENS - 3, 2 * MAX_TOKENS + 3))]
    expected = [len(whole.encode(text).ids) for text in texts]
    np.testing.assert_array_equal(embedder.token_counts(texts), expected)


def test_a_model_is_not_read_further_than_it_has_positions() -> None:
    encoder = tiny_text_encoder("roberta")
    embedder = NativeEmbedder(encoder, tiny_tokenizer("roberta"), name="tiny", max_tokens=10_000)
    assert embedder.max_tokens == encoder.config.max_position_embeddings - 2
    assert np.isfinite(embedder.encode(["late " * 500])).all()


def test_the_prompt_and_lower_case_reach_the_tokenizer() -> None:
    plain = NativeEmbedder(tiny_text_encoder(), tiny_tokenizer(), name="tiny")
    prompted = NativeEmbedder(
        tiny_text_encoder(), tiny_tokenizer(), name="tiny", prompt="news: ", lower_case=True
    )
    np.testing.assert_array_equal(prompted.encode(["Late"]), plain.encode(["news: late"]))
    assert prompted.token_counts(["late"]) == plain.token_counts(["news: late"])
    assert prompted.key != plain.key


# --- the key -----------------------------------------------------------------------------------------------


def test_the_key_names_weights_and_settings() -> None:
    key = CountingEmbedder().key
    assert key == CountingEmbedder().key
    assert key.startswith("tiny:")
    assert key != CountingEmbedder(max_tokens=MAX_TOKENS - 1).key
    other = CountingEmbedder()
    with torch.no_grad():
        other.encoder.norm.bias[0] += 1e-6
    assert key != other.key


def test_a_digest_depends_on_names_shapes_and_types() -> None:
    ones = torch.ones(4)
    digests = [
        digest([("a", ones)]),
        digest([("b", ones)]),
        digest([("a", ones.view(2, 2))]),
        digest([("a", ones.half())]),
        digest([("a", ones)], 1),
    ]
    assert len(set(digests)) == len(digests)


# --- the cache ---------------------------------------------------------------------------------------------


def test_a_cached_vector_is_used_bit_by_bit(embedder: CountingEmbedder) -> None:
    cache = DictCache()
    first = cached_encode(embedder, TEXTS, cache)
    embedder.batch_sizes.clear()
    second = cached_encode(embedder, TEXTS[::-1], cache)
    assert embedder.embedded == 0
    np.testing.assert_array_equal(second, first[::-1])


def test_only_what_is_missing_is_embedded(embedder: CountingEmbedder) -> None:
    cache = DictCache()
    cached_encode(embedder, TEXTS[1:3], cache)
    embedder.batch_sizes.clear()
    found = cached_encode(embedder, TEXTS, cache)
    assert embedder.embedded == len(TEXTS) - 2
    np.testing.assert_allclose(found, as_kept(embedder.encode(TEXTS)), atol=2e-4)


@pytest.mark.parametrize("cache", [None, DictCache()])
def test_a_text_that_comes_often_is_embedded_once(
    embedder: CountingEmbedder, cache: DictCache | None
) -> None:
    found = cached_encode(embedder, ["late", "refund", "late", "late", "refund"], cache)
    assert embedder.embedded == 2
    np.testing.assert_array_equal(found[0], found[3])
    np.testing.assert_array_equal(found[1], found[4])
    np.testing.assert_allclose(found[:2], as_kept(embedder.encode(["late", "refund"])), atol=2e-4)


def test_a_cancel_loses_at_most_one_batch(
    embedder: CountingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "TOKENS_PER_BATCH", {"cpu": 8})
    texts = [f"late {digit}" for digit in range(8)]  # 4 tokens each
    cache, progress = DictCache(), CancelAfter(3)
    with pytest.raises(Cancelled):
        cached_encode(embedder, texts, cache, progress)
    assert embedder.batch_sizes == [2, 2, 2]
    assert len(cache) == 6  # three batches were done and all three are kept
    assert progress.reports == [(2, 8), (4, 8), (6, 8)]
    embedder.batch_sizes.clear()
    cached_encode(embedder, texts, cache)
    assert embedder.embedded == 2


def test_reports_count_the_callers_rows(embedder: CountingEmbedder) -> None:
    progress = CancelAfter(100)
    cached_encode(embedder, ["late"] * 9 + ["refund"], None, progress)
    assert progress.reports[-1] == (10, 10)


# --- memory ------------------------------------------------------------------------------------------------


class SmallGPU(NativeEmbedder):
    """Runs out of memory above so many texts."""

    def __init__(self, room: int, error: type[RuntimeError], message: str = "") -> None:
        super().__init__(tiny_text_encoder(), tiny_tokenizer(), name="tiny", max_tokens=MAX_TOKENS)
        self.room, self.error, self.message, self.tried = room, error, message, list[int]()

    def _forward(self, ids: list[list[int]]) -> FloatArray:
        self.tried.append(len(ids))
        if len(ids) > self.room:
            raise self.error(self.message)
        return super()._forward(ids)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (torch.cuda.OutOfMemoryError, "CUDA"),
        (RuntimeError, "MPS backend out of memory (MPS allocated: 1 GB)"),
    ],
)
def test_running_out_of_memory_halves_the_batch_and_later_ones(
    error: type[RuntimeError], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WINDOW", 16)
    small = SmallGPU(4, error, message)
    texts = [f"late {i}" for i in range(32)]
    np.testing.assert_allclose(small.encode(texts), CountingEmbedder().encode(texts), atol=1e-6)
    first_window = small.tried.index(4)
    assert small.tried[:first_window] == [16, 8]
    assert max(small.tried[-4:]) <= 8  # the second window did not start with 16 again


def test_no_memory_for_one_text_is_reported() -> None:
    with pytest.raises(UserError, match="no memory left"):
        SmallGPU(0, torch.cuda.OutOfMemoryError).encode(["late", "early"])


def test_other_errors_are_bugs_and_stay_what_they_are() -> None:
    with pytest.raises(RuntimeError, match="shapes"):
        SmallGPU(0, RuntimeError, "shapes differ").encode(["late", "early"])


def test_dict_cache_keeps_the_protocol() -> None:
    """The stand-in of these tests behaves as `core.runs.VectorCache` says."""

    def look(texts: Sequence[str]) -> tuple[NDArray[np.bool_], FloatArray | None]:
        return cache.get("e", texts)

    cache = DictCache()
    assert look(["a"])[1] is None
    cache.put("e", ["a"], np.ones((1, 3), dtype=np.float32))
    found, vectors = look(["b", "a"])
    assert found.tolist() == [False, True]
    assert vectors is not None
    assert vectors.shape == (1, 3)
