"""What commands do to files, over and over, and what must be there when they were killed."""

from __future__ import annotations

import contextlib
import itertools
import random
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sce_desktop.core.progress import SilentProgress
from sce_desktop.store.project import Project
from sce_desktop.tasks.tables.export import export_table
from sce_desktop.tasks.tables.tables import append_table, import_table
from sce_desktop.temporary import COMPANIONS
from tests.faults.kills import Found, Tell
from tests.faults.material import (
    ADDED,
    ENDINGS,
    FIRST,
    LABELLED,
    NEW,
    OLD,
    OLD_LABELLED,
    OLD_TEXT,
)

PLACES = 4  # files that something lies at before
OVER, BESIDE, FREE = "over", "beside", "free"


@contextlib.contextmanager
def opened(path: Path, found: Found) -> Iterator[Project | None]:
    """Open what was left, note what is wrong with it, and close it; None if it cannot be opened."""
    try:
        project = Project.open(path)
    except Exception as error:
        found.damaged.append(f"{path.name} cannot be opened: {error!r}")
        yield None
        return
    with project:
        if project.read_only:
            found.damaged.append(f"{path.name} is read-only: {project.read_only_reason}")
        found.damaged += [f"{path.name}: {problem}" for problem in project.verify()]
        yield project


def take_away(folder: Path, name: str) -> None:
    """Remove what is meant to be there, so that what stays is litter."""
    (folder / name).unlink(missing_ok=True)


# --- projects that are written in one go -------------------------------------------------------------------


@dataclass
class Writing:
    """A command that makes a project file: beside nothing, over another, or beside what one has left."""

    name: str
    share: float
    steps: int = 4
    slow_start: bool = False
    labelled: int = LABELLED

    def prepare(self, material: Path, folder: Path) -> None:
        if self.name == "import":
            shutil.copy(material / "new.csv", folder)
        else:
            shutil.copy(material / "new.sce", folder)
        for number in range(PLACES):
            for file in (material / "left").iterdir():
                if _way(number) == OVER or (_way(number) == BESIDE and file.name != "old.sce"):
                    shutil.copy(file, folder / file.name.replace("old", f"p{number}"))

    def work(self, folder: Path, draw: random.Random, tell: Tell) -> None:
        for number in itertools.count():
            self._write(folder, folder / f"p{number}.sce", overwrite=_way(number) == OVER)
            tell(str(number))

    def _write(self, folder: Path, path: Path, *, overwrite: bool) -> None:
        progress = SilentProgress()
        if self.name == "import":
            with import_table(
                path, folder / "new.csv", text_columns=["text"], overwrite=overwrite, progress=progress
            ) as project:
                project.build_search_index(progress)
        elif self.name == "backup":
            with Project.open(folder / "new.sce", read_only=True) as project:
                project.backup(path, progress, overwrite=overwrite)
        else:
            Project.repair_file(folder / "new.sce", path, progress, overwrite=overwrite)

    def check(self, folder: Path, draw: random.Random, told: Sequence[str], found: Found) -> None:
        found.acknowledged = len(told)
        for number in range(max(len(told) + 1, PLACES)):
            path = folder / f"p{number}.sce"
            done = number < len(told)
            if path.exists():
                what = self._what(path, found)
                allowed = {"new"} if done else {"new", "old"} if _way(number) == OVER else {"new"}
                if what not in allowed:
                    (found.lost if done else found.damaged).append(f"{path.name} is {what}")
            elif done or _way(number) == OVER:
                found.lost.append(f"{path.name} is gone")
            elif _way(number) == BESIDE:  # of the user's own
                for ending in COMPANIONS:
                    take_away(folder, path.name + ending)
            take_away(folder, path.name)
        with opened(folder / "new.sce", found) if self.name != "import" else contextlib.nullcontext():
            pass
        for name in ("new.csv", "new.sce"):
            take_away(folder, name)

    def _what(self, path: Path, found: Found) -> str:
        with opened(path, found) as project:
            if project is None:
                return "broken"
            texts = project.texts(project.row_ids())
            words = {text.split()[0] for text in texts}
            labelled = len(project.annotations(project.row_ids()))
        expected = {
            "new": (NEW, {"new"}, 0 if self.name == "import" else LABELLED),
            "old": (OLD, {"old"}, OLD_LABELLED),  # what was in its log is there, too
        }
        for what, facts in expected.items():
            if (len(texts), words, labelled) == facts:
                return what
        return f"another: {len(texts)} rows of {words}, {labelled} labelled"


def _way(number: int) -> str:
    return (FREE, OVER, BESIDE)[number % 3] if number < PLACES else FREE


# --- the others --------------------------------------------------------------------------------------------


