"""What every provider's adapter can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from itertools import chain
from typing import Any, Self, TypeAlias

from msgspec.structs import replace

from streamparse.json.json_safety import NotJSON, make_jsonable
from streamparse.loss import MAX_SHOWN, Loss
from streamparse.response import ParsedResponse, ToolCall
from streamparse.schema.strict import as_warnings
from streamparse.tools import Tool, ToolResult, Toolset
from streamparse.writing.answer_parts import read_answer
from streamparse.writing.content import VisiblePart
from streamparse.writing.correlation import link_results, order_results
from streamparse.writing.definitions import DeclaredTool, keep_json_tools, read_entry, read_tools, split_server_tools
from streamparse.writing.json_access import (
    fill_template,
    get_str,
    is_unreadable,
    read_call,
    read_template,
    write_arguments,
    write_value,
)
from streamparse.writing.markup import PromptDialect
from streamparse.writing.parts import Item, Message, Part, Text
from streamparse.writing.prompts import format_system_prompt
from streamparse.writing.results import has_text_after_media, show_result
from streamparse.writing.traits import ProviderTraits

JSONObject = dict[str, Any]
ReadTool: TypeAlias = Callable[[Any, str, list[Loss]], list[DeclaredTool]]
"""Reads one entry of a request's `tools`; the text is its place."""

NO_ANSWER = "(no answer)"
"""The text of an answer of which nothing can be sent back."""


