"""Any `AutoModelForCausalLM`, its trunk run by transformers, its head by `RankHead`."""

from __future__ import annotations

import gc
import json
import threading
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.utils import cached_file

from .. import REVISION, __version__, facts, logits, packing
from ..errors import EngineError
from ..frames import Scores, Window
from ..head import RankHead
from ..logits import HeadTap
from ..options import DTYPES, Options

NAMES = {getattr(torch, long): short for short, long in DTYPES.items()}

VERSION = tuple(int(part) for part in transformers.__version__.split(".")[:2])

EAGER_KEYS: dict[str, Any] = {
    "attn_logit_softcapping": None,  # Gemma 2
    "scale_attn_weights": True,  # GPT-2
    "scale_attn_by_inverse_layer_idx": False,
    "reorder_and_upcast_attn": False,
}
"""Keys that `sdpa` ignores in some version, and the values with which that does not matter."""

PROBE_LENGTHS = (11, 7)
"""Two windows of these lengths are compared alone and in one padded batch."""


class TransformersBackend:
    """A model of transformers on one device."""

    gives: tuple[str, ...] = ("ties", "entropy", "argmax")

    def __init__(
        self, name: str, folder: str | None, options: Options, note: Callable[[str], None]
    ) -> None:
        self._note = note
        self._notices: list[str] = []
        self._device = _device(options.device)
        torch.set_float32_matmul_precision("highest")
        transformers.utils.logging.disable_progress_bar()
        transformers.utils.logging.set_verbosity_error()
        source = folder or name
        self._folder = Path(folder) if folder else _cached(name, options)
        self._config = _config(source, self._folder, options)
        files = facts.weights_files(self._folder)
        hashed = _Hashed([self._folder / file for file in files])
        stored = _stored(self._folder, files)
        dtype = _dtype(options.dtype, self._device, set(stored.values()))
        self._model = self._load(source, dtype, options)
        self._config = self._model.config
        head, weight, bias = logits.output_embedding(self._model)
        self._tap = HeadTap(head)
        self.rows = weight.shape[0]
        self._inputs = self._model.get_input_embeddings().weight.shape[0]
        self.context = facts.context(self._config)
        self._counts = facts.count_parameters(self._model)
        self._look_for_experts()

        probe = self._probe()
        self._fast_attention_agrees(probe)
        logit_map = logits.find_map(self._model, probe)
        logits.check_product(self._model, probe, logit_map)
        self._padded = self._padding_changes_nothing(probe)

        cuda = self._device.type == "cuda"
        self._budget = options.batch_tokens or (32768 if cuda else 4096)
        self._head_dtype = options.head_dtype
        self._head = RankHead(
            weight,
            bias,
            logit_map,
            dtype=getattr(torch, DTYPES[options.head_dtype]),
            block_rows=options.head_rows or (4096 if cuda else 256),
            tile=options.head_tile or (16384 if cuda else 4096),
            compile=options.compile == "head",
        )
        if options.compile == "head":
            self._compile(weight)
        # Positions that meet the head together; a request of so many tokens is answered in one go.
        self._gathered = 2 * self._budget
        self._scored = self._tied = 0
        self._say_ties_at = 1
        names = {name for name, _ in self._model.named_parameters()}
        self._facts = {
            "engine": "transformers",
            "engine_version": f"{__version__}+transformers {transformers.__version__}"
            f"+torch {torch.__version__}",
            "revision": REVISION,
            "compute_dtype": NAMES[dtype],
            "head_dtype": options.head_dtype,
            "architecture": self._config.model_type,
            "weights_sha256": hashed.result(),
            "config_sha256": facts.sha256([self._folder / "config.json"]),
            "stored_dtype": facts.stored_types(stored, names, self._model.base_model_prefix),
            "files": files,
            "parameters": self._counts.as_json(),
            "rows": self.rows,
            "context": self.context,
            "bos": facts.first_id(getattr(self._config.get_text_config(), "bos_token_id", None)),
            "rank_rule": ">=",
            "batch_tokens": self._gathered,
            "notices": self._notices,
        }

    def facts(self) -> dict[str, Any]:
        return self._facts

    def set_vocabulary(self, takes_part: bytes | None) -> None:
        mask = None if takes_part is None else torch.tensor(list(takes_part), dtype=torch.bool)
        self._head.set_vocabulary(mask)

    def score(self, windows: list[Window]) -> Scores:
        for w, window in enumerate(windows):
            if len(window.ids) and max(window.ids) >= self._inputs:
                raise EngineError(
                    f"window {w} of the request has token {max(window.ids)}, beyond the "
                    f"{self._inputs} rows of the input embedding: the tokenizer does not fit"
                )
        try:
            scores = self._score(windows)
        except RuntimeError as error:
            if not _out_of_memory(error):
                raise
            self._free()
            raise EngineError(
                f"out of memory on {self._device} with one window at a time: {error}", "memory"
            ) from error
        self._say_ties(scores)
        return scores

    def _score(self, windows: list[Window]) -> Scores:
        # A window is run as far as its last scored token needs.
        needed = [int(window.scored[-1]) if len(window.scored) else 0 for window in windows]
        wanted = [w for w, length in enumerate(needed) if length]
        starts, total = {}, 0
        for w in wanted:
            starts[w] = total
            total += len(windows[w].scored)
        columns = {
            "rank": torch.zeros(total, dtype=torch.int32),
            "nll": torch.zeros(total, dtype=torch.float32),
            "ties": torch.zeros(total, dtype=torch.int32),
            "entropy": torch.zeros(total, dtype=torch.float32),
            "argmax": torch.zeros(total, dtype=torch.int32),
        }
        kept: list[Tensor] = []
        targets: list[Tensor] = []
        places: list[Tensor] = []

        def flush() -> None:
            if not kept:
                return
            place = torch.cat(places)
            found = self._head.score(torch.cat(kept), torch.cat(targets))
            for name, column in columns.items():
                column[place] = getattr(found, name)
            for held in (kept, targets, places):
                held.clear()

        todo = packing.batches([needed[w] for w in wanted], self._budget, equal=not self._padded)
        while todo:
            batch = [wanted[i] for i in todo.pop(0)]
            try:
                hidden = self._trunk([windows[w].ids[: needed[w]] for w in batch])
            except RuntimeError as error:
                if not _out_of_memory(error) or len(batch) == 1:
                    raise
                # Halve what a batch may hold, for what is left of this run too.
                error.__traceback__ = None
                self._free()
                self._budget = max(1, len(batch) // 2) * needed[batch[0]]
                rest = batch + [wanted[i] for more in todo for i in more]
                again = packing.batches(
                    [needed[w] for w in rest], self._budget, equal=not self._padded
                )
                position = {w: i for i, w in enumerate(wanted)}
                todo = [[position[rest[i]] for i in part] for part in again]
                continue
            for row, w in enumerate(batch):
                scored = _numbers(windows[w].scored)
                kept.append(hidden[row, (scored - 1).to(hidden.device)])
                targets.append(_numbers(windows[w].ids)[scored])
                places.append(torch.arange(starts[w], starts[w] + len(scored)))
            if sum(map(len, kept)) >= self._gathered:
                flush()
        flush()
        return Scores(
            rank=_array("I", columns["rank"]),
            nll=_array("f", columns["nll"]),
            ties=_array("I", columns["ties"]),
            entropy=_array("f", columns["entropy"]),
            argmax=_array("I", columns["argmax"]),
        )

    def _trunk(self, batch: list[array[int]]) -> Tensor:
        """What goes into the head: `[B, T, E]`, rows behind a window's end of no meaning.

        No mask is given: in a causal model nothing behind a position reaches it, padding neither,
        and without a mask attention takes its faster way. `_padding_changes_nothing` has seen that
        it holds for this model.
        """
        longest = max(map(len, batch))
        ids = torch.zeros(len(batch), longest, dtype=torch.int64)
        for row, window in zip(ids, batch, strict=True):
            row[: len(window)] = _numbers(window)
        with self._tap.taking() as taken:
            logits.run(self._model, ids.to(self._device))
        return taken[0]

    def _load(self, source: str, dtype: torch.dtype, options: Options) -> Any:
        if getattr(self._config, "quantization_config", None) is not None:
            raise EngineError(
                f"{source} is quantised: its parameters cannot be counted, nor its head followed. "
                "Give the checkpoint in f32, f16 or bf16"
            )
        arguments: dict[str, Any] = {
            "config": self._config,
            "dtype": dtype,
            "trust_remote_code": options.trust_remote_code,
            "revision": options.revision,
            "output_loading_info": True,
        }
        attention = "eager" if (odd := _needs_eager(self._config)) else "sdpa"
        if odd:
            self._notices.append(
                f"Plain attention, since torch's fast one does not follow {odd} in transformers."
            )
        try:
            try:
                model, info = AutoModelForCausalLM.from_pretrained(
                    source, attn_implementation=attention, **arguments
                )
            except ValueError as error:
                # Models without attention, or with their own.
                if "scaled_dot_product_attention" not in str(error):
                    raise
                model, info = AutoModelForCausalLM.from_pretrained(source, **arguments)
        except (OSError, ValueError, KeyError, ImportError, RuntimeError) as error:
            if _out_of_memory(error):
                raise EngineError(f"out of memory while {source} was loaded: {error}") from error
            raise EngineError(f"transformers cannot load {source}: {error}") from error
        if info["missing_keys"]:
            raise EngineError(
                f"the weights of {source} lack {_some(info['missing_keys'])}: transformers would "
                "fill them with random numbers"
            )
        if info["unexpected_keys"]:
            self._notices.append(
                f"Tensors that {type(model).__name__} has no use for: "
                f"{_some(info['unexpected_keys'])}."
            )
        try:
            model.to(self._device)
        except RuntimeError as error:
            raise EngineError(f"{source} cannot be put on {self._device}: {error}") from error
        model.eval()
        return model

    def _compile(self, weight: Tensor) -> None:
        """Has the head compiled before anything is asked of it."""
        try:
            self._head.score(torch.zeros(3, weight.shape[1], device=self._device), torch.arange(3))
        except Exception as error:  # Compilers fail in ways of their own.
            raise EngineError(
                f"torch.compile does not work here: {error}. Leave compile=off, or install a C++ "
                "compiler (cpu) or Triton (cuda)"
            ) from error

    def _look_for_experts(self) -> None:
        text = self._config.get_text_config()
        for key in ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"):
            experts = getattr(text, key, None)
            if isinstance(experts, int) and experts > 1:
                self._notices.append(
                    f"A mixture of {experts} experts: S counts all of them, not those that a token "
                    "meets."
                )
                return

    def _probe(self) -> Tensor:
        """A few random ids `[2, T]`, the same every time."""
        longest = PROBE_LENGTHS[0] if self.context is None else min(PROBE_LENGTHS[0], self.context)
        generator = torch.Generator().manual_seed(17)
        ids = torch.randint(0, min(self._inputs, self.rows), (2, longest), generator=generator)
        return ids.to(self._device)

    def _hidden(self, ids: Tensor) -> Tensor:
        """What goes into the head for a batch of ids."""
        with self._tap.taking() as taken:
            logits.run(self._model, ids)
        return taken[0].float()

    def _apart(self, one: Tensor, other: Tensor) -> float | None:
        """How far two hidden states are apart, of their size; None where rounding explains it."""
        gap = float((one - other).square().mean().sqrt())
        gap /= max(float(one.square().mean().sqrt()), 1e-30)
        # Rounding differs with the way, and grows from layer to layer.
        return None if gap <= min(200 * torch.finfo(self._model.dtype).eps, 0.1) else gap

    def _fast_attention_agrees(self, probe: Tensor) -> None:
        """Compares torch's fast attention with the plain one, which is the model's definition.

        Some models have options that only the plain one follows, and transformers does not always
        say so. Models from before the interface by which attention is switched stay as they are
        loaded: their two ways are separate code, and the plain one may be the wrong one (Falcon
        with ALiBi adds its bias twice there).
        """
        if getattr(self._config, "_attn_implementation", None) != "sdpa":
            return
        if not hasattr(self._model, "set_attn_implementation"):
            return
        fast = self._hidden(probe)
        try:
            self._model.set_attn_implementation("eager")
            if self._config._attn_implementation != "eager":
                return
            apart = self._apart(self._hidden(probe), fast)
            if apart is None:
                self._model.set_attn_implementation("sdpa")
        except (ValueError, NotImplementedError):
            self._model.set_attn_implementation("sdpa")
            return
        if apart is not None:
            self._notices.append(
                f"Plain attention, since hidden states by torch's fast one are {apart:.2g} of "
                "their size away from it: some option of this model is not followed there."
            )

    def _padding_changes_nothing(self, probe: Tensor) -> bool:
        """Whether hidden states are the same for a window alone and padded in a batch.

        They are in any causal model, attention or recurrence: a position sees what is before it. A
        model that is not quite causal, or mixes the windows of a batch, is found here, and its
        windows are only batched with others of their length, or not at all.
        """
        short = min(PROBE_LENGTHS[1], probe.shape[1])
        padded = probe.clone()
        padded[0, short:] = 0
        alone = self._hidden(probe[:1, :short])
        apart = self._apart(alone, self._hidden(padded)[:1, :short])
        if apart is not None:
            self._notices.append(
                f"A window's hidden states change by {apart:.2g} of their size when it is padded "
                "in a batch: only windows of one length share a batch."
            )
        return apart is None

    def _say_ties(self, scores: Scores) -> None:
        """With a head in bf16, says how many tokens are tied: at first, then at tenfold tokens."""
        if self._head_dtype == "f32" or scores.ties is None:
            return
        self._scored += len(scores.ties)
        self._tied += sum(1 for ties in scores.ties if ties)
        if self._scored >= self._say_ties_at:
            self._say_ties_at = 10 * self._scored
            self._note(
                f"The head is in {self._head_dtype}: of the first {self._scored} tokens, "
                f"{100 * self._tied / self._scored:.1f} % share their logit with another entry. "
                "Ranks count ties against the model; head_dtype=f32 avoids them."
            )

    def _free(self) -> None:
        gc.collect()
        if self._device.type == "cuda":
            torch.cuda.empty_cache()


class _Hashed:
    """A hash of files, taken while something else goes on."""

    def __init__(self, paths: list[Path]) -> None:
        self._found: str | None = None
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, args=(paths,), daemon=True)
        self._thread.start()

    def _run(self, paths: list[Path]) -> None:
        try:
            self._found = facts.sha256(paths)
        except OSError as error:
            self._error = error

    def result(self) -> str:
        self._thread.join()
        if self._found is None:
            raise EngineError(f"the weights cannot be read: {self._error}")
        return self._found


