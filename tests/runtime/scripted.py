"""Models that say what a test wrote down, as an OpenAI chat server would."""

import json

import anyio


def frame(delta=None, finish=None, usage=None):
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    message = {"choices": [choice], **({"usage": usage} if usage else {})}
    return b"data: " + json.dumps(message).encode() + b"\n\n"


END = b"data: [DONE]\n\n"


def says(*texts, finish="stop", usage=None):
    """An answer of text."""
    return [*(frame({"content": text}) for text in texts), frame(finish=finish, usage=usage), END]


def call(index, name, *, id=None, text=None, **arguments):
    """A frame with a whole call."""
    function = {"name": name, "arguments": json.dumps(arguments) if text is None else text}
    return frame({"tool_calls": [{"index": index, "id": id or f"call_{index}", "function": function}]})


def calls(*wanted, before="", after="", usage=None):
    """An answer with calls, each a name and its arguments."""
    frames = [frame({"content": before})] if before else []
    frames += [call(index, name, **arguments) for index, (name, arguments) in enumerate(wanted)]
    frames += [frame({"content": after})] if after else []
    return [*frames, frame(finish="tool_calls", usage=usage), END]


class Scripted:
    """A model that gives one answer after the other: chunks, an exception to raise, or a function of the request."""

    def __init__(self, *answers, wire="openai-chat"):
        self.answers = list(answers)
        self.requests = []
        self.wire = wire

    async def __call__(self, request):
        self.requests.append(request)
        request.read_as(self.wire)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer(request) if callable(answer) else stream(*answer)

    def sent(self, number=-1):
        """The messages of a request, as OpenAI's chat has them."""
        return self.requests[number].body("openai", "test")["messages"]


async def stream(*chunks):
    """Chunks, exceptions that are raised in their place, and events that are waited for."""
    for chunk in chunks:
        if isinstance(chunk, Exception):
            raise chunk
        if isinstance(chunk, anyio.Event):
            await chunk.wait()
        else:
            yield chunk
