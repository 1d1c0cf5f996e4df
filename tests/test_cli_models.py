"""`models`, `doctor`, `benchmark` and `pretrain` from the command line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import sce_desktop
from sce_desktop import cli
from sce_desktop.core.errors import UserError
from sce_desktop.core.models import Device
from tests.ml.tiny import tiny_sce

MINILM = "all-MiniLM-L6-v2"


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_sce(tmp_path_factory.mktemp("models")))


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict:  # type: ignore[type-arg]
    capsys.readouterr()
    assert cli.main([*arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)  # type: ignore[no-any-return]


def test_add_list_verify_remove(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["models", "add", model, "--name", "mine"]) == 0
    listed = {one["name"]: one for one in as_json(capsys, "models", "list")["models"]}
    assert listed[MINILM]["bundled"]
    assert (listed["mine"]["kind"], listed["mine"]["bundled"]) == ("sce", False)
    assert cli.main(["models", "list"]) == 0
    assert "mine" in capsys.readouterr().out
    checked = as_json(capsys, "models", "verify", "mine")
    assert (checked["ok"], len(checked["models"][0]["sha256"])) == (True, 64)
    weights = Path(listed["mine"]["folder"]) / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x00")
    checked = as_json(capsys, "models", "verify", "mine", code=2)
    assert "model.safetensors does not match its hash" in checked["models"][0]["problem"]
    assert cli.main(["models", "verify", "mine"]) == 2
    assert cli.main(["models", "remove", "mine"]) == 0
    assert cli.main(["models", "remove", "mine"]) == 2
    assert cli.main(["models", "remove", MINILM]) == 2
    assert "comes with the program and cannot be removed" in capsys.readouterr().err


def test_a_model_that_was_added_is_used_by_its_name(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["models", "add", model, "--name", "mine"]) == 0
    table = tmp_path / "in.csv"
    table.write_text("text\na late parcel\n", encoding="utf-8")
    arguments = ["--text", "text", "--label", "late", "--label", "lost", "-o", str(tmp_path / "out.csv")]
    assert as_json(capsys, "classify", str(table), *arguments, "--model", "mine")["models"] == ["mine"]


def test_nothing_is_fetched_offline(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["models", "get", "intfloat/e5-small-v2"]) == 2
    assert "check the network" in capsys.readouterr().err
    assert cli.main(["models", "get", "not a model"]) == 2


def test_doctor(model: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    gpu = Device("cuda", "NVIDIA GPU", False, "the installed torch has no CUDA: install its CUDA build")
    monkeypatch.setattr("sce_desktop.ml.hub.session.devices", lambda: (Device("cpu", "x86", True), gpu))
    monkeypatch.setattr("sce_desktop.ml.encoder.precision.cpu_instructions", lambda: ("AVX-512 VNNI",))
    monkeypatch.setattr("sce_desktop.tasks.doctor.DEFAULT_MODEL", "mine")
    found = as_json(capsys, "doctor", code=2)  # the model is not there
    assert not found["ok"]
    assert "mine" in found["self_test"]["problem"]
    assert cli.main(["models", "add", model, "--name", "mine"]) == 0
    monkeypatch.setattr("sce_desktop.tasks.doctor._TRIAL", {"late again": "late", "a damaged box": "damaged"})
    found = as_json(capsys, "doctor")
    assert found["ok"]
    assert found["version"] == sce_desktop.__version__
    assert {"python", "torch", "qt", "devices", "paths", "models"} < set(found)
    assert found["devices"][1]["problem"].startswith("the installed torch has no CUDA")
    assert found["precision"] == {"device": "cpu", "used": "float32", "possible": ["float32", "int8"]}
    assert found["cpu_instructions"] == ["AVX-512 VNNI"]
    by_name = {one["name"]: one for one in found["models"]}
    assert by_name["mine"]["ok"]
    assert by_name[MINILM]["sha256"].startswith("53aa5117")
    assert cli.main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "cannot be used, the installed torch has no CUDA" in out
    assert "processor: AVX-512 VNNI" in out
    assert "precision: float32 on cpu (possible: float32, int8)" in out
    assert "No problems found." in out


def test_a_model_that_sorts_wrongly_is_reported(
    model: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sce_desktop.tasks.doctor.DEFAULT_MODEL", "mine")
    monkeypatch.setattr("sce_desktop.tasks.doctor._TRIAL", {"a damaged box": "late", "late again": "damaged"})
    assert cli.main(["models", "add", model, "--name", "mine"]) == 0
    found = as_json(capsys, "doctor", code=2)
    assert "mislabels two plain sentences" in found["self_test"]["problem"]


@pytest.mark.model
def test_doctor_with_the_default_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert as_json(capsys, "doctor")["self_test"]["ok"]


def test_benchmark(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "benchmark").mkdir()
    for name in ("one", "two"):
        with gzip.open(tmp_path / "benchmark" / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            for text, label in (("late again", "late"), ("a damaged box", "damaged"), ("lost it", "lost")):
                file.write(json.dumps({"text": text, "label": label, "split": "test"}) + "\n")
    (tmp_path / "paper_labels.json").write_text("{}", encoding="utf-8")
    arguments = ["benchmark", str(tmp_path), "--model", model, "--baseline", f"similarity=similarity:{model}"]
    found = as_json(capsys, *arguments, "--paper-labels", "--max-rows", "2")
    assert set(found["sets"]) == {"one", "two"}
    one = found["sets"]["one"]
    assert (one["part"], one["rows"], one["labels"]) == ("benchmark", 2, ["late", "damaged", "lost"])
    assert set(found["mean"]) == {model, "similarity"}
    assert cli.main([*arguments, "--sets", "two", "--balance-labels"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("| set | rows | labels |")
    assert out[2].startswith("| two | 3 | 3 |")
    assert cli.main([*arguments, "--sets", "three"]) == 2
    assert "There is no set “three”" in capsys.readouterr().err


def test_pretrain_hands_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    called = []

    def run(config: Path, out: Path, *, device: str, progress: object, resume: bool, force: bool) -> None:
        called.append((config, out, device, resume, force))
        if not config.exists():
            raise UserError(f"There is no file {config}.")

    monkeypatch.setattr("sce_desktop.research.pretrain.run", run, raising=False)
    assert cli.main(["pretrain", "absent.toml", "-o", str(tmp_path / "m"), "--restart"]) == 2
    assert "absent.toml" in capsys.readouterr().err
    assert called == [(Path("absent.toml"), tmp_path / "m", "auto", False, False)]
