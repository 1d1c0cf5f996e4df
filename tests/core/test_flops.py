from __future__ import annotations

import pytest

from sce_desktop.research.flops import (
    LLAMA_1B,
    LORA_RANK,
    Cost,
    Transformer,
    backward_block,
    backward_block_lora,
    forward_block,
    forward_block_lora,
    paper_costs,
)


def test_coefficients_are_the_papers_exactly() -> None:
    costs = paper_costs()
    assert {key: costs["sce"][key] for key in ("m", "m2", "const")} == {
        "m": 254_803_968,
        "m2": 55_296,
        "const": 2_359_296,
    }
    assert (costs["embedder"]["m"], costs["embedder"]["m2"]) == (301_989_888, 49_152)
    assert (costs["llm_lora"]["m"], costs["llm_lora"]["m2"]) == (2_554_462_208, 196_608)


def test_epochs_are_the_papers_to_three_digits() -> None:
    costs = paper_costs()
    assert costs["sce"]["epoch"] == pytest.approx(4.50e13, rel=5e-3)
    assert costs["embedder"]["once"] == pytest.approx(4.12e14, rel=1e-3)
    assert costs["llm_lora"]["epoch"] == pytest.approx(9.355e15, rel=1e-4)
    assert costs["sce"]["epoch"] / costs["llm_lora"]["epoch"] == pytest.approx(0.005, abs=5e-4)


def test_a_llama_block() -> None:
    both = forward_block_lora(LLAMA_1B, LORA_RANK) + backward_block_lora(LLAMA_1B, LORA_RANK)
    assert both == Cost(m=159_653_888, m2=12_288)


def test_a_block_counted_by_hand() -> None:
    block = Transformer(d=2, d_ff=3, L=1)
    tokens = 5
    attention = 4 * tokens * 2 * 2 + 2 * tokens**2 * 2
    feed_forward = 2 * tokens * 2 * 3
    assert forward_block(block).at(tokens) == attention + feed_forward
    assert backward_block(block).at(tokens) == 2 * (attention + feed_forward)


def test_lora_of_rank_nought_costs_a_plain_forward_and_half_a_backward_of_the_weights() -> None:
    block = Transformer(d=8, d_ff=16, L=1, n_f1=2)
    assert forward_block_lora(block, 0) == forward_block(block)
    assert 2 * backward_block_lora(block, 0).m == backward_block(block).m