def _device(name: str | None) -> torch.device:
    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if name is None:
        return torch.device(next(kind for kind, is_there in there.items() if is_there))
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise EngineError(f"device {name!r}: {error}") from error
    if device.type not in there:
        raise EngineError(f"device {name!r} is none of {', '.join(there)}")
    if not there[device.type]:
        raise EngineError(
            f"device {name!r} is not there, or this torch ({torch.__version__}) is built without it"
        )
    return device


def _dtype(name: str, device: torch.device, stored: set[str]) -> torch.dtype:
    if name != "auto":
        dtype = getattr(torch, DTYPES[name])
    elif device.type == "cuda" and stored == {"bf16"}:
        dtype = torch.bfloat16
    else:
        # f16 overflows in some models that were trained in more; f32 holds it exactly.
        dtype = torch.float32
    assert isinstance(dtype, torch.dtype)
    return dtype


def _cached(name: str, options: Options) -> Path:
    """The folder of transformers' own cache that holds a model of the hub."""
    try:
        found = cached_file(name, "config.json", revision=options.revision)
        for place, _ in facts.PLACES:
            if cached_file(
                name, place, revision=options.revision, _raise_exceptions_for_missing_entries=False
            ):
                break
    except OSError as error:
        raise EngineError(
            f"{name} is no folder, and transformers cannot find it: {error}"
        ) from error
    return Path(str(found)).parent


