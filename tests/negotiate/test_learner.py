"""What is learnt of models: counted by time, kept in stores that several may share, by several threads."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from streamparse.negotiate import CapabilityLearner, FormatNegotiator, JSONFile, Record, SharedStore, SQLiteFile, Store
from streamparse.negotiate.stores import lock_file

KINDS = [JSONFile, SQLiteFile]
FILES = {JSONFile: {"figures", ".figures.lock"}, SQLiteFile: {"figures"}}
"""What each leaves in its folder."""


def _files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_what_was_last_seen_too_long_ago_is_forgotten() -> None:
    clock = Clock()
    learner = CapabilityLearner(ttl=60, clock=clock)
    learner.record("m", "native", "parsed", 4)
    clock.now += 60
    assert learner.get_figures("m")["native"].parsed == 4
    clock.now += 1
    assert learner.get_figures("m") == {}
    assert learner.export() == []
    learner.record("m", "native", "malformed")
    assert (learner.get_figures("m")["native"].parsed, learner.get_figures("m")["native"].malformed) == (0, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_figures_are_saved_and_loaded(kind: Any, tmp_path: Path) -> None:
    store: Store = kind(tmp_path / "figures")
    learner = CapabilityLearner(store=store)
    assert learner.export() == []
    learner.record("m", "native", "parsed", 2)
    learner.record("n", "hermes", "repaired")
    learner.save()
    learner.record("n", "hermes", "repaired")
    learner.save()
    again = CapabilityLearner(store=kind(tmp_path / "figures"))
    assert isinstance(store, SharedStore)
    assert again.export() == learner.export()
    assert again.get_figures("n")["hermes"].repaired == 2
    assert _files(tmp_path) == FILES[kind]


def test_without_a_store_nothing_can_be_saved() -> None:
    with pytest.raises(ValueError, match="no store"):
        CapabilityLearner().save()


def test_a_file_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text('{"a": 1}')
    with pytest.raises(ValueError, match="Expected `array`"):
        CapabilityLearner(store=JSONFile(file))


def test_many_threads_lose_no_count() -> None:
    learner = CapabilityLearner(clock=Clock())

    def work() -> None:
        for _ in range(500):
            learner.record("m", "native", "parsed")

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert learner.get_figures("m")["native"].parsed == 4000
    assert learner.version == 4000


# -- time


def test_old_failures_are_forgotten_while_the_model_is_in_use() -> None:
    clock = Clock()
    learner = CapabilityLearner(ttl=60, clock=clock)
    learner.record("m", "native", "malformed", 100)
    for _ in range(13):
        clock.now += 5
        learner.record("m", "native", "parsed")
    assert (learner.get_figures("m")["native"].malformed, learner.get_figures("m")["native"].parsed) == (0, 13)
    assert FormatNegotiator(learner=learner).negotiate("openai", "m").tools_in == "request"


def test_what_is_learnt_for_ever_takes_bounded_room(tmp_path: Path) -> None:
    clock, store = Clock(), JSONFile(tmp_path / "figures")
    learner = CapabilityLearner(ttl=60, clock=clock, store=store)
    for _ in range(20):
        for _ in range(30):
            clock.now += 1
            learner.record("m", "native", "parsed")
        learner.save()
    assert len(store.load()) <= 61
    assert learner.get_figures("m")["native"].parsed == 61


def test_models_without_end_make_a_learner_forget_the_oldest(tmp_path: Path) -> None:
    learner = CapabilityLearner(store=JSONFile(tmp_path / "figures"))
    for number in range(10_100):
        learner.record(f"m{number}", "native", "parsed")
    learner.save()
    learner.record("m10100", "native", "parsed")
    learner.save()
    assert len(learner.export()) == 10_000
    assert learner.get_figures("m0") == {}
    assert learner.get_figures("m10100")["native"].parsed == 1


@pytest.mark.parametrize("ttl", [0, -1, float("nan")])
def test_a_time_to_live_that_is_not_positive_is_refused(ttl: float) -> None:
    with pytest.raises(ValueError, match="positive"):
        CapabilityLearner(ttl=ttl)


def test_a_count_below_none_is_refused() -> None:
    with pytest.raises(ValueError, match="count"):
        CapabilityLearner().record("m", "native", "parsed", -1)


def test_what_no_file_could_be_read_with_again_is_not_counted() -> None:
    learner = CapabilityLearner()
    times: Any = 1.5
    with pytest.raises(TypeError):
        learner.record("m", "native", "parsed", times)
    for outcome in ("last", "last_refused", "good"):
        unknown: Any = outcome
        with pytest.raises(ValueError, match="known are: parsed, repaired"):
            learner.record("m", "native", unknown)
    assert learner.export() == []


def test_a_time_to_live_without_end_forgets_nothing() -> None:
    clock = Clock()
    learner = CapabilityLearner(ttl=float("inf"), clock=clock)
    learner.record("m", "native", "parsed")
    clock.now += 1e12
    learner.record("m", "native", "parsed")
    assert learner.get_figures("m")["native"].parsed == 2


@pytest.mark.parametrize("kind", KINDS)
def test_a_clock_that_goes_back_loses_nothing(kind: Any, tmp_path: Path) -> None:
    clock = Clock()
    learner = CapabilityLearner(ttl=60, clock=clock, store=kind(tmp_path / "figures"))
    learner.record("m", "native", "parsed")
    clock.now -= 30
    learner.record("m", "native", "parsed")
    assert learner.get_figures("m")["native"].parsed == 2
    clock.now = 0.0
    learner.record("m", "native", "malformed")
    assert learner.get_figures("m")["native"].parsed == 0
    learner.save()
    clock.now = 1000.0
    assert learner.get_figures("m")["native"].parsed == 2
    assert CapabilityLearner(ttl=60, clock=clock, store=kind(tmp_path / "figures")).export() == learner.export()
    clock.now = 1061.0
    assert learner.get_figures("m") == {}


def _asked_in(learner: CapabilityLearner) -> str:
    return FormatNegotiator(learner=learner).negotiate("vllm", "m").tools_in


def test_many_good_calls_of_long_ago_do_not_hide_that_a_model_has_changed() -> None:
    clock = Clock()
    learner = CapabilityLearner(ttl=60, clock=clock)
    learner.record("m", "native", "parsed", 1000)
    clock.now += 10
    learner.record("m", "native", "malformed", 19)
    assert _asked_in(learner) == "request", "so few calls are weighed with those before them"
    learner.record("m", "native", "malformed")
    assert _asked_in(learner) == "prompt"
    assert learner.get_figures("m")["native"].parsed == 1000


def test_a_model_that_writes_native_calls_well_again_is_asked_for_them_before_its_failures_are_forgotten() -> None:
    clock = Clock()
    learner = CapabilityLearner(ttl=60, clock=clock)
    learner.record("m", "native", "malformed", 1000)
    assert _asked_in(learner) == "prompt"
    clock.now += 10
    learner.record("m", "native", "parsed", 20)
    assert _asked_in(learner) == "request"


def test_the_latest_calls_are_those_of_each_format() -> None:
    clock = Clock()
    learner = CapabilityLearner(ttl=60, clock=clock)
    learner.record("m", "native", "parsed", 7)
    clock.now += 10
    learner.record("m", "hermes", "parsed", 30)
    learner.record("m", "native", "malformed", 20)
    recent = learner.get_recent("m")
    assert (recent["native"].parsed, recent["native"].malformed, recent["hermes"].parsed) == (0, 20, 30)
    assert learner.get_recent("other") == {}


@pytest.mark.parametrize("kind", KINDS)
def test_one_native_call_shows_that_a_server_which_refused_tools_takes_them_by_now(kind: Any, tmp_path: Path) -> None:
    clock = Clock()
    learner = CapabilityLearner(clock=clock, store=kind(tmp_path / "figures"))
    learner.record("m", "native", "refused", 50)
    assert _asked_in(learner) == "prompt"
    clock.now += 1
    learner.record("m", "native", "parsed")
    learner.save()
    assert (
        _asked_in(learner) == _asked_in(CapabilityLearner(clock=clock, store=kind(tmp_path / "figures"))) == "request"
    )
    clock.now += 1
    learner.record("m", "native", "refused")
    assert _asked_in(learner) == "prompt"


# -- stores


class Plain:
    """A store for one learner; the first who writes is slower than the second."""

    def __init__(self) -> None:
        self.kept: list[Record] = []
        self.entered = threading.Event()
        self.overtaken = threading.Event()

    def load(self) -> list[Record]:
        return self.kept

    def save(self, records: Iterable[Record]) -> None:
        first, kept = not self.entered.is_set(), list(records)
        self.entered.set()
        if first:
            self.overtaken.wait(0.2)
        else:
            self.overtaken.set()
        self.kept = kept


def test_a_slow_save_of_one_thread_does_not_undo_a_later_one_of_another() -> None:
    store = Plain()
    learner = CapabilityLearner(store=store)
    learner.record("a", "native", "parsed")
    slow = threading.Thread(target=learner.save)
    slow.start()
    store.entered.wait()
    learner.record("b", "native", "parsed")
    learner.save()
    slow.join()
    assert [record.model for record in store.kept] == ["a", "b"]


@pytest.mark.parametrize("kind", KINDS)
def test_learners_that_share_a_store_add_up(kind: Any, tmp_path: Path) -> None:
    one, other = (CapabilityLearner(store=kind(tmp_path / "figures")) for _ in range(2))
    for _ in range(3):
        one.record("a", "native", "parsed")
        other.record("a", "native", "parsed", 10)
        other.record("b", "hermes", "malformed")
        before = one.version
        one.save()
        other.save()
        other.save()
    one.save()
    assert one.version > before
    assert one.export() == other.export() == CapabilityLearner(store=kind(tmp_path / "figures")).export()
    assert one.get_figures("a")["native"].parsed == 33
    assert one.get_figures("b")["hermes"].malformed == 3


@pytest.mark.parametrize("kind", KINDS)
def test_threads_that_record_and_save_at_the_same_time_lose_no_count(kind: Any, tmp_path: Path) -> None:
    learners = [CapabilityLearner(store=kind(tmp_path / "figures")) for _ in range(2)]

    def work(learner: CapabilityLearner) -> None:
        for number in range(10):
            learner.record(f"m{number}", "native", "parsed")
            learner.save()

    threads = [threading.Thread(target=work, args=(learners[number % 2],)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = CapabilityLearner(store=kind(tmp_path / "figures")).export()
    assert [record.figures["parsed"] for record in kept] == [4] * 10
    assert _files(tmp_path) == FILES[kind]


PROCESS = """
import sys
from pathlib import Path
from streamparse.negotiate import CapabilityLearner, JSONFile, SQLiteFile
learner = CapabilityLearner(store={"JSONFile": JSONFile, "SQLiteFile": SQLiteFile}[sys.argv[1]](Path(sys.argv[2])))
for _ in range(20):
    learner.record("m", "native", "parsed")
    learner.save()
