"""The history of a conversation, which every provider accepts, whatever happened in it.

    history = sp.History(system="Be brief.").with_prompt("What is in this?", sp.Image(png))
    history = history.with_round(parser.response, runner.results, provider="anthropic")
    messages = history.truncated(tokens=100_000).messages("gemini", "gemini-3-pro")

It keeps everything; which parts are sent is decided when it is written (`streamparse.runtime.messages`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, Final, TypeAlias

import msgspec
from msgspec.structs import replace

from streamparse.loss import Translation
from streamparse.providers.adapters import adapter_for
from streamparse.response import BrokenCall, ParsedResponse, ToolCall
from streamparse.runtime.imported import read_conversation
from streamparse.runtime.messages import describe_omission, write_messages, write_turns
from streamparse.runtime.rounds import Entry, Prompt, PromptPart, Round, WaitingCall
from streamparse.runtime.values import cut_text
from streamparse.tools import ToolResult
from streamparse.writing.content import decode_text_document
from streamparse.writing.parts import Document, Image, Message, Text
from streamparse.writing.results import show_result

CountTokens: TypeAlias = Callable[[str], int]

_BYTES_OF_A_TOKEN: Final = 3  # source: tokenizers make fewer tokens of English (4 bytes) and Chinese
_BYTES_OF_A_TOKEN_IN_PDF: Final = 25  # source: Anthropic counts 1,500 to 3,000 a page; the bytes of a page are a guess
# https://docs.anthropic.com/en/docs/build-with-claude/vision
_TOKENS_OF_A_PICTURE: Final = 1600  # source: the most of Anthropic, for 1.15 megapixels; others count less
_TOKENS_AROUND: Final = 4  # source: the markers around a message, a call or a result in chat templates
_LEAST_TEXT: Final = 200  # bound: characters of a result that stay: what was cut must be said


class History(msgspec.Struct, frozen=True):
    """A conversation: the system's words, the user's prompts, and the rounds of the model.  It never changes.

    `omitted` is the number of rounds that `truncated` has left out.  A history survives `msgspec.json` unchanged:
    `msgspec.json.decode(msgspec.json.encode(history), type=History) == history`.
    What a request ends with must be the user's: a history whose last answer has no calls wants another prompt before it
    is sent.
    """

    system: str = ""
    entries: tuple[Entry, ...] = ()
    omitted: int = 0

    @classmethod
    def from_messages(cls, provider: str, messages: Sequence[Mapping[str, Any]], model: str = "") -> History:
        """Return the conversation that messages of a provider hold, as its requests have them.

        The texts of system messages become `system`; where that is another field of the request (Anthropic, Gemini,
        Bedrock), put it there: `msgspec.structs.replace(history, system=…)`.  `model` is the one that answered, if its
        thoughts and signatures are to go back to it.
        Raises ValueError for an unknown provider, TypeError for what is no list of messages.
        """
        if isinstance(messages, (str, bytes, Mapping)) or not all(isinstance(each, Mapping) for each in messages):
            raise TypeError("messages must be a list of a provider's messages, each a dict")
        adapter = adapter_for(provider)
        return cls(*read_conversation(adapter.read_messages(list(messages)), adapter.name, model))

    def with_prompt(self, prompt: str | PromptPart | Iterable[str | PromptPart]) -> History:
        """Return the history with one more prompt: text, a picture, a document, or several of them.

        Raises TypeError for anything else.
        """
        return replace(self, entries=(*self.entries, Prompt(_read_prompt(prompt))))

    def with_round(
        self,
        response: ParsedResponse,
        results: Iterable[ToolResult] = (),
        *,
        provider: str = "",
        model: str = "",
        heard: str | None = None,
        waiting: Iterable[WaitingCall] = (),
    ) -> History:
        """Return the history with one more answer and the results of its calls; see `Round` for the rest.

        The answer is kept as it is now, without its `raw_response`.  Results find their calls by id, by index, or by
        both where ids repeat.  Raises ValueError for a provider whose adapter is not known.
        """
        name = adapter_for(provider).name if provider else ""
        made = Round(_copy_response(response), tuple(results), name, model, heard, tuple(waiting))
        return replace(self, entries=(*self.entries, made))

    @property
    def waiting(self) -> tuple[WaitingCall, ...]:
        """The calls of the latest answer that wait for an approval; a prompt behind it leaves them as they are."""
        last = self.entries[-1] if self.entries else None
        return last.waiting if isinstance(last, Round) else ()

    def with_results(self, results: Iterable[ToolResult], waiting: Iterable[WaitingCall] = ()) -> History:
        """Return the history with results in the place of the placeholders of calls that waited; some may still do.

        Raises ValueError if no call waits.
        """
        if not self.waiting:
            raise ValueError("no call of this history waits for an approval")
        last = self.rounds[-1]
        given = {each.index: each for each in results}
        made = replace(
            last, results=tuple(given.get(each.index, each) for each in last.results), waiting=tuple(waiting)
        )
        return replace(self, entries=(*self.entries[:-1], made))

    @property
    def rounds(self) -> tuple[Round, ...]:
        """The answers that it holds, each with the results of its calls."""
        return tuple(entry for entry in self.entries if isinstance(entry, Round))

    def truncated(
        self,
        *,
        rounds: int | None = None,
        tokens: int | None = None,
        count_tokens: Callable[[str], int] | None = None,
    ) -> History:
        """Return the history without its oldest rounds: with at most so many `rounds`, in at most so many `tokens`.

        The system's words, the prompts before the first round (the task), the latest round and what follows it always
        stay; so does the prompt that the first kept round answers.  Whole rounds go, with the prompts between them, and
        a note says so to the model.  If that is not enough, the results of the rounds that stay are cut, the longest
        most.
        `count_tokens` counts the tokens of a text.  Without it a token is taken for each 3 bytes of UTF-8, which is
        more than tokenizers make of English (about 4) or Chinese.  A picture always counts 1,600 tokens, and a PDF one
        for each 25 bytes but at least 1,600.
        Raises ValueError for a number below zero.
        """
        if (rounds or 0) < 0 or (tokens or 0) < 0:
            raise ValueError("rounds and tokens must not be negative")
        entries = self.entries if rounds is None else _keep_rounds(self.entries, rounds)
        if tokens is not None:
            entries = _keep_tokens(entries, self.system, tokens, count_tokens)
            entries = _cut_results(entries, self.system, tokens, count_tokens or _estimate_tokens)
        kept = replace(self, entries=entries)
        return replace(kept, omitted=self.omitted + len(self.rounds) - len(kept.rounds))

    def turns(self, provider: str, model: str = "") -> list[Message]:
        """Return the turns of the conversation, in no provider's format, with only what this provider accepts.

        The system's turn is the first of them.  Raises ValueError for an unknown provider.
        """
        return write_turns(self.system, self.entries, self.omitted, adapter_for(provider), model, [])

    def messages(self, provider: str, model: str = "") -> list[dict[str, Any]]:
        """Return the messages for a provider, or its `contents`, or its `input`.

        The system's words are among them where the provider has them there; where it has not (Anthropic, Gemini,
        Bedrock), they are for another field of the request.  Raises ValueError for an unknown provider.
        """
        written: list[dict[str, Any]] = self.translate(provider, model).result
        return written

    def translate(self, provider: str, model: str = "") -> Translation:
        """Return the messages as `messages` does, and the losses."""
        return write_messages(self.system, self.entries, self.omitted, adapter_for(provider), model)


def _read_prompt(prompt: str | PromptPart | Iterable[str | PromptPart]) -> tuple[PromptPart, ...]:
    if isinstance(prompt, (str, Text, Image, Document)):
        prompt = [prompt]
    if not isinstance(prompt, Iterable) or isinstance(prompt, Mapping):  # a provider's message, say
        raise TypeError(f"a prompt is text, an Image or a Document, or several of them, not {type(prompt).__name__}")
    return tuple(map(_read_part, prompt))


def _read_part(part: object) -> PromptPart:
    if isinstance(part, str):
        return Text(part)
    if isinstance(part, (Text, Image, Document)):
        return part
    raise TypeError(f"a part of a prompt is text, an Image or a Document, not {type(part).__name__}")


def _copy_response(response: ParsedResponse) -> ParsedResponse:
    """Copy an answer, whose parser may still add to its lists."""
    copies: dict[str, Any] = {
        name: list(getattr(response, name))
        for name in ("tool_calls", "broken_calls", "intents", "items", "order", "errors")
    }
    return replace(response, **copies, dialects=dict(response.dialects), raw_response=None)


# -- truncation --------------------------------------------------------------------------------------------


def _estimate_tokens(text: str) -> int:
    """Count a token for each 3 bytes of UTF-8."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_OF_A_TOKEN)


