"""The recipes of the packages: their files agree with the program and with each other, their tools work."""

from __future__ import annotations

import plistlib
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

import sce_desktop
from sce_desktop import paths

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
LINUX = PACKAGING / "linux"
METAINFO = LINUX / f"{paths.APP_ID}.metainfo.xml"
ENTRY = LINUX / f"{paths.APP_ID}.desktop"
MIME = LINUX / f"{paths.APP_ID}.xml"


def script(name: str) -> SimpleNamespace:
    """A script of packaging/, which is no package: the name is that of a library."""
    return SimpleNamespace(**runpy.run_path(str(PACKAGING / f"{name}.py")))


def run(*command: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def needs(tool: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(tool) is None, reason=f"{tool} is not installed")


# --- one name ----------------------------------------------------------------------------------------------


def test_desktops_know_the_program_by_one_name(qapp: Any) -> None:
    from sce_desktop.app import make_application

    assert make_application().desktopFileName() == paths.APP_ID
    entry = dict(re.findall(r"^(\w+)=(.*)$", ENTRY.read_text(encoding="utf-8"), re.MULTILINE))
    assert entry["Icon"] == paths.APP_ID
    assert entry["StartupWMClass"] == paths.APP_NAME == qapp.applicationName()
    metainfo = ElementTree.parse(METAINFO).getroot()
    assert metainfo.findtext("id") == paths.APP_ID
    assert metainfo.findtext("launchable") == ENTRY.name
    types = [entry["MimeType"].split(";")[0], metainfo.findtext("provides/mediatype")]
    space = "{http://www.freedesktop.org/standards/shared-mime-info}"
    kind = ElementTree.parse(MIME).getroot().find(f"{space}mime-type")
    assert kind is not None
    assert [kind.get("type")] * 2 == types
    icon = kind.find(f"{space}icon")
    assert icon is not None
    assert icon.get("name") == paths.APP_ID
    installer = (PACKAGING / "windows" / "sce-desktop.iss").read_text(encoding="utf-8")
    assert installer.count(f'AppUserModelID: "{paths.APP_ID}"') == 2
    manifest = (LINUX / f"{paths.APP_ID}.yml").read_text(encoding="utf-8")
    assert f"app-id: {paths.APP_ID}\n" in manifest


def test_the_metainfo_tells_of_this_version() -> None:
    release = ElementTree.parse(METAINFO).getroot().find("releases/release")
    assert release is not None
    assert release.get("version") == sce_desktop.__version__


@needs("appstreamcli")
def test_the_metainfo_is_valid() -> None:
    run("appstreamcli", "validate", "--no-net", METAINFO)


@needs("desktop-file-validate")
def test_the_desktop_entry_is_valid() -> None:
    assert run("desktop-file-validate", ENTRY) == ""


@needs("flatpak-builder")
def test_the_flatpak_manifest_is_read(tmp_path: Path) -> None:
    manifest = LINUX / f"{paths.APP_ID}.yml"
    assert f'"id" : "{paths.APP_ID}"' in run("flatpak-builder", "--show-manifest", manifest, cwd=tmp_path)


def test_the_icon_is_drawn_for_every_system(tmp_path: Path) -> None:
    run(sys.executable, PACKAGING / "icons.py", ROOT / "resources" / "icons" / "app.svg", tmp_path)
    assert (tmp_path / "sce-desktop.ico").read_bytes()[:4] == b"\0\0\1\0"
    icns = (tmp_path / "sce-desktop.icns").read_bytes()
    assert icns[:4] == b"icns"
    assert int.from_bytes(icns[4:8], "big") == len(icns)
    assert {f"{size}/{paths.APP_ID}.png" for size in (16, 48, 256, 512)} <= {
        file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*.png")
    }


# --- what goes in ------------------------------------------------------------------------------------------


def test_of_transformers_what_reads_texts_goes_in() -> None:
    contents = script("contents")
    for model in (
        "bert",
        "mpnet",
        "xlm_roberta",
        "deberta_v2",
        "t5",
        "llama",
        "qwen2",
        "gemma",
        "modernbert",
    ):
        assert contents.is_wanted_module(f"transformers.models.{model}.modeling_{model}")
    assert not contents.is_wanted_module("transformers.models.sam.modeling_sam")
    assert contents.is_wanted_module("transformers.models.sam.configuration_sam")  # the library asks for all
    assert not contents.is_wanted_file("transformers/models/llama/convert_llama_weights_to_hf.py")
    assert not contents.is_wanted_file("torch/include/ATen/ATen.h")
    for file in (
        "torch/lib/libtorch_cpu.so",
        "PySide6/Qt/plugins/platforms/libqxcb.so",
        "PySide6/Qt/translations/qtbase_de.qm",
        "pandas/_libs/lib.cpython-311-x86_64-linux-gnu.so",
        "sce_desktop/_bundled/docs/index.md",
    ):
        assert contents.is_wanted_file(file), file


def test_what_the_kept_code_of_transformers_imports_is_kept() -> None:
    contents = script("contents")
    folder = contents.transformers_folder()
    missing = []
    for model in sorted(contents.text_models()):
        for file in (folder / model).glob("*.py"):
            if not contents.is_wanted_model_file(model, file.stem):
                continue
            text = file.read_text(encoding="utf-8")
            for other, module in re.findall(r"^from \.\.(\w+)\.(\w+) import", text, re.MULTILINE):
                there = (folder / other / f"{module}.py").is_file()
                if there and not contents.is_wanted_model_file(other, module):
                    missing.append(f"{file.name} imports {other}.{module}")
    assert missing == []


def test_no_library_that_the_program_imports_is_left_out() -> None:
    from sce_desktop.tasks.libraries import USED

    excluded = script("contents").EXCLUDED_MODULES
    used = [name.partition(":")[0] for name in USED]
    assert [name for name in used for one in excluded if f"{name}.".startswith(f"{one}.")] == []


@needs("strip")
@pytest.mark.skipif(sys.platform != "linux", reason="ELF")
def test_a_stripped_library_is_mapped_as_before(tmp_path: Path) -> None:
    import psutil

    stripped = script("stripped")
    source = next(Path(psutil.__file__).parent.glob("*.so"))
    copy = stripped.strip(source, tmp_path / "copy.so")
    assert stripped.mapped(source)
    assert stripped.mapped(copy) == stripped.mapped(source)
    text = next(part for part in stripped.segments(source.read_bytes()) if part.kind == 1 and part.flags & 1)
    damaged = bytearray(source.read_bytes())
    damaged[text.offset + text.size // 2] ^= 1
    (tmp_path / "damaged.so").write_bytes(damaged)
    assert stripped.mapped(tmp_path / "damaged.so") != stripped.mapped(source)
    (tmp_path / "plain.txt").write_text("no library", encoding="utf-8")
    assert stripped.strip(tmp_path / "plain.txt", tmp_path / "x") == tmp_path / "plain.txt"


# --- packages ----------------------------------------------------------------------------------------------


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A folder like the one that PyInstaller makes, around a small program."""
    folder = tmp_path / "dist" / "sce-desktop"
    internal = folder / "_internal"
    for place in ("share/applications", "sce_desktop/_bundled/models/sce-mini", "torch/lib"):
        (internal / place).mkdir(parents=True)
    shutil.copy("/bin/true", folder / "sce-desktop")
    shutil.copy(ENTRY, internal / "share" / "applications")
    (internal / "THIRD-PARTY-NOTICES.txt").write_text("Everything.", encoding="utf-8")
    (internal / "sce_desktop/_bundled/models/sce-mini/model.safetensors").write_bytes(bytes(3000))
    (internal / "torch/lib/libtorch_cpu.so").write_bytes(bytes(2000))
    (internal / "unknown.bin").write_bytes(bytes(10))
    return folder


@needs("dpkg-deb")
@needs("readelf")
def test_a_debian_package_is_whole_and_the_same_twice(program: Path, tmp_path: Path) -> None:
    deb = script("deb")
    (tmp_path / "again").mkdir()
    one = deb.build(program, tmp_path / "one", "xz")
    other = deb.build(program, tmp_path / "other", "xz")
    assert one.read_bytes() == other.read_bytes()
    facts = dict(re.findall(r"^([\w-]+): (.*)$", run("dpkg-deb", "--field", one), re.MULTILINE))
    assert (facts["Package"], facts["Version"]) == ("sce-desktop", sce_desktop.__version__)
    assert re.search(r"\blibc6 \(>= 2\.\d+\)", facts["Depends"])
    assert "libdbus-1-3" in facts["Depends"]
    run("dpkg-deb", "--raw-extract", one, tmp_path / "out")
    assert (
        tmp_path / "out/usr/bin/sce-desktop"
    ).resolve() == tmp_path / "out/usr/lib/sce-desktop/sce-desktop"
    assert (tmp_path / "out/usr/share/applications" / ENTRY.name).is_file()
    sums = tmp_path / "out/DEBIAN/md5sums"
    assert len(sums.read_text(encoding="utf-8").splitlines()) >= 9
    done = subprocess.run(["md5sum", "--check", "--quiet", sums], cwd=tmp_path / "out", capture_output=True)
    assert done.returncode == 0, done.stdout


def test_every_file_of_the_program_is_counted_once(program: Path) -> None:
    sizes = script("sizes")
    parts = sizes.parts_of(program)
    assert sizes.size(parts["model sce-mini"]) == 3000
    assert sizes.size(parts["torch: kernels (libtorch_cpu)"]) == 2000
    assert sizes.size(parts[sizes.OTHER]) == 10
    files = [file for file in program.rglob("*") if file.is_file()]
    assert sorted(file for part in parts.values() for file in part) == sorted(files)


def test_two_builds_are_compared(program: Path, tmp_path: Path) -> None:
    reproducible = script("reproducible")
    other = tmp_path / "other"
    shutil.copytree(program, other)
    assert reproducible.differing(program, other) == []
    (other / "_internal" / "unknown.bin").write_bytes(bytes(9) + b"x")
    (other / "more.txt").write_text("x", encoding="utf-8")
    found = reproducible.differing(program, other)
    assert found == [
        "_internal/unknown.bin: 10 and 10 bytes, 1 of them differ, the first at 9",
        f"more.txt: only in {other}",
    ]


def test_the_libraries_of_the_system_and_python_bring_their_licences(tmp_path: Path) -> None:
    notices = script("notices")
    written = notices.native([])
    parts = tomllib.loads(written["native.toml"])["component"]
    assert parts[0]["name"] == "Python"
    assert "PYTHON SOFTWARE FOUNDATION LICENSE" in written[parts[0]["texts"][0]]
    if shutil.which("dpkg-query"):
        (library,) = list(Path("/usr/lib").glob("*-linux-gnu*/libz.so.1"))[:1]
        written = notices.native([("libz.so.1", str(library), "BINARY")])
        (part,) = [p for p in tomllib.loads(written["native.toml"])["component"] if p["name"] != "Python"]
        assert part["name"].startswith("zlib1g")
        assert "Mark Adler" in written[part["texts"][0]]


def test_the_bill_of_materials_is_valid_and_the_same_twice(tmp_path: Path) -> None:
    pytest.importorskip("cyclonedx")
    pytest.importorskip("jsonschema")
    for name in ("one.json", "other.json"):
        run(sys.executable, PACKAGING / "sbom.py", "-o", tmp_path / name)
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "other.json").read_bytes()


# --- the workflow ------------------------------------------------------------------------------------------


def workflow() -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    text = (ROOT / ".github" / "workflows" / "packages.yml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def test_the_workflow_builds_and_tries_packages_for_three_systems_on_a_tag() -> None:
    found = workflow()
    assert found[True]["push"]["tags"] == ["v*"]  # YAML reads the key “on” as true
    jobs = found["jobs"]
    for system in ("linux", "windows", "macos"):
        commands = "\n".join(step.get("run", "") for step in jobs[system]["steps"])
        assert "PyInstaller" in commands
        assert "smoke" in commands


def test_the_workflow_calls_what_is_there() -> None:
    commands = "\n".join(
        step.get("run", "") for job in workflow()["jobs"].values() for step in job["steps"]
    ).replace("\\", "/")
    files = set(re.findall(r"\b((?:packaging|tools)/[\w./-]+\.(?:py|sh|spec|iss))\b", commands))
    assert len(files) >= 10
    assert [name for name in files if not (ROOT / name).is_file()] == []
    for name, arguments in re.findall(r"\bpackaging/(\w+)\.py(.*)$", commands, re.MULTILINE):
        text = (PACKAGING / f"{name}.py").read_text(encoding="utf-8")
        for option in re.findall(r"(?<![\w-])(--[a-z-]+)", arguments):
            assert f'"{option}"' in text, f"{name}.py has no {option}"


def test_the_recipes_of_windows_and_macos_name_what_is_there() -> None:
    installer = (PACKAGING / "windows" / "sce-desktop.iss").read_text(encoding="utf-8")
    assert (PACKAGING / "windows" / "../../LICENSE").is_file()
    assert "LicenseFile=..\\..\\LICENSE" in installer
    rights = plistlib.loads((PACKAGING / "macos" / "entitlements.plist").read_bytes())
    assert set(rights.values()) == {True}
    for recipe in ("macos/package.sh", "deb_smoke.sh"):
        run("sh", "-n", PACKAGING / recipe)
