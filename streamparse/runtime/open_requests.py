"""The requests for approval of an agent's run that have no answer, and who waits for it."""

from __future__ import annotations

from typing import Protocol

from streamparse.runtime.facts import ApprovalRequest
from streamparse.runtime.run import Run


class Asker(Protocol):
    """A turn, or the run of an agent that a tool has asked."""

    def approve(self, request: ApprovalRequest) -> None: ...

    def deny(self, request: ApprovalRequest, why: str = "") -> None: ...


class InnerAsker:
    """The run of an agent that a call of a turn, by its key, has asked: the call waits as long as it does."""

    def __init__(self, run: Asker, turn: Run, key: str) -> None:
        self.run: Asker = run
        self._turn = turn
        self._key = key

    def approve(self, request: ApprovalRequest) -> None:
        """Let the agent's call run, and the turn's go on."""
        self.run.approve(request)
        self._turn.answer_inside(self._key, granted=True)

    def deny(self, request: ApprovalRequest, why: str = "") -> None:
        """Do not let the agent's call run, and let the turn's go on."""
        self.run.deny(request, why)
        self._turn.answer_inside(self._key, granted=False, why=why)

    def release(self) -> None:
        """Let the turn's call go on: nobody is to answer any more."""
        self._turn.withdraw_inside(self._key)


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

    def add_inner(self, request: ApprovalRequest, run: Asker, turn: Run, key: str) -> None:
        """Add a request of the run of an agent that the turn's call of this key has asked: that call waits, too."""
        turn.ask_inside(key, request)
        self.add(request, InnerAsker(run, turn, key))

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

    def forget(self, run: Asker) -> None:
        """Forget what the run of an agent has asked."""
        for key, asker in [*self._askers.items()]:
            if isinstance(asker, InnerAsker) and asker.run is run:
                asker.release()
                del self._askers[key]
                self.by_key.pop(key, None)