def _keep_rounds(entries: Sequence[Entry], most: int) -> tuple[Entry, ...]:
    """Keep the task, the latest `most` rounds (at least one), and the prompts between these."""
    places = _find_rounds(entries)
    number = max(most, 1)
    return _keep_from(entries, places[-number]) if len(places) > number else tuple(entries)


def _keep_tokens(entries: Sequence[Entry], system: str, most: int, count: CountTokens | None) -> tuple[Entry, ...]:
    """Keep as many of the latest rounds as fit into `most` tokens, with the system's words, the task and the note."""
    counted = count or _estimate_tokens
    sizes = [_count_entry(entry, counted) for entry in entries]
    places = _find_rounds(entries)
    if not places or sum(sizes) + counted(system) <= most:
        return tuple(entries)
    fixed = counted(system) + sum(sizes[: places[0]]) + counted(describe_omission(len(places)))
    following = [*accumulate(reversed(sizes))][::-1]
    answered = _find_answered_prompts(entries, places[0])
    for place in places[1:]:
        if fixed + sum(sizes[each] for each in answered[place]) + following[place] <= most:
            return _keep_from(entries, place)
    return _keep_from(entries, places[-1])


def _cut_results(entries: tuple[Entry, ...], system: str, most: int, count: CountTokens) -> tuple[Entry, ...]:
    """Cut texts of results so that all fits into `most` tokens: the longest first, to one length."""
    excess = sum(_count_entry(entry, count) for entry in entries) + count(system) - most
    if excess <= 0:
        return entries
    texts = {
        (place, number): text
        for place, entry in enumerate(entries)
        if isinstance(entry, Round)
        for number, result in enumerate(entry.results)
        if (text := _find_text(result)) is not None
    }
    sizes = {key: count(text) for key, text in texts.items()}
    share, left = 0, sum(sizes.values()) - excess
    for number, size in enumerate(sorted(sizes.values())):
        share = max(left, 0) // (len(sizes) - number)
        if size > share:
            break
        left -= size
    cut = {
        key: shorter
        for key, size in sizes.items()
        if size > share and (shorter := _cut_to_tokens(texts[key], share, count)) != texts[key]
    }
    return tuple(_replace_texts(entry, place, cut) for place, entry in enumerate(entries))


