"""What Amazon Bedrock's `invoke` wraps: messages of the model's own API, whose wire shows as that of a body does.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModelWithResponseStream.html

Claude speaks like Anthropic, gpt-oss like OpenAI's chat, Nova in the events of Converse; who has a text API of its own
is in `streamparse.providers.bedrock.text_models`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from streamparse.frames import Frame
from streamparse.limits import Limits
from streamparse.providers.bedrock.text_models import BedrockText
from streamparse.reading.decode import untyped
from streamparse.reading.errors import error_in, tell_provider_error
from streamparse.reading.registry import UNDECIDED_FRAMES, WIRES, claimed, decoded
from streamparse.reading.wire import Wire
from streamparse.sink import Sink
from streamparse.tools import Toolset

__all__ = ["METRICS", "Invoked"]

METRICS: Final = "amazon-bedrock-invocationMetrics"
_METRICS: Final = METRICS.encode()
_CONVERSE: Final = "bedrock-converse"
_CLAUDE: Final = "anthropic"
"""Its wire tells the metrics itself."""
_SHOWN: Final = 200


class Invoked:
    """Gives each message to its wire, once one shows; `converse` takes those that are events of Converse."""

    def __init__(
        self, sink: Sink, tools: Toolset, limits: Limits, choice: int, converse: Callable[[Frame], None]
    ) -> None:
        self._sink = sink
        self._options = (tools, limits, choice)
        self._converse = converse
        self._name = ""
        self._wire: Wire | None = None
        self._undecided: list[Frame] = []
        self._lost = 0  # messages of no wire

    @property
    def ignored(self) -> int:
        """How many messages were passed over."""
        return self._lost + (self._wire.ignored if self._wire is not None else 0)

    def take(self, data: bytes) -> None:
        """Take the next message."""
        frame = Frame(data)
        if self._name == _CONVERSE:
            self._converse(frame)
        elif self._wire is not None:
            self._tell(self._wire, frame)
        elif self._lost:
            self._lost += 1
        else:
            self._decide(frame)

    def close(self) -> None:
        """The body is over: messages that showed no wire are an error."""
        if self._wire is not None:
            self._wire.close()
        elif self._undecided:
            self._refuse()

    def _decide(self, frame: Frame) -> None:
        """Find out the wire; messages that do not tell wait."""
        message = decoded(frame)
        is_text = isinstance(message, dict) and BedrockText.claims(message, b"")
        name = None if is_text else claimed(message, b"")
        if not (is_text or name) and error_in(message) is not None:
            tell_provider_error(self._sink, message)
            return
        self._undecided.append(frame)
        if is_text:
            self._begin("", BedrockText)
        elif name is not None:
            self._begin(name, WIRES[name])
        elif len(self._undecided) >= UNDECIDED_FRAMES:
            self._refuse()

    def _begin(self, name: str, wire: type[Wire]) -> None:
        self._name = name
        if name != _CONVERSE:
            self._wire = wire(self._sink, *self._options)
        waiting, self._undecided = self._undecided, []
        for frame in waiting:
            self.take(frame.data)

    def _tell(self, wire: Wire, frame: Frame) -> None:
        wire.frame(frame)
        if self._name != _CLAUDE and _METRICS in frame.data:
            metrics = untyped(frame.data).get(METRICS)
            if metrics is not None:
                self._sink.item(METRICS, metrics)

    def _refuse(self) -> None:
        """No wire speaks like these messages."""
        excerpt = self._undecided[0].data[:_SHOWN].decode("utf-8", "replace")
        self._lost = len(self._undecided)
        self._undecided.clear()
        self._sink.error("stream", "not_a_stream", f"what was invoked speaks like no known wire: {excerpt!r}")
