"""What tests of `project` from the command line need: a tiny model, a table and a project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sce_desktop import cli
from tests.ml.tiny import tiny_sce

LABELS = ["--label", "damaged", "--label", "late"]
TABLE = "id;text;topic\n3;the parcel was damaged;damaged\n1;late, so late;late\n2;;\n9;thanks;damaged\n"


@pytest.fixture(name="model", scope="session")
def model_fixture(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_sce(tmp_path_factory.mktemp("models")))


@pytest.fixture(name="table")
def table_fixture(tmp_path: Path) -> str:
    path = tmp_path / "in.csv"
    path.write_bytes(TABLE.encode())
    return str(path)


@pytest.fixture(name="project")
def project_fixture(table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    path = str(tmp_path / "p.sce")
    assert cli.main(["project", "create", path, table, "--text", "text", *LABELS]) == 0
    capsys.readouterr()
    return path


def run(*arguments: str) -> int:
    return cli.main(["project", *arguments])


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:  # type: ignore[type-arg]
    assert run(*arguments, "--json") == 0
    return json.loads(capsys.readouterr().out)  # type: ignore[no-any-return]
