"""What every provider's adapter can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from itertools import chain
from typing import Any, Self, TypeAlias

from msgspec.structs import replace

from streamparse.json.json_safety import NotJSON, make_jsonable
from streamparse.loss import Loss
from streamparse.response import ParsedResponse, ToolCall
from streamparse.schema.strict import as_warnings
from streamparse.tools import Tool, ToolResult, Toolset
from streamparse.writing.answer_parts import read_answer
from streamparse.writing.correlation import link_results, order_results
from streamparse.writing.definitions import DeclaredTool, keep_json_tools, read_entry, read_tools, split_server_tools
from streamparse.writing.json_access import is_unreadable, write_value
from streamparse.writing.parts import Text, Turn
from streamparse.writing.prompts import format_system_prompt
from streamparse.writing.results import has_text_after_media, show_result
from streamparse.writing.traits import ProviderTraits

JSONObject = dict[str, Any]
Read: TypeAlias = Callable[[Any, str, list[Loss]], list[DeclaredTool]]
"""Reads one entry of a request's `tools`, which stands in that place."""

NO_ANSWER = "(no answer)"
"""What stands for an answer of which nothing can be sent back."""

_SHOWN = 80
"""Characters of a broken text that a loss repeats."""


class Adapter(ABC):
    """Writes and reads the requests of one provider.

    What is given by the program (tools, calls, results) may raise: ValueError with the path of what JSON cannot hold.
    What is read of messages never does.
    How providers differ in what they take is in their `traits`.
    """

    traits: ProviderTraits

    @property
    def name(self) -> str:
        """The name of the provider."""
        return self.traits.name

    # -- tools -----------------------------------------------------------------------------------------

    def format_tools(self, tools: Iterable[Any]) -> list[JSONObject]:
        """The `tools` of a request, of tools of any kind; see `translate_tools` for what a schema loses."""
        return self.translate_tools(tools, [])

    def translate_tools(
        self, tools: Iterable[Any], lost: list[Loss], source: str | None = None, read: Read = read_entry
    ) -> list[JSONObject]:
        """The `tools` of a request, of tools of any kind, and what they could not say.

        Tools that this provider brings itself stay as they are, behind the others; with `source`, the provider whose
        request it was, also where their shape does not show whose they are.
        """
        others, own = split_server_tools(tools, lambda own: source == self.name or self.traits.is_server_tool(own))
        declared = [each for place, tool in others for each in read(tool, place, lost)]
        return [*self.write_tools(declared, lost), *own]

    def write_tools(self, tools: list[DeclaredTool], lost: list[Loss]) -> list[JSONObject]:
        """The `tools` of a request, and what they could not say."""
        tools = self.supported_tools(tools, lost)
        for declared in tools:
            self.traits.names.check(declared.tool.name, lost)
            done = "kept, but refused at the top of a schema"
            topmost = [key for key in self.traits.forbidden_root_keywords if key in declared.parameters]
            lost += [Loss(declared.tool.name, "", key, done, warning=True) for key in topmost]
            if declared.strict and not self.traits.strict_schemas:
                lost.append(Loss(declared.tool.name, "", "strict", "dropped: not known here"))
            elif declared.strict:
                refused = chain.from_iterable(check(declared.parameters) for check in self.traits.schema_checks)
                lost += as_warnings(declared.tool.name, refused)
        return [self.write_tool(declared, lost) for declared in tools]

    def supported_tools(self, tools: list[DeclaredTool], lost: list[Loss]) -> list[DeclaredTool]:
        """The tools that there can be here: without those that take text, where none may."""
        return tools if self.traits.custom_tools else keep_json_tools(tools, lost)

    @abstractmethod
    def write_tool(self, declared: DeclaredTool, lost: list[Loss], /) -> JSONObject:
        """One tool."""

    def read_tools(self, definitions: Any) -> list[Tool]:
        """The tools of a request's `tools`."""
        declared = read_tools(definitions, [])
        return list(Toolset(each.tool for each in declared if each.custom is None).values())

    def format_system_prompt(self, tools: Iterable[Any]) -> str:
        """The text that tells a model of tools where the server does not."""
        return format_system_prompt(tools, self.traits.dialect)

    def with_prompt_dialect(self, dialect: str) -> Self:
        """This adapter, with a system prompt that asks for another dialect, one of `PROMPTS`."""
        if dialect == self.traits.dialect:
            return self
        other = copy(self)
        other.traits = replace(self.traits, dialect=dialect)
        return other

    # -- calls -----------------------------------------------------------------------------------------

    @abstractmethod
    def format_call(self, call: ToolCall) -> JSONObject:
        """One call, as it stands in the assistant's turn."""

    def format_calls(self, calls: Iterable[ToolCall]) -> list[JSONObject]:
        """Calls in the order in which the model made them."""
        return [self.format_call(call) for call in sorted(calls, key=lambda call: call.index)]

    @abstractmethod
    def read_call(self, written: Mapping[str, Any]) -> ToolCall:
        """The call that `format_call` would write so."""

    def read_calls(self, written: Iterable[Mapping[str, Any]]) -> list[ToolCall]:
        """Calls, numbered by their order."""
        return [replace(self.read_call(each), index=number) for number, each in enumerate(written)]

    # -- results ---------------------------------------------------------------------------------------

    @abstractmethod
    def format_result(self, result: ToolResult) -> JSONObject:
        """One result, as it stands in its message."""

    def format_results(self, results: Iterable[ToolResult]) -> list[JSONObject]:
        """The whole messages that follow the assistant's turn: the results in the order of the calls.

        Those of calls that were revoked are left out, as `as_message` leaves out the calls.
        """
        order_results = sorted((each for each in results if not each.revoked), key=lambda result: result.index)
        return self.write_turn(Turn("user", [*order_results]), []) if order_results else []

    @abstractmethod
    def read_result(self, written: Mapping[str, Any]) -> ToolResult:
        """The result that `format_result` would write so; its tool is "" where the provider does not name it."""

    def read_results(self, messages: Any, calls: Iterable[ToolCall] = ()) -> list[ToolResult]:
        """The results in messages; `calls` lend them the names of their tools, and their order."""
        found = [result for turn in self.read_messages(messages) for result in turn.results]
        return order_results(found, {self.traits.ids.normalize(call.id): call for call in calls})

    # -- messages --------------------------------------------------------------------------------------

    @abstractmethod
    def write_turn(self, turn: Turn, lost: list[Loss], /) -> list[JSONObject]:
        """The messages of one turn; for one of the assistant exactly one, unless the provider takes items."""

    @abstractmethod
    def read_message(self, message: Mapping[str, Any]) -> Turn:
        """The turn that a message is, or is part of."""

    def as_message(self, response: ParsedResponse) -> Any:
        """The assistant's turn, to be sent back; see `streamparse.as_message`.

        Most providers refuse a message of nothing, so one that nothing is left of says `NO_ANSWER`.
        """
        written = self.write_turn(Turn("assistant", read_answer(response)), [])[0]
        said = _says_something(written) and written.keys() != {"role"}
        return written if said else self.write_turn(Turn("assistant", [Text(NO_ANSWER)]), [])[0]

    def read_messages(self, messages: Any, lost: list[Loss] | None = None) -> list[Turn]:
        """The turns of a conversation; parallel results are in one turn, each tied to its call.

        `lost` takes what of calls and results JSON cannot hold (bytes, values without end): they stand without it.
        """
        groups: list[list[Turn]] = []
        told: list[Loss] = [] if lost is None else lost
        for number, message in enumerate(messages if isinstance(messages, (list, tuple)) else ()):
            turn = self._read_message(message if isinstance(message, Mapping) else {}, f"messages[{number}]", told)
            if groups and self.is_same_turn(groups[-1][-1], turn):
                groups[-1].append(turn)
            else:
                groups.append([turn])
        return link_results(
            replace(group[-1], parts=[part for turn in group for part in turn.parts]) for group in groups
        )

    def _read_message(self, message: Mapping[str, Any], place: str, lost: list[Loss]) -> Turn:
        try:
            turn = self.read_message(message)
            for result in turn.results:
                write_value(result.result)
        except NotJSON:
            message = make_jsonable(message, place, lost)
            turn = self.read_message(message)
        lost += self.list_unread(message, place)
        return turn

    def list_unread(self, message: Mapping[str, Any], place: str, /) -> Iterable[Loss]:  # noqa: ARG002 - for who has more
        """What of a message no part of its turn stands for."""
        return ()

    def is_same_turn(self, before: Turn, turn: Turn) -> bool:
        """Whether two messages, one directly behind the other, are parts of one turn."""
        return bool(before.role == turn.role == "user" and before.results and turn.results)

    def write_messages(self, turns: Iterable[Turn], lost: list[Loss]) -> list[JSONObject]:
        """The messages of a conversation."""
        written: list[JSONObject] = []
        for number, turn in enumerate(turns):
            place = f"messages[{number}]"
            lost += [Loss(place, "", "arguments", _broken(call)) for call in turn.calls if is_unreadable(call)]
            lost += self._list_losses(turn, place)
            if turn.role == "system" and self.traits.separate_system:
                lost.append(Loss(place, "", "system", "dropped: not a message here"))
            elif turn.parts:
                written += filter(_says_something, self.write_turn(turn, lost))
        return written

    def adapt_turns(self, turns: list[Turn], _model: str, /) -> list[Turn]:
        """Give answers that others made what a model of this provider wants in its own; "" is any model."""
        return turns

    def add_warnings(self, written: list[JSONObject], lost: list[Loss], /) -> None:  # noqa: B027 - most have nothing to say
        """Tell what of messages some models of the provider refuse, for whoever does not know the model."""

    def _list_losses(self, turn: Turn, place: str) -> Iterator[Loss]:
        """What of a turn has no place here."""
        if turn.role != "assistant":
            yield from self.traits.media.list_losses(turn, place)
        if self.traits.separate_media:
            done = "moved: the text of a result stands before what it shows"
            told = (self.traits.media.filter(show_result(result)) for result in turn.results if result.error is None)
            yield from (Loss(place, "", "text", done) for parts in told if has_text_after_media(parts))
        if turn.name and not self.traits.message_names:
            yield Loss(place, "", "name", "dropped: a message names no speaker here")
        if turn.role == "assistant" and not self.traits.assistant_images:
            kinds = [*("image" for _ in turn.images), *("document" for _ in turn.documents)]
            yield from (Loss(place, "", kind, "dropped: an answer holds none here") for kind in kinds)
        elif not self.traits.image_detail and any(image.detail for image in turn.images):
            yield Loss(place, "", "detail", "dropped: the server decides how closely to look at a picture")


def _says_something(message: JSONObject) -> bool:
    """Whether anything of a turn is left; an empty message is refused."""
    return [] not in (message.get("content"), message.get("parts"))


def _broken(call: ToolCall) -> str:
    return f"dropped: those of {call.name!r} are no object: {call.raw[:_SHOWN]}"
