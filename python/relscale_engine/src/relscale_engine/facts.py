"""What a model is: its files, their hashes and number types, and how many parameters it has.

Hashes are those of relscale's own decoder, so that a folder is the same model through both:
SHA-256 over the bytes of the weights files that are read, one after another by name, and over those
of `config.json`.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .errors import EngineError

PLACES = (
    ("model.safetensors", False),
    ("model.safetensors.index.json", True),
    ("pytorch_model.bin", False),
    ("pytorch_model.bin.index.json", True),
)
"""Where weights may lie, in the order of preference of transformers and of relscale's decoder, and
whether the file is an index of shards."""

SAFETENSORS_TYPES = {"F64": "f64", "F32": "f32", "F16": "f16", "BF16": "bf16"}

_HASHED = 1 << 20


def weights_files(folder: Path) -> list[str]:
    """Names of the weights files of a folder that are read, sorted."""
    for name, is_index in PLACES:
        path = folder / name
        if not path.is_file():
            continue
        if not is_index:
            return [name]
        try:
            shards = json.loads(path.read_text(encoding="utf-8"))["weight_map"].values()
            names = sorted({str(shard) for shard in shards})
        except (ValueError, KeyError, AttributeError) as error:
            raise EngineError(
                f"{path} is not an index of shards ({error}): fetch it again"
            ) from error
        for shard in names:
            if Path(shard).name != shard or not (folder / shard).is_file():
                raise EngineError(f"{path} names the shard {shard!r}, which is not beside it")
        return names
    wanted = ", ".join(name for name, _ in PLACES)
    raise EngineError(f"{folder} has no weights: none of {wanted}")


def sha256(paths: Iterable[Path]) -> str:
    """SHA-256 over the bytes of all files, one after another, as 64 hex digits."""
    digest = hashlib.sha256()
    buffer = bytearray(_HASHED)
    view = memoryview(buffer)
    for path in paths:
        with path.open("rb", buffering=0) as file:
            while count := file.readinto(view):
                digest.update(view[:count])
    return digest.hexdigest()


def safetensors_types(path: Path) -> dict[str, str]:
    """Name -> number type of the tensors of a safetensors file, of the types that weights have."""
    try:
        with path.open("rb") as file:
            (size,) = struct.unpack("<Q", file.read(8))
            if size > path.stat().st_size:
                raise ValueError(f"its header should have {size} bytes")
            header = json.loads(file.read(size))
        return {
            name: SAFETENSORS_TYPES[entry["dtype"]]
            for name, entry in header.items()
            if name != "__metadata__" and entry["dtype"] in SAFETENSORS_TYPES
        }
    except (struct.error, ValueError, KeyError, TypeError) as error:
        raise EngineError(f"{path} is not a safetensors file ({error}): fetch it again") from error


def stored_types(stored: dict[str, str], parameters: set[str], prefix: str) -> str:
    """The number types of the stored tensors that are parameters, sorted, joined by "+".

    `prefix` is what checkpoints of a bare model leave out of their names, or put in.
    """
    dotted = prefix + "."
    used = {
        kind
        for name, kind in stored.items()
        if name in parameters
        or dotted + name in parameters
        or name.removeprefix(dotted) in parameters
    }
    # Names of long ago, which transformers renames as it loads: all that is stored, then.
    return "+".join(sorted(used or set(stored.values())))


@dataclass(frozen=True)
class ParameterCounts:
    """Exact counts; all but `total` are disjoint, and a tied head counts as the token embedding.

    `non_embedding` is the law's S: everything but token embedding, learned position embedding and
    output head with its bias. Norms, biases and projections between embedding and width count, and
    so do all experts of a mixture.
    """

    non_embedding: int
    token_embedding: int
    position_embedding: int
    head: int
    total: int

    def as_json(self) -> dict[str, int]:
        return asdict(self)


POSITION_NAMES = (
    "wpe",
    "position_embedding",
    "position_embeddings",
    "embed_positions",
    "embed_position",
    "pos_embed",
    "pos_embeddings",
    "pos_emb",
    "position_embeds",
    "positions_embed",
)
"""Last parts of the names that tables of learned positions have in transformers."""


def count_parameters(model: Any) -> ParameterCounts:
    """Counts the parameters of a model of transformers by its modules, each tensor once.

    The input embedding and the head are those that the model names itself; a table of positions is
    an embedding module by its name.
    """
    every = {id(p): p.numel() for p in model.parameters()}
    counted: set[int] = set()

    def take(tensors: Iterable[Any]) -> int:
        new = {id(t): every[id(t)] for t in tensors if id(t) in every and id(t) not in counted}
        counted.update(new)
        return sum(new.values())

    def weights(module: Any) -> list[Any]:
        return [] if module is None else list(module.parameters())

    inputs = model.get_input_embeddings()
    token_embedding = take(weights(inputs))
    position_embedding = take(
        parameter
        for name, module in model.named_modules()
        if name.rsplit(".", 1)[-1] in POSITION_NAMES and hasattr(module, "num_embeddings")
        for parameter in module.parameters(recurse=False)
    )
    head = take(weights(model.get_output_embeddings()))
    total = sum(every.values())
    return ParameterCounts(
        non_embedding=total - token_embedding - position_embedding - head,
        token_embedding=token_embedding,
        position_embedding=position_embedding,
        head=head,
        total=total,
    )


CONTEXT_KEYS = (
    "max_position_embeddings",
    "n_positions",
    "n_ctx",
    "max_seq_len",
    "max_sequence_length",
    "seq_length",
)
"""Keys of the longest window."""

TRAINED = "context_length"
"""RWKV's name for the length that it was trained with, which is no limit."""


def context(config: Any) -> int | None:
    """Tokens of the longest window that a configuration allows, None where it sets no limit."""
    text = config.get_text_config()
    for key in CONTEXT_KEYS:
        if getattr(text, "attribute_map", {}).get(key) == TRAINED:
            continue
        value = getattr(text, key, None)
        if isinstance(value, int) and value > 0:
            return value
    return None


def first_id(value: Any) -> int | None:
    """A token id that may be absent or the first of several."""
    if isinstance(value, (list, tuple)):
        value = value[0] if value else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
