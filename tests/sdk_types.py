"""The types of the official SDKs, each built once: to build a validator costs more than all that it validates."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

__all__ = ["assert_taken", "validator_of"]


@cache
def validator_of(kind: Any) -> Any:
    """Pydantic's `TypeAdapter` of a type."""
    return pytest.importorskip("pydantic").TypeAdapter(kind)


def assert_taken(kind: Any, written: Any) -> None:
    """Assert that a type takes this, knows each field of it, and would send the same."""
    validator = validator_of(kind)
    read = validator.validate_python(written)
    assert validator.dump_python(read, mode="json", by_alias=True, exclude_unset=True, warnings=False) == written
