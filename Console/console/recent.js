// SPDX-License-Identifier: Apache-2.0

// The account's recent announcements: the newest first, those that the filter asks for, and older ones on request.

import { access, whenKeyChanges } from "./access.js";
import { channelName, dotted, namedDay, signedMoney } from "./figures.js";
import { kindIcon } from "./icons.js";
import { outcome } from "./outcomes.js";
import { $, fill, make, setText, tag } from "./page.js";
import { showList } from "./rows.js";
import { attempt, json, showProblem } from "./service.js";
import { named, t, whenLanguageChanges } from "./translations.js";
import { addressOf } from "./views.js";

/** The number of announcements of a page, and the most that one request may ask for. */
const [PAGE, LARGEST_PAGE] = [20, 200];

/** The states that the filter offers. */
const STATES = {
  "": "recent.any_state", "accepted,rendering,waiting,playing": "recent.in_queue", played: "recent.heard",
  "failed,expired": "recent.not_heard", quiet: "outcome.quiet", cancelled: "recent.cancelled", rendered: "recent.not_for_shop",
};

/** What the ids of tests of providers' endpoints contain. */
const TEST = "crier-test-";

/** The most requests that one search sends by itself. The service reads about 500 announcements for each. */
const MOST_REQUESTS = 20;

/**
 * The announcements that match `query`, null until the first answer, and where older ones begin. `hasSearchedOn` says
 * whether the last search for older ones found none. `turn` counts the filter's changes, `last` ends with the last
 * request, and `refreshing` is the refresh that waits for its turn.
 */
const shown = {
  query: "", announcements: null, next: null, hasSearchedOn: false, turn: 0, last: Promise.resolve(), refreshing: null,
};

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
  // The service reads a space as %20, not as the plus sign of forms.
  return String(query).replaceAll("+", "%20");
}

/** Lists the announcements again that are shown, with new ones at the top. What a search or Older found stays. */
export function refreshRecent() {
  if (!access.key) return Promise.resolve();
  shown.refreshing ??= inTurn(async (turn) => {
    shown.refreshing = null;
    const before = shown.announcements ?? [];
    const oldest = before.at(-1)?.id;
    const wanted = Math.max(PAGE, before.length);
    // The first page keeps its length. A list that became very long loses its end, and Older shows that again.
    const isCut = !oldest || (!shown.query && before.length <= PAGE) || before.length >= LARGEST_PAGE;
    const placeOfOldest = (list) => list.findIndex(({ id }) => id === oldest);
    const { found, next } = await search(turn, {
      limit: Math.min(LARGEST_PAGE, isCut ? wanted : wanted + PAGE), before: null,
      // A search that found nothing yet looks at the newest announcements only. Older continues where the search ended.
      most: shown.next && !oldest ? 1 : MOST_REQUESTS,
      isEnough: (list) => placeOfOldest(list) >= 0 || (isCut && list.length >= (oldest ? wanted : 1)),
    });
    if (turn !== shown.turn) return;
    const place = placeOfOldest(found);
    if (!next || (isCut && found.length >= (oldest ? wanted : 1))) {
      Object.assign(shown, { announcements: found, next });
    } else if (place >= 0) {
      shown.announcements = shown.next ? found.slice(0, place + 1) : found;
    } else {
      // The requests did not reach the oldest announcement that is shown, so what follows them stays.
      const end = before.findIndex(({ id }) => id === found.at(-1)?.id);
      shown.announcements = joined(found, before.slice(end + 1));
      shown.next ??= oldest ? null : next;
    }
    if (!shown.next) shown.hasSearchedOn = false;
    showRecent();
  });
  return shown.refreshing;
}

/** Asks for the next page, and adds it to the list. */
export function showOlder() {
  return inTurn(async (turn) => {
    if (!shown.next) return;
    const first = shown.announcements.length;
    setText($("recent-note"), t("recent.searching"));
    try {
      const { found, next } = await search(turn, {
        limit: PAGE, before: shown.next, most: MOST_REQUESTS, isEnough: ({ length }) => length > 0,
      });
      if (turn !== shown.turn) return;
      const announcements = joined(shown.announcements, found);
      Object.assign(shown, { announcements, next, hasSearchedOn: Boolean(next) && found.length === 0 });
      showRecent();
    } finally {
      showNote();
    }
    // The button disappears with the last page, so the focus goes to the first announcement that was added.
    if ($("recent-older").hidden) ($("recent").children[first]?.querySelector("a") ?? $("recent")).focus();
  });
}

