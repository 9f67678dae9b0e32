"""What a model folder is: hashes and counts are those of relscale's own decoder."""

import csv
import json
import struct

import pytest
from support import GOLDENS, NEEDS_TORCH, REPOSITORY

from relscale_engine import facts
from relscale_engine.errors import EngineError

CONFIGS = REPOSITORY / "crates/decoder/tests/configs"

HASHES = {
    "gpt2": (
        "cc093e3a04d7eb614cd533f4e450d3c70619c67d2b805de78bf103231ba32f5b",
        "ffa9f9ba9cd0818791f17bcc7e1d82f214718f5938dae4c35148f7723a3143c2",
    ),
    "qwen2-sharded": (
        "73b8e8fb46a330bc779e2cab2a9318e9a1a41181f670004f4dcd359ad4b92115",
        "3fd1c692b986377692dbada81d62241b0ddfc465fcdab9cbf89edb711be5e5bd",
    ),
    "opt-bin-sharded": (
        "26203d7e5d9ee04dec9d47bc866f6731001295351526a43863f85146818399fb",
        "6b4f88553d4f1606232981df1879a9bed11181edaa1dc9efdec93a8b7b7eb4f8",
    ),
}
"""`weights_sha256` and `config_sha256` that `relscale measure` writes into `run.json` for folders
of `crates/decoder/tests/goldens`; to be taken again when those are written anew."""


@pytest.mark.skipif(not GOLDENS.is_dir(), reason="not in the repository")
@pytest.mark.parametrize("name", HASHES)
def test_hashes_are_those_of_the_decoder(name):
    folder = GOLDENS / name
    files = facts.weights_files(folder)
    assert files == sorted(files)
    found = (
        facts.sha256(folder / file for file in files),
        facts.sha256([folder / "config.json"]),
    )
    assert found == HASHES[name]


def published():
    if not CONFIGS.is_dir():
        return []
    with (CONFIGS / "counts.tsv").open() as file:
        return [
            (row["config"], int(row["non_embedding"]))
            for row in csv.DictReader(file, delimiter="\t")
        ]


@pytest.mark.skipif(not CONFIGS.is_dir(), reason="not in the repository")
@pytest.mark.parametrize(("name", "expected"), published())
def test_s_of_published_models_is_that_of_the_decoder(name, expected):
    """From modules without numbers, so that 405 B parameters cost nothing."""
    config = json.loads((CONFIGS / f"{name}.json").read_text())
    if config["model_type"] == "hf_olmo":
        pytest.skip("transformers has no hf_olmo")
    torch = pytest.importorskip("torch", reason=NEEDS_TORCH)
    transformers = pytest.importorskip("transformers", reason=NEEDS_TORCH)
    # The decoder counts the text of a model that sees as well.
    config = transformers.AutoConfig.from_pretrained(CONFIGS / f"{name}.json").get_text_config()
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(config)
    model.tie_weights()
    counts = facts.count_parameters(model)
    assert counts.non_embedding == expected
    parts = counts.token_embedding + counts.position_embedding + counts.head
    assert counts.total == counts.non_embedding + parts
    assert counts.total == sum(p.numel() for p in model.parameters())
    assert (counts.head == 0) == config.tie_word_embeddings


def folder_with(tmp_path, **files):
    for name, content in files.items():
        (tmp_path / name.replace("__", ".")).write_bytes(content)
    return tmp_path


def test_safetensors_come_before_pickles(tmp_path):
    folder = folder_with(tmp_path, model__safetensors=b"a", pytorch_model__bin=b"b")
    assert facts.weights_files(folder) == ["model.safetensors"]


def test_a_folder_without_weights_says_what_is_looked_for(tmp_path):
    with pytest.raises(EngineError, match="none of model.safetensors, "):
        facts.weights_files(tmp_path)


@pytest.mark.parametrize("shard", ["away.safetensors", "../config.json"])
def test_a_shard_that_is_not_beside_its_index_is_refused(tmp_path, shard):
    index = json.dumps({"weight_map": {"a": shard}}).encode()
    (tmp_path / "model.safetensors.index.json").write_bytes(index)
    with pytest.raises(EngineError, match="names the shard"):
        facts.weights_files(tmp_path)


def test_stored_types_are_those_of_parameters(tmp_path):
    header = json.dumps(
        {
            "__metadata__": {"format": "pt"},
            "h.0.weight": {"dtype": "F16", "shape": [1], "data_offsets": [0, 2]},
            "model.h.1.weight": {"dtype": "BF16", "shape": [1], "data_offsets": [2, 4]},
            "h.0.masked_bias": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]},
            "h.0.mask": {"dtype": "U8", "shape": [1], "data_offsets": [8, 9]},
        }
    ).encode()
    path = tmp_path / "model.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header + b"\0" * 9)
    stored = facts.safetensors_types(path)
    names = {"model.h.0.weight", "model.h.1.weight"}
    assert facts.stored_types(stored, names, "model") == "bf16+f16"
    assert facts.stored_types({"old.gamma": "f32"}, names, "model") == "f32"
    path.write_bytes(b"\xff" * 12)
    with pytest.raises(EngineError, match="not a safetensors file"):
        facts.safetensors_types(path)
