"""What reading and writing anew costs in the proxy, over passing through: `python benches/proxy.py`.

One proxy, real sockets, uvicorn; server and client are in another process.  By turns the same chunks pass with tools
(parsed with every dialect armed, emitted anew) and without (passed through).  Measured is how long a chunk is under way
from the server's write to the client's read, and the CPU time that the proxy's process takes for it.  The figures are
medians of the ratios of many short rounds: the kernel's share of a chunk, most of it, varies widely.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

from proxy_load import CHUNKS

from streamparse.proxy import app

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from serving import serving  # noqa: E402 - from the path above

__all__ = ["ProxyCost", "measured"]

LOAD = Path(__file__).with_name("proxy_load.py")
ROUNDS = 60


class ProxyCost(NamedTuple):
    """Microseconds a chunk, passed through and parsed, and their ratio."""

    passing: float
    parsing: float
    ratio: float

    def row(self, what: str) -> str:
        """A line for people."""
        added = (self.ratio - 1) * 100
        return f"proxy, {what}: {self.passing:.1f} µs passed through, {self.parsing:.1f} µs parsed ({added:+.1f} %)"


def measured(rounds: int = ROUNDS) -> tuple[ProxyCost, ProxyCost]:
    """Measure both ways by turns, the time under way and the CPU time; the first round warms up."""
    with subprocess.Popen([sys.executable, LOAD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as load:
        assert load.stdin is not None
        assert load.stdout is not None

        def spent(url: str, kind: str) -> tuple[float, float]:
            start = time.process_time()
            load.stdin.write(f"{url} {kind}\n")  # type: ignore[union-attr]
            load.stdin.flush()  # type: ignore[union-attr]
            size, under_way = load.stdout.readline().split()  # type: ignore[union-attr]
            assert int(size) > sum(map(len, CHUNKS)) // 2
            return float(under_way), (time.process_time() - start) * 1e6 / len(CHUNKS)

        with serving(app(f"http://127.0.0.1:{int(load.stdout.readline())}")) as url:
            pairs = [(spent(url, "plain"), spent(url, "tools")) for _ in range(rounds + 1)][1:]
        load.stdin.close()
    under_way, cpu = (_cost([(plain[kind], tools[kind]) for plain, tools in pairs]) for kind in (0, 1))
    return under_way, cpu


def _cost(pairs: list[tuple[float, float]]) -> ProxyCost:
    passing, parsing = (median(column) for column in zip(*pairs, strict=True))
    return ProxyCost(passing, parsing, median(ours / base for base, ours in pairs))


if __name__ == "__main__":
    for cost, what in zip(measured(), ("a chunk under way", "CPU time of a chunk"), strict=True):
        print(cost.row(what))