"""


@pytest.mark.parametrize("kind", KINDS)
def test_processes_that_share_a_store_lose_no_count(kind: Any, tmp_path: Path) -> None:
    path = tmp_path / "figures"
    command = [sys.executable, "-c", PROCESS, kind.__name__, str(path)]
    processes = [subprocess.Popen(command) for _ in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert CapabilityLearner(store=kind(path)).get_figures("m")["native"].parsed == 60
    assert _files(tmp_path) == FILES[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_that_was_taken_away_is_written_again(kind: Any, tmp_path: Path) -> None:
    path = tmp_path / "figures"
    learner = CapabilityLearner(store=kind(path))
    learner.record("m", "native", "parsed")
    learner.save()
    path.unlink()
    learner.record("m", "native", "parsed")
    learner.save()
    assert CapabilityLearner(store=kind(path)).get_figures("m")["native"].parsed == 2


@pytest.mark.parametrize(("kind", "error"), [(JSONFile, OSError), (SQLiteFile, sqlite3.Error)])
def test_a_store_that_cannot_be_written_takes_nothing_from_the_learner(
    kind: Callable[[Path], Store], error: type[Exception], tmp_path: Path
) -> None:
    folder = tmp_path / "later"
    learner = CapabilityLearner(store=kind(folder / "figures"))
    learner.record("m", "native", "parsed")
    for _ in range(2):
        with pytest.raises(error):
            learner.save()
    folder.mkdir()
    learner.save()
    assert CapabilityLearner(store=kind(folder / "figures")).get_figures("m")["native"].parsed == 1


def test_a_store_that_is_only_read_is_not_made() -> None:
    for store in (JSONFile("/nowhere/figures"), SQLiteFile("/nowhere/figures")):
        assert CapabilityLearner(store=store).export() == []


LEFT_WHILE_SAVING = """
import os, sys
from pathlib import Path
from streamparse.negotiate import JSONFile
def change(records):
    Path(sys.argv[1]).with_name(".figures.new").write_bytes(b"half")
    os.abort()
