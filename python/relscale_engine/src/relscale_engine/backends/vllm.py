"""vLLM in this process (`LLM(...)`): no server, no JSON, no detokenising.

vLLM tells of a prompt's tokens their log-probability and their rank, no ties, entropy or best
entry. It counts ranks by `>=` from 0.11 on; older ones are refused. In a model of bf16 it also
takes the product of the head in bf16, where many logits are equal and ranks with them too large;
newer versions take it in f32 when asked by `head_dtype`, which is asked here and looked at
afterwards.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import os
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import REVISION, __version__, facts
from ..errors import EngineError
from ..frames import Scores, Window
from ..options import DTYPES, Options

OLDEST = (0, 11)

NO_PROBABILITY = -9999.0
"""What vLLM writes for a log-probability that is not finite."""


class VllmBackend:
    """A model that vLLM runs on the devices of this machine."""

    gives: tuple[str, ...] = ()

    def __init__(
        self, name: str, folder: str | None, options: Options, note: Callable[[str], None]
    ) -> None:
        if folder is None:
            raise EngineError("the vllm backend wants a model folder: fetch the model first")
        self._notices: list[str] = []
        # The model in this process: it dies with it, and nothing else writes to its streams.
        os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
        os.environ.setdefault("VLLM_WORKER_MULTIPROC_METHOD", "spawn")
        os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
        vllm = importlib.import_module("vllm")
        self._version = str(vllm.__version__)
        if _numbers_of(self._version) < OLDEST:
            raise EngineError(
                f"vLLM {self._version} counts ranks by another rule; 0.11 or newer is wanted"
            )
        root = Path(folder)
        files = facts.weights_files(root)
        self._llm = self._start(vllm, folder, options)
        config = self._llm.llm_engine.model_config
        self._head_dtype = self._head(config, options)
        self._sampling = _sampling(vllm)
        self.rows = int(config.get_vocab_size())
        # One token more is generated than is read.
        self.context: int | None = int(config.max_model_len) - 1
        hf = config.hf_text_config
        counts, stored = _counts(root, files, options)
        self._facts = {
            "engine": "vllm",
            "engine_version": f"{__version__}+vllm {self._version}",
            "revision": REVISION,
            "compute_dtype": _short(config.dtype),
            "head_dtype": self._head_dtype,
            "architecture": hf.model_type,
            "weights_sha256": facts.sha256([root / file for file in files]),
            "config_sha256": facts.sha256([root / "config.json"]),
            "stored_dtype": stored,
            "files": files,
            "parameters": counts.as_json(),
            "rows": self.rows,
            "context": self.context,
            "bos": facts.first_id(getattr(hf, "bos_token_id", None)),
            "rank_rule": ">=",
            "rows_only": True,
            "batch_tokens": options.batch_tokens or 65536,
            "notices": self._notices,
        }

    def facts(self) -> dict[str, Any]:
        return self._facts

    def set_vocabulary(self, takes_part: bytes | None) -> None:
        if takes_part is not None and 0 in takes_part:
            raise EngineError(
                "vLLM ranks over all rows of the head and can leave none out: count all rows "
                "(--vocab rows)"
            )

    def score(self, windows: list[Window]) -> Scores:
        wanted = [window for window in windows if len(window.scored)]
        # A window is read as far as its last scored token needs, that token included.
        prompts = [{"prompt_token_ids": w.ids[: w.scored[-1] + 1].tolist()} for w in wanted]
        rank: array[int] = array("I")
        nll: array[float] = array("f")
        if prompts:
            try:
                answers = self._llm.generate(prompts, self._sampling, use_tqdm=False)
            except RuntimeError as error:
                if "out of memory" not in str(error).lower():
                    raise
                raise EngineError(f"vLLM ran out of memory: {error}", "memory") from error
            if len(answers) != len(prompts):
                raise EngineError(f"vLLM answered {len(answers)} of {len(prompts)} windows")
            for window, answer in zip(wanted, answers, strict=True):
                _read(window, answer.prompt_logprobs, rank, nll)
        return Scores(rank, nll)

    def _start(self, vllm: Any, folder: str, options: Options) -> Any:
        arguments: dict[str, Any] = {
            "model": folder,
            "skip_tokenizer_init": True,
            "trust_remote_code": options.trust_remote_code,
            "dtype": DTYPES.get(options.dtype, "auto"),
            "tensor_parallel_size": options.tensor_parallel,
            "enforce_eager": options.eager,
            # What is cached has no scores.
            "enable_prefix_caching": False,
            "disable_log_stats": True,
            "seed": 0,
        }
        if options.head_dtype == "f32":
            arguments["hf_overrides"] = {"head_dtype": "float32"}
        if options.gpu_memory is not None:
            arguments["gpu_memory_utilization"] = options.gpu_memory
        if options.context is not None:
            arguments["max_model_len"] = options.context
        try:
            return vllm.LLM(**arguments)
        except Exception as error:  # vLLM raises whatever its workers raise.
            raise EngineError(f"vLLM cannot run {folder}: {error}") from error

    def _head(self, config: Any, options: Options) -> str:
        """In what numbers the product of the head is really taken."""
        compute = _short(config.dtype)
        found = _short(getattr(config, "head_dtype", config.dtype))
        if options.head_dtype == "f32" and found != "f32":
            raise EngineError(
                f"vLLM {self._version} takes the product of the head in {found}, where many logits "
                "are equal and ranks too large. Use dtype=f32, a vLLM whose generating models "
                "follow head_dtype, or the transformers backend; or accept it with head_dtype=bf16"
            )
        if found != "f32":
            self._notices.append(
                f"The product of the head is taken in {found}: many tokens share their logit with "
                "others, which ranks count against the model, and vLLM does not tell how many."
            )
        if compute == "f32":
            return "f32"
        return found


def _sampling(vllm: Any) -> Any:
    arguments: dict[str, Any] = {
        "temperature": 0.0,
        "max_tokens": 1,
        "prompt_logprobs": 0,
        "detokenize": False,
    }
    if "flat_logprobs" in getattr(vllm.SamplingParams, "__struct_fields__", ()):
        arguments["flat_logprobs"] = True
    return vllm.SamplingParams(**arguments)


def _read(window: Window, told: Any, rank: array[int], nll: array[float]) -> None:
    """Appends the scores of a window from what vLLM told of its tokens."""
    length = window.scored[-1] + 1
    if told is None or len(told) != length:
        got = "nothing" if told is None else f"{len(told)} entries"
        raise EngineError(f"vLLM told {got} of a window of {length} tokens")
    flat = all(hasattr(told, name) for name in ("start_indices", "token_ids", "ranks"))
    for index in window.scored:
        token = window.ids[index]
        if flat:
            start, end = int(told.start_indices[index]), int(told.end_indices[index])
            at = next((i for i in range(start, end) if told.token_ids[i] == token), None)
            found = None if at is None else (told.logprobs[at], told.ranks[at])
        else:
            entry = (told[index] or {}).get(token)
            found = None if entry is None else (entry.logprob, entry.rank)
        if found is None:
            raise EngineError(f"vLLM did not tell the score of token {token} at {index}")
        logprob, place = float(found[0]), int(found[1] or 0)
        if math.isfinite(logprob) and logprob > NO_PROBABILITY and place > 0:
            rank.append(place)
            nll.append(max(0.0, -logprob))
        else:
            rank.append(0)
            nll.append(math.nan)


def _counts(root: Path, files: list[str], options: Options) -> tuple[facts.ParameterCounts, str]:
    """Parameters by the modules of transformers, made without numbers; stored types."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    try:
        config = AutoConfig.from_pretrained(root, trust_remote_code=options.trust_remote_code)
        # Modules that make constants as they are imported must not make them without numbers.
        with contextlib.suppress(KeyError):
            AutoModelForCausalLM._model_mapping[type(config)]
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(
                config, trust_remote_code=options.trust_remote_code
            )
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise EngineError(
            f"transformers does not know the modules of {root}, which S is counted from: {error}"
        ) from error
    model.tie_weights()
    names = {name for name, _ in model.named_parameters()}
    stored: dict[str, str] = {}
    for file in files:
        if file.endswith(".safetensors"):
            stored.update(facts.safetensors_types(root / file))
    kinds = facts.stored_types(stored, names, model.base_model_prefix)
    return facts.count_parameters(model), kinds or _short(config.torch_dtype or "unknown")


def _short(dtype: Any) -> str:
    long = str(dtype).removeprefix("torch.")
    return {long: short for short, long in DTYPES.items()}.get(long, long)


def _numbers_of(version: str) -> tuple[int, int]:
    parts = version.split(".")
    try:
        return int(parts[0]), int(parts[1])
    except (IndexError, ValueError):
        # Built from a source tree: newer than any release.
        return (1 << 30, 0)
