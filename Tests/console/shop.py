# SPDX-License-Identifier: Apache-2.0
"""Checks the page of the shop: what is wrong looks wrong, today's sums, the list, and the page of an announcement."""

import importlib.util
import json
import pathlib
import time

BAR = "document.querySelector('#bar')"
QUESTION = "document.querySelector('#ask').open"

# The states of the shop that the service may report, by the name of the screenshot.
SHOPS = {
    "paused": {"state": "attention", "waiting": 24, "problems": [
        {"code": "paused", "level": "attention", "since": None, "by": "Till 1", "count": 24, "cause": None,
         "remedy": {"text": "Resume the player.", "command": "crier queue resume"}}]},
    "silent": {"state": "bad", "waiting": 3, "problems": [
        {"code": "device_lost", "level": "bad", "since": None, "by": None, "count": 3, "cause": "device_missing",
         "remedy": {"text": "The output does not exist. Plug it in.", "command": "crier play --list-outputs"}},
        {"code": "disk_low", "level": "attention", "since": None, "by": None, "count": None, "cause": None, "remedy": None}]},
    "no_pushes": {"state": "bad", "waiting": 0, "problems": [
        {"code": "push_unreachable", "level": "bad", "since": None, "by": None, "count": 7, "cause": "cannot_connect",
         "remedy": {"text": "Open the unit's network.", "command": "install -D network.conf"}}]},
}

# Answers some calls from `standIns`, by the beginning of their path. The others go to the service.
STAND_IN = """window.standIns = %s; window.ownFetch ??= window.fetch;
  window.fetch = async (path, request) => {
    const found = Object.keys(standIns).find((part) => String(path).startsWith(part) && (request?.method ?? "GET") === "GET");
    return found ? new Response(JSON.stringify(standIns[found])) : ownFetch(path, request);
  }; true"""


