"""The face of a project, as far as people's answers go: annotations, marks, undo, samples, other coders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sce_desktop.core.annotations import Annotation, Audit, Change, Coder, Decision, Origin, RowMarks
from sce_desktop.core.arrays import IdArray
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.store.annotations import audits, coders, decided_rows, decisions, history
from sce_desktop.store.annotations.decided_rows import DecidedRows
from sce_desktop.store.annotations.decisions import Answers
from sce_desktop.store.file.database import Database
from sce_desktop.store.sql import Ids, now


class DecisionMethods:
    """A part of `Project`."""

    _database: Database

    # --- annotations

    def decide(
        self,
        row_ids: Ids,
        decision: Decision,
        label_ids: Sequence[int] = (),
        *,
        origin: Origin = Origin.HAND,
        queue: str = "",
    ) -> None:
        """Decide the same about all of ``row_ids``, in place of what was decided before.

        ValueError if a row or a label is not in the project, or the labels do not fit the decision.
        """
        moment, chosen = now(), tuple(label_ids)
        self.annotate(Annotation(int(i), decision, chosen, origin, moment, queue) for i in row_ids)

    def annotate(
        self,
        annotations: Iterable[Annotation],
        marks: Iterable[RowMarks] = (),
        *,
        imported: bool = False,
        action: int | None = None,
    ) -> int | None:
        """Keep annotations and marks as they are, time and origin included.

        Args:
            annotations: Each in place of what was decided about its row before.
            marks: Each in place of what was noted about its row before.
            imported: They come from a file, whatever their origin says: so menus call it.
            action: What an earlier call returned, to be undone together with it. Where the user has done
                something in between, it becomes an action of its own.

        Returns:
            The action, for the next call.

        Raises:
            ValueError: A row or a label is not in the project, or labels do not fit a decision.
        """
        with self._database.write(durable=True) as connection:
            return decisions.store(connection, annotations, marks, imported=imported, join=action)

    def annotate_part(
        self, annotations: Iterable[Annotation], *, last: bool, action: int | None = None
    ) -> int | None:
        """Keep annotations in bulk as a part of an action that takes several calls; see `annotate`.

        Until the ``last`` part is kept, or `end_parts` called, `interrupted` tells of the action.
        """
        with self._database.write(durable=True) as connection:
            action = decisions.store(connection, annotations, join=action)
            if last:
                history.end_parts(connection)
            elif action is not None:
                history.mark_part(connection, action)
            return action

    def end_parts(self) -> None:
        """Let bulk actions that broke off be whole: who waits for them knows how far they came."""
        with self._database.write(durable=True) as connection:
            history.end_parts(connection)

    def interrupted(self) -> tuple[int, bool]:
        """Return how many rows unfinished bulk actions reached, and whether `undo` is of the last one."""
        with self._database.read() as connection:
            return history.parts(connection)

    def clear_decision(self, row_ids: Ids) -> int:
        """Make rows undecided again and return how many were not."""
        with self._database.write(durable=True) as connection:
            return decisions.clear(connection, row_ids)

    def annotations(self, ids: Ids) -> dict[int, Annotation]:
        """Return the decisions about ``ids`` by row, labels in the order of the label set.

        Undecided rows are absent, as are rows whose labels are all out of use.
        """
        with self._database.read() as connection:
            return decisions.fetch(connection, ids)

    def decided_rows(self, ids: Ids) -> DecidedRows:
        """Return the same by kind, for who looks at many rows."""
        with self._database.read() as connection:
            return decided_rows.fetch(connection, ids)

    def first_open(self, ids: Ids) -> int | None:
        """Return the first of ``ids`` with text and no decision, None if there is none.

        A few thousand may be asked about between a key and the next row.
        """
        with self._database.read() as connection:
            return decisions.first_open(connection, ids)

    def answers(self, ids: Ids | None = None) -> Answers:
        """Return what is decided about ``ids`` (None: every row) as arrays, for who looks at many rows."""
        with self._database.read() as connection:
            return decisions.answers(connection, ids)

    def has_bare_decisions(self) -> bool:
        """Whether a row was decided as none or skipped, and not by hand: its decision hides its origin."""
        with self._database.read() as connection:
            return decisions.has_bare(connection)

    def marks(self, ids: Ids) -> dict[int, RowMarks]:
        """Return the marks of ``ids`` by row; rows without any are absent."""
        with self._database.read() as connection:
            return decisions.fetch_marks(connection, ids)

    def set_marks(
        self, row_id: int, *, unsure: bool | None = None, flag: bool | None = None, note: str | None = None
    ) -> RowMarks:
        """Change what is not None and return what the row has now. ValueError if there is no such row."""
        return self.mark_rows([row_id], unsure=unsure, flag=flag, note=note)[row_id]

    def mark_rows(
        self, row_ids: Ids, *, unsure: bool | None = None, flag: bool | None = None, note: str | None = None
    ) -> dict[int, RowMarks]:
        """Change what is not None for all of ``row_ids`` in one step and return what each has now.

        ValueError if there is no such row.
        """
        with self._database.write(durable=True) as connection:
            return decisions.set_marks(connection, row_ids, unsure=unsure, flag=flag, note=note)

    # --- undo and redo

    def undo(self, progress: Progress | None = None) -> Change | None:
        """Take back what the user did last, also in an earlier session; None if there is nothing.

        ``progress`` is told of rows, and not asked whether to go on: it is done whole.
        """
        # Without foreign keys, which double the time: what goes and what comes back are whole together.
        with self._database.write(durable=True, foreign_keys=False) as connection:
            return history.undo(connection, progress or SilentProgress())

    def redo(self, progress: Progress | None = None) -> Change | None:
        """Do again what was undone last; None if there is nothing, or something was done since.

        ``progress`` as for `undo`.
        """
        with self._database.write(durable=True, foreign_keys=False) as connection:
            return history.redo(connection, progress or SilentProgress())

    def undo_rows(self) -> int:
        """Return how many rows `undo` would change."""
        with self._database.read() as connection:
            return history.size(connection, undone=False)

    def redo_rows(self) -> int:
        """Return how many rows `redo` would change."""
        with self._database.read() as connection:
            return history.size(connection, undone=True)

    def undo_text(self) -> str:
        """Return what `undo` would take back, in a few words; empty if nothing."""
        with self._database.read() as connection:
            return history.text(connection, undone=False)

    def redo_text(self) -> str:
        """Return what `redo` would do again, in a few words; empty if nothing."""
        with self._database.read() as connection:
            return history.text(connection, undone=True)

    # --- random samples

    def create_audit(
        self,
        row_ids: Ids,
        seed: int,
        *,
        frame_ids: Ids | None = None,
        blind: bool = True,
        clear_ids: Ids = (),
    ) -> Audit:
        """Keep a random sample, so that claims about the whole table come from it alone; undoable.

        Args:
            row_ids: In the random order in which they were drawn.
            seed: What they were drawn with.
            frame_ids: The rows that they were drawn from; None: all rows with text that there are now.
            blind: Whether they are decided without seeing what the models say.
            clear_ids: Rows that become undecided again, in the same action.

        Raises:
            ValueError: There is no row, or one that is there twice or not in the frame.
        """
        with self._database.write(durable=True) as connection:
            return audits.create(
                connection, row_ids, seed, frame_ids=frame_ids, blind=blind, clear_ids=clear_ids
            )

    def audits(self) -> tuple[Audit, ...]:
        """Return all random samples, oldest first."""
        with self._database.read() as connection:
            return audits.list_all(connection)

    def audit_rows(self, audit_id: int) -> IdArray:
        """Return the rows (n,) of a sample in the order of the draw. KeyError if there is none."""
        with self._database.read() as connection:
            return audits.rows(connection, audit_id)

    def audit_frame(self, audit_id: int) -> IdArray:
        """Return the rows (n,) that a sample was drawn from, in file order. KeyError if there is none."""
        with self._database.read() as connection:
            return audits.frame(connection, audit_id)

    # --- other coders

    def add_coder(
        self,
        name: str,
        source: str,
        answers: Mapping[int, str | Sequence[str] | None],
        *,
        replaces: int | None = None,
    ) -> Coder:
        """Keep what somebody else answered, beside the user's own annotations; undoable.

        Args:
            name: Of the coder; "gold" for a column of right answers.
            source: Where the answers came from.
            answers: By row id a label's name, several, or None for none of these. A name that is no label is
                kept as it is, and counts as the label that bears it, as name or synonym, later on.
            replaces: A coder who is removed in the same moment; that is an action of its own.

        Raises:
            UserError: The name is taken or empty.
            ValueError: There is no answer, or one about a row that there is not.
        """
        return coders.add(self._database, name, source, answers, replaces=replaces)

    def remove_coder(self, coder_id: int) -> None:
        """Remove a coder and the answers; undoable. KeyError if there is none of that id."""
        with self._database.write(durable=True) as connection:
            coders.remove(connection, coder_id)

    def coders(self) -> tuple[Coder, ...]:
        """Return all coders but the user, oldest first."""
        with self._database.read() as connection:
            return coders.list_all(connection)

    def answers_of_others(self, row_id: int) -> list[tuple[str, frozenset[int | str]]]:
        """Return name and answer of every other coder who answered a row; answers as `coder_answers`."""
        with self._database.read() as connection:
            return coders.of_row(connection, row_id)

    def coder_answers(
        self, coder_id: int, *, origin: Origin | None = None
    ) -> dict[int, frozenset[int | str]]:
        """Return what a coder (0: the user) answered, by row in file order, without skipped rows.

        An answer holds the ids of labels in use and the names of others; it is empty for none of these.
        Of the user's answers those of ``origin`` alone, if given. KeyError if there is none of that id.
        """
        with self._database.read() as connection:
            return coders.answers(connection, coder_id, origin=origin)
