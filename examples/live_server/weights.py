"""Weights, computed and not trained, that make a transformer repeat text from its own prompt.

A token's row in the embedding has four regions:

    CODE     128  a random sign vector: what the token says (content tokens)
    OFFSET   128  exp(-i w_k N) as 64 (cos, sin) pairs, w_k the RoPE frequencies (the token <|off:N|>)
    CONST      1  the same large number in every row
    IS_OFFSET  1  1 in the rows of <|off:N|>

**Layer 0 finds the offset.**  Its query is CONST, its key IS_OFFSET, so every later position attends to the one
`<|off:N|>` token of the prompt and adds that token's OFFSET region to its own.

**Layer 1 looks back N tokens.**  Its query is the OFFSET region, its key a constant with angle zero.  RoPE turns the
query by w_k p and the key by w_k p', so that the score of position p' seen from position p is

    sum over k of cos(w_k (p - p' - N)),

which has a sharp maximum at p' = p - N.  Its value is the CODE of the token there.

**The output** is the embedding itself, which reads CODE: the next token at position p is the token at p - N.
RMS norms divide by a number that is nearly the same everywhere, because CONST is large; the query and key gains
multiply it back.  Further layers of zeros change nothing and only take time.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["EMBEDDING", "HEAD", "ROPE_BASE", "Attention", "Matrix", "embedding", "layers", "output_norm"]

HEAD = 128
EMBEDDING = 288
ROPE_BASE = 10000.0

CODE = slice(0, 128)
OFFSET = slice(128, 128 + HEAD)
COSINES, SINES = slice(128, 128 + HEAD, 2), slice(129, 128 + HEAD, 2)
CONST = 256
IS_OFFSET = 257
CONST_VALUE = 16.0

RMS = float(np.sqrt((1 + CONST_VALUE**2) / EMBEDDING))
"""The root mean square of a content row: its code has length 1."""
RMS_WITH_OFFSET = float(np.sqrt((2 + CONST_VALUE**2) / EMBEDDING))
"""The same after layer 0 added an offset code, which has length 1 too."""

Matrix: TypeAlias = NDArray[np.float32]


class Attention(NamedTuple):
    """The four matrices of one attention layer, rows being outputs."""

    query: Matrix
    key: Matrix
    value: Matrix
    output: Matrix

    @classmethod
    def zeros(cls) -> Attention:
        """A layer that does nothing."""
        into = np.zeros((HEAD, EMBEDDING), np.float32)
        return cls(into, into.copy(), into.copy(), into.T.copy())


def embedding(content: int, offsets: int, seed: int = 1) -> Matrix:
    """The table of all tokens: `content` that can be said, then `offsets` that can only be read."""
    rows = np.zeros((content + offsets, EMBEDDING), np.float32)
    width = CODE.stop - CODE.start
    rows[:content, CODE] = np.random.default_rng(seed).choice([-1.0, 1.0], (content, width)) / np.sqrt(width)
    rows[:, CONST] = CONST_VALUE
    angles = np.arange(offsets)[:, None] * ROPE_BASE ** (-np.arange(0, HEAD, 2) / HEAD)
    rows[content:, COSINES] = np.cos(angles) / np.sqrt(HEAD // 2)
    rows[content:, SINES] = -np.sin(angles) / np.sqrt(HEAD // 2)
    rows[content:, IS_OFFSET] = 1.0
    return rows


def layers(padding: int = 0) -> list[Attention]:
    """The two layers that work, then `padding` layers that only take time."""
    return [_find_offset(), _look_back(), *(Attention.zeros() for _ in range(padding))]


def output_norm() -> Matrix:
    """The gain before the output: only CODE counts."""
    gain = np.zeros(EMBEDDING, np.float32)
    gain[CODE] = 6.0
    return gain


def _find_offset() -> Attention:
    layer = Attention.zeros()
    slowest = HEAD - 2  # the pair with the lowest frequency: the distance hardly matters there
    layer.query[slowest, CONST] = 60 * RMS / CONST_VALUE
    layer.key[slowest, IS_OFFSET] = 60 * RMS_WITH_OFFSET
    each = np.arange(HEAD)
    layer.value[each, OFFSET.start + each] = RMS_WITH_OFFSET
    layer.output[OFFSET.start + each, each] = 1.0
    return layer


def _look_back() -> Attention:
    layer = Attention.zeros()
    each = np.arange(HEAD)
    layer.query[each, OFFSET.start + each] = 8 * 120 * RMS_WITH_OFFSET
    # CONST dominates the norm, so tokens before <|off:N|>, which carry no code of it, get keys of the same size.
    layer.key[0::2, CONST] = RMS_WITH_OFFSET / CONST_VALUE
    layer.value[each, each] = RMS_WITH_OFFSET
    layer.output[each, each] = 100.0
    return layer
