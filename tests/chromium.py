"""Real Chromium, driven over its DevTools pipe: what is drawn, and what a hand on mouse or keys does."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    *("--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-extensions", "--disable-dev-shm-usage"),
)
AXE = Path(sys.prefix) / "axe" / "node_modules" / "axe-core" / "axe.min.js"
"""The accessibility checker, where `make` put it."""
HAND_OVER = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def installed_browser() -> str | None:
    """Path of the first browser that is installed."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


class Browser:
    """One tab. Messages are JSON that ends in a zero byte, on file descriptors 3 and 4 of the browser."""

    def __init__(self, binary: str, profile: Path) -> None:
        command_end, self._commands = os.pipe()
        self._answers, answer_end = os.pipe()
        flags = [*FLAGS, *(["--no-sandbox"] if os.geteuid() == 0 else []), f"--user-data-dir={profile}"]
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-c", HAND_OVER, str(command_end), str(answer_end), binary, *flags, "about:blank"],
            pass_fds=(command_end, answer_end),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(command_end)
        os.close(answer_end)
        self._count, self._rest, self._session = 0, b"", None
        self.events: list[dict] = []
        target = next(each for each in self.call("Target.getTargets")["targetInfos"] if each["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        message |= {"sessionId": self._session} if self._session else {}
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._count:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def _read(self):
        while b"\0" not in self._rest:
            part = os.read(self._answers, 1 << 16)
            assert part, "the browser ended"
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def open(self, path, *, width=1280, height=1000, dark=False, address=""):
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[theme])
        self._load("about:blank")  # another fragment alone would load nothing
        self._load((path if isinstance(path, str) else path.as_uri()) + address)
        self.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def _load(self, url):
        self.events.clear()
        self.call("Page.navigate", url=url)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._read())

    def ask(self, expression):
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait(self, condition):
        """Until a JavaScript condition holds; for what the browser does in its own time."""
        for _ in range(200):
            if self.ask(condition):
                return
            time.sleep(0.025)
        raise AssertionError(f"never: {condition}")

    def press(self, key, code=0):
        codes = {"Tab": 9, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        codes |= {",": 188, ".": 190, "+": 187, "-": 189}
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=codes[key])

    def point(self, selector, x, y):
        """Move the mouse to a place of an element, in parts of its width and height."""
        self.ask(f"document.querySelector('{selector}').scrollIntoView({{block: 'center'}})")
        box = self.ask(f"document.querySelector('{selector}').getBoundingClientRect().toJSON()")
        self.call(
            "Input.dispatchMouseEvent",
            type="mouseMoved",
            x=box["x"] + x * box["width"],
            y=box["y"] + y * box["height"],
        )

    def drag(self, selector, start, end):
        """Press the mouse at one place of an element and let go at another, in parts of its width and height."""
        self.point(selector, *start)
        box = self.ask(f"document.querySelector('{selector}').getBoundingClientRect().toJSON()")
        for kind, (x, y) in (("mousePressed", start), ("mouseMoved", end), ("mouseReleased", end)):
            where = {"x": box["x"] + x * box["width"], "y": box["y"] + y * box["height"]}
            self.call("Input.dispatchMouseEvent", type=kind, button="left", buttons=1, clickCount=1, **where)

    def touch(self, selector, *moments):
        """Put fingers on an element and move them: at each moment a place of each, in parts of its width and height."""
        self.ask(f"document.querySelector('{selector}').scrollIntoView({{block: 'center'}})")
        box = self.ask(f"document.querySelector('{selector}').getBoundingClientRect().toJSON()")
        for kind, fingers in zip(("touchStart", *["touchMove"] * len(moments)), moments, strict=False):
            points = [{"x": box["x"] + x * box["width"], "y": box["y"] + y * box["height"]} for x, y in fingers]
            self.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def complaints(self):
        """Errors, warnings and dialogs since the page was opened."""
        kinds = {
            "Runtime.exceptionThrown",
            "Log.entryAdded",
            "Runtime.consoleAPICalled",
            "Page.javascriptDialogOpening",
        }
        return [event for event in self.events if event.get("method") in kinds]

    def requests(self):
        sent = [event for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def barriers(self):
        """Violations that axe-core finds on the page as it is shown, each with the first element that it is about."""
        self.ask(f"{AXE.read_text(encoding='utf-8')}; null")
        rules = "axe.run(document, {resultTypes: ['violations']})"
        words = "[each.id, each.help, each.nodes.length, each.nodes[0].html, each.nodes[0].failureSummary]"
        return self.ask(f"{rules}.then(({{violations}}) => violations.map((each) => {words}))")

    def close(self):
        os.close(self._commands)
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._answers)
