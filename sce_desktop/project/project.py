"""`sce_desktop.Project`: the parts put together, and how a project begins and ends."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sce_desktop.core.annotations import Label
from sce_desktop.core.labels import clean_labels
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.tables import TableOptions
from sce_desktop.project.figures import Figures
from sce_desktop.project.labelling import Labelling
from sce_desktop.project.models import Modelling

if TYPE_CHECKING:
    from sce_desktop.tasks.tables.export import Which


class Project(Labelling, Modelling, Figures):
    """A project file that is open; a context manager that closes it.

    >>> labels = ["Late", "Lost"]
    >>> with Project.from_table("parcels.sce", "parcels.csv", text="message", labels=labels) as project:
    ...     project.score()
    ...     for row in project.rows(project.queue("diverse", 10)):
    ...         project.label(row.id, "Late")
    ...     project.finetune(use=True)
    ...     project.score()
    ...     project.export("labelled.csv")

    Rows are named by their numbers, as the window shows them; labels by their names. What people label or
    edit is on the disk when the method returns, and `undo` takes it back. Every method raises `UserError` in
    one sentence where the disk is full, the file is damaged, or what is asked cannot be done; work that takes
    long reports to ``progress``, which may cancel it.
    """

    @classmethod
    def from_table(
        cls,
        path: str | Path,
        table: str | Path,
        *,
        text: str | Sequence[str],
        gold: str | None = None,
        gold_as: Literal["annotations", "gold"] = "annotations",
        labels: Sequence[str | Label] = (),
        multi_label: bool = False,
        restore: bool = False,
        overwrite: bool = False,
        options: TableOptions | None = None,
        progress: Progress | None = None,
    ) -> Project:
        """Make a project of a table, or of a file of another annotation tool, and open it.

        Args:
            path: The new project.
            table: CSV, TSV, XLSX, Parquet, JSON Lines; Label Studio, Doccano, Argilla, QDA-XML.
            text: Header of the text column, or of several, which are joined by line breaks.
            gold: Header of a column of labels.
            gold_as: They become your annotations, or gold labels for evaluation.
            labels: The label set.
            multi_label: A row may have several labels, or none.
            restore: Restore annotations from an export of ours.
            overwrite: Replace a file that is there.
            options: How to read the table.
            progress: Told of rows.
        """
        from sce_desktop.tasks.tables.tables import import_table

        import_table(
            Path(path),
            Path(table),
            text_columns=[text] if isinstance(text, str) else list(text),
            gold_column=gold,
            as_gold=gold_as == "gold",
            take_back=restore or None,
            labels=clean_labels(labels) if labels else (),
            multi_label=multi_label,
            options=options,
            overwrite=overwrite,
            progress=progress or SilentProgress(),
        ).close()
        return cls.open(path)

    def add_table(
        self, table: str | Path, *, options: TableOptions | None = None, progress: Progress | None = None
    ) -> int:
        """Add the rows of a table with the same columns; return how many."""
        from sce_desktop.tasks.tables.tables import append_table

        return append_table(self, Path(table), options=options, progress=progress or SilentProgress()).rows

    def export(
        self,
        path: str | Path,
        *,
        format: str | None = None,
        only: Which = "all",
        threshold: float | None = None,
        final: bool = False,
        overwrite: bool = False,
        progress: Progress | None = None,
    ) -> int:
        """Write rows to a table, or to a file of another annotation tool; return the number of rows.

        Args:
            path: The file; its ending sets the kind of table.
            format: label-studio, doccano, argilla, huggingface, qda-xml or qdc; None: a table.
            only: all, labelled, unlabelled or flagged.
            threshold: Confidence threshold; None: the project's own.
            final: Write the final labels too.
            overwrite: Replace a file that is there.
            progress: Told of rows; what a format does not keep is a warning.
        """
        from sce_desktop.tasks.tables.replaceable import check_export

        watch = progress or SilentProgress()
        target = Path(path)
        if format is not None:
            from sce_desktop.tasks.tables.exchange import check_exchange, export_exchange

            replace = check_exchange(target, format, force=overwrite)
            return export_exchange(self, target, format, only=only, overwrite=replace, progress=watch)
        from sce_desktop.tasks.tables.export import export_table

        replace = check_export(self, target, force=overwrite)
        return export_table(
            self, target, only=only, threshold=threshold, final=final, overwrite=replace, progress=watch
        )
