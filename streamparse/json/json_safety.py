"""Python values that JSON can hold, and those that it cannot; text that may be no JSON.

Messages come as decoded JSON, but also as programs build them: with bytes, dates, values that hold themselves.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from streamparse.limits import Limits, most
from streamparse.loss import Loss

_MOST_DEPTH: Final = most(Limits().max_depth)
_MOST_BITS: Final = 14_000  # source: sys.int_info.default_max_str_digits, 4,300 digits
"""Of an integer: Python refuses to write one of more than 4300 digits."""
_DROP: Final = object()


Data = TypeVar("Data")
Value = TypeVar("Value")


class NotJSON(ValueError):
    """A value that JSON cannot hold; the message gives its JSON pointer and its type."""

    def __init__(self, value: Any) -> None:
        lost: list[Loss] = []
        make_jsonable(value, "", lost)
        where = "; ".join(f"{each.path or 'all of it'} is {each.keyword}" for each in lost[:3])
        super().__init__(f"not JSON: {where or 'it nests too deeply'}")


def try_decode(decode: Callable[[Data], Value], data: Data) -> Value | None:
    """Decode data that may not be JSON, with any decoder; None if it is not, or nests too deeply."""
    try:
        return decode(data)
    except (ValueError, RecursionError):
        return None


def compact(value: Any, *, sort_keys: bool = False) -> str:
    """Write JSON without blanks; characters of any script are not escaped.  Raises NotJSON."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=sort_keys)
    except (TypeError, ValueError, RecursionError) as error:
        raise NotJSON(value) from error


def make_jsonable(value: Any, place: str, lost: list[Loss]) -> Any:
    """Return a value without the parts that JSON cannot hold, each of which is a loss; None if nothing is left."""
    kept = _keep(value, "", (), place, lost)
    return None if kept is _DROP else kept


def _keep(value: Any, path: str, around: tuple[int, ...], place: str, lost: list[Loss]) -> Any:
    if isinstance(value, (Mapping, list, tuple)):
        if id(value) in around or len(around) >= _MOST_DEPTH:
            return _drop(place, path, "part of itself" if id(value) in around else "nested too deeply", lost)
        around = (*around, id(value))
    if isinstance(value, Mapping):
        pairs = ((key, _keep_member(key, each, path, around, place, lost)) for key, each in value.items())
        return {key: each for key, each in pairs if each is not _DROP}
    if isinstance(value, (list, tuple)):
        items = (_keep(each, f"{path}/{number}", around, place, lost) for number, each in enumerate(value))
        return [None if each is _DROP else each for each in items]
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return _drop(place, path, "a number of too many digits", lost)
    known = value is None or isinstance(value, (str, int, float))
    return value if known else _drop(place, path, type(value).__name__, lost)


def _keep_member(key: Any, value: Any, path: str, around: tuple[int, ...], place: str, lost: list[Loss]) -> Any:
    path += "/" + str(key).replace("~", "~0").replace("/", "~1")
    if key is not None and not isinstance(key, (str, int, float)):
        return _drop(place, path, f"a key of {type(key).__name__}", lost)
    return _keep(value, path, around, place, lost)


def _drop(place: str, path: str, what: str, lost: list[Loss]) -> Any:
    lost.append(Loss(place, path, what, "dropped: JSON cannot hold it"))
    return _DROP
