"""The tables of a project file.

Whatever changes here needs a step in `migrations`; a test holds both to the same result. There are no
triggers and no views: the program keeps everything in step itself and refuses files that bring their own.
"""

from typing import Final

import sqlalchemy as sa

APPLICATION_ID: Final = int.from_bytes(b"SCED")
"""Marks a SQLite file as ours (PRAGMA application_id)."""

metadata = sa.MetaData(
    naming_convention={
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
    }
)

Json = sa.JSON(none_as_null=True)

project = sa.Table(
    "project",
    metadata,
    sa.Column("id", sa.Integer, sa.CheckConstraint("id = 1", name="single"), primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("created_at", sa.Text, nullable=False),
    sa.Column("columns", Json, nullable=False),  # headers in the order of the file
    sa.Column("text_columns", Json, nullable=False),  # 0-based places among them
    sa.Column("label_set_id", sa.Integer, sa.ForeignKey("label_sets.id")),  # the active one
    sa.Column("searchable_to", sa.Integer, nullable=False, server_default="0"),  # last row in row_trigrams
    sa.Column("whole_table", sa.Boolean, nullable=False, server_default="0"),  # what scores knows its rows
    sa.Column("threshold", sa.Float),  # rows with a best probability below it are unsure; null: none are
    sa.Column("model", sa.Text),  # name or folder of what scores; null: nobody has chosen, the default
    sa.Column("model_chosen", sa.Boolean, nullable=False, server_default="0"),  # by a person
    sa.Column("search_form", sa.Text, nullable=False, server_default=""),  # of the texts in row_trigrams
)

imports = sa.Table(
    # One record for each finished import. Rows beyond the greatest last_row_id belong to an import that is
    # running or that broke off: nobody sees them, and opening the project removes them.
    "imports",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("source", Json, nullable=False),  # where the rows came from and how they were read
    sa.Column("rows", sa.Integer, nullable=False),
    sa.Column("blank", sa.Integer, nullable=False),
    sa.Column("duplicates", sa.Integer, nullable=False),  # texts that an earlier row has too
    sa.Column("last_row_id", sa.Integer, nullable=False),
    sa.Column("finished_at", sa.Text, nullable=False),
)

rows = sa.Table(
    # The id is 1 + the place in import order and never changes. Small columns come first, so that reading
    # them does not walk through long texts.
    "rows",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("text_hash", sa.LargeBinary, nullable=False),  # blake2b, 16 bytes
    sa.Column("length", sa.Integer, nullable=False),  # characters
    sa.Column("blank", sa.Boolean, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("cells", sa.Text, nullable=False),  # JSON list; see importing for what is left out
)
sa.Index("ix_rows_blank", rows.c.blank, sqlite_where=rows.c.blank == sa.true())  # the blank ones alone: few
text_hash_index = sa.Index("ix_rows_text_hash", rows.c.blank, rows.c.text_hash)
"""Made after the first import and not while it runs: that is faster."""

cell_types = sa.Table(
    # What the cells of rows were where they came from JSON: a letter a cell (core.tables.CellType). Rows that
    # follow each other with the same letters share a record; those of texts alone have none.
    "cell_types",
    metadata,
    sa.Column("first_row", sa.Integer, primary_key=True),
    sa.Column("last_row", sa.Integer, nullable=False),
    sa.Column("types", sa.Text, nullable=False),
    info={"since": 5},
)

labels = sa.Table(
    # Who a label is, over all renames. A label that is in no active set keeps its record and its annotations.
    "labels",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),  # the latest one
    sa.Column("active", sa.Boolean, nullable=False),  # is in the active label set
)

label_sets = sa.Table(
    "label_sets",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("labels", Json, nullable=False),  # snapshot of everything about its labels, in order
    sa.Column("multi_label", sa.Boolean, nullable=False),
    sa.Column("created_at", sa.Text, nullable=False),
    sa.UniqueConstraint("name", "version"),
)

annotations = sa.Table(
    "annotations",
    metadata,
    sa.Column("row_id", sa.Integer, sa.ForeignKey("rows.id"), primary_key=True),
    sa.Column(
        "decision",
        sa.Text,
        sa.CheckConstraint("decision IN ('label', 'none', 'skipped')", name="decision"),
        nullable=False,
    ),
    sa.Column("origin", sa.Text, nullable=False),
    sa.Column("decided_at", sa.Text, nullable=False),
    sa.Column("queue", sa.Text, nullable=False),
    sa.Index("ix_annotations_decision", "decision"),
)

annotation_labels = sa.Table(
    "annotation_labels",
    metadata,
    sa.Column(
        "row_id", sa.Integer, sa.ForeignKey("annotations.row_id", ondelete="CASCADE"), primary_key=True
    ),
    sa.Column("label_id", sa.Integer, sa.ForeignKey("labels.id"), primary_key=True),
    sa.Index("ix_annotation_labels_label_id", "label_id", "row_id"),
    sqlite_with_rowid=False,
)

marks = sa.Table(
    "marks",
    metadata,
    sa.Column("row_id", sa.Integer, sa.ForeignKey("rows.id"), primary_key=True),
    sa.Column("unsure", sa.Boolean, nullable=False),
    sa.Column("flag", sa.Boolean, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
)

runs = sa.Table(
    "runs",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("alias", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("fingerprint", sa.Text, nullable=False),
    sa.Column("labels", Json, nullable=False),  # snapshot in the order of the probability vectors
    sa.Column("labels_key", sa.Text, nullable=False),  # equal where the labels say the same to a model
    sa.Column("multi_label", sa.Boolean, nullable=False),
    sa.Column("created_at", sa.Text, nullable=False),
    sa.Column("finished_at", sa.Text),
    sa.Column("active", sa.Boolean, nullable=False),  # the one that is shown under its alias
    sa.Column("scored", sa.Integer, nullable=False),  # how many records it has in scores
    sa.Column("whole_table", sa.Boolean, nullable=False, server_default="0"),  # other rows were counted in
)

scores = sa.Table(
    # No foreign key on rows: removing the rows of an import that broke off would look through all scores
    # for each of them. `runs.add_scores` takes visible rows only.
    "scores",
    metadata,
    sa.Column("run_id", sa.Integer, sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("row_id", sa.Integer, primary_key=True),
    sa.Column("top", sa.Integer, nullable=False),  # 0-based place in the run's labels
    sa.Column("confidence", sa.Float, nullable=False),
    sa.Column("margin", sa.Float, nullable=False),
    sa.Column("none", sa.Float),  # probability that no label fits, where the model can say so
    sa.Column("probabilities", sa.LargeBinary, nullable=False),  # float32, little-endian, in label order
    sa.Index("ix_scores_top", "run_id", "top", "confidence", "row_id"),
    sa.Index("ix_scores_confidence", "run_id", "confidence", "row_id"),
    sa.Index("ix_scores_margin", "run_id", "margin", "row_id"),
    sa.Index("ix_scores_none", "run_id", "row_id", sqlite_where=sa.text("none >= 0.5")),  # few, or one label
)

model_versions = sa.Table(
    "model_versions",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("base", sa.Text, nullable=False),
    sa.Column("base_fingerprint", sa.Text, nullable=False),
    sa.Column("created_at", sa.Text, nullable=False),
    sa.Column("data_hash", sa.Text, nullable=False),
    sa.Column("train_rows", sa.Integer, nullable=False),
    sa.Column("held_out_rows", sa.Integer, nullable=False),
    sa.Column("settings", Json, nullable=False),
    sa.Column("seed", sa.Integer, nullable=False),
    sa.Column("metrics", Json, nullable=False),
    sa.Column("seconds", sa.Float, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),  # at most one is
    sa.Column("weights", sa.LargeBinary, nullable=False),  # safetensors; last, so that lists need not read it
    info={"since": 2},
    sqlite_autoincrement=True,  # a deleted version's number names no other one
)

actions = sa.Table(
    # What can be undone, and what was undone and can be done again. For what it touches an action holds the
    # other side: how things were before it or, once it is undone, how they were after it.
    "actions",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("done_at", sa.Text, nullable=False),
    sa.Column("undone", sa.Boolean, nullable=False),
    sa.Column("rows", sa.Integer, nullable=False),  # how many records it has in row_changes
    sa.Column("label_set_id", sa.Integer),  # null: untouched; 0: none
    sa.Column("version_id", sa.Integer),  # null: untouched; 0: none
    sa.Column("audit_id", sa.Integer),  # whose `removed` it turns
    sa.Column("coder_id", sa.Integer),  # whose `removed` it turns
    info={"since": 3},
    sqlite_autoincrement=True,
)

row_changes = sa.Table(
    # The other side of all that people say about a row; null where they say nothing.
    "row_changes",
    metadata,
    sa.Column("action_id", sa.Integer, primary_key=True),
    sa.Column("row_id", sa.Integer, primary_key=True),
    sa.Column("decision", sa.Text),
    sa.Column("origin", sa.Text),
    sa.Column("decided_at", sa.Text),
    sa.Column("queue", sa.Text),
    sa.Column("labels", sa.Text),  # ids with commas between them
    sa.Column("unsure", sa.Boolean),
    sa.Column("flag", sa.Boolean),
    sa.Column("note", sa.Text),
    info={"since": 3},
    sqlite_with_rowid=False,
)

audits = sa.Table(
    "audits",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("seed", sa.Integer, nullable=False),
    sa.Column("blind", sa.Boolean, nullable=False),
    sa.Column("created_at", sa.Text, nullable=False),
    sa.Column("removed", sa.Boolean, nullable=False),  # undone; goes for good with its action
    sa.Column("frame", sa.LargeBinary, nullable=False),  # a bit a row: what the sample was drawn from
    info={"since": 3},
    sqlite_autoincrement=True,
)

audit_rows = sa.Table(
    "audit_rows",
    metadata,
    sa.Column("audit_id", sa.Integer, sa.ForeignKey("audits.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("place", sa.Integer, primary_key=True),  # in the random order
    sa.Column("row_id", sa.Integer, nullable=False),
    info={"since": 3},
    sqlite_with_rowid=False,
)

coders = sa.Table(
    "coders",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("created_at", sa.Text, nullable=False),
    sa.Column("removed", sa.Boolean, nullable=False),  # goes for good with the action that removed it
    info={"since": 3},
    sqlite_autoincrement=True,
)

other_annotations = sa.Table(
    # What coders other than the user say. A label is known by its id as long as it is in use and by its
    # words otherwise, so that a rename and a merge carry over to it.
    "other_annotations",
    metadata,
    sa.Column("coder_id", sa.Integer, sa.ForeignKey("coders.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("row_id", sa.Integer, primary_key=True),
    sa.Column("label", sa.Text, primary_key=True),  # as the coder wrote it; empty: none of these
    sa.Column("label_id", sa.Integer),  # the label of that name when it was imported
    info={"since": 3},
    sqlite_with_rowid=False,
)

SEARCH_TABLE: Final = "row_trigrams"
"""The search index, made by `search` behind the work; a cache of ``rows.text`` that may be missing."""
FTS_TABLE: Final = "row_search"
"""What it was up to format 7, by SQLite's FTS5."""
