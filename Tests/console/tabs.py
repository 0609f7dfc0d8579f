# SPDX-License-Identifier: Apache-2.0
"""Checks many tabs of one browser, pages over plain http in a local network, and a service that does not answer."""

import shutil
import signal
import time

from browser import Browser
from speaker import WAITING

LINK = "document.querySelector('#link')?.textContent"
STATE = "document.querySelector('#player-state').textContent"

# Makes a page hidden or visible as its browser does when somebody changes to another tab.
HIDE = "Object.defineProperty(document, 'hidden', { configurable: true, get: () => %s }); document.dispatchEvent(new Event('visibilitychange')); true"


class TabChecks:
    """No number of tabs makes the console wait for ever."""

    def streams(self, since):
        """Returns how many streams of events the tabs asked for."""
        return self.calls(since).count("GET /v1/events")

    def tabs(self):
        """Uses eight tabs of one browser over HTTP/1.1, which allows six connections."""
        b = self.browser
        self.empty_queue()
        b.go("about:blank")
        first, since = b.session, len(b.events)
        # Each page has a window of its own, so that all pages are visible.
        sessions = [first] + [b.open_page(in_window=True) for _ in range(7)]
        for number, session in enumerate(sessions, 1):
            with b.at(session):
                b.go(f"{self.base}/?{number}#key={self.key}")
                self.that(b.until(f"{LINK} === 'Live updates are on.' && {STATE} === 'Idle'", 8), f"tab {number} of 8 shows the shop")
        visible = 0
        for session in sessions:
            with b.at(session):
                visible += b.js("!document.hidden")
        self.that(self.streams(since) == 1 and visible == 8, f"one of eight visible tabs has the stream of events ({self.streams(since)} streams, {visible} visible tabs)")
        with b.at(sessions[-1]):
            began = time.monotonic()
            b.click("#pause")
            self.that(b.until(f"{STATE} === 'Paused'", 4), "Pause works in the last tab")
            print(f"Pause in the eighth tab: {time.monotonic() - began:.2f} s", flush=True)
        with b.at(first):
            self.that(b.until(f"{STATE} === 'Paused'", 4), "and the first tab shows it")
            since = len(b.events)
            b.js(HIDE % "true")
        end = time.monotonic() + 5
        while self.streams(since) < 1 and time.monotonic() < end:
            time.sleep(0.05)
        self.that(self.streams(since) == 1, "when the tab with the stream is hidden, another takes it over")
        self.service.call("POST", "/v1/announcements", {"id": "tabs", "amount": "8", "currency": "USD", "locale": "en-US", "deliver": ["clip", "play"]})
        with b.at(sessions[1]):
            self.that(b.until(f"{WAITING} === 1", 4), "and the other tabs stay up to date")
        with b.at(first):
            time.sleep(0.5)
            self.that(b.js(WAITING) == 0, "a hidden tab asks for nothing")
            b.js(HIDE % "false")
            self.that(b.until(f"{WAITING} === 1", 4), "and is up to date again when it is visible")
        self.empty_queue()
        for session in sessions[1:]:
            with b.at(session):
                b.send("Page.close")
        with b.at(first):
            self.that(b.until(f"{LINK} === 'Live updates are on.'", 4), "the last tab goes on alone")
        b.session = first

    def local_network(self):
        """Uses the page over plain http at a name of the local network, where browsers give it less."""
        mine = self.browser
        b = self.browser = Browser(shutil.which("chromium"), self.folder / "local", ["--host-resolver-rules=MAP shop.test 127.0.0.1"])
        base = f"http://shop.test:{self.service.port}"
        try:
            sessions = [b.open_page(in_window=True) for _ in range(3)]
            for session in sessions:
                with b.at(session):
                    b.size(1280, 900)
                    b.go(f"{base}/#key={self.key}")
                    self.that(b.until(f"{LINK} === 'Live updates are on.'", 8), "over plain http in a local network a page shows the shop")
            self.that(b.js("!isSecureContext && navigator.locks === undefined"), "the browser gives it no locks")
            self.that("microphone" in (b.inside("whyInsecure()") or ""), "the page can say why there is no microphone")
            for session in sessions[:2]:
                with b.at(session):
                    b.js(HIDE % "true")
            time.sleep(0.3)
            ended = [e for e in b.events if e["method"] == "Network.loadingFailed" and e["params"].get("canceled")]
            self.that(len(ended) >= 2, f"hidden tabs end their streams ({len(ended)})")
            b.click("#pause")
            self.that(b.until(f"{STATE} === 'Paused'", 4), "Pause works in the visible tab")
            b.click("#pause")
            with b.at(sessions[0]):
                b.js(HIDE % "false")
                self.that(b.until(f"{LINK} === 'Live updates are on.' && {STATE} === 'Idle'", 6), "a tab that is visible again has its stream again")
        finally:
            b.close()
            self.browser = mine

    def unanswered(self):
        """Stops the service's process, which then takes requests and answers none."""
        b = self.browser
        self.enter()
        b.until(f"{STATE} === 'Idle'", 30)
        self.service.process.send_signal(signal.SIGSTOP)
        try:
            began = time.monotonic()
            b.click("#pause")
            said = "document.querySelector('#queue-problem').textContent.startsWith('The service does not answer.')"
            self.that(b.until(said, 14), "a control says when the service does not answer")
            self.that(7 <= time.monotonic() - began <= 13, f"after about 8 s ({time.monotonic() - began:.1f} s)")
            self.that(b.until("document.querySelector('#pause').ariaBusy === null"), "the button does not stay busy")
            self.that(b.until("document.documentElement.matches('.not-connected')", 8), "then the page says that it is not connected")
        finally:
            self.service.process.send_signal(signal.SIGCONT)
        self.that(b.until(f"!document.documentElement.matches('.not-connected') && {LINK} === 'Live updates are on.'", 20), "and connects again by itself")
        self.service.call("POST", "/v1/playback/resume")
