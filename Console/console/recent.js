// SPDX-License-Identifier: Apache-2.0

// The account's recent announcements: the newest first, those that the filter asks for, and older ones on request.

import { dayTime, dotted, money, seconds } from "./figures.js";
import { $, fill, make, rowButton } from "./page.js";
import { replay } from "./player.js";
import { playButton } from "./preview.js";
import { showList } from "./rows.js";
import { attempt, json } from "./service.js";
import { named, t, whenLanguageChanges } from "./translations.js";

/** The number of announcements of a page, and the most that one request may ask for. */
const [PAGE, LARGEST_PAGE] = [12, 200];

/** The colour of each state's label. */
const COLOURS = { played: "good", playing: "good", failed: "bad", expired: "bad" };

/** The states after which the player can play an announcement again. */
const ENDED = ["played", "cancelled", "failed", "expired"];

/** The states that the filter offers. */
const STATES = {
  "": "recent.any_state", "accepted,rendering,waiting,playing": "recent.in_queue", played: "state.played",
  cancelled: "state.cancelled", failed: "state.failed", expired: "state.expired", rendered: "state.rendered",
};

/** The announcements that are shown, and where older ones begin. `turn` counts the requests. */
const shown = { announcements: null, next: null, turn: 0 };

/** Returns the query of the filter. A day of the filter begins and ends at midnight of the browser's time zone. */
function filter() {
  const query = new URLSearchParams();
  const [state, text] = [$("recent-state").value, $("recent-search").value.trim()];
  if (state) query.set("state", state);
  if (text) query.set("search", text);
  const midnight = (id, days) => {
    const [year, month, day] = $(id).value.split("-").map(Number);
    return year ? new Date(year, month - 1, day + days) : null;
  };
  const [from, to] = [midnight("recent-from", 0), midnight("recent-to", 1)];
  if (from) query.set("from", from.toISOString());
  if (to) query.set("to", to.toISOString());
  return query;
}

/** Asks the service for as many announcements as are shown, but for one page at least, and lists them. */
export async function refreshRecent() {
  const count = Math.max(PAGE, shown.announcements?.length ?? 0);
  await request({ limit: Math.min(count, LARGEST_PAGE) }, (answer) => {
    const older = (shown.announcements ?? []).slice(LARGEST_PAGE);
    shown.announcements = count > LARGEST_PAGE ? joined(answer.announcements, older) : answer.announcements;
    if (count <= LARGEST_PAGE) shown.next = answer.next;
  });
}

/** Asks for the next page, and adds it to the list. */
export async function showOlder() {
  const first = shown.announcements.length;
  await request({ limit: PAGE, before: shown.next }, (answer) => {
    shown.announcements = joined(shown.announcements, answer.announcements);
    shown.next = answer.next;
  });
  // The button disappears with the last page, so the focus goes to the first announcement that was added.
  if ($("recent-older").hidden) ($("recent").children[first]?.querySelector("button") ?? $("recent")).focus();
}

function joined(newer, older) {
  const ids = new Set(newer.map(({ id }) => id));
  return [...newer, ...older.filter(({ id }) => !ids.has(id))];
}

/** Begins again with one page, because the filter changed. */
export function filterRecent() {
  shown.announcements = null;
  return refreshRecent();
}

async function request(values, take) {
  const turn = ++shown.turn;
  const query = filter();
  for (const [name, value] of Object.entries(values)) query.set(name, value);
  await attempt($("recent-problem"), async () => {
    // The service reads a space as %20, not as the plus sign of forms.
    const answer = await json(`/v1/announcements?${String(query).replaceAll("+", "%20")}`);
    if (turn !== shown.turn) return;
    take(answer);
    showRecent();
  }, { isRefresh: true });
}

whenLanguageChanges(() => {
  fill($("recent-state"), Object.entries(STATES).map(([value, key]) => [value, t(key)]));
  if (shown.announcements) showRecent();
});

function showRecent() {
  showList($("recent"), shown.announcements, {
    keyOf: ({ id }) => id, create: row, none: [...filter()].length ? t("recent.none_found") : t("recent.none"),
    fallback: $("recent"),
  });
  $("recent-older").hidden = !shown.next;
}

function row(entry) {
  const { clip, delivery, locale, amount } = entry;
  const play = delivery?.play;
  const state = play?.state ?? delivery?.clip?.state ?? "not_stored";
  const name = entry.text ?? entry.id;
  const about = [
    locale, amount && money(amount), clip && seconds(clip.duration_ms),
    play && dayTime(play.accepted_at), play?.code && make("code", {}, play.code),
    // The whole id is in the tooltip, because the row may have no room for it.
    make("code", { class: "id", title: entry.id }, entry.id),
  ];
  return make("li", {},
    make("div", {},
      make("p", { class: "title", lang: locale, translate: false }, name),
      make("p", { class: "meta" }, ...dotted(about))),
    make("div", { class: "buttons" },
      make("span", { class: `tag ${COLOURS[state] ?? ""}` }, named("state", state)),
      ENDED.includes(play?.state) ? replayButton(entry.id, name) : null,
      clip ? playButton(entry, null, name) : null));
}

const replayButton = (id, name) => rowButton(t("recent.replay"), t("recent.replay_named", { name }), () => replay(id));

/** Sends the filter's changes. What is typed is sent when the person pauses. */
export function connectRecent() {
  let timer = null;
  $("recent-filter").addEventListener("submit", (event) => { event.preventDefault(); filterRecent(); });
  $("recent-filter").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(filterRecent, 250);
  });
}
