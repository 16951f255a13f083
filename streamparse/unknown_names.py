"""Messages about names that are not known: the nearest of the known ones, and all of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable


def find_nearest(name: object, known: Iterable[str]) -> str | None:
    """Return the known name that was probably meant; case does not count."""
    from difflib import get_close_matches  # noqa: PLC0415 - for people who mistype, not for every import

    folded = {each.casefold(): each for each in known}
    near = get_close_matches(name.casefold(), folded, n=1, cutoff=0.7) if isinstance(name, str) else []
    return folded[near[0]] if near else None


def list_known(name: object, known: Iterable[str], also: Iterable[str] = ()) -> str:
    """Return the end of a message about an unknown name: "did you mean ...? known are: ...".

    Names in `also` are proposed, and not listed.
    """
    names = list(dict.fromkeys(known))
    near = find_nearest(name, (*also, *names))
    question = f"did you mean {near!r}? " if near else ""
    return f"{question}known are: {', '.join(names) or 'none'}"


def check_keywords(function: str, given: Iterable[str], known: Collection[str]) -> None:
    """Raise Python's own TypeError for a keyword that a function does not take; proposes the nearest, or all."""
    for word in given:
        if word not in known:
            near = find_nearest(word, known)
            hint = f"did you mean {near!r}?" if near else f"known are: {', '.join(known)}"
            raise TypeError(f"{function}() got an unexpected keyword argument {word!r}; {hint}")
