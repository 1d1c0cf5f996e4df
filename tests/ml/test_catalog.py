"""Models by name: what is here, what is added, removed, fetched and checked."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.ml.hub import catalog, folders, installing, model_places
from sce_desktop.ml.hub.known_models import MINILM, MINILM_SHA256, SCE_MINI
from sce_desktop.ml.hub.manifest import MANIFEST
from sce_desktop.ml.sce.model import SCEModel
from tests.ml.tiny import tiny_sce, tiny_sentence_transformer
from tests.tasks.fakes import RecordingProgress, StoppingProgress


def names() -> list[str]:
    return [entry.name for entry in catalog.list_models()]


def test_the_baselines_model_comes_with_the_program() -> None:
    entry = next(entry for entry in catalog.list_models() if entry.name == MINILM)
    assert (entry.kind, entry.bundled, entry.licence) == ("similarity", True, "apache-2.0")
    assert entry.size > 80_000_000
    assert catalog.resolve(MINILM) == entry.folder
    found = catalog.verify(MINILM)
    assert (found.ok, found.sha256, found.problem) == (True, MINILM_SHA256, "")


def test_listing_needs_neither_torch_nor_the_packages_code() -> None:
    code = (
        "import sys; from sce_desktop.ml.hub import catalog\n"
        f"catalog.list_models(); catalog.resolve({MINILM!r})\n"
        f"heavy = ('torch', 'transformers', {model_places.MINILM_PACKAGE!r})\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_adding_copies_and_removing_deletes(tmp_path: Path) -> None:
    folder = tiny_sce(tmp_path)
    (folder / "README.md").write_text("---\nlicense: mit\n---\n", encoding="utf-8")
    (folder / ".git").mkdir()
    entry = installing.add(folder, name="mine")
    assert (entry.name, entry.kind, entry.licence, entry.bundled) == ("mine", "sce", "mit", False)
    assert "mine" in names()
    assert not (entry.folder / ".git").exists()
    assert SCEModel.from_pretrained(catalog.resolve("mine")).name == "tiny"
    assert catalog.verify("mine").ok
    installing.remove("mine")
    assert "mine" not in names()
    assert not entry.folder.exists()
    assert folder.exists()


def test_how_a_model_is_loaded_is_kept_with_it(tmp_path: Path) -> None:
    folder = tiny_sentence_transformer(tmp_path)
    trap = {"files": {}, "options": {"trust_remote_code": True}}
    (folder / MANIFEST).write_text(json.dumps(trap), encoding="utf-8")
    assert catalog.load_options(folder) == {}  # a folder cannot allow itself anything
    installing.add(folder, name="wary")
    assert catalog.load_options("wary") == {}
    installing.add(folder, name="trusted", code=True)
    assert catalog.load_options("trusted") == {"trust_remote_code": True}
    assert catalog.load_options(MINILM) == {}


def test_the_models_may_lie_elsewhere(tmp_path: Path) -> None:
    elsewhere = tmp_path / "моя папка"
    entry = installing.add(tiny_sentence_transformer(tmp_path), models_dir=elsewhere)
    assert (entry.name, entry.kind, entry.folder.parent) == ("tiny-sentences", "similarity", elsewhere)
    assert catalog.resolve("tiny-sentences", models_dir=elsewhere) == entry.folder
    assert "tiny-sentences" not in names()
    assert entry in catalog.list_models(elsewhere)


@pytest.mark.parametrize("name", ["../evil", ".hidden", "a/b/c", "", "-", "a\nb", MINILM, "tiny"])
def test_names_that_cannot_be_taken(tmp_path: Path, name: str) -> None:
    folder = tiny_sce(tmp_path)
    installing.add(folder)  # "tiny", which an empty name means too
    with pytest.raises(UserError):
        installing.add(folder, name=name)


def test_what_is_no_model_is_not_added(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="not a model folder"):
        installing.add(tmp_path / "empty")
    with pytest.raises(UserError, match="does not exist"):
        installing.add(tmp_path / "gone")
    folder = tiny_sce(tmp_path)
    (folder / "model.safetensors").unlink()
    with pytest.raises(UserError, match=r"model\.safetensors is missing"):
        installing.add(folder)


def test_too_small_a_disk_is_reported_before_copying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tiny_sce(tmp_path)
    usage = type("Usage", (), {"free": 1_000_000})()
    monkeypatch.setattr(installing.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(UserError, match="make space first"):
        installing.add(folder)
    assert "tiny" not in names()


def test_bundled_and_unknown_models_are_not_removed() -> None:
    with pytest.raises(UserError, match="comes with the program"):
        installing.remove(MINILM)
    with pytest.raises(UserError, match="no installed model"):
        installing.remove("nobody")


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda f: (f / "model.safetensors").write_bytes(b"x"), "model.safetensors does not match its hash"),
        (lambda f: (f / "tokenizer.json").write_bytes(b"{}"), "tokenizer.json does not match its hash"),
        (lambda f: (f / "tokenizer.json").unlink(), "tokenizer.json is missing"),
    ],
)
def test_a_changed_file_is_found(tmp_path: Path, damage: Callable[[Path], None], problem: str) -> None:
    entry = installing.add(tiny_sce(tmp_path))
    damage(entry.folder)
    found = catalog.verify("tiny")
    assert (found.ok, found.problem) == (False, problem)


def test_an_sce_without_a_manifest_is_checked_by_its_config(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_sce(tmp_path, name=SCE_MINI)
    monkeypatch.setattr(model_places.paths, "bundled_models_dir", lambda: tmp_path)
    assert names()[0] == SCE_MINI
    assert catalog.verify(SCE_MINI).sha256 == folders.file_sha256(folder / "model.safetensors")
    (folder / "model.safetensors").write_bytes(b"x")
    assert not catalog.verify(SCE_MINI).ok
    (folder / "model.safetensors").unlink()
    assert catalog.verify(SCE_MINI).problem == "model.safetensors is missing"


def test_resolving_says_what_to_do(tmp_path: Path) -> None:
    folder = tiny_sce(tmp_path)
    assert catalog.resolve(folder) == folder
    assert catalog.resolve(str(folder)) == folder
    with pytest.raises(UserError, match="is a file"):
        catalog.resolve(folder / "config.json")
    with pytest.raises(UserError, match=r"no model “nobody”.*all-MiniLM-L6-v2"):
        catalog.resolve("nobody")
    with pytest.raises(UserError, match="models get somebody/some-model"):
        catalog.resolve("somebody/some-model")
    with pytest.raises(UserError, match="no installed model"):
        catalog.verify("nobody")


def test_hashes_are_remembered_until_the_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "weights"
    file.write_bytes(b"one")
    first = folders.known_sha256(file)
    assert first == folders.file_sha256(file)
    monkeypatch.setattr(folders, "file_sha256", lambda _: "read again")
    assert folders.known_sha256(file) == first
    file.write_bytes(b"another")
    assert folders.known_sha256(file) == "read again"
    memory = model_places.paths.cache_dir() / "sha256.json"
    for broken in ("[]", "{", '{"x": 1}'):
        memory.write_text(broken, encoding="utf-8")
        assert folders.known_sha256(file) == "read again"


def test_a_spoilt_folder_hides_no_other_model(tmp_path: Path) -> None:
    entry = installing.add(tiny_sce(tmp_path), name="spoilt")
    installing.add(tiny_sentence_transformer(tmp_path), name="well")
    (entry.folder / "config.json").write_text("{", encoding="utf-8")
    problems = {entry.name: entry.problem for entry in catalog.list_models()}
    assert "config.json is damaged" in problems["spoilt"]
    assert problems["well"] == ""
    installing.remove("spoilt")
    assert "spoilt" not in names()


def test_code_is_seen_before_it_could_run_and_the_consent_is_shown(tmp_path: Path) -> None:
    folder = tiny_sentence_transformer(tmp_path)
    assert not folders.brings_code(folder)
    (folder / "custom.py").write_text("raise SystemExit", encoding="utf-8")
    assert folders.brings_code(folder)
    assert not installing.add(folder, name="wary").code
    assert installing.add(folder, name="trusted", code=True).code
    (folder / "custom.py").unlink()
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"auto_map": {"AutoModel": "x.X"}}))
    assert folders.brings_code(folder)


def test_adding_and_checking_can_be_stopped(tmp_path: Path) -> None:
    folder = tiny_sce(tmp_path)
    for after in (1, 2):
        with pytest.raises(Cancelled):
            installing.add(folder, progress=StoppingProgress(after))
    assert not model_places.paths.models_dir().exists() or not list(model_places.paths.models_dir().iterdir())
    progress = RecordingProgress()
    installing.add(folder, progress=progress)
    assert progress.reports[0][2] == "copying tiny"
    with pytest.raises(Cancelled):
        catalog.verify("tiny", progress=StoppingProgress(2))
    assert catalog.verify("tiny").ok


# --- the hub -----------------------------------------------------------------------------------------------


class FakeHub:
    """A hub with one repository; a download may break off in the middle."""

    def __init__(self, source: Path, *, breaks: bool = False) -> None:
        self.source, self.breaks = source, breaks
        self.patterns: list[str] = []
        self.facts: dict[str, Any] = {}

    def model_info(self, _name: str, **_: Any) -> Any:
        files = [
            type("File", (), {"rfilename": p.relative_to(self.source).as_posix(), "size": p.stat().st_size})()
            for p in self.source.rglob("*")
            if p.is_file()
        ]
        return type("Info", (), {"sha": "abc123", "siblings": files, **self.facts})()

    def snapshot_download(self, _name: str, *, local_dir: Path, allow_patterns: list[str], **_: Any) -> str:
        self.patterns = allow_patterns
        for number, file in enumerate(sorted(p for p in self.source.rglob("*") if p.is_file())):
            if self.breaks and number == 2:
                raise ConnectionError("the line broke")
            target = local_dir / file.relative_to(self.source)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read_bytes())
        return str(local_dir)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHub:
    hub = FakeHub(tiny_sce(tmp_path))
    monkeypatch.setattr("huggingface_hub.HfApi", lambda: hub)
    monkeypatch.setattr("huggingface_hub.snapshot_download", hub.snapshot_download)
    return hub


def test_a_fetched_model_is_here_under_its_name(hub: FakeHub) -> None:
    folder = installing.get("somebody/tiny-sce")
    assert "somebody/tiny-sce" in names()
    assert catalog.resolve("somebody/tiny-sce") == folder
    assert catalog.verify("somebody/tiny-sce").ok
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    assert manifest["source"] == "hub:somebody/tiny-sce@abc123"
    assert not [pattern for pattern in hub.patterns if pattern.endswith((".bin", ".py", ".pt", ".pkl"))]
    hub.source = Path("gone")  # a second time, nothing is asked
    assert catalog.resolve("somebody/tiny-sce", allow_download=True) == folder


def test_program_code_comes_only_when_asked_for(hub: FakeHub) -> None:
    installing.get("somebody/plain")
    assert "*.py" not in hub.patterns
    installing.get("somebody/coded", code=True)
    assert "*.py" in hub.patterns
    assert catalog.load_options("somebody/plain") == {}
    assert catalog.load_options("somebody/coded") == {"trust_remote_code": True}
    installing.get("jinaai/jina-embeddings-v3")
    assert catalog.load_options("jinaai/jina-embeddings-v3") == {"task": "classification"}


def test_half_a_model_is_never_seen_and_goes_on(hub: FakeHub) -> None:
    hub.breaks = True
    with pytest.raises(UserError, match="check the network"):
        installing.get("somebody/tiny-sce")
    assert "somebody/tiny-sce" not in names()
    with pytest.raises(UserError, match="not installed"):
        catalog.resolve("somebody/tiny-sce")
    hub.breaks = False
    assert SCEModel.from_pretrained(installing.get("somebody/tiny-sce")).name == "tiny"
    assert [p.name for p in model_places.paths.models_dir().iterdir()] == ["somebody--tiny-sce"]


def test_a_model_of_pickles_is_not_fetched(hub: FakeHub) -> None:
    (hub.source / "model.safetensors").rename(hub.source / "pytorch_model.bin")
    with pytest.raises(UserError, match="pickles are never opened"):
        installing.get("somebody/tiny-sce")


def test_what_an_interrupted_download_left_is_known(hub: FakeHub) -> None:
    assert installing.fetched_so_far("somebody/tiny-sce") == 0
    hub.breaks = True
    with pytest.raises(UserError):
        installing.get("somebody/tiny-sce")
    assert installing.fetched_so_far("somebody/tiny-sce") > 0
    hub.breaks = False
    installing.get("somebody/tiny-sce")
    assert installing.fetched_so_far("somebody/tiny-sce") == 0


def test_terms_of_any_model_on_the_hub(hub: FakeHub) -> None:
    assert installing.look("jina-embeddings-v3").free is False  # known: the hub is not asked
    found = installing.look("somebody/tiny-sce")
    assert (found.name, found.licence, found.kind) == ("somebody/tiny-sce", "", "similarity")
    assert found.size == folders.folder_size(hub.source)
    assert "licence not stated" in found.terms()
    (hub.source / "run.py").write_text("raise SystemExit", encoding="utf-8")
    hub.facts = {
        "card_data": {"license": "other", "license_name": "some-research-license"},
        "gated": "manual",
        "pipeline_tag": "text-generation",
    }
    found = installing.look("somebody/tiny-sce")
    assert (found.kind, found.licence, found.free) == ("llm", "some-research-license", False)
    assert found.gated
    assert found.code
    assert "NOT for commercial use, after consent" in found.terms()
    assert hub.patterns == []  # nothing was fetched
    with pytest.raises(UserError, match="owner/model"):
        installing.look("nobody")


def test_too_small_a_disk_is_reported_before_fetching(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installing.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1_000_000})())
    with pytest.raises(UserError, match="make space first"):
        installing.get("somebody/tiny-sce")
    assert hub.patterns == []


def test_offline_is_one_sentence() -> None:
    """Without a stand-in: the real library, told to stay offline, sockets blocked."""
    with pytest.raises(UserError, match="check the network") as caught:
        installing.get("somebody/some-model")
    assert "\n" not in str(caught.value)
    with pytest.raises(UserError, match="owner/model"):
        installing.get("no-owner")
