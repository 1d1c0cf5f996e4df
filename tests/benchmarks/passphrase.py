"""What a passphrase would cost: the store on SQLCipher beside SQLite, and the closed file in a container.

    python -m tests.benchmarks.passphrase --rounds 3

Needs sqlcipher3-wheels, pyrage and cryptography, which the program does not: install them beside it. Our
own code runs on either database: SQLCipher stands in for the module ``sqlite3``, with a key that was derived
before, as each connection would otherwise derive it again. See docs/adr/0036-passphrase.md.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

DECISIONS, SEARCHES = 200, 15
WORDS_A_TEXT = 30
FLIPS, KILLS = 10, 10


def use_sqlcipher(key: str) -> None:
    """Put SQLCipher in the place of ``sqlite3`` for all that is imported from here on."""
    import sqlite3

    import sqlcipher3.dbapi2 as ciphered

    stand_in = types.ModuleType("sqlite3")
    stand_in.__dict__.update(vars(sqlite3))
    stand_in.__dict__.update({k: v for k, v in vars(ciphered).items() if not k.startswith("__")})

    def connect(database: Any, *arguments: Any, **options: Any) -> Any:
        connection = ciphered.connect(str(database), *arguments, **options)
        connection.execute(f"PRAGMA key=\"x'{key}'\"")
        connection.execute("PRAGMA cipher_page_size=8192")
        return connection

    stand_in.connect = connect  # type: ignore[attr-defined]
    stand_in.dbapi2 = stand_in  # type: ignore[attr-defined]
    sys.modules["sqlite3"] = sys.modules["sqlite3.dbapi2"] = stand_in
    from sce_desktop.store.file import placing

    def is_sound(draft: Path) -> bool:  # ours multiplies the page size, which is a string there
        with contextlib.closing(placing.connect(draft, "mode=ro")) as connection:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))

    placing._is_sound = is_sound


def measure(folder: Path, rows: int) -> dict[str, tuple[float, float]]:
    """Return seconds by the clock and of the processor of what is done with one project."""
    from sce_desktop.core.annotations import Decision, Label
    from sce_desktop.core.query import RowQuery
    from sce_desktop.data.writers import write_table
    from sce_desktop.store.project import Project
    from tests.benchmarks.review import WORDS

    found: dict[str, tuple[float, float]] = {}

    def timed(name: str, do: Callable[[], Any], times: int = 1) -> Any:
        clock, processor, results = [], [], None
        for _time in range(times):
            started, used = time.perf_counter(), time.process_time()
            results = do()
            clock.append(time.perf_counter() - started)
            processor.append(time.process_time() - used)
        found[name] = (statistics.median(clock), statistics.median(processor))
        return results

    path = folder / "p.sce"
    columns = ("ref", "message", "channel")
    drawn = np.random.default_rng(0).choice(WORDS, size=(rows, WORDS_A_TEXT))
    table = [(f"R{number}", f"{number} {' '.join(words)}", "web") for number, words in enumerate(drawn)]
    project = Project.create(path)
    batches = (table[start : start + 5000] for start in range(0, rows, 5000))
    timed("import", lambda: project.add_rows(columns, batches, text_columns=[1], source={}))
    labels = [label.id for label in project.set_labels([Label("A"), Label("B")]).labels]
    timed("search index", project.build_search_index)
    timed("close", project.close)
    project = timed("open", lambda: Project.open(path))
    row = iter(range(1, rows))
    timed("a decision", lambda: project.decide([next(row)], Decision.LABEL, labels[:1]), DECISIONS)
    timed("a search", lambda: project.row_ids(RowQuery(search='"lost refund" kind')), SEARCHES)
    ids = project.row_ids()

    def export() -> None:
        parts = (ids[start : start + 5000] for start in range(0, rows, 5000))
        write_table(
            folder / "out.csv", ("text",), ([(one.text,) for one in project.rows(part)] for part in parts)
        )

    timed("read all rows, write CSV", export)
    timed("backup", lambda: project.backup(folder / "copy.sce"))
    timed("verify", project.verify)
    project.close()
    found["megabytes"] = (path.stat().st_size / 1e6,) * 2
    return found


def containers(path: Path) -> dict[str, tuple[float, float]]:
    """Return seconds to lock and to unlock the closed file ``path`` in two kinds of containers."""
    import pyrage
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    found = {}
    locked = path.with_suffix(".age")

    def timed(name: str, do: Callable[[], Any]) -> Any:
        started, used = time.perf_counter(), time.process_time()
        result = do()
        found[name] = (time.perf_counter() - started, time.process_time() - used)
        return result

    data = path.read_bytes()
    sealed = timed("age, lock", lambda: pyrage.passphrase.encrypt(data, "secret"))
    locked.write_bytes(sealed)
    assert timed("age, unlock", lambda: pyrage.passphrase.decrypt(sealed, "secret")) == data
    found["age, bytes added"] = (len(sealed) - len(data),) * 2
    cipher, nonce = ChaCha20Poly1305(ChaCha20Poly1305.generate_key()), secrets.token_bytes(12)
    sealed = timed("ChaCha20-Poly1305, lock", lambda: cipher.encrypt(nonce, data, None))
    timed("ChaCha20-Poly1305, unlock", lambda: cipher.decrypt(nonce, sealed, None))
    return found


def derivation() -> tuple[float, float]:
    """Return seconds of SQLCipher's own derivation of a key: PBKDF2-HMAC-SHA512, 256,000 times."""
    import hashlib

    started, used = time.perf_counter(), time.process_time()
    hashlib.pbkdf2_hmac("sha512", b"secret", secrets.token_bytes(16), 256_000)
    return time.perf_counter() - started, time.process_time() - used


