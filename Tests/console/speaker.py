# SPDX-License-Identifier: Apache-2.0
"""Checks the shop's speaker: its queue, cancelling, undoing, its settings, and what the page shows without a service."""

import contextlib
import json
import time

WAITING = "document.querySelectorAll('#waiting button').length"
STATE = "document.querySelector('#player-state').textContent"
QUESTION = "document.querySelector('#ask').open"
FOCUS = "(document.activeElement.id || document.activeElement.tagName)"


class SpeakerChecks:
    """A payment is cancelled only on purpose, and nothing is out of date without saying so."""

    def waiting_payments(self, count):
        """Pauses the player, announces payments through the service, and waits until the page lists them."""
        b = self.browser
        self.service.call("POST", "/v1/playback/pause")
        for number in range(1, count + 1):
            body = {"id": f"w{time.monotonic_ns()}", "amount": f"{number}.25", "currency": "USD", "locale": "en-US", "deliver": ["clip", "play"]}
            self.service.call("POST", "/v1/announcements", body)
        return b.until(f"{WAITING} >= {count} && {STATE} === {self.shown_text('player.state.paused')}")

    def empty_queue(self):
        """Cancels all that waits, and resumes the player."""
        for entry in self.service.call("GET", "/v1/playback")["waiting"]:
            self.service.call("DELETE", f"/v1/playback/{entry['id']}")
        self.service.call("POST", "/v1/playback/resume")

    def words(self):
        return self.browser.js("[...document.querySelectorAll('#waiting .title')].map((title) => title.textContent)")

    @contextlib.contextmanager
    def phone(self, locale):
        """Uses the page as on a phone, in another language."""
        b = self.browser
        b.size(390, 844)
        self.enter()
        self.speak(locale)
        try:
            yield
        finally:
            self.speak("en-US")
            b.js("localStorage.clear()")
            b.size(1280, 900)

    def queue_on_phone(self):
        with self.phone("hi-IN"):
            self.queue()

    def stale_on_phone(self):
        with self.phone("hi-IN"):
            self.stale()

    def queue(self):
        b = self.browser
        self.enter()
        self.that(b.until(f"document.querySelector('#link').textContent === {self.shown_text('live.on')}"), "events are received")
        self.empty_queue()
        b.until(f"{WAITING} === 0 && {STATE} === {self.shown_text('player.state.idle')}", 40)
        self.that(self.waiting_payments(5), "waiting announcements are listed")
        words = self.words()
        self.that(len(words) == 5 and all("dollar" in text and "w1" not in text for text in words), f"every waiting payment is shown by its words ({words})")
        self.shot("queue-light")
        for key in ("Enter", " "):
            self.press_twice(key)
        self.hold_enter()
        self.cancel_and_undo()
        self.row_changes()
        self.double_click()
        self.question_ends()
        self.skip()

    def press_twice(self, key):
        b = self.browser
        before = len(self.words())
        b.js("document.querySelector('#waiting li:nth-child(2) button').focus()")
        b.press(key)
        self.that(b.until(f"{QUESTION} && {FOCUS} === 'ask-no'"), "Cancel asks first, and the safe choice has the focus")
        b.press(key)
        self.that(b.until(f"!{QUESTION}", 3), "a second press closes the question")
        time.sleep(0.4)
        self.that(len(self.words()) == before, f"two presses of {key!r} on Cancel cancel nothing")
        b.js("document.querySelector('#waiting li:nth-child(2) button').focus()")
        b.press("Enter")
        b.until(QUESTION)
        b.press("Escape")
        self.that(b.until(f"!{QUESTION}", 3) and b.js("document.activeElement.closest('#waiting li:nth-child(2)') !== null"), "Escape keeps the announcement, and the focus returns to its row")
        self.that(len(self.words()) == before, "Escape cancels nothing")

    def hold_enter(self):
        b = self.browser
        before = len(self.words())
        b.js("document.querySelector('#waiting li:first-child button').focus()")
        b.hold("Enter", 30)
        time.sleep(0.5)
        self.that(len(self.words()) == before, "Enter held on Cancel cancels nothing")
        b.press("Escape")
        b.until(f"!{QUESTION}", 2)
        since = len(b.events)
        b.js("document.querySelector('#waiting li:first-child button').focus()")
        b.press("Enter")
        b.until(QUESTION)
        b.press("Tab", shift=True)
        self.that(b.js(FOCUS) == "ask-yes", "Shift and Tab reach the other choice")
        b.hold("Enter", 30)
        self.that(self.called("DELETE /v1/playback/*", since), "Cancel cancels the waiting announcement")
        self.that(b.until(f"{WAITING} === {before - 1}"), "a cancelled announcement leaves the list")
        time.sleep(0.4)
        deleted = [call for call in self.calls(since) if call.startswith("DELETE /v1/playback/")]
        self.that(len(deleted) == 1 and not b.js(QUESTION), f"Enter held on the agreement cancels one announcement only ({len(deleted)})")
        self.that(b.js(FOCUS) == "waiting-title", "the focus then is on a heading, where Enter does nothing")
        b.press("Enter")
        time.sleep(0.2)
        self.that(len(self.words()) == before - 1, "another Enter cancels nothing")

    def cancel_and_undo(self):
        b = self.browser
        self.that(b.until("document.querySelectorAll('#undoable li').length === 1"), "a cancelled announcement can be undone")
        self.shot("undo-light")
        b.press("Tab")
        self.that(b.js("document.activeElement.closest('#undoable') !== null"), "Tab reaches Undo")
        cancelled = b.js("document.querySelector('#undoable p').textContent")
        since = len(b.events)
        b.press("Enter")
        self.that(self.called("POST /v1/playback/restore", since), "Undo asks the service to restore it")
        self.that(b.until(f"{WAITING} === 5"), "the announcement waits again")
        self.that(self.words()[0] in cancelled, f"it waits in its old place ({self.words()[0]})")
        self.that(b.until("document.querySelectorAll('#undoable li').length === 0"), "the offer ends")

    def row_changes(self):
        """Makes the row of an open question again, as an event does that changes its announcement."""
        b = self.browser
        row = "document.querySelector('#waiting li:nth-child(2)')"
        for key in ("Escape", "Enter"):
            b.js(f"{row}.querySelector('button').focus(); window.former = {row}; true")
            b.press("Enter")
            b.until(QUESTION)
            b.inside("(former.shown = '', refreshPlayer())")
            self.that(b.until(f"!former.isConnected && {row}"), "a row can be made again while its question is open")
            b.press(key)
            self.that(b.until(f"!{QUESTION} && document.activeElement === {row}.querySelector('button')", 3), f"after {key} the focus is on the same button of the new row ({b.js(FOCUS)})")

    def double_click(self):
        b = self.browser
        before = len(self.words())
        b.click("#waiting li:first-child button", times=2)
        time.sleep(0.3)
        self.that(len(self.words()) == before, "a double click on Cancel cancels nothing")
        b.js("document.querySelector('#ask').close()")
        since = len(b.events)
        b.click("#waiting li:last-child button")
        b.until(QUESTION)
        b.click("#ask-yes")
        self.that(self.called("DELETE /v1/playback/*", since) and b.until(f"{WAITING} === {before - 1}"), "the mouse cancels after the question")

    def question_ends(self):
        b = self.browser
        b.click("#waiting li:first-child button")
        b.until(QUESTION)
        since = len(b.events)
        self.service.call("POST", "/v1/playback/resume")
        self.that(b.until(f"!{QUESTION}"), "the question ends when its announcement is played")
        self.that(not [call for call in self.calls(since) if call.startswith("DELETE")], "and cancels nothing")

    def skip(self):
        b = self.browser
        b.until("document.querySelector('#skip').getAttribute('aria-disabled') === null && document.querySelector('#progress')")
        self.that(b.until("document.querySelector('#progress')?.value > 0"), "the playing announcement is shown")
        since = len(b.events)
        b.js("document.querySelector('#skip').focus()")
        b.press("Enter")
        b.press("Enter")
        self.that(self.called("DELETE /v1/playback/*", since), "Skip skips the playing announcement")
        time.sleep(0.5)
        self.that(len([call for call in self.calls(since) if call.startswith("DELETE")]) == 1, "two presses of Enter on Skip skip one announcement")
        skipped = self.shown_text("queue.skipped").replace("{text}", "")
        self.that(b.until(f"document.querySelector('#undoable')?.textContent.includes({skipped})"), "a skipped announcement can be replayed")
        since = len(b.events)
        b.click("#pause")
        self.that(self.called("POST /v1/playback/pause", since) and b.until(f"{STATE} === {self.shown_text('player.state.paused')} && document.querySelector('#pause').textContent === {self.shown_text('player.resume')}"), "Pause pauses the player")
        since = len(b.events)
        b.click("#pause")
        self.that(self.called("POST /v1/playback/resume", since), "Resume resumes the player")
        self.that(b.until(f"{WAITING} === 0 && {STATE} === {self.shown_text('player.state.idle')}", 40), "the queue is played to its end")
        self.that(b.js(f"document.querySelector('#waiting').textContent === {self.shown_text('queue.empty')}"), "an empty queue says so")
        since = len(b.events)
        b.click("#replay")
        self.that(self.called("POST /v1/playback/replay", since), "Replay asks for a replay")
        heard = json.loads(self.shown_text("outcome.heard")).replace("{time}", "").strip()
        self.that(b.until(f"[...document.querySelectorAll('#recent .tag')].some((e) => e.textContent.includes({json.dumps(heard)}))", 12), "the list says what was heard")

    def settings(self):
        b = self.browser
        self.that(b.until("document.querySelector('#volume').value === '100' && document.querySelector('#volume-shown').textContent === '100%'"), "the volume is shown")
        since = len(b.events)
        b.js("document.querySelector('#volume').focus()")
        b.press("ArrowLeft")
        self.that(self.called("PUT /v1/playback/volume", since) and b.until("document.querySelector('#volume-shown').textContent === '95%'"), "an arrow key changes the volume")
        end = time.monotonic() + 5
        while self.service.call("GET", "/v1/playback")["volume"] != 95 and time.monotonic() < end:
            time.sleep(0.05)
        self.that(self.service.call("GET", "/v1/playback")["volume"] == 95, "the service has the new volume")
        self.that(b.until("document.querySelector('#chime').checkVisibility() && document.querySelector('#chime-state').textContent === 'No chime'"), "the chime is shown to an admin key")
        b.file("#chime-file", self.folder / "chime.wav")
        self.that(b.until("/^On, 0\\.5/.test(document.querySelector('#chime-state').textContent)"), "a chime can be uploaded")
        b.file("#chime-file", self.folder / "list.csv")
        self.that(b.until("!document.querySelector('#speaker-problem').hidden"), "a file that is no sound is refused with a problem")
        b.click("#chime-remove")
        b.until(QUESTION)
        b.press("Tab", shift=True)
        b.press("Enter")
        self.that(b.until("document.querySelector('#chime-state').textContent === 'No chime'"), "the chime can be removed")
        self.service.call("PUT", "/v1/playback/volume", {"volume": None})

    def stale(self):
        """Kills the service and starts it again."""
        b = self.browser
        self.show("shop")
        self.waiting_payments(2)
        contents = self.words()
        ready = json.dumps(b.js("document.querySelector('#ready').textContent"), ensure_ascii=False)
        on, idle, stale = (self.shown_text(key) for key in ("live.on", "player.state.idle", "connection.stale"))
        before, after = json.loads(self.shown_text("connection.lost")).split("{time}")
        lost = f"/^{before}\\d.*{after}$/.test(document.querySelector('#ready').textContent)"
        self.service.kill()
        self.that(b.until(lost, 8), "without the service the page says since when it is not connected")
        self.that(b.js(f"{STATE} === document.querySelector('#ready').textContent"), "readiness and the player say the same")
        notes = b.js("[...document.querySelectorAll('#view-shop .stale')].map((note) => note.checkVisibility() && note.textContent)")
        self.that(notes == [json.loads(stale)] * 2, f"the queue and the recent announcements say that they may be out of date ({notes})")
        self.that(self.words() == contents, "the last known queue stays visible")
        enabled = b.js("""[...document.querySelectorAll('.online')].filter((e) => e.checkVisibility() && !e.disabled && e.getAttribute("aria-disabled") !== "true").map((e) => e.id || e.textContent)""")
        self.that(not enabled, f"every control that needs the service is disabled ({enabled})")
        self.that(not b.js(f"[{ready}, {idle}, {on}].some((text) => ['#ready', '#player-state', '#link'].some((id) => document.querySelector(id).textContent === text))"), "nothing on the page contradicts that")
        since = len(b.events)
        b.js("document.querySelector('#waiting button').click(); document.querySelector('#pause').click(); document.querySelector('#replay').click(); true")
        time.sleep(0.3)
        sent = [call for call in self.calls(since) if "/v1/" in call and not call.startswith("GET")]
        self.that(not b.js(QUESTION) and not sent, f"disabled controls send nothing ({sent})")
        self.that(b.js("document.querySelector('#bar').checkVisibility() && document.querySelector('#bar').matches('.bad') && document.title.includes(document.querySelector('#ready').textContent)"), "the bar and the title of the page say it too")
        self.shot("stale-light")
        self.service.start()
        self.that(b.until(f"document.querySelector('#ready').textContent === {ready} && document.querySelector('#link').textContent === {on}", 20), "the page connects again by itself")
        usable = "!document.querySelector('#pause').matches('[aria-disabled]') && !document.querySelector('#waiting button')?.matches('[aria-disabled]')"
        self.that(b.until(f"{STATE} !== '' && !{lost.replace('#ready', '#player-state')} && {usable}"), f"the controls work again ({b.js(STATE)})")
        self.that(b.js("[...document.querySelectorAll('.stale')].every((note) => note.hidden)"), "nothing says any more that it is out of date")
        self.service.call("POST", "/v1/playback/resume")
