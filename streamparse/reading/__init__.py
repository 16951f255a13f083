"""Reading answers: what the wires of all providers share.

A wire is a class of the shape of `Wire`: it turns the frames of one provider's API into verbs.
"""

from streamparse.reading.wire import Wire

__all__ = ["Wire"]
