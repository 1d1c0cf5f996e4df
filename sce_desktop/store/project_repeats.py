"""The face of a project, as far as the user's second answers and the times of labelling go."""

from __future__ import annotations

from collections.abc import Sequence

from sce_desktop.core.arrays import IdArray
from sce_desktop.store.annotations import repeats
from sce_desktop.store.annotations.repeats import Repeat
from sce_desktop.store.file.database import Database


class RepeatMethods:
    """A part of `Project`."""

    _database: Database

    def add_repeat(self, row_id: int, label_ids: Sequence[int] = ()) -> None:
        """Keep what the user answers the second time about a row labelled by hand; undoable.

        No label: none of these. The annotation stays as it is. ValueError if the row has no answer by hand,
        or a label is not in use.
        """
        with self._database.write(durable=True) as connection:
            repeats.add(connection, row_id, label_ids)

    def repeats(self) -> list[Repeat]:
        """Return the second answers of the user, oldest first."""
        with self._database.read() as connection:
            return repeats.list_all(connection)

    def repeatable_ids(self, least_after: int) -> IdArray:
        """Return the rows (n,) labelled by hand that may come again, oldest label first.

        They have not come again before, and ``least_after`` other rows have been labelled since.
        """
        with self._database.read() as connection:
            return repeats.repeatable(connection, least_after=least_after)

    def label_moments(self, since: str = "") -> list[tuple[str, bool]]:
        """Return when rows were decided by hand (ISO 8601, UTC) from ``since`` on, and whether answered.

        The others were skipped. In no particular order.
        """
        with self._database.read() as connection:
            return repeats.moments(connection, since=since)
