// SPDX-License-Identifier: Apache-2.0

// The account's recent announcements.

import { dayTime, dotted, money, seconds } from "./figures.js";
import { $, make } from "./page.js";
import { rememberTexts, replay } from "./player.js";
import { playButton } from "./preview.js";
import { showList } from "./rows.js";
import { attempt, json } from "./service.js";
import { named, t, whenLanguageChanges } from "./translations.js";

/** The colour of each state's label. */
const COLOURS = { played: "good", playing: "good", failed: "bad", expired: "bad" };

/** The states after which the player can play an announcement again. */
const ENDED = ["played", "cancelled", "failed", "expired"];

/** The service's last answer. */
const last = { announcements: null };

/** Asks the service for the last announcements and lists them. */
export async function refreshRecent() {
  await attempt($("recent-problem"), async () => {
    last.announcements = (await json("/v1/announcements?limit=12")).announcements;
    rememberTexts(last.announcements);
    showRecent();
  });
}

whenLanguageChanges(() => { if (last.announcements) showRecent(); });

function showRecent() {
  showList($("recent"), last.announcements, {
    keyOf: ({ id }) => id, create: row, none: t("recent.none"), fallback: $("recent-again"),
  });
}

function row(entry) {
  const { clip, delivery, locale, amount } = entry;
  const play = delivery?.play;
  const state = play?.state ?? delivery?.clip?.state ?? "not_stored";
  const name = entry.text ?? entry.id;
  const about = [
    locale, amount && money(amount), clip && seconds(clip.duration_ms),
    play && dayTime(play.accepted_at), play?.code,
    // The whole id is in the tooltip, because the row may have no room for it.
    make("span", { class: "id", title: entry.id }, entry.id),
  ];
  return make("li", {},
    make("div", {},
      make("p", { class: "title", lang: locale }, name),
      make("p", { class: "meta" }, ...dotted(about))),
    make("div", { class: "buttons" },
      make("span", { class: `tag ${COLOURS[state] ?? ""}` }, named("state", state)),
      ENDED.includes(play?.state) ? replayButton(entry.id, name) : null,
      clip ? playButton(entry, null, name) : null));
}

function replayButton(id, name) {
  const label = t("recent.replay_named", { name });
  const button = make("button", { type: "button", class: "quiet", "aria-label": label }, t("action.replay"));
  button.addEventListener("click", () => replay(id));
  return button;
}
