"""What the import dialog tells before anything is imported: numbers, warnings, problems by line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QListWidget,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.core.languages import LEAST_SHARE, READS_ALL, Reads, language_name, language_names, listed
from sce_desktop.core.types import TableProblem
from sce_desktop.core.words import plural
from sce_desktop.ui.label_edits import rows
from sce_desktop.ui.theme import SPACE_S, SPACE_XS, px, set_role
from sce_desktop.ui.words import isolated

if TYPE_CHECKING:
    from sce_desktop.tasks.scan import TableScan

METHOD = "Scripts are counted in every row; languages are estimated from a sample of rows."
_NAMED = 5
_PROBLEMS_SHOWN = 4
MOST_LABELS = 200  # more than people can choose from


def sentences(
    scan: TableScan, *, append: bool, lists: bool = True, model: str = "", reads: Reads = READS_ALL
) -> list[tuple[str, str]]:
    """What there is to say about a table, each with "muted" or "warn".

    ``lists`` are taken apart; ``model`` is to score the rows, and ``reads`` what it reads.
    """
    told: list[tuple[str, str]] = [(note, "muted") for note in scan.notes]
    if append and scan.known:
        new = scan.rows - scan.blank - scan.known
        told.append(
            (
                f"{new:,} new; {scan.known:,} with a text that the project has already (added too).",
                "muted" if new else "warn",
            )
        )
    elif append:
        told.append(("No text of these is in the project yet.", "muted"))
    if scan.blank:
        told.append((f"{rows(scan.blank)} without text: kept, never scored.", "warn"))
    if scan.duplicates:
        verb = "repeats" if scan.duplicates == 1 else "repeat"
        told.append((f"{rows(scan.duplicates)} {verb} the text of an earlier one: all kept.", "muted"))
    told += [(sentence, "warn") for sentence in _unread(scan, model, reads)]
    if scan.lists and lists:
        told.append(
            ("The label column holds lists: each name is a label, and a row may have several.", "muted")
        )
    elif scan.lists:
        told.append(("The label column holds lists: each of them is one label as it stands.", "warn"))
    if scan.label_values > MOST_LABELS:
        told.append(
            (f"The label column has {scan.label_values:,} different values: is it one of labels?", "warn")
        )
    elif scan.labels:
        named = ", ".join(f"“{isolated(name)}” {count:,}" for name, count in scan.labels[:_NAMED])
        more = f" and {scan.label_values - _NAMED} more" if scan.label_values > _NAMED else ""
        told.append((f"{plural(scan.label_values, 'label')}: {named}{more}.", "muted"))
    return told


def _unread(scan: TableScan, model: str, reads: Reads) -> list[str]:
    """Say which rows and labels ``model`` cannot read."""
    told = []
    if scan.foreign and reads.scripts is not None:
        told.append(f"{rows(scan.foreign)} in {listed(scan.scripts)} script, which {model} cannot read.")
    found = scan.choice.languages
    unread = reads.unread_latin(found)
    if (share := sum(unread.values())) >= LEAST_SHARE:
        many = f"About {share:.0%} of the rows are" if share < 0.99 else "The rows are"
        told.append(f"{many} in {language_names(unread)}, which {model} cannot read.")
    if not reads.reads_labels(found):
        told.append(f"The labels are in {language_name(found.labels)}, which {model} cannot read.")
    return told


class FactsPane(QWidget):
    """Below the preview."""

    quotesAsText = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.headline = QLabel()
        self.headline.setAccessibleName("Number of rows")
        set_role(self.headline, "title")
        self.bar = QProgressBar(textVisible=False)
        self.bar.setAccessibleName("Counting")
        self.bar.setMaximumWidth(px(180))
        head = QHBoxLayout()
        head.addWidget(self.headline)
        head.addWidget(self.bar)
        head.addStretch()
        self.lines = QVBoxLayout()
        self.lines.setSpacing(px(SPACE_XS))
        self.problem_words = QLabel()
        self.problem_words.setAccessibleName("Problems in the table")
        set_role(self.problem_words, "warn")
        self.quotes_button = QPushButton("Take quotes as plain text")
        self.quotes_button.setAccessibleName("Take quotes as plain text")
        self.quotes_button.clicked.connect(self.quotesAsText)
        self.problems = QListWidget()
        self.problems.setAccessibleName("Problems by line")
        self.problems.setSelectionMode(QListWidget.SelectionMode.NoSelection)
        problem_head = QHBoxLayout()
        problem_head.addWidget(self.problem_words)
        problem_head.addStretch()
        problem_head.addWidget(self.quotes_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(px(SPACE_S))
        layout.addLayout(head)
        layout.addLayout(self.lines)
        layout.addLayout(problem_head)
        layout.addWidget(self.problems)
        self.clear()

    def clear(self) -> None:
        """Say nothing."""
        self.headline.setText("")
        self.bar.hide()
        self._say([])
        self._show_problems((), 0)

    def show_counting(self, estimated: int | None, problems: Sequence[TableProblem], count: int) -> None:
        """Show what the head of the table told, and that the rest is being counted."""
        self.headline.setText("Counting…" if estimated is None else f"About {rows(estimated)}, counting…")
        self.bar.setRange(0, 0)
        self.bar.show()
        self._say([])
        self._show_problems(problems, count)

    def show_progress(self, done: int, total: int | None) -> None:
        """Show how far counting is."""
        if total:
            self.bar.setRange(0, 1000)
            self.bar.setValue(min(1000, round(1000 * done / total)))

    def show_scan(self, scan: TableScan, *, append: bool, lists: bool, model: str, reads: Reads) -> None:
        """Show what was counted."""
        self.bar.hide()
        self.headline.setText(rows(scan.rows))
        self._say(sentences(scan, append=append, lists=lists, model=model, reads=reads))
        self._show_problems(scan.problems, scan.problem_count)

    def show_failure(self, sentence: str) -> None:
        """Show why the table could not be counted to its end."""
        self.bar.hide()
        self.headline.setText("")
        self._say([(sentence, "warn")])

    def texts(self) -> list[str]:
        """The sentences shown, for tests and screen readers."""
        return [label.text() for label in self._labels()]

    def _labels(self) -> list[QLabel]:
        items = (self.lines.itemAt(place) for place in range(self.lines.count()))
        return [label for item in items if item is not None and isinstance(label := item.widget(), QLabel)]

    def _say(self, told: list[tuple[str, str]]) -> None:
        for label in self._labels():
            self.lines.removeWidget(label)
            label.deleteLater()
        for sentence, role in told:
            label = QLabel(sentence, wordWrap=True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setAccessibleName(sentence)
            if sentence.endswith("cannot read."):
                label.setToolTip(METHOD)
                label.setAccessibleDescription(METHOD)
            set_role(label, role)
            self.lines.addWidget(label)

    def _show_problems(self, problems: Sequence[TableProblem], count: int) -> None:
        self.problems.clear()
        self.problems.addItems([f"Line {problem.line:,}: {problem.message}" for problem in problems])
        if count > len(problems) > 0:
            self.problems.addItem(f"and {count - len(problems):,} more")
        height = self.problems.sizeHintForRow(0) if self.problems.count() else 0
        self.problems.setFixedHeight(height * min(self.problems.count(), _PROBLEMS_SHOWN) + px(4))
        self.problem_words.setText(plural(count, "problem"))
        quotes = any("quote" in problem.message.lower() for problem in problems)
        self.problem_words.setVisible(count > 0)
        self.problems.setVisible(count > 0)
        self.quotes_button.setVisible(quotes)
