"""The frames of the process protocol, version 1: bytes to values and back.

A frame is four ASCII bytes (its kind), the length of the payload as u32, and the payload; all
numbers are little-endian. Nothing here reads more than a frame says, and a frame says at most
`MAX_PAYLOAD`. Every malformed byte is an `EngineError` that says what was expected.
"""

from __future__ import annotations

import json
import struct
import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from .errors import EngineError

MAX_PAYLOAD = 1 << 30
"""Bytes of the largest payload."""

HELLO, VOCABULARY, WINDOWS, GOODBYE = b"HELO", b"VOCB", b"WIND", b"BYE "
SCORES, HEARTBEAT, NOTICE, FAILURE = b"SCOR", b"BEAT", b"NOTE", b"FAIL"

_HEADER = struct.Struct("<4sI")
_TWO = struct.Struct("<II")


@dataclass(frozen=True)
class Window:
    """One piece of text: `ids`, and the ascending indices (from 1) of those that are scored.

    Token `i` is scored given tokens `0..i`.
    """

    ids: array[int]
    scored: array[int]


@dataclass(frozen=True)
class Request:
    """A `WIND` frame."""

    number: int
    windows: list[Window]


@dataclass(frozen=True)
class Scores:
    """Columns over all scored positions of a request, in its order.

    `rank`, `ties` and `argmax` are arrays of type "I", `nll` and `entropy` (nats) of type "f".
    Rank 0 with a nll of NaN marks a position with a logit that was not finite. A column that the
    engine does not give is None.
    """

    rank: array[int]
    nll: array[float]
    ties: array[int] | None = None
    entropy: array[float] | None = None
    argmax: array[int] | None = None


def read_exactly(stream: BinaryIO, size: int) -> bytes:
    """Up to `size` bytes: fewer only where the stream ends."""
    parts: list[bytes] = []
    while size > 0:
        part = stream.read(size)
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def read(stream: BinaryIO) -> tuple[bytes, bytes] | None:
    """The next frame as (kind, payload); None where the stream ends between two frames."""
    head = read_exactly(stream, _HEADER.size)
    if not head:
        return None
    if len(head) < _HEADER.size:
        raise EngineError(
            f"the input ends inside the header of a frame ({len(head)} of {_HEADER.size} bytes)"
        )
    kind, size = _HEADER.unpack(head)
    if not all(0x20 <= byte < 0x7F for byte in kind):
        raise EngineError(
            f"the input holds {bytes(kind)!r} where the kind of a frame should stand: what writes "
            "to this engine does not speak the process protocol, or lost count of its bytes"
        )
    if size > MAX_PAYLOAD:
        raise EngineError(
            f"frame {kind.decode()!r} announces {size} bytes, more than the {MAX_PAYLOAD} that a "
            "frame may have"
        )
    payload = read_exactly(stream, size)
    if len(payload) < size:
        raise EngineError(
            f"the input ends inside frame {kind.decode()!r}: {len(payload)} of {size} bytes"
        )
    return kind, payload


def frame(kind: bytes, payload: bytes = b"") -> bytes:
    """A frame's bytes."""
    if len(payload) > MAX_PAYLOAD:
        raise EngineError(
            f"an answer of {len(payload)} bytes is more than a frame may have ({MAX_PAYLOAD}): "
            "send fewer windows in a request",
            "memory",
        )
    return _HEADER.pack(kind, len(payload)) + payload


def to_json(payload: bytes, kind: str) -> dict[str, Any]:
    """The JSON object of a payload."""
    try:
        value = json.loads(payload.decode("utf-8"))
    except (UnicodeDecodeError, ValueError) as error:
        raise EngineError(f"the payload of frame {kind!r} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise EngineError(f"the payload of frame {kind!r} is not a JSON object")
    return value


def from_json(value: dict[str, Any]) -> bytes:
    """A JSON payload."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")


def decode_windows(payload: bytes) -> Request:
    """The request of a `WIND` payload, its shape and indices checked."""
    whole = memoryview(payload)
    if len(whole) < _TWO.size:
        raise EngineError(f"frame 'WIND' has {len(whole)} bytes, fewer than its two counts need")
    number, count = _TWO.unpack_from(whole)
    at = _TWO.size
    windows: list[Window] = []
    for w in range(count):
        if len(whole) - at < _TWO.size:
            raise EngineError(f"request {number} ends before window {w} of {count}")
        tokens, scored = _TWO.unpack_from(whole, at)
        at += _TWO.size
        if len(whole) - at < 4 * (tokens + scored):
            raise EngineError(
                f"request {number}, window {w}: {tokens} ids and {scored} indices are announced, "
                f"but only {len(whole) - at} bytes are left"
            )
        ids = _numbers("I", whole[at : at + 4 * tokens])
        at += 4 * tokens
        indices = _numbers("I", whole[at : at + 4 * scored])
        at += 4 * scored
        _check_indices(number, w, tokens, indices)
        windows.append(Window(ids, indices))
    if at != len(whole):
        raise EngineError(f"request {number} has {len(whole) - at} bytes after its last window")
    return Request(number, windows)


def _check_indices(number: int, window: int, tokens: int, indices: array[int]) -> None:
    before = 0
    for index in indices:
        if index <= before or index >= tokens:
            raise EngineError(
                f"request {number}, window {window}: index {index} after {before} in a window of "
                f"{tokens} tokens; indices ascend, from 1 to the last token"
            )
        before = index


def encode_windows(request: Request) -> bytes:
    """The payload of a `WIND` frame: what the program sends. For tests and other programs."""
    parts = [_TWO.pack(request.number, len(request.windows))]
    for window in request.windows:
        parts += [_TWO.pack(len(window.ids), len(window.scored))]
        parts += [_bytes(window.ids), _bytes(window.scored)]
    return b"".join(parts)


def encode_scores(number: int, scores: Scores, gives: Sequence[str]) -> bytes:
    """The payload of a `SCOR` frame: the columns of `gives` after rank and nll, in that order."""
    columns: list[array[Any]] = [scores.rank, scores.nll]
    for name in gives:
        column = getattr(scores, name)
        if column is None:
            raise EngineError(f"the backend promised {name} and did not give it")
        columns.append(column)
    positions = len(scores.rank)
    if any(len(column) != positions for column in columns):
        raise EngineError(
            f"columns of {[len(column) for column in columns]} positions in one answer"
        )
    return b"".join([_TWO.pack(number, positions), *map(_bytes, columns)])


def decode_scores(payload: bytes, gives: Sequence[str]) -> tuple[int, Scores]:
    """A request's number and its scores: what the program reads. For tests and other programs."""
    number, positions = _TWO.unpack_from(payload)
    width = 4 * positions
    if len(payload) != _TWO.size + width * (2 + len(gives)):
        raise EngineError(f"an answer of {positions} positions has {len(payload)} bytes")
    body = memoryview(payload)[_TWO.size :]
    names = ["rank", "nll", *gives]
    columns = {
        name: _numbers(
            "f" if name in ("nll", "entropy") else "I", body[i * width : (i + 1) * width]
        )
        for i, name in enumerate(names)
    }
    return number, Scores(**columns)


def _numbers(code: str, payload: memoryview) -> array[Any]:
    out: array[Any] = array(code)
    assert out.itemsize == 4
    out.frombytes(payload)
    if sys.byteorder == "big":
        out.byteswap()
    return out


def _bytes(numbers: array[Any]) -> bytes:
    assert numbers.itemsize == 4
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers.tobytes()
