// SPDX-License-Identifier: Apache-2.0

// The console: a page on which people use the service as a backend does. This module connects the controls of the page
// (index.html) to the modules in console/, and starts the console.

import { connectDialog } from "./console/dialog.js";
import { $, busy, fill, onClick } from "./console/page.js";
import { advance, pauseOrResume, refreshPlayer, replay, skip } from "./console/player.js";
import { showAllWaiting } from "./console/queue.js";
import { connectRecent, refreshRecent, showOlder } from "./console/recent.js";
import { addressChanged, begin, declineKey, pause, resume, signOut, useTypedKey } from "./console/session.js";
import { refreshShop } from "./console/shop.js";
import { connectSpeaker } from "./console/speaker.js";
import { refreshToday } from "./console/today.js";
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

function connectPlayer() {
  onClick("pause", pauseOrResume);
  onClick("skip", skip);
  onClick("replay", () => replay());
  onClick("recent-again", () => { refreshRecent(); refreshToday(); });
  onClick("recent-older", () => busy($("recent-older"), showOlder));
  onClick("waiting-all", () => { showAllWaiting(); refreshPlayer(); });
  connectRecent();
  connectSpeaker();
}

function keepFresh() {
  setInterval(advance, 200);
  setInterval(() => {
    if (document.hidden) return;
    refreshShop();
    refreshPlayer();
  }, 15000);
  // The title and the icon of a tab in the background say what is wrong, too.
  setInterval(() => { if (document.hidden) refreshShop(); }, 60000);
  // The sums begin again at midnight.
  setInterval(() => { if (!document.hidden) refreshToday(); }, 300000);
}

await startInterface();
connectLanguages();
connectKeyPanel();
connectPlayer();
connectDialog();
keepFresh();
begin();
