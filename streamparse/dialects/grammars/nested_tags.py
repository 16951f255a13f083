"""Grammar D with tags inside values: a parameter's tag is its name, and what it holds may be tags again.

    <tool_call>
    <invoke name="NAME"><KEY>VALUE</KEY><KEY><CHILD>VALUE</CHILD>...</KEY></invoke>
    </tool_call>

Each tag bears a mark that prose does not have.  What an element with children is, the schema says: an object, or a
list of its children; without a schema `<item>` children make a list, and a child that comes more than once is one.
A value without children streams as in every tag format; one with children is passed on when its tag closes.  An element
that holds nothing, where the schema permits no string, is an empty list or object.
"""

from __future__ import annotations

from functools import cached_property
from io import StringIO

import msgspec
from msgspec import field

from streamparse.dialects.engine.markers import GAP
from streamparse.dialects.engine.reader import Match, Reader, Step
from streamparse.dialects.grammars.call_block import Patterns
from streamparse.dialects.grammars.tag_calls import TagCalls
from streamparse.dialects.grammars.tag_values import ObjectWriter
from streamparse.schema.kinds import ANY, Kinds, SchemaView, quote, to_json_text

# What a text may be where the schema says nothing: a number could be a string.
_UNTYPED: Kinds = ANY - {"integer", "number"}
_NAME = r"[^<>\s/]{1,256}"
_DEEPEST = 128  # bound: tags that are open inside each other, each with a frame of its own


class NestedTags(TagCalls, frozen=True, dict=True):
    """The tags of one format; `mark` is the pattern of what is before each."""

    mark: str = ""
    untyped: Kinds = _UNTYPED

    @cached_property
    def inner(self) -> Patterns:
        """The tags inside a value."""
        return Patterns(
            first=rf"{GAP}{self.mark}<{_NAME}>",
            any=rf"{self.mark}<(?:/(?P<close>{_NAME})|(?P<open>{_NAME}))>",
            # The closing tag of an element that holds nothing.
            hollow_end=rf"{GAP}{self.mark}</(?P<closing>{_NAME})>",
        )

    def _read_parameter(self, reader: Reader, members: ObjectWriter, token: Match) -> Step[bool]:
        if (yield from reader.peek_match(self.inner.first)) is None:
            empty = _write_empty(members.typed.view_member(token["key"]).kinds)
            end = (yield from reader.peek_match(self.inner.hollow_end)) if empty else None
            if end is None or end["closing"] != token["key"]:
                return (yield from super()._read_parameter(reader, members, token))
            reader.take(len(end[0]))
            members.write(members.begin_member(token["key"]) + empty)
            return True
        root = _Element(token["key"], members.typed.view_member(token["key"]))
        lead, raw = members.begin_member(token["key"]), _Held(members.limit)
        whole = yield from self._read_tree(reader, root, raw)
        text = raw.text.getvalue()
        # What is too long or too deep to be read is passed on as it came: no JSON, so the call becomes an error.
        members.write(
            lead + (quote(text)[:-1] if not whole else text if raw.is_full or raw.is_deep else root.write_json())
        )
        members.was_repaired = members.was_repaired or raw.is_odd
        return whole

    def _read_tree(self, reader: Reader, root: _Element, raw: _Held) -> Step[bool]:
        """Read what the root holds, and its closing tag; False if the text ends before it."""
        path = [root]
        while path:
            raw.element = path[-1]
            if not (yield from reader.read_until(self.markers, raw)):
                return False
            tag = None
            if (yield from reader.peek_match(self.patterns.ended)) is None:  # else the closing tags are missing
                tag = yield from reader.match(self.inner.any)
                if tag is None:
                    raw(reader.take(1))
                    continue
                raw.text.write(tag[0])
            if tag is None or tag["close"] is not None:
                name = root.name if tag is None else tag["close"]
                raw.is_odd = raw.is_odd or tag is None or name != path[-1].name or path[-1].is_mixed
                _close(path, name)
            elif len(path) < _DEEPEST:
                path.append(_Element(tag["open"], path[-1].view_child(tag["open"])))
            else:
                raw.is_deep = True
        return True


class _Element(msgspec.Struct, dict=True):
    """An open tag inside a value."""

    name: str
    typed: SchemaView
    text: StringIO = field(default_factory=StringIO)
    children: list[tuple[str, str]] = field(default_factory=list)

    @property
    def is_list(self) -> bool:
        """Whether its children are the elements of a list."""
        kinds = self.typed.kinds
        if "array" not in kinds or "object" not in kinds:
            return "array" in kinds
        return bool(self.children) and all(name == "item" for name, _ in self.children)

    @property
    def is_mixed(self) -> bool:
        """Whether there is text between its children."""
        return bool(self.children) and bool(self.text.getvalue().strip())

    def view_child(self, name: str) -> SchemaView:
        """What a child may be."""
        member = self.typed.view_member(name)
        return self.typed.view_item() if self.is_list or (name == "item" and member.kinds == ANY) else member

    def write_json(self) -> str:
        """The JSON text of what it holds."""
        if not self.children and (empty := _write_empty(self.typed.kinds)) and not self.text.getvalue().strip():
            return empty
        if not self.children:
            return to_json_text(self.text.getvalue(), _get_leaf_kinds(self.typed))
        if self.is_list:
            return _write_list([text for _, text in self.children])
        members: dict[str, list[str]] = {}
        for name, text in self.children:
            members.setdefault(name, []).append(text)
        values = (
            f"{quote(name)}: {texts[0] if len(texts) == 1 else _write_list(texts)}" for name, texts in members.items()
        )
        return "{" + ", ".join(values) + "}"


class _Held:
    """The text of a whole value, markup and all, and on the way of its current element."""

    def __init__(self, limit: int | None) -> None:
        self.element: _Element | None = None
        self.text = StringIO()
        self.is_deep = False  # more tags were open at one time than are followed
        self.is_odd = False  # a closing tag is missing, or closes nothing
        self._limit = limit

    @property
    def is_full(self) -> bool:
        """Whether it is longer than arguments may be."""
        return self._limit is not None and self.text.tell() > self._limit

    def __call__(self, text: str) -> None:
        if not self.is_full and self.element is not None:
            self.text.write(text)
            self.element.text.write(text)


def _close(path: list[_Element], name: str) -> None:
    """Close the innermost element of that name and all inside it; a closing tag that closes nothing is ignored."""
    if not any(element.name == name for element in path):
        return
    while True:
        element = path.pop()
        if path:
            path[-1].children.append((element.name, element.write_json()))
        if element.name == name:
            return


def _write_empty(kinds: Kinds) -> str:
    """The JSON text of nothing, where that can only be a container; else ""."""
    if "string" in kinds or "null" in kinds:
        return ""
    return "[]" if "array" in kinds else "{}" if "object" in kinds else ""


def _get_leaf_kinds(typed: SchemaView) -> Kinds:
    return typed.kinds if typed.kinds != ANY else _UNTYPED


def _write_list(texts: list[str]) -> str:
    return "[" + ", ".join(texts) + "]"
