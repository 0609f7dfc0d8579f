# SPDX-License-Identifier: Apache-2.0
"""Checks how the page looks, in two languages and on a screen and a phone, and that the keyboard alone is enough."""

import time

from audits import FAINT, NAMELESS, SMALL, WIDE

# The focusable elements that Tab must reach, in the order of the form.
FORM = ["what-payment", "locale", "amount", "currency", "kind", "channel", "payer", "note", "hear", "everywhere", "is-test", "announce"]

# The focused element: its name, and whether its focus is visible.
FOCUSED = """(() => { const e = document.activeElement; if (e === document.body) return ["", true];
    const at = e.matches(".switch [type=radio]") ? e.nextElementSibling : e; const s = getComputedStyle(at);
    return [e.id || e.textContent || e.tagName, s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2]; })()"""


class LayoutChecks:
    def keyboard(self):
        b = self.browser
        self.enter()
        for view in ("try", "providers", "webhooks", "batches", "voices", "devices", "keys", "settings", "shop"):
            if not self.that(self.tab_to(f"document.activeElement.hash === '#view={view}'"), f"Tab reaches the view {view}"):
                continue
            b.press("Enter")
            self.that(b.until(f"document.querySelector('#view-{view} .card')?.checkVisibility() && document.querySelector('[aria-current=page]').hash === '#view={view}'"), f"Enter shows the view {view}")
            names = self.tab_through()
            reachable = b.js("""[...document.querySelectorAll("a, button, input, select, textarea, summary, [tabindex='0']")].filter((e) => e.checkVisibility() &&
                e.tabIndex >= 0 && !e.disabled && !e.matches(".skip, [type=radio]:not(:checked)")).length""")
            # Date fields have several parts, each of which takes a Tab.
            self.that(len(names) >= reachable, f"Tab reaches every control of the view {view} ({len(names)} of {reachable})")
            if view == "try":
                self.that([name for name in names if name in FORM] == FORM, f"Tab follows the order of the form ({names})")
        self.show("try")
        since = len(b.events)
        self.tab_to("document.activeElement.id === 'amount'")
        b.js("document.activeElement.select()")
        b.type("7.25")
        b.press("Enter")
        self.that(self.called("POST /v1/previews", since), "Enter in a field makes a preview")
        self.that(not [call for call in self.calls(since) if call == "POST /v1/announcements"], "and announces nothing")
        self.that(b.until("document.querySelector('#preview').checkVisibility() && document.querySelector('.words button')"), "the clip appears")
        stopped = "!document.querySelector('#play').classList.contains('playing')"
        b.until(f"{stopped} && document.querySelector('#hear').getAttribute('aria-busy') === null && sound.buffer", evaluate=b.inside)
        self.that(self.tab_to("document.activeElement.id === 'wave'"), "Tab reaches the waveform")
        b.until(stopped)
        b.press("ArrowRight")
        b.press("ArrowRight")
        self.that(b.until("+document.querySelector('#wave').getAttribute('aria-valuenow') >= 0.3", 3), "arrow keys move the position on the waveform")
        b.press("Tab")
        b.press("Enter")
        self.that(b.until("document.querySelector('#play').classList.contains('playing')", 3), "a word can be played from the keyboard")
        b.until(stopped)

    def tab_to(self, condition):
        for _ in range(150):
            self.browser.press("Tab")
            if self.browser.js(condition):
                return True
        return False

    def tab_through(self):
        """Presses Tab until the focus leaves the page, and returns what had the focus."""
        b = self.browser
        b.js("document.activeElement.blur(); document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex'); window.scrollTo(0, 0)")
        seen, invisible = [], []
        for _ in range(200):
            b.press("Tab")
            name, shown = b.js(FOCUSED)
            if name == "" or (len(seen) > 3 and name == seen[0]):
                break
            seen.append(name)
            if not shown:
                invisible.append(name)
        else:
            self.that(False, "Tab returns to the first control")
        self.that(not invisible, f"every control shows its focus ({invisible})")
        return seen

    def looks(self):
        b = self.browser
        for locale in ("en-US", "hi-IN"):
            self.speak(locale)
            self.fill_page()
            for scheme in ("light", "dark"):
                b.media(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
                for width, height in ((1280, 900), (390, 844), (320, 640)):
                    b.size(width, height)
                    for view in ("shop", "announcement", "try", "providers", "webhooks", "batches", "voices", "devices", "keys", "settings"):
                        self.look(locale, scheme, width, view)
                    if width != 320:
                        self.look_at_moments(f"{locale}, {scheme}, {width} px", width)
                ground = b.js("getComputedStyle(document.documentElement).backgroundColor")
                self.that((sum(map(int, ground[4:-1].split(","))) < 384) == (scheme == "dark"), f"the {scheme} scheme is {scheme}")
        b.js("localStorage.clear()")
        b.media(prefers_color_scheme="light")
        b.size(1280, 900)
        self.show("shop")
        self.speak("en-US")

    def look(self, locale, scheme, width, view):
        b = self.browser
        what = f"{locale}, {scheme}, {width} px, {view}"
        self.show(view)
        time.sleep(0.2)
        if view == "try":
            b.inside("(sound.stop(), preview.seek(preview.duration * 0.55, false))")
        self.audit(what, width)
        if width == 1280:
            self.axe(what)
            nameless = b.js(NAMELESS)
            self.that(not nameless, f"{what}: every control has a name, and no id occurs twice ({nameless})")
        if view == "shop" and width == 390:
            # While something is wrong, the bar says so above the queue.
            top = b.js("document.querySelector('.queue').getBoundingClientRect().top + scrollY - (document.querySelector('#bar').checkVisibility() ? document.querySelector('#bar').offsetHeight : 0)")
            self.that(top < 260, f"{what}: the queue is near the top, below the bar ({top} px)")
        if width != 320:
            self.shot(f"{locale}-{scheme}-{width}-{view}")

    def audit(self, what, width):
        """Examines the size of the page and of its targets, and the contrast of its texts."""
        b = self.browser
        wide = b.js(WIDE)
        self.that(not wide, f"{what}: nothing is wider than the window ({wide})")
        faint = b.js(FAINT)
        self.that(not faint, f"{what}: all text has enough contrast ({faint})")
        small = b.js(SMALL % ((44, 44) if width < 480 else (24, 24)))
        self.that(not small, f"{what}: every target is large enough ({small})")

    def look_at_moments(self, what, width):
        """Looks at what is on the page for some time only: a question, an offer to undo, the recorder, a lost connection."""
        b = self.browser
        self.show("shop")
        waiting = b.js("document.querySelectorAll('#waiting li button').length")
        b.click("#waiting li:last-child button")
        if self.that(b.until("document.querySelector('#ask').open"), f"{what}: the question opens"):
            self.audit(f"{what}, question", width)
            self.shot(f"{what}, question".replace(", ", "-").replace(" ", ""))
        b.click("#ask-yes")
        if self.that(b.until("document.querySelector('#undoable button')"), f"{what}: Undo is offered"):
            self.audit(f"{what}, undo", width)
            self.shot(f"{what}, undo".replace(", ", "-").replace(" ", ""))
        b.click("#undoable button")
        b.until(f"document.querySelectorAll('#waiting li button').length === {waiting} && !document.querySelector('#undoable button')")
        b.inside("lose('looks')")
        self.that(b.js("document.querySelector('#view-shop .stale').checkVisibility()"), f"{what}: the page says that it is out of date")
        self.audit(f"{what}, not connected", width)
        self.shot(f"{what}, lost".replace(", ", "-").replace(" ", ""))
        b.inside("regain('looks')")
        self.show("voices")
        b.js("document.querySelector('#clips .buttons button:last-child').click()")
        if self.that(b.until("document.querySelector('#recorder').open"), f"{what}: the recorder opens"):
            b.js("document.querySelector('#recorder-record').click()")
            b.until("+document.querySelector('#recorder-level').value > 0.05", 5)
            self.audit(f"{what}, recorder", width)
            self.shot(f"{what}, recorder".replace(", ", "-").replace(" ", ""))
        b.press("Escape")
        b.until("!document.querySelector('#recorder').open")

    def open_own_pack(self):
        """Opens a pack that can be changed, in the voices."""
        b = self.browser
        self.show("voices")
        listen = "[...document.querySelectorAll('#packs button')].find((button) => button.ariaLabel.includes('own-voice'))"
        if not any(pack["id"] == "own-voice" for pack in self.service.call("GET", "/v1/packs")["packs"]):
            self.service.build_pack("own-voice")
            self.show("shop")
            self.show("voices")
        b.until(listen, 20)
        b.js(f"{listen}.click()")
        b.until("document.querySelectorAll('#clips li').length > 40")

    def fill_page(self):
        """Shows a preview, languages, waiting announcements and the recordings of a pack."""
        b = self.browser
        self.open_own_pack()
        self.fill()
        b.js("document.querySelector('#payer').value = 'Alice Johnson'; document.querySelector('#note').value = 'Table four'; document.querySelector('#hear').click()")
        b.until("document.querySelector('#preview').checkVisibility() && document.querySelector('#hear').getAttribute('aria-busy') === null")
        b.js("document.querySelector('#everywhere').click()")
        b.until("document.querySelectorAll('#locales li button').length > 4 && document.querySelector('#everywhere').getAttribute('aria-busy') === null")
        self.show("shop")
        if b.js("document.querySelectorAll('#waiting button').length") < 3:
            self.service.call("POST", "/v1/playback/pause")
            for number in range(3):
                body = {"id": f"l{time.monotonic_ns()}", "amount": f"{number + 3}.75", "currency": "USD", "locale": "en-US", "channel": "card", "deliver": ["clip", "play"]}
                self.service.call("POST", "/v1/announcements", body)
        b.until("document.querySelectorAll('#waiting button').length >= 3")

    def show(self, view):
        """Shows a view, as its link does. The page of an announcement is reached from the list."""
        if view == "announcement":
            self.show("shop")
            self.browser.until("document.querySelector('#recent a')")
            self.browser.js("document.querySelector('#recent a').click()")
            self.browser.until("document.querySelector('#announcement-parts')?.checkVisibility() && document.querySelector('#words button')")
            return
        self.browser.js(f"document.querySelector('#views a[href=\"#view={view}\"]').click()")
        self.browser.until(f"document.querySelector('#view-{view} .card')?.checkVisibility()")
