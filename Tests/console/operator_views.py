# SPDX-License-Identifier: Apache-2.0
"""Checks the operator's views: who may sign in, who speaks, the phones, the webhooks, the lists, and the service."""

import json
import time

from standin import StandIn, problem

NOW = time.time()


def at(seconds):
    """Returns a time so many seconds from now, as the service writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(NOW + seconds))


DAY = 86400
ME = {"id": "7d3k9q2m", "name": "Maria", "account": "default", "scopes": ["admin"], "limits": {}, "expires_at": None}
ROWS = ["".join("1" if (row * column + row + column) % 3 == 0 else "0" for column in range(25)) for row in range(25)]
KEYS = [
    {"id": "7d3k9q2m", "name": "Maria", "account": "default", "scopes": ["admin"], "created_at": at(-90 * DAY), "last_used_at": at(-5)},
    {"id": "2b8x4n1p", "name": "Tablet at the counter", "account": "default", "scopes": ["till"], "created_at": at(-20 * DAY), "last_used_at": at(-60), "expires_at": at(3 * DAY)},
    {"id": "9k2m5t7w", "name": "Backend", "account": "default", "scopes": ["announce", "read"], "created_at": at(-200 * DAY), "expires_at": at(100 * DAY)},
    {"id": "1a2b3c4d", "name": "Old tablet", "account": "default", "scopes": ["till"], "created_at": at(-300 * DAY), "revoked_at": at(-10 * DAY)},
]
PHONE = {
    "id": "maria-phone", "bundle_id": "com.example.shop", "environment": "production", "device_group": "counter", "locale": "es-MX",
    "last_sequence": 2, "registered_at": at(-30 * DAY), "changed_at": at(-2 * DAY),
    "tokens": {
        "alert": {"registered_at": at(-30 * DAY), "refusals": 0}, "background": {"registered_at": at(-30 * DAY), "refusals": 2},
    },
    "last_outcomes": {
        "alert": {"state": "delivered", "reason": None, "text": "APNs accepted it.", "at": at(-600)},
        "background": {"state": "failed", "reason": "BadDeviceToken", "text": "Apple does not know the token. The app may belong to the other environment.", "at": at(-900)},
    },
}
OTHER_PHONE = {**PHONE, "id": "kitchen", "device_group": "kitchen", "tokens": {}, "last_outcomes": {}, "locale": "en-US"}
PUSHED = {"last_sequence": 2, "announcements": [
    {"sequence": number, "id": f"pay-{number}", "pushed_at": at(-700 + number), "state": state,
     "payload": {"aps": {"alert": {"title": "US$12.50", "body": "card"}}, "crier": {"locale": "en-US"}}}
    for number, state in ((1, "delivered"), (2, "expired"))]}
MESSAGES = {"waiting": 3, "delivered": 1204, "failed": 0, "expired": 2, "missed": 0}
EVENTS = [f"announcement.{name}" for name in ("rendered", "pending", "played", "pushed", "failed", "expired", "quiet")]
EVENTS += ["player.device_lost", "player.paused", "queue.long", "push.unreachable", "shop.silent"]
HOOKS = [
    {"id": "whe_1", "url": "https://shop.example/hooks", "events": EVENTS, "description": "The shop's backend", "created_at": at(-40 * DAY),
     "delivered_at": at(-30), "last_outcome": "delivered", "last_attempt_at": at(-30), "messages": {**MESSAGES, "waiting": 0},
     "attempts": [{"at": at(-30), "outcome": "delivered", "status": 200, "ms": 84, "message": "msg_2", "type": "announcement.played"}, {"at": at(-90), "outcome": "delivered", "status": 204, "ms": 112, "message": "msg_1", "type": "announcement.rendered"}]},
    {"id": "whe_2", "url": "https://books.example/crier", "events": EVENTS[:2], "created_at": at(-40 * DAY), "failing_since": at(-4 * DAY),
     "last_outcome": "timed_out", "last_attempt_at": at(-DAY), "disabled_at": at(-DAY), "disabled_reason": "failing", "messages": MESSAGES,
     "attempts": [{"at": at(-DAY), "outcome": "timed_out", "status": None, "ms": 10000, "message": None, "type": None}, {"at": at(-2 * DAY), "outcome": "server_failed", "status": 503, "ms": 31, "message": None, "type": None}]},
]
SETTINGS = {
    "version": "0.1.0",
    "settings": [
        {"name": "host", "value": "127.0.0.1", "source": "default"}, {"name": "port", "value": 8080, "source": "file"},
        {"name": "packs", "value": {"en-US": "my-shop"}, "source": "environment"}, {"name": "public_url", "value": "https://crier.shop.example", "source": "option"},
        {"name": "proxies", "value": [], "source": "default"},
    ],
    "versions": {"crier": "0.1.0", "espeak-ng": "1.51", "SQLite": "3.40.1"},
}
NODES = {
    "nodes": [
        {"id": "aa.01", "host": "node-1", "version": "0.1.0", "address": None, "is_this": True, "started_at": at(-DAY), "silence_seconds": 1.5, "is_running": True, "deliveries": ["provider-payments", "pushes"], "lanes": ["default@node-1"]},
        {"id": "bb.02", "host": "node-2", "version": "0.1.0", "address": None, "is_this": False, "started_at": at(-DAY), "silence_seconds": 3, "is_running": True, "deliveries": ["webhooks"], "lanes": []},
        {"id": "cc.03", "host": "node-3", "version": "0.1.0", "address": None, "is_this": False, "started_at": at(-DAY), "silence_seconds": 95, "is_running": False, "deliveries": [], "lanes": ["default@node-3"]},
    ],
    "differences": [{"thing": "lexicon", "groups": [["aa.01"], ["bb.02"]], "is_of_upgrade": False}, {"thing": "version", "groups": [["aa.01"], ["bb.02"]], "is_of_upgrade": True}],
}
OUTPUTS = [{"id": "alsa:default", "name": "Default", "in_use": True}, {"id": "alsa:hw:1,0", "name": "USB Audio", "in_use": False}]
WORDS = ["Received", "dollars", "twelve", "fifty", "cents"]


def clip(word, length=None):
    return {"file": f"{word}.wav", "tokens": [word], "position": "plain", "text": word, "duration_ms": length, "is_marked": False}


def row_of(number, word, is_recorded):
    return {"number": number, "file": f"{word}.wav", "text": word, "position": "plain", "how": "With a level voice.", "example": f"{word} …", "is_required": True, "is_recorded": is_recorded}


class OperatorChecks:
    """The operator does the work in the browser, and nobody sees what the key may not do."""

    def operator(self):
        stand_in = StandIn(self.service)
        self.stand_in, direct = stand_in, self.base
        self.base = stand_in.base
        self.bases.append(self.base + "/")
        self.answers()
        try:
            for part in ("sign_in_by_link", "tills", "links", "choose_voice", "row_by_row", "plain_http", "loudspeaker", "phones", "hooks", "faulty_list", "service_view", "absent", "operator_looks"):
                try:
                    getattr(self, part)()
                except Exception as error:
                    self.that(False, f"the check {part} runs to its end: {error!r}")
        finally:
            self.base = direct
            stand_in.close()
            self.browser.js("localStorage.clear(); sessionStorage.clear()")

    def answers(self):
        """Sets the answers of the calls that a service on this machine cannot give."""
        packs = self.service.call("GET", "/v1/packs")["packs"]
        whole = {"id": "anna", "locale": "en-US", "speaker": "Anna", "licence": "CC0-1.0", "speech_server": None, "sample_rate": 48000, "clips": 119, "tokens": 119, "missing_count": 0, "missing": [], "speaks": "first", "error": None}
        self.packs = [whole, *packs]
        self.rows = [row_of(number + 1, word, number < 3) for number, word in enumerate(WORDS)]
        draft = {"id": "my-shop", "locale": "en-US", "speaker": "Maria", "licence": "CC0-1.0", "rows": 5, "recorded": 3, "required": 5, "required_recorded": 3, "is_complete": False}
        self.keys_now, self.hooks_now, self.phones_now, self.outputs_now = list(KEYS), [dict(hook) for hook in HOOKS], [PHONE, OTHER_PHONE], OUTPUTS
        me = {**ME, "id": self.key.split("_")[1]}
        list_of = lambda name, rows: lambda *_: (200, {name: rows()})
        self.stand_in.answers = {
            "GET /v1/me": (200, me),
            "GET /v1/keys": list_of("keys", lambda: self.keys_now),
            "GET /v1/packs": lambda *_: (200, {"packs": self.packs, "drafts": [draft]}),
            "GET /v1/packs/my-shop/rows": lambda *_: (200, {"pack": draft, "rows": self.rows}),
            "GET /v1/outputs": list_of("outputs", lambda: self.outputs_now),
            "GET /v1/devices": list_of("devices", lambda: self.phones_now),
            "GET /v1/devices/maria-phone": (200, PHONE),
            "GET /v1/devices/maria-phone/announcements": (200, PUSHED),
            "GET /v1/webhook-endpoints": list_of("webhook_endpoints", lambda: [{key: value for key, value in hook.items() if key != "attempts"} for hook in self.hooks_now]),
            "GET /v1/webhook-endpoints/[^/]+": lambda method, target, _: (200, next(hook for hook in self.hooks_now if hook["id"] == target.split("/")[-1])),
            "GET /v1/settings": (200, SETTINGS),
            "GET /v1/nodes": (200, NODES),
        }

    def asked(self, call, count=1, seconds=8):
        """Waits until a call was answered by the stand-in, and returns the document of the last one."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = [document for method, target, document in self.stand_in.asked if f"{method} {target}" == call]
            if len(found) >= count:
                return found[-1] if found[-1] is not None else True
            time.sleep(0.04)
        return None

    def open_view(self, view):
        """Opens the console at a view, with the first key."""
        self.enter()
        self.browser.until("document.querySelector('#key-name').textContent.includes('Maria')")
        self.show(view)

    # MARK: Signing in

    def sign_in_by_link(self):
        b = self.browser
        refused = problem(404, "sign_in_code_unknown", "The code is unknown, was used, or is older than 15 minutes; ask for a new link.")
        codes = []

        def exchange(method, target, document):
            codes.append(document["code"])
            return (201, {"id": "x", "key": self.key, "scopes": ["till"], "account": "default", "name": "Tablet", "expires_at": None}) if document["code"] == "good-code" else refused

        self.stand_in.answers["POST /v1/sign-ins"] = exchange
        b.go(self.base + "/")
        b.until("document.readyState === 'complete'")
        b.js("sessionStorage.clear()")
        b.go(self.base + "/#sign-in=old-code")
        shown = "document.querySelector('#key-problem')?.textContent"
        self.that(b.until(f"{shown}?.includes('ask for a new link')"), f"a code that does not work says what to do ({b.js(shown)})")
        self.that(b.js("location.hash === '' && document.querySelector('#key-panel').checkVisibility()"), "the code leaves the address, and a key can be typed")
        self.shot("sign-in-refused")
        b.go(self.base + "/?again#sign-in=good-code")
        self.that(b.until("document.querySelector('#main')?.checkVisibility() && document.querySelector('#key-name').textContent === 'Maria · account default'"), "a link signs in, and the header shows the key's name and account")
        self.that(b.js("location.hash === '' && !location.href.includes('good-code')") and codes == ["old-code", "good-code"], "the code is sent once, and leaves the address")
        self.that(b.inside("access.key") == self.key, "the key is kept as a typed one")
        b.js("location.hash = 'sign-in=good-code'; true")
        question = "document.querySelector('#ask').open"
        self.that(b.until(question), "somebody who is signed in is asked before a link replaces the key")
        b.press("Enter")
        self.that(b.until(f"!{question}") and len(codes) == 2, "the safe answer keeps the key, and sends no code")

    def tills(self):
        """Signs in with the rights of a till, which may see, pause, replay and set the volume."""
        b = self.browser
        self.stand_in.answers["GET /v1/me"] = (200, {**ME, "scopes": ["till"], "name": "Tablet"})
        self.enter()
        b.until("document.querySelector('#key-name')?.textContent.startsWith('Tablet')")
        shown = "['pause', 'replay', 'volume', 'skip', 'say'].filter((id) => document.getElementById(id)?.checkVisibility())"
        self.that(b.until(f"{shown}.join() === 'pause,replay,volume'"), f"a till sees the buttons that it may press, and no others ({b.js(shown)})")
        links = "[...document.querySelectorAll('#views a')].filter((link) => link.checkVisibility()).map((link) => link.hash)"
        self.that(not any(name in " ".join(b.js(links)) for name in ("keys", "voices", "webhooks", "devices", "settings")), f"and none of the operator's views ({b.js(links)})")
        self.shot("till")
        self.stand_in.answers["GET /v1/me"] = (200, {**ME, "scopes": ["operator"], "name": "Olga"})
        self.enter()
        b.until("document.querySelector('#key-name')?.textContent.startsWith('Olga')")
        self.that("#view=settings" in b.js(links) and "#view=keys" not in b.js(links), f"an operator sees all views but the keys ({b.js(links)})")
        self.stand_in.answers["GET /v1/me"] = (200, {**ME, "id": self.key.split("_")[1]})

    def links(self):
        b = self.browser
        url = f"{self.base}/#sign-in=c0de"
        self.stand_in.answers["POST /v1/sign-in-codes"] = (201, {"code": "c0de", "url": url, "qr": {"size": 25, "rows": ROWS}, "expires_at": at(900)})
        self.open_view("keys")
        b.js("document.querySelector('#links-create').focus()")
        b.press("Enter")
        self.that(b.until("document.activeElement.id === 'links-name' && document.querySelector('#links-problem').checkVisibility()"), "a link needs a name")
        b.type("Tablet at the counter")
        b.press("Enter")
        self.that(self.asked("POST /v1/sign-in-codes") == {"scope": "till", "name": "Tablet at the counter", "days": 365}, "a link for a till is made with the keyboard alone")
        self.that(b.until("document.activeElement.id === 'link-made'") and b.js("document.querySelector('#link-url').textContent") == url, "the link is shown")
        drawn = b.js("document.querySelector('#link-qr svg path:last-child').getAttribute('d').match(/h[0-9]+/g).reduce((sum, run) => sum + (run.startsWith('h-') ? 0 : +run.slice(1)), 0)")
        self.that(drawn == sum(row.count("1") for row in ROWS), f"all dark modules of the QR code are drawn ({drawn})")
        self.that(b.js("document.querySelector('#link-qr svg').getAttribute('aria-label').includes('Tablet')"), "the code has a name for a screen reader")
        self.shot("keys-link")
        b.click("#link-hide")
        self.that(url not in b.js("document.documentElement.outerHTML"), "the link leaves the page")
        codes = [{"id": "c0de1d", "name": "Tablet", "scope": "till", "account": "default", "expires_at": at(900)}]
        former = self.stand_in.answers.get("GET /v1/sign-in-codes")
        self.stand_in.answers["GET /v1/sign-in-codes"] = lambda method, target, document: (200, {"sign_in_codes": codes})
        self.stand_in.answers["POST /v1/sign-in-codes"] = (201, {"id": "c0de1d", "code": "c0de", "url": url, "qr": None, "expires_at": at(900)})
        b.js("document.querySelector('#links-name').value = 'Tablet'; document.querySelector('#links-create').click()")
        self.that(b.until("document.querySelector('#link-made').checkVisibility() && document.querySelector('#links > li')"), "a link that nobody has opened stays on the page")
        codes.clear()
        self.that(b.until("!document.querySelector('#link-made').checkVisibility()", 12) and url not in b.js("document.documentElement.outerHTML"), "a link that somebody has opened leaves the page by itself")
        self.stand_in.answers.pop("GET /v1/sign-in-codes")
        if former is not None:
            self.stand_in.answers["GET /v1/sign-in-codes"] = former
        row = "[...document.querySelectorAll('#keys > li')].find((row) => row.textContent.includes('2b8x4n1p'))"
        self.that(b.until(f"{row}?.textContent.includes('expires soon')"), "a key that expires soon is marked")
        self.stand_in.answers["POST /v1/keys/2b8x4n1p/rotate"] = (201, {**KEYS[1], "id": "5n6m7p8q", "key": "crier_5n6m7p8q_" + "x" * 43})
        b.js(f"{row}.querySelector('button').focus()")
        b.press("Enter")
        self.agree()
        self.that(self.asked("POST /v1/keys/2b8x4n1p/rotate") and b.until("document.querySelector('#key-made-text').textContent.startsWith('crier_5n6m7p8q_')"), "a key can be replaced, after a question")

    # MARK: Voices

    def choose_voice(self):
        b = self.browser
        self.stand_in.answers["PUT /v1/locales/en-US/voice"] = lambda method, target, document: (self.packs[0].update(speaks="chosen" if document["pack"] else "first"), (200, {}))[1]
        self.open_view("voices")
        row = "[...document.querySelectorAll('#speakers > li')].find((row) => row.querySelector('select'))"
        self.that(b.until(f"{row}?.textContent.includes('the first recorded pack')"), "each language says who speaks it, and why")
        offered = b.js(f"[...{row}.querySelector('select').options].map(({{ value }}) => value)")
        self.that("anna" in offered and "my-shop" not in offered, f"a pack that lacks words cannot be chosen ({offered})")
        b.js(f"{row}.querySelector('select').focus()")
        b.js(f"(() => {{ const e = {row}.querySelector('select'); e.value = 'anna'; e.dispatchEvent(new Event('change')); }})()")
        self.that(self.asked("PUT /v1/locales/en-US/voice") == {"pack": "anna"}, "a pack can be chosen")
        self.that(b.until(f"{row}.querySelector('.meta').textContent.includes('chosen')"), "and is shown as chosen")
        wide = b.js("[...document.querySelectorAll('#packs > li')].map((row) => row.querySelector('progress').clientWidth / row.firstElementChild.clientWidth)")
        self.that(min(wide) > 0.98, f"the bar of the coverage is as wide as its row ({wide})")
        self.shot("voices-choice")

    def row_by_row(self):
        b = self.browser
        saved = []

        def save(method, target, document):
            saved.append(target)
            if len(saved) == 2:
                return problem(409, "recording_suspicious", "The recording is clipped.")
            name = target.split("?")[0].split("/")[-1]
            self.rows = [{**entry, "is_recorded": entry["is_recorded"] or entry["file"] == name} for entry in self.rows]
            return 200, {**clip(name.removesuffix(".wav"), 500), "warnings": []}

        self.stand_in.answers["PUT /v1/packs/my-shop/clips/[^/]+"] = save
        self.stand_in.answers["POST /v1/packs"] = (201, {"id": "my-shop"})
        self.open_view("voices")
        b.until("document.querySelectorAll('#packs > li').length > 1")
        b.js("document.querySelector('#pack-new').open = true; document.querySelector('#pack-id').focus()")
        b.type("my-shop")
        b.press("Enter")
        made = self.asked("POST /v1/packs") or {}
        self.that(made.get("id") == "my-shop" and made.get("locale") == "en-US", f"a voice can be begun from nothing ({made})")
        self.that(b.until("document.activeElement.id === 'clips-title' && document.querySelectorAll('#clips li').length === 5"), "its rows are listed, also those without a recording")
        self.that(b.js("[...document.querySelectorAll('#clips li')].at(-1).textContent.includes('not recorded')"), "which say so")
        self.shot("voices-begun")
        b.js("document.querySelector('#clips-record').focus()")
        b.press("Enter")
        words, place = ("document.querySelector('#recorder-%s').textContent" % name for name in ("words", "place"))
        self.that(b.until(f"document.querySelector('#recorder').open && {words} === 'fifty' && {place} === '1 of 2'"), "the recorder goes through the missing rows")

        def take():
            b.press("Enter")
            b.until("+document.querySelector('#recorder-level').value > 0.05", 10)
            b.press("Enter")
            b.until("document.activeElement.id === 'recorder-listen'")
            b.press("Tab")
            b.press("Enter")

        take()
        self.that(b.until("document.activeElement.id === 'recorder-next'", 20) and saved == ["/v1/packs/my-shop/clips/fifty.wav"], f"after Save, Next has the focus ({saved})")
        b.press("Enter")
        self.that(b.until(f"{words} === 'cents' && document.activeElement.id === 'recorder-record'"), "Next shows the next row, ready to record")
        take()
        self.that(b.until("document.querySelector('#recorder-warnings').textContent.includes('clipped') && document.activeElement.id === 'recorder-record'", 20), "a suspicious recording is not used, and can be made again at once")
        self.shot("recorder-suspicious")
        b.click("#recorder-accept")
        self.that(b.until("document.querySelector('#recorder-state').textContent.startsWith('Saved')", 20) and saved[-1].endswith("cents.wav?accept=true"), f"unless the person insists ({saved})")
        b.press("Escape")
        self.that(b.until("!document.querySelector('#clips-record').checkVisibility()"), "with all rows recorded, nothing is left to record")

    def plain_http(self):
        """Opens the recorder as in a page over plain http, where browsers give no microphone."""
        b = self.browser
        saved = []
        self.stand_in.answers["PUT /v1/packs/my-shop/clips/[^/]+"] = lambda method, target, document: (saved.append(target), (200, {**clip(WORDS[0], 500), "warnings": []}))[1]
        self.stand_in.answers["POST /v1/packs/my-shop/recording"] = lambda *_: (saved.append("all"), (200, {}))[1]
        self.open_view("voices")
        b.js("Object.defineProperty(navigator, 'mediaDevices', { value: undefined, configurable: true }); true")
        b.until("document.querySelectorAll('#packs > li').length > 1")
        b.js("[...document.querySelectorAll('#packs button')].find((button) => button.ariaLabel.includes('my-shop')).click()")
        b.until("document.querySelectorAll('#clips li').length === 5")
        b.js("document.querySelector('#clips li .buttons button:last-child').click()")
        self.that(b.until("document.querySelector('#recorder').open && !document.querySelector('#recorder-record').checkVisibility() && document.activeElement.id === 'recorder-upload'"), "without a microphone, the recorder offers a file")
        self.that("https" in b.js("document.querySelector('#recorder-state').textContent"), "and says why")
        self.shot("recorder-file")
        b.file("#recorder-file", self.folder / "chime.wav")
        self.that(b.until("document.activeElement.id === 'recorder-listen' && document.querySelector('#recorder-state').textContent.startsWith('Recorded')"), "a file takes the place of a recording")
        b.file("#recorder-file", self.folder / "list.csv")
        self.that(b.until("document.querySelector('#recorder-problem').textContent.includes('WAV')"), "a file that is no sound is refused in words")
        b.click("#recorder-save")
        self.that(b.until("document.querySelector('#recorder-state').textContent.startsWith('Saved')", 10) and len(saved) == 1, "the file is sent")
        b.press("Escape")
        b.file("#clips-file", self.folder / "chime.wav")
        self.that(b.until("document.querySelector('#clips-done').checkVisibility()", 10) and saved[-1] == "all", "one long recording can be sent for the whole voice")

    def loudspeaker(self):
        b = self.browser
        self.stand_in.answers["PUT /v1/playback/output"] = (200, {})
        self.stand_in.answers["POST /v1/playback/test"] = (202, {})
        self.open_view("voices")
        self.that(b.until("document.querySelector('#outputs-card').checkVisibility() && document.querySelector('#output').value === 'alsa:default'"), "the outputs are listed, and the one in use is chosen")
        self.choose("#output", "alsa:hw:1,0")
        self.that(self.asked("PUT /v1/playback/output") == {"output": "alsa:hw:1,0"} and b.until("document.querySelector('#outputs-done').textContent.startsWith('Changed')"), "another output can be chosen")
        b.js("document.querySelector('#output-test').focus()")
        b.press("Enter")
        self.that(self.asked("POST /v1/playback/test") and b.until("document.querySelector('#outputs-done').textContent.includes('test sound')"), "a test sound can be played")

    # MARK: Phones and webhooks

    def phones(self):
        b = self.browser
        self.open_view("devices")
        rows = "[...document.querySelectorAll('#devices > li')]"
        self.that(b.until(f"{rows}.length === 2"), "the phones are listed")
        self.that(b.js("document.querySelector('#devices-off').checkVisibility() && document.querySelector('#devices-off').textContent.includes('apns')"), "a service that sends no pushes says so")
        self.choose("#devices-group", "kitchen")
        self.that(b.until(f"{rows}.length === 1 && {rows}[0].textContent.includes('kitchen')"), "the list can be limited to a group")
        self.choose("#devices-group", "")
        self.shot("devices-list")
        b.js("document.querySelector('#devices a').focus()")
        b.press("Enter")
        self.that(b.until("document.querySelector('#device-title').textContent === 'maria-phone' && document.querySelectorAll('#tokens li').length === 2 && document.activeElement.id === 'device-title'"), "a phone has a page of its own")
        told = b.js("document.querySelector('#tokens').textContent")
        self.that("Apple does not know the token" in told and "BadDeviceToken" in told and "accepted by APNs" in told, f"each kind of token has its last outcome, with the reason in words ({told})")
        self.that(b.js("location.hash") == "#view=devices&device=maria-phone", "and an address of its own")
        self.stand_in.answers["POST /v1/devices/maria-phone/test"] = (200, {"state": "failed", "reason": "BadDeviceToken", "text": "Apple does not know the token."})
        b.js("document.querySelector('#device-test').focus()")
        b.press("Enter")
        tested = "document.querySelector('#device-tested')"
        self.that(b.until(f"{tested}.matches('.problem') && {tested}.textContent.includes('Apple does not know the token.')"), "a test says why it did not arrive")
        self.shot("device")
        self.stand_in.answers["POST /v1/devices/maria-phone/test"] = (200, {"state": "delivered", "reason": None, "text": None})
        b.press("Enter")
        self.that(b.until(f"{tested}.matches('.told')"), "or that it arrived")
        b.js("history.back()")
        self.that(b.until("document.querySelector('#devices-card').checkVisibility() && !document.querySelector('#device-card').checkVisibility()"), "the browser's back button leads to the list")

    def hooks(self):
        b = self.browser
        self.open_view("webhooks")
        row = lambda number: f"document.querySelectorAll('#webhooks > li')[{number}]"
        self.that(b.until("document.querySelectorAll('#webhooks > li').length === 2"), "the endpoints are listed")
        self.that(b.js(f"{row(1)}.textContent.includes('switched off') && {row(1)}.querySelector('.problem') !== null"), "one that the service switched off says so in red, with the reason")
        self.that("no answer in time" in b.js(f"{row(1)}.querySelector('details').textContent") and "84" in b.js(f"{row(0)}.querySelector('details').textContent"), "the latest attempts are told, with their times")
        self.that("announcement.played" in b.js(f"{row(0)}.querySelector('details').textContent"), "an attempt says of what it told")
        self.shot("webhooks")
        self.stand_in.answers["POST /v1/webhook-endpoints/whe_2/enable"] = lambda *_: ([self.hooks_now[1].pop(key, None) for key in ("disabled_at", "disabled_reason", "failing_since")], (200, {}))[1]
        self.stand_in.answers["POST /v1/webhook-endpoints/whe_1/test"] = (202, {"webhook_id": "msg_1"})
        b.js(f"{row(1)}.querySelector('button').focus()")
        b.press("Enter")
        self.that(b.until(f"!{row(1)}.textContent.includes('switched off')"), "it can be used again")
        b.js(f"{row(0)}.querySelector('button').focus()")
        b.press("Enter")
        self.that(self.asked("POST /v1/webhook-endpoints/whe_1/test") and b.until(f"{row(0)}.querySelector('.told')"), "an endpoint can be tested")
        self.stand_in.answers["POST /v1/webhook-endpoints"] = (201, {**HOOKS[0], "id": "whe_3", "secret": "whsec_c2VjcmV0"})
        b.js("document.querySelector('#webhook-url').focus()")
        b.type("https://till.example/new")
        b.js("document.querySelector('#webhook-events input').click()")
        b.js("document.querySelector('#webhook-url').focus()")
        b.press("Enter")
        self.that(self.asked("POST /v1/webhook-endpoints") == {"url": "https://till.example/new", "events": EVENTS[1:]}, "an endpoint can be registered for some events")
        self.that(b.until("document.activeElement.id === 'webhook-made' && document.querySelector('#webhook-secret').textContent === 'whsec_c2VjcmV0'"), "its secret is shown once")
        b.click("#webhook-hide")
        self.that("whsec_" not in b.js("document.documentElement.outerHTML"), "and leaves the page")

    # MARK: Lists, and the service

    def faulty_list(self):
        """Sends a list with faults to the service itself."""
        b = self.browser
        rows = [f"{number},{number}.50,USD,en-US" for number in range(1, 4)] + [f"bad{number},1.234567,USD,en-US" for number in range(12)]
        (self.folder / "faulty.csv").write_text("\n".join(["id,amount,currency,locale", *rows]) + "\n")
        self.open_view("batches")
        b.file("#batch-file", self.folder / "faulty.csv")
        b.until("document.activeElement.id === 'batch-start'")
        b.press("Enter")
        row = "document.querySelector('#batch-list li')"
        self.that(b.until(f"{row}?.querySelectorAll('.faults li').length === 10", 60), "the first ten faults of a list are shown in place")
        # Its last row may have ended before the list itself has.
        is_amber = b.until(f"{row}.querySelector('.tag').matches('.warn')")
        text = b.js(f"{row}.textContent")
        self.that("3 clips made" in text and "12 failed" in text and "faulty.csv" in text and "and 2 more rows" in text, f"with the name of the file and the counts ({text})")
        self.that(is_amber and "line 5" in text, "in amber, with their lines")
        self.shot("batches-faults")
        b.js("window.saved = []; const own = URL.createObjectURL; URL.createObjectURL = (blob) => { saved.push(blob); return own.call(URL, blob); }; true")
        b.send("Browser.setDownloadBehavior", behavior="deny")
        b.click("#batch-sample")
        self.that(b.until("saved.length === 1") and b.js("saved[0].text()").startswith("id,amount,currency,locale"), "a sample file can be downloaded")
        sample = b.js("saved[0].text()")
        made = self.service.batch(sample)
        self.that(made["failed"] == 0 and made["done"] == 3, f"and the service takes it without a fault ({made})")

    def service_view(self):
        b = self.browser
        self.open_view("settings")
        rows = "[...document.querySelectorAll('#settings > li')].map((row) => row.textContent)"
        self.that(b.until(f"{rows}.length === 5 && document.querySelectorAll('#health > li').length > 4 && document.querySelectorAll('#versions dt').length === 4"), "the health, the versions and the settings are shown")
        nodes = "[...document.querySelectorAll('#nodes > li')].map((row) => row.textContent)"
        self.that(b.until(f"{nodes}.length === 3") and all(b.js(f"{nodes}[{place}].includes('{words}')") for place, words in ((0, "this machine"), (0, "payment providers"), (0, "default@node-1"), (1, "webhooks"), (2, "not heard of for 2 minutes"))), f"the machines that share the ledger are shown with what they do ({b.js(nodes)})")
        differences = "[...document.querySelectorAll('#differences > li')].map((row) => row.textContent)"
        self.that(b.js(f"{differences}.length === 2 && {differences}[0].includes('lexicon') && {differences}[0].includes('node-1') && {differences}[1].includes('upgrade')") and b.js("document.querySelector('#doctor').checkVisibility()"), "and what differs between them")
        b.click("#settings-set")
        self.that(b.until(f"{rows}.length === 3"), "the settings can be limited to those that were set")
        b.js("document.querySelector('#settings-search').focus()")
        b.type("my-shop")
        self.that(b.until(f"{rows}.length === 1 && {rows}[0].includes('packs')"), "and searched")
        self.shot("settings")
        self.stand_in.answers["GET /v1/support-bundle"] = (200, b"\x1f\x8b", "application/gzip")
        b.js("window.saved = []; const own = URL.createObjectURL; URL.createObjectURL = (blob) => { saved.push(blob); return own.call(URL, blob); }; true")
        b.js("document.querySelector('#bundle').focus()")
        b.press("Enter")
        self.that(self.asked("GET /v1/support-bundle") and b.until("saved.length === 1 && saved[0].size === 2"), "a support bundle can be saved")

    def absent(self):
        """Answers as a service without these calls does. What it does not have is not shown."""
        b = self.browser
        nothing = problem(404, "not_found", "Nothing is here.")
        for call in ("GET /v1/outputs", "GET /v1/settings", "GET /v1/nodes"):
            self.stand_in.answers[call] = nothing
        self.open_view("settings")
        self.that(b.until("document.querySelectorAll('#health > li').length > 4") and b.js("!document.querySelector('#settings-card').checkVisibility() && !document.querySelector('#nodes-card').checkVisibility() && !document.querySelector('#bundle').checkVisibility()"), "a service without the call for settings shows none")
        self.show("voices")
        self.that(b.until("document.querySelectorAll('#packs > li').length > 1") and b.js("!document.querySelector('#outputs-card').checkVisibility()"), "and one without the call for outputs offers none")
        self.answers()

    # MARK: Looks

    def operator_looks(self):
        b = self.browser
        self.stand_in.answers["POST /v1/sign-in-codes"] = (201, {"code": "c0de", "url": f"{self.base}/#sign-in=c0de", "qr": {"size": 25, "rows": ROWS}, "expires_at": at(900)})
        for locale in ("en-US", "hi-IN"):
            b.size(1280, 900)
            self.open_view("keys")
            self.speak(locale)
            for scheme in ("light", "dark"):
                b.media(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
                for width, height in ((1280, 900), (390, 844)):
                    b.size(width, height)
                    self.operator_look(locale, scheme, width)
        b.js("localStorage.clear()")
        b.media(prefers_color_scheme="light")
        b.size(1280, 900)
        self.speak("en-US")

    def operator_look(self, locale, scheme, width):
        b = self.browser
        for view in ("keys", "voices", "devices", "device", "webhooks", "batches", "providers", "settings"):
            what = f"{locale}, {scheme}, {width} px, {view}"
            if view == "device":
                b.js("document.querySelector('#devices a').click()")
                b.until("document.querySelectorAll('#tokens li').length === 2")
            else:
                self.show(view)
            if view == "keys" and b.js("!document.querySelector('#link-made').checkVisibility()"):
                b.until("document.querySelectorAll('#keys > li').length > 3")
                b.js("document.querySelector('#links-name').value = 'Tablet'; document.querySelector('#links-create').click()")
                b.until("document.querySelector('#link-made').checkVisibility()")
            if view == "voices":
                b.until("document.querySelectorAll('#packs > li').length > 1")
                b.js("[...document.querySelectorAll('#packs button')].find((button) => button.ariaLabel.includes('my-shop')).click()")
                b.until("document.querySelectorAll('#clips li').length === 5")
            if view == "webhooks":
                b.until("document.querySelectorAll('#webhooks > li').length === 2")
            time.sleep(0.25)
            self.audit(what, width)
            self.axe(what)
            self.shot(f"operator-{locale}-{scheme}-{width}-{view}")
