// SPDX-License-Identifier: Apache-2.0

// The page of one announcement: what was accepted, what became of it, its clip, and what can be done with it. Its
// address is `#/announcements/ID`.

import { access, whenKeyChanges } from "./access.js";
import { ask } from "./dialog.js";
import { channelName, dayTime, signedMoney } from "./figures.js";
import { kindIcon } from "./icons.js";
import { outcome } from "./outcomes.js";
import { $, allow, busy, buttons, make, onClick, setText, tag } from "./page.js";
import { hasSpeaker, replay } from "./player.js";
import { connectPreview, preview } from "./preview.js";
import { refreshRecent } from "./recent.js";
import { attempt, call, json, showProblem } from "./service.js";
import { toast } from "./toast.js";
import { refreshToday } from "./today.js";
import { languageName, named, t, whenLanguageChanges } from "./translations.js";
import { addressOf, announcementOf, currentView } from "./views.js";

export { announcementMarkup as markup } from "./markup.js";

/** The colour of each state of a push. */
const COLOURS = { delivered: "good", on_phone: "good", failed: "bad", expired: "bad", unregistered: "bad" };

/** The states in which the player has ended, so that the announcement can be played, or removed. */
const ENDED = ["played", "failed", "expired", "quiet"];

/** The announcement that is shown, and the requests. */
const shown = { entry: null, turn: 0 };

/** Asks for the announcement that the address names, and shows it. */
export async function refresh() {
  const id = announcementOf(location.hash);
  const turn = ++shown.turn;
  if (shown.entry?.id !== id) clear();
  if (!access.key || id === null) return;
  await preview.moveTo($("announcement-preview"));
  await attempt($("announcement-problem"), async () => {
    const entry = await json(`/v1/announcements/${encodeURIComponent(id)}`);
    if (turn !== shown.turn || announcementOf(location.hash) !== id) return;
    const isNew = shown.entry?.id !== id;
    shown.entry = entry;
    show();
    if (!isNew) return;
    $("announcement-title").focus();
    if (entry.clip) await preview.show(entry);
  }, { isRefresh: Boolean(shown.entry) });
}

function clear() {
  shown.entry = null;
  preview.clear();
  for (const part of ["announcement-facts", "announcement-deliveries", "announcement-title"]) $(part).replaceChildren();
  setText($("announcement-words"), "");
  setText($("announcement-outcome"), "");
  showProblem($("announcement-refusal"), null);
  $("announcement-parts").hidden = true;
}

whenKeyChanges(() => { shown.turn += 1; clear(); });
whenLanguageChanges(() => { if (shown.entry) show(); });

function show() {
  const { entry } = shown;
  const { amount, kind, locale, delivery } = entry;
  $("announcement-parts").hidden = false;
  $("preview-card").hidden = !entry.clip;
  $("announcement-title").replaceChildren(
    kindIcon(kind ?? "text"),
    make("span", {}, kind ? named("kind", kind) : t("kind.text")),
    amount ? make("strong", { class: `figure kind-${kind}`, translate: false }, signedMoney(kind, amount)) : "");
  setText($("preview-title"), t("announcement.sound"));
  // The words are above the waveform, if there is one.
  setText($("announcement-words"), entry.clip ? "" : entry.text ?? "");
  $("announcement-words").lang = locale ?? "";
  const [text, colour] = outcome(entry);
  setText($("announcement-outcome"), text);
  $("announcement-outcome").className = `tag ${colour}`;
  showFacts(entry);
  const rows = [...(delivery?.play ? [played(delivery.play)] : []), ...(delivery?.push ?? []).map(pushed)];
  const none = make("li", { class: "none" }, t("announcement.no_deliveries"));
  $("announcement-deliveries").replaceChildren(...(rows.length ? rows : [none]));
  $("announcement-replay").hidden = !hasSpeaker() || !ENDED.includes(delivery?.play?.state);
  allow($("announcement-remove"), !delivery?.play || ENDED.includes(delivery.play.state) || delivery.play.state === "cancelled");
}

function showFacts(entry) {
  const facts = [
    ["announcement.accepted", dayTime(entry.accepted_at ?? entry.delivery?.play?.accepted_at)],
    ["announcement.occurred", dayTime(entry.occurred_at)],
    ["announcement.refund_of", entry.refund_of && make("a", { href: addressOf(entry.refund_of) }, entry.refund_of)],
    ["form.payer", entry.payer],
    ["form.channel", entry.channel && channelName(entry.channel)],
    ["form.note", entry.note],
    ["form.language", entry.locale && languageName(entry.locale)],
    ["announcement.id", entry.id],
  ].filter(([, value]) => value);
  $("announcement-facts").replaceChildren(...facts.map(([key, value]) =>
    make("div", {}, make("dt", {}, t(key)), make("dd", { translate: false }, value))));
}

/** Makes the line of a delivery: where, what became of it and when, and why. */
function line(where, [state, colour], time, reason) {
  return make("li", {},
    make("div", {},
      make("p", { class: "title" }, where),
      reason ? make("p", { class: "meta" }, named("reason", reason)) : null,
      make("p", { class: "meta" }, dayTime(time))),
    buttons(tag(colour, state)));
}

const played = (play) =>
  line(t("player.title"), outcome({ delivery: { play } }), play.finished_at ?? play.accepted_at, play.code);

/** Makes the line of a push. What the phone itself said comes after what APNs said. */
function pushed(push) {
  const state = push.handed_over_at ? "on_phone" : push.state;
  return line(t("announcement.phone", { id: push.device }), [named("pushes.state", state), COLOURS[state] ?? ""],
    push.handed_over_at ?? push.finished_at ?? push.accepted_at, push.reason);
}

/** Removes the announcement and its clip from the service, after a question. */
async function remove() {
  const { entry } = shown;
  const isAgreed = await ask({
    title: t("announcement.ask"), about: t("announcement.ask_about"), yes: t("announcement.remove"),
    no: t("queue.ask_no"),
  });
  if (!isAgreed) return;
  const isDone = await attempt($("announcement-refusal"), () =>
    call(`/v1/announcements/${encodeURIComponent(entry.id)}`, { method: "DELETE" }));
  if (!isDone) return;
  refreshRecent();
  refreshToday();
  if (currentView() === "announcement") location.hash = "view=shop";
}

async function playAgain() {
  if (!(await replay(shown.entry.id, $("announcement-refusal")))) return;
  toast(t("announcement.replayed"));
  await refresh();
}

/** Connects the controls of the view. */
export function connect() {
  connectPreview();
  onClick("announcement-remove", () => busy($("announcement-remove"), remove));
  onClick("announcement-replay", () => busy($("announcement-replay"), playAgain));

  // Going back to the list returns to the row that led here.
  addEventListener("hashchange", ({ oldURL }) => {
    const id = announcementOf(new URL(oldURL).hash);
    if (id === null || currentView() !== "shop") return;
    [...$("recent").querySelectorAll("a")].find((link) => link.hash === addressOf(id))?.focus();
  });
}
