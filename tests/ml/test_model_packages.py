"""Models as packages: wheels made from a folder, installed by pip, added as files, refused when spoilt."""

from __future__ import annotations

import importlib.util
import json
import os
import runpy
import shutil
import subprocess
import sys
import threading
import tomllib
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from sce_desktop import cli
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.core.models import Known, Package
from sce_desktop.ml.hub import (
    catalog,
    fetching,
    folders,
    installing,
    known_models,
    manifest,
    model_packages,
    model_places,
)
from sce_desktop.ml.hub.known_models import KNOWN
from sce_desktop.ml.sce.model import SCEModel
from tests.ml.tiny import tiny_sce
from tests.tasks.fakes import StoppingProgress

ROOT = Path(__file__).resolve().parents[2]
FACTS = {"version": "2.1", "summary": "a tiny model", "notices": ["multilingual-e5-small.txt"]}
CARD = "---\nlicense: mit\n---\n\n# tiny-words\n"
INSIDE = f"{model_packages.NAMESPACE}/tiny-words"


def builder() -> ModuleType:
    """packaging/model_wheel.py, whose folder is no package: the name is that of a library."""
    spec = importlib.util.spec_from_file_location("model_wheel", ROOT / "packaging" / "model_wheel.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wheel")
    folder = tiny_sce(place, name="tiny-words")
    folder = folder.rename(place / "tiny-words")
    (folder / "README.md").write_text(CARD, encoding="utf-8")
    (folder / ".hidden").write_text("not shipped", encoding="utf-8")
    made: Path = builder().build(folder, FACTS, place / "dist")
    return made


