"""Static vectors: tokens are the tokenizer's, the file is checked, scores are the model's own head's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.ml.draft import static
from sce_desktop.ml.draft.model import DraftModel, draft_of, encoder_key
from sce_desktop.ml.draft.static import DRAFT, MAX_TOKENS, StaticVectors, load
from sce_desktop.ml.encoder import word_tokens
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.ml.transductive import TransductiveModel
from tests.ml.tiny import WIDTH, tiny_sce, tiny_sce_model, tiny_tokenizer

TEXTS = [
    "The parcel was LATE, and the box broken!",
    "  refund\tmoney\nback… ",
    "naïve café — Грубый курьер №7 www.example.org/a?b=c",
    "包裹 lost",
    "x" * 120 + " late",
    "",
    "late " * 200,
]
LABELS = [Label("parcel"), Label("money"), Label("rude driver")]


def vectors(model: SCEModel, seed: int = 0) -> StaticVectors:
    assert model.tokenizer is not None
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(-127, 128, (model.tokenizer.get_vocab_size(), 8), generator=generator)
    return StaticVectors(
        tokens.to(torch.int8),
        torch.full((len(tokens),), 0.01),
        torch.randn(8, WIDTH, generator=generator),
        model.tokenizer,
        encoder_key(model),
    )


def test_tokens_are_those_of_the_tokenizer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_tokens, "MOST_WORDS", 5)  # what is kept is thrown away between the two
    tokenizer = tiny_tokenizer()
    made = vectors(tiny_sce_model())
    for texts in (TEXTS, TEXTS[::-1]):
        numbers, starts = made.token_ids(texts)
        parts = np.split(numbers, starts[1:])
        for text, mine in zip(texts, parts, strict=True):
            theirs = tokenizer.encode(text[: static.CHARACTERS], add_special_tokens=False).ids[:MAX_TOKENS]
            assert mine.tolist() == (theirs or [tokenizer.get_vocab_size()]), text


def test_a_text_is_the_mean_of_its_tokens_mapped_and_of_unit_length() -> None:
    made = vectors(tiny_sce_model())
    (found,) = made.encode(["late parcel"])
    late, parcel = (tiny_tokenizer().token_to_id(word) for word in ("late", "parcel"))
    mean = (made.tokens[late].float() + made.tokens[parcel].float()) * 0.01 / 2
    expected = mean @ made.to_text
    np.testing.assert_allclose(found, (expected / expected.norm()).numpy(), atol=1e-5)
    assert not made.encode([""]).any()
    many = [f"parcel {number}" for number in range(static.ROWS + 3)]
    np.testing.assert_allclose(made.encode(many)[-1], made.encode(many[-1:])[0], atol=1e-6)


def test_the_file_gives_back_what_was_saved(tmp_path: Path) -> None:
    folder = tiny_sce(tmp_path)
    model = SCEModel.from_pretrained(folder)
    assert draft_of(model, str(folder)) is None
    made = vectors(model)
    assert made.save(folder) == folder / DRAFT
    draft = draft_of(model, str(folder))
    assert draft is not None
    np.testing.assert_allclose(draft.vectors.encode(TEXTS), made.encode(TEXTS), atol=2e-3)
    assert load(folder, made.tokenizer, "another encoder", width=WIDTH) is None


def test_scores_are_those_of_the_models_head_over_static_vectors(tmp_path: Path) -> None:
    model = tiny_sce_model(says_none=True)
    draft = DraftModel(model, vectors(model))
    found = draft.probabilities(TEXTS, LABELS)
    expected = model.score(draft.vectors.encode(TEXTS), LABELS)
    np.testing.assert_array_equal(found.probabilities, expected.probabilities)
    assert found.none is not None
    assert draft.fingerprint != model.fingerprint
    several = draft.probabilities(TEXTS, LABELS, multi_label=True)
    assert not np.allclose(several.probabilities.sum(1), 1)


def test_a_model_fitted_to_a_table_gives_the_draft_of_what_was_fitted(tmp_path: Path) -> None:
    folder = tiny_sce(tmp_path)
    model = SCEModel.from_pretrained(folder)
    vectors(model).save(folder)
    fitted = TransductiveModel(model, model.embed(["late parcel", "money back"]))
    draft = draft_of(fitted, str(folder))
    assert draft is not None
    assert draft.model is model


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state.pop("map"),
        lambda state: state.update(tokens=state["tokens"].float()),
        lambda state: state.update(tokens=state["tokens"][:-1], scales=state["scales"][:-1]),
        lambda state: state["map"].fill_(float("nan")),
        lambda state: state.update(map=state["map"][:, :-1].contiguous()),
        lambda state: state.update(scales=state["scales"][:-1]),
    ],
)
def test_a_damaged_file_is_refused_in_one_sentence(tmp_path: Path, change: object) -> None:
    folder = tiny_sce(tmp_path)
    model = SCEModel.from_pretrained(folder)
    made = vectors(model)
    made.save(folder)
    state = load_file(folder / DRAFT)
    change(state)  # type: ignore[operator]
    save_file(state, folder / DRAFT, {"format": static.FORMAT, "encoder": made.encoder})
    with pytest.raises(UserError, match="is cut or damaged"):
        draft_of(model, str(folder))


def test_a_cut_file_is_refused_in_one_sentence(tmp_path: Path) -> None:
    folder = tiny_sce(tmp_path)
    model = SCEModel.from_pretrained(folder)
    file = vectors(model).save(folder)
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(UserError, match="is cut or damaged"):
        draft_of(model, str(folder))


def test_vectors_are_moved_by_what_those_of_a_few_texts_lack() -> None:
    model = tiny_sce_model()
    made = vectors(model)
    texts = TEXTS[:4]
    lacking = np.linspace(-0.2, 0.2, WIDTH, dtype=np.float32)
    moved = made.moved(texts, made.encode(texts) + lacking)
    expected = made.encode(TEXTS[4:5]) + lacking
    np.testing.assert_allclose(moved.encode(TEXTS[4:5]), expected / np.linalg.norm(expected), atol=1e-6)
    assert moved.key != made.key
    assert made.offset is None


def test_the_encoder_reads_a_few_texts_of_a_table_where_the_file_asks_for_them(tmp_path: Path) -> None:
    model = tiny_sce_model()
    made = vectors(model)
    made.read_first = 4
    made.save(tmp_path)
    assert model.tokenizer is not None
    loaded = load(tmp_path, model.tokenizer, encoder_key(model), width=WIDTH)
    assert loaded is not None
    draft = DraftModel(model, loaded)
    few = draft.probabilities(TEXTS[:1], LABELS).probabilities  # too few to move by
    assert draft.vectors.offset is None
    texts = [f"parcel {number} late" for number in range(9)]
    draft.probabilities(texts, LABELS)
    read = texts[::2][:4]
    offset = draft.vectors.offset
    assert offset is not None
    np.testing.assert_allclose(offset, (model.embed(read) - loaded.encode(read)).mean(axis=0), atol=2e-4)
    again = draft.probabilities(TEXTS[:1], LABELS).probabilities
    assert np.abs(again - few).max() > 1e-3
    draft.probabilities(texts[::-1], LABELS)
    assert draft.vectors.offset is offset  # once a table


@pytest.mark.parametrize("first", ["-1", "many", "10000", "1.5"])
def test_a_file_that_asks_for_a_strange_number_of_texts_is_damaged(tmp_path: Path, first: str) -> None:
    model = tiny_sce_model()
    file = vectors(model).save(tmp_path)
    about = {"format": static.FORMAT, "encoder": encoder_key(model), "read_first": first}
    save_file(load_file(file), file, about)
    assert model.tokenizer is not None
    with pytest.raises(UserError, match="damaged"):
        load(tmp_path, model.tokenizer, encoder_key(model), width=WIDTH)
