"""Writes answers: what the emitters of all wires share.

    emitter = EMITTERS["openai-chat"](model="qwen3")
    for event in parser.feed(chunk):
        send(emitter.emit(event))

`streamparse.providers.EMITTERS` has an emitter for each wire that can be written.  Calls that a model wrote as text
are sent as native ones.
"""

from streamparse.emitting.emitter import Emitter, UsagePlace
from streamparse.emitting.outcome import read_error

__all__ = ["Emitter", "UsagePlace", "read_error"]
