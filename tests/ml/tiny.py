"""Tiny models with random weights, for everybody's tests: they load in milliseconds.

Token vectors are random and the layers nearly transparent, so that a text is drawn to a label that shares a
word with it: enough to tell right from wrong wiring, and no more.
"""

from __future__ import annotations

import json
import string
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing

from sce_desktop.core.arrays import FloatArray
from sce_desktop.core.runs import as_kept
from sce_desktop.ml.encoder.bert import EncoderConfig, TextEncoder
from sce_desktop.ml.sce.model import SCEModel
from sce_desktop.ml.sce.model_config import ModelConfig
from sce_desktop.ml.sce.sce import SCE, SCEConfig

WIDTH = 64
MAX_TOKENS = 64
_WORDS = """
the a an and or but not no is was are be it its this that i we you my our of in on at to for with from
parcel package delivery delivered deliver late early lost damaged broken box driver courier rude
friendly polite refund money back price expensive cheap cost fee charged charge twice payment pay
invoice bill billing card app website login password crash crashes error bug tracking track number map
time hour day week yesterday today customer service support help phone call email answer wait waiting
question complaint praise thanks thank good great bad poor terrible excellent fast slow happy angry
address wrong street door neighbour left rain wet label other none sport sports politics business
science technology health world news music film travel food drink computer team game match player goal
market stock bank company government minister election law court doctor hospital school student car
train flight hotel weather green red blue one two three new old more very never always
"""


class DictCache:
    """A `core.runs.VectorCache` in memory."""

    def __init__(self) -> None:
        self._vectors: dict[tuple[str, str], FloatArray] = {}

    def __len__(self) -> int:
        return len(self._vectors)

    def get(self, embedder: str, texts: Sequence[str]) -> tuple[NDArray[np.bool_], FloatArray | None]:
        found = np.array([(embedder, text) in self._vectors for text in texts], dtype=np.bool_)
        if not found.any():
            return found, None
        known = [self._vectors[embedder, text] for text, there in zip(texts, found, strict=True) if there]
        return found, as_kept(np.stack(known))

    def put(self, embedder: str, texts: Sequence[str], vectors: FloatArray) -> None:
        for text, vector in zip(texts, vectors, strict=True):
            self._vectors[embedder, text] = vector.copy()


def tiny_tokenizer(model_type: Literal["bert", "roberta"] = "bert") -> Tokenizer:
    """A lower-casing WordPiece tokenizer of some hundred words, letters for the rest."""
    specials = {
        "bert": ["[PAD]", "[UNK]", "[CLS]", "[SEP]"],
        "roberta": ["<s>", "<pad>", "</s>", "<unk>"],
    }[model_type]
    characters = sorted(
        set(string.ascii_lowercase + string.digits + string.punctuation + "абвгдеёжзиклмнопрстуфхцчшыэюя")
    )
    vocabulary = dict.fromkeys([*specials, *_WORDS.split(), *characters, *(f"##{c}" for c in characters)])
    ids = {token: i for i, token in enumerate(vocabulary)}
    unknown, first, last = {"bert": ("[UNK]", "[CLS]", "[SEP]"), "roberta": ("<unk>", "<s>", "</s>")}[
        model_type
    ]
    tokenizer = Tokenizer(WordPiece(ids, unk_token=unknown))
    tokenizer.add_special_tokens(specials)
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(
        single=f"{first} $A {last}",
        pair=f"{first} $A {last} $B {last}",
        special_tokens=[(first, ids[first]), (last, ids[last])],
    )
    return tokenizer


def tiny_config(model_type: Literal["bert", "roberta"] = "bert", *, layers: int = 2) -> EncoderConfig:
    """The shape that goes with `tiny_tokenizer`."""
    return EncoderConfig(
        vocab_size=tiny_tokenizer(model_type).get_vocab_size(),
        hidden_size=WIDTH,
        num_hidden_layers=layers,
        num_attention_heads=4,
        intermediate_size=2 * WIDTH,
        max_position_embeddings=MAX_TOKENS + 2,
        type_vocab_size=2 if model_type == "bert" else 1,
        pad_token_id=0 if model_type == "bert" else 1,
        layer_norm_eps=1e-12 if model_type == "bert" else 1e-5,
        model_type=model_type,
    )


def _draw(module: torch.nn.Module, seed: int, spread: float) -> None:
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in sorted(module.named_parameters()):
            if "norm" in name:
                p.copy_(
                    1 + 0.1 * torch.randn(p.shape, generator=generator) if name.endswith("weight") else 0 * p
                )
            elif p.dim() > 0:
                loud = name in ("tokens.weight", "adapt.weight", "label_map.weight")
                quiet = name.endswith("bias") or name in ("types.weight", "positions.weight")
                scale = 1.0 if loud else 0.2 * spread if quiet else spread
                p.copy_(torch.randn(p.shape, generator=generator) * scale)


