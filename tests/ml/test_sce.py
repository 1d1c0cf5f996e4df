"""The SCE against the paper's equations, and its promise about the order of labels."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from sce_desktop.ml.encoder.bert import EncoderConfig, label_encoder_state
from sce_desktop.ml.sce.sce import MASKED, SCE, LabelVectors, SCEConfig, mean_token_embeddings
from sce_desktop.ml.sce.scorer import make_scorer

KINDS = list(itertools.product(["paper", "plus"], ["joint", "shared"]))
TEXT_WIDTH = 12


def draw(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def make(architecture: Any, attention: Any, *, width: int = 32, text_width: int = TEXT_WIDTH) -> SCE:
    encoder = EncoderConfig(hidden_size=width, num_attention_heads=4, intermediate_size=2 * width)
    torch.manual_seed(0)
    head = SCE(
        SCEConfig(
            architecture=architecture, attention=attention, text_width=text_width, layers=2, encoder=encoder
        )
    ).eval()
    with torch.no_grad():
        for name, parameter in head.named_parameters():
            if name != "alpha":
                parameter.add_(0.05 * torch.randn_like(parameter))
    return head


def label_set(count: int, *, width: int = 32, text_width: int = TEXT_WIDTH, seed: int = 0) -> LabelVectors:
    return LabelVectors(draw(seed, count, width), F.normalize(draw(seed + 1, count, text_width), dim=-1))


def texts(count: int, seed: int = 5, text_width: int = TEXT_WIDTH) -> Tensor:
    return F.normalize(draw(seed, count, text_width), dim=-1)


def take(labels: LabelVectors, order: Tensor) -> LabelVectors:
    assert labels.sentence is not None
    return LabelVectors(labels.tokens[order], labels.sentence[order])


def orders(count: int, how_many: int = 20) -> Iterator[Tensor]:
    generator = torch.Generator().manual_seed(3)
    for _ in range(how_many):
        yield torch.randperm(count, generator=generator)


@torch.inference_mode()
def test_paper_architecture_is_the_papers_equations_on_roberta() -> None:
    from transformers import RobertaConfig, RobertaModel

    shape: dict[str, Any] = {
        "vocab_size": 60,
        "hidden_size": 32,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "pad_token_id": 1,
    }
    torch.manual_seed(0)
    roberta = RobertaModel(RobertaConfig(**shape), add_pooling_layer=False).eval()
    for parameter in roberta.parameters():
        parameter.add_(0.2 * torch.randn_like(parameter))
    encoder = EncoderConfig.from_dict(roberta.config.to_dict())
    head = SCE(SCEConfig(architecture="paper", text_width=TEXT_WIDTH, layers=3, encoder=encoder)).eval()
    missing = head.load_state_dict(label_encoder_state(roberta.state_dict(), 3), strict=False).missing_keys
    assert set(missing) == {"adapt.weight", "adapt.bias"}  # W and b are all that is not RoBERTa's

    label_ids = [[7, 9, 11], [20], [33, 4], [5, 5, 6, 40]]
    table = roberta.embeddings.word_embeddings.weight
    q = texts(5)
    h = mean_token_embeddings(table, label_ids)
    found = head(q, LabelVectors(h)).softmax(-1)

    for i in range(len(q)):  # row by row, token by token, with the library's own modules
        q_prime = head.adapt.weight @ q[i] + head.adapt.bias
        sequence = [q_prime]
        for ids in label_ids:
            sequence.append(sum(table[one] for one in ids) / len(ids))
        x = roberta.embeddings.LayerNorm(torch.stack(sequence))[None]
        for layer in roberta.encoder.layer:
            out = layer(x)
            x = out[0] if isinstance(out, tuple) else out
        e = x[0]
        s = torch.stack([e[0] @ e[k] for k in range(1, len(e))])
        p = s.exp() / s.exp().sum()
        torch.testing.assert_close(found[i], p, atol=1e-5, rtol=0)


@pytest.mark.parametrize(("architecture", "attention"), KINDS)
@torch.inference_mode()
def test_the_order_of_labels_changes_nothing_else(architecture: str, attention: str) -> None:
    head, labels, q = make(architecture, attention), label_set(9), texts(4)
    p = head(q, labels).softmax(-1)
    assert p.std(0).max() > 0.01  # a constant would pass whatever the model did
    for order in orders(9):
        found = head(q, take(labels, order)).softmax(-1)
        assert (found - p[:, order]).abs().max() < 1e-5
        scored = make_scorer(head, take(labels, order))(q).softmax(-1)
        assert (scored - p[:, order]).abs().max() < 1e-5


@pytest.mark.parametrize(("architecture", "attention"), KINDS)
@torch.inference_mode()
def test_the_order_changes_nothing_in_padded_batches(architecture: str, attention: str) -> None:
    """Each text has its own set of 9, 4 or 2 labels; what fills the rest of the batch is loud noise."""
    head, q = make(architecture, attention), texts(3)
    sets = [label_set(count, seed=10 * count) for count in (9, 4, 2)]
    alone = [head(row[None], one)[0].softmax(-1) for row, one in zip(q, sets, strict=True)]
    places = [torch.randperm(9, generator=torch.Generator().manual_seed(n)) for n in range(20)]
    for place in places:
        tokens, sentence = 50 * draw(7, 3, 9, 32), draw(8, 3, 9, TEXT_WIDTH)
        mask = torch.zeros(3, 9, dtype=torch.bool)
        for row, one in enumerate(sets):
            at = place[: len(one.tokens)]
            assert one.sentence is not None
            tokens[row, at], sentence[row, at], mask[row, at] = one.tokens, one.sentence, True
        scores = head(q, LabelVectors(tokens, sentence), mask)
        assert (scores[~mask] == MASKED).all()
        for row, right in enumerate(alone):
            found = scores[row, place[: len(right)]].softmax(-1)
            assert (found - right).abs().max() < 1e-5


@pytest.mark.parametrize(("architecture", "attention"), KINDS)
@torch.inference_mode()
def test_the_label_set_is_context(architecture: str, attention: str) -> None:
    """Removing one label changes the odds of two others, which softmax alone would leave as they are."""
    head, labels, q = make(architecture, attention), label_set(5), texts(4)
    whole = head(q, labels).log_softmax(-1)
    less = head(q, take(labels, torch.arange(4))).log_softmax(-1)
    odds_before, odds_after = whole[:, 0] - whole[:, 1], less[:, 0] - less[:, 1]
    assert (odds_before - odds_after).abs().min() > 1e-4


@pytest.mark.parametrize(("architecture", "attention"), KINDS)
@torch.inference_mode()
def test_groups_equal_one_call_each(architecture: str, attention: str) -> None:
    head = make(architecture, attention)
    one, two = label_set(4, seed=1), label_set(4, seed=2)
    assert one.sentence is not None
    assert two.sentence is not None
    q = torch.stack([texts(3, seed=1), texts(3, seed=2)])
    both = LabelVectors(torch.stack([one.tokens, two.tokens]), torch.stack([one.sentence, two.sentence]))
    found = head.grouped(q, both)
    torch.testing.assert_close(found[0], head(q[0], one), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(found[1], head(q[1], two), atol=1e-5, rtol=1e-5)


@torch.inference_mode()
def test_plus_without_its_context_is_the_cosine() -> None:
    head, labels, q = make("plus", "joint"), label_set(6), texts(4)
    head.scale.zero_()
    assert labels.sentence is not None
    torch.testing.assert_close(head(q, labels), 20 * q @ labels.sentence.T)


def test_mean_token_embeddings_of_nothing_is_zero() -> None:
    table = draw(0, 10, 4)
    found = mean_token_embeddings(table, [[1, 3], [], [5]])
    torch.testing.assert_close(found, torch.stack([(table[1] + table[3]) / 2, torch.zeros(4), table[5]]))


def test_config_survives_its_dict() -> None:
    config = SCEConfig(
        architecture="paper", attention="shared", layers=3, encoder=EncoderConfig(vocab_size=9)
    )
    assert SCEConfig.from_dict(config.to_dict()) == config
