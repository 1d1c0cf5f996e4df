"""The XML of QDA-XML as it is read: codes, users, variables, sources with their codings, notes.

The parser knows no document types and no entities of a file's own, and its bounds are those of workbooks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Any, Final
from xml.parsers import expat

from sce_desktop.core.annotations import Label
from sce_desktop.core.labels import PARENT_SIGN
from sce_desktop.core.limits import MAX_DEPTH, MAX_ELEMENTS, MAX_LABELS, MAX_SHEET_CELL
from sce_desktop.data.excel.xlsx_xml import DamagedError, HugeError, new_parser, parsed

_TEXTS: Final = ("Description", "PlainTextContent", "TextValue", "BooleanValue", "IntegerValue", "FloatValue")
_TEXT_TAGS: Final = frozenset({*_TEXTS, "DateValue", "DateTimeValue"})


@dataclass(slots=True)
class Selection:
    """A part of a source and the codes on it: (code, user, moment) each."""

    start: int
    end: int
    codings: list[tuple[str, str, str]] = field(default_factory=list)


@dataclass(slots=True)
class Source:
    """A text with its codings. ``path``: where the text lies, unless it is ``text``."""

    name: str = ""
    path: str = ""
    text: str | None = None
    selections: list[Selection] = field(default_factory=list)
    codings: list[tuple[str, str, str]] = field(default_factory=list)  # on the whole of it
    notes: list[str] = field(default_factory=list)
    memo: str = ""
    values: dict[str, str] = field(default_factory=dict)  # by variable


@dataclass(slots=True)
class QdaProject:
    """What a project or a codebook says, all of it by GUID."""

    origin: str = ""
    users: dict[str, str] = field(default_factory=dict)
    codes: dict[str, str] = field(default_factory=dict)  # names, with those of their parents
    labels: list[Label] = field(default_factory=list)  # the codable codes in their order
    variables: dict[str, str] = field(default_factory=dict)
    sources: list[Source] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)
    other_sources: int = 0  # pictures, PDF documents, sound and video


def read_xml(stream: IO[bytes]) -> QdaProject:
    """Read ``project.qde`` or a codebook.

    Raises:
        DamagedError: It is not QDA-XML, or has a document type.
        HugeError: It has millions of elements, or nests too deeply.
    """
    reader = _Reader()
    parser = new_parser()
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler = reader.characters
    try:
        for _piece in parsed(parser, stream):
            pass
    except expat.ExpatError as error:
        raise DamagedError(str(error)) from None
    if not reader.is_qda:
        raise DamagedError("another root than Project or CodeBook")
    return reader.found


class _Reader:
    def __init__(self) -> None:
        self.found = QdaProject()
        self.is_qda = False
        self._path: list[str] = []
        self._codes: list[tuple[str, str, str]] = []  # of the codes around: name, description, colour
        self._codable: list[tuple[bool, int]] = []
        self._source: Source | None = None
        self._selection: Selection | None = None
        self._coding: list[str] | None = None
        self._variable = ""
        self._note = ""
        self._pieces: list[str] | None = None
        self._characters = 0
        self._elements = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        self._elements += 1
        if self._elements > MAX_ELEMENTS or len(self._path) > MAX_DEPTH:
            raise HugeError
        if not self._path:
            self.is_qda = name in ("Project", "CodeBook")
            self.found.origin = attributes.get("origin", "")
        self._path.append(name)
        if name in _TEXT_TAGS:
            self._pieces, self._characters = [], 0
        elif handler := _STARTS.get(name):
            handler(self, attributes)

    def end(self, tag: str) -> None:
        name = self._path.pop()
        if name in _TEXT_TAGS and self._pieces is not None:
            self._take_text(name, "".join(self._pieces))
            self._pieces = None
        elif name == "Code":
            self._codes.pop()
            self._codable.pop()
        elif name in ("TextSource", "Note"):
            if self._source is not None and name == "TextSource" and self._path[-1:] == ["Sources"]:
                self.found.sources.append(self._source)
            if self._path[-1:] in (["Sources"], ["Notes"]):
                self._source, self._note = None, ""
        elif name == "PlainTextSelection":
            self._selection = None
        elif name == "Coding":
            self._keep_coding()
        elif name == "VariableValue":
            self._variable = ""

    def characters(self, text: str) -> None:
        if self._pieces is None:
            return
        self._characters += len(text)
        if self._characters > MAX_SHEET_CELL:
            raise HugeError
        self._pieces.append(text)

    def _take_text(self, name: str, text: str) -> None:
        parent = self._path[-1] if self._path else ""
        if name == "Description" and parent == "Code":
            place = self._codable[-1][1]
            if self._codable[-1][0]:
                label = self.found.labels[place]
                self.found.labels[place] = Label(label.name, description=text, colour=label.colour)
        elif name == "Description" and self._path[-2:] == ["Sources", "TextSource"] and self._source:
            self._source.memo = text
        elif name == "PlainTextContent" and parent == "TextSource" and self._source is not None:
            self._source.text = text
        elif name == "PlainTextContent" and parent == "Note" and self._note:
            self.found.notes[self._note] = text
        elif self._variable and self._source is not None and name != "Description":
            self._source.values[self._variable] = text

    def _code(self, attributes: dict[str, str]) -> None:
        name = attributes.get("name", "").strip()
        full = f"{self._codes[-1][0]}{PARENT_SIGN}{name}" if self._codes else name
        colour = attributes.get("color", "")
        self._codes.append((full, "", colour))
        codable = attributes.get("isCodable", "true").strip() in ("true", "1") and bool(name)
        if len(self.found.labels) > MAX_LABELS:
            raise HugeError
        self._codable.append((codable, len(self.found.labels)))
        self.found.codes[_guid(attributes, "guid")] = full
        if codable:
            self.found.labels.append(Label(full, colour=colour.lower() if len(colour) == 7 else ""))

    def _text_source(self, attributes: dict[str, str]) -> None:
        if self._path[-2:-1] == ["Sources"]:
            self._source = Source(attributes.get("name", ""), attributes.get("plainTextPath", ""))

    def _other_source(self, _attributes: dict[str, str]) -> None:
        self.found.other_sources += 1

    def _begin_note(self, attributes: dict[str, str]) -> None:
        self._note = _guid(attributes, "guid")

    def _begin_selection(self, attributes: dict[str, str]) -> None:
        if self._source is not None:
            start, end = _whole(attributes, "startPosition"), _whole(attributes, "endPosition")
            self._selection = Selection(start, end)
            self._source.selections.append(self._selection)

    def _begin_coding(self, attributes: dict[str, str]) -> None:
        self._coding = ["", _guid(attributes, "creatingUser"), attributes.get("creationDateTime", "")]

    def _code_ref(self, attributes: dict[str, str]) -> None:
        if self._coding is not None:
            self._coding[0] = _guid(attributes, "targetGUID")

    def _keep_coding(self) -> None:
        if self._coding is not None and self._source is not None:
            code, user, moment = self._coding
            place = self._selection.codings if self._selection is not None else self._source.codings
            place.append((code, user, moment))
        self._coding = None

    def _note_ref(self, attributes: dict[str, str]) -> None:
        if self._source is not None:
            self._source.notes.append(_guid(attributes, "targetGUID"))

    def _begin_user(self, attributes: dict[str, str]) -> None:
        self.found.users[_guid(attributes, "guid")] = attributes.get("name") or attributes.get("id") or ""

    def _begin_variable(self, attributes: dict[str, str]) -> None:
        self.found.variables[_guid(attributes, "guid")] = attributes.get("name", "")

    def _variable_ref(self, attributes: dict[str, str]) -> None:
        self._variable = _guid(attributes, "targetGUID")


_Start = Callable[[_Reader, dict[str, str]], None]
_STARTS: Final[dict[str, _Start]] = {
    "Code": _Reader._code,
    "TextSource": _Reader._text_source,
    "PictureSource": _Reader._other_source,
    "PDFSource": _Reader._other_source,
    "AudioSource": _Reader._other_source,
    "VideoSource": _Reader._other_source,
    "Note": _Reader._begin_note,
    "PlainTextSelection": _Reader._begin_selection,
    "Coding": _Reader._begin_coding,
    "CodeRef": _Reader._code_ref,
    "NoteRef": _Reader._note_ref,
    "User": _Reader._begin_user,
    "Variable": _Reader._begin_variable,
    "VariableRef": _Reader._variable_ref,
}


def _guid(attributes: dict[str, str], name: str) -> str:
    return attributes.get(name, "").strip("{} ").lower()


def _whole(attributes: dict[str, Any], name: str) -> int:
    try:
        return max(int(attributes.get(name, "0")[:20]), 0)
    except ValueError:
        raise DamagedError("a position that is no number") from None
