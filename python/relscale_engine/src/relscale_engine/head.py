"""The tiled rank head: hidden states and targets to ranks, ties, losses, entropies, best entries.

Letters: `N` scored positions, `E` width, `V` rows of the head; a *tile* is `tile` rows of the
head, a *block* is up to `block_rows` positions. Logits exist for one block and one tile at a time,
never `N` x `V`. For logits `z` of one position and its target `t`, over the rows that take part:

* rank `#{v : z[v] >= z[t]}`, the target itself included: ties count against the model;
* ties `#{v != t : z[v] == z[t]}`;
* nll `logsumexp(z) - z[t]` and entropy `-sum p ln p`, in nats;
* argmax, the lowest of equals;
* a position with a logit that is not finite has no score: rank 0, nll NaN.

Ties must be exact: rows of the head with equal numbers must give equal logits, bit for bit, and the
target's logit must be the very number that its tile holds. A product of another shape may take
another kernel and round otherwise. So:

* every product of a block has one shape, `[rows of the block, E] x [E, tile]`: the last tile is
  filled up with zero rows, which take no part;
* the target's logit is not computed apart, by a dot product, but read out of such a product.

Comparing needs the target's logit before the first tile is counted, which would mean every product
twice. Instead positions are sorted by target, so that the targets of a block lie in one or a few
tiles. The block's own tiles come first and give its targets' logits; their products are kept until
then, if they are no more than `KEPT` bytes, and counted at once. Where they are more, which a block
of few positions all over the vocabulary can bring about, they are repeated: at most tiles + blocks
products of tiles x blocks. That they were repeated to the bit is checked: every target must have
met itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from .errors import EngineError
from .logits import LogitMap

LEFT_OUT = -(2.0**126)
"""Logit of a row that takes no part: finite, so that a real infinity is still seen."""

NONE_YET = -1e38
"""A running maximum before the first tile: finite, so that no infinity meets another."""

KEPT = 1 << 25
"""Bytes of products that are kept until the targets' logits of a block are known."""

ALIGN = 64
"""Tiles are a multiple of this many rows."""


@dataclass(frozen=True)
class HeadScores:
    """Columns `[N]` on the CPU; see the module for what they are."""

    rank: Tensor
    nll: Tensor
    ties: Tensor
    entropy: Tensor
    argmax: Tensor


Statistics = tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]
"""Of a block and a tile, `[rows]` each: largest logit, where (in the tile), sum of
exp(z - largest), sum of that times (z - largest), count of z >= target's, of z == target's."""


def statistics(z: Tensor, aim: Tensor) -> Statistics:
    """Statistics of a product `z` `[rows, tile]` against the targets' logits `aim` `[rows]`."""
    aim = aim[:, None]
    top, where = z.max(1, keepdim=True)
    d = z - top
    e = d.exp()
    above = (z >= aim).sum(1, dtype=torch.int32)
    equal = (z == aim).sum(1, dtype=torch.int32)
    return top[:, 0], where[:, 0], e.sum(1), (e * d).sum(1), above, equal


class _Buffered:
    """As `statistics`, without memory of its own for each step, for a CPU.

    The system hands out fresh pages for every large tensor, which costs more than the arithmetic.
    """

    def __init__(self, rows: int, tile: int) -> None:
        self._a = torch.empty(rows, tile)
        self._b = torch.empty(rows, tile)

    def __call__(self, z: Tensor, aim: Tensor) -> Statistics:
        a, b, aim = self._a[: len(z)], self._b[: len(z)], aim[:, None]
        top, where = z.max(1, keepdim=True)
        torch.sub(z, top, out=a)
        torch.exp(a, out=b)
        mass = b.sum(1)
        tilt = b.mul_(a).sum(1)
        # Ones and zeros as f32 add up faster than truth values, and exactly up to 2^24.
        above = torch.ge(z, aim, out=a).sum(1)
        equal = torch.eq(z, aim, out=a).sum(1)
        return top[:, 0], where[:, 0], mass, tilt, above, equal


