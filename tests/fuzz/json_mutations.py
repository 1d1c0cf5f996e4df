"""Damage to JSON that knows its structure, and to bytes that does not."""

from __future__ import annotations

import contextlib
import copy
import json
import random
from typing import Any

_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 3, 7, 64, 255, 2**15, 2**31, 2**31 - 1, 2**32, 2**63, -(2**63), 10**9),
    *(10**30, 0.5, -0.0, 1e308, -1e308, float("nan"), float("inf"), 1e-300),
    *(
        "",
        "9",
        "a",
        "x" * 5_000,
        "\u0000",
        "\ud83d",
        "../../etc/passwd",
        "/dev/zero",
        "NaN",
        "bert",
        "torch.load",
    ),
    *([], {}, [[]], [None], {"": None}, [0] * 3_000, ["a"] * 3_000),
)


def nested(depth: int, kind: str) -> Any:
    """Return lists or objects in each other."""
    found: Any = 1
    for _each in range(depth):
        found = [found] if kind == "list" else {"a": found}
    return found


def places(found: Any) -> list[tuple[Any, Any]]:
    """Return (container, key) of every value in ``found``; at most some of long lists."""
    waiting, there = [found], []
    while waiting:
        one = waiting.pop()
        pairs: list[tuple[Any, Any]] = []
        if isinstance(one, dict):
            pairs = list(one.items())[:300]
        elif isinstance(one, list):
            pairs = list(enumerate(one[:50]))
        for key, value in pairs:
            there.append((one, key))
            if isinstance(value, dict | list):
                waiting.append(value)
    return there


def mutate(chance: random.Random, found: Any) -> str:
    """Change one value of ``found`` in place; return what was done in a word."""
    there = places(found)
    if not there:
        return "nothing"
    # places near the top are few, and matter most
    container, key = chance.choice(there[: chance.choice([8, 30, len(there)])])
    kind = chance.choice(
        ["set", "set", "set", "number", "delete", "swap", "wrap", "double", "deep", "rename"]
    )
    value = container[key]
    if kind == "number" and type(value) in (int, float):
        container[key] = value * chance.choice([-1, 0, 2, 10, 1000, 10**6]) + chance.choice([-1, 0, 1])
    elif kind == "delete":
        del container[key]
    elif kind == "swap":
        other, place = chance.choice(there)
        with contextlib.suppress(KeyError, IndexError):
            container[key], other[place] = copy.deepcopy(other[place]), copy.deepcopy(value)
    elif kind == "wrap":
        container[key] = chance.choice([[value], {"a": value}, str(value), [value, value]])
    elif kind == "double" and isinstance(value, list) and value:
        container[key] = value * chance.choice([2, 50])
    elif kind == "deep":
        container[key] = nested(chance.choice([10, 58, 200, 900]), chance.choice(["list", "dict"]))
    elif kind == "rename" and isinstance(container, dict):
        container[chance.choice(["x", str(key).upper(), "type"])] = container.pop(key)
    else:
        container[key] = copy.deepcopy(chance.choice(_VALUES))
    return f"{kind} {str(key)[:30]}"


def mutated_text(chance: random.Random, text: str, times: int) -> tuple[bytes, str]:
    """Return JSON ``text`` after some mutations as bytes, and what was done."""
    found = json.loads(text)
    words = [mutate(chance, found) for _each in range(times)]
    return json.dumps(found).encode("utf-8", "surrogatepass"), ", ".join(words)


def mutated_bytes(chance: random.Random, content: bytes) -> tuple[bytes, str]:
    """Return ``content`` after one mutation that knows nothing of it, and what was done."""
    at = chance.randrange(len(content) + 1)
    kind = chance.choice(["cut", "flip", "flip", "insert", "repeat", "empty", "zeros", "huge"])
    if kind == "cut":
        return content[:at], kind
    if kind == "flip":
        changed = bytearray(content)
        for _each in range(chance.choice([1, 1, 4, 40])):
            if changed:
                changed[chance.randrange(len(changed))] = chance.randrange(256)
        return bytes(changed), kind
    if kind == "insert":
        return content[:at] + chance.randbytes(chance.choice([1, 8, 300])) + content[at:], kind
    if kind == "repeat":
        return content[:at] + content[at : at + 64] * chance.choice([2, 2000]) + content[at:], kind
    if kind == "zeros":
        return content[:at] + bytes(chance.choice([8, 512])) + content[at + 8 :], kind
    if kind == "huge":
        changed = bytearray(content)
        value = chance.choice([2**63 - 1, 2**32, 2**31, 10**9, 2**62]).to_bytes(8, "little")
        place = chance.choice([0, 8, 16, 24, at])
        changed[place : place + 8] = value
        return bytes(changed), kind
    return b"", kind
