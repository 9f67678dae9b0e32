"""`python -m relscale_engine`: an engine on standard input and output."""

from __future__ import annotations

import os
import sys
from typing import Any

from . import options as settings
from .errors import EngineError
from .options import Options
from .session import Backend, Streams, serve


def load(streams: Streams, options: Options, hello: dict[str, Any]) -> Backend:
    """The backend that the command line and the program's hello ask for."""
    given = hello.get("options") or {}
    if not isinstance(given, dict):
        raise EngineError("the hello's options are not a JSON object")
    options = settings.with_program(options, given)
    folder, name = hello.get("folder"), hello.get("model")
    if folder is not None and not os.path.isdir(folder):
        raise EngineError(f"{folder} is not a folder on this machine")
    if folder is None and not name:
        raise EngineError("the hello names neither a folder nor a model")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    wanted = "vLLM" if options.backend == "vllm" else "torch and transformers"
    try:
        if options.backend == "vllm":
            from .backends.vllm import VllmBackend

            return VllmBackend(str(name), folder, options, streams.note)
        from .backends.transformers import TransformersBackend

        return TransformersBackend(str(name), folder, options, streams.note)
    except ModuleNotFoundError as error:
        raise EngineError(
            f"{wanted} cannot be imported by {sys.executable}: {error}. Install them there, or "
            "name another Python"
        ) from error


def main() -> int:
    """Runs the engine; returns its exit status."""
    options = settings.parse()
    streams = Streams.claim()
    return serve(streams, lambda hello: load(streams, options, hello))


if __name__ == "__main__":
    status = main()
    # Threads of libraries may hold the process up after the last frame.
    sys.stderr.flush()
    os._exit(status)
