"""The one face of a project file: everything that the program knows of it goes through `Project`."""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Self

import sqlalchemy as sa

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.purging import PurgeEffect, PurgeReport, PurgeScope
from sce_desktop.store.content.columns import ColumnCache
from sce_desktop.store.file import opening, placing, schema, upkeep
from sce_desktop.store.file.connections import raw
from sce_desktop.store.file.database import Database
from sce_desktop.store.project_decisions import DecisionMethods
from sce_desktop.store.project_drafts import DraftMethods
from sce_desktop.store.project_labels import LabelMethods
from sce_desktop.store.project_models import ModelMethods
from sce_desktop.store.project_repeats import RepeatMethods
from sce_desktop.store.project_rows import RowMethods
from sce_desktop.store.purge import counting, purge
from sce_desktop.store.repair import repair
from sce_desktop.store.repair.repair import RepairReport
from sce_desktop.store.runs.drafts import DraftedRuns, Drafts
from sce_desktop.store.runs.scored import ScoredRuns
from sce_desktop.temporary import temporary_beside

_LOG = logging.getLogger(__name__)


class Project(RowMethods, LabelMethods, DecisionMethods, RepeatMethods, ModelMethods, DraftMethods):
    """A project file that is open, for use from any thread; a context manager that closes it.

    A change is complete when its method returns; what people decide or edit can be undone. Decisions, marks
    and labels then survive a power cut, rows and scores a crash of the program. All methods raise `UserError`
    where the disk is full, the file is damaged, or a change is asked of a project that is read-only.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._scored = ScoredRuns()
        self._drafts = Drafts()
        self._drafted = DraftedRuns(self._scored, self._drafts)
        self._columns = ColumnCache()
        self.finished_purge = ""  # what to tell of a purge that opening the project has finished
        self._let_go = False  # of a file that is lost: it is saved, or nobody wants it
        with database.read() as connection:
            known = sa.select(schema.project.c.name, schema.project.c.created_at)
            self._name, self._created_at = connection.execute(known).one()

    @classmethod
    def create(cls, path: str | Path, *, name: str | None = None, draft: bool = False) -> Self:
        """Make a new project at ``path`` and open it. UserError if the file exists or cannot be made.

        ``draft``: `placing.put_in_place` puts it where it belongs, and a power cut before may cost it.
        """
        path = Path(path).absolute()
        return cls(opening.create(path, name=path.stem if name is None else name, draft=draft))

    @classmethod
    def open(cls, path: str | Path, *, read_only: bool = False, older: bool = False) -> Self:
        """Open the project at ``path``; where it cannot be written, `read_only_reason` says why.

        A project of an older version is copied beside itself, then brought up to date. Where it cannot be
        written, ``older`` reads an updated copy in the folder for temporary files. A purge that was
        interrupted is finished before; `finished_purge` tells of it.

        Raises:
            UserError: Not a project, damaged, of a newer version, or with database programs of others in it.
        """
        finished = "" if read_only else purge.finish(Path(path).absolute())
        project = cls(opening.open_existing(Path(path).absolute(), read_only=read_only, older=older))
        project.finished_purge = finished
        return project

    def close(self) -> None:
        """Bring everything into one file and let others open it. Harmless when repeated.

        Raises:
            UserError: There is no room for that: it comes with the next opening. Or the project is `lost`
                with what was written since it was opened, and was neither saved by `backup` nor given up: a
                copy is made, and the sentence says where.
        """
        failure: UserError | None = None
        if self._database.written and not self._let_go and self._database.lost():
            self._let_go = True
            failure = upkeep.rescue(self._database)
        self._database.close()
        if failure is not None:
            raise failure

    def give_up(self) -> None:
        """Let `close` make no copy of a project that is `lost`."""
        self._let_go = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        lost = bool(self._database.lost())
        try:
            self.close()
        except UserError as failure:
            if error is None or lost:
                raise
            _LOG.warning("%s", failure)  # raise what went wrong before

    @property
    def path(self) -> Path:
        """Where the project lies."""
        return self._database.path

    @property
    def name(self) -> str:
        """What the user calls it."""
        return self._name

    @property
    def created_at(self) -> str:
        """When it was created (ISO 8601, UTC): its copies say the same, another project does not."""
        return self._created_at

    @property
    def read_only(self) -> bool:
        """Whether nothing can be changed."""
        return self._database.read_only

    @property
    def read_only_reason(self) -> str:
        """Why nothing can be changed and what to do, in one sentence; empty if it can."""
        return self._database.read_only_reason

    @property
    def open_elsewhere(self) -> bool:
        """Whether nothing can be changed because another window had the project open; see `is_free`."""
        return self.read_only_reason == _(opening.OPEN_ELSEWHERE)

    def is_free(self) -> bool:
        """Whether nobody has the project open for changes by now: whoever opens it again can make some."""
        return opening.is_free(self.path)

    def snapshot(self) -> AbstractContextManager[None]:
        """Let all that this thread reads inside see one state of the project; reading much is faster so.

        Whoever reads in parts what has to fit together does it in here (`tasks.one_state`).
        """
        return self._database.snapshot()

    # --- upkeep

    def purge_effect(self, scope: PurgeScope) -> PurgeEffect:
        """Count what deleting ``scope`` for good takes along, and find copies of the project."""
        with self._database.read() as connection:
            return counting.effect(raw(connection), scope, self.path)

    @staticmethod
    def purge_file(
        path: str | Path, scope: PurgeScope, *, with_copies: bool = True, progress: Progress | None = None
    ) -> PurgeReport:
        """Delete ``scope`` for good from the project at ``path``, which nobody has open: neither do we.

        UserError if it is open, cannot be written, or there is too little room. See `store.purge`.
        """
        return purge.purge_project(Path(path), scope, with_copies=with_copies, progress=progress)

    def shorten_log(self) -> None:
        """Bring what was decided into the file itself, if it is much by now. For a thread that may wait."""
        self._database.shorten_log()

    def backup(self, copy: str | Path, progress: Progress | None = None, *, overwrite: bool = False) -> None:
        """Write a complete copy to ``copy`` while others go on writing, also when this project is `lost`.

        UserError if there is such a file already, or with ``overwrite`` if it is open.
        """
        lost = self._database.lost()
        path = Path(copy).absolute()
        upkeep.backup(self._database, path, progress or SilentProgress(), overwrite=overwrite)
        self._let_go = self._let_go or bool(lost)

    def lost(self) -> str:
        """Return what happened to the file while it is open ("was deleted …"); empty if all is well.

        Nothing can be written then; `backup` still saves all that was. Cheap, and needed now and then only
        where somebody looks at the project: a writer gets the error.
        """
        return self._database.lost()

    def lost_in_part(self) -> bool:
        """Whether another program wrote over the file: part of what was in it is gone for good."""
        return upkeep.lost_in_part(self._database)

    def verify(self, progress: Progress | None = None) -> list[str]:
        """Return what is wrong with the project, a sentence each; nothing if all is well."""
        return upkeep.verify(self._database, progress or SilentProgress())

    def repair(self, copy: str | Path, progress: Progress | None = None) -> RepairReport:
        """Make a new project at ``copy`` of what can be read of this one. See `Project.repair_file`."""
        return self.repair_file(self.path, copy, progress)

    @staticmethod
    def repair_file(
        path: str | Path, copy: str | Path, progress: Progress | None = None, *, overwrite: bool = False
    ) -> RepairReport:
        """Make a new project at ``copy`` of what can be read at ``path``, which may be too damaged to open.

        UserError if ``path`` is no project at all, or ``copy`` exists, or with ``overwrite`` if it is open or
        ``path`` itself.
        """
        watcher = progress or SilentProgress()
        path, copy = Path(path).absolute(), Path(copy).absolute()
        if not (overwrite and copy.exists()):
            return repair.repair_project(path, copy, watcher)
        if path.exists() and copy.samefile(path):
            raise UserError(
                _("{copy} is the project to repair: choose another name for the repaired copy.", copy=copy)
            )
        with temporary_beside(copy.resolve()) as aside:
            report = repair.repair_project(path, aside, watcher)
            placing.put_in_place(aside, copy, overwrite=True)
        return report
