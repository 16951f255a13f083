"""Arguments that are written as tags, on their way to JSON text: an object, member by member."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from io import StringIO

from streamparse.dialects.engine.grammar import Context
from streamparse.dialects.engine.reader import Reader
from streamparse.limits import most
from streamparse.schema.kinds import Kinds, SchemaView, is_string, quote, to_json_text
from streamparse.sink import Call


class Members:
    """Tells a call's arguments as the text of a JSON object; `typed` is what the tool's schema says of them.

    `repaired` says that their markup was broken.
    """

    __slots__ = ("_call", "_end", "_keys", "_sink", "empty", "limit", "repaired", "tell", "typed")

    def __init__(self, context: Context, call: Call) -> None:
        schema = context.tools[call.name].parameters if call.name in context.tools else None
        self._call = call
        self._sink = context.sink
        self._keys: set[str] = set()
        self.typed = SchemaView([schema] if schema is not None else [], schema)
        self.empty = True
        self.repaired = False
        self._end = "{}"
        self.tell = context.sink.call_teller(call)
        self.limit = context.limits.max_call_args

    def lead(self, key: str) -> str:
        """A member begins: the text before its value, to be told with it.

        A key that came before gives the call up: which of the two values was meant, nobody knows.
        """
        if key in self._keys:
            message = f"the parameter {key!r} of {self._call.name!r} came twice"
            self._sink.call_error(self._call, "duplicate_parameter", message)
        self._keys.add(key)
        lead = ("{" if self.empty else ", ") + quote(key) + ": "
        self.empty = False
        self._end = "}"
        return lead

    def value(self, key: str, kinds: Kinds) -> Value:
        """A member begins; what is returned takes its text."""
        return Value(self.lead(key), kinds, self.limit, self.tell)

    def replace(self, text: str) -> None:
        """The text of an object is all the members, in place of the one that began."""
        self._end = ""
        self.tell(text)

    def close(self) -> None:
        """The object ends."""
        self.tell(self._end)


class Value:
    """A value's text, given in pieces by calling this: streamed once it must be a string, else held to its end."""

    __slots__ = ("_held", "_kinds", "_lead", "_most", "_open", "_tell", "verbatim")

    def __init__(self, lead: str, kinds: Kinds, limit: int | None, tell: Callable[[str], object]) -> None:
        self._lead = lead
        self._kinds = kinds
        self._most = most(limit) + 1  # more says nothing but that it is too long
        self._tell = tell
        self._held: StringIO | None = StringIO()
        self._open = True  # whether it is a string is not known yet
        self.verbatim: Callable[[str], object] | None = None
        """Takes, while the value is streamed, what can stand in a JSON string as it is."""
        self._decide("")

    def __call__(self, text: str) -> None:
        held = self._held
        if held is None:
            self._tell(quote(text)[1:-1])
            return
        held.write(text[: max(0, self._most - held.tell())])
        if self._open:
            self._decide(held.getvalue())

    @property
    def read(self) -> str | None:
        """The JSON text of the whole value; None if it was streamed."""
        return None if self._held is None else to_json_text(self._held.getvalue(), self._kinds)

    def end(self) -> None:
        """The value is whole."""
        read = self.read
        self._tell('"' if read is None else self._lead + read)

    def break_off(self) -> None:
        """The text ends inside of the value: what came of it is kept."""
        if self._held is not None:
            self._tell(self._lead + quote(self._held.getvalue())[:-1])

    def _decide(self, head: str) -> None:
        string = is_string(head, self._kinds)
        self._open = string is None
        if string:
            self._held = None
            self.verbatim = self._tell
            self._tell(self._lead + quote(head)[:-1])


def write_members(reader: Reader, context: Context, name: str, arguments: Iterable[tuple[str, str]]) -> None:
    """Pass on a call that is known as a whole; the texts of its arguments become what its tool's schema says."""
    reader.commit()
    call = context.sink.call_start(name, None, "inband")
    members = Members(context, call)
    for key, text in arguments:
        value = members.value(key, members.typed.member(key).kinds)
        value(text)
        value.end()
    members.close()
    context.sink.call_end(call)
