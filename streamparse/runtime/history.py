"""The history of a conversation, which every provider accepts, whatever happened in it.

    history = sp.History(system="Be brief.").with_prompt("What is in this?", sp.Image(png))
    history = history.with_round(parser.response, runner.results, provider="anthropic")
    messages = history.truncated(tokens=100_000).messages("gemini", "gemini-3-pro")

It keeps what came, and decides what of it is sent when it is written; `streamparse.runtime.messages` says how.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from streamparse.loss import Translation
from streamparse.providers.adapters import adapter_for
from streamparse.response import ParsedResponse
from streamparse.runtime.messages import write_messages, write_turns
from streamparse.runtime.rounds import Entry, Prompt, PromptPart, Round
from streamparse.runtime.truncation import keep_rounds, keep_tokens
from streamparse.tools import ToolResult
from streamparse.writing.parts import Document, Image, Text, Turn


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

    def with_prompt(self, prompt: str | PromptPart | Iterable[str | PromptPart]) -> History:
        """Return the history with one more prompt: text, a picture, a document, or several of them.

        Raises TypeError for anything else.
        """
        return replace(self, entries=(*self.entries, Prompt(_parts_of(prompt))))

    def with_round(
        self,
        response: ParsedResponse,
        results: Iterable[ToolResult] = (),
        *,
        provider: str = "",
        model: str = "",
        heard: str | None = None,
    ) -> History:
        """Return the history with one more answer and the results of its calls; see `Round` for the rest.

        The answer is kept as it is now, without its `raw_response`.  Results find their calls by id, by index, or by
        both where ids repeat.  Raises ValueError for a provider whose adapter is not known.
        """
        name = adapter_for(provider).name if provider else ""
        made = Round(_copy_response(response), tuple(results), name, model, heard)
        return replace(self, entries=(*self.entries, made))

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
        stay, also if they are more than `tokens`; so does the prompt that the first kept round answers.  Whole rounds
        go, with the prompts between them, and the model is told that they did.
        `count_tokens` counts the tokens of a text.  Without it a token is taken for each 3 bytes of UTF-8, which is
        more than tokenizers make of English (about 4) or Chinese.  A picture counts 1,600 tokens, a PDF one for each 25
        bytes but at least 1,600, whoever counts.
        Raises ValueError for a number below zero.
        """
        if (rounds or 0) < 0 or (tokens or 0) < 0:
            raise ValueError("rounds and tokens must not be negative")
        entries = self.entries if rounds is None else keep_rounds(self.entries, rounds)
        if tokens is not None:
            entries = keep_tokens(entries, self.system, tokens, count_tokens)
        kept = replace(self, entries=entries)
        return replace(kept, omitted=self.omitted + len(self.rounds) - len(kept.rounds))

    def turns(self, provider: str, model: str = "") -> list[Turn]:
        """Return the turns of the conversation, in nobody's words, with only what this provider accepts.

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
        """Return the messages as `messages` does, and what was lost of the conversation."""
        return write_messages(self.system, self.entries, self.omitted, adapter_for(provider), model)


def _parts_of(prompt: str | PromptPart | Iterable[str | PromptPart]) -> tuple[PromptPart, ...]:
    if isinstance(prompt, (str, Text, Image, Document)):
        prompt = [prompt]
    if not isinstance(prompt, Iterable) or isinstance(prompt, Mapping):  # a provider's message, say
        raise TypeError(f"a prompt is text, an Image or a Document, or several of them, not {type(prompt).__name__}")
    return tuple(map(_part_of, prompt))


def _part_of(part: object) -> PromptPart:
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
    return replace(response, **copies, formats=dict(response.formats), raw_response=None)
