"""Write the copy model as a GGUF file of 3.5 MB: about half a second, no download, no training.

What its tokens are tells `vocabulary`, why it repeats its prompt `weights`.
"""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np

from live_server.vocabulary import END, OFFSETS, Vocabulary, build_vocabulary, offset_token
from live_server.weights import EMBEDDING, HEAD, ROPE_BASE, Attention, Matrix, embedding, layers, output_norm

__all__ = ["make_model"]

CONTEXT = 16384
FEED_FORWARD = 32


def make_model(path: Path, template: str, pad_layers: int = 0) -> None:
    """Write the model to `path`, with the chat template (its Jinja text) in it.

    Each of `pad_layers` slows the model down by the same amount: 120 give about 200 tokens a second on one core.
    """
    vocabulary = build_vocabulary()
    stack = layers(pad_layers)
    writer = gguf.GGUFWriter(path, "llama")
    _write_shape(writer, len(stack))
    _write_tokens(writer, vocabulary)
    writer.add_chat_template(template)
    writer.add_tensor("token_embd.weight", _half(embedding(vocabulary.content_size, OFFSETS)))
    writer.add_tensor("output_norm.weight", output_norm())
    for number, layer in enumerate(stack):
        _write_layer(writer, f"blk.{number}.", layer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _write_shape(writer: gguf.GGUFWriter, layer_count: int) -> None:
    writer.add_name("copy")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(EMBEDDING)
    writer.add_block_count(layer_count)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(1)
    writer.add_head_count_kv(1)
    writer.add_key_length(HEAD)
    writer.add_value_length(HEAD)
    writer.add_rope_dimension_count(HEAD)
    writer.add_rope_freq_base(ROPE_BASE)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)


def _write_tokens(writer: gguf.GGUFWriter, vocabulary: Vocabulary) -> None:
    kinds = gguf.TokenType
    tokens = [(piece, kinds.NORMAL) for piece in vocabulary.pieces]
    tokens += [(token, kinds.CONTROL) for token in vocabulary.controls]
    tokens += [(token, kinds.USER_DEFINED) for token in vocabulary.markers]
    tokens += [(offset_token(distance), kinds.CONTROL) for distance in range(OFFSETS)]
    texts = [text for text, _ in tokens]
    writer.add_vocab_size(vocabulary.size)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(texts)
    writer.add_token_types([kind for _, kind in tokens])
    writer.add_token_merges([" ".join(pair) for pair in vocabulary.merges])
    writer.add_bos_token_id(texts.index(END))
    writer.add_eos_token_id(texts.index(END))
    writer.add_pad_token_id(texts.index(END))
    writer.add_add_bos_token(False)


def _write_layer(writer: gguf.GGUFWriter, prefix: str, layer: Attention) -> None:
    ones = np.ones(EMBEDDING, np.float32)
    writer.add_tensor(prefix + "attn_norm.weight", ones)
    writer.add_tensor(prefix + "ffn_norm.weight", ones)
    for name, matrix in zip(("attn_q", "attn_k", "attn_v", "attn_output"), layer, strict=True):
        writer.add_tensor(f"{prefix}{name}.weight", _half(matrix))
    narrow = np.zeros((FEED_FORWARD, EMBEDDING), np.float32)
    for name, matrix in (("ffn_gate", narrow), ("ffn_up", narrow), ("ffn_down", narrow.T)):
        writer.add_tensor(f"{prefix}{name}.weight", _half(matrix))


def _half(matrix: Matrix) -> np.ndarray[tuple[int, ...], np.dtype[np.float16]]:
    return np.ascontiguousarray(matrix.astype(np.float16))
