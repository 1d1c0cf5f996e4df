"""Project files whose schema somebody has changed: triggers, views, indexes, statistics."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.hostile.project_edits import Builder, schema_sql, sql

_TRIGGER: Final = "CREATE TRIGGER bad AFTER INSERT ON annotations BEGIN DELETE FROM annotations; END"
_VIEW: Final = "CREATE VIEW bad AS SELECT * FROM rows"
_LOOP: Final = (
    "CREATE VIEW {} AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
)


def _put(kind: str, name: str, text: str, root: int = 0) -> tuple[str, object]:
    return f"INSERT INTO sqlite_schema VALUES ('{kind}', '{name}', 'rows', {root}, ?)", text


def _in_schema(name: str, old: str, new: str) -> str:
    return f"UPDATE sqlite_schema SET sql = replace(sql, '{old}', '{new}') WHERE name = '{name}'"


def _rows_as_view(path: Path) -> None:
    """Put a view that never ends where the rows are."""
    schema_sql(
        "DELETE FROM sqlite_schema WHERE name IN ('rows', 'ix_rows_blank', 'ix_rows_text_hash')",
        _put("view", "rows", _LOOP.format("rows")),
    )(path)


SCHEMAS: Final[dict[str, Builder]] = {
    "trigger": sql(_TRIGGER),
    "trigger of type TRIGGER": schema_sql(_put("TRIGGER", "bad", _TRIGGER)),
    "trigger of type Trigger": schema_sql(_put("Trigger", "bad", _TRIGGER)),
    "trigger called a table": schema_sql(_put("table", "bad", _TRIGGER)),
    "view of type View": schema_sql(_put("View", "bad", _VIEW)),
    "view for rows without end": _rows_as_view,
    "virtual table with a comment": schema_sql(
        _put("table", "bad", "CREATE/**/VIRTUAL TABLE bad USING fts5(text, content=rows)")
    ),
    "virtual table of the file system": schema_sql(
        _put("table", "bad", "CREATE VIRTUAL TABLE bad USING fts3tokenize('simple')")
    ),
    "generated column": sql("ALTER TABLE marks ADD COLUMN more AS (hex(zeroblob(500000000)))"),
    "index of an expression": schema_sql(
        _in_schema("ix_rows_blank", "(blank)", "(hex(zeroblob(500000000)))")
    ),
    "index with another condition": schema_sql(
        _in_schema("ix_rows_blank", "WHERE blank = 1", "WHERE length(zeroblob(900000000))")
    ),
    "altered CHECK": schema_sql(
        _in_schema("marks", "note TEXT NOT NULL", "note TEXT NOT NULL CHECK (length(hex(zeroblob(5e8))))")
    ),
    "altered default": schema_sql(_in_schema("project", "DEFAULT ''0''", "DEFAULT (hex(zeroblob(5e8)))")),
    "extra table": sql("CREATE TABLE more (id INTEGER PRIMARY KEY)"),
    "shadow tables with content": schema_sql(
        _put(
            "table", "row_search_content", "CREATE TABLE 'row_search_content'(id INTEGER PRIMARY KEY, c0)", 5
        )
    ),
    "search index of another table": sql(
        "DROP TABLE row_trigrams", "CREATE VIRTUAL TABLE row_search USING fts5(text, content='annotations')"
    ),
    "search index garbled": sql("UPDATE row_trigrams SET rows = randomblob(300)"),
    "search index of another shape": sql("UPDATE row_trigrams SET rows = zeroblob(0)"),
    "two tables, one root": schema_sql(
        "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'rows')"
        " WHERE name = 'scores'"
    ),
    "schema of a megabyte": schema_sql(
        _in_schema("marks", "note TEXT", "note TEXT /*' || hex(zeroblob(500000)) || '*/")
    ),
    "expression a thousand deep": schema_sql(
        (
            "UPDATE sqlite_schema SET sql = ? WHERE name = 'ix_rows_blank'",
            f"CREATE INDEX ix_rows_blank ON rows (blank) WHERE {'(' * 5000}blank{')' * 5000}",
        )
    ),
    "bad byte in a name": schema_sql(
        "UPDATE sqlite_schema SET name = CAST(x'6d61ff6b73' AS TEXT) WHERE name = 'marks'"
    ),
    "statistics that lie": sql(
        "ANALYZE", "UPDATE sqlite_stat1 SET stat = '1000000000 1000000000 1000000000', idx = 'nothing'"
    ),
    "statistics of another shape": schema_sql(
        _put("table", "sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat CHECK (length(zeroblob(9e8))))")
    ),
    "numbers used up": sql("UPDATE sqlite_sequence SET seq = 9223372036854775807"),
    "number a text": sql("UPDATE sqlite_sequence SET seq = 'x'"),
    "numbers of another table": sql("INSERT INTO sqlite_sequence VALUES ('nothing', -5)"),
}
