"""The translations: up to date with the program, complete, and with the placeholders of the message."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).parents[2] / "tools"
PLACEHOLDER = re.compile(r"\{(\w+)\}")


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(TOOLS)
    import messages

    return messages


@pytest.fixture(params=["de", "ar"])
def code(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_every_message_of_the_program_is_translated_and_compiled(tool: ModuleType, code: str) -> None:
    catalogue = tool.merged(code, tool.extracted())
    assert tool.missing(code) == []
    assert tool.file_of(code).read_bytes() == tool.po_bytes(catalogue)
    assert tool.file_of(code).with_suffix(".mo").read_bytes() == tool.mo_bytes(tool.read(code))


def test_translations_have_the_placeholders_of_the_message(tool: ModuleType, code: str) -> None:
    wrong = []
    for one in tool.read(code):
        forms = (one.string,) if isinstance(one.string, str) else one.string
        wanted = {
            name
            for text in ((one.id,) if isinstance(one.id, str) else one.id)
            for name in PLACEHOLDER.findall(text)
        }
        for place, text in enumerate(forms):
            found = set(PLACEHOLDER.findall(text))
            counted = len(forms) > 1  # "one row" may say it without the number
            if one.id and (found - wanted or (wanted - found) - ({"count"} if counted else set())):
                wrong.append(f"{one.id!r}, form {place}: {text!r}")
    assert not wrong, "\n".join(wrong)
