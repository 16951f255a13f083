"""What was measured, as it is kept with `--json` and shown in the page; all times are microseconds."""

from __future__ import annotations

from dataclasses import dataclass, field

from peers.judge import Late, Verdict

__all__ = ["OURS", "OURS_OVER_HTTP", "OUR_DISTRIBUTION", "ClientRow", "PartialRow", "QuirkRow", "Results", "TextRow"]

OUR_DISTRIBUTION = "llm-streamparse"
OURS = "streamparse"
OURS_OVER_HTTP = "streamparse, over httpx"


@dataclass
class ClientRow:
    """One library on one wire."""

    wire: str
    name: str
    microseconds: dict[str, float]
    """CPU time a frame by kind of stream."""
    memory: int
    """Bytes at the peak, beyond what was in use before."""
    late: list[Late]
    """Of each call of the stream with two."""
    growth: dict[int, float]
    """CPU time a frame by characters of arguments, as far as it was followed."""


@dataclass
class QuirkRow:
    """One deviation, and what each library made of it."""

    wire: str
    name: str
    what: str
    verdicts: dict[str, Verdict]


@dataclass
class TextRow:
    """One parser of one text format."""

    format: str
    name: str
    microseconds: dict[int, float]
    """CPU time a piece by characters of arguments."""
    word: str
    """`right`, or what it made of the call instead."""
    late: int | None
    """Characters beyond the one that closes the call; None where the call is not right."""
    is_late_to_the_end: bool = False
    """Whether only the end of the text told."""


@dataclass
class PartialRow:
    """One way to look at arguments that are still open."""

    name: str
    microseconds: dict[int, float]
    """CPU time a piece by characters of arguments, as far as it was followed."""


@dataclass
class Results:
    """All of it."""

    rounds: int
    clients: list[ClientRow] = field(default_factory=list)
    quirks: list[QuirkRow] = field(default_factory=list)
    text: list[TextRow] = field(default_factory=list)
    partial: list[PartialRow] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    """What could not be used, and why."""
