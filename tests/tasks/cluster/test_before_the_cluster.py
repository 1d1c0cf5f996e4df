"""What is refused before a cluster is started, and how Ray is asked to start one."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sce_desktop.cli import main
from sce_desktop.core.errors import UserError
from sce_desktop.tasks.cluster import ray_pool
from sce_desktop.tasks.cluster.ray_pool import RayCluster, RayWish


@pytest.mark.parametrize(
    ("output", "more", "reason"),
    [
        ("out.xlsx", [], "must end in .parquet"),
        ("out.csv", ["--final"], "Final labels need the local engine"),
    ],
)
def test_what_no_cluster_can_do_is_refused_before_one_starts(
    output: str,
    more: list[str],
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def start(_cluster: RayCluster) -> RayCluster:
        raise AssertionError

    monkeypatch.setattr(ray_pool, "check_installed", lambda: None)
    monkeypatch.setattr(RayCluster, "__enter__", start)
    table = tmp_path / "in.csv"
    table.write_text("text\nlate\n")
    words = [
        "classify",
        str(table),
        "--text",
        "text",
        "--label",
        "late",
        "--label",
        "lost",
        "--engine",
        "ray",
    ]
    assert main([*words, "-o", str(tmp_path / output), *more]) == 2
    assert reason in capsys.readouterr().err


def test_a_cluster_of_this_machine_has_a_token_that_nobody_is_told_to_turn_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ray prints how to opt out of its tokens where the mode was not asked for by name."""
    seen: dict[str, str] = {}

    def init(**_options: Any) -> None:
        seen.update(os.environ)

    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with monkeypatch.context() as inside:
        inside.setattr(os, "environ", dict(os.environ))
        inside.setattr(ray_pool, "check_installed", lambda: None)
        inside.setitem(sys.modules, "ray", SimpleNamespace(init=init, shutdown=lambda: None))
        with RayCluster(RayWish()):
            pass
    assert seen["RAY_AUTH_MODE"] == "token"
    assert len(seen["RAY_AUTH_TOKEN"]) == 64


REFUSED = ConnectionRefusedError(111, "Connection refused")
NOT_FOUND = ConnectionError("Could not find any running Ray instance. Please specify the one to connect to.")
OTHER_RAY = RuntimeError("Version mismatch: Ray 2.9.0 there, 2.40.0 here.\nThis process: Python 3.11")


@pytest.mark.parametrize(
    ("address", "error", "sentence"),
    [
        (
            "10.0.0.1:6379",
            REFUSED,
            "There is no Ray cluster at 10.0.0.1:6379 (Connection refused): check the address, or start one "
            "there by “ray start --head”.",
        ),
        (
            "auto",
            NOT_FOUND,
            "There is no Ray cluster at auto (Could not find any running Ray instance): check the address, "
            "or start one there by “ray start --head”.",
        ),
        (
            "ray://head:10001",
            OTHER_RAY,
            "The Ray cluster at ray://head:10001 cannot be used (Version mismatch: Ray 2.9.0 there, 2.40.0 "
            "here): check that it has the same versions of Python and Ray as this machine.",
        ),
        (
            "",
            RuntimeError(""),
            "Ray could not be started (RuntimeError): try again, or leave out --engine ray.",
        ),
    ],
)
def test_a_cluster_that_is_not_there_is_refused_in_words(
    address: str, error: Exception, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.setattr(ray_pool, "check_installed", lambda: None)
    monkeypatch.setattr(socket, "create_connection", fail)
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(init=fail, shutdown=lambda: None))
    with pytest.raises(UserError) as told, RayCluster(RayWish(address=address)):
        pass
    assert str(told.value) == sentence
