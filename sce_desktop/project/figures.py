"""What a project says without a window: evaluation, findings, suspected errors, duplicates, agreement."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.project.base import Base

if TYPE_CHECKING:
    from sce_desktop.controllers.findings_work import Answer
    from sce_desktop.tasks.evaluation.annotators import WithAnnotator
    from sce_desktop.tasks.evaluation.doubts import Doubts
    from sce_desktop.tasks.evaluation.quality import Quality
    from sce_desktop.tasks.insight.duplicates import CopyGroup
    from sce_desktop.tasks.insight.map import Method, RowMap


class Figures(Base):
    """A part of `Project`."""

    def evaluate(self, aliases: Sequence[str] | None = None, *, roll_up: bool = False) -> Quality:
        """Measure the models that have scored on your labels, on the audit sample and on gold labels.

        Args:
            aliases: Of the model ("sce") and the baselines; None: of all.
            roll_up: Count labels "Parent > Child" as their parents.
        """
        from sce_desktop.controllers.evaluate_work import evaluate

        names = list(aliases) if aliases is not None else self._aliases()
        found = evaluate(self, names, roll_up, progress=SilentProgress())
        if found is None:
            raise UserError(
                _("There is nothing to evaluate: the project has no labels, or no row with text.")
            )
        return found.quality

    def findings(
        self,
        column: str | None = None,
        *,
        over_time: bool = False,
        counts: bool = False,
        roll_up: bool = False,
        progress: Progress | None = None,
    ) -> Answer:
        """Estimate the share of every label in the table, with 95% confidence intervals from an audit sample.

        Args:
            column: Header of a column by whose values, or periods, the rows are told apart.
            over_time: It holds dates: by period.
            counts: Numbers of rows instead of shares.
            roll_up: Count labels "Parent > Child" as their parents.
            progress: Asked whether to go on.
        """
        from sce_desktop.controllers.findings_work import Wanted, look
        from sce_desktop.tasks.scoring.models import MAIN_ALIAS
        from sce_desktop.tasks.tables.columns import find_column

        watch = progress or SilentProgress()
        place = find_column(self.columns, column, watch) if column is not None else None
        run = self.active_run(MAIN_ALIAS)
        wanted = Wanted(
            view="time" if over_time else "shares" if place is None else "column",
            column=place,
            alias=MAIN_ALIAS if run is not None and run.scored else "",
            rolled=roll_up,
            counts=counts,
        )
        return look(self, wanted, None, progress=watch)

    def write_findings(self, findings: Answer, path: str | Path, *, overwrite: bool = False) -> None:
        """Write `findings` to a workbook (.xlsx) or a page (.html), with examples."""
        from sce_desktop.controllers.findings_work import write

        write(self, findings, Path(path), replace=overwrite, progress=SilentProgress())

    def label_errors(self, *, progress: Progress | None = None) -> Doubts:
        """Find labels that are probably wrong."""
        from sce_desktop.tasks.evaluation.doubts import doubts

        return doubts(self, self._vectors(), progress=progress or SilentProgress())

    def duplicates(self, similarity: float = 0.9, *, progress: Progress | None = None) -> list[CopyGroup]:
        """Return groups of rows with the same text, or nearly the same."""
        from sce_desktop.tasks.insight.duplicates import find_groups

        return find_groups(self, similarity, progress=progress or SilentProgress())

    def map(self, method: Method = "pca", *, seed: int = 0, progress: Progress | None = None) -> RowMap:
        """Lay out the rows that have a text vector on a plane: near rows are alike. Score first.

        Args:
            method: "pca", or "umap", which takes the extra [map].
            seed: Of what is drawn at random.
            progress: Asked whether to go on.
        """
        from sce_desktop.tasks.insight.map import map_rows

        return map_rows(self, self._vectors(), method, seed=seed, progress=progress or SilentProgress())

    def import_annotator(
        self, table: str | Path, name: str, *, key: str, column: str, progress: Progress | None = None
    ) -> int:
        """Keep the labels in a table as those of another annotator; return the number of rows."""
        from sce_desktop.tasks.evaluation.annotators import import_annotator

        watch = progress or SilentProgress()
        return import_annotator(self, Path(table), key, column, name, watch).coder.rows

    def agreement(self, *, progress: Progress | None = None) -> list[WithAnnotator]:
        """Compare every other annotator with you."""
        from sce_desktop.tasks.evaluation.annotators import agreements

        return agreements(self, progress or SilentProgress())