def tiny_text_encoder(
    model_type: Literal["bert", "roberta"] = "bert", *, seed: int = 0, layers: int = 2, spread: float = 0.03
) -> TextEncoder:
    """A `TextEncoder` with random weights."""
    encoder = TextEncoder(tiny_config(model_type, layers=layers))
    _draw(encoder, seed, spread)
    tokenizer = tiny_tokenizer(model_type)
    first, last = (
        tokenizer.token_to_id(t) for t in (("[CLS]", "[SEP]") if model_type == "bert" else ("<s>", "</s>"))
    )
    with torch.no_grad():  # the two cancel out in the mean, which leaves the words
        encoder.tokens.weight[last] = -encoder.tokens.weight[first]
    return encoder.eval()


def tiny_head(config: SCEConfig, *, seed: int = 1, spread: float = 0.03) -> SCE:
    """An `SCE` with random weights."""
    head = SCE(config)
    _draw(head, seed, spread)
    return head.eval()


def tiny_sce_model(
    *,
    architecture: Literal["paper", "plus"] = "plus",
    attention: Literal["joint", "shared"] = "joint",
    model_type: Literal["bert", "roberta"] = "bert",
    says_none: bool = False,
    seed: int = 0,
    name: str = "tiny",
) -> SCEModel:
    """An SCE with its own embedder, in memory."""
    shape = SCEConfig(
        architecture=architecture,
        attention=attention,
        text_width=WIDTH,
        layers=2,
        says_none=says_none,
        encoder=tiny_config(model_type),
    )
    encoder = tiny_text_encoder(model_type, seed=seed)
    config = ModelConfig.native(name, shape, encoder.config, max_tokens=MAX_TOKENS)
    return SCEModel(config, encoder, tiny_head(shape, seed=seed + 1), tiny_tokenizer(model_type)).eval()


def tiny_sce(
    tmp_path: Path,
    *,
    architecture: Literal["paper", "plus"] = "plus",
    attention: Literal["joint", "shared"] = "joint",
    seed: int = 0,
    name: str = "tiny",
) -> Path:
    """Write a tiny SCE to ``tmp_path/name`` and return that folder, ready for ``--model``."""
    folder = tmp_path / name
    tiny_sce_model(architecture=architecture, attention=attention, seed=seed, name=name).save_pretrained(
        folder
    )
    return folder


def published_state(encoder: TextEncoder) -> dict[str, torch.Tensor]:
    """The encoder's weights under the names that published BERT checkpoints use."""
    own = encoder.state_dict()
    out = {
        "embeddings.word_embeddings.weight": own["tokens.weight"],
        "embeddings.position_embeddings.weight": own["positions.weight"],
        "embeddings.token_type_embeddings.weight": own["types.weight"],
        "embeddings.LayerNorm.weight": own["norm.weight"],
        "embeddings.LayerNorm.bias": own["norm.bias"],
    }
    names = {
        "out": "attention.output.dense",
        "norm_attention": "attention.output.LayerNorm",
        "up": "intermediate.dense",
        "down": "output.dense",
        "norm_output": "output.LayerNorm",
    }
    for i in range(encoder.config.num_hidden_layers):
        for kind in ("weight", "bias"):
            parts = own[f"layers.{i}.qkv.{kind}"].chunk(3)
            for which, part in zip(("query", "key", "value"), parts, strict=True):
                out[f"encoder.layer.{i}.attention.self.{which}.{kind}"] = part
            for ours, theirs in names.items():
                out[f"encoder.layer.{i}.{theirs}.{kind}"] = own[f"layers.{i}.{ours}.{kind}"]
    return {name: tensor.clone().contiguous() for name, tensor in out.items()}


def tiny_sentence_transformer(
    tmp_path: Path,
    *,
    model_type: Literal["bert", "roberta"] = "bert",
    seed: int = 0,
    pooling: Literal["mean", "cls"] = "mean",
    name: str = "tiny-sentences",
) -> Path:
    """Write a tiny sentence-transformers folder (as all-MiniLM-L6-v2's is laid) and return it."""
    folder = tmp_path / name
    (folder / "1_Pooling").mkdir(parents=True)
    encoder = tiny_text_encoder(model_type, seed=seed)
    architecture = {"bert": "BertModel", "roberta": "RobertaModel"}[model_type]
    config = encoder.config.to_dict() | {"architectures": [architecture]}
    tokenizer = tiny_tokenizer(model_type)
    special = {"bert": ("[PAD]", "[UNK]", "[CLS]", "[SEP]"), "roberta": ("<pad>", "<unk>", "<s>", "</s>")}[
        model_type
    ]
    files = {
        "config.json": config,
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
            {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
        ],
        "sentence_bert_config.json": {"max_seq_length": MAX_TOKENS, "do_lower_case": False},
        "1_Pooling/config.json": {
            "word_embedding_dimension": WIDTH,
            "pooling_mode_cls_token": pooling == "cls",
            "pooling_mode_mean_tokens": pooling == "mean",
        },
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": MAX_TOKENS,
            **dict(zip(("pad_token", "unk_token", "cls_token", "sep_token"), special, strict=True)),
        },
    }
    for path, content in files.items():
        (folder / path).write_text(json.dumps(content, indent=2), encoding="utf-8")
    tokenizer.save(str(folder / "tokenizer.json"))
    save_file(published_state(encoder), folder / "model.safetensors", metadata={"format": "pt"})
    return folder