def faults(folder: Path, rows: int) -> dict[str, float]:
    """Return what is left of rows after one wrong byte, by our repair, and of decisions after kills."""
    from sce_desktop.core.annotations import Decision
    from sce_desktop.core.errors import UserError
    from sce_desktop.store.project import Project
    from tests.benchmarks.review import make_project

    whole = folder / "whole.sce"
    make_project(whole, rows, 2)
    data = whole.read_bytes()
    rng = np.random.default_rng(0)
    kept, refused = [], 0
    for number in range(FLIPS):
        damaged, copy = folder / f"{number}.sce", folder / f"{number} repaired.sce"
        spoilt = bytearray(data)
        spoilt[int(rng.integers(len(data) // 10, len(data)))] ^= 0xFF
        damaged.write_bytes(spoilt)
        try:
            kept.append(Project.repair_file(damaged, copy).rows / rows)
        except UserError:
            kept.append(0.0)
            refused += 1
    lost = 0
    for number in range(KILLS):
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            project = Project.open(whole)
            labels = [label.id for label in project.label_set().labels]  # type: ignore[union-attr]
            for row in range(1, 1000):
                project.decide([number * 1000 + row], Decision.LABEL, labels[:1])
                os.write(writing, b"x")
        os.close(writing)
        told = len(os.read(reading, 1))
        time.sleep(rng.random())
        os.kill(child, 9)
        os.waitpid(child, 0)
        while part := os.read(reading, 4096):
            told += len(part)
        os.close(reading)
        with Project.open(whole) as project:
            there = len(project.annotations(range(number * 1000 + 1, number * 1000 + 1000)))
        lost += max(0, told - there)
    return {"rows kept, mean": statistics.mean(kept), "not repaired": refused, "decisions lost": lost}


def _child(kind: str, rows: int, *more: str) -> dict[str, Any]:
    command = [
        sys.executable,
        "-m",
        "tests.benchmarks.passphrase",
        "--child",
        kind,
        "--rows",
        str(rows),
        *more,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Measure, the two databases by turns, and print medians."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.passphrase", description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--child", choices=("plain", "cipher"), help=argparse.SUPPRESS)
    parser.add_argument("--faults", action="store_true", help="a wrong byte, and kills, in place of times")
    given = parser.parse_args()
    if given.child:
        if given.child == "cipher":
            use_sqlcipher(secrets.token_hex(32))
        with tempfile.TemporaryDirectory(prefix="sce-desktop-bench-") as name:
            os.environ["SCE_DESKTOP_HOME"] = name
            if given.faults:
                print(json.dumps(faults(Path(name), KILLS * 1000)))
                return
            found = measure(Path(name), given.rows)
            if given.child == "plain":
                found |= containers(Path(name) / "p.sce")
                found["PBKDF2, 256,000 times"] = derivation()
            print(json.dumps(found))
        return
    if given.faults:
        for kind in ("plain", "cipher"):
            print(kind, _child(kind, given.rows, "--faults"))
        return
    rounds = [[_child(kind, given.rows) for kind in ("plain", "cipher")] for _round in range(given.rounds)]
    print(f"{given.rows:,} rows, medians of {given.rounds}: seconds by the clock (of the processor)")
    for name in rounds[0][0]:
        plain, cipher = ([one[place][name] for one in rounds if name in one[place]] for place in (0, 1))
        middles = [
            [statistics.median(part) for part in zip(*some, strict=True)] for some in (plain, cipher) if some
        ]
        line = "  ".join(f"{clock:10.4f} ({processor:8.4f})" for clock, processor in middles)
        ratio = f"  {middles[1][1] / middles[0][1]:6.2f}" if len(middles) > 1 else ""
        print(f"{name:28} {line}{ratio}")


if __name__ == "__main__":
    main()