@pytest.fixture
def package(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the model, as pip would install it, on this process' path."""
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    monkeypatch.syspath_prepend(str(site))
    return site / INSIDE


def repacked(wheel: Path, target: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return target


# --- the wheel ---------------------------------------------------------------------------------------------


def test_the_wheel_is_named_after_the_model_and_holds_data_alone(wheel: Path) -> None:
    assert wheel.name == "sce_desktop_tiny_words-2.1-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read("sce_desktop_tiny_words-2.1.dist-info/METADATA").decode()
        notice = archive.read(f"{INSIDE}/NOTICE").decode()
    inside = {name for name in names if name.startswith(f"{INSIDE}/")}
    expected = {
        "README.md",
        "NOTICE",
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        manifest.MANIFEST,
    }
    assert {Path(name).name for name in inside} == expected
    assert names - inside == {
        f"sce_desktop_tiny_words-2.1.dist-info/{name}"
        for name in ("METADATA", "RECORD", "WHEEL", "licenses/NOTICE")
    }
    assert "Name: sce-desktop-tiny-words\n" in metadata
    assert "License-Expression: MIT\n" in metadata
    assert "license: mit" not in metadata  # the hub's head of the card is none of the index's business
    assert "Copyright (c) Microsoft Corporation" in notice


def test_the_same_files_give_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tiny-words"
    with zipfile.ZipFile(wheel) as archive:
        for name in ("README.md", "config.json", "model.safetensors", "tokenizer.json"):
            folder.mkdir(exist_ok=True)
            (folder / name).write_bytes(archive.read(f"{INSIDE}/{name}"))
            os.utime(folder / name, (1e9, 1e9))
    again = builder().build(folder, FACTS, tmp_path / "dist")
    assert again.read_bytes() == wheel.read_bytes()


def test_a_damaged_or_nameless_model_becomes_no_wheel(tmp_path: Path) -> None:
    folder = tiny_sce(tmp_path)
    build = builder().build
    with pytest.raises(UserError, match="states no licence"):
        build(folder, FACTS, tmp_path)
    (folder / "README.md").write_text(CARD, encoding="utf-8")
    with pytest.raises(UserError, match="does not say version of tiny"):
        build(folder, FACTS | {"version": ""}, tmp_path)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x00")
    with pytest.raises(UserError, match=r"not the file that config\.json names"):
        build(folder, FACTS, tmp_path)
    assert list(tmp_path.glob("*.whl")) == []


def test_every_package_is_known_by_its_version() -> None:
    """models.toml and the table of known models say the same, or `models get` would ask for another."""
    packaged = {
        model_packages.distribution_name(name): facts["version"]
        for name, facts in builder().read_models().items()
        if "version" in facts
    }
    known = {
        one.package.name: one.package.version
        for one in KNOWN
        if one.package and one.package.format == "model"
    }
    assert known.keys() <= packaged.keys()
    assert known == {name: packaged[name] for name in known}
    assert "sce-desktop-sce-multi" in known


def test_the_frozen_program_takes_the_models_that_are_meant_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The recipe itself is read, with PyInstaller played by this test."""
    hooks = ModuleType("PyInstaller.utils.hooks")
    for name in ("collect_data_files", "collect_submodules", "copy_metadata"):
        setattr(hooks, name, lambda *_, **__: [])
    monkeypatch.setitem(sys.modules, "PyInstaller.utils.hooks", hooks)
    given: dict[str, Any] = {}

    def analysis(_scripts: list[str], **options: Any) -> SimpleNamespace:
        given.update(options)
        return SimpleNamespace(datas=[], binaries=[], pure=[], scripts=[])

    read = runpy.run_path
    icons = {
        "write_icons": lambda *_: SimpleNamespace(
            pngs={}, **dict.fromkeys(("svg", "ico", "icns"), Path("app"))
        )
    }
    monkeypatch.setattr(
        runpy, "run_path", lambda path: icons if Path(path).name == "icons.py" else read(path)
    )
    play = {name: lambda *_, **__: None for name in ("PYZ", "EXE", "COLLECT")}
    places = {"SPECPATH": str(ROOT / "packaging"), "workpath": str(tmp_path)}
    read(str(ROOT / "packaging" / "sce-desktop.spec"), init_globals={**play, **places, "Analysis": analysis})
    models = {place: Path(source) for source, place in given["datas"] if "/models/" in place}
    assert models.pop("sce_desktop/_bundled/models/all-MiniLM-L6-v2").name == "model"
    assert models == {
        f"sce_desktop/_bundled/models/{name}": ROOT / "models" / name for name in ("sce-mini", "sce-multi")
    }


def test_neither_the_main_wheel_nor_the_sdist_takes_a_model_package() -> None:
    """The files that a build would take, as hatchling itself chooses them."""
    from hatchling.builders.sdist import SdistBuilder
    from hatchling.builders.wheel import WheelBuilder

    for kind in (WheelBuilder, SdistBuilder):
        taken = [file.relative_path for file in kind(str(ROOT)).recurse_included_files()]
        assert any("sce-mini" in Path(name).parts for name in taken)
        packaged = [name for name, facts in builder().read_models().items() if "version" in facts]
        assert packaged
        assert [name for name in taken if set(Path(name).parts) & set(packaged)] == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert [one for one in project["dependencies"] if one.startswith("sce-desktop-")] == []


# --- installed by pip --------------------------------------------------------------------------------------


def test_an_installed_package_is_found_by_name(package: Path) -> None:
    (entry,) = [entry for entry in catalog.list_models() if entry.name == "tiny-words"]
    assert (entry.kind, entry.licence, entry.bundled, entry.problem) == ("sce", "mit", False, "")
    assert (entry.folder, entry.package) == (package, "sce-desktop-tiny-words")
    assert catalog.resolve("tiny-words") == package
    assert catalog.verify("tiny-words").ok
    assert SCEModel.from_pretrained(catalog.resolve("tiny-words")).name == "tiny-words"


def test_the_users_own_model_comes_before_the_programs_and_that_before_a_package(
    package: Path, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_models, "KNOWN", (published(wheel),))
    shipped = tmp_path / "shipped"
    shutil.copytree(package, shipped / "tiny-words")
    monkeypatch.setattr(model_places.paths, "bundled_models_dir", lambda: shipped)
    shutil.copytree(package, shipped / "a-model-that-somebody-wrote-there")
    assert catalog.resolve("tiny-words") == shipped / "tiny-words"
    assert [entry.name for entry in catalog.list_models() if entry.folder.parent == shipped] == ["tiny-words"]
    own = model_places.paths.models_dir() / "tiny-words"
    shutil.copytree(package, own)
    assert catalog.resolve("tiny-words") == own
    assert [entry.folder for entry in catalog.list_models() if entry.name == "tiny-words"] == [own]
    shutil.rmtree(shipped)
    shutil.rmtree(own)
    assert catalog.resolve("tiny-words") == package


def test_a_damaged_package_is_reported_in_one_sentence(package: Path) -> None:
    weights = package / "model.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(UserError, match=r"model\.safetensors of the model “tiny-words” .* reinstall"):
        catalog.resolve("tiny-words")
    assert catalog.verify("tiny-words").problem == "model.safetensors does not match its hash"
    weights.write_bytes(content[:-1])
    (entry,) = [entry for entry in catalog.list_models() if entry.name == "tiny-words"]
    assert entry.problem == "model.safetensors is cut or damaged"
    (package / "tokenizer.json").unlink()
    with pytest.raises(UserError, match="reinstall it with `pip install --force-reinstall"):
        catalog.resolve("tiny-words")
    (package / manifest.MANIFEST).write_text('{"files": []}', encoding="utf-8")
    with pytest.raises(UserError, match=r"sce-manifest\.json is damaged"):
        catalog.resolve("tiny-words")
    assert "damaged" in next(e.problem for e in catalog.list_models() if e.name == "tiny-words")


def test_what_pip_installed_is_removed_by_pip(package: Path) -> None:
    with pytest.raises(UserError, match="remove it with `pip uninstall sce-desktop-tiny-words`"):
        installing.remove("tiny-words")
    with pytest.raises(UserError, match="is an installed model"):
        model_places.check_not_installed(package)
    assert package.is_dir()


def test_looking_for_packages_runs_none_of_their_code(package: Path) -> None:
    (package / "__init__.py").write_text("raise SystemExit", encoding="utf-8")
    assert "tiny-words" in [entry.name for entry in catalog.list_models()]
    (package.parent / "__init__.py").write_text("raise SystemExit", encoding="utf-8")
    importlib.invalidate_caches()
    assert "tiny-words" in [entry.name for entry in catalog.list_models()]
    assert model_packages.NAMESPACE not in sys.modules


def classify(target: Path, model: str, text: str, labels: list[str], cwd: Path) -> dict[str, Any]:
    """What another Python finds with pip's ``target`` folder on its path."""
    table = cwd / "in.csv"
    table.write_text(f"text\n{text}\n", encoding="utf-8")
    command = ["classify", table, "--text", "text", "--model", model, "-o", cwd / "out.csv", "--json"]
    options = [word for label in labels for word in ("--label", label)]
    done = subprocess.run(
        [sys.executable, "-m", "sce_desktop", *command, *options],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(target), str(ROOT)])},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=110,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def pip_install(wheel: Path, target: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
    subprocess.run(
        [*pip, "--no-index", "--target", target, wheel], check=True, capture_output=True, timeout=110
    )


def test_pip_installs_it_and_another_python_classifies(wheel: Path, tmp_path: Path) -> None:
    pip_install(wheel, tmp_path / "target")
    found = classify(tmp_path / "target", "tiny-words", "a late parcel", ["late", "lost"], tmp_path)
    assert found["models"] == ["tiny-words"]
    assert "late" in (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()[1].split(",")[1]


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / "models" / "sce-multi").is_dir(), reason="sce-multi is not here")
def test_sce_multi_is_a_package(tmp_path: Path) -> None:
    made = builder()
    wheel = made.build(ROOT / "models" / "sce-multi", made.read_models()["sce-multi"], tmp_path / "dist")
    assert wheel.stat().st_size < 100_000_000  # what the package index takes of a file
    opened = model_packages.open_wheel(wheel)
    assert max(opened.sizes.values()) < 60_000_000
    assert not any(name.endswith("draft.safetensors") for name in opened.sizes)
    known = known_models.known("sce-multi")
    assert known is not None
    fetching.check_known(known, opened)
    pip_install(wheel, tmp_path / "target")
    # Away from the checkout's own models/, which would come first.
    shutil.copytree(
        ROOT / "sce_desktop",
        tmp_path / "target" / "sce_desktop",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    (tmp_path / "target" / "sce_desktop" / "_bundled" / "models").mkdir(parents=True)
    code = "from sce_desktop.ml.hub import catalog; print(catalog.resolve('sce-multi'))"
    where = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "target")},
        capture_output=True,
        text=True,
        check=True,
        timeout=110,
    )
    assert Path(where.stdout.strip()) == tmp_path / "target" / "sce_desktop_models" / "sce-multi"
    text = "La selección ganó la final en la tanda de penaltis"
    classify(tmp_path / "target", "sce-multi", text, ["deporte", "política"], tmp_path)
    assert ",deporte," in (tmp_path / "out.csv").read_text(encoding="utf-8")


