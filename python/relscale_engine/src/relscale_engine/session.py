"""The engine's side of a session: clean streams, heartbeats, and the loop that answers.

Whatever prints in this process (a progress bar, a warning, a library written in C) would break a
frame in two, so the real standard output is taken away before anything else is imported.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import traceback
from array import array
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Protocol

from . import PROTOCOL, frames
from .errors import EngineError
from .frames import Scores, Window

BEAT_EVERY = 5.0
"""Seconds between heartbeats while the engine works; the protocol asks for 10 at most."""


class Backend(Protocol):
    """A model that can be asked for scores."""

    gives: tuple[str, ...]
    """Columns beside rank and nll, in the protocol's order: of "ties", "entropy", "argmax"."""

    rows: int
    """Rows of the output head."""

    context: int | None
    """Tokens of the longest window, or None without a limit."""

    def facts(self) -> dict[str, Any]:
        """The members of the answer to the program's hello that only the backend knows."""

    def set_vocabulary(self, takes_part: bytes | None) -> None:
        """Which rows take part in ranks and in the softmax: a byte (0 or 1) a row, None for all."""

    def score(self, windows: list[Window]) -> Scores:
        """Scores of all scored positions of `windows`, one window after another."""


class Streams:
    """The frames' two ends. Writing is safe from several threads."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self._reader = reader
        self._writer = writer
        self._lock = threading.Lock()

    @classmethod
    def claim(cls) -> Streams:
        """Takes standard input and output for frames alone.

        From here on, file descriptor 1 is standard error and 0 is empty, for this process, for
        libraries below Python and for what it starts; the copies kept here are not inherited.
        """
        sys.stdout.flush()
        reader, writer = os.dup(0), os.dup(1)
        empty = os.open(os.devnull, os.O_RDONLY)
        os.dup2(empty, 0)
        os.close(empty)
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        return cls(os.fdopen(reader, "rb"), os.fdopen(writer, "wb", buffering=0))

    def read(self) -> tuple[bytes, bytes] | None:
        """The next frame, or None at the end of the input."""
        return frames.read(self._reader)

    def write(self, kind: bytes, payload: bytes = b"") -> None:
        """Writes one whole frame."""
        rest = memoryview(frames.frame(kind, payload))
        with self._lock:
            while rest:
                written = self._writer.write(rest)
                rest = rest[written or 0 :]

    def note(self, message: str) -> None:
        """A warning for the person."""
        self.write(frames.NOTICE, frames.from_json({"message": message}))

    def fail(self, error: EngineError) -> None:
        """An error in words."""
        payload = {"message": str(error), "kind": error.kind}
        self.write(frames.FAILURE, frames.from_json(payload))

    @contextlib.contextmanager
    def beating(self) -> Iterator[None]:
        """Sends heartbeats while the body runs, the first after `BEAT_EVERY` seconds."""
        done = threading.Event()

        def beat() -> None:
            with contextlib.suppress(OSError):
                while not done.wait(BEAT_EVERY):
                    self.write(frames.HEARTBEAT)

        thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()


def serve(streams: Streams, load: Callable[[dict[str, Any]], Backend]) -> int:
    """Answers until the program says goodbye or closes its end; returns the exit status.

    `load` makes the backend from the program's hello.
    """
    try:
        return _serve(streams, load)
    except BrokenPipeError:
        # The program is gone: there is nobody left to tell.
        return 0
    except EngineError as error:
        failure = error
    except MemoryError as error:
        failure = EngineError(f"out of memory while the model was loaded: {error}")
    except Exception as error:  # What nobody foresaw is still told in words.
        traceback.print_exc()
        failure = EngineError(f"{type(error).__name__}: {error}")
    print(f"relscale_engine: {failure}", file=sys.stderr)
    with contextlib.suppress(OSError):
        streams.fail(failure)
    return 1


def _serve(streams: Streams, load: Callable[[dict[str, Any]], Backend]) -> int:
    first = streams.read()
    if first is None:
        return 0
    kind, payload = first
    if kind == frames.GOODBYE:
        return 0
    if kind != frames.HELLO:
        raise EngineError(f"the first frame is {kind.decode()!r}, not 'HELO'")
    hello = frames.to_json(payload, "HELO")
    if hello.get("protocol") != PROTOCOL:
        raise EngineError(
            f"the program speaks protocol {hello.get('protocol')!r}, this engine speaks "
            f"{PROTOCOL}: use versions of both that fit together"
        )
    with streams.beating():
        backend = load(hello)
        answer = {"protocol": PROTOCOL, **backend.facts(), "gives": list(backend.gives)}
    streams.write(frames.HELLO, frames.from_json(answer))

    while (received := streams.read()) is not None:
        kind, payload = received
        if kind == frames.GOODBYE:
            return 0
        if kind == frames.VOCABULARY:
            backend.set_vocabulary(_vocabulary(payload, backend.rows))
        elif kind == frames.WINDOWS:
            _answer(streams, backend, payload)
        else:
            raise EngineError(
                f"frame {kind.decode()!r} is none that this engine knows after the hello: it takes "
                "'VOCB', 'WIND' and 'BYE '"
            )
    return 0


def _answer(streams: Streams, backend: Backend, payload: bytes) -> None:
    request = frames.decode_windows(payload)
    for w, window in enumerate(request.windows):
        _check(request.number, w, window, backend)
    try:
        with streams.beating():
            scores = backend.score(request.windows)
        answer = frames.encode_scores(request.number, scores, backend.gives)
        streams.write(frames.SCORES, answer)
    except EngineError as error:
        if error.kind != "memory":
            raise
        streams.fail(error)
    except MemoryError as error:
        streams.fail(EngineError(f"out of memory in request {request.number}: {error}", "memory"))


def _check(number: int, w: int, window: Window, backend: Backend) -> None:
    tokens = len(window.ids)
    if backend.context is not None and tokens > backend.context:
        raise EngineError(
            f"request {number}, window {w} has {tokens} tokens, more than the model's context of "
            f"{backend.context}"
        )
    scored: array[int] = array("I", (window.ids[i] for i in window.scored))
    if scored and max(scored) >= backend.rows:
        raise EngineError(
            f"request {number}, window {w}: token {max(scored)} is beyond the {backend.rows} rows "
            "of the head: the tokenizer does not fit the model"
        )


def _vocabulary(payload: bytes, rows: int) -> bytes | None:
    if not payload:
        return None
    if len(payload) != rows:
        raise EngineError(f"frame 'VOCB' has {len(payload)} bytes for a head of {rows} rows")
    if payload.strip(b"\0\1"):
        raise EngineError("frame 'VOCB' has a byte that is neither 0 nor 1")
    if 1 not in payload:
        raise EngineError("frame 'VOCB' leaves out every row")
    return payload
