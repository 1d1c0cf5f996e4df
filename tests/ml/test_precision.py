"""Fewer bits: what a CPU can do, what is chosen, how near the numbers stay, and that keys keep them apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.precision import keyed
from sce_desktop.ml.encoder import precision as module
from sce_desktop.ml.encoder import reduced
from sce_desktop.ml.encoder.bert import TextEncoder
from sce_desktop.ml.encoder.embedder import cached_encode
from sce_desktop.ml.encoder.native import NativeEmbedder
from sce_desktop.ml.encoder.precision import choose_precision, cpu_instructions, precisions
from sce_desktop.ml.encoder.reduced import STRIDE, ReducedEncoder
from sce_desktop.ml.finetune.adapting import adapted
from sce_desktop.ml.finetune.versions import changed_weights, with_changes, with_correction
from sce_desktop.ml.hub.session import ModelSession
from sce_desktop.ml.sce.model import SCEModel
from tests.ml.tiny import DictCache, tiny_sce, tiny_text_encoder, tiny_tokenizer

CPU = torch.device("cpu")
LEAST_COSINE = {"bfloat16": 0.9995, "int8": 0.995}
LENGTHS = (33, 33, 32, 20, 17, 16, 15, 15, 3, 1)
LABELS = [Label("sports"), Label("business")]
TEXTS = ["the match was a great game", "the bank and the market", "refund", "late " * 30]


def needs(precision: str) -> str:
    """Return ``precision``, if this CPU can do it; else skip the test."""
    if precision not in precisions(CPU):
        pytest.skip(f"this CPU has no instructions for {precision}")
    return precision


@pytest.fixture(params=["bfloat16", "int8"])
def fewer(request: pytest.FixtureRequest) -> str:
    return needs(request.param)


def machine(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Pretend that the CPU has these instructions alone."""
    for name, asks in module._INSTRUCTIONS.items():
        monkeypatch.setattr(torch.cpu, asks, lambda name=name: name in names, raising=False)
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: True)


def embedder(precision: str = "float32") -> NativeEmbedder:
    return NativeEmbedder(tiny_text_encoder(), tiny_tokenizer(), name="tiny", precision=precision)


def random_ids(encoder: TextEncoder, lengths: tuple[int, ...] = LENGTHS) -> torch.Tensor:
    made = torch.Generator().manual_seed(0)
    return torch.randint(4, encoder.config.vocab_size, (sum(lengths),), generator=made)


@pytest.mark.parametrize(
    ("has", "possible", "automatic"),
    [
        ((), ("float32",), "float32"),
        (("AVX-512 VNNI",), ("float32", "int8"), "float32"),
        (("AVX-512 BF16",), ("float32", "bfloat16"), "bfloat16"),
        (("AMX", "AVX-512 VNNI"), ("float32", "bfloat16", "int8"), "bfloat16"),
    ],
)
def test_what_the_cpu_has_decides(
    monkeypatch: pytest.MonkeyPatch, has: tuple[str, ...], possible: tuple[str, ...], automatic: str
) -> None:
    machine(monkeypatch, *has)
    assert cpu_instructions() == tuple(name for name in module._INSTRUCTIONS if name in has)
    assert precisions(CPU) == possible
    assert choose_precision("auto", CPU) == automatic
    assert [choose_precision(name, CPU) for name in possible] == [*possible]


def test_a_torch_that_cannot_tell_or_has_no_onednn_runs_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, *module._INSTRUCTIONS)
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    assert choose_precision("auto", CPU) == "float32"
    monkeypatch.undo()
    for asks in module._INSTRUCTIONS.values():
        monkeypatch.delattr(torch.cpu, asks, raising=False)
    assert cpu_instructions() == ()
    assert choose_precision("auto", CPU) == "float32"


def test_what_is_not_possible_is_refused_with_what_is(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, "AVX-512 VNNI")
    with pytest.raises(UserError, match="no instructions for bfloat16: choose auto, float32 or int8"):
        ModelSession("cpu", precision="bfloat16")
    assert ModelSession("cpu").precision == "float32"


def test_fewer_bits_are_for_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, *module._INSTRUCTIONS)
    assert precisions(torch.device("mps")) == ("float32",)
    assert choose_precision("auto", torch.device("mps")) == "float32"
    with pytest.raises(UserError, match="mps has no instructions for int8"):
        choose_precision("int8", torch.device("mps"))


@pytest.mark.parametrize("model_type", ["bert", "roberta", "mpnet"])
def test_vectors_stay_near_those_of_float32(fewer: str, model_type: str) -> None:
    encoder = tiny_text_encoder()
    config = replace(
        encoder.config,
        model_type=model_type,
        pad_token_id=0 if model_type == "bert" else 1,
        relative_attention_num_buckets=32 if model_type == "mpnet" else 0,
    )
    torch.manual_seed(0)
    encoder = TextEncoder(config).eval()
    ids = random_ids(encoder)
    with torch.inference_mode():
        exact = encoder.packed(ids, LENGTHS)
        found = ReducedEncoder(encoder, fewer).packed(ids, LENGTHS)
    assert found.dtype == torch.float32
    assert found.norm(dim=1) == pytest.approx(1, abs=1e-6)
    assert (found * exact).sum(1).min() > LEAST_COSINE[fewer]
    assert not torch.equal(found, exact)  # else float32 was run after all


