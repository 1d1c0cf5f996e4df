"""A large file is put on the disk in pieces."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sce_desktop.data import synced
from sce_desktop.data.synced import SyncedFile


@pytest.fixture
def synced_sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How much was on the disk after each time that something was put there."""
    monkeypatch.setattr(synced, "SYNC_BYTES", 10)
    sizes: list[int] = []
    sync = os.fsync

    def noted(descriptor: int) -> None:
        size = os.fstat(descriptor).st_size
        sync(descriptor)
        sizes.append(size)

    monkeypatch.setattr(os, "fsync", noted)
    return sizes


def test_each_piece_is_on_the_disk_before_the_next_but_one_is_written(
    tmp_path: Path, synced_sizes: list[int]
) -> None:
    path = tmp_path / "out.csv"
    with path.open("wb") as file, SyncedFile(file) as writer:
        for piece in range(1, 101):
            writer.write(b"sixsix")
            on_disk = max(synced_sizes, default=0)
            assert on_disk >= 6 * piece - 2 * 12  # one piece on its way, one being written
    assert len(synced_sizes) == 50
    assert synced_sizes[-1] == 600
    assert path.read_bytes() == b"sixsix" * 100


def test_what_the_disk_does_not_take_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synced, "SYNC_BYTES", 10)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):  # noqa: SIM117 - the file is closed by then
        with (tmp_path / "out.csv").open("wb") as file, SyncedFile(file) as writer:
            writer.write(b"twelve bytes")
