"""Our encoder against the library's own classes, weights and tokens the same."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from sce_desktop.ml.encoder import bert
from sce_desktop.ml.encoder.bert import (
    EncoderConfig,
    TextEncoder,
    distance_buckets,
    label_encoder_state,
    text_encoder_state,
)

SHAPE: dict[str, Any] = {
    "vocab_size": 50,
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 3,
    "intermediate_size": 40,
    "max_position_embeddings": 40,
}


def library_model(model_type: str, **more: Any) -> Any:
    from transformers import BertConfig, BertModel, MPNetConfig, MPNetModel, RobertaConfig, RobertaModel

    torch.manual_seed(0)
    if model_type == "bert":
        model: Any = BertModel(BertConfig(**SHAPE, **more), add_pooling_layer=False)
    elif model_type == "mpnet":
        model = MPNetModel(MPNetConfig(**SHAPE, pad_token_id=1, **more), add_pooling_layer=False)
    else:
        model = RobertaModel(RobertaConfig(**SHAPE, pad_token_id=1, **more), add_pooling_layer=False)
    with torch.no_grad():
        for parameter in model.parameters():  # the library starts biases at zero, which would hide them
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model.eval()


def ours(model: Any) -> TextEncoder:
    config = EncoderConfig.from_dict(model.config.to_dict())
    encoder = TextEncoder(config)
    encoder.load_state_dict(text_encoder_state(model.state_dict(), config))
    return encoder.eval()


def batch(pad: int) -> tuple[Tensor, Tensor]:
    """Three texts of 9, 5 and 2 tokens, padded."""
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(4, SHAPE["vocab_size"], (3, 9), generator=generator)
    mask = torch.arange(9) < torch.tensor([[9], [5], [2]])
    return ids.masked_fill(~mask, pad), mask


@pytest.mark.parametrize(
    ("model_type", "more"),
    [
        ("bert", {}),
        ("roberta", {}),
        ("bert", {"hidden_act": "gelu_new"}),
        ("roberta", {"layer_norm_eps": 1e-5, "type_vocab_size": 1}),
        ("mpnet", {}),
    ],
)
@torch.inference_mode()
def test_hidden_states_equal_the_librarys(model_type: str, more: dict[str, Any]) -> None:
    model = library_model(model_type, **more)
    encoder = ours(model)
    ids, mask = batch(model.config.pad_token_id)
    right = model(input_ids=ids, attention_mask=mask.long()).last_hidden_state
    found = encoder.hidden(ids, mask)
    torch.testing.assert_close(found[mask], right[mask], atol=1e-5, rtol=0)


@pytest.mark.parametrize("model_type", ["bert", "roberta", "mpnet"])
@torch.inference_mode()
def test_vectors_do_not_depend_on_padding_or_packing(model_type: str) -> None:
    model = library_model(model_type)
    encoder = ours(model)
    ids, mask = batch(model.config.pad_token_id)
    padded = encoder(ids, mask)
    alone = torch.cat([encoder(row[seen][None]) for row, seen in zip(ids, mask, strict=True)])
    packed = encoder.packed(ids[mask], mask.sum(1).tolist())
    torch.testing.assert_close(padded, alone, atol=1e-6, rtol=0)
    torch.testing.assert_close(packed, alone, atol=1e-6, rtol=0)
    torch.testing.assert_close(packed.norm(dim=-1), torch.ones(3))


@torch.inference_mode()
def test_texts_of_equal_length_are_packed_in_their_order() -> None:
    encoder = ours(library_model("bert"))
    generator = torch.Generator().manual_seed(2)
    lengths = [7, 7, 3, 3, 3, 7, 1]
    texts = [torch.randint(4, 50, (n,), generator=generator) for n in lengths]
    packed = encoder.packed(torch.cat(texts), lengths)
    alone = torch.cat([encoder(text[None]) for text in texts])
    torch.testing.assert_close(packed, alone, atol=1e-6, rtol=0)


@torch.inference_mode()
def test_a_task_models_prefix_is_stripped() -> None:
    model = library_model("bert")
    config = EncoderConfig.from_dict(model.config.to_dict())
    prefixed = {f"bert.{name}": tensor for name, tensor in model.state_dict().items()} | {
        "cls.predictions.bias": torch.zeros(50)
    }
    plain = text_encoder_state(model.state_dict(), config)
    found = text_encoder_state(prefixed, config)
    assert plain.keys() == found.keys()
    assert all(torch.equal(plain[name], found[name]) for name in plain)


def test_label_encoder_takes_the_first_layers_without_positions() -> None:
    state = label_encoder_state(library_model("roberta").state_dict(), 2)
    assert {name.split(".")[1] for name in state if name.startswith("layers.")} == {"0", "1"}
    assert not [name for name in state if "positions" in name or "tokens" in name]


def test_another_architecture_is_refused() -> None:
    with pytest.raises(ValueError, match="deberta"):
        EncoderConfig.from_dict({"model_type": "deberta-v2"})


def test_config_survives_its_dict() -> None:
    config = EncoderConfig(vocab_size=7, model_type="roberta", pad_token_id=1)
    assert EncoderConfig.from_dict(config.to_dict()) == config
    assert config.first_position == 2


def test_distance_buckets_equal_the_librarys() -> None:
    from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

    distance = torch.arange(-300, 301)
    assert torch.equal(
        distance_buckets(distance, 32), MPNetEncoder.relative_position_bucket(distance, num_buckets=32)
    )


@pytest.mark.parametrize("packed", [False, True])
def test_a_batch_gives_way_to_the_window_within_a_layer(
    monkeypatch: pytest.MonkeyPatch, *, packed: bool
) -> None:
    """A batch takes as long as several keys of the user."""
    encoder, asked = TextEncoder(EncoderConfig(**SHAPE)).eval(), []
    monkeypatch.setattr(bert, "give_way", lambda: asked.append(1))
    with torch.no_grad():
        if packed:
            encoder.packed(torch.arange(12), [6, 6])
        else:
            encoder(torch.arange(12)[None])
    assert len(asked) >= 2 * SHAPE["num_hidden_layers"]
