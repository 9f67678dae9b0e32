"""Windows into batches: by length, so that little is padded."""

from __future__ import annotations

from collections.abc import Sequence


def batches(lengths: Sequence[int], budget: int, *, equal: bool = False) -> list[list[int]]:
    """Cuts windows into batches; each is a list of indices into `lengths`, none is empty.

    A batch is padded to its longest window, and rows times that length stays within `budget`
    tokens; a window longer than `budget` is a batch alone. Longest first, so that what does not fit
    into memory shows at once. With `equal`, only windows of one length share a batch.
    """
    order = sorted(range(len(lengths)), key=lambda i: (-lengths[i], i))
    out: list[list[int]] = []
    for index in order:
        batch = out[-1] if out else []
        longest = lengths[batch[0]] if batch else 0
        fits = bool(batch) and (len(batch) + 1) * longest <= budget
        if fits and (not equal or lengths[index] == longest):
            batch.append(index)
        else:
            out.append([index])
    return out