JSONFile(Path(sys.argv[1])).update(change)
"""


def test_what_a_process_left_that_was_killed_while_saving_stops_nobody(tmp_path: Path) -> None:
    path = tmp_path / "figures"
    killed = subprocess.run([sys.executable, "-c", LEFT_WHILE_SAVING, str(path)], check=False)
    assert killed.returncode != 0
    assert _files(tmp_path) == {".figures.lock", ".figures.new"}
    learner = CapabilityLearner(store=JSONFile(path))
    learner.record("m", "native", "parsed")
    learner.save()
    assert _files(tmp_path) == FILES[JSONFile]
    assert CapabilityLearner(store=JSONFile(path)).get_figures("m")["native"].parsed == 1


def test_a_lock_that_is_no_lock_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    lock = tmp_path / ".figures.lock"
    lock.write_bytes(b"This is something else. " * 100)
    learner = CapabilityLearner(store=JSONFile(tmp_path / "figures"))
    learner.record("m", "native", "parsed")
    with pytest.raises(OSError, match=r"\.figures\.lock"):
        learner.save()
    lock.unlink()
    learner.save()
    assert CapabilityLearner(store=JSONFile(tmp_path / "figures")).get_figures("m")["native"].parsed == 1


BROKEN = {
    "nothing": b"",
    "no JSON": b"nonsense",
    "half of it": b'[{"model": "m", "form',
    "no list": b'{"a": 1}',
    "a count that is text": b'[{"model": "m", "format": "f", "figures": {"parsed": "x"}}]',
    "a count below none": b'[{"model": "m", "format": "f", "figures": {"parsed": -1}}]',
    "no UTF-8": b'["\xff"]',
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_json_file_that_holds_something_else_is_refused_and_not_overwritten(name: str, tmp_path: Path) -> None:
    path = tmp_path / "figures"
    learner = CapabilityLearner(store=JSONFile(path))
    learner.record("m", "native", "parsed")
    path.write_bytes(BROKEN[name])
    for use in (lambda: CapabilityLearner(store=JSONFile(path)), learner.save):
        with pytest.raises(ValueError):
            use()
    assert path.read_bytes() == BROKEN[name]
    assert learner.get_figures("m")["native"].parsed == 1
    assert _files(tmp_path) == FILES[JSONFile]


def test_a_database_that_is_none_is_refused_and_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "figures"
    learner = CapabilityLearner(store=SQLiteFile(path))
    learner.record("m", "native", "parsed")
    path.write_bytes(b"This is text, and a database begins otherwise. " * 100)
    with pytest.raises(sqlite3.DatabaseError):
        CapabilityLearner(store=SQLiteFile(path))
    with pytest.raises(sqlite3.DatabaseError):
        learner.save()
    assert path.read_bytes().startswith(b"This is text")


@pytest.mark.parametrize("row", [(None, "f", "{}", 0), ("m", "f", b"\xff", 0), ("m", "f", "[]", 0), ("m", "f", "{", 0)])
def test_a_row_that_holds_something_else_is_refused(row: Any, tmp_path: Path) -> None:
    path = tmp_path / "figures"
    learner = CapabilityLearner(store=SQLiteFile(path))
    learner.record("n", "native", "parsed")
    learner.save()
    database = sqlite3.connect(path)
    with database:
        database.execute("INSERT INTO capabilities VALUES (?, ?, ?, ?)", row)
    database.close()
    for use in (lambda: CapabilityLearner(store=SQLiteFile(path)), learner.save):
        with pytest.raises(ValueError):
            use()


def test_a_database_may_hold_other_tables_and_a_table_any_name(tmp_path: Path) -> None:
    path = tmp_path / "figures"
    learners = [CapabilityLearner(store=SQLiteFile(path, table)) for table in ("select", "Größe")]
    for number, learner in enumerate(learners, 1):
        learner.record("m", "native", "parsed", number)
        learner.save()
    assert CapabilityLearner(store=SQLiteFile(path, "select")).get_figures("m")["native"].parsed == 1
    assert CapabilityLearner(store=SQLiteFile(path)).export() == []
    with pytest.raises(ValueError, match="table"):
        SQLiteFile(path, 'x"; --')


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_that_holds_half_of_a_character_does_not_keep_the_rest_from_being_saved(
    kind: Any, tmp_path: Path
) -> None:
    learner = CapabilityLearner(store=kind(tmp_path / "figures"))
    learner.record("m\ud800", "native", "parsed")
    learner.record("n", "native", "parsed")
    learner.save()
    again = CapabilityLearner(store=kind(tmp_path / "figures"))
    assert again.get_figures("m\ud800")["native"].parsed == again.get_figures("n")["native"].parsed == 1


def test_records_without_a_slot_are_read(tmp_path: Path) -> None:
    path = tmp_path / "figures"
    path.write_text(json.dumps([{"model": "m", "format": "native", "figures": {"parsed": 3, "last": 990.0}}]))
    learner = CapabilityLearner(ttl=60, store=JSONFile(path), clock=Clock())
    learner.record("m", "native", "parsed")
    learner.save()
    assert CapabilityLearner(ttl=60, store=JSONFile(path), clock=Clock()).get_figures("m")["native"].parsed == 4


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_to_the_file_stays_one(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "figures")
    learner = CapabilityLearner(store=JSONFile(link))
    learner.record("m", "native", "parsed")
    learner.save()
    assert link.is_symlink()
    assert os.path.getsize(tmp_path / "figures") > 0


def test_refusals_that_were_kept_without_their_time_count_until_a_call_is_seen(tmp_path: Path) -> None:
    clock = Clock()
    store = JSONFile(tmp_path / "figures")
    store.save([Record("m", "native", {"refused": 1, "last": clock.now})])
    learner = CapabilityLearner(store=store, clock=clock)
    assert FormatNegotiator(learner=learner).negotiate("vllm", "m").tools_in == "prompt"
    learner.record("m", "native", "parsed")
    assert FormatNegotiator(learner=learner).negotiate("vllm", "m").tools_in == "request"


WAIT = """
import sys
from pathlib import Path
from streamparse.negotiate.stores import lock_file

try:
    print("waiting", flush=True)
    with lock_file(Path(sys.argv[1])):
        print("held")
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(os.name == "nt", reason="no process can be interrupted by another")
def test_who_waits_for_a_file_can_be_interrupted(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with lock_file(lock):
        command = [sys.executable, "-c", WAIT, str(lock)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as waiting:
            assert waiting.stdout is not None
            assert waiting.stdout.readline() == "waiting\n"
            waiting.send_signal(signal.SIGINT)
            try:
                assert waiting.communicate(timeout=60)[0] == "interrupted\n"
            finally:
                waiting.kill()
