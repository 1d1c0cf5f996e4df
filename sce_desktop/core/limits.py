"""Hard bounds on what is read: each is far beyond the tables of people, and says why it is there.

What is large but honest is no matter of these: it is estimated, compared with what is free and reported
(`tasks.tables.room`). These stop a file that is small and asks for gigabytes or hours.
"""

from __future__ import annotations

from typing import Final

MAX_COLUMNS: Final = 32_768
"""Columns of a table. Every one costs memory in every row; an Excel sheet has half as many."""

MAX_KEYS: Final = MAX_COLUMNS
"""Different keys of the objects of a JSON file, which are its columns."""

MAX_LINE: Final = 1 << 25
"""Characters of a line. It is in memory several times over, four bytes each; a novel has a million."""

MAX_CELL: Final = 1 << 24
"""Characters of a quoted cell of several lines: a closing quote is not looked for beyond."""

MAX_SHEET_CELL: Final = 1 << 25
"""Characters of a cell of a workbook. Excel's own have 32,767."""

MAX_LABELS: Final = 10_000
"""Labels of a file, a column or a project. Every row has a score for each; people choose from 200."""

MAX_SYNONYMS: Final = 1000
"""Synonyms of a label, each of which the model reads."""

MAX_LABEL_TEXT: Final = 100_000
"""Characters of a label's name, description or synonym. The model reads the first few hundred."""

MAX_LABELS_FILE: Final = 1 << 24
"""Characters of a file of labels, which is read at once: 10,000 labels of 1,600 characters."""

FREE_UNPACKED: Final = 1 << 27
"""Bytes that a gzip file may unpack to, whatever its size is."""

MAX_RATIO: Final = 200
"""Times its size that a larger one may unpack to. Tables of people reach 60, log files 100."""

FREE_WORKBOOK: Final = 1 << 26
"""Bytes that a workbook may unpack to, whatever its size is: reading its XML takes a second for 20 MB."""

MAX_WORKBOOK_RATIO: Final = 100
"""Times its size that a larger one may unpack to. Those of people reach 60."""

MAX_SHARED: Final = 1 << 29
"""Bytes of memory that the shared texts of a workbook may take, whatever its size is."""

SHARED_RATIO: Final = 40
"""Times its size that those of a larger workbook may take."""

FREE_TEXTS: Final = 500_000
"""Shared texts of a workbook beside those that its sheets have room to name. Writers leave out the rest."""

MAX_TOKEN: Final = 1 << 22
"""Bytes of a tag or a comment of XML, which a parser looks through again with each piece that comes."""

MAX_PARTS: Final = 1 << 22
"""Bytes of the directory of a zip file. A workbook with 10,000 pictures has 1 MB."""

MAX_SHEETS: Final = 10_000
"""Sheets of a workbook, each of which may have to be looked at."""

MAX_FORMAT: Final = 1000
"""Characters of a number format. Excel's own have 255."""

MAX_NUMBER: Final = 400
"""Characters of a number in a workbook. Doubles have at most 309 digits before the point."""

MAX_ELEMENTS: Final = 4_000_000
"""Elements of a part of a workbook that are no filled cell, beside one for each byte of the file."""

ELEMENTS_A_CELL: Final = 50
"""Elements that a filled cell may have: each run of a formatted text has several."""

MAX_SHEET_AREA: Final = 10_000_000
"""Cells, blank ones too, of a sheet that has to be loaded whole (xls, xlsb, ods)."""

MAX_CHUNK_TEXT: Final = 1 << 26
"""Characters of the rows that are handed on at once."""

MAX_PAGE: Final = 1 << 27
"""Bytes that a page of a parquet file may unpack to, whatever it takes. Writers make pages of 1 MB."""

FREE_REPEATED: Final = 4 << 30
"""Bytes of text that the rows of a parquet file may repeat, whatever its size is."""

MAX_ITEMS: Final = 100_000
"""Items of the lists of a column of parquet, on average: long vectors have a few thousand."""

MAX_NESTED: Final = 1 << 26
"""Bytes of the lists and structures of a thousand rows; what is shown of them takes twenty times that."""

MAX_DEPTH: Final = 50
"""Lists and structures within each other."""

FREE_CELLS: Final = 500_000_000
"""Cells, empty ones too, that a parquet file may have, whatever its size is: it stores none of a column
of nothing, and a project stores each."""

CELLS_A_BYTE: Final = 100
"""Cells that a larger one may have for each of its bytes."""
