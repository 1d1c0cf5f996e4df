"""What is deleted is overwritten, also where SQLite was built to leave it: SQLite's own default is OFF."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import Cancelled
from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.file import connections
from sce_desktop.store.project import Project
from sce_desktop.store.runs import vector_cache
from sce_desktop.store.runs.vector_cache import VectorCache
from tests.store.conftest import fill, use_labels

SECRET = "Xylophon-Geheimnis"


@pytest.fixture(autouse=True)
def built_without(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every connection begin as those of a SQLite do that was built without SQLITE_SECURE_DELETE."""
    plain_connect = sqlite3.connect

    def connect(*args: Any, **keywords: Any) -> sqlite3.Connection:
        plain = plain_connect(*args, **keywords)
        plain.execute("PRAGMA secure_delete=OFF").fetchall()
        return plain

    monkeypatch.setattr(sqlite3, "connect", connect)


def cancelled_import(path: Path) -> None:
    """Import texts that fill pages of their own, and stop at the end."""

    class Stopped(SilentProgress):
        def check(self) -> None:
            if self.told:
                raise Cancelled("stopped")

        told = False

    def batches(progress: Stopped) -> Iterator[list[tuple[str, str]]]:
        yield [(f"r{number}", f"{SECRET} {number} " * 20) for number in range(2_000)]
        progress.told = True

    with Project.create(path) as project:
        fill(project, ["kept"] * 10)
        progress = Stopped()
        with pytest.raises(Cancelled):
            project.add_rows(
                ("ref", "text"), batches(progress), text_columns=[1], source={}, progress=progress
            )
        project.set_marks(3, note=f"{SECRET} in a note")
        project.set_marks(3, note="")
        project.backup(path.with_name("backup.sce"))


def found_in(folder: Path) -> dict[str, int]:
    files = {file.name: file.read_bytes().count(SECRET.encode()) for file in folder.iterdir()}
    return {name: times for name, times in files.items() if times}


def test_a_cancelled_import_leaves_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cancelled_import(tmp_path / "p.sce")
    # The note is in the undo history, once: what `purge` is for.
    assert found_in(tmp_path) == {"p.sce": 1, "backup.sce": 1}
    monkeypatch.setattr(connections, "overwrite_deleted", lambda plain: None)
    other = tmp_path / "other"
    other.mkdir()
    cancelled_import(other / "p.sce")
    assert min(found_in(other).values()) > 1_000  # else the test would show nothing


def test_deleted_rows_leave_no_text(tmp_path: Path) -> None:
    path = tmp_path / "p.sce"
    with Project.create(path) as project:
        fill(project, ["kept", *[f"{SECRET} {number}" for number in range(500)]])
        (label, _) = use_labels(project, "a", "b")
        project.delete_label(label)
        with project._database.write(foreign_keys=False) as connection:
            connection.exec_driver_sql("DELETE FROM rows WHERE id > 1")
        log = path.with_name("p.sce-wal")
        assert SECRET.encode() in log.read_bytes()  # of the import; gone when the project is closed
    assert found_in(tmp_path) == {}
    assert not log.exists()


def test_every_connection_overwrites(tmp_path: Path) -> None:
    asked = "PRAGMA secure_delete"
    with Project.create(tmp_path / "p.sce") as project:
        project.set_labels([Label("a")])
        with project._database.write() as connection:
            assert connection.exec_driver_sql(asked).scalar_one() == 1
    with VectorCache(tmp_path / "vectors.sqlite") as cache:
        assert cache._connection is not None
        assert cache._connection.execute(asked).fetchone() == (1,)


def test_vectors_are_forgotten(tmp_path: Path) -> None:
    file = tmp_path / "vectors.sqlite"
    vectors = np.random.default_rng(0).normal(size=(40, 8)).astype(np.float32)
    texts = [f"text {number}" for number in range(40)]
    with VectorCache(file) as cache:
        cache.put("one@1", texts, vectors)
        cache.put("two@1", texts[:20], vectors[:20] * 2)
        assert cache.forget(texts[5:15])
        for embedder, kept in (("one@1", 30), ("two@1", 10)):
            found, _ = cache.get(embedder, texts)
            assert found.sum() == kept
            assert not found[5:15].any()
    held = file.read_bytes()
    assert vectors[20].astype(np.float16).tobytes() in held
    kept = vectors[7].astype(np.float16)
    for gone in (kept.tobytes(), (kept * 2).tobytes(), *vector_cache._keys("one@1", texts[7:8])):
        assert gone not in held


def test_vectors_of_unknown_embedders_go_together(tmp_path: Path) -> None:
    file = tmp_path / "vectors.sqlite"
    vectors = np.ones((2, 8), np.float32)
    with VectorCache(file) as cache:
        cache.put("one@1", ["a", "b"], vectors)
        assert cache._connection is not None
        cache._connection.execute("DROP TABLE embedders")  # as an older program has left it
    with VectorCache(file) as cache:
        assert cache.get("one@1", ["a"])[0].all()
        assert cache.forget(["a"])
        assert not cache.get("one@1", ["a", "b"])[0].any()
        cache.put("one@1", ["a", "b"], vectors)
        assert cache.forget(["a"])
        assert cache.get("one@1", ["a", "b"])[0].tolist() == [False, True]
