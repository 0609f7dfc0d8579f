# SPDX-License-Identifier: Apache-2.0
"""Drives a real Chromium through the DevTools protocol."""

import base64
import contextlib
import fcntl
import json
import os
import queue
import subprocess
import threading
import time

# Windows virtual key codes, which the protocol wants.
KEYS = {"Tab": 9, "Enter": 13, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39, "Escape": 27}

# The console's modules export these names. A page imports each module once, so that these are the console's own objects.
EXPORTS = {
    "access": "access.js", "preview": "preview.js", "sound": "sound.js", "recording": "sound.js", "refreshPlayer": "player.js",
    "lose": "connection.js", "regain": "connection.js", "refreshShop": "shop.js", "refreshToday": "today.js", "follow": "events.js",
    "whyInsecure": "page.js", "money": "figures.js",
}


class Browser:
    """A headless Chromium that is controlled through a pair of pipes (`--remote-debugging-pipe`)."""

    def __init__(self, program, profile, options=()):
        command_out, self.commands = (self.high(end) for end in os.pipe())
        self.answers, answer_in = (self.high(end) for end in os.pipe())

        def wire():
            os.dup2(command_out, 3)
            os.dup2(answer_in, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--mute-audio",
             "--disable-dev-shm-usage", "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream", "--lang=en-US", f"--user-data-dir={profile}", "--remote-debugging-pipe", *options, "about:blank"],
            preexec_fn=wire, pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(command_out)
        os.close(answer_in)
        self.number = 0
        self.waiting = {}
        self.events = []
        self.session = None
        threading.Thread(target=self.read, daemon=True).start()

    @staticmethod
    def high(descriptor):
        """Moves a descriptor above 20, so that it does not collide with 3 and 4, which Chromium uses."""
        moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 20)
        os.close(descriptor)
        return moved

    def read(self):
        """Passes answers to the calls that wait for them, and keeps the events."""
        rest = b""
        while chunk := os.read(self.answers, 1 << 16):
            *messages, rest = (rest + chunk).split(b"\0")
            for message in map(json.loads, messages):
                if "id" in message:
                    self.waiting[message["id"]].put(message)
                else:
                    self.events.append(message)

    def send(self, method, **parameters):
        """Calls a method of the protocol and returns its result."""
        self.number += 1
        answer = self.waiting[self.number] = queue.Queue()
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        got = answer.get(timeout=30)
        if "error" in got:
            raise RuntimeError(f"{method}: {got['error']['message']}")
        return got["result"]

    @contextlib.contextmanager
    def at(self, session):
        """Uses another page for some time."""
        before, self.session = self.session, session
        try:
            yield
        finally:
            self.session = before

    def open_page(self, in_window=False):
        """Opens a page in a tab or a window of its own, and uses it. Returns its session."""
        self.session = None
        target = self.send("Target.createTarget", url="about:blank", newWindow=in_window)["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(domain + ".enable")
        self.send("Page.addScriptToEvaluateOnNewDocument", source="""
            window.violations = [];
            addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective + " " + event.blockedURI));""")
        return self.session

    def go(self, url):
        # An address that differs only in its fragment would not load the page again.
        self.send("Page.navigate", url="about:blank")
        self.send("Page.navigate", url=url)

    def js(self, expression):
        """Evaluates an expression in the page and returns its value. A promise is awaited."""
        got = self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in got:
            raise RuntimeError(got["exceptionDetails"].get("exception", {}).get("description", expression))
        return got["result"].get("value")

    def inside(self, expression):
        """Evaluates an expression that uses the objects of the console's modules (`EXPORTS`)."""
        imports = "".join(f"const {{ {name} }} = await import('/console/{file}'); " for name, file in EXPORTS.items())
        return self.js(f"(async () => {{ {imports} return ({expression}); }})()")

    def until(self, expression, seconds=15, evaluate=None):
        """Waits until an expression is true in the page, and returns whether it became true in time."""
        evaluate = evaluate or self.js
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if evaluate(f"Boolean({expression})"):
                return True
            time.sleep(0.04)
        return False

    def press(self, key, shift=False):
        text = {"Enter": "\r", " ": " "}.get(key)
        common = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": KEYS[key], "modifiers": 8 if shift else 0}
        self.send("Input.dispatchKeyEvent", type="keyDown", **common, **({"text": text} if text else {}))
        self.send("Input.dispatchKeyEvent", type="keyUp", **common)

    def hold(self, key, times):
        """Holds a key down: the keyboard repeats it."""
        text = {"Enter": "\r", " ": " "}.get(key)
        common = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key], "text": text}
        for number in range(times):
            self.send("Input.dispatchKeyEvent", type="keyDown", autoRepeat=number > 0, **common)
        self.send("Input.dispatchKeyEvent", type="keyUp", **common)

    def file(self, selector, path):
        """Chooses a file in a file field."""
        found = self.send("Runtime.evaluate", expression=f"document.querySelector({json.dumps(selector)})")["result"]["objectId"]
        self.send("DOM.setFileInputFiles", files=[str(path)], objectId=found)

    def type(self, text):
        self.send("Input.insertText", text=text)

    def click(self, selector, across=0.5, times=1):
        """Clicks an element; `across` is the place in its width, from 0 to 1. `times` is 2 for a double click."""
        place = self.js(f"""(() => {{ const e = document.querySelector({json.dumps(selector)}); if (!e) return null; e.scrollIntoView({{block: "center"}});
            const r = e.getBoundingClientRect(); return [r.left + r.width * {across}, r.top + r.height / 2]; }})()""")
        if place is None:
            raise RuntimeError(f"the page has no element {selector}")
        for count in range(1, times + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self.send("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=count)

    def size(self, width, height):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)

    def media(self, **features):
        self.send("Emulation.setEmulatedMedia", features=[{"name": k.replace("_", "-"), "value": v} for k, v in features.items()])

    def shot(self, path):
        self.js("document.documentElement.scrollTop = 0; new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        data = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