def test_other_texts_and_padding_change_nothing_to_speak_of(fewer: str) -> None:
    encoder = tiny_text_encoder()
    ids = random_ids(encoder)
    run = ReducedEncoder(encoder, fewer)
    with torch.inference_mode():
        together = run.packed(ids, LENGTHS)
        alone = torch.cat([run.packed(part, [len(part)]) for part in ids.split(LENGTHS)])
    torch.testing.assert_close(together, alone, atol=5e-3, rtol=0)


def test_a_token_of_zeros_goes_through_int8() -> None:
    needs("int8")
    linear = torch.nn.Linear(STRIDE, 4)
    with torch.inference_mode():
        found = reduced.Int8Linear(linear)(torch.zeros(2, STRIDE))
    torch.testing.assert_close(found, linear.bias.detach().expand(2, 4))


def test_int8_rounds_each_row_and_token_by_its_own_scale() -> None:
    needs("int8")
    torch.manual_seed(0)
    linear = torch.nn.Linear(64, 32)
    linear.weight.data[0] *= 100  # with one scale for all rows the others would lose nearly all digits
    x = torch.randn(8, 64) * torch.logspace(-3, 3, 8)[:, None]
    with torch.inference_mode():
        exact = linear(x) - linear.bias
        found = reduced.Int8Linear(linear)(x) - linear.bias
    size = exact.abs().mean(1, keepdim=True)[1:]
    assert ((found - exact)[1:, 1:].abs() / size).max() < 0.05


def test_without_fused_kernels_the_numbers_are_nearly_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    needs("bfloat16")
    encoder = tiny_text_encoder()
    ids = random_ids(encoder)
    with torch.inference_mode():
        fused = ReducedEncoder(encoder, "bfloat16").packed(ids, LENGTHS)
        monkeypatch.setattr(reduced, "fused_linear", lambda: None)
        plain = ReducedEncoder(encoder, "bfloat16").packed(ids, LENGTHS)
    assert (fused * plain).sum(1).min() > LEAST_COSINE["bfloat16"]


def test_gradients_are_of_float32(fewer: str) -> None:
    exact, found = embedder(), embedder(fewer)
    ids = found.token_ids(TEXTS)
    torch.testing.assert_close(found.vectors(ids), exact.vectors(ids))
    assert found.vectors(ids).requires_grad == exact.vectors(ids).requires_grad


def test_the_key_names_the_precision_unless_it_is_float32(fewer: str) -> None:
    exact, found = embedder(), embedder(fewer)
    assert exact.key == exact.weights_key == found.weights_key
    assert found.key == keyed(exact.key, fewer) == f"{exact.key}:{fewer}"


def test_the_cache_keeps_apart_what_is_not_the_same_number(fewer: str) -> None:
    cache = DictCache()
    exact, found = embedder(), embedder(fewer)
    first = cached_encode(exact, TEXTS, cache)
    second = cached_encode(found, TEXTS, cache)
    assert len(cache) == 2 * len(TEXTS)
    np.testing.assert_array_equal(cached_encode(exact, TEXTS, cache), first)
    np.testing.assert_array_equal(cached_encode(found, TEXTS, cache), second)
    assert not np.array_equal(first, second)


def test_a_session_loads_every_model_in_its_precision(fewer: str, tmp_path: Path) -> None:
    folder = tiny_sce(tmp_path)
    exact = ModelSession("cpu", precision="float32").model(folder)
    session = ModelSession("cpu", precision=fewer)
    found, baseline = session.model(folder), session.baseline(f"similarity:{folder}")
    assert isinstance(found, SCEModel)
    assert isinstance(exact, SCEModel)
    assert (exact.precision, found.precision, baseline.precision) == ("float32", fewer, fewer)
    assert found.identity == exact.identity == exact.fingerprint
    assert found.fingerprint == f"{exact.fingerprint}:{fewer}"
    near = found.probabilities(TEXTS, LABELS).probabilities
    np.testing.assert_allclose(near, exact.probabilities(TEXTS, LABELS).probabilities, atol=0.05)


def test_versions_and_adapted_embedders_keep_the_precision(fewer: str, tmp_path: Path) -> None:
    folder = tiny_sce(tmp_path)
    exact = SCEModel.from_pretrained(folder)
    found = SCEModel.from_pretrained(folder, precision=fewer)
    weight = torch.zeros(1, exact.config.sce.text_width)
    options = {"examples": [3], "labels": LABELS, "temperature": 1.0}
    tuned = with_correction(found, ["sports"], weight, **options)
    pairs = {"layers.0.out": (torch.ones(2, 64), torch.full((64, 2), 0.01))}
    moved = adapted(found, pairs)
    again = with_changes(exact, changed_weights(with_correction(moved, ["sports"], weight, **options)))
    assert (tuned.precision, moved.precision, again.precision) == (fewer, fewer, "float32")
    assert moved.text_embedder.weights_key == again.text_embedder.weights_key
    assert moved.text_embedder.weights_key != found.text_embedder.weights_key
    cosines = (moved.embed(TEXTS) * again.embed(TEXTS)).sum(1)
    assert cosines.min() > LEAST_COSINE[fewer]
