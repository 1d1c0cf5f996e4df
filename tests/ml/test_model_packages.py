"""Models as packages: wheels made from a folder, installed by pip, found, and refused when spoilt."""

from __future__ import annotations

import importlib.util
import json
import os
import runpy
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from sce_desktop.core.errors import UserError
from sce_desktop.ml.hub import (
    catalog,
    fetching,
    installing,
    known_models,
    manifest,
    model_packages,
    model_places,
)
from sce_desktop.ml.hub.known_models import KNOWN
from sce_desktop.ml.sce.model import SCEModel
from tests.ml.packages_bench import CARD, FACTS, INSIDE, ROOT, builder, published, wheel_fixture  # noqa: F401
from tests.ml.tiny import tiny_sce


@pytest.fixture
def package(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the model, as pip would install it, on this process' path."""
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    monkeypatch.syspath_prepend(str(site))
    return site / INSIDE


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
