"""The power fails at any moment: what was acknowledged as durable is on the disk."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

import pytest

from tests.faults import losses, power

CUTS = int(os.environ.get("SCE_DESKTOP_CUTS", "70"))
SHARES = {"label": 0.6, "add": 0.15, "make": 0.1, "migration": 0.15}

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="LD_PRELOAD of Linux"),
    pytest.mark.skipif(power.compiler() is None, reason="there is no C compiler"),
    pytest.mark.timeout(600),
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return power.build(tmp_path_factory.mktemp("library"))


@pytest.fixture(scope="module")
def recordings(library: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, losses.Recording]:
    return {one.name: one for one in losses.record(tmp_path_factory.mktemp("recorded"), library)}


@pytest.mark.parametrize("name", SHARES)
def test_a_power_loss_takes_nothing_acknowledged(
    recordings: dict[str, losses.Recording], tmp_path: Path, name: str
) -> None:
    seed = random.randrange(1 << 30)
    found = losses.check_cuts(recordings[name], round(CUTS * SHARES[name]), seed, tmp_path)
    assert found.wrong == []
    assert found.acknowledged


def test_it_would_be_seen_if_labels_were_not_synced(
    recordings: dict[str, losses.Recording], tmp_path: Path
) -> None:
    """The same recording without what syncs the log: labels are gone then, and the check says so."""
    recording = recordings["label"]
    (first,) = [e for e in recording.events if e.kind == "c" and e.names[0].endswith("-wal")][:1]
    careless = [e for e in recording.events if not (e.kind == "s" and e.file == first.file)]
    changed = losses.Recording("label", recording.folder, recording.base, careless, recording.states)
    assert len(losses.check_cuts(changed, 20, 1, tmp_path).wrong) >= 3


def test_the_recording_gives_the_files_as_they_are(
    recordings: dict[str, losses.Recording], tmp_path: Path
) -> None:
    """With nothing lost, what is rebuilt of the recording is byte by byte what the program left."""
    for recording in recordings.values():
        disk = power.Disk(recording.base, recording.folder)
        for event in recording.events:
            if event.kind != "m":
                disk.take(event, journal=False)
        target = tmp_path / recording.name
        target.mkdir()
        disk.lose_power(target, _Everything())
        there = {file.name: file.read_bytes() for file in recording.folder.iterdir()}
        assert {file.name: file.read_bytes() for file in target.iterdir()} == there


class _Everything(random.Random):
    """Draws that nothing is lost."""

    def choice(self, options):  # type: ignore[no-untyped-def]
        return "everything" if "everything" in options else max(options)


def test_what_is_not_synced_may_be_lost_in_part(tmp_path: Path) -> None:
    """Of a file of two writes with a sync between, the first is always there, the second in blocks of 512."""
    base, folder = tmp_path / "base", tmp_path / "folder"
    base.mkdir()
    events = [
        power.Event("c", 1, 0, str(folder / "a").encode() + b"\0"),
        power.Event("w", 1, 0, b"1" * 1024),
        power.Event("s", 1, 0, b""),
        power.Event("d", 0, 0, str(folder).encode() + b"\0"),
        power.Event("w", 1, 0, b"2" * 2048),
        power.Event("r", 0, 0, str(folder / "a").encode() + b"\0" + str(folder / "b").encode() + b"\0"),
    ]
    left = set()
    for number in range(60):
        disk = power.Disk(base, folder)
        for event in events:
            disk.take(event, journal=False)
        target = tmp_path / str(number)
        target.mkdir()
        disk.lose_power(target, random.Random(number))
        (file,) = target.iterdir()
        blocks = [file.read_bytes()[at : at + 512] for at in range(0, file.stat().st_size, 512)]
        assert all(block in (b"1" * 512, b"2" * 512) for block in blocks[:2])
        assert all(block in (bytes(512), b"2" * 512) for block in blocks[2:])
        left.add((file.name, b"".join(blocks)))
    assert {name for name, _ in left} == {"a", "b"}
    assert len(left) > 8
