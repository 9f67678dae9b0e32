"""Peak memory at a vocabulary of 256 k: flat in the number of tokens, where all logits are not."""

import resource
import subprocess
import sys

import pytest
from support import NEEDS_TORCH, PACKAGE

pytest.importorskip("torch", reason=NEEDS_TORCH)

ROWS, WIDTH = 256_000, 32

TILED = """
import resource, sys, torch
from relscale_engine.head import RankHead
torch.set_num_threads(1)
n = int(sys.argv[1])
g = torch.Generator().manual_seed(1)
head = RankHead(torch.randn({rows}, {width}, generator=g))
hidden, targets = torch.randn(n, {width}, generator=g), torch.randint(0, {rows}, (n,), generator=g)
head.score(hidden[:64], targets[:64])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
head.score(hidden, targets)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""

FULL = """
import resource, sys, torch
torch.set_num_threads(1)
n = int(sys.argv[1])
g = torch.Generator().manual_seed(1)
weight = torch.randn({rows}, {width}, generator=g)
hidden, targets = torch.randn(n, {width}, generator=g), torch.randint(0, {rows}, (n,), generator=g)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
z = hidden @ weight.t()
aim = z.gather(1, targets[:, None])
rank, nll = (z >= aim).sum(1), -z.log_softmax(1).gather(1, targets[:, None])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def growth(program, tokens):
    """MB by which the peak of a process grows with the work."""
    unit = 1024 if sys.platform != "darwin" else 1024 * 1024
    done = subprocess.run(
        [sys.executable, "-c", program.format(rows=ROWS, width=WIDTH), str(tokens)],
        env={"PYTHONPATH": str(PACKAGE / "src"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout) / unit


@pytest.mark.skipif(not hasattr(resource, "getrusage"), reason="no measure of peak memory here")
def test_the_tiled_head_stays_flat_where_all_logits_grow():
    few, many = growth(TILED, 256), growth(TILED, 2048)
    full = growth(FULL, 256)
    # All logits of 256 tokens are 250 MB, of 2048 tokens 2 GB; a block and a tile
    # are 4 MB, and up to 32 MB of them are kept.
    assert full > 500
    assert few < 80 and many < 80, (few, many)
