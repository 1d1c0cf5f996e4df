from __future__ import annotations

import logging
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from sce_desktop.core.runs import VectorCache as VectorCacheProtocol
from sce_desktop.core.runs import as_kept
from sce_desktop.store.runs import vector_cache, vector_owners
from sce_desktop.store.runs.vector_cache import ProjectVectors, VectorCache

TEXTS = ["one", "", "日本語 👍", "a\0b", "half \ud83d", "x" * 100_000]


def vectors(count: int, width: int = 8, seed: int = 0) -> np.ndarray:
    """What comes back as it is: float16 numbers, and none of unit length."""
    drawn = 5 * np.random.default_rng(seed).normal(size=(count, width))
    return drawn.astype(np.float16).astype(np.float32)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "vectors.sqlite"


@pytest.fixture
def cache(file: Path) -> Iterator[VectorCache]:
    with VectorCache(file) as cache:
        yield cache


def test_vectors_come_back_unchanged(cache: VectorCache, file: Path) -> None:
    protocol: VectorCacheProtocol = cache
    v = vectors(len(TEXTS))
    protocol.put("model@1", TEXTS, v)
    asked = ["new", *TEXTS[::-1], "one"]
    for place in (cache, VectorCache(file)):
        found, got = place.get("model@1", asked)
        assert found.tolist() == [False] + [True] * 7
        assert got is not None
        assert got.dtype == np.float32
        assert (got == np.concatenate([v[::-1], v[:1]])).all()
        got += 1  # the caller's own
        if place is not cache:
            place.close()


def test_nothing_found(cache: VectorCache) -> None:
    for texts in (["a", "b"], []):
        found, got = cache.get("model@1", texts)
        assert found.tolist() == [False] * len(texts)
        assert got is None
    cache.put("model@1", [], np.empty((0, 8), np.float32))


def test_embedders_are_apart(cache: VectorCache) -> None:
    cache.put("one@1", ["a"], vectors(1))
    cache.put("two@1", ["a"], vectors(1, width=3, seed=1))
    assert cache.get("three@1", ["a"])[1] is None
    got = cache.get("two@1", ["a"])[1]
    assert got is not None
    assert (got == vectors(1, width=3, seed=1)).all()


def test_newer_vectors_replace(cache: VectorCache) -> None:
    cache.put("one@1", ["a"], vectors(1))
    cache.put("one@1", ["a"], vectors(1, seed=1))
    got = cache.get("one@1", ["a"])[1]
    assert got is not None
    assert (got == vectors(1, seed=1)).all()


def test_more_than_one_batch(cache: VectorCache) -> None:
    texts = [f"text {number}" for number in range(1_300)]
    cache.put("one@1", texts, vectors(1_300))
    found, got = cache.get("one@1", texts[::-1])
    assert found.all()
    assert got is not None
    assert (got == vectors(1_300)[::-1]).all()


def test_wrong_number_of_vectors_is_a_bug(cache: VectorCache) -> None:
    with pytest.raises(ValueError, match="2 vectors for 1 texts"):
        cache.put("one@1", ["a"], vectors(2))


def test_longest_unused_go_first(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_owners, "_BATCH", 20)
    day = 20_000
    monkeypatch.setattr(vector_cache, "_today", lambda: day)
    bound = 200_000
    with VectorCache(file, max_bytes=bound) as cache:
        cache.put("m", [f"old {number}" for number in range(50)], vectors(50, 256))
        day += 1
        cache.put("m", [f"middle {number}" for number in range(50)], vectors(50, 256))
        day += 1
        cache.get("m", [f"old {number}" for number in range(25)])  # used again
        for number in range(250):
            cache.put("m", [f"new {number}"], vectors(1, 256))
        assert file.stat().st_size <= 1.2 * bound
        kept = {
            kind: cache.get("m", [f"{kind} {number}" for number in range(250)])[0].sum()
            for kind in ("old", "middle", "new")
        }
        assert kept["middle"] == 0
        assert kept["new"] > 200
        assert cache.get("m", [f"old {number}" for number in range(25, 50)])[1] is None


