from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention

from sce_desktop.ml.finetune.fitting import Examples, Fitter, Recipe


def examples(n: int = 60, classes: int = 3, width: int = 16, *, seed: int = 0) -> Examples:
    """Texts near random centres; label vectors that say little of them."""
    random = torch.Generator().manual_seed(seed)
    gold = torch.arange(n) % classes
    centres = torch.randn(classes, width, generator=random)
    vectors = F.normalize(centres[gold] + torch.randn(n, width, generator=random), dim=-1)
    labels = F.normalize(torch.randn(classes, width, generator=random), dim=-1)
    return Examples(vectors, gold, torch.arange(classes), 20 * vectors @ labels.T, labels, 20.0)


def right(found: Examples, weight: torch.Tensor) -> float:
    return float((found.corrected(weight).argmax(-1) == found.gold).float().mean())


@pytest.mark.parametrize("n", [9, 60])  # fewer rows than dimensions, and more
def test_it_finds_the_minimum(n: int) -> None:
    found, recipe = examples(n), Recipe(hold=1e9, ridge=0.5)  # labels that do not move: plain ridge
    weight = Fitter(found).fit([recipe], epochs=2000).weights[0].clone().requires_grad_()
    loss = F.cross_entropy(found.corrected(weight), found.gold, reduction="sum")
    (loss + 0.25 * weight.square().sum()).backward()
    assert weight.grad is not None
    assert weight.grad.abs().max() < 0.02 * n / 9
    assert weight.detach().abs().max() > 0.5


def test_examples_teach_and_a_strong_hold_leaves_things_as_they_are() -> None:
    train, test = examples(seed=1), examples(90, seed=1)
    nothing = torch.zeros(3, 16)
    taught, held = Fitter(train).fit([Recipe(3, 0.3), Recipe(1e9, 1e9)]).weights
    assert right(test, taught) > right(test, nothing) + 0.3
    torch.testing.assert_close(held, nothing, atol=1e-4, rtol=0)


def test_recipes_at_once_are_recipes_one_by_one() -> None:
    fitter = Fitter(examples())
    recipes = [Recipe(3, 0.1), Recipe(10, 1.0), Recipe(30, 3.0)]
    together = fitter.fit(recipes, epochs=20)
    for recipe, weight in zip(recipes, together.weights, strict=True):
        torch.testing.assert_close(fitter.fit([recipe], epochs=20).weights[0], weight, atol=2e-2, rtol=0)


def test_labels_without_examples_are_not_pushed_out() -> None:
    """They keep their scores, and the other labels' scores do not rise as a whole."""
    whole = examples(400, classes=8, width=64, seed=4)
    some = whole.part(torch.nonzero(whole.gold < 4)[:, 0].numpy())
    taught = Examples(some.vectors, some.gold, torch.arange(4), some.scores, some.labels[:4], some.alpha)
    weight = Fitter(taught).fit([Recipe(10, 1.0)]).weights[0]
    torch.testing.assert_close(weight.sum(0), torch.zeros(64), atol=1e-4, rtol=0)
    changed = whole.scores.index_add(1, torch.arange(4), whole.vectors @ weight.T)
    torch.testing.assert_close(changed[:, 4:], whole.scores[:, 4:])
    unknown = whole.gold >= 4
    before, after = (
        (found.argmax(1) == whole.gold)[unknown].float().mean() for found in (whole.scores, changed)
    )
    assert after > before - 0.05
    assert right(taught, weight) > right(taught, torch.zeros(4, 64)) + 0.3


def test_an_example_says_what_a_row_is_not() -> None:
    """A row that a label without examples won before goes to the label that it was given."""
    found = examples(8, classes=2, width=32, seed=5)
    scores = torch.cat([found.scores, found.scores.max(1, keepdim=True).values + 1], 1)
    taught = Examples(found.vectors, found.gold, torch.tensor([0, 1]), scores, found.labels, found.alpha)
    known = Fitter(taught).fit([Recipe(3, 0.1)]).weights[0]
    assert right(taught, torch.zeros(2, 32)) == 0
    assert right(taught, known) > 0.5


def test_rare_labels_count_as_much_as_frequent_ones() -> None:
    whole, test = examples(300, seed=2), examples(300, seed=2)
    rare = torch.cat([torch.nonzero(whole.gold != 0)[:, 0], torch.nonzero(whole.gold == 0)[:4, 0]])
    imbalanced = whole.part(rare.numpy())
    answers = [
        right(test, Fitter(imbalanced, balanced=balanced).fit([Recipe(10, 1.0)]).weights[0])
        for balanced in (False, True)
    ]
    assert answers[1] > answers[0] + 0.05


def test_losses_fall_and_the_watcher_may_end_it() -> None:
    seen: list[tuple[int, float, float | None]] = []

    def watch(epoch: int, loss: float, apart: float | None) -> bool:
        seen.append((epoch, loss, apart))
        return epoch < 4

    fitted = Fitter(examples()).fit([Recipe(10, 0.3)], on_epoch=watch)
    assert (fitted.stopped, len(fitted.losses)) == ("early", 4)
    assert [epoch for epoch, *_ in seen] == [1, 2, 3, 4]
    losses = [loss for _, loss, _ in seen]
    assert losses == sorted(losses, reverse=True)
    assert {apart for *_, apart in seen} == {None}
    assert Fitter(examples()).fit([Recipe(10, 0.3)], epochs=2).stopped == "done"


def test_too_large_steps_end_with_the_best_weights() -> None:
    found = examples(90, seed=3)
    fitted = Fitter(found).fit([Recipe(3, 3.0)], lr=1e6)
    assert fitted.stopped == "non-finite"
    assert fitted.weights.isfinite().all()
    assert right(found, fitted.weights[0]) >= right(found, torch.zeros(3, 16))


def test_numbers_that_are_none_are_noticed() -> None:
    found = examples()
    found.scores[3] = float("nan")
    fitted = Fitter(found).fit([Recipe(3, 0.3)])
    assert (fitted.stopped, fitted.losses) == ("non-finite", [])
    assert fitted.weights.isfinite().all()


def test_rows_left_out_are_watched_and_not_learned_from() -> None:
    whole = examples(120)
    learned, apart = whole.part(np.arange(60)), whole.part(np.arange(60, 120))
    seen: list[float] = []

    def watch(_epoch: int, _loss: float, held_out: float | None) -> bool:
        assert held_out is not None
        seen.append(held_out)
        return True

    watched = Fitter(learned).fit([Recipe(10, 0.3)], on_epoch=watch, held_out=apart)
    alone = Fitter(learned).fit([Recipe(10, 0.3)])
    torch.testing.assert_close(watched.weights, alone.weights)
    scores = apart.corrected(watched.weights[0])
    last = torch.nn.functional.cross_entropy(scores, apart.known[apart.gold])
    assert seen[-1] == pytest.approx(float(last), abs=0.02)  # told before the last step
    assert seen[-1] < seen[0]
