"""What is said of a name that is not known: the nearest of the known ones, and all of them."""

from __future__ import annotations

from collections.abc import Iterable


def list_known(name: object, known: Iterable[str], also: Iterable[str] = ()) -> str:
    """Return the end of a message about an unknown name: "did you mean ...? known are: ...".

    Names in `also` are proposed, and not listed.
    """
    from difflib import get_close_matches  # noqa: PLC0415 - for people who mistype, not for every import

    names = list(dict.fromkeys(known))
    folded = {each.casefold(): each for each in (*also, *names)}
    near = get_close_matches(name.casefold(), folded, n=1) if isinstance(name, str) else []
    question = f"did you mean {folded[near[0]]!r}? " if near else ""
    return f"{question}known are: {', '.join(names) or 'none'}"
