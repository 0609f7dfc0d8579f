// SPDX-License-Identifier: Apache-2.0

// What waits for the shop's speaker. Cancelling asks first, and can be undone for some seconds.

import { ask, dismiss } from "./dialog.js";
import { clockTime, meta } from "./figures.js";
import { $, buttons, make, rowButton, setText } from "./page.js";
import { control, pathOf, replay } from "./player.js";
import { showList } from "./rows.js";
import { named, t } from "./translations.js";

/** How long an action can be undone here, in milliseconds. The service restores for longer than this. */
const [OFFERED, OFFERED_AT_MOST] = [10000, 40000];

/** The number of waiting announcements that are shown before somebody asks for all. */
const SHOWN = 6;

/** Whether somebody asked for all of them. */
let showsAll = false;

/** The actions that can be undone: `{ id, text, action, undo }`. */
let offers = [];

/** The number of the entry that the person is asked about. */
let asked = null;

/** Returns the words of an entry, or what it is if the key may not read its words. */
export function wordsOf(entry) {
  if (entry.text) return entry.text;
  return entry.id ? named("category", entry.category) : t("queue.foreign");
}

/** Shows the waiting announcements of the player's answer. */
export function showQueue({ waiting, waiting_count: count, elsewhere }) {
  setText($("waiting-title"), title(count, waiting.length));
  setText($("elsewhere"), elsewhere.map(waitsElsewhere).join(" "));
  const isLong = waiting.length > SHOWN;
  $("waiting-all").hidden = !isLong || showsAll;
  setText($("waiting-all"), t("queue.show_all", { count: waiting.length }));
  showList($("waiting"), isLong && !showsAll ? waiting.slice(0, SHOWN) : waiting, {
    keyOf: ({ number }) => number, create: row, none: t("queue.empty"), fallback: $("waiting-title"),
    staysInList: false,
  });
  // The question is about an announcement that waits. It ends when the announcement is played, or is gone.
  if (asked !== null && !waiting.some(({ number }) => number === asked)) dismiss();
}

function title(count, shown) {
  if (!count) return t("queue.title");
  return count > shown ? t("queue.title_some", { count, shown }) : t("queue.title_count", { count });
}

const waitsElsewhere = ({ lane, waiting_count: count, played }) =>
  (played ? t("queue.elsewhere", { count, lane }) : t("queue.elsewhere_unplayed", { count, lane }));

function row(entry) {
  // The account that asked for a replay sees when it was accepted, and cancels it by its number.
  const isOurs = entry.id || (entry.replay && entry.accepted_at);
  const label = t("queue.cancel_number", { number: entry.number });
  const about = [
    t("queue.number", { number: entry.number }), named("category", entry.category), entry.replay && t("queue.replay"),
    clockTime(entry.accepted_at),
  ];
  return make("li", {},
    make("div", {},
      make("p", { class: "title", lang: entry.locale ?? "", translate: false }, wordsOf(entry)),
      meta(about)),
    buttons(isOurs ? rowButton(t("action.cancel"), label, () => cancel(entry)) : null));
}

/** Asks, and cancels. The focus then moves to the list's heading, so that a second press cancels nothing. */
async function cancel(entry) {
  asked = entry.number;
  const isAgreed = await ask({
    title: t("queue.ask"), about: wordsOf(entry), yes: t("queue.ask_yes"), no: t("queue.ask_no"),
    lang: entry.locale ?? "",
  });
  asked = null;
  if (!isAgreed) return;
  $("waiting-title").focus();
  if (!(await control(pathOf(entry), "DELETE")) || !entry.id) return;
  const undo = entry.replay
    ? () => replay(entry.id)
    : () => control("/v1/playback/restore", "POST", JSON.stringify({ id: entry.id }));
  offer({ text: t("queue.cancelled", { text: wordsOf(entry) }), action: t("action.undo"), undo });
}

/** Offers for some seconds to undo what was done. */
export function offer({ text, action, undo }) {
  const entry = { id: crypto.getRandomValues(new Uint32Array(1))[0], text, action };
  Object.defineProperty(entry, "undo", { value: undo });
  offers.push(entry);
  showOffers();
  const until = performance.now() + OFFERED_AT_MOST;
  const end = () => {
    const button = document.querySelector(`#undoable [data-key="${entry.id}"] button`);
    // It stays while the person is about to use it.
    const isInUse = button?.matches(":focus, :hover") && performance.now() < until;
    if (isInUse) setTimeout(end, 1000);
    else withdraw(entry);
  };
  setTimeout(end, OFFERED);
}

/** Shows all announcements that the service lists. */
export function showAllWaiting() {
  showsAll = true;
  $("waiting-title").focus();
  $("waiting-all").hidden = true;
}

/** Forgets what waits, and what could be undone. */
export function clearQueue() {
  offers = [];
  showsAll = false;
  $("waiting-all").hidden = true;
  showOffers();
  $("waiting").replaceChildren();
  setText($("waiting-title"), t("queue.title"));
  setText($("elsewhere"), "");
}

function withdraw(entry) {
  offers = offers.filter((other) => other !== entry);
  showOffers();
}

function showOffers() {
  showList($("undoable"), offers, {
    keyOf: ({ id }) => id, create: offerRow, fallback: $("waiting-title"), staysInList: false,
  });
}

function offerRow(entry) {
  const undo = async () => {
    $("waiting-title").focus();
    if (await entry.undo()) withdraw(entry);
  };
  return make("li", {},
    make("p", { translate: false }, entry.text),
    rowButton(entry.action, `${entry.action}: ${entry.text}`, undo));
}