@dataclass
class Adding:
    """Rows are added to a project that has annotations."""

    name: str = "add"
    share: float = 30
    steps: int = 4
    slow_start: bool = False

    def prepare(self, material: Path, folder: Path) -> None:
        shutil.copy(material / "new.sce", folder)
        shutil.copy(material / "added.csv", folder)

    def work(self, folder: Path, draw: random.Random, tell: Tell) -> None:
        for number in itertools.count():
            with Project.open(folder / "new.sce") as project:
                append_table(project, folder / "added.csv", progress=SilentProgress())
                project.build_search_index()
            tell(str(number))

    def check(self, folder: Path, draw: random.Random, told: Sequence[str], found: Found) -> None:
        found.acknowledged = len(told)
        with opened(folder / "new.sce", found) as project:
            if project is not None:
                more, rest = divmod(project.row_count() - NEW, ADDED)
                if more < len(told):
                    found.lost.append(f"{len(told)} tables were added, {more} are there")
                if rest or more > len(told) + 1:
                    found.damaged.append(f"{project.row_count()} rows after {len(told)} tables")
                if len(project.annotations(project.row_ids())) != LABELLED:
                    found.lost.append("annotations")
        for name in ("new.sce", "added.csv"):
            take_away(folder, name)


@dataclass
class Exporting:
    """Exports in every format, beside nothing or over another file."""

    name: str = "export"
    share: float = 40
    steps: int = 4
    slow_start: bool = False
    _material: Path = field(default=Path(), repr=False)

    def prepare(self, material: Path, folder: Path) -> None:
        self._material = material
        shutil.copy(material / "new.sce", folder)
        for number in range(0, PLACES, 2):
            for ending in ENDINGS:
                (folder / f"out{number}.{ending}").write_text(OLD_TEXT, encoding="utf-8")

    def work(self, folder: Path, draw: random.Random, tell: Tell) -> None:
        for number in itertools.count():
            for ending in self._order(draw):
                with Project.open(folder / "new.sce", read_only=True) as project, project.snapshot():
                    export_table(project, folder / f"out{number}.{ending}", progress=SilentProgress())
                tell(f"out{number}.{ending}")

    def check(self, folder: Path, draw: random.Random, told: Sequence[str], found: Found) -> None:
        found.acknowledged = len(told)
        for path in sorted(folder.glob("out*")):
            if self._is_whole(path):
                continue
            if path.name in told:
                found.lost.append(f"{path.name} is not whole")
            elif path.read_bytes() != OLD_TEXT.encode():
                found.damaged.append(f"{path.name} is half written")
        found.lost += [f"{name} is gone" for name in told if not (folder / name).exists()]
        for path in folder.glob("out*"):
            path.unlink()
        with opened(folder / "new.sce", found):
            pass
        take_away(folder, "new.sce")

    def _is_whole(self, path: Path) -> bool:
        reference = self._material / f"reference{path.suffix}"
        if path.suffix in (".csv", ".jsonl"):
            return path.read_bytes() == reference.read_bytes()
        from sce_desktop.core.errors import UserError
        from sce_desktop.data.tables import open_table

        def read(table: Path) -> list[object]:
            opened_table = open_table(table)
            return [opened_table.columns, *itertools.chain.from_iterable(opened_table.batches())]

        try:
            return read(path) == read(reference)
        except UserError:
            return False

    def _order(self, draw: random.Random) -> list[str]:
        return draw.sample(ENDINGS, len(ENDINGS))


@dataclass
class Migrating:
    """Projects of the first format are opened, which brings them up to date."""

    name: str = "migration"
    share: float = 20
    steps: int = 4
    slow_start: bool = False

    def prepare(self, material: Path, folder: Path) -> None:
        for number in range(PLACES):
            shutil.copy(material / "first.sce", folder / f"p{number}.sce")

    def work(self, folder: Path, draw: random.Random, tell: Tell) -> None:
        for number in range(PLACES):
            Project.open(folder / f"p{number}.sce").close()
            tell(str(number))

    def check(self, folder: Path, draw: random.Random, told: Sequence[str], found: Found) -> None:
        found.acknowledged = len(told)
        for number in range(PLACES):
            path = folder / f"p{number}.sce"
            copy = folder / f"p{number} (before update from format 1).sce"
            if number < len(told) and not copy.exists():
                found.lost.append(f"the copy of {path.name}")
            if copy.exists():
                self._check_copy(copy, found)
            self._check_one(path, found)
            take_away(folder, path.name)
            take_away(folder, copy.name)
            if number == len(told):  # a copy may have been made and the update not: then there is another
                take_away(folder, copy.name.replace(".sce", " 2.sce"))

    @staticmethod
    def _check_copy(path: Path, found: Found) -> None:
        """As it was: of the first format."""
        with contextlib.closing(sqlite3.connect(path)) as plain:
            state = [
                plain.execute(statement).fetchone()[0]
                for statement in (
                    "PRAGMA integrity_check",
                    "PRAGMA user_version",
                    "SELECT count(*) FROM rows",
                    "SELECT count(*) FROM annotation_labels",
                )
            ]
        if state != ["ok", 1, FIRST, FIRST // 2]:
            found.damaged.append(f"{path.name}: {state}")

    def _check_one(self, path: Path, found: Found) -> None:
        with opened(path, found) as project:
            if project is None:
                return
            annotations = project.annotations(project.row_ids())
            marks = project.marks(project.row_ids())
            if (project.row_count(), len(annotations), len(marks)) != (FIRST, FIRST // 2, FIRST // 3):
                found.lost.append(f"{path.name}: {project.row_count()}, {len(annotations)}, {len(marks)}")
            if project.runs()[0].scored != FIRST:
                found.lost.append(f"{path.name}: scores")


COMMANDS = (
    Writing("import", 40),
    Adding(),
    Exporting(),
    Writing("backup", 30),
    Writing("repair", 30),
    Migrating(),
)
