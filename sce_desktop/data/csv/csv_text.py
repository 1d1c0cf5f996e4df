"""Rows as the text of a csv file, wherever that is made: a worker process hands over text, not cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from sce_desktop.core.giving_way import give_way, giving_way
from sce_desktop.core.tables import Cell
from sce_desktop.data.csv.excel_safe import PREFIX, is_formula, protect
from sce_desktop.data.json.json_values import Missing

_LOOKED_AT = 50  # cells by which it is judged whether a column has few distinct ones

OutCell = Cell | int | float | Missing


@dataclass(frozen=True, slots=True)
class CSVText:
    """Whole lines of a csv file. ``protected``: cells that Excel would have taken for formulas."""

    text: str
    rows: int
    width: int  # cells per row
    protected: int = 0

    def __len__(self) -> int:
        return self.rows


class CSVLines:
    """Makes lines of csv of rows; ``protected`` counts the cells that Excel would have taken for formulas.

    Quotes are put where they are needed. (The csv module takes longer, and leaves carriage returns
    without quotes where lines end in line feeds.)
    """

    def __init__(self, delimiter: str, *, excel_safe: bool = False) -> None:
        self.delimiter = delimiter
        self.excel_safe = excel_safe
        self.protected = 0

    def lines(self, rows: Iterable[Sequence[OutCell]]) -> Iterator[str]:
        """Yield each row with its line feed."""
        delimiter, field = self.delimiter, self._field()
        for row in giving_way(rows):
            line = delimiter.join(map(field, row))
            # A single empty cell is quoted: a blank line is no row.
            yield f"{line}\n" if line else '""\n'

    def fields(self, cells: Sequence[OutCell]) -> list[str]:
        """Return each cell as it stands between delimiters; of few distinct ones each is made once."""
        give_way()
        field = self._field()
        if not self.excel_safe and len(set(cells[:_LOOKED_AT])) <= _LOOKED_AT // 2 < len(cells):
            made = {cell: field(cell) for cell in set(cells)}
            return list(map(made.__getitem__, cells))
        found = None if self.excel_safe else self._texts(cells)
        return list(map(field, cells)) if found is None else found

    def _texts(self, cells: Sequence[OutCell]) -> list[str] | None:
        """Return the fields of texts, most of which need no look one by one; None where they do."""
        try:
            whole = "".join(cells)  # type: ignore[arg-type]
        except TypeError:  # not all are texts
            return None
        if PREFIX in whole:
            return None
        texts: list[str] = list(cells)  # type: ignore[arg-type]
        signs = [sign for sign in ('"', self.delimiter, "\n", "\r") if sign in whole]
        if signs[1:] or signs == ['"']:
            search = re.compile("|".join(map(re.escape, signs))).search
            return ['"' + text.replace('"', '""') + '"' if search(text) else text for text in texts]
        for sign in signs:  # one, and no quote
            return [f'"{text}"' if sign in text else text for text in texts]
        return texts

    def _field(self) -> Callable[[OutCell], str]:
        delimiter, excel_safe = self.delimiter, self.excel_safe

        def field(cell: OutCell) -> str:
            if cell is None or isinstance(cell, Missing):
                return ""
            if not isinstance(cell, str):
                return f"{cell}" if isinstance(cell, int) else f"{float(cell):.9g}"
            if cell.startswith(PREFIX):
                cell = protect(cell)
            elif excel_safe and is_formula(cell):
                self.protected += 1
                cell = protect(cell)
            if '"' in cell or delimiter in cell or "\n" in cell or "\r" in cell:
                return '"' + cell.replace('"', '""') + '"'
            return cell

        return field

    def text(self, rows: Sequence[Sequence[OutCell]]) -> CSVText:
        """Return rows, all of one length, as one text; they alone count in its ``protected``."""
        before = self.protected
        text = "".join(self.lines(rows))
        return CSVText(text, len(rows), len(rows[0]) if rows else 0, self.protected - before)