class RankHead:
    """A head `[V, E]` that ranks.

    `weight` may be narrower than `dtype`, in which products are taken: a tile is widened when its
    turn comes, so that no second copy of the head exists.
    """

    def __init__(
        self,
        weight: Tensor,
        bias: Tensor | None = None,
        logit_map: LogitMap | None = None,
        *,
        dtype: torch.dtype = torch.float32,
        block_rows: int = 256,
        tile: int = 4096,
        compile: bool = False,
    ) -> None:
        self.weight = weight
        self.rows, self.width = weight.shape
        self.device = weight.device
        self.dtype = dtype
        self.block_rows = block_rows
        self._map = logit_map or LogitMap()
        # Equal tiles, so that the last is not filled up with many rows for nothing.
        count = -(-self.rows // tile)
        self.tile = -(-self.rows // count // ALIGN) * ALIGN
        self.tiles = -(-self.rows // self.tile)
        self._last = self._filled(weight[(self.tiles - 1) * self.tile :], dtype)
        self._bias = None
        if bias is not None:
            self._bias = self._filled(bias[:, None].to(dtype), dtype, self.tiles * self.tile)[:, 0]
        # Metal has no f64.
        self._wide = torch.float32 if self.device.type == "mps" else torch.float64
        self._z = torch.empty(block_rows, self.tile, device=self.device)
        self._statistics: Callable[[Tensor, Tensor], Statistics]
        if compile:
            self._statistics = torch.compile(statistics, dynamic=True)
        elif self.device.type == "cpu":
            self._statistics = _Buffered(block_rows, self.tile)
        else:
            self._statistics = statistics
        self._widened: tuple[int, Tensor] | None = None
        self.set_vocabulary(None)

    def _filled(self, part: Tensor, dtype: torch.dtype, rows: int | None = None) -> Tensor:
        out = torch.zeros(rows or self.tile, part.shape[1], dtype=dtype, device=self.device)
        out[: len(part)] = part
        return out

    def set_vocabulary(self, takes_part: Tensor | None) -> None:
        """Which rows take part: truth values `[V]`, or None for all."""
        self._takes_part = None if takes_part is None else takes_part.cpu().bool()
        whole = torch.zeros(self.tiles * self.tile, dtype=torch.bool)
        whole[: self.rows] = True if self._takes_part is None else self._takes_part
        # For a tile: None where all rows take part, else the rows that do not.
        self._left_out: list[Tensor | None] = []
        self._empty: set[int] = set()
        for j, part in enumerate(whole.view(self.tiles, self.tile)):
            if not part.any():
                self._empty.add(j)
            self._left_out.append(None if part.all() else (~part).to(self.device))

    def score(self, hidden: Tensor, targets: Tensor) -> HeadScores:
        """Scores hidden states `[N, E]` against targets `[N]` (on the CPU).

        # Errors
        An `EngineError` for a target that takes no part, and where a product was not repeated.
        """
        with torch.inference_mode():
            return self._score(hidden, targets)

    def _score(self, hidden: Tensor, targets: Tensor) -> HeadScores:
        self._check(targets)
        n = len(targets)
        order = targets.argsort(stable=True)
        sorted_targets = targets[order]
        hidden = hidden[order.to(hidden.device)].to(self.dtype)
        walk = _Walk(n, self._wide, self.device)
        aimed_at = sorted_targets.to(self.device)
        blocks = [slice(at, min(at + self.block_rows, n)) for at in range(0, n, self.block_rows)]
        counted: set[tuple[int, int]] = set()

        for b, block in enumerate(blocks):
            inside = sorted_targets[block]
            own = (inside // self.tile).unique_consecutive().tolist()
            keep = len(own) * len(inside) * self.tile * 4 <= KEPT
            kept: list[Tensor] = []
            for j in own:
                ends = torch.tensor([j * self.tile, (j + 1) * self.tile])
                low, high = torch.searchsorted(inside, ends).tolist()
                z = self._logits(hidden[block], j)
                rows = slice(block.start + low, block.start + high)
                column = (aimed_at[rows] - j * self.tile)[:, None]
                walk.aim[rows] = z[low:high].gather(1, column)[:, 0]
                if keep:
                    kept.append(z.clone() if len(own) > 1 else z)
            if keep or len(own) == 1:
                for j, product in zip(own, kept or [z], strict=True):
                    found = self._statistics(product, walk.aim[block])
                    walk.absorb(block, j * self.tile, found)
                    counted.add((b, j))

        for j in range(self.tiles):
            if j in self._empty:
                continue
            for b, block in enumerate(blocks):
                if (b, j) not in counted:
                    z = self._logits(hidden[block], j)
                    walk.absorb(block, j * self.tile, self._statistics(z, walk.aim[block]))
        return walk.finish(order)

    def _check(self, targets: Tensor) -> None:
        if len(targets) == 0:
            return
        if int(targets.max()) >= self.rows:
            raise EngineError(
                f"token {int(targets.max())} is beyond the {self.rows} rows of the head"
            )
        if self._takes_part is not None and not self._takes_part[targets].all():
            bad = int(targets[~self._takes_part[targets]][0])
            raise EngineError(
                f"token {bad} is scored, but its row takes no part in the ranks; count all rows "
                "instead"
            )

    def _logits(self, hidden: Tensor, j: int) -> Tensor:
        """Logits `[rows, tile]` of a block and tile `j` as f32, in memory that the next call uses
        again."""
        z = self._z[: len(hidden)]
        narrow = self.dtype != torch.float32
        product = torch.mm(hidden, self._tile(j).t(), out=None if narrow else z)
        if self._bias is not None:
            product.add_(self._bias[j * self.tile : (j + 1) * self.tile])
        self._map.apply_(product)
        if narrow:
            z.copy_(product)
        left_out = self._left_out[j]
        return z if left_out is None else z.masked_fill_(left_out, LEFT_OUT)

    def _tile(self, j: int) -> Tensor:
        if j == self.tiles - 1:
            return self._last
        rows = self.weight[j * self.tile : (j + 1) * self.tile]
        if self.weight.dtype == self.dtype:
            return rows
        # All blocks meet a tile before the next tile's turn.
        if self._widened is None or self._widened[0] != j:
            self._widened = (j, rows.to(self.dtype))
        return self._widened[1]


class _Walk:
    """What is known of `n` positions after some of the tiles."""

    def __init__(self, n: int, wide: torch.dtype, device: torch.device) -> None:
        def column(value: float, dtype: torch.dtype) -> Tensor:
            return torch.full((n,), value, dtype=dtype, device=device)

        self.aim = column(0.0, torch.float32)
        self._top = column(NONE_YET, wide)
        self._best = column(0, torch.int64)
        self._mass = column(0.0, wide)
        self._tilt = column(0.0, wide)
        self._above = column(0, torch.int64)
        self._equal = column(0, torch.int64)

    def absorb(self, block: slice, first: int, found: Statistics) -> None:
        """Adds a tile that starts at row `first` of the head."""
        top, where, mass, tilt, above, equal = found
        old, best, where = self._top[block], self._best[block], where + first
        top = top.to(old.dtype)
        # Tiles do not come in order: of equals, the lower row.
        better = (top > old) | ((top == old) & (where < best))
        self._best[block] = torch.where(better, where, best)
        # NaN stays NaN in `maximum`, and in all that is computed with it.
        new = torch.maximum(old, top)
        down, up = old - new, top - new
        grown, added = down.exp(), up.exp()
        tilts = grown * (self._tilt[block] + down * self._mass[block]) + added * (tilt + up * mass)
        self._tilt[block] = tilts
        self._mass[block] = grown * self._mass[block] + added * mass
        self._top[block] = new
        self._above[block] += above.to(torch.int64)
        self._equal[block] += equal.to(torch.int64)

    def finish(self, order: Tensor) -> HeadScores:
        """The scores, position `order[i]` from row `i`."""
        log_mass = self._mass.log()
        nll = log_mass + self._top - self.aim
        entropy = log_mass - self._tilt / self._mass
        finite = nll.isfinite() & entropy.isfinite()
        if bool((finite & (self._equal < 1)).any()):
            raise EngineError(
                "a product of the head came out otherwise when it was repeated, so ties cannot be "
                "told: this device does not multiply the same way twice"
            )
        nan = torch.full_like(nll, float("nan"))

        def back(column: Tensor, dtype: torch.dtype) -> Tensor:
            column = column.to("cpu", dtype)
            out = torch.empty_like(column)
            out[order] = column
            return out

        return HeadScores(
            rank=back(self._above * finite, torch.int32),
            # Rounding may bring a certain prediction's loss below nothing.
            nll=back(torch.where(finite, nll.clamp(min=0.0), nan), torch.float32),
            ties=back((self._equal - 1) * finite, torch.int32),
            entropy=back(torch.where(finite, entropy.clamp(min=0.0), nan), torch.float32),
            argmax=back(self._best * finite, torch.int32),
        )
