"""Looks at calls before they run, and repairs, with the model's help, those that cannot."""

from streamparse.findings import Finding
from streamparse.repair.answers import answer_broken
from streamparse.repair.gate import CallChecks, Gate, Guard, GuardFailed, PathGuard, Preflight, preflight
from streamparse.repair.loop import Complaint, FallbackChain, RepairLoop, Retry, Strategy, SwitchMode, SwitchModel
from streamparse.repair.review import Repaired, Step, Verdict, as_text, judge

__all__ = [
    "CallChecks", "Complaint", "FallbackChain", "Finding", "Gate", "Guard", "GuardFailed", "PathGuard", "Preflight",
    "RepairLoop", "Repaired", "Retry", "Step", "Strategy", "SwitchMode", "SwitchModel", "Verdict", "answer_broken",
    "as_text", "judge", "preflight",
]  # fmt: skip
