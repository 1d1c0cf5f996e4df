"""The wheel that users install, away from the checkout: it carries what the program needs."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.e2e.conftest import ROOT

BUNDLED = "sce_desktop/_bundled"


def call(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        command,
        cwd=cwd,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},  # not this tree
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=110,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet"]
    call(*pip, "--no-deps", "--no-build-isolation", "--no-index", "-w", folder, ROOT, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of an environment with the wheel and the dependencies of the tests."""
    folder = tmp_path_factory.mktemp("installed")
    call(sys.executable, "-m", "venv", "--without-pip", folder / "venv", cwd=folder)
    binaries = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", binaries / "python")
    call(*pip, "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=folder)
    packages = call(
        binaries / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder
    )
    # A plain path: the .pth file of the checkout's editable install, which lies there, is not followed.
    pth = Path(packages.strip()) / "dependencies.pth"
    pth.write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return binaries


def test_the_wheel_carries_the_resources_the_guide_and_no_tests(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    resources = ROOT / "resources"
    expected = {
        f"{BUNDLED}/resources/{file.relative_to(resources).as_posix()}"
        for file in resources.rglob("*")
        if file.is_file()
    }
    assert len(expected) > 50
    docs = ROOT / "docs"
    expected |= {f"{BUNDLED}/docs/{file.relative_to(docs).as_posix()}" for file in docs.rglob("*.*")}
    assert f"{BUNDLED}/docs/contents.md" in expected
    assert expected <= set(names)
    assert not [name for name in names if name.startswith(("tests/", "models/", "resources/", "docs/"))]


@pytest.mark.model
def test_the_wheel_carries_the_model_and_its_card(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for file in ("model.safetensors", "config.json", "tokenizer.json", "README.md"):
        assert f"{BUNDLED}/models/sce-mini/{file}" in names


def test_the_installed_program_finds_itself(installed: Path, tmp_path: Path) -> None:
    code = "import sce_desktop.paths as p; print(p.__file__, p.resources_dir(), sep='\\n')"
    for place in call(installed / "python", "-c", code, cwd=tmp_path).splitlines():
        assert Path(place).is_relative_to(installed.parent)


@pytest.mark.parametrize("model", ["tiny", pytest.param("sce-mini", marks=pytest.mark.model)])
def test_the_installed_program_classifies_the_sample(
    installed: Path, tmp_path: Path, tiny_model: Path, model: str
) -> None:
    code = "import sce_desktop.paths as p; print(p.resources_dir() / 'sample')"
    sample = Path(call(installed / "python", "-c", code, cwd=tmp_path).strip())
    call(
        *(installed / "sce-desktop", "classify", sample / "parcel_feedback.csv", "--text", "message"),
        *("--labels-file", sample / "labels.txt", "-o", "out.csv"),
        *("--model", tiny_model if model == "tiny" else model),
        cwd=tmp_path,
    )
    header = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()[0]
    assert header.startswith("ref,date,channel,message,gold,sce_label,sce_confidence,sce_status,")
