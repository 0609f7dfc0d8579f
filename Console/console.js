// SPDX-License-Identifier: Apache-2.0

// The console: a page on which people use the service as a backend does. This module connects the controls of the page
// (index.html) to the modules in console/, and starts the console.

import { connectBatches } from "./console/batches.js";
import { connectClips } from "./console/clips.js";
import { copyCurl } from "./console/curl.js";
import { connectDevices } from "./console/devices.js";
import { connectDialog } from "./console/dialog.js";
import { announce, hear, hearEverywhere, isText } from "./console/form.js";
import { connectKeys } from "./console/keys.js";
import { channelChanged, languageChanged, markChanged } from "./console/languages.js";
import { $, busy, fill, onClick } from "./console/page.js";
import { advance, pauseOrResume, refreshPlayer, replay, skip } from "./console/player.js";
import { preview } from "./console/preview.js";
import { connectProviders } from "./console/providers.js";
import { refreshReadiness } from "./console/readiness.js";
import { connectRecent, refreshRecent, showOlder } from "./console/recent.js";
import { connectRecorder } from "./console/recorder.js";
import { forgetUnanswered } from "./console/sending.js";
import { addressChanged, begin, declineKey, pause, resume, signOut, useTypedKey } from "./console/session.js";
import { sound } from "./console/sound.js";
import { connectSpeaker } from "./console/speaker.js";
import { LANGUAGES, chooseLanguage, interfaceLocale, ownName, startInterface } from "./console/translations.js";

function connectLanguages() {
  fill($("language"), LANGUAGES.map((locale) => [locale, ownName(locale.split("-")[0])]));
  for (const option of $("language").options) option.lang = option.value;
  $("language").value = interfaceLocale();
  $("language").addEventListener("change", () => chooseLanguage($("language").value));
}

function connectKeyPanel() {
  $("key-form").addEventListener("submit", (event) => {
    event.preventDefault();
    useTypedKey();
  });
  onClick("key-forget", () => signOut());
  onClick("key-keep", declineKey);
  addEventListener("hashchange", addressChanged);
  // A page that the browser keeps for its back button must not keep its connections.
  addEventListener("pagehide", pause);
  addEventListener("pageshow", ({ persisted }) => { if (persisted) resume(); });
}

function connectForm() {
  $("form").addEventListener("submit", (event) => {
    event.preventDefault();
    busy($("hear"), hear);
  });
  onClick("everywhere", () => busy($("everywhere"), hearEverywhere));
  onClick("announce", () => busy($("announce"), announce));
  $("form").addEventListener("input", ({ target }) => {
    forgetUnanswered();
    markChanged(target.id);
    target.removeAttribute("aria-invalid");
  });
  $("currency").addEventListener("change", ({ target }) => { target.value = target.value.trim().toUpperCase(); });
  $("locale").addEventListener("change", languageChanged);
  $("channel").addEventListener("change", channelChanged);
  for (const choice of ["what-payment", "what-text"]) {
    $(choice).addEventListener("change", () => {
      $("payment-fields").hidden = isText();
      $("text-fields").hidden = !isText();
    });
  }
}

function connectPreview() {
  onClick("play", () => preview.toggle());
  onClick("copy", () => copyCurl(preview.sent));
  $("wave").addEventListener("click", (event) => {
    const frame = $("wave").getBoundingClientRect();
    preview.seek(((event.clientX - frame.left) / frame.width) * preview.duration, true);
  });
  $("wave").addEventListener("keydown", (event) => {
    const [back, forward] = [sound.position - 0.2, sound.position + 0.2];
    const moves = {
      ArrowLeft: back, ArrowDown: back, ArrowRight: forward, ArrowUp: forward, Home: 0, End: preview.duration,
    };
    if (event.key === " " || event.key === "Enter") preview.toggle();
    else if (event.key in moves && !event.ctrlKey && !event.altKey && !event.metaKey) preview.seek(moves[event.key]);
    else return;
    event.preventDefault();
  });
  new ResizeObserver(() => preview.layOut()).observe($("wave"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => preview.draw());
}

function connectPlayer() {
  onClick("pause", pauseOrResume);
  onClick("skip", skip);
  onClick("replay", () => replay());
  onClick("recent-again", refreshRecent);
  onClick("recent-older", () => busy($("recent-older"), showOlder));
  connectRecent();
  connectSpeaker();
}

function keepFresh() {
  setInterval(advance, 200);
  setInterval(() => {
    if (document.hidden) return;
    refreshReadiness();
    refreshPlayer();
  }, 15000);
}

await startInterface();
connectLanguages();
connectKeyPanel();
connectForm();
connectPreview();
connectPlayer();
connectDialog();
connectBatches();
connectClips();
connectRecorder();
connectDevices();
connectProviders();
connectKeys();
keepFresh();
begin();
