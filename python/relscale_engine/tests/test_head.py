"""The tiled head against the definition: ranks, ties, losses, entropies, best entries."""

import math
import shutil
import sys

import pytest
from support import NEEDS_TORCH, REPOSITORY

torch = pytest.importorskip("torch", reason=NEEDS_TORCH)

from relscale_engine import head as head_module  # noqa: E402
from relscale_engine.errors import EngineError  # noqa: E402
from relscale_engine.head import RankHead  # noqa: E402
from relscale_engine.logits import LogitMap  # noqa: E402

COLUMNS = ("rank", "nll", "ties", "entropy", "argmax")


def by_definition(z, targets, takes_part=None):
    """Columns from all logits `[N, V]`, in f64."""
    z = z.double()
    if takes_part is not None:
        z = torch.where(takes_part, z, -math.inf)
    aim = z.gather(1, targets[:, None])
    p = z.softmax(1)
    return {
        "rank": (z >= aim).sum(1),
        "nll": z.logsumexp(1) - aim[:, 0],
        "ties": (z == aim).sum(1) - 1,
        "entropy": -torch.special.xlogy(p, p).sum(1),
        # The first of equals, by definition and not by what a library does.
        "argmax": torch.tensor([row.tolist().index(max(row.tolist())) for row in z]),
    }


