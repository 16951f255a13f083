"""The codes of `Error` events: stable names, each with its meaning.

`Error.code` is one of these; `Error.message` may change from release to release.
"""

from __future__ import annotations

__all__ = ["CODES"]

CODES: dict[str, str] = {
    # The stream as a whole; `Done(ok=False)` follows.
    "stream_truncated": "the body ended before the server ended its turn",
    "empty_body": "the body held nothing",
    "not_a_stream": "the body is neither a stream nor an answer that any known wire speaks",
    "wrong_wire": "the body is of another wire than the one that was named for it; the message names that wire",
    "empty_answer": "the server ended its turn, and nothing that it sent was understood, though it sent something",
    "missing_call": "the server ended its turn for a tool call, but sent no call",
    "frame_checksum": "a binary message does not agree with its checksum",
    "transport_error": "the connection failed before the body ended; the client's exception follows",
    "provider_error": "the server reported an error inside the stream",
    "limit_line": "a line is longer than Limits.max_line",
    "limit_event": "an event is larger than Limits.max_event",
    "limit_pending": "more bytes wait for their end than Limits.max_pending",
    "limit_total": "the response is larger than Limits.max_total",
    "limit_calls": "the response holds more calls than Limits.max_calls",
    "limit_open_calls": "more calls are open at one time than Limits.max_open_calls",
    # One frame; the stream goes on.
    "json_syntax": "not JSON",
    "json_truncated": "JSON that ends too early",
    "json_trailing": "something follows the JSON value",
    "json_empty": "no JSON value where one must be",
    "json_depth": "brackets nest deeper than Limits.max_depth",
    "json_number_too_long": "a number is longer than Limits.max_number",
    "json_key_too_long": "a key is longer than Limits.max_key",
    "json_non_finite": "NaN, Infinity or a number beyond the range of a float",
    "json_control_char": "a raw control character inside a string",
    "json_bad_escape": "an escape that JSON does not have",
    "json_lone_surrogate": "half of a surrogate pair",
    "json_duplicate_key": "the same key twice in one object",
    "json_bom": "a byte order mark before the value",
    "utf8_invalid": "bytes that are not UTF-8",
    "unexpected_shape": "JSON of another shape than the wire's",
    "unknown_field": "a line of the event stream that belongs to no field",
    "duplicate_frame": "a frame whose sequence number has already come; it is dropped",
    "out_of_order": "a frame that comes after frames of a higher sequence number",
    "missing_frame": "events are missing before this one: the server counts them; what they had may be lost",
    "contradicting_frame": "a part that is reported whole is not the one that came in pieces; what came stands",
    "late_arguments": "argument text after the end of its call",
    "orphan_arguments": "argument text that belongs to no call",
    "call_without_name": "a call that never got a name",
    "limit_markers": "more markers in the text than Limits.max_markers opened no call: none is looked for behind them",
    "invented_turn": "behind a call the model wrote the turn of a tool, a user or a system: what follows is text",
    # One call; it will not be completed.
    "truncated_call": "the stream ended inside the call",
    "invalid_arguments": "the arguments are not a JSON object",
    "missing_arguments": "no arguments came, and the tool requires some",
    "duplicate_call": "the same call came both natively and in the text; the first one stands",
    "malformed_call": "the markup of the call is broken",
    "duplicate_parameter": "the markup gives one parameter twice",
    "ambiguous_markup": "closing tags that close nothing: calls before them may be data, and are revoked",
    "limit_args": "the arguments are longer than Limits.max_call_args",
    "name_characters": "control, format or bidi characters in the name of a tool that is not declared",
    "limit_name": "the name is longer than Limits.max_name",
    "limit_id": "the id is longer than Limits.max_id",
}