def _find_text(result: ToolResult) -> str | None:
    """Find what of a result can be cut; None for an error, and for pictures and documents."""
    if result.error is not None or not all(isinstance(part, Text) for part in show_result(result)):
        return None
    return result.result if isinstance(result.result, str) else msgspec.json.encode(result.result).decode()


def _cut_to_tokens(text: str, most: int, count: CountTokens) -> str:
    length = len(text)
    while length > _LEAST_TEXT and (size := count(cut := cut_text(text, length))) > most:
        length = max(_LEAST_TEXT, min(length - 1, length * most // size))
    return cut_text(text, length) if length <= _LEAST_TEXT else cut


def _replace_texts(entry: Entry, place: int, cut: Mapping[tuple[int, int], str]) -> Entry:
    if not isinstance(entry, Round):
        return entry
    results = [
        replace(result, result=cut[place, number], truncated=True) if (place, number) in cut else result
        for number, result in enumerate(entry.results)
    ]
    return replace(entry, results=tuple(results))


def _find_rounds(entries: Sequence[Entry]) -> list[int]:
    return [place for place, entry in enumerate(entries) if isinstance(entry, Round)]


def _keep_from(entries: Sequence[Entry], place: int) -> tuple[Entry, ...]:
    """Keep the task, as one prompt, and from the round at this place on; the prompts that this round answers stay."""
    first = _find_rounds(entries)[0]
    if place <= first:
        return tuple(entries)
    task = Prompt(tuple(part for entry in entries[:first] if isinstance(entry, Prompt) for part in entry.parts))
    prompts = [entries[each] for each in _find_answered_prompts(entries, first)[place]]
    return (task, *prompts, *entries[place:])


def _find_answered_prompts(entries: Sequence[Entry], first: int) -> dict[int, range]:
    """Find for each round the places of the prompts that it answers; none if it answers the task.

    `first` is the place of the first round.
    """
    found: dict[int, range] = {}
    prompts = range(first, first)
    for place in range(first, len(entries)):
        if isinstance(entries[place], Round):
            found[place] = prompts
        else:
            start = place if isinstance(entries[place - 1], Round) else prompts.start
            prompts = range(start, place + 1)
    return found


def _count_entry(entry: Entry, count: CountTokens) -> int:
    if isinstance(entry, Prompt):
        return _TOKENS_AROUND + sum(_count_part(part, count) for part in entry.parts)
    response = entry.response
    calls: list[ToolCall | BrokenCall] = [*response.tool_calls, *response.broken_calls]
    texts = [response.content, response.reasoning, response.refusal]
    texts += [text for call in calls for text in (call.name, call.raw)]
    texts += [str(item.get("data")) for item in response.own_items]
    sizes = [count(text) for text in texts if text] + [_count_result(result, count) for result in entry.results]
    return sum(sizes) + _TOKENS_AROUND * (1 + len(calls))


def _count_result(result: ToolResult, count: CountTokens) -> int:
    if result.error is not None:
        return _TOKENS_AROUND + count(result.error)
    return _TOKENS_AROUND + sum(_count_part(part, count) for part in show_result(result))


def _count_part(part: PromptPart, count: CountTokens) -> int:
    if isinstance(part, Text):
        return count(part.text)
    if isinstance(part, Document) and (text := decode_text_document(part)) is not None:
        return count(text)
    size = len(part.data) * 3 // 4 if isinstance(part, Document) else 0  # base64
    return max(_TOKENS_OF_A_PICTURE, size // _BYTES_OF_A_TOKEN_IN_PDF)
