# SPDX-License-Identifier: Apache-2.0
"""Checks the payment providers: their endpoints, what became of their payments, and the test of an endpoint."""

import base64
import hashlib
import hmac
import json
import time
import urllib.error
import urllib.request

SECRET = "whsec_of_the_console"

# An endpoint whose requests are signed, one whose requests are not, and one that only the provider can sign for.
SETTINGS = """endpoints:
  - {id: till, provider: stripe, account: ACCOUNT, secrets: [SECRET], locale: en-US}
  - {id: box, provider: mapping, mapping: xendit.yaml, account: ACCOUNT, secrets: [a-token], locale: en-US}
  - {id: public, provider: standard-webhooks, account: ACCOUNT, secrets: [PUBLIC], locale: en-US, live: false}
"""

NEWS = "document.querySelector('#providers-news')"


def row(identifier):
    """Returns the row of an endpoint, as JavaScript."""
    return f"[...document.querySelectorAll('#providers > li')].find((row) => row.dataset.key === '{identifier}')"


class ProviderChecks:
    def write_providers(self, text=None):
        """Writes providers.yaml as only its owner may read it. The service follows it."""
        account = self.service.call("GET", "/v1/keys")["keys"][0]["account"]
        public = "whpk_" + base64.b64encode(bytes([7] * 32)).decode()
        text = text or SETTINGS.replace("ACCOUNT", account).replace("SECRET", SECRET).replace("PUBLIC", public)
        file = self.service.home / "providers.yaml"
        new = file.with_suffix(".new")
        new.touch(mode=0o600)
        new.write_text(text)
        new.rename(file)

    def report(self, identifier, cents, ahead=0, secret=SECRET, live=True):
        """Reports a charge as Stripe does, and returns the status of the answer. Without a sum it cannot be announced."""
        charge = {"id": f"ch_{identifier}", "payment_intent": identifier, "captured": True, "currency": "usd"}
        if cents:
            charge |= {"amount": cents, "amount_captured": cents}
        now = int(time.time()) + ahead
        body = json.dumps({"object": "event", "type": "charge.succeeded", "livemode": live, "created": now, "data": {"object": charge}})
        code = hmac.new(secret.encode(), f"{now}.{body}".encode(), hashlib.sha256).hexdigest()
        request = urllib.request.Request(self.base + "/v1/providers/stripe/till", body.encode(), {"Stripe-Signature": f"t={now},v1={code}"})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def providers(self):
        b = self.browser
        self.enter()
        self.show("providers")
        self.that(b.until("document.querySelector('#providers-none').checkVisibility()"), "without a provider, the page says where it is described how to connect one")
        self.that(b.js("document.querySelectorAll('#providers li').length") == 0, "and lists none")
        self.write_providers()
        self.that(b.until(f"{row('till')} || (document.querySelector('#providers-again').click(), false)"), "the endpoints of providers.yaml are listed")
        self.that(b.js("!document.querySelector('#providers-none').checkVisibility()"), "the sentence about none is gone")
        self.endpoints()
        self.payments()
        self.tests_of_endpoints()
        self.unusable_settings()
        self.show("shop")

    def endpoints(self):
        b = self.browser
        url = f"{self.base}/v1/providers/stripe/till"
        self.that(b.js(f"{row('till')}.querySelector('.address code').textContent") == url, "an endpoint has the URL to paste")
        b.send("Browser.grantPermissions", origin=self.base, permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        b.js(f"{row('till')}.querySelector('.address button').focus()")
        b.press("Enter")
        self.that(b.until(f"{row('till')}.querySelector('.address button').textContent === 'Copied'", 3) and b.js("navigator.clipboard.readText()") == url, "it can be copied")
        self.that(b.js("document.querySelector('#providers-local').checkVisibility()"), "the page says that providers do not reach an address without https")
        texts = {name: b.js(f"{row(name)}.textContent") for name in ("till", "box", "public")}
        self.that("not signed" in texts["box"] and "any sum" in texts["box"], f"an endpoint without signatures says so, and what it means ({texts['box']})")
        self.that("not signed" not in texts["till"] + texts["public"], "others do not")
        self.that("Stripe" in texts["till"] and "Mapping file" in texts["box"] and "test payments only" in texts["public"], f"the provider, and whether money is real, are shown ({texts})")
        self.that("No payments yet." in texts["till"] and "no request since" in texts["till"], "nothing has come yet")
        self.that(SECRET not in b.js("document.documentElement.outerHTML"), "no secret is on the page")

    def payments(self):
        """Reports payments. The page shows what became of them by itself."""
        b = self.browser
        titles = f"[...{row('till')}.querySelectorAll('.rows li')].map((item) => item.textContent)"
        self.that(self.report("pi_1", 4321, ahead=150) == 200, "a payment is accepted")
        self.that(b.until(f"{titles}.some((text) => text.includes('$43.21') && text.includes('announced'))"), f"it is shown without a reload ({b.js(titles)})")
        text = f"{row('till')}.textContent"
        self.that("clock is 2 minutes behind" in b.js(text) or "clock is 3 minutes behind" in b.js(text), f"the difference of the clocks is told ({b.js(text)})")
        self.that("last request" in b.js(text) and "accepted: 1" in b.js(text), "so are the last request and the counts")
        self.that(b.js(f"{NEWS}.hidden && !{text}.includes('Not announced')"), "nothing is missed")
        self.that(self.report("pi_1", 9900) == 200, "the same payment with another sum is answered with success")
        missed = f"([...{row('till')}.querySelectorAll('h4.alarm ~ ul')][0]?.textContent ?? '')"
        self.that(b.until(f"{missed}.includes('$99.00') && {missed}.includes('refused')"), f"and shown as not announced, by itself ({b.js(missed)})")
        self.that("reported before with another sum" in b.js(missed), "with the reason")
        for _ in range(2):
            self.that(self.report("pi_2", 100, secret="whsec_wrong") == 401, "a wrong secret is rejected")
        self.that(b.until(f"{missed}.includes('not authentic')"), "what was rejected is shown by itself")
        b.click("#providers-again")
        self.that(b.until(f"{missed}.includes('2 times')"), f"the same reason is one entry with its number ({b.js(missed)})")
        self.report("pi_3", None)
        self.that(b.until(f"{missed}.includes('Sum unknown')"), f"so is a payment whose sum is not known ({b.js(missed)})")
        self.report("pi_4", 100, live=False)
        b.click("#providers-again")
        self.that(b.until(f"{text}.includes('Last ignored: a test payment, but the endpoint has live: true')"), "the last report that was ignored is told with its reason")
        self.shot("providers")
        self.show("shop")
        self.that(b.until(f"{NEWS}.checkVisibility() && {NEWS}.textContent.startsWith('2 payments')"), f"the view of the shop says that money came which was not announced ({b.js(f'{NEWS}.textContent')})")
        self.shot("providers-news")
        b.js(f"{NEWS}.querySelector('a').focus()")
        b.press("Enter")
        self.that(b.until("document.querySelector('#view-providers').checkVisibility()"), "and leads to it")

    def tests_of_endpoints(self):
        b = self.browser
        button = "{}.querySelector('.head button')"
        since = len(b.events)
        b.js(f"{button.format(row('till'))}.focus()")
        b.press("Enter")
        self.that(self.called("POST /v1/provider-endpoints/till/test", since), "an endpoint can be tested")
        self.that(b.until(f"{row('till')}.querySelector('.told')?.textContent.startsWith('The test payment was accepted')"), "what became of the test is shown")
        self.that(b.until(f"{row('till')}.contains(document.activeElement) && document.querySelector('#providers-live').textContent.startsWith('The test payment')"), "the focus stays on the button, and a screen reader hears it")
        tested = f"([...{row('till')}.querySelectorAll('.rows li')].find((item) => item.textContent.includes('crier-test-'))?.textContent ?? '')"
        self.that(b.until(f"{tested}.includes('announced')"), f"the test payment is announced ({b.js(tested)})")
        self.that(any("crier-test-" in name for name in self.service.announced()), "it is in the recent announcements, with an id that says so")
        b.js(f"{button.format(row('public'))}.focus()")
        b.press("Enter")
        self.that(b.until(f"{row('public')}.textContent.includes('provider_test_unavailable')"), "an endpoint that only the provider can sign for says what to do instead")

    def unusable_settings(self):
        b = self.browser
        problem = "document.querySelector('#providers-settings')"
        self.write_providers("endpoints:\n  - {id: till, provider: stripe}\n")
        self.that(b.until(f"{problem}.checkVisibility() || (document.querySelector('#providers-again').click(), false)"), "settings that cannot be used are told")
        self.that(b.js(f"{problem}.textContent.includes('providers.yaml:2')") and b.js(f"Boolean({row('till')})"), f"with their line, and the last good ones stay ({b.js(f'{problem}.textContent')})")
        self.that(b.until("/payment providers/.test(document.querySelector('#ready').textContent)", 20), "the readiness names them")
        self.shot("providers-problem")
        self.write_providers()
        self.that(b.until(f"!{problem}.checkVisibility() || (document.querySelector('#providers-again').click(), false)"), "once they are corrected, nothing is told any more")
