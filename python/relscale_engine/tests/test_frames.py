"""The protocol's bytes: what is written is read back, and what is malformed is refused in words."""

import io
import struct
from array import array

import pytest
from support import window

from relscale_engine import frames
from relscale_engine.errors import EngineError
from relscale_engine.frames import Request, Scores


def test_a_frame_comes_back():
    stream = io.BytesIO(frames.frame(frames.NOTICE, b"{}") + frames.frame(frames.GOODBYE))
    assert frames.read(stream) == (b"NOTE", b"{}")
    assert frames.read(stream) == (b"BYE ", b"")
    assert frames.read(stream) is None


def test_the_bytes_are_those_of_the_protocol():
    assert frames.frame(b"BEAT") == b"BEAT\0\0\0\0"
    asked = frames.encode_windows(Request(7, [window([5, 6, 300], [1, 2]), window([9], [])]))
    assert asked == struct.pack("<12I", 7, 2, 3, 2, 5, 6, 300, 1, 2, 1, 0, 9)
    scores = Scores(
        rank=array("I", [3]),
        nll=array("f", [0.5]),
        ties=array("I", [1]),
        entropy=array("f", [2.0]),
        argmax=array("I", [8]),
    )
    told = frames.encode_scores(7, scores, ("ties", "entropy", "argmax"))
    assert told == struct.pack("<IIIfIfI", 7, 1, 3, 0.5, 1, 2.0, 8)
    assert frames.encode_scores(7, scores, ()) == told[:16]
    assert frames.decode_scores(told, ("ties", "entropy", "argmax")) == (7, scores)


def test_windows_come_back():
    request = Request(3, [window([1, 2, 3, 4], [1, 3]), window([], []), window([7, 8])])
    assert frames.decode_windows(frames.encode_windows(request)) == request


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"HEL", "ends inside the header"),
        (b"BEAT\x05\0\0\0abc", "3 of 5 bytes"),
        (b"WIND\xff\xff\xff\xff", "more than the"),
        (b"\x80\x02}q\0\0\0\0", "does not speak the process protocol"),
    ],
)
def test_garbage_is_refused_in_words(raw, words):
    with pytest.raises(EngineError, match=words):
        frames.read(io.BytesIO(raw))


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ([1], "two counts"),
        ([1, 1], "before window 0"),
        ([1, 1, 4, 1, 5], "only 4 bytes are left"),
        ([1, 1, 2, 1, 5, 6, 0], "index 0 after 0"),
        ([1, 1, 2, 1, 5, 6, 2], "index 2 after 0 in a window of 2"),
        ([1, 1, 3, 2, 5, 6, 7, 2, 1], "index 1 after 2"),
        ([1, 1, 1, 0, 5, 9], "4 bytes after its last window"),
    ],
)
def test_a_malformed_request_is_refused_in_words(numbers, words):
    with pytest.raises(EngineError, match=words):
        frames.decode_windows(struct.pack(f"<{len(numbers)}I", *numbers))


def test_a_column_that_was_promised_must_be_there():
    scores = Scores(rank=array("I", [1]), nll=array("f", [0.0]))
    with pytest.raises(EngineError, match="promised ties"):
        frames.encode_scores(1, scores, ("ties",))


@pytest.mark.parametrize("payload", [b"\xff", b"{", b"[1]"])
def test_a_payload_that_is_no_json_object_is_refused(payload):
    with pytest.raises(EngineError, match="JSON"):
        frames.to_json(payload, "HELO")
