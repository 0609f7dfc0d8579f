# SPDX-License-Identifier: Apache-2.0
"""Checks the recent announcements, batches, phones, keys and voices."""

import time

from checker import ENTERED

# The ids of the announcements that are listed.
TITLES = "[...document.querySelectorAll('#recent a')].map((link) => decodeURIComponent(link.hash.split('/')[2]))"
QUESTION = "document.querySelector('#ask').open"


class ManagementChecks:
    def agree(self):
        """Agrees to a question with the keyboard."""
        b = self.browser
        b.until(QUESTION)
        b.press("Tab", shift=True)
        b.press("Enter")

    def recent(self):
        b = self.browser
        self.service.call("POST", "/v1/playback/pause")
        for number in range(1, 46):
            body = {"id": f"recent-{number:02}", "amount": f"{number}", "currency": "USD", "locale": "en-US"}
            if number == 45:
                body["deliver"] = ["clip", "play"]
            self.service.call("POST", "/v1/announcements", body)
        rows = "document.querySelectorAll('#recent li:not(.none)').length"
        titles = TITLES
        self.enter()
        self.that(b.until(f"{rows} === 20 && document.querySelector('#recent-older').checkVisibility()"), "the newest announcements are listed, and older ones are offered")
        b.js("document.querySelector('#recent-older').focus()")
        b.press("Enter")
        self.that(b.until(f"{rows} === 40"), "Older adds a page")
        self.that(b.js(f"new Set({titles}).size") == 40, "no announcement is listed twice")
        self.service.call("POST", "/v1/announcements", {"id": "recent-46", "amount": "46", "currency": "USD", "locale": "en-US"})
        self.that(b.until(f"{titles}[0] === 'recent-46' && {rows} >= 40"), "a new announcement comes to the top, and the older ones stay")
        b.js("document.querySelector('#recent-search').focus()")
        b.type("RECENT-07")
        self.that(b.until(f"{rows} === 1 && {titles}[0] === 'recent-07'"), "the list can be searched by the id")
        b.js("document.querySelector('#recent-search').select()")
        b.type("twenty-nine dollars")
        self.that(b.until(f"{rows} === 1 && {titles}[0] === 'recent-29'"), "the list can be searched by the words")
        self.shot("recent-search")
        b.js("document.querySelector('#recent-search').select()")
        b.type("nothing like this")
        self.that(b.until("document.querySelector('#recent').textContent === 'No announcements match.'"), "a search without a result says so")
        b.js("document.querySelector('#recent-search').value = ''")
        self.choose("#recent-state", "accepted,rendering,waiting,playing")
        self.that(b.until(f"{titles}.includes('recent-45') && !{titles}.includes('recent-29')"), "the list can be filtered by the state")
        self.choose("#recent-state", "")
        today = "new Date(Date.now() - new Date().getTimezoneOffset() * 60000).toISOString().slice(0, 10)"
        self.choose("#recent-to", b.js(today.replace("Date.now()", "Date.now() - 86400000")))
        self.that(b.until(f"{rows} === 0"), "nothing is listed from before today")
        self.choose("#recent-to", b.js(today))
        self.choose("#recent-from", b.js(today))
        self.that(b.until(f"{rows} === 20"), "today's announcements are listed")
        for field in ("#recent-to", "#recent-from"):
            self.choose(field, "")
        self.service.call("POST", "/v1/playback/resume")

    def search(self):
        """Searches more announcements than the service reads for one answer."""
        b = self.browser
        self.service.announce_many("deep-first", 1)
        self.service.announce_many("plain", 2050)
        self.enter()
        rows = "document.querySelectorAll('#recent li:not(.none)').length"
        titles = TITLES
        older = "document.querySelector('#recent-older').checkVisibility()"
        b.until(f"{rows} === 20 && document.querySelector('#link').textContent === 'Live updates are on.'")
        since = len(b.events)
        b.js("document.querySelector('#recent-search').focus()")
        b.type("deep-")
        self.that(b.until(f"{rows} === 1 && {titles}[0] === 'deep-first-0'"), "a search goes on by itself until it finds something")
        asked = [call for call in self.calls(since) if "search=deep-" in call]
        self.that(4 <= len(asked) <= 6 and "before=" in asked[1], f"with one request for about 500 announcements ({asked})")
        self.service.announce_many("deep-second", 1, "13.50")
        self.that(b.until(f"{titles}.join() === 'deep-second-0,deep-first-0'"), "a new match comes to the top, and those that were found stay")
        since = len(b.events)
        self.service.announce_many("other", 1, "14.50")
        self.called("GET /v1/announcements?*", since)
        time.sleep(1)
        self.that(b.js(f"{titles}.join()") == "deep-second-0,deep-first-0", "they stay when something else is announced")
        self.search_further(older)

    def search_further(self, older):
        """Answers as the service does while it finds nothing among very many announcements."""
        b = self.browser
        b.js("""window.ownFetch = window.fetch; window.asked = []; window.status = 200;
          window.fetch = async (path, request) => {
            if (!String(path).includes("search=far")) return ownFetch(path, request);
            asked.push(path);
            await new Promise((resume) => { setTimeout(resume, 30); });
            return new Response(JSON.stringify({ code: "busy", detail: "Later.", announcements: [], next: String(asked.length) }), { status });
          }; true""")
        field = "document.querySelector('#recent-search')"
        b.js(f"{field}.select(); {field}.focus()")
        b.type("far")
        b.js("document.querySelector('#recent-older').click()")
        listed = "document.querySelector('#recent').textContent"
        self.that(b.until(f"{listed}.startsWith('No matches among the newer') && {older}"), f"a search without a result so far says so, and offers Older ({b.js(listed)})")
        self.that(b.js("asked.length") == 20, "it sends a limited number of requests by itself")
        b.click("#recent-older")
        self.that(b.until(f"asked.length === 40 && {older} && document.querySelector('#recent-older').ariaBusy === null"), "Older searches further")
        self.that("before=39" in b.js("asked[39]"), "from where the search ended")
        b.js(f"window.status = 503; {field}.select(); {field}.focus()")
        b.type("far away")
        self.that(b.until(f"!document.querySelector('#recent-problem').hidden && {listed} === '' && !{older}"), "a search that is refused shows the problem, and neither other announcements nor Older")
        b.js("window.fetch = ownFetch; true")
        self.choose("#recent-search", "")
        self.that(b.until(f"document.querySelectorAll('#recent li').length === 20 && {older}"), "without the search the newest are listed again")

    def batches(self):
        b = self.browser
        self.show("batches")
        self.that(b.until("document.querySelector('#batch-list').textContent === 'No batches yet.'"), "there are no batches at first")
        self.that(b.js("document.querySelector('#batch-start').getAttribute('aria-disabled') === 'true'"), "a batch cannot start without a file")
        b.file("#batch-file", self.folder / "list.csv")
        self.that(b.until("document.querySelector('#batch-file-name').textContent === 'list.csv' && document.activeElement.id === 'batch-start'"), "a file can be chosen")
        since = len(b.events)
        b.press("Enter")
        self.that(self.called("POST /v1/batches?name=list.csv", since) and self.called("GET /v1/batches/*", since), "the batch starts, and its progress is followed")
        state = "document.querySelector('#batch-list .tag')?.textContent"
        self.that(b.until(f"{state} === 'rows have faults'", 60), "the batch ends, and says that a row has a fault")
        text = b.js("document.querySelector('#batch-list').textContent")
        self.that("40 clips made" in text and "1 failed" in text, f"its result is counted ({text})")
        self.that(b.until("document.querySelector('#batch-list .faults')?.textContent.includes('line 42')"), "its fault is told with its line")
        b.js("window.saved = []; const own = URL.createObjectURL; URL.createObjectURL = (blob) => { saved.push(blob); return own.call(URL, blob); }; true")
        b.send("Browser.setDownloadBehavior", behavior="deny")
        b.js("[...document.querySelectorAll('#batch-list button')].at(-1).focus()")
        b.press("Enter")
        self.that(b.until("window.saved.length === 1") and b.js("saved[0].text().then((text) => text.trim().split('\\n').length)") == 41, "the result can be downloaded, one line for each row")
        rows = "\n".join(["id,amount,currency,locale", *(f"b{n},{n}.75,USD,en-US" for n in range(1000, 3000))])
        (self.folder / "long.csv").write_text(rows)
        b.file("#batch-file", self.folder / "long.csv")
        b.until("document.activeElement.id === 'batch-start'")
        b.press("Enter")
        self.that(b.until(f"{state} === 'running' && document.querySelector('#batch-list progress')?.value > 0", 20), "a long batch shows its progress")
        self.shot("batches-running")
        b.js("document.querySelector('#batch-list button').focus()")
        b.press("Enter")
        b.until(QUESTION)
        b.press("Enter")
        self.that(b.until(f"!{QUESTION} && {state} === 'running'"), "cancelling a batch asks first")
        b.press("Enter")
        self.agree()
        self.that(b.until(f"{state} === 'cancelled'", 20), "a batch can be cancelled")
        self.enter()
        self.show("batches")
        self.that(b.until("document.querySelectorAll('#batch-list > li').length === 2"), "the list has the recent batches")

    def keys(self):
        b = self.browser
        self.show("keys")
        self.that(b.until("document.querySelector('#keys').textContent.includes('in use here')"), "the key in use is listed, and cannot be revoked here")
        self.that(b.js("document.querySelectorAll('#keys button').length") == 0, "it has no button to revoke it")
        b.js("document.querySelector('#keys-form').closest('details').open = true; document.querySelector('#keys-name').focus()")
        b.type("Till 2")
        b.press("Enter")
        self.that(b.until("/^crier_.{50}/.test(document.querySelector('#key-made-text').textContent) && document.activeElement.id === 'key-made'"), "a new key is shown")
        self.shot("keys-made")
        made = b.js("document.querySelector('#key-made-text').textContent")
        b.send("Browser.grantPermissions", origin=self.base, permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        b.click("#key-made-copy")
        self.that(b.until("document.querySelector('#key-made-copy').textContent === 'Copied'", 3) and b.js("navigator.clipboard.readText()") == made, "it can be copied")
        b.click("#key-made-hide")
        self.that(b.js("!document.querySelector('#key-made').checkVisibility()") and made not in b.js("document.documentElement.outerHTML"), "it is shown only once")
        row = "[...document.querySelectorAll('#keys li')].find((row) => row.textContent.includes('Till 2'))"
        self.that(b.until(f"{row}?.textContent.includes('announce, read')"), "the new key has the usual scopes")
        b.go(f"{self.base}/#key={made}")
        self.that(b.until(ENTERED), "the new key opens the console")
        self.that(b.js("document.querySelector('#key-panel').hidden === false"), "but does not replace the key in use without a question")
        b.click("#key-form button")
        self.that(b.until("document.querySelector('#link').textContent === 'Live updates are on.' && !document.querySelector('#views a[href=\"#view=keys\"]').checkVisibility()"), "a key without the scope admin sees no keys")
        b.go(f"{self.base}/#key={self.key}")
        b.until("document.querySelector('#key-panel')?.checkVisibility()")
        b.click("#key-form button")
        b.until("document.querySelector('#views a[href=\"#view=keys\"]').checkVisibility()")
        self.show("keys")
        b.until(f"{row}?.querySelector('button')")
        b.js(f"[...{row}.querySelectorAll('button')].at(-1).focus()")
        b.press("Enter")
        b.until(QUESTION)
        b.press("Enter")
        self.that(b.until(f"!{QUESTION}") and b.js(f"!{row}.textContent.includes('revoked')"), "revoking asks first")
        b.press("Enter")
        self.agree()
        self.that(b.until(f"{row}.textContent.includes('revoked')"), "a key can be revoked")
        status = f"fetch('/v1/locales', {{ headers: {{ Authorization: 'Bearer {made}' }} }}).then((answer) => answer.status)"
        end = time.monotonic() + 3
        while b.js(status) != 401 and time.monotonic() < end:
            time.sleep(0.05)
        self.that(b.js(status) == 401, "a revoked key is refused")
        self.show("shop")

    def devices(self):
        b = self.browser
        self.show("devices")
        self.that(b.until("document.querySelector('#devices').textContent === 'No phone is registered.'"), "the phones are shown, and there are none yet")
        body = {"bundle_id": "com.example.shop", "environment": "sandbox", "tokens": {"alert": "a1" * 32}, "device_group": "counter", "locale": "zh-CN"}
        for device in ("till-1", "till-2"):
            self.service.call("PUT", f"/v1/devices/{device}", {**body, "tokens": body["tokens"] if device == "till-1" else {}})
        b.click("#devices-again")
        rows = "[...document.querySelectorAll('#devices li')].map((row) => row.textContent)"
        self.that(b.until(f"{rows}.length === 2 && {rows}[0].includes('till-1')"), "the registered phones are listed")
        texts = b.js(rows)
        self.that(all(text in texts[0] for text in ("group counter", "com.example.shop", "sandbox", "zh-CN", "notifications")), f"with the group, the app, the language and what can be pushed ({texts[0]})")
        self.that("no token" in texts[1] and "no token" not in texts[0], "a phone that nothing can be pushed to is marked")
        # Nothing is pushed without an account at Apple, so the answer of the service is made here.
        b.js("""window.ownFetch = window.fetch;
          window.fetch = async (path, request) => {
            if (!path.includes("/till-1/announcements")) return ownFetch(path, request);
            const payload = { aps: { alert: { title: "¥12.50", body: "支付宝" } }, crier: { locale: "zh-CN" } };
            return new Response(JSON.stringify({ last_sequence: 2, announcements: [
              { sequence: 1, id: "first", pushed_at: "2026-11-20T20:23:58.120Z", state: "delivered", payload },
              { sequence: 2, id: "second", pushed_at: "2026-11-20T20:24:58.120Z", state: "unregistered", payload } ] }));
          }; true""")
        b.js("document.querySelector('#devices a').focus()")
        b.press("Enter")
        pushes = "[...document.querySelectorAll('#pushes li')].map((row) => row.textContent)"
        self.that(b.until(f"{pushes}.length === 2 && document.activeElement.id === 'device-title'"), "what was pushed to a phone is listed on its page")
        told = b.js(pushes)
        self.that("second" in told[0] and "phone not registered" in told[0] and "accepted by APNs" in told[1] and "¥12.50" in told[1], f"the newest first, with the text and what became of it ({told})")
        self.shot("devices")
        b.js("window.fetch = ownFetch; true")
        b.js("document.querySelector('#device-remove').focus()")
        b.press("Enter")
        b.until(QUESTION)
        b.press("Enter")
        self.that(b.until(f"!{QUESTION}") and b.js("document.querySelector('#device-card').checkVisibility()"), "removing a phone asks first")
        b.press("Enter")
        self.agree()
        self.that(b.until(f"{rows}.length === 1 && {rows}[0].includes('till-2') && !document.querySelector('#device-card').checkVisibility()"), "a phone can be removed, and the list is shown again")
        self.service.call("DELETE", "/v1/devices/till-2")
        self.show("shop")

    def voices(self):
        b = self.browser
        for pack in ("own-voice", "other-voice"):
            self.service.build_pack(pack)
        self.show("voices")
        listen = "[...document.querySelectorAll('#packs button')].find((button) => button.ariaLabel.includes('own-voice'))"
        self.that(b.until(f"{listen}", 20), "the voice packs are listed")
        self.speaking()
        b.js(f"{listen}.focus()")
        b.press("Enter")
        self.that(b.until("document.activeElement.id === 'clips-title' && document.querySelectorAll('#clips li').length > 40"), "the recordings of a pack are listed")
        tokens = [clip["tokens"][0] for clip in self.service.call("GET", "/v1/packs/own-voice/clips")["clips"]]
        shown = b.js("[...document.querySelectorAll('#clips li code')].slice(0, 12).map((code) => code.textContent)")
        self.that(shown[0] == "Received" and shown == tokens[:12], f"the words that payments need come first ({shown})")
        since = len(b.events)
        self.press_button("Listen")
        self.that(self.called("GET /v1/packs/own-voice/clips/*", since) and b.until("recording.isPlaying", evaluate=b.inside), "a recording can be heard")
        self.that(b.until("document.activeElement.textContent === 'Listen'"), "the focus stays on the button")
        self.press_button("Mark wrong")
        self.that(b.until("document.querySelector('#clips-count').textContent === '1 marked wrong' && document.querySelector('#clips .tag.bad')"), "a recording can be marked as wrong")
        self.shot("voices-marked")
        b.click("#clips-marked")
        self.that(b.until("document.querySelectorAll('#clips li').length === 1"), "the list can be limited to the wrong ones")
        b.click("#clips-marked")
        self.microphone_fails()
        self.record()
        self.record_late()
        self.show("shop")

    def speaking(self):
        """Checks that a pack which speaks a language says so, in English and in Hindi."""
        b = self.browser
        line = "[...document.querySelectorAll('#speakers > li')].find((row) => /American English|अमेरिकी अंग्रेज़ी/.test(row.textContent)).querySelector('.meta').textContent"
        self.that(b.until("document.querySelectorAll('#speakers > li').length > 4") and b.js(line).startswith("Speech engine"), "each language says that the engine speaks it while no pack does")
        self.service.use_pack("own-voice")
        self.enter()
        self.show("voices")
        self.that(b.until(f"document.querySelectorAll('#speakers > li').length > 4 && {line} === 'own-voice · chosen'"), f"the language says which pack speaks, and why ({b.js(line)})")
        self.shot("voices-speaking")
        self.speak("hi-IN")
        self.that(b.js(line) == "own-voice · चुनी गई", f"it says so in Hindi too ({b.js(line)})")
        self.shot("voices-speaking-hi-IN")
        self.speak("en-US")

    def speech_servers(self):
        """Checks what the voices say about a speech server. The service of the checks has none, so one is made up."""
        b = self.browser
        identity = "piper 2.5.2, en_US-joe-medium"
        verdict = {"server": "joe", "identity": identity, "locale": "en-US", "passed": True, "tested_at": "2026-11-20T20:23:58Z", "findings": ["98 of 100 amounts were understood."]}

        def shown(state, identity, verdict):
            server = {"state": state, "amounts": None, "identity": identity, "verdict": verdict}
            self.stand_in("/v1/voices", {"voices": [{"voice": "joe", "locale": "en", "is_default": False, "speech_server": server}]})
            self.show("shop")
            self.show("voices")

        row = "[...document.querySelectorAll('#speakers > li')].find((row) => /English/.test(row.textContent))"
        self.enter()
        shown("closed", identity, verdict)
        self.that(b.until(f"{row}?.textContent.includes('joe · speech server')"), "the language says that a speech server speaks it")
        self.that(b.js(f"/joe · passed its test: .+2026|joe · passed its test: Nov 20/.test({row}.textContent) && !{row}.textContent.includes('no amounts')"), f"and when its voice passed its test ({b.js(f'{row}.textContent')})")
        self.shot("voices-speech-server")
        b.js(f"{row}.querySelector('details summary').click(); true")
        self.that(b.js(f"{row}.querySelector('details').innerText.includes('98 of 100 amounts were understood.')"), "what the test found can be read")
        since = len(b.events)
        b.js(f"[...{row}.querySelectorAll('button')].find((button) => button.textContent === 'Listen to joe').focus(); true")
        b.press("Enter")
        self.that(self.called("POST /v1/previews*", since), "its button asks for a payment in its voice")
        self.that(b.until("document.querySelector('#speakers-problem').checkVisibility()"), "a voice that cannot be heard says why")
        shown("closed", "piper 3.0.0, en_US-joe-medium", verdict)
        self.that(b.until(f"{row}?.textContent.includes('joe · not tested · says no amounts')"), "another version of the voice is not tested")
        shown("open", None, None)
        self.that(b.until(f"{row}?.textContent.includes('joe · does not answer · not tested') && {row}.textContent.includes('Speech engine')"), "a server that rests does not speak, and the engine does")
        self.enter()
        self.show("shop")

    def press_button(self, label):
        """Presses the first button of the recordings with a label, with the keyboard."""
        found = f"[...document.querySelectorAll('#clips li button')].find((button) => button.textContent === '{label}')"
        self.browser.js(f"{found}.focus()")
        self.browser.press("Enter")

    def record(self):
        """Records a word with Chromium's microphone, which gives beeps."""
        b = self.browser
        self.press_button("Record again")
        self.that(b.until("document.querySelector('#recorder').open && document.activeElement.id === 'recorder-record'"), "the recorder opens")
        self.that(b.js("document.querySelector('#recorder-save').getAttribute('aria-disabled') === 'true'"), "nothing can be saved before it is recorded")
        self.count_microphones()
        b.click("#recorder-record", times=2)
        self.that(b.until("+document.querySelector('#recorder-level').value > 0.05", 10), "the level of the microphone is shown")
        self.that(b.js("streams.length") == 1, "a double click on Record opens one microphone")
        self.shot("recorder")
        time.sleep(1.2)
        b.press("Enter")
        self.that(b.until("/^Recorded: /.test(document.querySelector('#recorder-state').textContent) && document.activeElement.id === 'recorder-listen'"), "the recording ends, and can be heard")
        b.press("Enter")
        self.that(b.until("recording.isPlaying && recording.buffer.numberOfChannels === 1 && recording.buffer.duration > 0.5", evaluate=b.inside), "the recording is heard here")
        b.press("Tab")
        since = len(b.events)
        b.press("Enter")
        self.that(self.called("PUT /v1/packs/own-voice/clips/*", since), "the recording is sent")
        answered = "document.querySelector('#recorder-state').textContent.startsWith('Saved') || !document.querySelector('#recorder-problem').hidden"
        # The service prepares the recording, and compares it with what the engine says. A beep may be like another word,
        # and then the person must insist.
        insists = "!document.querySelector('#recorder-accept').hidden"
        if b.until(f"{insists} || {answered}", 120) and b.js(insists):
            b.click("#recorder-accept")
        self.that(b.until(answered, 120) and b.js("document.querySelector('#recorder-problem').hidden"), f"the service takes it ({b.js('document.querySelector(`#recorder-problem`).textContent')})")
        self.that(b.until("document.querySelectorAll('#recorder-warnings li').length > 0", 3), "the service's warnings about it are shown")
        self.shot("recorder-saved")
        b.press("Escape")
        self.that(b.until("!document.querySelector('#recorder').open && document.querySelector('#clips-count').textContent === '0 marked wrong'"), "the new recording has no mark")
        self.that(b.js("streams.every((stream) => stream.getTracks().every((track) => track.readyState === 'ended'))"), "the microphone is closed")
        self.that(b.until("document.activeElement.closest('#clips li') !== null", 3), "the focus returns to the recording's new row")

    def count_microphones(self):
        """Keeps the streams that the page opens, and gives them late, as after a question of the browser."""
        self.browser.js("""window.streams = []; window.ownMedia ??= navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
          navigator.mediaDevices.getUserMedia = async (wanted) => {
            const stream = await ownMedia(wanted);
            streams.push(stream);
            await new Promise((resume) => { setTimeout(resume, 300); });
            return stream;
          }; true""")

    def microphone_fails(self):
        """Opens the microphone while the module that reads it cannot be loaded."""
        b = self.browser
        self.count_microphones()
        b.js("window.ownModule = AudioWorklet.prototype.addModule; AudioWorklet.prototype.addModule = () => Promise.reject(new DOMException('', 'AbortError')); true")
        self.press_button("Record again")
        b.until("document.querySelector('#recorder').open")
        b.press("Enter")
        self.that(b.until("!document.querySelector('#recorder-problem').hidden && document.querySelector('#recorder-record').textContent === 'Record'"), "a microphone that cannot be read shows a problem")
        self.that(b.js("streams.length === 1 && streams[0].getTracks().every((track) => track.readyState === 'ended')"), "and is closed")
        b.js("AudioWorklet.prototype.addModule = ownModule; true")
        b.press("Enter")
        b.press("Escape")
        self.that(b.until("streams.length === 2 && streams[1].getTracks().every((track) => track.readyState === 'ended')"), "a microphone that opens after the recorder was closed is closed too")

    def record_late(self):
        """Closes the recorder while it saves, and opens another word of another pack."""
        b = self.browser
        b.js("""window.ownFetch = window.fetch; window.answers = [];
          window.fetch = async (path, request) => {
            if (request?.method !== "PUT") return ownFetch(path, request);
            return new Promise((resolve) => answers.push(() => resolve(new Response(JSON.stringify(
              { file: decodeURIComponent(path.split("/").at(-1)), text: "late", tokens: ["late"], duration_ms: 1, is_marked: false, warnings: ["late"] })))));
          }; true""")
        self.press_button("Record again")
        b.until("document.querySelector('#recorder').open")
        b.press("Enter")
        b.until("+document.querySelector('#recorder-level').value > 0.05", 10)
        b.press("Enter")
        b.until("document.activeElement.id === 'recorder-listen'")
        b.click("#recorder-save")
        self.that(b.until("answers.length === 1 && document.querySelector('#recorder-save').ariaBusy === 'true' && document.querySelector('#recorder-record').ariaDisabled === 'true'"), "while a recording is saved, no other is made")
        b.press("Escape")
        b.until("!document.querySelector('#recorder').open")
        listen = "[...document.querySelectorAll('#packs button')].find((button) => button.ariaLabel.includes('other-voice'))"
        b.js(f"{listen}.click()")
        b.until("document.querySelector('#clips-title').textContent.includes('other-voice')")
        self.press_button("Record again")
        b.until("document.querySelector('#recorder').open")
        b.press("Enter")
        b.until("+document.querySelector('#recorder-level').value > 0.05", 10)
        b.press("Enter")
        b.until("document.activeElement.id === 'recorder-listen'")
        state = "document.querySelector('#recorder-state').textContent"
        b.js("answers[0](); true")
        time.sleep(0.5)
        self.that(b.js(state).startswith("Recorded: ") and b.js("document.querySelector('#recorder-save').ariaDisabled === null"), f"a save that ends later leaves the next word as it is ({b.js(state)})")
        self.that("late" not in b.js("document.querySelector('#clips').textContent + document.querySelector('#recorder-warnings').textContent"), "and changes no other pack")
        b.js("window.fetch = ownFetch; true")
        b.press("Escape")
        b.until("!document.querySelector('#recorder').open")
