"""For tests of what reads streams: recordings of answers, their replay over HTTP, and events to compare.

recording = make_fixture("tests/recorded")            # in conftest.py: a pytest fixture, each recording a case

def test_the_calls_are_the_same_however_the_bytes_are_cut(recording):
    check_cuts(lambda: sp.StreamParser(), recording.body)
"""

from streamparse.testing.comparing import check_cuts, merge
from streamparse.testing.recording import Read, Recorder, Recording, list_recordings, make_fixture
from streamparse.testing.redaction import redact
from streamparse.testing.replay import pace, replaying

__all__ = [
    "Read",
    "Recorder",
    "Recording",
    "check_cuts",
    "list_recordings",
    "make_fixture",
    "merge",
    "pace",
    "redact",
    "replaying",
]
