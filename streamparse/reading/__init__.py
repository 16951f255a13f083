"""Reads answers: what the wires of all providers share.

A wire is a class of the shape of `Wire`.  It turns the frames of one provider's API into verbs of a `Sink`.
"""

from streamparse.reading.wire import Wire

__all__ = ["Wire"]
