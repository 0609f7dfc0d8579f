# SPDX-License-Identifier: Apache-2.0
"""Checks the view in which an announcement is tried: the form, its faults, the preview, and what Announce does."""

import json
import time

from audits import PAINTED


class TryChecks:
    """What is announced for a try says so, and nothing is announced by accident."""

    def fill(self, amount="12.50"):
        """Shows the form and types an amount, as a person does."""
        b = self.browser
        self.show("try")
        b.until("document.querySelector('#locale').options.length > 0")
        b.js("document.querySelector('#amount').focus(); document.querySelector('#amount').select()")
        b.type(amount)

    def announce_as_payment(self):
        """Says that what is announced is no test."""
        b = self.browser
        if b.js("document.querySelector('#is-test').checked"):
            b.click("#is-test")

    def clip(self):
        b = self.browser
        self.enter()
        self.show("try")
        b.until("document.querySelector('#locale').options.length > 0")
        filled = b.js("[...document.querySelectorAll('#form :is(input, textarea):not([type=radio], [type=checkbox])')].filter((field) => field.value && field.id !== 'currency').map((field) => field.id)")
        self.that(filled == [] and b.js("document.querySelector('#amount').placeholder !== ''"), f"the fields are empty at first, with an example of an amount ({filled})")
        b.click("#announce")
        self.that(b.until("document.querySelector('#amount-fault')?.textContent === 'Fill in this field.' && document.activeElement.id === 'amount'"), "an empty amount is named at its field")
        self.choose("#locale", "en-US")
        self.fill()
        self.that(b.js("document.querySelector('#amount-fault') === null"), "the fault leaves when the field is changed")
        self.that(b.js("document.querySelector('#currency').value") == "USD", "a language fills in its currency")
        since = len(b.events)
        listed = self.service.announced()
        b.click("#hear")
        self.that(self.called("POST /v1/previews", since), "Preview makes a preview")
        words = set()
        first = None
        end = time.monotonic() + 15
        while time.monotonic() < end:
            word, playing, position = b.js("[document.querySelector('.words .now')?.textContent ?? null, document.querySelector('#play').classList.contains('playing'), +document.querySelector('#position').textContent]")
            if word:
                words.add(word)
                first = first or time.monotonic()
                if len(words) == 3 and self.shots:
                    self.browser.shot(self.shots / "playing-light.png")
            elif words and not playing:
                break
            time.sleep(0.02)
        self.that(len(words) >= 2, f"the highlight moves from word to word (seen: {len(words)})")
        self.that(b.js("document.querySelector('#said').textContent.length > 5"), "the words are shown")
        self.that(b.js(PAINTED) >= 2, "the waveform is drawn")
        facts = b.js("document.querySelector('#facts').textContent")
        self.that("LUFS" in facts and " s" in facts and "kB" in facts and "Method" in facts, "loudness, length, size and method are shown")
        self.that(b.js("""[...document.querySelectorAll('.words button')].every((e, i, all) => all.every((f, j) => { if (j <= i) return true;
            const a = e.getBoundingClientRect(), c = f.getBoundingClientRect(); return a.right <= c.left + 1 || c.right <= a.left + 1 || a.bottom <= c.top + 1 || c.bottom <= a.top + 1; }))"""), "no word overlaps another")
        href = b.js("document.querySelector('#download').getAttribute('href')")
        self.that(b.js(f"fetch({json.dumps(href)}).then((r) => r.ok && r.arrayBuffer()).then((a) => a && a.byteLength > 1000)"), "the signed link works without a key")
        b.click("#wave", across=0.7)
        self.that(b.until("+document.querySelector('#wave').ariaValueNow > 0.6 * +document.querySelector('#wave').ariaValueMax", 3), "a click on the waveform moves the position")
        self.that(b.until("!document.querySelector('#play').classList.contains('playing')"), "the clip stops at its end")
        b.js("document.querySelector('#curl').closest('details').open = true")
        command = b.js("document.querySelector('#curl').textContent")
        self.that("curl" in command and "$CRIER_KEY" in command and self.key not in command, "the curl command is shown without the key")
        b.send("Browser.grantPermissions", origin=self.base, permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        b.click("#copy")
        self.that(b.until("document.querySelector('#copy').textContent === 'Copied'", 3), "the curl command can be copied")
        body = json.loads(b.inside("preview.sent.body"))
        self.that(isinstance(body["amount"], str) and "id" not in body, "the amount is sent as text, and a preview has no id")
        self.that("'" + json.dumps(body, separators=(",", ":"), ensure_ascii=False) + "'" in command, "the curl command sends the same bytes")
        self.that(self.service.announced() == listed, "a preview is not in the recent announcements")
        self.announce_as_payment()
        since = len(b.events)
        b.click("#announce")
        self.that(self.called("POST /v1/announcements", since), "Announce sends an announcement")
        self.that(b.until("JSON.parse(preview.sent.body).id?.startsWith('console-') && JSON.parse(preview.sent.body).deliver.join() === 'clip,play'", evaluate=b.inside), "it has an id of the console, and is played in the shop")
        self.that(b.until("document.querySelector('#toasts').textContent.startsWith('Announced: Received')"), "a message says that it was announced")
        self.show("shop")
        self.that(b.until("document.querySelectorAll('#recent li:not(.none)').length === 1"), "it is in the recent announcements")

    def lost(self):
        b = self.browser
        self.fill()
        self.announce_as_payment()
        b.js("""window.sent = []; window.ownFetch = window.fetch;
          window.fetch = async (path, request) => {
            if (request?.method !== "POST") return ownFetch(path, request);
            sent.push(request.body);
            if (sent.length === 2) return new Response('{"code": "rate_limited", "detail": "Later."}', { status: 429 });
            const answer = await ownFetch(path, request);
            if (sent.length === 1 || sent.length === 5) throw new TypeError("lost on the way");
            return answer;
          }; true""")

        def announce(number, shown):
            b.click("#announce")
            what = "document.querySelector('#form-problem')"
            holds = f"{what}.textContent.includes('{shown}')" if shown else f"{what}.hidden"
            return b.until(f"sent.length === {number} && {holds} && document.querySelector('#announce').getAttribute('aria-disabled') === null")

        self.that(announce(1, "unreachable"), "a lost answer is reported")
        self.that(announce(2, "rate_limited"), "a second attempt can be refused")
        self.that(announce(3, None), "a third attempt is answered")
        self.that(b.js("sent[0] === sent[1] && sent[1] === sent[2]"), "after a lost answer the same form sends the same body, even after a refusal")
        self.that(b.js("document.querySelector('#live').textContent.startsWith('Already announced')"), "the page says that it was announced already")
        self.that(announce(4, None) and b.js("sent[3] !== sent[2]"), "after an answer the same form is a new announcement")
        announce(5, "unreachable")
        b.js("document.querySelector('#amount').dispatchEvent(new Event('input', { bubbles: true })); true")
        self.that(announce(6, None) and b.js("sent[5] !== sent[4]"), "after a change of the form it is a new announcement")
        b.js("window.fetch = ownFetch; true")

    def mistakes(self):
        b = self.browser
        self.fill("12,50")
        b.press("Enter")
        fault = "document.querySelector('#amount-fault')"
        self.that(b.until(f"{fault}?.textContent.startsWith('This amount cannot be announced.')"), "a wrong amount is named at its field, in words")
        self.that(b.js(f"!{fault}.querySelector('details').open && /field_invalid/.test({fault}.querySelector('details').textContent) && document.querySelector('#form-problem').hidden"), "what the service says is there for those who ask")
        self.that(b.js("document.activeElement.id === 'amount' && document.activeElement.getAttribute('aria-invalid') === 'true'"), "the wrong field is marked and has the focus")
        self.shot("problem-light")
        self.speak("hi-IN")
        b.js("document.querySelector('#amount').focus()")
        b.press("Enter")
        self.that(b.until(f"{fault}?.textContent.includes('यह राशि')"), "a fault is in the language of the page")
        self.shot("problem-hi-IN")
        self.speak("en-US")
        b.js("localStorage.clear(); document.querySelector('#amount').select()")
        b.type("12.50")
        self.that(b.js(f"{fault} === null && document.querySelector('#amount').getAttribute('aria-invalid') === null"), "a corrected field has no fault")

    def text(self):
        b = self.browser
        self.show("try")
        b.click("label[for=what-text]")
        self.that(b.until("document.querySelector('#text').checkVisibility() && !document.querySelector('#amount').checkVisibility()"), "a text has its own fields")
        b.js("document.querySelector('#text').focus(); document.querySelector('#text').select()")
        b.type("It's nine o'clock")
        b.click("#hear")
        self.that(b.until("preview.report?.amount === null && /nine/.test(document.querySelector('#said').textContent)", evaluate=b.inside), "a text is previewed")
        self.that("It'\\''s nine" in b.js("document.querySelector('#curl').textContent"), "the curl command escapes quotes for a shell")
        b.click("label[for=what-payment]")

    def channels(self):
        b = self.browser
        chosen = "document.querySelector('#channel').value"
        self.fill()
        self.choose("#locale", "zh-CN")
        options = dict(b.js("[...document.querySelector('#channel').options].map((option) => [option.value, option.label])"))
        self.that(options.get("alipay") == "支付宝", f"channels have their names in the language ({options})")
        self.that(options.get("card") == "银行卡", f"card has its name in Chinese ({options})")
        self.that(len(set(options.values())) == len(options), f"no two channels look alike ({options})")
        self.that("venmo" not in options, "channels without a name in the language are not in the list")
        self.choose("#channel", "alipay")
        b.click("#hear")
        self.that(b.until("preview.report?.locale === 'zh-CN' && JSON.parse(preview.sent.body).channel === 'alipay'", evaluate=b.inside), "a channel is sent by its value in the payload")
        self.that(b.js("document.querySelector('#said').textContent.startsWith('支付宝')"), "a channel is spoken by its name in the language")
        self.choose("#locale", "en-US")
        self.choose("#channel", "venmo")
        self.choose("#locale", "zh-CN")
        self.that(b.js(chosen) == "", "another language does not keep a channel that it has no name for")
        self.choose("#channel", b.js("document.querySelector('#channel').lastElementChild.value"))
        self.that(b.js("document.querySelector('#channel-name').checkVisibility()"), "another channel can be typed")
        b.js("document.querySelector('#channel-name').focus()")
        b.type("Kiosk")
        b.press("Enter")
        self.that(b.until("JSON.parse(preview.sent.body).channel === 'Kiosk'", evaluate=b.inside), "a typed channel is sent as it is")
        self.choose("#locale", "en-US")
        self.choose("#channel", "venmo")
        self.that(not b.js("document.querySelector('#channel-name').checkVisibility()"), "the field for another channel disappears")

    def everywhere(self):
        b = self.browser
        self.fill()
        count = b.js("document.querySelector('#locale').options.length")
        listed = self.service.announced()
        since = len(b.events)
        b.click("#everywhere")
        self.that(b.until(f"document.querySelectorAll('#locales li').length === {count} && document.querySelectorAll('#locales li button, #locales li .problem').length === {count}"), "every language has an answer")
        self.that(b.js("document.querySelectorAll('#locales li button').length") >= 1, "its clips can be played")
        self.that(self.calls(since).count("POST /v1/previews") == count and "POST /v1/announcements" not in self.calls(since), "all languages are only previewed")
        self.that(self.service.announced() == listed, "and are not in the recent announcements")
        chinese = b.js("[...document.querySelectorAll('#locales li')].find((item) => item.textContent.includes('zh-CN')).textContent")
        self.that("without the channel" in chinese and "venmo" not in chinese, f"a language leaves out a channel that it has no name for ({chinese})")
        b.click("#locales li button")
        self.that(b.until("document.querySelector('#play').classList.contains('playing')"), "a clip of the list plays")
        self.speak("es-MX")
        self.that(b.js("!document.querySelector('#locales-card').checkVisibility()"), "no list stays in the former language")
        self.speak("en-US")
        b.js("localStorage.clear()")

    def test_announcement(self):
        """Announces a test and takes it back."""
        b = self.browser
        self.enter()
        self.fill("77.10")
        self.choose("#locale", "zh-CN")
        self.choose("#currency", "CNY")
        self.that(b.js("document.querySelector('#is-test').checked"), "what is announced is a test unless somebody says otherwise")
        self.service.call("POST", "/v1/playback/pause")
        since = len(b.events)
        b.click("#announce")
        self.that(self.called("POST /v1/announcements", since), "a test is announced")
        b.until("document.querySelector('#toasts button')")
        entry = self.service.call("GET", "/v1/announcements?limit=1")["announcements"][0]
        self.that(entry["text"].startswith("这是测试") and "七十七" in entry["text"], f"it says first that it is a test, in its own language ({entry['text']})")
        self.that(entry["amount"] is None and entry["kind"] == "text", "it counts in no sum")
        self.shot("toast")
        b.js("document.querySelector('#toasts button').focus()")
        since = len(b.events)
        b.press("Enter")
        self.that(self.called("DELETE /v1/playback/*", since) and b.until("!document.querySelector('#toasts li')"), "the message takes it back")
        state = self.service.call("GET", f"/v1/announcements/{entry['id']}")["delivery"]["play"]["state"]
        self.that(state == "cancelled", f"it is cancelled ({state})")
        self.that(b.js("document.activeElement !== document.body"), "the focus goes to a sensible place")
        self.service.call("POST", "/v1/playback/resume")
        self.choose("#locale", "en-US")
        self.choose("#currency", "USD")
