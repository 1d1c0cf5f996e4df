"""QDA-XML 1.0 (REFI-QDA), as QualCoder, NVivo, MAXQDA and ATLAS.ti exchange projects and codebooks.

A project (.qdpx) is a zip file of ``project.qde`` and the texts in ``Sources``; a codebook (.qdc) is one XML
file. Every row is a source with its text, its codings on the whole of it and its other cells as variables.
"""

from __future__ import annotations

import uuid
import zipfile
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final
from xml.sax.saxutils import escape, quoteattr

from sce_desktop.core.annotations import Label
from sce_desktop.core.labels import PARENT_SIGN
from sce_desktop.core.names import numbered
from sce_desktop.data.exchange.records import ExchangeProject, ExchangeRow, Names, valid_xml

PROJECT: Final = "urn:QDA-XML:project:1.0"
CODEBOOK: Final = "urn:QDA-XML:codebook:1.0"
ORIGIN: Final = "SCE Desktop"
OWN: Final = "SCE Desktop"
"""The user whose codings are the project's own labels."""
NONE_OF_THESE: Final = "none of these"
"""The variable that says of a source that no code fits."""
_SPACE: Final = uuid.UUID("0d9c3a5e-4d5f-5a3f-8b1c-52c4f1c9e7aa")
_HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'


def guid(*parts: object) -> str:
    """Return the GUID of a thing by what names it, so that two exports of a project agree."""
    return str(uuid.uuid5(_SPACE, "\0".join(map(str, parts))))


def code_guid(project: str, name: str) -> str:
    """Return the GUID of the code of a label."""
    return guid(project, "code", name)


class _Codes:
    """Labels as a tree: those called "Parent > Child" lie within the code of their parent."""

    def __init__(self, project: str, labels: Sequence[Label]) -> None:
        self._project = project
        self._labels = {label.name: label for label in labels}
        self._children: dict[str, list[str]] = {"": []}
        for label in labels:
            self._place(label.name)

    def _place(self, name: str) -> None:
        if name in self._children:
            return
        parent, sign, child = name.rpartition(PARENT_SIGN)
        parent = parent if sign and parent.strip() and child.strip() else ""
        if parent:
            self._place(parent)
        self._children[name] = []
        self._children[parent].append(name)

    def xml(self) -> str:
        """Return the element Codes, empty where there is no label: the schema wants one code at least."""
        if not self._children[""]:
            return ""
        return f"<Codes>\n{''.join(map(self._code, self._children['']))}</Codes>\n"

    def _code(self, name: str) -> str:
        label = self._labels.get(name)
        parent, _sign, child = name.rpartition(PARENT_SIGN)
        shown = child if parent in self._children and parent else name
        colour = f" color={_attribute(label.colour)}" if label is not None and label.colour else ""
        inner = ""
        if label is not None and label.description:
            inner += f"<Description>{_text(label.description)}</Description>\n"
        inner += "".join(map(self._code, self._children[name]))
        return (
            f'<Code guid="{code_guid(self._project, name)}" name={_attribute(shown)} '
            f'isCodable="{"true" if label is not None else "false"}"{colour}>\n{inner}</Code>\n'
        )


def write_codebook(path: Path, project: ExchangeProject) -> None:
    """Write the labels as a codebook (.qdc) to ``path``."""
    text = (
        f'{_HEAD}<CodeBook xmlns="{CODEBOOK}" origin={_attribute(ORIGIN)}>\n'
        f"{_Codes(project.name, project.labels).xml()}</CodeBook>\n"
    )
    path.write_text(text, encoding="utf-8", newline="")


def write_project(path: Path, project: ExchangeProject, rows: Iterable[ExchangeRow]) -> None:
    """Write a project (.qdpx) to ``path``, a source at a time."""
    sources: dict[str, str] = {}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        users: dict[str, str] = {OWN: guid(project.name, "user", OWN)}
        notes: list[str] = []
        body: list[str] = []
        for row in rows:
            source = guid(project.name, "row", row.number)
            sources[source] = row.text
            body.append(_source(project, row, source, users, notes))
            archive.writestr(f"Sources/{source}.txt", row.text.encode("utf-8", "replace"))
        with archive.open("project.qde", "w", force_zip64=True) as file:
            _write_parts(file, project, users, body, notes)


