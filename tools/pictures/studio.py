"""The program's own window in a home of its own, ways to the states that are shown, and a camera."""

from __future__ import annotations

import csv
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PySide6.QtWidgets import QDialog, QWidget

    from sce_desktop.ui.kit.theme import Mode

PATIENCE_S = 300.0
SCALED = "QT_SCALE_FACTOR"


class Finished(Exception):  # noqa: N818 - no error: the rest of the scene is not asked for
    """All the pictures that the studio was to make are there."""


class Studio:
    """The program's own window in a home of its own, and a camera."""

    def __init__(self, folder: Path, home: Path, ending: str, *, only: Sequence[str] | None = None) -> None:
        from sce_desktop import paths
        from sce_desktop.app import make_application, make_window
        from sce_desktop.controllers.controllers import Controllers
        from sce_desktop.controllers.jobs import WorkerQueues
        from sce_desktop.log import start_log
        from sce_desktop.settings import Settings
        from sce_desktop.ui.kit.appearance import Theme

        self.folder, self.home, self.ending, self.only = folder, home, ending, only
        self._left = set(only or ())
        start_log(paths.log_file())
        self.app = make_application()
        self.workers = WorkerQueues()
        self.theme = Theme(self.app, "light")
        self.controllers = Controllers(self.workers, Settings.load())
        self.window = make_window(self.controllers, self.theme)
        self.window.resize(1280, 800)
        self.window.show()
        self.controllers.projects.warm_up()

    def close(self) -> None:
        """End the window as its button does."""
        self.window.close()
        self.until(lambda: not self.window.isVisible())
        self.window.deleteLater()
        self.rest(0.05)
        for worker in self.workers:
            worker.close()

    def until(self, ready: Callable[[], object]) -> None:
        """Let the window live until ``ready``.

        As in a loop of the application, what is to be deleted later goes: `processEvents` alone lets it stay,
        and a dialog that was closed would lie in the next pictures.

        Raises:
            TimeoutError: It takes too long.
        """
        from PySide6.QtTest import QTest

        end = time.monotonic() + PATIENCE_S
        while not ready():
            if time.monotonic() > end:
                raise TimeoutError("the window does not become what the picture shows")
            QTest.qWait(5)

    def rest(self, seconds: float = 0.5) -> None:
        """Let the window settle."""
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() > end)

    def shot(
        self,
        name: str,
        dialog: QWidget | None = None,
        *,
        rest: float = 0.4,
        modes: Sequence[Mode] = ("light", "dark"),
    ) -> None:
        """Take a picture in light and in dark, or in ``modes``; ``dialog`` lies over the window.

        Of the pictures that the studio is to make ``only``, those in light, whose names say no theme.

        Raises:
            Finished: This was the last of those.
        """
        from PySide6.QtGui import QColor, QPainter

        from sce_desktop.ui.kit.theme import tokens

        if self.only is not None and name not in self.only:
            return
        for mode in modes if self.only is None else modes[:1]:
            self.theme.set_mode(mode)
            self.rest(rest)
            picture = self.window.grab()
            if dialog is not None:
                painter = QPainter(picture)
                place = self.window.rect()
                painter.fillRect(place, QColor(0, 0, 0, 70))
                corner = place.center() - dialog.rect().center()
                painter.drawPixmap(corner, dialog.grab())
                painter.setPen(QColor(tokens().line))  # the frame that a window manager would give
                painter.drawRect(dialog.rect().translated(corner).adjusted(-1, -1, 0, 0))
                painter.end()
            scale = os.environ.get(SCALED, "1")
            sized = "" if scale == "1" else f"-{float(scale) * 100:.0f}"
            themed = "" if self.only is not None else f"-{mode}"
            file = self.folder / f"{name}{themed}{sized}.{self.ending}"
            # Without loss either way: the best quality of webp, the strongest compression of png.
            if not picture.save(str(file), quality=100 if self.ending == "webp" else 0):
                raise OSError(f"{file} cannot be written")
            print(f"{file}  {file.stat().st_size / 1000:.0f} kB", flush=True)
        self.theme.set_mode("light")
        self._left.discard(name)
        if self.only is not None and not self._left:
            raise Finished

    # --- ways to a state -----------------------------------------------------------------------------------

    def table(self, name: str, texts: Sequence[str]) -> Path:
        """Write a table of texts."""
        path = self.home / name
        with path.open("w", encoding="utf-8", newline="") as file:
            rows = ((f"T-{4000 + n}", text) for n, text in enumerate(texts))
            csv.writer(file).writerows([("ticket", "message"), *rows])
        return path

    @contextmanager
    def importing(self, path: Path) -> Iterator[QDialog]:
        """Show the import dialog of a table, read and counted."""
        from sce_desktop.ui.transfer.import_dialog import ImportDialog

        self.window.open_path(path)
        dialog = self.window.findChildren(ImportDialog)[-1]
        self.until(lambda: dialog.unread.text() or dialog.reader.scan is not None)
        self.rest(0.2)
        yield dialog
        dialog.reject()
        self.rest(0.1)

    def open_table(self, path: Path, labels: Sequence[str] = ()) -> None:
        """Import a table and give it labels."""
        from sce_desktop.core.annotations import Label

        before = self.controllers.workspace.project
        with self.importing(path) as dialog:
            dialog.accept()
        self.until(lambda: self.controllers.workspace.project not in (None, before))
        if labels:
            self.controllers.edits.set_labels([Label(name) for name in labels])
        self.until(
            lambda: (
                self.controllers.workspace.counts is not None
                and not self.controllers.workspace.workers.reads.busy
            )
        )

    def score(self) -> None:
        """Score every row."""
        self.controllers.scorer.score()
        self.until(lambda: self.controllers.scorer.job is None)
        self.window.strip.hide()
        self.rest()

    def sample(self) -> None:
        """Open the sample with scores, and some rows decided as an analyst would."""
        from sce_desktop.core.annotations import Decision

        controllers = self.controllers
        controllers.projects.open_sample()
        self.until(
            lambda: (
                controllers.workspace.project is not None
                and controllers.workspace.project.name == "Parcel feedback"
            )
        )
        self.rest()
        self.until(lambda: controllers.scorer.ready)
        controllers.scorer.score()
        self.until(
            lambda: (
                controllers.scorer.job is None and controllers.workspace.runs and controllers.workspace.counts
            )
        )
        assert controllers.workspace.project is not None
        tops = controllers.workspace.project.run_arrays(controllers.workspace.runs[0].id)
        for row_id, top, confidence in list(zip(*(part.tolist() for part in tops[:3]), strict=True))[:60]:
            if confidence > 0.8 and row_id % 5:
                controllers.edits.decide(
                    [row_id], Decision.LABEL, [controllers.workspace.labels[top].id or 0]
                )
        controllers.edits.set_marks([9], flag=True)
        controllers.navigation.set_current_row(12)
        self.rest(1)
        self.window.strip.hide()

    def bring(self, title: str) -> Any:
        """Show the panel ``title`` below, and return it."""
        dock = self.window.docks[title]
        dock.bring()
        self.rest(1)
        return dock.build()

    def decide_rightly(self, row_ids: Sequence[int]) -> None:
        """Give rows of the sample the labels that its own column says."""
        from sce_desktop.core.annotations import Decision

        controllers, project = self.controllers, self.controllers.workspace.project
        assert project is not None
        gold = project.columns.index("gold")
        ids = {label.name: label.id or 0 for label in controllers.workspace.labels}
        for row in project.rows(row_ids):
            given = [ids[name] for name in (row.cells[gold],) if name in ids]
            if row.text:
                controllers.edits.decide([row.id], Decision.LABEL if given else Decision.NONE, given)
