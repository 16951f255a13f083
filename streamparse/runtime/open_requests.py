"""The requests for approval of an agent's run that have no answer, and who waits for it."""

from __future__ import annotations

from typing import Protocol

from streamparse.runtime.facts import ApprovalRequest


class Asker(Protocol):
    """A turn, or the run of an agent that a tool has asked."""

    def approve(self, request: ApprovalRequest) -> None: ...

    def deny(self, request: ApprovalRequest, why: str = "") -> None: ...


class OpenRequests:
    """Requests by key, in order; one may be there although nobody waits for it any more."""

    def __init__(self) -> None:
        self.by_key: dict[str, ApprovalRequest] = {}
        self._askers: dict[str, Asker] = {}

    def add(self, request: ApprovalRequest, asker: Asker | None = None) -> None:
        """Add a request, and who waits for its answer."""
        self.by_key[request.key] = request
        if asker is not None:
            self._askers[request.key] = asker

    def answer(self, request: ApprovalRequest, *, granted: bool, why: str = "") -> None:
        """Give an answer to whom it is for.  Raises ValueError if nobody waits for it."""
        asker = self._askers.get(request.key)
        if asker is None:
            raise ValueError(f"this run does not wait for an answer about the call {request.call_id!r}")
        if granted:
            asker.approve(request)
        else:
            asker.deny(request, why)
        self._askers.pop(request.key, None)
        self.by_key.pop(request.key, None)

    def end_turn(self) -> None:
        """Note that nobody waits any more."""
        self._askers.clear()

    def forget_turn(self, beginning: str) -> None:
        """Forget the requests of a turn, whose keys begin so: they can no longer be answered."""
        self.by_key = {key: each for key, each in self.by_key.items() if not key.startswith(beginning)}

    def forget(self, asker: Asker) -> None:
        """Forget what somebody has asked."""
        for key in [key for key, each in self._askers.items() if each is asker]:
            del self._askers[key]
            self.by_key.pop(key, None)