# --- a wheel file, without pip -----------------------------------------------------------------------------


def test_a_wheel_file_is_added(wheel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["models", "add", str(wheel)]) == 0
    folder = catalog.resolve("tiny-words")
    assert folder == model_places.paths.models_dir() / "tiny-words"
    assert "tiny-words is in" in capsys.readouterr().out
    assert catalog.verify("tiny-words").ok
    assert json.loads((folder / manifest.MANIFEST).read_text("utf-8"))["version"] == "2.1"
    assert (folder / "NOTICE").is_file()
    assert cli.main(["models", "add", str(wheel)]) == 2  # it is there
    assert cli.main(["models", "add", str(wheel), "--force"]) == 0
    assert cli.main(["models", "add", str(wheel), "--name", "other"]) == 0
    assert cli.main(["models", "remove", "tiny-words"]) == 0


def change_manifest(members: dict[str, bytes], **facts: Any) -> None:
    name = f"{INSIDE}/{manifest.MANIFEST}"
    members[name] = json.dumps(json.loads(members[name]) | facts).encode()


def climb(members: dict[str, bytes]) -> None:
    name = "../../../evil.json"
    members[f"{INSIDE}/{name}"] = b"{}"
    change_manifest(members, files={name: "x"}, sizes={name: 2})


def bring_code(members: dict[str, bytes]) -> None:
    members[f"{INSIDE}/run.py"] = b"1"
    facts = json.loads(members[f"{INSIDE}/{manifest.MANIFEST}"])
    change_manifest(members, files=facts["files"] | {"run.py": "x"}, sizes=facts["sizes"] | {"run.py": 1})


