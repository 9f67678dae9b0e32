"""What several tests need: tiny random models, a run in f64 as the judge, a program that speaks."""

from __future__ import annotations

import contextlib
import json
import math
import os
import subprocess
import sys
import threading
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from relscale_engine import frames
from relscale_engine.frames import Request, Window

PACKAGE = Path(__file__).resolve().parents[1]
REPOSITORY = PACKAGE.parents[1]
GOLDENS = REPOSITORY / "crates/decoder/tests/goldens"
NEEDS_TORCH = "torch and transformers are not installed"


def window(ids: list[int], scored: list[int] | None = None) -> Window:
    """A window, all its tokens but the first scored by default."""
    return Window(array("I", ids), array("I", range(1, len(ids)) if scored is None else scored))


class Program:
    """The other end of the protocol: starts an engine and talks to it."""

    def __init__(self, *command: str, **more: Any) -> None:
        paths = [str(PACKAGE / "src"), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        self.engine = subprocess.Popen(
            [sys.executable, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            **more,
        )
        self.errors = b""
        self._reading = threading.Thread(target=self._drain, daemon=True)
        self._reading.start()

    def _drain(self) -> None:
        self.errors = self.engine.stderr.read()

    def send(self, kind: bytes, payload: bytes = b"") -> None:
        self.engine.stdin.write(frames.frame(kind, payload))
        self.engine.stdin.flush()

    def hello(self, **members: Any) -> None:
        whole = {
            "protocol": 1,
            "program": "relscale test",
            "folder": None,
            "model": "m",
            "options": {},
        }
        self.send(frames.HELLO, frames.from_json({**whole, **members}))

    def receive(self, *, beats: bool = False) -> tuple[bytes, bytes] | None:
        """The next frame; heartbeats are passed over unless they are wanted."""
        while (got := frames.read(self.engine.stdout)) is not None:
            if beats or got[0] != frames.HEARTBEAT:
                return got
        return None

    def receive_json(self, kind: bytes) -> dict[str, Any]:
        got = self.receive()
        assert got is not None, f"the engine ended: {self.wait()}, {self.errors.decode()}"
        assert got[0] == kind, got
        return json.loads(got[1])

    def ask(self, windows: list[Window], number: int = 1) -> None:
        self.send(frames.WINDOWS, frames.encode_windows(Request(number, windows)))

    def close(self) -> None:
        self.engine.stdin.close()

    def wait(self, seconds: float = 60.0) -> int:
        status = self.engine.wait(seconds)
        self._reading.join(seconds)
        return status

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self.engine.stdin.close()
        if self.engine.poll() is None:
            self.engine.kill()
        self.engine.wait()
        self.engine.stdout.close()


def spread(model: Any, seed: int = 1) -> None:
    """Draws the weights of a model so that it is far from linear, and its logits far from equal."""
    import torch

    g = torch.Generator().manual_seed(seed)
    for _, p in sorted(model.named_parameters()):
        noise = torch.randn(p.shape, generator=g)
        if p.dim() == 2:
            p.data.copy_(noise * 1.5 / math.sqrt(math.sqrt(p.shape[0] * p.shape[1])))
        elif p.dim() == 1:
            p.data.add_(0.2 * noise)


def save(config: Any, folder: Path, seed: int = 1, dtype: Any = None) -> Path:
    """Writes a random model of a configuration, as transformers writes models."""
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    spread(model, seed)
    model.tie_weights()
    if dtype is not None:
        model = model.to(dtype)
    model.save_pretrained(folder)
    return folder


@contextlib.contextmanager
def in_float64() -> Iterator[None]:
    """Inside, model code that widens to float32 by name widens to float64 instead."""
    import torch

    saved = torch.float32, torch.float, torch.Tensor.float
    torch.float32 = torch.float = torch.float64
    torch.Tensor.float = lambda self: self.double()
    try:
        yield
    finally:
        torch.float32, torch.float, torch.Tensor.float = saved


def judge(folder: Path, windows: list[list[int]], attention: str = "eager") -> list[Any]:
    """Logits `[T, V]` in float64 of each window alone, by transformers, by default with plain
    attention."""
    import torch
    from transformers import AutoModelForCausalLM
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    model = AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation=attention
    )
    model = model.double().eval()
    out = []
    with in_float64(), torch.no_grad():
        for module in model.modules():
            if hasattr(module, "inv_freq") and hasattr(module, "rope_type"):
                # Version 5 keeps the plain frequencies beside the table of functions.
                init = ROPE_INIT_FUNCTIONS.get(module.rope_type)
                init = init or (
                    lambda config, _, m=module: m.compute_default_rope_parameters(config)
                )
                inv_freq, module.attention_scaling = init(module.config, "cpu")
                module.register_buffer("inv_freq", inv_freq, persistent=False)
        for ids in windows:
            logits = model(torch.tensor([ids]), use_cache=False).logits[0]
            assert logits.dtype == torch.float64
            out.append(logits)
    return out