def test_vectors_are_rounded_as_everywhere(cache: VectorCache) -> None:
    drawn = np.random.default_rng(0).normal(size=(500, 384))
    made = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
    texts = [f"text {number}" for number in range(500)]
    cache.put("m", texts, made)
    got = cache.get("m", texts)[1]
    assert got is not None
    assert (got == as_kept(made)).all()

    assert np.abs(np.linalg.norm(got, axis=1) - 1).max() < 1e-6
    assert np.einsum("nd,nd->n", got, made).min() > 1 - 1e-6


# --- whose vectors they are


def sizes(cache: VectorCache) -> dict[str, int]:
    """How many vectors each project of `fill` has."""
    found = {}
    for name in ("a", "b", "c"):
        there, _ = cache.get("m", [f"{name} {number}" for number in range(2_000)])
        found[name] = int(there.sum())
    return found


def fill(cache: VectorCache, name: str, count: int) -> ProjectVectors:
    project = cache.for_project(Path(f"/somewhere/{name}.sce"))
    for start in range(0, count, 50):
        project.put("m", [f"{name} {number}" for number in range(start, start + 50)], vectors(50, 256))
    return project


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1.7e9]
    monkeypatch.setattr(vector_owners, "_now", lambda: int(now[0]))
    monkeypatch.setattr(vector_owners.time, "monotonic", lambda: now[0])
    return now


def test_the_project_that_was_not_used_for_longest_goes_first(file: Path, clock: list[float]) -> None:
    with VectorCache(file, max_bytes=900_000) as cache:
        fill(cache, "a", 500)
        clock[0] += 1_000
        fill(cache, "b", 500)
        clock[0] += 1_000
        cache.get("m", ["a 7"])  # for nobody in particular, the map perhaps: the project is used all the same
        clock[0] += 1_000
        assert fill(cache, "c", 600).left_out == 0
        found = sizes(cache)
    assert found["a"] == 500
    assert found["b"] < 500
    assert found["c"] == 600


def test_a_table_that_does_not_fit_keeps_its_first_vectors(file: Path, clock: list[float]) -> None:
    with VectorCache(file, max_bytes=400_000) as cache:
        room = cache.room("m", Path("/somewhere/a.sce"))
        assert room is not None
        project = fill(cache, "a", 1_500)
        kept = sizes(cache)["a"]
        assert project.left_out == 1_500 - kept
        assert 0.8 < kept * (512 + vector_owners.RECORD_BYTES) / room < 1.25
        assert cache.get("m", [f"a {number}" for number in range(kept)])[0].all()
        clock[0] += 1_000
        fill(cache, "b", 400)  # which has all the room once the other is not at work any more
        assert sizes(cache)["b"] == 400
        assert sizes(cache)["a"] < kept


def test_who_is_at_work_elsewhere_loses_nothing(file: Path, clock: list[float]) -> None:
    with VectorCache(file, max_bytes=400_000) as cache, VectorCache(file, max_bytes=400_000) as other:
        fill(cache, "a", 400)
        clock[0] += 30
        assert fill(other, "b", 1_000).left_out > 0
        assert sizes(cache)["a"] == 400
        assert cache.room("m", Path("/somewhere/b.sce")) == pytest.approx(
            400_000 - 400 * (512 + vector_owners.RECORD_BYTES)
        )


def test_vectors_belong_to_who_reads_them_last(file: Path, clock: list[float]) -> None:
    with VectorCache(file, max_bytes=900_000) as cache:
        fill(cache, "a", 500)
        clock[0] += 1_000
        fill(cache, "b", 100)
        texts = [f"a {number}" for number in range(300)]
        cache.for_project(Path("/somewhere/b.sce")).get("m", texts)
        clock[0] += 1_000
        fill(cache, "c", 900)
        assert cache.get("m", texts)[0].all()
        assert not cache.get("m", [f"a {number}" for number in range(300, 500)])[0].any()