/** Begins again with one page, because the filter changed. */
export function filterRecent() {
  begin();
  return refreshRecent();
}

function begin() {
  Object.assign(shown, {
    query: filter(), announcements: null, next: null, hasSearchedOn: false, turn: shown.turn + 1,
    last: Promise.resolve(), refreshing: null,
  });
  $("recent-older").hidden = true;
  showNote();
}

whenKeyChanges(() => {
  $("recent-filter").reset();
  begin();
  $("recent").replaceChildren();
  showProblem($("recent-problem"), null);
});

/** Runs work after the requests that were sent before, so that no answer replaces a newer one. */
function inTurn(work) {
  const { turn } = shown;
  const result = shown.last.then(async () => {
    if (turn !== shown.turn) return;
    await attempt($("recent-problem"), () => work(turn), { isRefresh: true });
    // Without an answer, announcements of the former filter would look like matches of the new one.
    if (turn === shown.turn && !shown.announcements) $("recent").replaceChildren();
  });
  shown.last = result.catch(() => {});
  return result;
}

/**
 * Asks for announcements from a cursor on, until `isEnough` is true for them, there are no more, or the page has sent
 * `most` requests. The service ends a page after about 500 announcements, even if none of them matches.
 */
async function search(turn, { limit, before, most, isEnough }) {
  const found = [];
  let next = before;
  for (let requests = 0; requests < most && turn === shown.turn; requests++) {
    const query = [shown.query, `limit=${limit}`, next && `before=${encodeURIComponent(next)}`].filter(Boolean);
    const answer = await json(`/v1/announcements?${query.join("&")}`);
    found.push(...answer.announcements);
    next = answer.next;
    if (!next || isEnough(found)) break;
  }
  return { found, next };
}

function joined(newer, older) {
  const ids = new Set(newer.map(({ id }) => id));
  return [...newer, ...older.filter(({ id }) => !ids.has(id))];
}

whenLanguageChanges(() => {
  fill($("recent-state"), Object.entries(STATES).map(([value, key]) => [value, t(key)]));
  if (shown.announcements) showRecent();
});

function showRecent() {
  const none = shown.query ? t("recent.none_found") : t("recent.none");
  showList($("recent"), shown.announcements, {
    keyOf: ({ id }) => id, create: row, none: shown.next ? t("recent.none_yet") : none, fallback: $("recent"),
  });
  $("recent-older").hidden = !shown.next;
  showNote();
}

/** Says below the list that the last search for older announcements found none. An empty list says it itself. */
function showNote() {
  setText($("recent-note"), shown.hasSearchedOn && shown.announcements?.length ? t("recent.none_yet") : "");
}

/** Makes a row, which leads to the page of the announcement. Only received money looks like income. */
function row(entry) {
  const { id, locale, amount, kind } = entry;
  const play = entry.delivery?.play;
  const [text, colour] = outcome(entry);
  const isPayment = Boolean(amount);
  const words = entry.text ?? id;
  // The first of the names is the title. An announcement of an earlier version has its words only.
  const names = [entry.payer, entry.channel && channelName(entry.channel), kind && named("kind", kind)].filter(Boolean);
  const [title, ...others] = isPayment ? names : [];
  const about = [id.includes(TEST) && t("recent.test"), ...others.reverse(), namedDay(entry.accepted_at ?? play?.accepted_at), entry.note];
  return make("li", {},
    make("a", { class: "entry", href: addressOf(id), title: words },
      kindIcon(kind ?? (isPayment ? "received" : "text")),
      make("span", { class: "who" },
        make("span", { class: "title", lang: title ? "" : locale, translate: false }, title || words),
        make("span", { class: "meta" }, ...dotted(about))),
      tag(colour, text),
      make("span", { class: `figure kind-${kind}`, translate: false }, isPayment ? signedMoney(kind, amount) : "")));
}

/** Sends the filter's changes. What is typed is sent when the person pauses. */
export function connectRecent() {
  let timer = null;
  $("recent-filter").addEventListener("submit", (event) => { event.preventDefault(); filterRecent(); });
  $("recent-filter").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(filterRecent, 250);
  });
}
