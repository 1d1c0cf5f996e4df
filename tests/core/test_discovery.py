from __future__ import annotations

import numpy as np

from sce_desktop.core.discovery import Cluster, TypicalRow, labels_of, merged
from sce_desktop.core.sampling import random_order


def one(name: str, *others: str, rows: int = 3, first: int = 1, accepted: bool = False) -> Cluster:
    typical = tuple(TypicalRow(first + place, f"{name} {place}") for place in range(2))
    return Cluster((name, *others), rows, typical, tuple(range(first, first + rows)), accepted=accepted)


def test_merging_keeps_the_name_and_shows_rows_of_each() -> None:
    clusters = (one("Late", "Delay"), one("Rude", first=10), one("Slow", "Late", first=20, accepted=True))
    late, rude = merged(clusters, 0, [2])
    assert late.names == ("Late", "Delay", "Slow")
    assert late.rows == 6
    assert late.accepted
    assert [row.row_id for row in late.typical] == [1, 20, 2, 21]
    assert set(late.row_ids) == {1, 2, 3, 20, 21, 22}
    assert rude is clusters[1]
    assert merged(clusters, 1, [1]) == clusters


def test_another_name_keeps_the_old_one_as_an_alternative() -> None:
    cluster = one("Late", "Delay")
    assert cluster.called("Delay").names == ("Delay", "Late")
    assert not cluster.called("Delay").renamed
    renamed = cluster.called("  Delivery > Late ")
    assert renamed.names == ("Delivery > Late", "Late", "Delay")
    assert renamed.renamed


def test_accepted_clusters_become_labels_described_by_their_other_names() -> None:
    clusters = [
        one("Late", "Delay", "Days", "Waiting", "Tuesday", "Hours", accepted=True),
        one("Rude"),
        one("Late", accepted=True),
        one(" ", accepted=True),
    ]
    (label,) = labels_of(clusters)
    assert (label.name, label.description) == ("Late", "Delay, Days, Waiting, Tuesday")


def test_the_random_order_is_the_same_every_time_and_keeps_when_rows_are_added() -> None:
    ids = np.arange(1, 20_001)
    sample = random_order(ids)[:2000]
    assert np.array_equal(sample, random_order(ids[::-1])[:2000])
    assert not np.array_equal(sample, random_order(ids, seed=1)[:2000])
    grown = random_order(np.arange(1, 22_001))[:2000]
    assert np.isin(grown, sample).sum() > 1700  # about 2000 * 20/22 stay


def test_the_random_order_is_random() -> None:
    """Shares in samples miss the true one as often as those of a fair lottery do."""
    ids = np.arange(1, 20_001)
    periodic = ids % 7 == 0  # what a low-discrepancy sequence would hit too well
    errors = [
        periodic[random_order(ids, seed=seed)[:500] - 1].mean() - periodic.mean() for seed in range(300)
    ]
    expected = np.sqrt(periodic.mean() * (1 - periodic.mean()) / 500 * (1 - 500 / 20_000))
    assert abs(np.mean(errors)) < 4 * expected / np.sqrt(300)
    assert 0.88 < np.std(errors) / expected < 1.12