class ShopChecks:
    def stand_in(self, path, answer):
        """Answers a call as the service does in a state that is hard to reach here."""
        b = self.browser
        if not b.js("Boolean(window.standIns)"):
            b.js(STAND_IN % "{}")
        b.js(f"standIns[{json.dumps(path)}] = {json.dumps(answer)}; true")

    def enter_with(self, path, answer):
        """Signs in on a page that has a stand-in from its start."""
        b = self.browser
        script = b.send("Page.addScriptToEvaluateOnNewDocument", source=STAND_IN % json.dumps({path: answer}))["identifier"]
        self.enter()
        b.send("Page.removeScriptToEvaluateOnNewDocument", identifier=script)

    def answer_again(self):
        """Ends all stand-ins."""
        self.browser.js("window.standIns = {}; true")

    # What is wrong

    def wrong(self):
        b = self.browser
        self.enter_with("/v1/shop", {"state": "good", "problems": [], "waiting": 0})
        self.that(b.until("document.querySelector('#ready').textContent === 'All is well'"), "a shop in which all is well says so")
        self.that(b.js(f"!{BAR}.checkVisibility() && document.title === 'Crier'"), "and has no bar")
        good = b.js("document.querySelector('#icon').href")
        self.paused_shop(good)
        self.silent_shop(good)
        self.other_problems()
        for locale in ("en-US", "hi-IN"):
            self.speak(locale)
            for scheme in ("light", "dark"):
                b.media(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
                for width, height in ((1280, 900), (390, 844)):
                    b.size(width, height)
                    for name, shop in SHOPS.items():
                        self.wrong_shop(shop)
                        what = f"{locale}, {scheme}, {width} px, {name}"
                        self.audit(what, width)
                        if width == 1280:
                            self.axe(what)
                        self.shot(what.replace(", ", "-").replace(" ", ""))
        b.media(prefers_color_scheme="light")
        b.size(1280, 900)
        self.speak("en-US")
        b.js("localStorage.clear()")
        self.changes_by_event()
        self.answer_again()
        self.enter()

    def wrong_shop(self, shop):
        """Shows a shop in which something is wrong, since 14:33 of this day."""
        b = self.browser
        since = b.js("(() => { const at = new Date(); at.setHours(14, 33, 0, 0); return at.toISOString(); })()")
        problems = [{**problem, "since": since} for problem in shop["problems"]]
        self.stand_in("/v1/shop", {**shop, "problems": problems})
        b.inside("refreshShop()")
        return b.until(f"{BAR}.checkVisibility() && {BAR}.querySelectorAll('#bar-list > li').length === {len(problems)}")

    def paused_shop(self, good):
        b = self.browser
        self.service.call("POST", "/v1/playback/pause")
        self.that(self.wrong_shop(SHOPS["paused"]), "a paused shop has a bar")
        text = b.js("document.querySelector('#bar .headline').textContent").replace("\u202f", " ")
        self.that(text == "Paused since 2:33 PM by Till 1. 24 announcements are waiting.", f"it says since when, by whom, and how many wait ({text})")
        self.that(b.js(f"{BAR}.matches('.attention') && getComputedStyle({BAR}).backgroundColor") == "rgb(247, 198, 91)", "it is amber")
        self.that(b.js(f"{BAR}.getBoundingClientRect().left <= 0 && {BAR}.getBoundingClientRect().right >= document.documentElement.clientWidth"), "it is as wide as the window")
        self.that(b.js("document.title") == "(24) Paused – Crier", f"the title of the page says it with the count ({b.js('document.title')})")
        self.that(b.js("document.querySelector('#icon').href") != good, "the icon has another colour")
        self.that(b.js("document.querySelector('#ready').textContent === 'Paused' && document.querySelector('#ready').matches('.warn')"), "the header says the same")
        said = b.js("document.querySelector('#bar-status').textContent").replace("\u202f", " ")
        self.that(said == "Paused since 2:33 PM by Till 1", f"a screen reader hears it once ({said})")
        self.that(b.js("getComputedStyle(document.querySelector('#bar-resume')).backgroundColor !== getComputedStyle(document.querySelector('#replay')).backgroundColor"), "Resume does not look like Replay")
        self.that(self.tab_to("document.activeElement.id === 'bar-resume'"), "Tab reaches Resume")
        since = len(b.events)
        self.stand_in("/v1/shop", {"state": "good", "problems": [], "waiting": 0})
        b.press("Enter")
        self.that(self.called("POST /v1/playback/resume", since) and b.until(f"!{BAR}.checkVisibility() && document.title === 'Crier'"), "Resume resumes the player, and the bar leaves")

    def silent_shop(self, good):
        b = self.browser
        self.wrong_shop(SHOPS["silent"])
        self.that(b.js(f"{BAR}.matches('.bad')"), "a shop without its loudspeaker has a red bar")
        text = b.js("[...document.querySelectorAll('#bar .headline')].map((line) => line.textContent)")
        self.that(text[0].startswith("The loudspeaker is not connected since") and "3 announcements are waiting" in text[0] and "disk" in text[1], f"the worst comes first ({text})")
        self.that(b.js(f"{BAR}.textContent.includes('switched on and plugged in')"), "it says in words what to do")
        shown = b.js("[...document.querySelectorAll('#bar *')].filter((e) => e.checkVisibility({ contentVisibilityAuto: true }) && !e.closest('details') && /_/.test(e.textContent) && !e.children.length).map((e) => e.textContent)")
        self.that(shown == [], f"no code is shown unless somebody asks ({shown})")
        self.that("crier play --list-outputs" in b.js("document.querySelector('#bar details').textContent"), "whoever runs the service finds the command")
        self.that(b.js("document.querySelector('#bar-alert').textContent.startsWith('The loudspeaker')") and b.js("document.querySelector('#bar-alert').getAttribute('role')") == "alert", "a screen reader is interrupted by it")
        self.that(b.js("document.title").startswith("(3) The loudspeaker"), "the title of the page says it")
        self.that(b.js("document.querySelector('#icon').href") != good, "the icon is red")

    def other_problems(self):
        b = self.browser
        self.wrong_shop({"state": "attention", "waiting": 0, "problems": [{"code": "of_a_later_version", "level": "attention", "by": None, "count": None, "cause": "x", "remedy": {"text": "Do this.", "command": None}}]})
        self.that(b.until(f"{BAR}.textContent.includes('Something needs attention') && !/of_a_later/.test({BAR}.textContent + document.title)"), "a problem that the page has no words for is shown without its code")
        texts = self.texts("en-US")
        codes = "paused device_lost player_unavailable not_played queue_long push_unreachable push_refused webhook_unreachable webhook_disabled providers_invalid disk_full disk_low engine_unavailable speech_server_failing ledger_unavailable set_aside shop_silent".split()
        self.that([code for code in codes if f"shop.problem.{code}" not in texts] == [], "every problem has words")
        self.that([code for code in codes if f"shop.remedy.{code}" not in texts and code != "paused"] == [], "and a remedy")

    def changes_by_event(self):
        """Sends the event with which the service tells that the shop changed."""
        b = self.browser
        good = {"state": "good", "problems": [], "waiting": 0}
        self.stand_in("/v1/shop", good)
        bad = {"state": "bad", "waiting": 0, "problems": [{"code": "disk_full", "level": "bad", "since": None, "by": None, "count": None, "cause": None, "remedy": None}]}
        b.js(f"""window.standFetch = window.fetch;
          window.fetch = async (path, request) => {{
            if (path !== "/v1/events") return standFetch(path, request);
            const text = `event: shop\\ndata: ${{JSON.stringify({json.dumps(bad)})}}\\n\\n`;
            return new Response(new ReadableStream({{ start(stream) {{ setTimeout(() => stream.enqueue(new TextEncoder().encode(text)), 1500); }} }}));
          }}; true""")
        b.inside("follow()")
        self.that(b.until("document.title === 'The disk is full – Crier'", 6), f"an event changes what is shown ({b.js('document.title')})")
        b.js("window.fetch = standFetch; true")

    # Today

    def today(self):
        b = self.browser
        day = "2026-11-27"

        def group(kind, currency, hour, count, amount):
            return {"kind": kind, "currency": currency, "hour": f"{day}T{hour:02}:00:00+05:30", "count": count, "sum": amount, "last_at": f"{day}T{hour:02}:31:00+05:30"}

        groups = [group("received", "INR", 9, 2, "9007199254740993.10"), group("received", "INR", 14, 5, "0.20"), group("received", "KWD", 14, 1, "1.005"),
                  group("refunded", "INR", 10, 1, "30.00"), group("failed", "INR", 11, 3, "99.00")]
        self.enter_with("/v1/announcements/summary", {"from": f"{day}T00:00:00+05:30", "to": "2026-11-28T00:00:00+05:30", "time_zone": "Asia/Kolkata", "groups": groups})
        sums = "[...document.querySelectorAll('#today-sums li')].map((line) => line.textContent)"
        self.that(b.until("document.querySelector('#today').checkVisibility()"), "today is shown")
        shown = [text.replace("\xa0", " ") for text in b.js(sums)]
        self.that(shown == ["₹9,007,199,254,740,993.30", "KWD 1.005"], f"sums are exact, by currency ({shown})")
        self.that(b.js("document.querySelector('#today-count').textContent") == "8 payments", "received payments are counted")
        others = b.js("[...document.querySelectorAll('#today-others li')].map((line) => line.textContent)")
        self.that(others == ["Refunded: 1, \u2212₹30.00", "Failed: 3, ₹99.00"], f"refunds and failures are no income ({others})")
        label = b.js("document.querySelector('#today-chart').getAttribute('aria-label')").replace("\u202f", " ")
        self.that(label == "Payments by hour. 9 AM: 2, 2 PM: 6", f"the chart has a text ({label})")
        self.that(b.js("document.querySelectorAll('#today-chart rect:not(.none)').length") == 2, "and a bar for each hour with payments")
        last = b.js("document.querySelector('#today-last').textContent").replace("\u202f", " ")
        self.that(last == "Last payment 2:31 PM", f"the last payment has its time, in the shop's time zone ({last})")
        for locale in ("en-US", "hi-IN"):
            self.speak(locale)
            for scheme in ("light", "dark"):
                b.media(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
                for width, height in ((1280, 900), (390, 844)):
                    b.size(width, height)
                    b.inside("refreshToday()")
                    self.audit(f"{locale}, {scheme}, {width} px, today", width)
                    self.shot(f"{locale}-{scheme}-{width}-today")
        b.media(prefers_color_scheme="light")
        b.size(1280, 900)
        self.speak("en-US")
        self.axe("today")
        b.js("localStorage.clear()")
        self.answer_again()
        self.that(b.inside("money({ value: '0.50', currency: 'USD' })") == "$0.50" and b.inside("money({ value: '12', currency: 'JPY' })") == "¥12" and b.inside("money({ value: 'x', currency: 'USD' })") == "x USD", "amounts are written as the language writes them, and what is no amount stays as it is")

    # The list, and the page of an announcement

    def announcement(self):
        b = self.browser
        self.empty_queue()
        for name, more in (("in", {"payer": "Alice", "channel": "wechatpay", "note": "Table four"}), ("back", {"kind": "refunded"}), ("no", {"kind": "failed"})):
            self.service.call("POST", "/v1/announcements", {"id": f"row/{name} 1", "amount": "1234.50", "currency": "USD", "locale": "en-US", "deliver": ["clip", "play"], **more})
        self.enter()
        row = "[...document.querySelectorAll('#recent a')].find((link) => link.hash === '#/announcements/row%%2F%s%%201')"
        self.that(b.until(f"{row % 'in'}?.textContent.includes('heard')", 30), "the list says what was heard, and when")
        texts = {name: b.js(f"{row % name}.textContent") for name in ("in", "back", "no")}
        self.that("Alice" in texts["in"] and "WeChat Pay" in texts["in"] and "Table four" in texts["in"] and "today" in texts["in"], f"a row has the payer, the channel, the note, and the time with its day ({texts['in']})")
        self.that("$1,234.50" in texts["in"] and "\u2212$1,234.50" in texts["back"] and "Refunded" in texts["back"], f"money that was given back has a minus sign ({texts['back']})")
        look = b.js(f"['in', 'back', 'no'].map((name) => {{ const e = [...document.querySelectorAll('#recent a')].find((link) => link.hash === `#/announcements/row%2F${{name}}%201`).querySelector('.figure'); const s = getComputedStyle(e); return [s.color, s.textDecorationLine, s.textAlign]; }})")
        self.that(len({colour for colour, _, _ in look}) == 3 and look[2][1] == "line-through" and all(align == "end" for _, _, align in look), f"refunds and failures do not look like income ({look})")
        self.shot("list")
        b.js(f"{row % 'in'}.focus()")
        b.press("Enter")
        title = "document.querySelector('#announcement-title')"
        self.that(b.until(f"{title}?.textContent.includes('$1,234.50') && document.activeElement === {title}"), "Enter in a row opens the announcement's page")
        self.that(b.js("location.hash") == "#/announcements/row%2Fin%201" and b.js("document.querySelector('[aria-current=page]').hash") == "#view=shop", "it has an address of its own, and belongs to the shop")
        facts = b.js("document.querySelector('#announcement-facts').textContent")
        self.that(all(text in facts for text in ("Alice", "WeChat Pay", "Table four", "row/in 1", "American English")), f"it shows what was accepted ({facts})")
        self.that(b.until("document.querySelectorAll('#words button').length > 5"), "its clip has its words")
        b.until("sound.buffer", evaluate=b.inside)
        b.click("#play")
        self.that(b.until("document.querySelector('#play').classList.contains('playing')"), "and can be heard here")
        since = len(b.events)
        b.click("#announcement-replay")
        self.that(self.called("POST /v1/playback/replay", since), "it can be replayed in the shop")
        self.deliveries()
        b.go(f"{self.base}/?again#/announcements/row%2Fin%201")
        self.that(b.until(f"{title}?.textContent.includes('$1,234.50')"), "its address opens it in a new page")
        b.until(f"document.querySelector('#announcement-remove')?.getAttribute('aria-disabled') === null")
        b.js("document.querySelector('.announcement p > a').focus()")
        b.press("Enter")
        self.that(b.until(f"document.querySelector('#view-shop').checkVisibility() && document.activeElement === {row % 'in'}"), "the way back leads to its row")
        self.removal(row % "in")
        b.js("location.hash = '#/announcements/nobody'; true")
        self.that(b.until("document.querySelector('#announcement-problem').textContent.includes('not_found')"), "an address of no announcement says so")
        self.show("shop")

    def deliveries(self):
        """Shows what became of pushes, as the service tells it for phones that Apple was asked to reach."""
        b = self.browser
        entry = self.service.call("GET", "/v1/announcements/row%2Fin%201")
        push = {"device": "till-1", "state": "failed", "reason": "BadDeviceToken", "sequence": 1, "apns_id": None, "attempts": 1, "accepted_at": entry["accepted_at"], "finished_at": entry["accepted_at"]}
        entry["delivery"]["push"] = [push, {**push, "device": "till-2", "state": "delivered", "reason": None}]
        self.stand_in("/v1/announcements/row%2Fin%201", entry)
        b.js("location.hash = '#/announcements/row%2Fback%201'; true")
        b.until("document.querySelector('#announcement-title').textContent.includes('Refunded')")
        b.js("location.hash = '#/announcements/row%2Fin%201'; true")
        lines = "[...document.querySelectorAll('#announcement-deliveries li')].map((line) => line.textContent)"
        self.that(b.until(f"{lines}.length === 3"), "its page lists the speaker and each phone")
        told = b.js(lines)
        self.that("heard" in told[0] and "The phone's registration is not valid." in told[1] and "BadDeviceToken" not in told[1] and "accepted by APNs" in told[2], f"with the outcomes and the reasons in words ({told})")
        self.that("on 1 of 2 phones" in b.js("document.querySelector('#announcement-outcome').textContent"), "and one outcome for all")
        self.shot("announcement")
        self.stand_in("/v1/announcements?", {"announcements": [{**entry, "delivery": {"clip": {"state": "rendered"}, "play": None, "push": [push]}}], "next": None})
        self.show("shop")
        b.click("#recent-again")
        tag = "document.querySelector('#recent .tag')"
        self.that(b.until(f"{tag}.textContent === 'on 0 of 1 phone' && {tag}.matches('.bad')"), f"a push that reached no phone looks wrong ({b.js(f'{tag}.textContent')})")
        self.answer_again()

    def removal(self, row):
        b = self.browser
        b.until(f"{row}?.textContent.includes('heard')")
        b.js(f"{row}.click()")
        b.until("document.querySelector('#announcement-remove').checkVisibility()")
        remove = "document.querySelector('#announcement-remove')"
        b.until(f"{remove}.getAttribute('aria-disabled') === null")
        # The announcement cannot be removed while a replay of it has not ended.
        end = time.monotonic() + 30
        while time.monotonic() < end and (now := self.service.call("GET", "/v1/playback")) and (now["state"] != "idle" or now["waiting_count"]):
            time.sleep(0.2)
        b.js(f"{remove}.focus()")
        b.press("Enter")
        b.until(QUESTION)
        b.press("Enter")
        self.that(b.until(f"!{QUESTION}") and b.js("location.hash").startswith("#/announcements/"), "removing asks first")
        since = len(b.events)
        b.press("Enter")
        self.agree()
        self.that(self.called("DELETE /v1/announcements/*", since) and b.until("document.querySelector('#view-shop').checkVisibility()"), "it can be removed")
        self.that(b.until(f"!{row}"), "and leaves the list")

    # The first view

    def first_view(self):
        """Counts what the first view asks for, reads and weighs with 10,000 stored payments."""
        b = self.browser
        stored = 2051
        self.service.announce_many("many", 10_000 - stored)
        for locale in ("en-US", "hi-IN"):
            b.js(f"localStorage.setItem('crier.language', '{locale}'); true")
            b.go("about:blank")
            since, began = len(b.events), time.monotonic()
            self.enter_with("/v1/shop", {"state": "good", "problems": [], "waiting": 0})
            self.that(b.until("document.querySelectorAll('#recent a').length === 20", 20), f"{locale}: the list is shown")
            print(f"first view with 10,000 payments, {locale}: {time.monotonic() - began:.2f} s", flush=True)
            time.sleep(1.5)
            # The stand-in answers without a request.
            asked = ["GET /v1/shop", *(call for call in self.calls(since) if " /v1/" in call or "readyz" in call)]
            self.that(len(asked) <= 6, f"{locale}: the first view sends at most 6 requests ({asked})")
            read = [int(call.split("limit=")[1].split("&")[0]) for call in asked if "limit=" in call]
            self.that(sum(read) <= 100, f"{locale}: it reads at most 100 rows ({read})")
            size = b.js("performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation')).filter(({ name }) => !/\\/v1\\/|readyz|png$|webmanifest$/.test(name)).reduce((sum, { decodedBodySize }) => sum + decodedBodySize, 0)")
            print(f"first view, {locale}: {size} bytes", flush=True)
            self.that(0 < size <= 150_000, f"{locale}: it weighs at most 150 kB ({size})")
        b.js("localStorage.clear()")
        self.enter()

    # Rules of accessibility

    def axe(self, what):
        """Checks the rules of axe-core, if the package axe-core-python is installed."""
        b = self.browser
        found = importlib.util.find_spec("axe_core_python")
        if not found:
            if not getattr(self, "is_axe_missed", False):
                print("axe-core-python is not installed, so its rules are not checked", flush=True)
            self.is_axe_missed = True
            return
        if not b.js("Boolean(window.axe)"):
            b.js((pathlib.Path(found.origin).parent / "axe.min.js").read_text() + "; true")
        broken = b.js("axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map((node) => node.target).join(' ')))")
        self.that(broken == [], f"{what}: axe-core finds nothing ({broken})")
