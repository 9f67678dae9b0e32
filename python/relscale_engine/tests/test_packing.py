"""Windows into batches."""

import random

from relscale_engine.packing import batches


def test_every_window_is_in_one_batch_within_the_budget():
    rng = random.Random(3)
    for equal in (False, True):
        for _ in range(200):
            lengths = [rng.randint(1, 40) for _ in range(rng.randint(0, 30))]
            budget = rng.randint(1, 120)
            out = batches(lengths, budget, equal=equal)
            assert sorted(i for batch in out for i in batch) == list(range(len(lengths)))
            for batch in out:
                longest = max(lengths[i] for i in batch)
                assert len(batch) == 1 or len(batch) * longest <= budget
                assert not equal or len({lengths[i] for i in batch}) == 1


def test_longest_first_and_neighbours_together():
    assert batches([3, 9, 4, 9], 18) == [[1, 3], [2, 0]]
    assert batches([3, 9, 4, 9], 18, equal=True) == [[1, 3], [2], [0]]
    assert batches([50], 8) == [[0]]
    assert batches([], 8) == []
