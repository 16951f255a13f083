"""What all tests share: hypothesis' profiles, and the switch that writes golden files anew.

No test is timed: what an example costs is for the benchmarks.  None depends on chance: the usual examples are the same
in each run, and new ones are the nightly run's.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

pytest_plugins = ["batches", "branches"]

_BY_CHANCE = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile("usual", deadline=None, max_examples=100, suppress_health_check=_BY_CHANCE, derandomize=True)
settings.register_profile("nightly", deadline=None, max_examples=20_000, suppress_health_check=_BY_CHANCE)
settings.register_profile(  # a mutant is caught by the first example that fails, however long that is
    "mutants",
    settings.get_profile("usual"),
    max_examples=20,
    phases=[Phase.explicit, Phase.generate],
    report_multiple_bugs=False,
)
settings.load_profile("usual")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background is deaf, and hands that down
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No test speaks to a stranger, and to read the certificates of all authorities takes each HTTP client 20 ms.
os.environ["SSL_CERT_FILE"] = str(Path(__file__).with_name("no_authority.pem"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the expectations of fixtures/ anew")


def pytest_collection() -> None:
    """What is imported and collected stays to the end: the garbage collector need not look for what could go."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(50_000)  # hypothesis is called back at each collection
    gc.enable()


@pytest.fixture
def uncollected() -> Iterator[None]:
    """No garbage is collected meanwhile: where calls are counted, those that end what other tests left count too."""
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether to write golden files instead of comparing with them; read every change before you keep it."""
    return bool(request.config.getoption("--update-golden"))