def _config(source: str, folder: Path, options: Options) -> Any:
    try:
        written = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        config = AutoConfig.from_pretrained(
            source, trust_remote_code=options.trust_remote_code, revision=options.revision
        )
    except (OSError, ValueError, KeyError) as error:
        raise EngineError(
            f"transformers cannot read the configuration of {source}: {error}"
        ) from error
    if "rope_parameters" in written and VERSION < (5, 0):
        raise EngineError(
            f"the configuration of {source} has rope_parameters, the form of transformers 5, "
            f"which transformers {transformers.__version__} ignores without a word: install "
            "transformers 5"
        )
    return config


def _needs_eager(config: Any) -> str | None:
    """A key of the configuration that only plain attention follows, if it is set."""
    text = config.get_text_config()
    for key, harmless in EAGER_KEYS.items():
        value = getattr(text, key, harmless)
        if value is not None and value != harmless:
            return f"{key}={value}"
    return None


def _stored(folder: Path, files: list[str]) -> dict[str, str]:
    """Name -> number type of the stored tensors."""
    stored: dict[str, str] = {}
    for file in files:
        path = folder / file
        if file.endswith(".safetensors"):
            stored.update(facts.safetensors_types(path))
            continue
        try:
            tensors = torch.load(path, map_location="meta", weights_only=True)
        except Exception as error:
            raise EngineError(f"{path} cannot be read: {error}") from error
        stored.update(
            {name: NAMES[t.dtype] for name, t in tensors.items() if getattr(t, "dtype", 0) in NAMES}
        )
    return stored


def _out_of_memory(error: BaseException) -> bool:
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    text = str(error).lower()
    return "out of memory" in text or "can't allocate memory" in text


def _some(names: list[str]) -> str:
    shown = ", ".join(sorted(names)[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"


def _numbers(values: array[int]) -> Tensor:
    """Ids or indices as i64."""
    if not len(values):
        return torch.zeros(0, dtype=torch.int64)
    # Below 2^31: as i32 the bits are the same, and every torch can index with them.
    return torch.frombuffer(values, dtype=torch.int32).to(torch.int64)


def _array(code: str, column: Tensor) -> array[Any]:
    out: array[Any] = array(code)
    out.frombytes(column.contiguous().numpy().tobytes())
    return out
