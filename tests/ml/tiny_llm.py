"""Tiny causal language models with random weights, of the architectures that are used for real."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, normalizers, pre_tokenizers, trainers
from tokenizers.models import BPE

from sce_desktop.ml.llm.prompts import PROMPTS
from tests.ml.tiny import _WORDS

NOTHING = "\u00a4"  # a character that the tokenizer throws away
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


def tiny_gguf(
    folder: Path, *, context: int = 64, architecture: str = "llama", chat: bool = False, bold: bool = True
) -> tuple[Path, Any]:
    """Write a tiny Llama as GGUF, as llama.cpp's converter would; return the file and the model in it."""
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = tiny_llm_tokenizer(chat=chat)
    config = LlamaConfig(
        **LLAMA, vocab_size=len(tokenizer), max_position_embeddings=context, tie_word_embeddings=True
    )
    torch.manual_seed(0)
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        for parameter in model.parameters():  # as they are, every answer would be as good as any other
            if bold and parameter.dim() > 1:
                parameter.mul_(25.0 if len(parameter) == len(tokenizer) else 6.0)
    folder.mkdir(parents=True, exist_ok=True)
    _write_gguf(folder / "tiny.gguf", model, tokenizer, architecture=architecture)
    return folder / "tiny.gguf", model


def _write_gguf(path: Path, model: Any, tokenizer: Any, *, architecture: str) -> None:
    import gguf

    c = model.config
    writer = gguf.GGUFWriter(str(path), architecture)
    writer.add_context_length(c.max_position_embeddings)
    writer.add_embedding_length(c.hidden_size)
    writer.add_block_count(c.num_hidden_layers)
    writer.add_feed_forward_length(c.intermediate_size)
    writer.add_head_count(c.num_attention_heads)
    writer.add_head_count_kv(c.num_key_value_heads)
    writer.add_layer_norm_rms_eps(c.rms_norm_eps)
    writer.add_rope_freq_base(10_000.0)
    writer.add_vocab_size(c.vocab_size)
    backend = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
    tokens = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().get)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    special = set(tokenizer.all_special_tokens)
    writer.add_token_types([3 if token in special else 1 for token in tokens])
    writer.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in backend["merges"]])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    names = {
        "attn_q": "self_attn.q_proj",
        "attn_k": "self_attn.k_proj",
        "attn_v": "self_attn.v_proj",
        "attn_output": "self_attn.o_proj",
        "ffn_gate": "mlp.gate_proj",
        "ffn_up": "mlp.up_proj",
        "ffn_down": "mlp.down_proj",
        "attn_norm": "input_layernorm",
        "ffn_norm": "post_attention_layernorm",
    }
    state = {name: tensor.detach().numpy() for name, tensor in model.state_dict().items()}
    writer.add_tensor("token_embd.weight", state["model.embed_tokens.weight"])
    writer.add_tensor("output_norm.weight", state["model.norm.weight"])
    for i in range(c.num_hidden_layers):
        for ours, theirs in names.items():
            tensor = state[f"model.layers.{i}.{theirs}.weight"]
            if ours in ("attn_q", "attn_k"):  # llama.cpp interleaves the halves that rotate together
                heads = c.num_attention_heads if ours == "attn_q" else c.num_key_value_heads
                shape = (heads, 2, tensor.shape[0] // heads // 2, *tensor.shape[1:])
                tensor = tensor.reshape(shape).swapaxes(1, 2).reshape(tensor.shape)
            writer.add_tensor(f"blk.{i}.{ours}.weight", np.ascontiguousarray(tensor))
    if tokenizer.chat_template:
        writer.add_chat_template(tokenizer.chat_template)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
