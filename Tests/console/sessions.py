# SPDX-License-Identifier: Apache-2.0
"""Checks signing out, other keys, and what the page shows when the service or a proxy refuses a part of it."""

import json
import http.client

from speaker import STATE, WAITING

LINK = "document.querySelector('#link').textContent"
READY = "document.querySelector('#ready').textContent"
KEYS_VIEW = "document.querySelector('#views a[href=\"#view=keys\"]').checkVisibility()"


class SessionChecks:
    """No page shows what the key in use may not see, and a refusal takes away no more than what was refused."""

    def sign_in(self, key):
        """Signs in on the open page by typing a key."""
        b = self.browser
        b.until("document.activeElement.id === 'key'")
        b.type(key)
        b.press("Enter")

    def signing_out(self):
        b = self.browser
        self.enter()
        b.until(f"{LINK} === 'Live updates are on.'")
        self.waiting_payments(2)
        self.fill()
        b.click("#hear")
        b.until("document.querySelector('#said').textContent.includes('dollar') && document.querySelector('#hear').ariaBusy === null")
        self.show("shop")
        b.js("document.querySelector('#waiting li:last-child button').focus()")
        b.press("Enter")
        self.agree()
        self.that(b.until("document.querySelector('#undoable').textContent.includes('dollar')"), "an offer to undo has the payment's words")
        b.until("document.querySelector('#recent a')?.title.includes('dollar')")
        for view, rows in (("batches", "#batch-list li"), ("keys", "#keys li"), ("shop", "#recent li")):
            self.show(view)
            b.until(f"document.querySelector('{rows}')")
        body = {"scopes": ["announce"], "account": "other", "name": "Till 3"}
        other = self.service.call("POST", "/v1/keys", body)["key"]
        b.click("#key-forget")
        kept = """['said', 'words', 'facts', 'curl', 'live', 'now', 'waiting', 'undoable', 'recent', 'batch-list', 'keys', 'key-made-text', 'locales']
            .filter((id) => document.getElementById(id).textContent !== '')"""
        self.that(b.js(kept) == [], f"signing out removes all lists, offers and clips of the account from the page ({b.js(kept)})")
        self.sign_in(other)
        self.that(b.until("document.querySelector('#recent-problem').textContent.includes('403')"), "a key that may not read is told so at the recent announcements")
        words = b.js("['now', 'waiting', 'undoable', 'recent', 'said', 'batch-list', 'keys'].filter((id) => /dollar|Till|clip|25/.test(document.getElementById(id).textContent))")
        self.that(words == [] and not b.js(KEYS_VIEW), f"a key that may not read sees nothing of the former account ({words})")
        b.js("""window.ownFetch = window.fetch; window.refusals = 0;
          window.fetch = async (path, request) => {
            if (path !== "/v1/me" || refusals > 0) return ownFetch(path, request);
            refusals += 1;
            return new Response('{"code": "rate_limited", "detail": "Later."}', { status: 429, headers: { "Retry-After": "1" } });
          }; true""")
        b.click("#key-forget")
        self.sign_in(self.key)
        self.that(b.until(f"refusals === 1 && {LINK} === 'Live updates are on.'"), "the service may be too busy to say what a key may do")
        self.that(b.until(KEYS_VIEW, 10) and b.inside("access.isAdmin"), "the page then asks again, and shows the keys")
        self.that(b.until("document.querySelector('#chime').checkVisibility()", 3), "and the chime")
        b.js("window.fetch = ownFetch; true")
        self.service.call("POST", "/v1/playback/resume")

    def refused(self):
        """Opens as many event streams as an account may have, so that the page gets none."""
        b = self.browser
        b.go("about:blank")
        self.empty_queue()
        streams = []
        while True:
            connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=30)
            connection.request("GET", "/v1/events", headers={"Authorization": f"Bearer {self.key}", "Accept": "text/event-stream"})
            streams.append(connection)
            if connection.getresponse().status != 200:
                break
        self.enter()
        self.that(b.until(f"{LINK}.startsWith('No live updates')"), f"without an event stream the page says that there are no live updates ({b.js(LINK)})")
        self.that(b.js("!document.documentElement.matches('.not-connected')") and "Not connected" not in b.js(READY), "it is still connected")
        self.that(self.waiting_payments(1), "and asks for changes itself")
        since = len(b.events)
        b.js("document.querySelector('#waiting button').focus()")
        b.press("Enter")
        self.agree()
        self.that(self.called("DELETE /v1/playback/*", since) and b.until(f"{WAITING} === 0 && document.querySelector('#undoable button')"), "Cancel works without live updates")
        b.click("#undoable button")
        self.that(b.until(f"{WAITING} === 1"), "and so does Undo")
        b.click("#pause")
        self.that(b.until(f"{STATE} !== 'Paused'"), "and Resume")
        for connection in streams:
            connection.close()
        self.that(b.until(f"{LINK} === 'Live updates are on.'", 40), "live updates begin when the service has room for them")

    def told(self):
        """Answers with the problems of a counter, and opens a view that the key may not see."""
        b = self.browser
        self.enter()
        codes = ("scope_missing", "nothing_to_replay", "already_ended", "player_unavailable", "disk_full", "rate_limited", "too_many_replays")
        for locale in ("hi-IN", "en-US"):
            self.speak(locale)
            texts = self.texts(locale)
            for code in codes:
                answer = f"""new Response('{{"code": "{code}", "detail": "The description."}}', {{ status: 409 }})"""
                b.js(f"window.ownFetch ??= window.fetch; window.fetch = async (path, request) => (path === '/v1/playback/replay' ? {answer} : ownFetch(path, request)); true")
                b.js("document.querySelector('#replay').click()")
                said = "[...document.querySelector('#queue-problem').childNodes].filter((node) => node.nodeType === 3).map((node) => node.data).join('')"
                shown = b.until(f"{said} === {json.dumps(texts['problem.code.' + code])} && document.querySelector('#queue-problem details').textContent.includes('{code} · 409')")
                self.that(shown, f"{locale}: {code} is told in the language of the page, with the code in its details ({b.js(said)})")
        b.js("window.fetch = ownFetch; delete window.ownFetch; true")
        b.click("#key-forget")
        till = self.service.call("POST", "/v1/keys", {"scopes": ["till"], "name": "Till 2"})
        self.sign_in(till["key"])
        b.until("document.querySelector('#key-name').textContent.includes('Till 2')")
        b.js("location.hash = '#view=keys'; true")
        refusal = "document.querySelector('#view-refused')"
        self.that(b.until(f"{refusal}.checkVisibility() && {refusal}.textContent.includes('Keys')"), "a view that the key may not open is refused by its name")
        self.that(b.js("document.querySelector('#view-shop').checkVisibility() && !document.querySelector('#view-keys').checkVisibility()"), "and the shop is shown")
        self.that(not b.js("document.querySelector('#views').checkVisibility()"), "a key with one section has no list of sections")
        b.js("location.hash = '#view=shop'; true")
        self.that(b.until(f"!{refusal}.checkVisibility()"), "the refusal leaves with the next view")
        b.click("#key-forget")
        self.sign_in(self.key)

    def proxied(self):
        """Answers as the proxy of Deployment/nginx.conf does, which hides the readiness. Only a page without a key, or with
        one that may not see the shop, asks for it."""
        b = self.browser
        self.enter()
        b.click("#key-forget")
        b.until(f"{READY} !== 'Checking…'")
        answer = "new Response('<html><center>404 Not Found</center></html>', { status: 404, headers: { 'Content-Type': 'text/html' } })"
        b.js(f"window.ownFetch = window.fetch; window.fetch = async (path, request) => (path === '/readyz' ? {answer} : ownFetch(path, request)); true")
        for locale, said in (("hi-IN", "प्रॉक्सी"), ("en-US", "proxy")):
            self.speak(locale)
            self.that(b.until(f"{READY}.includes('{said}') && document.querySelector('#ready').className.trim() === 'pill'"), f"{locale}: behind a proxy that hides the readiness, the page says so ({b.js(READY)})")
        answer = "new Response('Bad Gateway', { status: 502 })"
        b.js(f"window.fetch = async (path, request) => (path === '/readyz' ? {answer} : ownFetch(path, request)); true")
        self.speak("es-MX")
        self.speak("en-US")
        self.that(b.until(f"{READY}.includes('502') && document.querySelector('#ready').matches('.bad')"), "another status of a proxy is shown")
        b.js("window.fetch = ownFetch; localStorage.clear(); true")
