"""How static vectors are fitted: nearer at each step, and to texts of the training alone."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from tokenizers import Tokenizer
from tokenizers.models import Unigram

from sce_desktop.research.draft import making
from sce_desktop.research.draft.fitting import Texts, cosine, fit
from sce_desktop.research.pretrain.training_data import StringTable
from tests.ml.tiny import tiny_sce_model, tiny_tokenizer

TOKENS, WIDTH = 60, 16


def texts(count: int = 600) -> tuple[torch.Tensor, Texts]:
    """Token vectors and texts whose vectors are means of others, which a map and noise lead to."""
    generator = np.random.default_rng(0)
    alone = generator.normal(size=(TOKENS, WIDTH))
    hidden = alone @ generator.normal(size=(WIDTH, WIDTH)) + 0.8 * generator.normal(size=(TOKENS, WIDTH))
    sizes = generator.integers(1, 9, count)
    numbers = generator.integers(0, TOKENS - 5, int(sizes.sum()))  # five tokens are in no text
    starts = np.cumsum(sizes) - sizes
    sums = np.add.reduceat(hidden[numbers], starts) / sizes[:, None]
    vectors = F.normalize(torch.from_numpy(sums).float(), dim=1)
    return torch.from_numpy(alone).float(), Texts(numbers, starts, vectors)


def test_each_step_brings_texts_that_were_held_out_nearer() -> None:
    alone, given = texts()
    found = fit(alone, given, width=12, log=lambda _line: None)
    assert found.cosines["tokens"] < found.cosines["ridge"] < found.cosines["trained"]
    assert found.cosines["trained"] - found.cosines["int8"] < 0.005
    assert (found.tokens.dtype, tuple(found.tokens.shape)) == (torch.int8, (TOKENS, 12))
    table = found.tokens * found.scales[:, None]
    assert cosine(given, table, found.to_text) > 0.9
    assert table[-5:].abs().sum() > 0  # tokens that no text has get what the map makes of them


def test_where_shares_are_known_the_map_stays_and_tokens_without_a_text_with_it() -> None:
    alone, given = texts()
    shares = torch.full((TOKENS,), 1 / TOKENS)
    shares[-1] = 0.9  # as frequent as an article: it says little
    found = fit(alone, given, width=12, shares=shares, log=lambda _line: None)
    assert found.cosines["ridge"] < found.cosines["trained"]
    assert torch.allclose(found.to_text @ found.to_text.T, torch.eye(12), atol=1e-3)  # directions, untrained
    lengths = (found.tokens * found.scales[:, None]).norm(dim=1)
    assert lengths[-1] < 0.2 * lengths[-5:-1].min()


def test_shares_are_those_that_a_unigram_tokenizer_keeps() -> None:
    unigram = Tokenizer(
        Unigram([("<unk>", 0.0), ("late", float(np.log(0.75))), ("s", float(np.log(0.25)))], 0)
    )
    shares = making.usual_shares(unigram, 4)
    assert shares is not None
    np.testing.assert_allclose(shares, [1.0, 0.75, 0.25, 0.0], rtol=1e-5)
    assert making.usual_shares(tiny_tokenizer(), 4) is None


def test_a_part_of_the_texts_is_those_texts() -> None:
    _alone, given = texts(20)
    part = given.part(np.array([7, 3]))
    ends = np.append(given.starts[1:], len(given.numbers))
    expected = [given.numbers[given.starts[n] : ends[n]].tolist() for n in (7, 3)]
    assert [one.tolist() for one in np.split(part.numbers, part.starts[1:])] == expected
    assert torch.equal(part.vectors, given.vectors[[7, 3]])


def test_no_text_that_models_are_chosen_by_is_used() -> None:
    table = StringTable()
    numbers = [table.add(f"text {number}") for number in range(30)]
    data = SimpleNamespace(
        texts=table,
        train=[SimpleNamespace(texts=np.array(numbers[:10])), SimpleNamespace(texts=np.array(numbers[8:15]))],
        glosses=SimpleNamespace(texts=np.array(numbers[15:20])),
        written=None,
        validation=[SimpleNamespace(texts=[numbers[3], *numbers[20:]])],
    )
    chosen = making.chosen_texts(data, 100)  # type: ignore[arg-type]
    assert sorted(chosen) == sorted(f"text {number}" for number in range(20) if number != 3)
    assert making.chosen_texts(data, 5) == chosen[:5]  # type: ignore[arg-type]


def test_a_token_by_itself_stands_between_the_special_ones() -> None:
    model = tiny_sce_model()
    alone = making._alone(model.text_embedder)  # type: ignore[arg-type]
    assert model.tokenizer is not None
    np.testing.assert_allclose(
        alone[model.tokenizer.token_to_id("late")],
        model.embed(["late"])[0],
        atol=2e-4,  # kept as float16
    )
