"""Model versions: what each fine-tune changed, and which one the scores come from."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from sce_desktop.core.training import FinetuneSettings, TrainingReport
from sce_desktop.core.versions import ModelVersion, version_title
from sce_desktop.store.file import schema
from sce_desktop.store.file.connections import raw
from sce_desktop.store.runs.training_json import read_version, report_json, settings_json
from sce_desktop.store.sql import insert, now

_versions = schema.model_versions
_described = [
    # JSON as the text that it is: `read_version` copes with whatever a file from elsewhere holds.
    sa.type_coerce(column, sa.Text).label(column.name) if isinstance(column.type, sa.JSON) else column
    for column in _versions.c
    if column is not _versions.c.weights
]


def add(
    connection: sa.Connection,
    *,
    name: str,
    settings: FinetuneSettings,
    report: TrainingReport,
    **facts: Any,
) -> ModelVersion:
    """Keep a new version, which is not active yet; ``facts`` are those of `Project.add_version`."""
    version_id = insert(
        connection,
        _versions,
        name=name,
        settings=settings_json(settings, report.fit),
        seed=settings.seed,
        metrics=report_json(report),
        created_at=now(),
        active=False,
        **facts,
    )
    if not name:
        connection.execute(
            _versions.update().where(_versions.c.id == version_id).values(name=f"version {version_id}")
        )
    return get(connection, version_id)


def get(connection: sa.Connection, version_id: int) -> ModelVersion:
    """Return a version. KeyError if there is none of that id."""
    found = connection.execute(sa.select(*_described).where(_versions.c.id == version_id)).one_or_none()
    if found is None:
        raise KeyError(version_id)
    return _version(found)


def list_all(connection: sa.Connection) -> tuple[ModelVersion, ...]:
    """Return all versions, oldest first."""
    return tuple(map(_version, connection.execute(sa.select(*_described).order_by(_versions.c.id))))


def active(connection: sa.Connection) -> ModelVersion | None:
    """Return the version that scores come from, None if it is a model as it was."""
    found = connection.execute(sa.select(*_described).where(_versions.c.active == sa.true())).one_or_none()
    return None if found is None else _version(found)


def active_title(connection: sa.Connection) -> str:
    """Return what runs of the version in use are called; empty if it is a model as it was."""
    found = raw(connection).execute("SELECT base, id FROM model_versions WHERE active = 1").fetchone()
    return "" if found is None else version_title(*found)


def weights(connection: sa.Connection, version_id: int) -> bytes:
    """Return the weights of a version as they were given. KeyError if there is none of that id."""
    found = connection.execute(sa.select(_versions.c.weights).where(_versions.c.id == version_id)).scalar()
    if found is None:
        raise KeyError(version_id)
    return bytes(found)


def activate(connection: sa.Connection, version_id: int | None) -> None:
    """Let scores come from a version, or from a model as it was. KeyError if there is none of that id."""
    if version_id is not None:
        get(connection, version_id)
    connection.execute(_versions.update().where(_versions.c.active == sa.true()).values(active=False))
    connection.execute(_versions.update().where(_versions.c.id == version_id).values(active=True))


def delete(connection: sa.Connection, version_id: int) -> None:
    """Remove a version for good; if it was active, none is. KeyError if there is none of that id."""
    get(connection, version_id)
    connection.execute(_versions.delete().where(_versions.c.id == version_id))


def _version(found: sa.Row[Any]) -> ModelVersion:
    facts = dict(found._mapping)
    settings, report = read_version(facts.pop("settings"), facts.pop("metrics"))
    return ModelVersion(**facts, number=found.id, settings=settings, report=report)