def swap(members: dict[str, bytes]) -> None:
    content = bytearray(members[f"{INSIDE}/model.safetensors"])
    content[-1] ^= 1
    members[f"{INSIDE}/model.safetensors"] = bytes(content)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (climb, "does not match its manifest"),
        (bring_code, "does not match its manifest"),
        (swap, r"model\.safetensors in .* is damaged"),
        (lambda m: m.update({f"{INSIDE}/config.json": b"{}"}), "does not match its manifest"),
        (lambda m: m.pop(f"{INSIDE}/tokenizer.json"), "does not match its manifest"),
        (lambda m: change_manifest(m, name="sce-mini"), "does not match its manifest"),
        (lambda m: change_manifest(m, sizes=None), "does not match its manifest"),
        (lambda m: m.update({f"{INSIDE}/{manifest.MANIFEST}": b"[" * 9999}), "does not match"),
        (lambda m: m.update({f"{INSIDE}/{manifest.MANIFEST}": b" " * 1_000_001}), "does not match"),
        (lambda m: m.clear(), "is not the wheel of a model"),
        (lambda m: m.update({"sce_desktop_models/two/x": b""}), "is not the wheel of a model"),
    ],
)
def test_a_bad_wheel_leaves_nothing(
    wheel: Path, tmp_path: Path, change: Callable[[dict[str, bytes]], None], message: str
) -> None:
    bad = repacked(wheel, tmp_path / "bad.whl", change)
    before = set(tmp_path.rglob("*"))
    with pytest.raises(UserError, match=message) as caught:
        installing.add(bad)
    assert "\n" not in str(caught.value)
    models = model_places.paths.models_dir()
    assert not models.exists() or list(models.iterdir()) == []
    assert not [path for path in set(tmp_path.rglob("*")) - before if path.name == "evil.json"]


