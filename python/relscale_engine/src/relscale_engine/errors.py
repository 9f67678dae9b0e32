"""The one error of this package whose words are meant for a person."""

from typing import Literal

Kind = Literal["error", "memory"]


class EngineError(Exception):
    """What went wrong, where, and what to do next.

    `kind` is the protocol's: after "memory" the program may send the request again in halves, after
    "error" the engine ends.
    """

    def __init__(self, message: str, kind: Kind = "error") -> None:
        super().__init__(message)
        self.kind: Kind = kind