class Adapter(ABC):
    """Writes and reads the requests of one provider.

    What the program gives (tools, calls, results) may raise: ValueError with the path of what JSON cannot hold.
    Messages read from a provider never do.
    How providers differ in what they take is in their `traits`.
    """

    traits: ProviderTraits

    @property
    def name(self) -> str:
        """The name of the provider."""
        return self.traits.name

    # -- tools -----------------------------------------------------------------------------------------

    def format_tools(self, tools: Iterable[Any]) -> list[JSONObject]:
        """Return the `tools` of a request, of tools of any kind; `translate_tools` lists what a schema loses."""
        return self.translate_tools(tools, [])

    def translate_tools(
        self, tools: Iterable[Any], lost: list[Loss], source: str | None = None, read: ReadTool = read_entry
    ) -> list[JSONObject]:
        """Return the `tools` of a request, of tools of any kind; add the losses.

        Tools that this provider brings itself stay as they are, after the others; with `source`, the provider whose
        request it was, also where their shape does not show whose they are.
        """
        others, own = split_server_tools(tools, lambda own: source == self.name or self.traits.is_server_tool(own))
        declared = [each for place, tool in others for each in read(tool, place, lost)]
        return [*self.write_tools(declared, lost), *own]

    def write_tools(self, tools: list[DeclaredTool], lost: list[Loss]) -> list[JSONObject]:
        """Write the `tools` of a request; add the losses."""
        tools = self.list_supported_tools(tools, lost)
        for declared in tools:
            self._check_tool(declared, lost)
        return [self.write_tool(declared, lost) for declared in tools]

    def _check_tool(self, declared: DeclaredTool, lost: list[Loss]) -> None:
        name, traits = declared.tool.name, self.traits
        traits.names.check(name, lost)
        traits.parameter_names.check_parameters(name, declared.parameters, lost)
        for key in traits.forbidden_root_keywords:
            if key in declared.parameters:
                lost.append(Loss(name, "", key, "kept, but refused at the top of a schema", warning=True))
        if declared.strict and not traits.strict_schemas:
            lost.append(Loss(name, "", "strict", "dropped: not known here"))
        elif declared.strict:
            refused = chain.from_iterable(check(declared.parameters) for check in traits.schema_checks)
            lost += as_warnings(name, refused)

    def list_supported_tools(self, tools: list[DeclaredTool], lost: list[Loss]) -> list[DeclaredTool]:
        """Return the tools that this provider can have: without those that take text, where none may."""
        return tools if self.traits.write_custom_tool else keep_json_tools(tools, lost)

    def write_tool(self, declared: DeclaredTool, lost: list[Loss], /) -> JSONObject:  # noqa: ARG002 - for overrides
        """Write one tool; add the losses."""
        if declared.custom is not None and self.traits.write_custom_tool is not None:
            return self.traits.write_custom_tool(declared.custom)
        return self.fill_tool(declared, declared.parameters)

    def fill_tool(self, declared: DeclaredTool, schema: JSONObject) -> JSONObject:
        """Write one tool with a schema."""
        strict = declared.strict and self.traits.strict_schemas
        fields = {"name": declared.tool.name, "description": declared.tool.description}
        return fill_template(self.traits.tool, {**fields, "schema": schema, "strict": strict})

    def read_tools(self, definitions: Any) -> list[Tool]:
        """Read the tools of a request's `tools`."""
        declared = read_tools(definitions, [])
        return list(Toolset(each.tool for each in declared if each.custom is None).values())

    def format_system_prompt(self, tools: Iterable[Any]) -> str:
        """Return the text that teaches a model the tools where the server does not."""
        return format_system_prompt(tools, self.traits.dialect)

    def with_prompt_dialect(self, dialect: PromptDialect) -> Self:
        """Return this adapter, with a system prompt that asks for another dialect, one of `PROMPTS`."""
        if dialect == self.traits.dialect:
            return self
        other = copy(self)
        other.traits = replace(self.traits, dialect=dialect)
        return other

    # -- calls -----------------------------------------------------------------------------------------

    def format_call(self, call: ToolCall) -> JSONObject:
        """Return one call, as it is in the assistant's message."""
        arguments = write_arguments(call) if self.traits.arguments_as_text else call.arguments
        values = {"id": self.traits.ids.normalize(call.id), "name": call.name, "arguments": arguments}
        return fill_template(self.traits.call, values)

    def format_calls(self, calls: Iterable[ToolCall]) -> list[JSONObject]:
        """Return calls in the order in which the model made them."""
        return [self.format_call(call) for call in sorted(calls, key=lambda call: call.index)]

    def read_call(self, written: Mapping[str, Any]) -> ToolCall:
        """Return the call that `format_call` would write so."""
        found = read_template(self.traits.call, written)
        return read_call(get_str(found, "name"), found["arguments"], get_str(found, "id"))

    def read_calls(self, written: Iterable[Mapping[str, Any]]) -> list[ToolCall]:
        """Return calls, numbered by their order."""
        return [replace(self.read_call(each), index=number) for number, each in enumerate(written)]

    # -- results ---------------------------------------------------------------------------------------

    @abstractmethod
    def format_result(self, result: ToolResult) -> JSONObject:
        """Return one result, as it is in its message."""

    def format_results(self, results: Iterable[ToolResult]) -> list[JSONObject]:
        """Return the whole messages that follow the assistant's: the results in the order of the calls.

        Those of calls that were revoked are left out, as `as_message` leaves out the calls.
        """
        ordered = sorted((each for each in results if not each.revoked), key=lambda result: result.index)
        return self.write_message(Message("user", [*ordered]), []) if ordered else []

    @abstractmethod
    def read_result(self, written: Mapping[str, Any]) -> ToolResult:
        """Return the result that `format_result` would write so; its tool is "" where the provider names none."""

    def read_results(self, messages: Any, calls: Iterable[ToolCall] = ()) -> list[ToolResult]:
        """Return the results in messages; `calls` give them the names of their tools, and their order."""
        found = [result for message in self.read_messages(messages) for result in message.results]
        return order_results(found, {self.traits.ids.normalize(call.id): call for call in calls})

    # -- messages --------------------------------------------------------------------------------------

    @abstractmethod
    def write_message(self, message: Message, lost: list[Loss], /) -> list[JSONObject]:
        """Write one message as this provider has it: one of the assistant as one, unless the provider takes items.

        One of the user may become several, where results are messages.
        """

    @abstractmethod
    def read_message(self, written: Mapping[str, Any]) -> Message:
        """Read a message, or a part of one."""

    def write_visible(self, part: VisiblePart, /) -> JSONObject:
        """Write a text, an image or a document as a block of a content."""
        raise NotImplementedError

    def is_own_block(self, part: Item, /) -> bool:
        """Whether an item is a block that this provider takes from the user as it came."""
        return part.kind in self.traits.own_blocks and part.is_block

    def write_blocks(self, parts: Iterable[Part], lost: list[Loss]) -> list[JSONObject]:
        """Write parts of the user's or the system's message as blocks; what has no place is lost."""
        blocks: list[JSONObject] = []
        for part in parts:
            if isinstance(part, VisiblePart):
                blocks.append(self.write_visible(part))
            elif isinstance(part, Item) and self.is_own_block(part):
                blocks.append(dict(part.data) if part.is_block else {part.kind: part.data})
            elif not isinstance(part, ToolResult):
                kind = part.kind if isinstance(part, Item) else type(part).__name__
                lost.append(Loss("user", "", kind, "dropped: there is no place for it"))
        return blocks

    def write_user_blocks(self, message: Message, lost: list[Loss]) -> list[JSONObject]:
        """Write a message of the user where results are blocks of it, before all others."""
        results = [self.format_result(result) for result in message.results]
        return [*results, *self.write_blocks(self.traits.media.filter(message.parts), lost)]

    def write_content(self, parts: Sequence[Part], lost: list[Loss]) -> str | list[JSONObject]:
        """Write parts as a text if they are one, or else as blocks."""
        return parts[0].text if len(parts) == 1 and isinstance(parts[0], Text) else self.write_blocks(parts, lost)

    def as_message(self, response: ParsedResponse) -> Any:
        """Return the assistant's message, to be sent back; see `streamparse.as_message`.

        Most providers refuse an empty message, so one of which nothing is left says `NO_ANSWER`.
        """
        written = self.write_message(Message("assistant", read_answer(response)), [])[0]
        if _has_content(written):
            return written
        return self.write_message(Message("assistant", [Text(NO_ANSWER)]), [])[0]

    def read_messages(self, messages: Any, lost: list[Loss] | None = None) -> list[Message]:
        """Read a conversation; parallel results are in one message, each linked to its call.

        `lost` takes the parts of calls and results that JSON cannot hold (bytes, endless values).
        """
        groups: list[list[Message]] = []
        losses: list[Loss] = [] if lost is None else lost
        for number, written in enumerate(messages if isinstance(messages, (list, tuple)) else ()):
            message = self._read_safely(written if isinstance(written, Mapping) else {}, f"messages[{number}]", losses)
            if groups and self.is_same_message(groups[-1][-1], message):
                groups[-1].append(message)
            else:
                groups.append([message])
        return link_results(
            replace(group[-1], parts=[part for message in group for part in message.parts]) for group in groups
        )

    def _read_safely(self, written: Mapping[str, Any], place: str, lost: list[Loss]) -> Message:
        try:
            message = self.read_message(written)
            for result in message.results:
                write_value(result.result)
        except NotJSON:
            written = make_jsonable(written, place, lost)
            message = self.read_message(written)
        lost += self.list_unread(written, place)
        return message

    def list_unread(self, written: Mapping[str, Any], place: str, /) -> Iterable[Loss]:  # noqa: ARG002 - for overrides
        """List the parts of a message that were not read."""
        return ()

    def is_same_message(self, before: Message, message: Message) -> bool:
        """Whether two messages, one directly after the other, are parts of one."""
        return bool(before.role == message.role == "user" and before.results and message.results)

    def write_messages(self, messages: Iterable[Message], lost: list[Loss]) -> list[JSONObject]:
        """Write a conversation; add the losses."""
        return self.join_messages(self.write_separately(messages, lost))

    def write_separately(self, messages: Iterable[Message], lost: list[Loss]) -> list[JSONObject]:
        """Write messages, each by itself: what is written of one does not depend on the others.  Add the losses."""
        written: list[JSONObject] = []
        for number, message in enumerate(messages):
            place = f"messages[{number}]"
            for call in filter(is_unreadable, message.calls):
                outcome = f"dropped: those of {call.name!r} are no object: {call.raw[:MAX_SHOWN]}"
                lost.append(Loss(place, "", "arguments", outcome))
            lost += self._list_losses(message, place)
            if message.role == "system" and self.traits.separate_system:
                lost.append(Loss(place, "", "system", "dropped: not a message here"))
            elif message.parts:
                written += filter(_has_content, self.write_message(message, lost))
        return written

    def join_messages(self, written: list[JSONObject], /) -> list[JSONObject]:
        """Make a conversation of messages that were written separately; they may be changed."""
        return written

    def adapt_messages(self, messages: list[Message], _model: str, /, *, is_thinking: bool) -> list[Message]:  # noqa: ARG002 - for overrides
        """Give answers of other providers what a model of this one wants in its own; "" is any model.

        `is_thinking` says whether there is thought, or a call, anywhere in the conversation: else what is written of a
        message does not depend on the others.
        """
        return messages

    def add_warnings(self, written: list[JSONObject], lost: list[Loss], /) -> None:  # noqa: B027 - most have none
        """Report what some models of the provider refuse in messages, where the model is not known."""

    def _list_losses(self, message: Message, place: str) -> Iterator[Loss]:
        if message.role != "assistant":
            yield from self.traits.media.list_losses(message, place)
        if self.traits.separate_media:
            for result in message.results:
                if result.error is None and has_text_after_media(self.traits.media.filter(show_result(result))):
                    yield Loss(place, "", "text", "moved: the text of a result comes before its images")
        if message.name and not self.traits.message_names:
            yield Loss(place, "", "name", "dropped: a message names no speaker here")
        if message.role == "assistant" and not self.traits.assistant_images:
            kinds = [*("image" for _ in message.images), *("document" for _ in message.documents)]
            yield from (Loss(place, "", kind, "dropped: an answer holds none here") for kind in kinds)
        elif not self.traits.image_detail and any(image.detail for image in message.images):
            yield Loss(place, "", "detail", "dropped: the server decides how closely to look at a picture")


def _has_content(written: JSONObject) -> bool:
    """Whether anything of a message is left; an empty one is refused."""
    return [] not in (written.get("content"), written.get("parts")) and written.keys() != {"role"}
