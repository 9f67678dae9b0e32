"""The families that relscale's decoder reads, by the folders and float64 scores that judge it."""

import json
from array import array

import pytest
from support import GOLDENS, NEEDS_TORCH, window

pytest.importorskip("torch", reason=NEEDS_TORCH)
pytest.importorskip("transformers", reason=NEEDS_TORCH)

from relscale_engine.backends.transformers import VERSION, TransformersBackend
from relscale_engine.errors import EngineError
from relscale_engine.options import Options

FOLDERS = sorted(path.parent for path in GOLDENS.glob("*/golden.json"))
NEAR = 1e-4
"""A target this close to another logit may be ranked either way."""


def otherwise(name):
    """Why transformers does not compute what the original program of a model does."""
    if name.startswith("hf_olmo"):
        return "transformers has no hf_olmo; its scores are of ai2-olmo"
    if name == "mamba-older-f16":
        return "transformers does not load the embedding's first name"
    if name in ("mamba2", "mamba2-odd") and VERSION < (5, 0):
        return "transformers 4 norms all groups of Mamba 2 at once"
    return None


@pytest.mark.skipif(not FOLDERS, reason="not in the repository")
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_scores_are_those_of_a_float64_run(folder):
    if folder.name.endswith("-rope-parameters") and VERSION < (5, 0):
        with pytest.raises(EngineError, match="the form of transformers 5"):
            TransformersBackend("m", str(folder), Options(device="cpu"), print)
        return
    if reason := otherwise(folder.name):
        pytest.skip(reason)
    backend = TransformersBackend("m", str(folder), Options(device="cpu"), print)
    golden = json.loads((folder / "golden.json").read_text())
    sequences = golden["sequences"]
    got = backend.score([window(sequence["ids"]) for sequence in sequences])
    check(got, [(s, s) for s in sequences])
    if (known := golden.get("known")) is not None:
        backend.set_vocabulary(bytes(int(row < known) for row in range(backend.rows)))
        got = backend.score([window(sequence["ids"]) for sequence in sequences])
        check(got, [(s["known_only"], s) for s in sequences])


def check(got, expected):
    def column(name):
        return [value for scores, _ in expected for value in scores[name]]

    sure = [gap > NEAR for scores, _ in expected for gap in scores["gap"]]
    assert len(got.rank) == len(sure) and sum(sure) >= 0.9 * len(sure)
    for name in ("rank", "ties"):
        found = getattr(got, name)
        assert isinstance(found, array)
        wrong = [(a, b) for a, b, s in zip(found, column(name), sure, strict=True) if s and a != b]
        assert not wrong, name
    for name in ("nll", "entropy"):
        gaps = [abs(a - b) for a, b in zip(getattr(got, name), column(name), strict=True)]
        assert max(gaps) < 1e-4, name
