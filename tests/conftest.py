"""What all tests share: hypothesis' profiles, and the switch that writes golden files anew.

No test is timed: what an example costs is for the benchmarks.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("usual", deadline=None, max_examples=200, suppress_health_check=_SLOW)
settings.register_profile("nightly", deadline=None, max_examples=20_000, suppress_health_check=_SLOW)
settings.load_profile("usual")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the expectations of fixtures/ anew")


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether to write golden files instead of comparing with them; read every change before you keep it."""
    return bool(request.config.getoption("--update-golden"))
