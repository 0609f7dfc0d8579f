// SPDX-License-Identifier: Apache-2.0

// The account's recent announcements.

import { clockTime, dotted, seconds } from "./figures.js";
import { $, make } from "./page.js";
import { rememberTexts, replay } from "./player.js";
import { playButton } from "./preview.js";
import { showList } from "./rows.js";
import { attempt, json } from "./service.js";

/** The colour of each state's label. */
const COLOURS = { played: "good", playing: "good", failed: "bad", expired: "bad" };

/** The states after which the player can play an announcement again. */
const ENDED = ["played", "cancelled", "failed", "expired"];

/** Asks the service for the last announcements and lists them. */
export async function refreshRecent() {
  await attempt($("recent-problem"), async () => {
    const { announcements } = await json("/v1/announcements?limit=12");
    rememberTexts(announcements);
    showList($("recent"), announcements, {
      keyOf: ({ id }) => id, create: row, none: "No announcements yet.", fallback: $("recent-again"),
    });
  });
}

function row(entry) {
  const { clip, delivery, locale, amount } = entry;
  const play = delivery?.play;
  const state = play?.state ?? delivery?.clip?.state ?? "not stored";
  const name = entry.text ?? entry.id;
  const about = [
    locale, amount && `${amount.value} ${amount.currency}`, clip && seconds(clip.duration_ms),
    play && clockTime(play.accepted_at), play?.code,
    // The whole id is in the tooltip, because the row may have no room for it.
    make("span", { class: "id", title: entry.id }, entry.id),
  ];
  return make("li", {},
    make("div", {},
      make("p", { class: "title", lang: locale }, name),
      make("p", { class: "meta" }, ...dotted(about))),
    make("div", { class: "buttons" },
      make("span", { class: `tag ${COLOURS[state] ?? ""}` }, state),
      ENDED.includes(play?.state) ? replayButton(entry.id, name) : null,
      clip ? playButton(entry, null, name) : null));
}

function replayButton(id, name) {
  const label = `Replay on the shop's speaker: ${name}`;
  const button = make("button", { type: "button", class: "quiet", "aria-label": label }, "Replay");
  button.addEventListener("click", () => replay(id));
  return button;
}
