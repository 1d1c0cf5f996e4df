"""Tiny causal language models with random weights, of the architectures that are used for real."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, normalizers, pre_tokenizers, trainers
from tokenizers.models import BPE

from sce_desktop.ml.prompts import PROMPTS
from tests.ml.tiny import _WORDS

NOTHING = "\u2060"  # a character that the tokenizer throws away
CHAT = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] | trim "
    "+ '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
LLAMA: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}


def tiny_llm_tokenizer(*, chat: bool = True) -> Any:
    """A byte-level BPE like Llama's and SmolLM2's: single tokens for known words, several for others."""
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(BPE())
    tokenizer.normalizer = normalizers.Replace(NOTHING, "")
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=1200,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    words = _WORDS.split()
    prompts = [prompt.whole("", []) for prompt in PROMPTS.values()]
    tokenizer.train_from_iterator([*words * 3, *(f" {w}" for w in words * 3), *prompts], trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|im_end|>",
        bos_token="<|im_start|>",
        chat_template=CHAT if chat else None,
    )


def tiny_llm(
    tmp_path: Path,
    *,
    kind: str = "llama",
    chat: bool = True,
    context: int = 512,
    seed: int = 0,
    name: str = "",
) -> Path:
    """Write a tiny Llama or Qwen3 (F2LLM's kind) with its tokenizer and return the folder."""
    import transformers

    classes = {
        "llama": (transformers.LlamaConfig, transformers.LlamaForCausalLM),
        "qwen3": (transformers.Qwen3Config, transformers.Qwen3ForCausalLM),
    }
    config_class, model_class = classes[kind]
    tokenizer = tiny_llm_tokenizer(chat=chat)
    more = {"head_dim": 8} if kind == "qwen3" else {}
    config = config_class(
        **LLAMA,
        **more,
        vocab_size=len(tokenizer),
        max_position_embeddings=context,
        tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id,
    )
    torch.manual_seed(seed)
    model = model_class(config)
    with torch.no_grad():
        for parameter in model.parameters():  # as they are, every answer would be as good as any other
            if parameter.dim() > 1:
                parameter.mul_(25.0 if len(parameter) == len(tokenizer) else 6.0)
    folder = tmp_path / (name or f"tiny-{kind}")
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
