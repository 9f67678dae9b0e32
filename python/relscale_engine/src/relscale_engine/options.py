"""What can be asked of the engine: on its command line, or by the program in its hello.

Both ways have the same names (`head_dtype` is `--head-dtype`); what the program sends wins.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .errors import EngineError

DTYPES = {"f32": "float32", "bf16": "bfloat16", "f16": "float16"}
"""Names of number types here, and torch's."""


@dataclass(frozen=True)
class Options:
    """Choices; a default of None is decided by the backend when it sees the model and device."""

    backend: str = "transformers"
    device: str | None = None
    dtype: str = "auto"
    head_dtype: str = "f32"
    batch_tokens: int | None = None
    head_rows: int | None = None
    head_tile: int | None = None
    compile: str = "off"
    revision: str | None = None
    trust_remote_code: bool = False
    gpu_memory: float | None = None
    context: int | None = None
    tensor_parallel: int = 1
    eager: bool = False


def _yes(text: str) -> bool:
    if text.lower() in ("yes", "true", "1", "on"):
        return True
    if text.lower() in ("no", "false", "0", "off"):
        return False
    raise ValueError("yes or no")


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError("a number from 1")
    return number


def _share(text: str) -> float:
    number = float(text)
    if not 0.0 < number <= 1.0:
        raise ValueError("a share, over 0 up to 1")
    return number


def _of(*names: str) -> Callable[[str], str]:
    def choose(text: str) -> str:
        if text not in names:
            raise ValueError("one of " + ", ".join(names))
        return text

    return choose


@dataclass(frozen=True)
class _Entry:
    """How the text of an option is read, and its line of the help."""

    read: Callable[[str], Any]
    help: str


ENTRIES: dict[str, _Entry] = {
    "backend": _Entry(_of("transformers", "vllm"), "transformers (default) or vllm"),
    "device": _Entry(str, "cuda, cuda:1, mps or cpu; default: the first of these that is there"),
    "dtype": _Entry(
        _of("auto", *DTYPES),
        "numbers of the model up to the head: f32, bf16, f16, or auto (default): f32 on cpu and "
        "mps; on cuda bf16 where the weights are stored so, else f32",
    ),
    "head_dtype": _Entry(
        _of("f32", "bf16"),
        "numbers of the product with the output embedding: f32 (default), or bf16, whose logits "
        "lie on so coarse a grid that many tokens are tied",
    ),
    "batch_tokens": _Entry(_count, "tokens of a batch, padding included; default 4096, cuda 32768"),
    "head_rows": _Entry(_count, "positions of one product of the head; default 256, cuda 4096"),
    "head_tile": _Entry(_count, "rows of the head in one product; default 4096, cuda 16384"),
    "compile": _Entry(
        _of("off", "head"),
        "torch.compile: off (default), or head for the counts over a tile; costs half a minute at "
        "the start, and a C++ compiler (cpu) or Triton (cuda)",
    ),
    "revision": _Entry(str, "branch, tag or commit of a model that is named, not a folder"),
    "trust_remote_code": _Entry(_yes, "yes: run model code that the model's folder brings"),
    "gpu_memory": _Entry(_share, "vllm: share of the device's memory that it may take"),
    "context": _Entry(_count, "vllm: its max_model_len; windows are one token shorter"),
    "tensor_parallel": _Entry(_count, "vllm: devices that share the model; default 1"),
    "eager": _Entry(_yes, "vllm: yes: no graphs; starts sooner, runs slower"),
}
"""Every option. A test compares this list with `Options`."""


def parse(arguments: list[str] | None = None) -> Options:
    """Options of a command line."""
    parser = argparse.ArgumentParser(
        prog="python -m relscale_engine",
        description="A model that Python can run, as an engine for relscale, which starts this "
        "program and speaks to it over standard input and output.",
    )
    for name, entry in ENTRIES.items():

        def read(text: str, entry: _Entry = entry) -> Any:
            try:
                return entry.read(text)
            except ValueError as error:
                raise argparse.ArgumentTypeError(f"{text!r}: {error}") from error

        parser.add_argument(
            "--" + name.replace("_", "-"),
            dest=name,
            type=read,
            default=argparse.SUPPRESS,
            metavar="VALUE",
            help=entry.help,
        )
    return Options(**vars(parser.parse_args(arguments)))


def with_program(options: Options, given: dict[str, Any]) -> Options:
    """`options` with what the program asks for in its hello (`--engine-option KEY=VALUE`)."""
    changes: dict[str, Any] = {}
    for key, value in given.items():
        name = key.replace("-", "_")
        entry = ENTRIES.get(name)
        if entry is None or name == "backend":
            allowed = ", ".join(n for n in ENTRIES if n != "backend")
            raise EngineError(f"engine option {key!r} is unknown; there are {allowed}")
        try:
            changes[name] = entry.read(str(value))
        except ValueError as error:
            raise EngineError(f"engine option {key} = {value!r}: {error}") from error
    return dataclasses.replace(options, **changes)
