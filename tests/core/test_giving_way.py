"""Workers give way while the window answers, and never for long, nor with what it waits for."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from sce_desktop.core import giving_way
from sce_desktop.core.giving_way import (
    begin_answer,
    end_answer,
    give_way,
    is_answering,
    is_held_up,
    urgent,
)

PATIENCE_S = 60.0  # no test waits that long


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(giving_way, "MOST_S", PATIENCE_S)
    monkeypatch.setattr(giving_way, "MOST_IN_A_ROW_S", PATIENCE_S)
    end_answer()
    yield
    end_answer()


def test_work_goes_on_when_the_answer_is_there() -> None:
    for _ in range(50):
        order: list[str] = []
        entered = threading.Event()

        def work(order: list[str] = order, entered: threading.Event = entered) -> None:
            entered.set()
            for _item in giving_way.giving_way(range(giving_way.EVERY)):
                pass
            order.append("worked")

        begin_answer()
        worker = threading.Thread(target=work)
        worker.start()
        assert entered.wait(PATIENCE_S)
        order.append("answered")
        end_answer()
        worker.join(PATIENCE_S)
        assert order == ["answered", "worked"]


def test_everything_is_yielded_in_its_order() -> None:
    assert list(giving_way.giving_way(iter("abc" * 40))) == list("abc" * 40)


def test_work_waits_for_no_answer_that_does_not_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(giving_way, "MOST_S", 0.02)
    begin_answer()
    begin_answer()  # as by a key that is held down
    assert finishes(give_way)
    assert is_answering()


class Clock:
    """A clock for `giving_way` that is moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


def test_each_key_of_many_holds_up_work_and_work_has_its_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(giving_way, "time", clock)
    monkeypatch.setattr(giving_way, "MOST_S", 0.15)
    monkeypatch.setattr(giving_way, "MOST_IN_A_ROW_S", 2.0)
    held = []
    while clock.now < 104.5:  # ten keys a second, none of which is answered before the next
        begin_answer()
        held.append(is_held_up())
        clock.now += 0.1
    first = int(giving_way.MOST_IN_A_ROW_S / 0.1)
    assert all(held[:first])
    assert not all(held[first : first + 2])  # the rest
    assert all(held[first + 3 : 2 * first])  # and again
    clock.now += 0.2
    assert not is_held_up()  # no key any more


def test_who_holds_a_turn_to_write_does_not_wait() -> None:
    def work() -> None:
        with urgent(), urgent():
            give_way()

    begin_answer()
    assert finishes(work)


def test_the_window_does_not_wait_for_itself() -> None:
    begin_answer()
    give_way()
    assert is_answering()


def finishes(work: object) -> bool:
    worker = threading.Thread(target=work, daemon=True)  # type: ignore[arg-type]
    worker.start()
    worker.join(PATIENCE_S / 2)
    return not worker.is_alive()
