"""A token table in 4-bit blocks gives its unpacked rows; weights in several files come back whole."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.ml.encoder.bert import EncoderConfig, TextEncoder, text_encoder_state
from sce_desktop.ml.encoder.quantised import QuantisedTable, quantised, unpacked
from sce_desktop.ml.hub import catalog, folders, installing, model_places
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.ml.sce.sce import mean_token_embeddings
from tests.ml.tiny import tiny_sce_model

TEXTS = ["the parcel was late", "my money back please", "", "a very very long wait for the driver"]
LABELS = [Label("late delivery"), Label("refund"), Label("app", synonyms=("website",))]


def _table(rows: int = 40, width: int = 64) -> tuple[QuantisedTable, torch.Tensor]:
    table = QuantisedTable(rows, width)
    table.blocks, table.scales = quantised(
        torch.randn(rows, width, generator=torch.Generator().manual_seed(3))
    )
    return table, unpacked(table.blocks, table.scales)


def test_rows_are_those_of_the_unpacked_table() -> None:
    table, whole = _table()
    ids = torch.tensor([[3, 0, 39], [7, 7, 1]])
    assert torch.equal(table(ids), whole[ids])
    assert table(torch.tensor(5)).shape == (64,)
    assert table(ids).dtype == torch.float32


def test_a_block_is_laid_out_as_in_q4_0() -> None:
    weights = torch.arange(-8, 8).repeat_interleave(2)[None].float() * 0.5  # 16 steps of one block
    blocks, scales = quantised(weights)
    assert scales.item() == 0.5
    assert (blocks[0] & 15).tolist() == [step for step in range(8) for _ in range(2)]  # the first 16 weights
    assert (blocks[0] >> 4).tolist() == [step for step in range(8, 16) for _ in range(2)]
    assert torch.equal(unpacked(blocks, scales), weights)


def test_packing_what_was_unpacked_changes_nothing_and_rounds_by_a_sixteenth_at_most() -> None:
    _, whole = _table()
    assert torch.equal(unpacked(*quantised(whole)), whole)
    floats = torch.randn(20, 32, generator=torch.Generator().manual_seed(1))
    apart = (unpacked(*quantised(floats)) - floats).abs()
    assert (apart <= floats.abs().amax(1, keepdim=True) / 8 + 1e-3).all()
    assert torch.equal(unpacked(*quantised(torch.zeros(2, 32))), torch.zeros(2, 32))


def test_a_width_that_is_no_number_of_blocks_is_refused() -> None:
    with pytest.raises(ValueError, match="whole number"):
        QuantisedTable(4, 48)


def test_half_precision_of_the_model_leaves_the_scales_as_they_are() -> None:
    table, whole = _table()
    for changed in (table.half(), table.float(), table.double()):
        assert changed.scales.dtype == torch.float16
        assert torch.equal(changed(torch.arange(40)), whole)


def test_mean_token_embeddings_from_blocks() -> None:
    table, whole = _table()
    ids = [[1, 2, 2], [], [39]]
    assert torch.allclose(mean_token_embeddings(table, ids), mean_token_embeddings(whole, ids), atol=1e-6)
    assert mean_token_embeddings(table, ids)[1].eq(0).all()


def _both() -> tuple[SCEModel, SCEModel]:
    """The tiny model with a table in blocks, and with the same table unpacked."""
    plain = tiny_sce_model(seed=2)
    state = plain.state_dict()
    blocks, scales = quantised(state["embedder.tokens.weight"])
    made = []
    for bits in (4, 0):
        encoder_config = replace(plain.embedder.config, token_bits=bits)
        encoder = TextEncoder(encoder_config)
        own = {k.removeprefix("embedder."): v for k, v in state.items() if k.startswith("embedder.")}
        del own["tokens.weight"]
        own |= {"tokens.blocks": blocks, "tokens.scales": scales}
        if not bits:
            own = {k: v for k, v in own.items() if not k.startswith("tokens.")}
            own["tokens.weight"] = unpacked(blocks, scales)
        encoder.load_state_dict(own)
        config = replace(plain.config, embedder=plain.config.embedder | {"encoder": encoder_config.to_dict()})
        assert plain.tokenizer is not None
        made.append(SCEModel(config, encoder, plain.head, plain.tokenizer))
    return made[0], made[1]


def test_a_model_with_blocks_scores_as_one_with_the_unpacked_rows(tmp_path: Path) -> None:
    blocks, floats = _both()
    right = floats.probabilities(TEXTS[:2], LABELS).probabilities
    assert abs(blocks.probabilities(TEXTS[:2], LABELS).probabilities - right).max() < 1e-6
    blocks.save_pretrained(tmp_path / "saved")
    loaded = SCEModel.from_pretrained(tmp_path / "saved")
    assert isinstance(loaded.embedder.tokens, QuantisedTable)
    assert loaded.embedder.tokens.scales.dtype == torch.float16
    assert abs(loaded.probabilities(TEXTS[:2], LABELS).probabilities - right).max() < 2e-3  # half precision
    assert json.loads((tmp_path / "saved" / "config.json").read_text())["format"] == 2


def test_packed_and_padded_passes_agree_with_blocks() -> None:
    blocks, _ = _both()
    embedder = blocks.text_embedder
    ids = embedder.token_ids(TEXTS)  # type: ignore[attr-defined]
    packed = embedder._packed(ids)  # type: ignore[attr-defined]
    assert torch.allclose(packed, embedder._padded(ids), atol=1e-5)  # type: ignore[attr-defined]


def test_a_shape_of_unknown_bits_is_refused_and_others_keep_their_name() -> None:
    with pytest.raises(ValueError, match="3 bits"):
        EncoderConfig(token_bits=3)
    assert "token_bits" not in repr(EncoderConfig())  # it would change every model's fingerprint


def test_published_weights_with_blocks() -> None:
    table, _ = _table(rows=9, width=64)
    config = EncoderConfig(
        vocab_size=9, hidden_size=64, num_hidden_layers=0, num_attention_heads=4, token_bits=4
    )
    at = "bert.embeddings."
    state = {
        f"{at}word_embeddings.blocks": table.blocks,
        f"{at}word_embeddings.scales": table.scales,
        f"{at}position_embeddings.weight": torch.randn(512, 64),
        f"{at}token_type_embeddings.weight": torch.randn(2, 64),
        f"{at}LayerNorm.weight": torch.ones(64),
        f"{at}LayerNorm.bias": torch.zeros(64),
    }
    encoder = TextEncoder(config)
    encoder.load_state_dict(text_encoder_state(state, config))
    assert torch.equal(encoder.tokens(torch.tensor([4])), table(torch.tensor([4])))


# --- several files -----------------------------------------------------------------------------------------


@pytest.fixture
def several(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the tiny model in files of at most 40 kB."""
    monkeypatch.setattr(folders, "LARGEST_FILE", 40_000)
    tiny_sce_model(seed=2).save_pretrained(tmp_path / "several")
    return tmp_path / "several"