def _write_parts(
    file: IO[bytes], project: ExchangeProject, users: dict[str, str], body: list[str], notes: list[str]
) -> None:
    def write(text: str) -> None:
        file.write(text.encode())

    own = users[OWN]
    write(
        f'{_HEAD}<Project xmlns="{PROJECT}" name={_attribute(project.name)} origin={_attribute(ORIGIN)} '
        f'creatingUserGUID="{own}">\n<Users>\n'
    )
    for name, user in users.items():
        write(f'<User guid="{user}" name={_attribute(name)}/>\n')
    write("</Users>\n")
    if codes := _Codes(project.name, project.labels).xml():
        write(f"<CodeBook>\n{codes}</CodeBook>\n")
    # ours keeps its name: a column that is called the same says nothing about labels
    none, *names = numbered([NONE_OF_THESE, *(name for _place, name in project.other_columns)])
    names.append(none)
    write("<Variables>\n")
    for place, name in enumerate(names):
        write(f'<Variable guid="{guid(project.name, "variable", place)}" name={_attribute(name)} ')
        write('typeOfVariable="Text"/>\n')
    write("</Variables>\n")
    if body:
        write("<Sources>\n")
        for text in body:
            write(text)
        write("</Sources>\n")
    if notes:
        write("<Notes>\n")
        for text in notes:
            write(text)
        write("</Notes>\n")
    write("</Project>\n")


def _source(
    project: ExchangeProject, row: ExchangeRow, source: str, users: dict[str, str], notes: list[str]
) -> str:
    given: list[tuple[str, Names]] = [(OWN, row.labels or ()), *row.others]
    selections = []
    known = {label.name for label in project.labels}
    for who, labels in given:
        labels = tuple(name for name in labels if name in known)  # a code of another annotator's has no entry
        if not labels:
            continue
        user = users.setdefault(who, guid(project.name, "user", who))
        moment = f" creationDateTime={_attribute(row.decided_at)}" if who == OWN and row.decided_at else ""
        codings = "".join(
            f'<Coding guid="{guid(source, who, name)}" creatingUser="{user}"{moment}>'
            f'<CodeRef targetGUID="{code_guid(project.name, name)}"/></Coding>\n'
            for name in labels
        )
        # A selection for each annotator: QualCoder takes whoever selected a text for whoever coded it.
        selections.append(
            f'<PlainTextSelection guid="{guid(source, "all", who)}" startPosition="0" '
            f'endPosition="{len(row.text)}" creatingUser="{user}"{moment}>\n{codings}</PlainTextSelection>\n'
        )
    parts = [
        f'<TextSource guid="{source}" name={_attribute(f"row {row.number}")} '
        f'plainTextPath="internal://{source}.txt" creatingUser="{users[OWN]}">\n'
    ]
    if row.note:  # as the memo of the source, too: QualCoder takes no note of a whole source
        parts.append(f"<Description>{_text(row.note)}</Description>\n")
    parts += selections
    if row.note:
        note = guid(source, "note")
        parts.append(f'<NoteRef targetGUID="{note}"/>\n')
        notes.append(
            f'<Note guid="{note}" name={_attribute(f"row {row.number}")} creatingUser="{users[OWN]}" '
            f"creationDateTime={_attribute(row.decided_at or _now())}>"  # QualCoder imports none without
            f"<PlainTextContent>{_text(row.note)}</PlainTextContent></Note>\n"
        )
    values: list[tuple[int, Any]] = [
        (place, row.cells[at]) for place, (at, _name) in enumerate(project.other_columns)
    ]
    if row.labels == ():
        values.append((len(values), "yes"))
    for place, cell in values:
        if cell:
            variable = guid(project.name, "variable", place)
            parts.append(
                f'<VariableValue><VariableRef targetGUID="{variable}"/>'
                f"<TextValue>{_text(cell)}</TextValue></VariableValue>\n"
            )
    return "".join([*parts, "</TextSource>\n"])


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _text(value: str) -> str:
    """Escape text; a carriage return is written as a reference, or a parser would make a line feed of it."""
    return escape(valid_xml(value), {"\r": "&#13;"})


def _attribute(value: str) -> str:
    return quoteattr(valid_xml(value))
