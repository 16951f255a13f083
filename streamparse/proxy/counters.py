"""What a proxy counts, as Prometheus reads it at `/metrics`.

| counter | labels |
|---|---|
| `streamparse_requests_total` | the wire of the client, the status |
| `streamparse_calls_total` | the dialect (`native` in the server's field), the place |
| `streamparse_repaired_calls_total` | |
| `streamparse_errors_total` | the code |
| `streamparse_answer_bytes_total` | |

Labels are words of this library and statuses, never a client's or a server's own: their number is bounded.
https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from streamparse.response import ParsedResponse

_NAMES: Final = {
    "requests": ("wire", "status"),
    "calls": ("dialect", "place"),
    "repaired_calls": (),
    "errors": ("code",),
    "answer_bytes": (),
}


class Counters:
    """The counters of one proxy."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, tuple[str, ...]]] = Counter()

    def add(self, name: str, *labels: str, by: int = 1) -> None:
        """Count something; the labels are those of its row above."""
        self._counts[name, labels] += by

    def add_answer(self, response: ParsedResponse) -> None:
        """Count the calls and the errors of one answer."""
        for dialect, place in list_calls(response):
            self.add("calls", dialect, place)
        self.add("repaired_calls", by=sum(call.source == "repaired" for call in response.tool_calls))
        for error in response.errors:
            self.add("errors", error.code)

    def count(self, name: str) -> int:
        """Return a counter's sum over its labels."""
        return sum(number for (each, _), number in self._counts.items() if each == name)

    def list_calls(self) -> list[tuple[str, int]]:
        """Return the dialects in which calls were found, and how many."""
        found: Counter[str] = Counter()
        for (name, labels), number in self._counts.items():
            if name == "calls":
                found[labels[0]] += number
        return sorted(found.items())

    def write(self) -> str:
        """Write the counters in the text format of Prometheus."""
        lines: list[str] = []
        for name, labels in _NAMES.items():
            full = f"streamparse_{name}_total"
            lines.append(f"# TYPE {full} counter")
            counts = {values: number for (each, values), number in sorted(self._counts.items()) if each == name}
            for values, number in (counts or ({} if labels else {(): 0})).items():
                pairs = ",".join(f'{label}="{value}"' for label, value in zip(labels, values, strict=True))
                lines.append(f"{full}{{{pairs}}} {number}" if pairs else f"{full} {number}")
        return "\n".join(lines) + "\n"


def list_calls(response: ParsedResponse) -> list[tuple[str, str]]:
    """Return the dialect and the place of each call of an answer that stands."""
    calls = [call for call in response.tool_calls if not call.revoked]
    return [(response.dialects.get(call.index, "native"), call.place) for call in calls]
