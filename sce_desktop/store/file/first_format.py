"""The first format of a project file, as it was shipped. Never edit: every later format starts from here."""

from typing import Final

SQL: Final = """
CREATE TABLE imports (
    id INTEGER NOT NULL,
    source JSON NOT NULL,
    rows INTEGER NOT NULL,
    blank INTEGER NOT NULL,
    duplicates INTEGER NOT NULL,
    last_row_id INTEGER NOT NULL,
    finished_at TEXT NOT NULL,
    CONSTRAINT pk_imports PRIMARY KEY (id)
);

CREATE TABLE rows (
    id INTEGER NOT NULL,
    text_hash BLOB NOT NULL,
    length INTEGER NOT NULL,
    blank BOOLEAN NOT NULL,
    text TEXT NOT NULL,
    cells TEXT NOT NULL,
    CONSTRAINT pk_rows PRIMARY KEY (id)
);

CREATE INDEX ix_rows_blank ON rows (blank) WHERE blank = 1;

CREATE INDEX ix_rows_text_hash ON rows (blank, text_hash);

CREATE TABLE labels (
    id INTEGER NOT NULL,
    name TEXT NOT NULL,
    active BOOLEAN NOT NULL,
    CONSTRAINT pk_labels PRIMARY KEY (id)
);

CREATE TABLE label_sets (
    id INTEGER NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    labels JSON NOT NULL,
    multi_label BOOLEAN NOT NULL,
    created_at TEXT NOT NULL,
    CONSTRAINT pk_label_sets PRIMARY KEY (id),
    CONSTRAINT uq_label_sets_name UNIQUE (name, version)
);

CREATE TABLE runs (
    id INTEGER NOT NULL,
    alias TEXT NOT NULL,
    kind TEXT NOT NULL,
    model TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    labels JSON NOT NULL,
    labels_key TEXT NOT NULL,
    multi_label BOOLEAN NOT NULL,
    created_at TEXT NOT NULL,
    finished_at TEXT,
    active BOOLEAN NOT NULL,
    scored INTEGER NOT NULL,
    CONSTRAINT pk_runs PRIMARY KEY (id)
);

CREATE TABLE project (
    id INTEGER NOT NULL CONSTRAINT ck_project_single CHECK (id = 1),
    name TEXT NOT NULL,
    created_at TEXT NOT NULL,
    columns JSON NOT NULL,
    text_columns JSON NOT NULL,
    label_set_id INTEGER,
    searchable_to INTEGER DEFAULT '0' NOT NULL,
    CONSTRAINT pk_project PRIMARY KEY (id),
    CONSTRAINT fk_project_label_set_id FOREIGN KEY(label_set_id) REFERENCES label_sets (id)
);

CREATE TABLE annotations (
    row_id INTEGER NOT NULL,
    decision TEXT NOT NULL
        CONSTRAINT ck_annotations_decision CHECK (decision IN ('label', 'none', 'skipped')),
    origin TEXT NOT NULL,
    decided_at TEXT NOT NULL,
    queue TEXT NOT NULL,
    CONSTRAINT pk_annotations PRIMARY KEY (row_id),
    CONSTRAINT fk_annotations_row_id FOREIGN KEY(row_id) REFERENCES rows (id)
);

CREATE INDEX ix_annotations_decision ON annotations (decision);

CREATE TABLE marks (
    row_id INTEGER NOT NULL,
    unsure BOOLEAN NOT NULL,
    flag BOOLEAN NOT NULL,
    note TEXT NOT NULL,
    CONSTRAINT pk_marks PRIMARY KEY (row_id),
    CONSTRAINT fk_marks_row_id FOREIGN KEY(row_id) REFERENCES rows (id)
);

CREATE TABLE scores (
    run_id INTEGER NOT NULL,
    row_id INTEGER NOT NULL,
    top INTEGER NOT NULL,
    confidence FLOAT NOT NULL,
    margin FLOAT NOT NULL,
    none FLOAT,
    probabilities BLOB NOT NULL,
    CONSTRAINT pk_scores PRIMARY KEY (run_id, row_id),
    CONSTRAINT fk_scores_run_id FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);

CREATE INDEX ix_scores_margin ON scores (run_id, margin, row_id);

CREATE INDEX ix_scores_confidence ON scores (run_id, confidence, row_id);

CREATE INDEX ix_scores_top ON scores (run_id, top, confidence, row_id);

CREATE TABLE annotation_labels (
    row_id INTEGER NOT NULL,
    label_id INTEGER NOT NULL,
    CONSTRAINT pk_annotation_labels PRIMARY KEY (row_id, label_id),
    CONSTRAINT fk_annotation_labels_row_id FOREIGN KEY(row_id) REFERENCES annotations (row_id)
        ON DELETE CASCADE,
    CONSTRAINT fk_annotation_labels_label_id FOREIGN KEY(label_id) REFERENCES labels (id)
)
 WITHOUT ROWID;

CREATE INDEX ix_annotation_labels_label_id ON annotation_labels (label_id, row_id);
"""
