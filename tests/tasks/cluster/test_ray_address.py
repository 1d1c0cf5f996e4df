"""A cluster that somebody else started by ``ray start``, used by its address and left as it is."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ml.tiny import tiny_sce


@pytest.fixture
def head() -> Iterator[str]:
    """The address of a cluster of one machine, with one CPU."""
    folder = tempfile.mkdtemp(prefix="r", dir="/tmp")  # Ray's sockets need short names
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", "from ray.scripts.scripts import main; main()", "start", "--head"]
    command += [*("--block", "--port", str(port), "--temp-dir", folder, "--num-cpus", "1")]
    command += ["--node-ip-address", "127.0.0.1", "--include-dashboard", "false", "--disable-usage-stats"]
    with (
        (Path(folder) / "out").open("w") as out,
        subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True) as process,
    ):
        try:
            while "Ray runtime started" not in (Path(folder) / "out").read_text():
                assert process.poll() is None, (Path(folder) / "out").read_text()
                time.sleep(0.1)
            yield f"127.0.0.1:{port}"
        finally:
            process.terminate()  # it ends all that it started
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sce_desktop", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=500)


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.enable_socket
@pytest.mark.timeout(900)
def test_classify_and_evaluate_by_address(tmp_path: Path, head: str) -> None:
    model, table = str(tiny_sce(tmp_path)), tmp_path / "in.csv"
    labels = ("late parcel", "refund")
    (tmp_path / "labels.txt").write_text("\n".join(labels))
    rows = [f"{n},the parcel was {'late' if n % 2 else 'lost'} {n},{labels[n % 2]}" for n in range(120)]
    table.write_text("id,text,gold\n" + "\n".join(rows) + "\n")
    common = [*("--text", "text", "--labels-file", str(tmp_path / "labels.txt"), "--model", model, "--json")]
    on_ray = ["--engine", "ray", "--workers", "1", "--ray-address"]
    classify = ["classify", str(table), *common, "-o"]

    local = run(*classify, str(tmp_path / "right.csv"))
    assert local.returncode == 0, local.stderr
    found = run(*classify, str(tmp_path / "out.csv"), *on_ray, head)
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["rows"] == 120
    parts = sorted((tmp_path / "out.csv").glob("part-*.csv"))
    cells = [row for part in parts for row in list(csv.reader(part.open()))[1:]]
    right = list(csv.reader((tmp_path / "right.csv").open()))[1:]
    assert [row[:4] for row in cells] == [row[:4] for row in right]

    evaluate = ["evaluate", str(table), *common, "--gold", "gold"]
    figures = []
    for engine in ([], [*on_ray, head]):  # the cluster is still there
        measured = run(*evaluate, *engine)
        assert measured.returncode == 0, measured.stderr
        figures.append(next(iter(json.loads(measured.stdout)["models"].values()))["accuracy"])
    assert figures[0] == figures[1]

    away = run(*classify, str(tmp_path / "away.csv"), *on_ray, "127.0.0.1:1")
    assert away.returncode != 0
    assert "There is no Ray cluster at 127.0.0.1:1 (Connection refused): check the address" in away.stderr
