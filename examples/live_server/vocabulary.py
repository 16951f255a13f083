"""The words of the copy model: a byte-level BPE of the GPT-2 kind, learnt here from a few lines of text.

    bytes | merged pieces | control tokens | markers | <|off:0|> <|off:1|> ... <|off:4095|>

Any text can be said, since every byte is a token.  The merges only give pieces of a realistic length
(1 to 6 characters).  Markers are single tokens, as in the models that use them, so that a stream holds
them whole; control tokens never show in the answer.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import NamedTuple

__all__ = ["END", "OFFSETS", "Vocabulary", "build_vocabulary", "offset_token"]

END = "<|endoftext|>"
OFFSETS = 4096

CORPUS = """\
{"name": "get_weather", "arguments": {"city": "Paris", "unit": "celsius"}}
{"name": "search", "arguments": {"query": "the weather in London today", "limit": 10}}
I will call the tool now and then tell you what the result is. The weather is nice and sunny. \
First, let me think about the question that the user asked and about which of the tools can answer it. \
Here is the answer to your question, with the information that was returned from the function.
function parameter value string number true false null type object properties required description
"""

CONTROLS = (END, "<|im_start|>", "<|im_end|>")
MARKERS = (
    *("<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>"),
    *("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "<minimax:tool_call>", "</minimax:tool_call>"),
    *("<|python_tag|>", "[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"),
    *("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", "<|tool_call_begin|>"),
    *("<|tool_call_argument_begin|>", "<|tool_call_end|>"),
    *("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁sep｜>"),
    *("<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"),
)

Word = tuple[str, ...]
Pair = tuple[str, str]


class Vocabulary(NamedTuple):
    """Token texts in the order of their numbers, and the merges; content tokens come before offset tokens."""

    pieces: list[str]
    controls: tuple[str, ...]
    markers: tuple[str, ...]
    merges: list[Pair]

    @property
    def content_size(self) -> int:
        """How many tokens can be said; the offset tokens follow them."""
        return len(self.pieces) + len(self.controls) + len(self.markers)

    @property
    def size(self) -> int:
        """How many tokens there are."""
        return self.content_size + OFFSETS


def build_vocabulary(merges: int = 400) -> Vocabulary:
    """Learn the merges and lay the tokens out."""
    learnt = _learn_merges(merges)
    pieces = dict.fromkeys([*_byte_letters().values(), *(left + right for left, right in learnt)])
    return Vocabulary(list(pieces), CONTROLS, MARKERS, learnt)


def offset_token(distance: int) -> str:
    """The token that makes the model copy from `distance` tokens back."""
    if not 0 <= distance < OFFSETS:
        raise ValueError(f"the model can look back 0 to {OFFSETS - 1} tokens, not {distance}")
    return f"<|off:{distance}|>"


def _byte_letters() -> dict[int, str]:
    """The letter that stands for each byte: itself where it is visible, else one from U+0100 on (as in GPT-2)."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in visible]
    return {byte: chr(byte) for byte in visible} | {byte: chr(256 + k) for k, byte in enumerate(hidden)}


def _learn_merges(count: int) -> list[Pair]:
    """The `count` most frequent pairs, each found after those before it were merged."""
    words = _spelled_words()
    merges: list[Pair] = []
    for _ in range(count):
        pairs: Counter[Pair] = Counter()
        for word, times in words.items():
            for pair in pairwise(word):
                pairs[pair] += times
        if not pairs:
            break
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        merges.append(best)
        words = _merged(words, best)
    return merges


def _spelled_words() -> Counter[Word]:
    letters = _byte_letters()
    words = re.findall(r" ?[A-Za-z]+| ?[0-9]| ?[^\sA-Za-z0-9]+|\s+", CORPUS)
    return Counter(tuple(letters[byte] for byte in word.encode()) for word in words)


def _merged(words: Counter[Word], pair: Pair) -> Counter[Word]:
    merged: Counter[Word] = Counter()
    for word, times in words.items():
        merged[_merge_word(word, pair)] += times
    return merged


def _merge_word(word: Word, pair: Pair) -> Word:
    parts: list[str] = []
    for part in word:
        # A part that was itself just merged is longer than the pair's left half, so it is never taken twice.
        if parts and (parts[-1], part) == pair:
            parts[-1] += part
        else:
            parts.append(part)
    return tuple(parts)