def test_large_weights_go_to_several_files_and_come_back(several: Path) -> None:
    names = folders.weight_files(several)
    assert len(names) > 1
    assert not (several / folders.WEIGHTS).exists()
    loaded, right = SCEModel.from_pretrained(several), tiny_sce_model(seed=2)
    apart = loaded.probabilities(TEXTS[:2], LABELS).probabilities
    assert abs(apart - right.probabilities(TEXTS[:2], LABELS).probabilities).max() < 2e-3
    config = json.loads((several / "config.json").read_text())
    assert config["format"] == 2
    assert config["weights_sha256"] == {name: folders.file_sha256(several / name) for name in names}


def test_one_file_again_after_several_and_the_other_way_round(
    several: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "LARGEST_FILE", 50_000_000)
    tiny_sce_model(seed=5).save_pretrained(several)
    assert sorted(p.name for p in several.glob("*.safetensors*")) == [folders.WEIGHTS]
    assert json.loads((several / "config.json").read_text())["format"] == 1
    monkeypatch.setattr(folders, "LARGEST_FILE", 40_000)
    tiny_sce_model(seed=2).save_pretrained(several)
    assert not (several / folders.WEIGHTS).exists()
    SCEModel.from_pretrained(several)


def test_a_missing_or_damaged_part_is_reported(several: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_places, "bundled_models", lambda: {"several": several})
    assert catalog.verify("several").ok
    last = folders.weight_files(several)[-1]
    whole = (several / last).read_bytes()
    (several / last).write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert catalog.verify("several").problem == f"{last} does not match its hash"
    (several / last).unlink()
    assert catalog.verify("several").problem == f"{last} is missing"
    with pytest.raises(UserError, match=f"{last} is missing"):
        SCEModel.from_pretrained(several)


@pytest.mark.parametrize(
    "index", ['{"weight_map": {"a": "../other.safetensors"}}', "{}", '{"weight_map": 3}']
)
def test_an_index_that_names_no_files_of_the_folder_is_refused(several: Path, index: str) -> None:
    (several / folders.INDEX).write_text(index)
    with pytest.raises(UserError, match="damaged"):
        SCEModel.from_pretrained(several)


def test_a_copy_of_several_files_is_checked_whole(several: Path, tmp_path: Path) -> None:
    installing.add(several, name="mine", models_dir=tmp_path / "models")
    found = catalog.verify("mine", models_dir=tmp_path / "models")
    assert found.ok
    assert len(found.sha256) == 64
