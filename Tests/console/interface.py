# SPDX-License-Identifier: Apache-2.0
"""Checks the languages of the interface."""

import json
import time

# The texts and labels that people see or hear on the page, apart from what the service or the person provides.
SHOWN = """(() => { const out = []; const skip = "code, pre, option, h1, noscript, script, .said, .words, [translate=no], :lang(xx)";
  const own = document.documentElement.lang;
  for (const e of document.querySelectorAll("body *")) {
    if (!e.checkVisibility() || e.closest(skip) || (e.closest("[lang]") && e.closest("[lang]").lang !== own)) continue;
    const text = [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data.trim()).join(" ");
    out.push(text, e.getAttribute("aria-label") ?? "", e.getAttribute("placeholder") ?? ""); }
  return out.filter(Boolean); })()"""


class InterfaceChecks:
    """Every language is complete on the page, is chosen by the browser, and can be chosen by the person."""

    def languages(self):
        b = self.browser
        self.that(b.js("document.documentElement.lang === 'en-US' && document.querySelector('#language').value === 'en-US'"), "a browser in English gets the interface in English")
        for locale in ("en-US", "es-MX", "hi-IN", "ja-JP", "ko-KR", "zh-CN"):
            self.speak(locale)
            self.that(b.js("document.documentElement.lang") == locale and b.js("document.documentElement.dir") == "ltr", f"{locale}: the page has its language and direction")
            self.that(b.js("document.querySelector('#language').value") == locale, f"{locale}: the selector shows the language")
            forms = b.js("[...new Intl.PluralRules(document.documentElement.lang).resolvedOptions().pluralCategories].sort()")
            texts = self.texts(locale)
            wrong = [key for key, text in texts.items() if isinstance(text, dict) and sorted(text) != forms]
            self.that(not wrong, f"{locale}: every plural has the forms that the browser asks for ({wrong})")
            shown = b.js(SHOWN)
            untranslated = [text for text in shown if text in self.english(texts) or "{" in text or text in texts]
            self.that(len(shown) > 40 and not untranslated, f"{locale}: no text on the page is in English or without its values ({untranslated[:6]})")
            self.shot(f"language-{locale}")
        self.speak("hi-IN")
        b.go(self.base + "/")
        self.that(b.until("document.documentElement?.lang === 'hi-IN' && document.querySelector('#language')?.value === 'hi-IN'"), "the language that was chosen is remembered")
        b.js("localStorage.clear()")
        for browser, interface in (("zh-TW,zh", "zh-CN"), ("fr,ko-KR", "ko-KR"), ("es-ES", "es-MX"), ("fr", "en-US")):
            b.send("Emulation.setUserAgentOverride", userAgent=b.js("navigator.userAgent"), acceptLanguage=browser)
            b.go(self.base + "/")
            self.that(b.until(f"document.documentElement?.lang === '{interface}' && document.querySelector('#language')?.options.length === 6"), f"a browser in {browser} gets the interface in {interface}")
        b.send("Emulation.setUserAgentOverride", userAgent=b.js("navigator.userAgent"), acceptLanguage="en-US")
        self.enter()
        self.fill("48.05")
        self.speak("zh-CN")
        self.that(b.js("document.querySelector('#amount').value") == "48.05", "another language leaves the form as it is")
        self.speak("en-US")
        b.js("localStorage.clear()")
        self.enter()

    def english(self, texts):
        """Returns the texts in English that differ in the language of `texts`."""
        reference = self.texts("en-US")
        return {text for key, text in reference.items() if isinstance(text, str) and texts[key] != text and text not in texts.values()}

    def speak(self, locale):
        """Chooses the language of the interface, as a person does."""
        self.choose("#language", locale)
        self.browser.until(f"document.documentElement?.lang === {json.dumps(locale)}")
        time.sleep(0.4)