def test_what_is_no_zip_is_reported(wheel: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.whl").write_bytes(wheel.read_bytes()[:-200])
    (tmp_path / "text.whl").write_text("no wheel", encoding="utf-8")
    for name in ("cut.whl", "text.whl"):
        with pytest.raises(UserError, match="is damaged or not a wheel"):
            installing.add(tmp_path / name)
    assert cli.main(["models", "add", str(tmp_path / "text.whl")]) == 2


def test_adding_a_wheel_can_be_stopped(wheel: Path) -> None:
    with pytest.raises(Cancelled):
        installing.add(wheel, progress=StoppingProgress(2))
    assert list(model_places.paths.models_dir().iterdir()) == []
    assert not model_places.installed("tiny-words")


# --- fetched -----------------------------------------------------------------------------------------------


def published(wheel: Path, sha256: str = "") -> Known:
    sha256 = sha256 or model_packages.open_wheel(wheel).weights_sha256
    package = Package("sce-desktop-tiny-words", "2.1", "", sha256, 1_000_000, format="model", only=True)
    return Known("tiny-words", "", "sce", "mit", 1_000_000, "", package=package)


@pytest.fixture
def index(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A package index that has the tiny model; what was asked of it."""
    asked: list[str] = []

    def download(requirement: str, folder: Path, name: str, progress: object) -> None:
        asked.append(requirement)
        shutil.copy(wheel, folder)

    monkeypatch.setattr(fetching, "_pip_download", download)
    monkeypatch.setattr(known_models, "KNOWN", (published(wheel),))
    return asked


def test_it_is_fetched_from_the_package_index(index: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["models", "get", "tiny-words"]) == 0
    assert index == ["sce-desktop-tiny-words==2.1"]
    assert "licence mit, about 1 MB (package sce-desktop-tiny-words)" in capsys.readouterr().err
    folder = catalog.resolve("tiny-words")
    source = json.loads((folder / manifest.MANIFEST).read_text("utf-8"))["source"]
    assert (
        source == f"package:sce-desktop-tiny-words==2.1#{folders.file_sha256(folder / 'model.safetensors')}"
    )
    assert catalog.verify("tiny-words").ok
    assert [path.name for path in model_places.paths.models_dir().iterdir()] == ["tiny-words"]


def test_other_weights_under_its_name_are_refused(
    index: list[str], wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_models, "KNOWN", (published(wheel, "0" * 64),))
    for place in ("", str(wheel)):
        with pytest.raises(
            UserError, match=r"are not those of sce-desktop-tiny-words 2\.1, so they are not used"
        ):
            installing.get("tiny-words", place=place)
    assert (
        not model_places.paths.models_dir().exists() or list(model_places.paths.models_dir().iterdir()) == []
    )


def test_an_index_without_it_is_one_sentence(
    index: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise UserError("No matching distribution found")

    monkeypatch.setattr(fetching, "_pip_download", fail)
    assert cli.main(["models", "get", "tiny-words"]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert "as the package sce-desktop-tiny-words: check the network and that the index has it" in error
    assert "sce-desktop models add FILE" in error
    assert list(model_places.paths.models_dir().iterdir()) == []


def test_it_comes_from_a_file_or_folder(wheel: Path, tmp_path: Path) -> None:
    for place in (wheel, wheel.parent, wheel.parent.parent / "tiny-words"):
        assert cli.main(["models", "get", "tiny-words", "--from", str(place)]) == 0
        installing.remove("tiny-words")
    with pytest.raises(UserError, match="holds the model “tiny-words”, not “another”"):
        installing.get("another", place=str(wheel))
    with pytest.raises(UserError, match="no file or folder"):
        installing.get("tiny-words", place=str(tmp_path / "nowhere"))


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder, tells nobody."""

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def server(wheel: Path, socket_enabled: None) -> Iterator[str]:
    http = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(wheel.parent)))
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{http.server_port}"
    http.shutdown()
    thread.join()
    http.server_close()


def test_it_comes_from_an_address(server: str, wheel: Path) -> None:
    with pytest.raises(UserError, match="the server says 404"):
        installing.get("tiny-words", place=f"{server}/none.whl")
    with pytest.raises(Cancelled):
        installing.get("tiny-words", place=f"{server}/{wheel.name}", progress=StoppingProgress(1))
    assert list(model_places.paths.models_dir().iterdir()) == []
    folder = installing.get("tiny-words", place=f"{server}/{wheel.name}")
    assert [path.name for path in model_places.paths.models_dir().iterdir()] == ["tiny-words"]
    assert SCEModel.from_pretrained(folder).name == "tiny-words"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConnectionRefusedError(111, "Connection refused"), "Connection refused"),
        (TimeoutError("timed out"), "timed out"),
        ("no host given", "no host given"),
    ],
)
def test_an_address_that_does_not_answer_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch, error: Exception | str, reason: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise urllib.error.URLError(error)

    monkeypatch.setattr(urllib.request, "urlopen", refuse)
    with pytest.raises(UserError) as told:
        installing.get("tiny-words", place="https://nobody.invalid/t.whl")
    assert str(told.value) == (
        f"https://nobody.invalid/t.whl cannot be downloaded ({reason}): check the address and the network."
    )