def test_where_projects_are_is_not_in_the_file(file: Path, clock: list[float]) -> None:
    with VectorCache(file) as cache:
        fill(cache, "a", 50)
    assert b"somewhere" not in file.read_bytes()


# --- files of the first version

FIRST = """
CREATE TABLE vectors (
    id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, day INTEGER NOT NULL, vector BLOB NOT NULL
);
CREATE INDEX vectors_day ON vectors (day);
CREATE TABLE embedders (name TEXT PRIMARY KEY NOT NULL);
"""


def first_version(file: Path, texts: list[str], made: np.ndarray, days: list[int]) -> None:
    """What the first version made of these vectors, used last on these days."""
    file.parent.mkdir(exist_ok=True)
    with closing(sqlite3.connect(file)) as plain, plain:
        plain.executescript(
            f"PRAGMA application_id={vector_cache._APPLICATION_ID}; PRAGMA user_version=1; {FIRST}"
        )
        plain.execute("INSERT INTO embedders VALUES ('m')")
        plain.executemany(
            "INSERT INTO vectors (key, day, vector) VALUES (?, ?, ?)",
            [
                (key, day, vector.tobytes())
                for key, day, vector in zip(vector_cache._keys("m", texts), days, made, strict=True)
            ],
        )


def test_vectors_of_the_first_version_are_read_on(file: Path) -> None:
    drawn = np.random.default_rng(3).normal(size=(200, 64))
    made = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
    texts = [f"text {number}" for number in range(200)]
    first_version(file, texts, made, [20_000 + number // 100 for number in range(200)])
    with VectorCache(file) as cache:
        cache.put("m", ["more"], vectors(1, 64))
        found, got = cache.get("m", [*texts, "more"])
        assert found.all()
        assert got is not None
        assert (got[:200] == as_kept(made)).all()
        assert (got[200:] == vectors(1, 64)).all()
    with VectorCache(file) as cache:  # once more: it is of the second version by now
        assert cache.get("m", texts)[0].all()


def test_of_the_first_version_the_oldest_days_go_first(file: Path) -> None:
    texts = [f"text {number}" for number in range(200)]
    first_version(
        file, texts, np.ones((200, 256), np.float32), [20_000 + number // 100 for number in range(200)]
    )
    with VectorCache(file, max_bytes=270_000) as cache:
        cache.put("m", [f"new {number}" for number in range(50)], vectors(50, 256))
        cache.put("m", ["one more"], vectors(1, 256))
        assert not cache.get("m", texts[:50])[0].any()
        assert cache.get("m", texts[100:])[0].all()


# --- whatever is wrong with the file


@pytest.mark.parametrize(
    "content", [b"no database at all", b"SQLite format 3\0" + b"\xff" * 5_000], ids=["text", "broken header"]
)
def test_damaged_file_gives_way_to_an_empty_one(file: Path, content: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    with VectorCache(file) as cache:
        assert cache.get("m", ["a"])[1] is None
        cache.put("m", ["a"], vectors(1))
        assert cache.get("m", ["a"])[0].all()


def test_damage_found_while_reading(file: Path) -> None:
    texts = [f"text {number}" for number in range(500)]
    with VectorCache(file) as cache:
        cache.put("m", texts, vectors(500))
    content = bytearray(file.read_bytes())
    content[4096:] = b"\x55" * (len(content) - 4096)
    file.write_bytes(content)
    with VectorCache(file) as cache:
        assert cache.get("m", texts)[1] is None
        cache.put("m", texts, vectors(500))
        assert cache.get("m", texts)[0].all()


def test_vectors_of_different_widths_are_damage(file: Path) -> None:
    with VectorCache(file) as cache:
        cache.put("m", ["a", "b"], vectors(2))
        with closing(sqlite3.connect(file)) as plain, plain:
            plain.execute("UPDATE vectors SET vector = x'00000000' WHERE id = 1")
        assert cache.get("m", ["a", "b"])[1] is None
        cache.put("m", ["a", "b"], vectors(2))
        assert cache.get("m", ["a", "b"])[0].all()


@pytest.mark.parametrize("change", ["PRAGMA user_version=99", "PRAGMA application_id=7"])
def test_file_of_another_version_is_started_afresh(file: Path, change: str) -> None:
    with VectorCache(file) as cache:
        cache.put("m", ["a"], vectors(1))
    with closing(sqlite3.connect(file)) as plain:
        plain.execute(change)
    with VectorCache(file) as cache:
        assert cache.get("m", ["a"])[1] is None
        cache.put("m", ["a"], vectors(1))
        assert cache.get("m", ["a"])[0].all()


def test_damaged_file_that_others_use_is_left_to_them(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    with VectorCache(file) as other:
        other.put("m", ["a"], vectors(1))
        with closing(sqlite3.connect(file)) as plain:
            plain.execute("PRAGMA user_version=99")
        with VectorCache(file) as cache:
            cache.put("m", ["b"], vectors(1))
            assert cache.get("m", ["b"])[1] is None
        assert "in use elsewhere" in caplog.text
        assert other.get("m", ["a"])[0].all()


def test_cache_without_a_place_is_no_failure(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("in the way")
    with caplog.at_level(logging.WARNING), VectorCache(blocked / "vectors.sqlite") as cache:
        cache.put("m", ["a"], vectors(1))
        assert cache.get("m", ["a"])[1] is None
    assert "vector cache not used" in caplog.text


def test_writing_is_given_up_while_another_program_holds_the_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_cache, "_BUSY_S", 0.05)
    with VectorCache(file) as cache, closing(sqlite3.connect(file, isolation_level=None)) as other:
        cache.put("m", ["a"], vectors(1))
        other.execute("BEGIN EXCLUSIVE")
        cache.put("m", ["b"], vectors(1))
        assert cache.get("m", ["a", "b"])[0].tolist() == [True, False]
        other.execute("ROLLBACK")
        cache.put("m", ["b"], vectors(1))
        assert cache.get("m", ["a", "b"])[0].all()


def test_full_disk_is_no_failure(cache: VectorCache) -> None:
    cache.put("m", ["a"], vectors(1))
    assert cache._connection is not None
    cache._connection.execute("PRAGMA max_page_count=1")
    cache.put("m", [f"text {number}" for number in range(2_000)], vectors(2_000))
    assert cache.get("m", ["a"])[0].all()


def test_closed_cache_finds_nothing(cache: VectorCache) -> None:
    cache.put("m", ["a"], vectors(1))
    cache.close()
    cache.close()
    cache.put("m", ["b"], vectors(1))
    assert cache.get("m", ["a"])[1] is None


# --- together with others

WORK = """
import sys
import numpy as np
from sce_desktop.store.runs.vector_cache import VectorCache
number = int(sys.argv[2])
with VectorCache(sys.argv[1], max_bytes=3_000_000) as cache:
    for step in range(40):
        texts = [f"{step} {i}" for i in range(50)]
        v = np.full((50, 64), step, np.float32)
        found, got = cache.get("m", texts)
        assert got is None or (got == step).all()
        cache.put("m", texts, v)
        found, got = cache.get("m", texts)
        assert found.all() and (got == step).all(), (number, step)
"""


def test_several_processes_at_once(file: Path) -> None:
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORK, str(file), str(number)], stderr=subprocess.PIPE, text=True
        )
        for number in range(3)
    ]
    for worker in workers:
        _, errors = worker.communicate(timeout=60)
        assert (worker.returncode, errors) == (0, "")
    with closing(sqlite3.connect(file)) as plain:
        assert plain.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_several_threads_at_once(cache: VectorCache) -> None:
    failures: list[object] = []

    def work(number: int) -> None:
        texts = [f"{number} {i}" for i in range(30)]
        for step in range(20):
            cache.put("m", texts, np.full((30, 16), step, np.float32))
            found, got = cache.get("m", texts)
            if got is None or not found.all() or not (got == step).all():
                failures.append((number, step))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
