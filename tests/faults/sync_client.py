"""What programs that keep folders in step with a server do to a file that another program has open.

``python -m tests.faults.sync_client FILE SEED``: does one thing after the other, drawn from the seed, until
it is killed, and says what on stdout. As such programs do, it copies files away to upload them, sets times,
holds locks for a moment, and leaves "conflicted copies" and files of its own. `put_older` is the worst.
"""

from __future__ import annotations

import fcntl
import os
import random
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

PAUSE_S = 0.01


def upload(file: Path, _draw: random.Random) -> None:
    """Read the file and what lies beside it."""
    for name in (file.name, f"{file.name}-wal", f"{file.name}-shm"):
        try:
            (file.parent / name).read_bytes()
        except FileNotFoundError:
            continue


def touch(file: Path, draw: random.Random) -> None:
    """Set the time of the file to what the server says."""
    moment = time.time() - draw.randint(-100_000, 100_000)
    os.utime(file, (moment, moment))


def lock(file: Path, draw: random.Random) -> None:
    """Hold a lock on the whole file for a moment, as who uploads may."""
    with file.open("rb") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return
        time.sleep(draw.uniform(0, 0.05))


def leave_conflict(file: Path, draw: random.Random) -> None:
    """Put a copy beside the file that another computer is said to have written."""
    name = f"{file.stem} (conflicted copy {draw.randint(1, 3)}){file.suffix}"
    shutil.copyfile(file, file.with_name(name))


def copy_companions(file: Path, draw: random.Random) -> None:
    """Leave a copy of the log under a name of its own."""
    log = file.with_name(f"{file.name}-wal")
    if log.exists():
        shutil.copyfile(log, file.with_name(f"{file.name}-wal (conflicted copy {draw.randint(1, 3)})"))


def rename_temporary(file: Path, draw: random.Random) -> None:
    """Write a file of its own and rename it about."""
    own = file.with_name(f".~{file.name}.{draw.randint(1, 9)}.tmp")
    own.write_bytes(b"state of the client")
    own.rename(own.with_suffix(".sync"))


def touch_folder(file: Path, _draw: random.Random) -> None:
    """Set the permissions of the folder to what they are."""
    file.parent.chmod(file.parent.stat().st_mode & 0o7777)


HARMLESS: tuple[Callable[[Path, random.Random], None], ...] = (
    upload,
    touch,
    lock,
    leave_conflict,
    copy_companions,
    rename_temporary,
    touch_folder,
)


def put_older(file: Path, older: Path, way: str) -> None:
    """Put ``older`` in the place of the file: "replace" by a rename, "overwrite" in place, "remove" first."""
    if way == "replace":
        own = file.with_name(f".~{file.name}.download")
        shutil.copyfile(older, own)
        os.replace(own, file)  # noqa: PTH105 - the name that everybody knows this step by
    elif way == "overwrite":
        shutil.copyfile(older, file)
    else:
        file.rename(file.with_name(f".~{file.name}.trash"))
        shutil.copyfile(older, file)


def main(file: Path, seed: int) -> None:
    """Work until killed."""
    draw = random.Random(seed)
    while True:
        action = draw.choice(HARMLESS)
        action(file, draw)
        os.write(1, f"{action.__name__}\n".encode())
        time.sleep(draw.uniform(0, PAUSE_S))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
