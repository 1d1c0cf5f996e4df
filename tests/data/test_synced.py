"""A large file is put on the disk in pieces."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sce_desktop.data import synced
from sce_desktop.data.synced import SyncedWriter


def test_each_piece_is_on_the_disk_before_the_next_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(synced, "SYNC_BYTES", 10)
    sizes: list[int] = []
    sync = os.fsync

    def noted(descriptor: int) -> None:
        sync(descriptor)
        sizes.append(os.fstat(descriptor).st_size)

    monkeypatch.setattr(os, "fsync", noted)
    path = tmp_path / "out.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = SyncedWriter(file)
        for _ in range(5):
            writer.write("sixsix")
    assert sizes == [12, 24]
    assert path.read_text(encoding="utf-8") == "sixsix" * 5