def small_integers(shape, generator, reach=3):
    """Numbers whose products and sums are exact in f32, so that many logits are equal."""
    return torch.randint(-reach, reach + 1, shape, generator=generator).float()


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 200, 1000])
@pytest.mark.parametrize("n", [0, 1, 7, 40])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("kept", [0, head_module.KEPT])
def test_exact_products_give_the_columns_of_the_definition(rows, n, masked, kept, monkeypatch):
    monkeypatch.setattr(head_module, "KEPT", kept)
    g = torch.Generator().manual_seed(rows * 100 + n)
    weight, hidden = small_integers((rows, 5), g), small_integers((n, 5), g)
    takes_part = torch.ones(rows, dtype=torch.bool)
    if masked:
        takes_part[torch.randperm(rows, generator=g)[: rows // 2]] = False
    allowed = takes_part.nonzero()[:, 0]
    targets = allowed[torch.randint(0, len(allowed), (n,), generator=g)]
    expected = by_definition(hidden @ weight.t(), targets, takes_part)
    for block_rows, tile in ((8, 64), (16, 128), (64, 4096), (1, 1)):
        head = RankHead(weight, block_rows=block_rows, tile=tile)
        head.set_vocabulary(takes_part if masked else None)
        got = head.score(hidden, targets)
        for name in COLUMNS:
            if name in ("nll", "entropy"):
                torch.testing.assert_close(
                    getattr(got, name).double(), expected[name].clamp(min=0), atol=2e-6, rtol=1e-6
                )
            else:
                assert getattr(got, name).tolist() == expected[name].tolist(), (name, block_rows)


@pytest.mark.parametrize("kept", [0, head_module.KEPT])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_equal_rows_are_tied_to_the_bit_wherever_they_stand(dtype, kept, monkeypatch):
    """Copies of a row in every tile and at every place in it, with numbers that round."""
    monkeypatch.setattr(head_module, "KEPT", kept)
    g = torch.Generator().manual_seed(5)
    rows, width = 1500, 193
    weight = torch.randn(rows, width, generator=g)
    copies = torch.tensor([0, 1, 13, 63, 64, 255, 256, 700, 1023, 1024, 1400, 1498, 1499])
    weight[copies] = weight[3].clone()
    hidden = torch.randn(211, width, generator=g)
    targets = torch.randint(0, rows, (211,), generator=g)
    targets[: len(copies)] = copies
    for block_rows, tile in ((7, 256), (32, 64), (211, 500), (256, 4096)):
        head = RankHead(weight, dtype=getattr(torch, dtype), block_rows=block_rows, tile=tile)
        got = head.score(hidden, targets)
        assert (got.ties[: len(copies)] >= len(copies)).all()
        if dtype == "float32":
            # All of one row's copies, row 3 itself too; no chance ties in f32.
            assert (got.ties[: len(copies)] == len(copies)).all()


def test_random_rows_agree_with_float64_but_at_near_ties():
    g = torch.Generator().manual_seed(6)
    weight, hidden = torch.randn(5000, 64, generator=g), torch.randn(500, 64, generator=g)
    bias = torch.randn(5000, generator=g)
    targets = torch.randint(0, 5000, (500,), generator=g)
    z = hidden.double() @ weight.double().t() + bias.double()
    expected = by_definition(z, targets)
    aim = z.gather(1, targets[:, None])
    low, high = (z > aim + 1e-5).sum(1), (z > aim - 1e-5).sum(1)
    got = RankHead(weight, bias, block_rows=64, tile=512).score(hidden, targets)
    assert ((low <= got.rank) & (got.rank <= high)).all()
    assert (got.rank == expected["rank"]).float().mean() > 0.98
    torch.testing.assert_close(got.nll.double(), expected["nll"], atol=1e-5, rtol=1e-6)
    torch.testing.assert_close(got.entropy.double(), expected["entropy"], atol=1e-5, rtol=1e-6)


@pytest.mark.parametrize(
    "logit_map", [LogitMap(0.125), LogitMap(cap=4.0), LogitMap(2.0, 30.0)], ids=str
)
def test_logits_are_scaled_and_capped(logit_map):
    g = torch.Generator().manual_seed(7)
    weight, hidden = torch.randn(300, 8, generator=g), torch.randn(50, 8, generator=g)
    targets = torch.randint(0, 300, (50,), generator=g)
    z = logit_map.scale * (hidden.double() @ weight.double().t())
    if logit_map.cap:
        z = logit_map.cap * torch.tanh(z / logit_map.cap)
    expected = by_definition(z, targets)
    got = RankHead(weight, logit_map=logit_map, block_rows=16, tile=64).score(hidden, targets)
    torch.testing.assert_close(got.nll.double(), expected["nll"], atol=1e-5, rtol=1e-6)
    torch.testing.assert_close(got.entropy.double(), expected["entropy"], atol=1e-5, rtol=1e-6)
    assert (got.rank == expected["rank"]).float().mean() >= 0.98


def test_a_head_in_bf16_counts_on_the_grid_of_bf16():
    g = torch.Generator().manual_seed(8)
    weight, hidden = torch.randn(4000, 32, generator=g), torch.randn(300, 32, generator=g)
    targets = torch.randint(0, 4000, (300,), generator=g)
    z = (hidden.bfloat16() @ weight.bfloat16().t()).float()
    expected = by_definition(z, targets)
    got = RankHead(weight, dtype=torch.bfloat16, block_rows=300, tile=4096).score(hidden, targets)
    assert (got.ties == expected["ties"]).float().mean() > 0.9
    assert (got.ties > 0).float().mean() > 0.5
    narrow = RankHead(weight.bfloat16(), block_rows=64, tile=512)
    wide = RankHead(weight.bfloat16().float(), block_rows=64, tile=512)
    for name in COLUMNS:  # bf16 weights in f32 products: no grid, and the same to the bit.
        assert torch.equal(
            getattr(narrow.score(hidden, targets), name), getattr(wide.score(hidden, targets), name)
        )
    assert (narrow.score(hidden, targets).ties == 0).all()


def cases():
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 has no tomllib")
    for file in ("rows", "non_finite"):
        text = (REPOSITORY / f"testdata/ranks/{file}.toml").read_text()
        yield from tomllib.loads(text)["case"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 has no tomllib")
@pytest.mark.skipif(not (REPOSITORY / "testdata/ranks").is_dir(), reason="not in the repository")
def test_the_cases_that_every_rank_head_faces():
    count = 0
    for case in cases():
        logits = case.get("logits") or [case["fill"]] * case["vocabulary"]
        for index, value in case.get("set", []):
            logits[index] = value
        takes_part = torch.ones(len(logits), dtype=torch.bool)
        takes_part[case.get("left_out", [])] = False
        # A width of one: the logits are the weights.
        head = RankHead(torch.tensor(logits)[:, None], tile=512)
        if not takes_part.all():
            head.set_vocabulary(takes_part)
        got = head.score(torch.ones(1, 1), torch.tensor([case["target"]]))
        name = case["name"]
        if "rank" not in case:
            assert got.rank.tolist() == [0], name
            assert got.nll.isnan().all() and got.entropy.isnan().all(), name
        else:
            found = [got.rank, got.ties, got.argmax]
            assert [int(f) for f in found] == [case["rank"], case["ties"], case["argmax"]], name
            assert float(got.nll) == pytest.approx(case["nll"], abs=2e-6, rel=1e-6), name
            assert float(got.entropy) == pytest.approx(case["entropy"], abs=2e-6, rel=1e-6), name
        count += 1
    assert count > 10


def test_a_position_that_is_not_finite_spoils_no_other():
    g = torch.Generator().manual_seed(9)
    weight, hidden = torch.randn(400, 8, generator=g), torch.randn(30, 8, generator=g)
    targets = torch.randint(0, 400, (30,), generator=g)
    whole = RankHead(weight, block_rows=8, tile=64).score(hidden, targets)
    for bad in (math.nan, math.inf):
        broken = hidden.clone()
        broken[11, 3] = bad
        got = RankHead(weight, block_rows=8, tile=64).score(broken, targets)
        others = torch.arange(30) != 11
        assert int(got.rank[11]) == 0 and math.isnan(got.nll[11])
        for name in COLUMNS:
            assert torch.equal(getattr(got, name)[others], getattr(whole, name)[others])


def test_targets_that_take_no_part_are_refused():
    head = RankHead(torch.randn(10, 4))
    with pytest.raises(EngineError, match="beyond the 10 rows"):
        head.score(torch.randn(1, 4), torch.tensor([10]))
    head.set_vocabulary(torch.arange(10) < 5)
    with pytest.raises(EngineError, match="token 7 is scored"):
        head.score(torch.randn(2, 4), torch.tensor([1, 7]))


def test_a_product_that_is_not_repeated_is_noticed(monkeypatch):
    """A device that multiplies otherwise the second time would make ties wrong in silence."""
    monkeypatch.setattr(head_module, "KEPT", 0)
    head = RankHead(torch.randn(640, 4), block_rows=8, tile=64)
    plain, calls = head._logits, []

    def drifting(hidden, j):
        calls.append(j)
        return plain(hidden, j).add_(1e-3 * len(calls))

    head._logits = drifting
    with pytest.raises(EngineError, match="does not multiply the same way twice"):
        head.score(torch.randn(4, 4), torch.tensor([3, 200, 400, 600]))


@pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile needs a C++ compiler")
def test_a_compiled_head_counts_the_same():
    g = torch.Generator().manual_seed(10)
    weight, hidden = torch.randn(900, 16, generator=g), torch.randn(70, 16, generator=g)
    weight[800] = weight[5]
    hidden[3, 0] = math.nan
    targets = torch.randint(0, 900, (70,), generator=g)
    targets[0] = 800
    plain = RankHead(weight, block_rows=32, tile=256).score(hidden, targets)
    head = RankHead(weight, block_rows=32, tile=256, compile=True)
    try:
        compiled = head.score(hidden, targets)
    except Exception as error:
        if "cpp" in str(error).lower() or "compiler" in str(error).lower():
            pytest.skip(f"torch.compile does not work here: {str(error)[:100]}")
        raise
    for name in ("rank", "ties", "argmax"):
        assert torch.equal(getattr(plain, name), getattr(compiled, name)), name
    torch.testing.assert_close(plain.nll, compiled.nll, equal_nan=True, atol=2e-6, rtol=1e-6)
    torch.testing.assert_close(
        plain.entropy, compiled.entropy, equal_nan=True, atol=2e-6, rtol=1e-6
    )
    # Many equal logits: the first of equals, compiled too.
    weight, hidden = small_integers((900, 5), g), small_integers((70, 5), g)
    plain = RankHead(weight, block_rows=32, tile=256).score(hidden, targets)
    even = RankHead(weight, block_rows=32, tile=256, compile=True).score(hidden, targets)
    for name in ("rank", "ties", "argmax"):
        assert torch.equal(getattr(plain, name), getattr(even, name)), name
