"""What tests of `classify` and `evaluate` from the command line need: a tiny model and a table."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from sce_desktop import cli
from tests.ml.tiny import tiny_sce

TABLE = (
    "id,text,topic\n"
    "007,the parcel was damaged,damaged\n"
    '2,"late, the delivery is late",late\n'
    "3,,late\n"
    '4,"good 🙂 news\nand naïve",damaged\n'
)

LABELS = ["--label", "damaged", "--label", "late"]


@pytest.fixture(name="model", scope="session")
def model_fixture(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_sce(tmp_path_factory.mktemp("модели 1")))


@pytest.fixture(name="table")
def table_fixture(tmp_path: Path) -> str:
    path = tmp_path / "in.csv"
    path.write_bytes(TABLE.encode())
    return str(path)


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def classify(table: str, out: Path, model: str, *more: str) -> int:
    return cli.main(["classify", table, "--text", "text", "--model", model, "-o", str(out), *more])
