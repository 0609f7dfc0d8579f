# SPDX-License-Identifier: Apache-2.0
"""The parts that all checks of the console share."""

import importlib.util
import json
import pathlib
import time


# The service has accepted the key, and the page says whether events come.
ENTERED = "document.querySelector('#link')?.textContent && document.querySelector('#main').checkVisibility()"


class Checker:
    """Records the results of checks, and does what several checks need."""

    def __init__(self, browser, service, folder, shots):
        self.browser, self.service, self.folder, self.shots = browser, service, folder, shots
        self.base, self.key = service.base, service.key
        self.bases = [self.base + "/"]
        self.faults, self.passed = [], 0

    def that(self, holds, what):
        """Records whether a check passed; `what` says what it checks."""
        if holds:
            self.passed += 1
        else:
            self.faults.append(what)
            print(f"FAILED: {what}", flush=True)
        return holds

    def axe(self, what):
        """Checks the rules of axe-core, if the package axe-core-python is installed."""
        found = importlib.util.find_spec("axe_core_python")
        if not found:
            return
        if not self.browser.js("Boolean(window.axe)"):
            self.browser.js((pathlib.Path(found.origin).parent / "axe.min.js").read_text() + "; true")
        faults = self.browser.js("axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 2).map(({ html }) => html.slice(0, 120)).join(' ')}`))")
        self.that(not faults, f"{what}: axe-core finds nothing ({faults})")

    def shot(self, name):
        if self.shots:
            self.browser.shot(self.shots / f"{name}.png")

    def calls(self, since=0):
        """Returns the requests that the page sent, as `METHOD /path`."""
        sent = [e["params"]["request"] for e in self.browser.events[since:] if e["method"] == "Network.requestWillBeSent"]
        return [f"{r['method']} {r['url'].removeprefix(self.base)}" for r in sent]

    def called(self, wanted, since, seconds=8):
        """Waits for a request. A `*` at the end of `wanted` stands for any text."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if any(call == wanted or (wanted.endswith("*") and call.startswith(wanted[:-1])) for call in self.calls(since)):
                return True
            time.sleep(0.04)
        return False

    def shown_text(self, key):
        """Returns a text of the interface in its language, as JavaScript."""
        return json.dumps(self.texts(self.browser.js("document.documentElement.lang"))[key], ensure_ascii=False)

    def texts(self, locale):
        """Returns all texts of the interface in a language, by their keys."""
        files = self.browser.js(f"Promise.all(['{locale}', '{locale}.views'].map((name) => fetch(`/languages/${{name}}.json`).then((answer) => answer.json())))")
        return {f"{group}.{key}": text for file in files for group, texts in file["texts"].items() for key, text in texts.items()}

    def enter(self):
        self.browser.go(f"{self.base}/#key={self.key}")
        return self.that(self.browser.until(ENTERED), "a key in the fragment opens the console")

    def choose(self, select, value):
        """Chooses an option of a select as a person does."""
        self.browser.js(f"""(() => {{ const e = document.querySelector({json.dumps(select)}); e.value = {json.dumps(value)};
            for (const kind of ["input", "change"]) e.dispatchEvent(new Event(kind, {{ bubbles: true }})); }})()""")
