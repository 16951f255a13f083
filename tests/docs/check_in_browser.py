"""Opens pages of the built site in Chromium, from files and with every host blocked; `make docs` runs this.

Each is opened wide and narrow, light and dark.  There must be no message on the console, no request to a host and no
sideways scroll, and the search must find something.  Chromium is driven over its own pipe, so nothing else is needed;
where it is not installed this says so and checks nothing.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SITE = Path(__file__).parents[2] / "build" / "site"
PAGES = ("index.html", "tools/effects.html", "reference/parser.html", "internals/comparison.html")
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
SCHEMES = ("light", "dark")
SEARCHED = "truncated_call"
BLOCKED = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe"),
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
FOUND = "[...document.querySelectorAll('*')].map(each => each.shadowRoot?.textContent ?? '').join(' ')"
SCROLLED = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


class Chromium:
    """A browser, its answers and what it reports."""

    def __init__(self, program: str, profile: str) -> None:
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for pair in (os.pipe(), os.pipe()) for end in pair]
        read_here, self._written, self._read, write_here = ends
        run = f'exec "$@" 3<&{read_here} 4>&{write_here}'
        command = ["bash", "-c", run, "bash", program, *BLOCKED, f"--user-data-dir={profile}", "about:blank"]
        self.process = subprocess.Popen(command, pass_fds=(read_here, write_here), stderr=subprocess.DEVNULL)
        os.close(read_here)
        os.close(write_here)
        self._buffer, self._last, self.events = b"", 0, list[dict[str, Any]]()
        self._session: str | None = None

    def ask(self, method: str, **parameters: Any) -> Any:
        """Send a command, and return its result."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        message |= {"sessionId": self._session} if self._session else {}
        os.write(self._written, json.dumps(message).encode() + b"\0")
        while (answer := self._take()).get("id") != self._last:
            self.events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def wait_for(self, method: str) -> None:
        """Wait until this is reported."""
        while all(event.get("method") != method for event in self.events):
            self.events.append(self._take())

    def _take(self) -> Any:
        while b"\0" not in self._buffer:
            read = os.read(self._read, 1 << 16)
            assert read, "Chromium has ended"
            self._buffer += read
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def open_tab(self) -> None:
        """Attach to a page of its own."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")


def look_at(browser: Chromium, page: str, size: str, scheme: str) -> Iterator[str]:
    """Open a page, and yield what is wrong with it."""
    width, height = SIZES[size]
    browser.ask(
        "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
    )
    browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.events.clear()
    browser.ask("Page.navigate", url=(SITE / page).as_uri())
    browser.wait_for("Page.loadEventFired")
    time.sleep(0.3)  # what the page does once it is loaded
    scrolled = browser.ask("Runtime.evaluate", expression=SCROLLED)["result"]["value"]
    if scrolled > 0:
        yield f"{scrolled} pixels wider than the window"
    for event in browser.events:
        method, parameters = event.get("method"), event.get("params", {})
        if method in {"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"}:
            yield json.dumps(parameters)[:400]
        if method == "Network.requestWillBeSent" and not parameters["request"]["url"].startswith(("file:", "data:")):
            yield f"asks for {parameters['request']['url']}"


def search(browser: Chromium) -> str:
    """Type into the search of the page that is open, and return what it shows."""
    browser.ask("Runtime.evaluate", expression="document.querySelector('.md-search__button').click()")
    time.sleep(1)
    browser.ask("Input.insertText", text=SEARCHED)
    time.sleep(2)
    return str(browser.ask("Runtime.evaluate", expression=FOUND)["result"]["value"])


def check(browser: Chromium, screenshots: Path | None) -> Iterator[str]:
    """Yield what is wrong with any page."""
    browser.open_tab()
    for page in PAGES:
        for size in SIZES:
            for scheme in SCHEMES:
                yield from (f"{page}, {size}, {scheme}: {fault}" for fault in look_at(browser, page, size, scheme))
                if screenshots is not None:
                    picture = browser.ask("Page.captureScreenshot")["data"]
                    name = f"{page.replace('/', '-').removesuffix('.html')}-{size}-{scheme}.png"
                    (screenshots / name).write_bytes(base64.b64decode(picture))
    if SEARCHED not in search(browser):
        yield f"search finds nothing for {SEARCHED}"


def main() -> None:
    """Print what is wrong, and exit with status 1 if anything is; `check_in_browser.py FOLDER` keeps screenshots."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        print("No Chromium: the pages were not opened in a browser.")
        return
    screenshots = Path(sys.argv[1]) if sys.argv[1:] else None
    with tempfile.TemporaryDirectory() as profile:
        browser = Chromium(program, profile)
        try:
            wrong = list(check(browser, screenshots))
        finally:
            browser.process.terminate()
            browser.process.wait()
    print(*wrong, f"{len(PAGES)} pages in Chromium, {len(wrong)} faults", sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
