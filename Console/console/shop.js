// SPDX-License-Identifier: Apache-2.0

// The state of the whole shop: the pill in the header, the bar that says what is wrong and what to do, the title of the
// page, and its icon. The service decides what is wrong (`GET /v1/shop`).

import { access, whenKeyChanges } from "./access.js";
import { isConnected, lostText, whenConnected, whenConnectionChanges } from "./connection.js";
import { dayMinute } from "./figures.js";
import { $, busy, make, setText, showPill } from "./page.js";
import { refreshPlayer, whenControlled } from "./player.js";
import { refreshReadiness } from "./readiness.js";
import { Problem, attempt, call, isObsolete, isRefusal, json } from "./service.js";
import { named, t, whenLanguageChanges } from "./translations.js";

/** The colour of the icon in each state. */
const COLOURS = { good: "#0b665c", attention: "#b45f06", bad: "#b3261e" };

/** The class of the pill in each state. */
const PILLS = { good: "good", attention: "warn", bad: "bad" };

/** The problems that keep payments from being heard. The bar says with them how many wait. */
const SILENCING = ["paused", "device_lost", "player_unavailable", "not_played", "queue_long"];

/** The view in which somebody can see more of a problem. */
const VIEWS = {
  push_unreachable: "devices", push_refused: "devices", webhook_unreachable: "webhooks", webhook_disabled: "webhooks",
  providers_invalid: "providers", speech_server_failing: "voices",
};

/** The service's answer, or null. `isMissing` says that the key may not read it. `turn` counts the requests. */
const shown = { shop: null, isMissing: false, turn: 0 };

/** Asks for the shop's state. Without a key, or with one that may not read it, the readiness takes its place. */
export async function refreshShop() {
  if (!access.key || shown.isMissing) {
    if (!document.hidden) refreshReadiness();
    return;
  }
  const turn = ++shown.turn;
  try {
    const shop = await json("/v1/shop");
    if (turn === shown.turn) takeShop(shop);
  } catch (error) {
    if (isObsolete(error)) return;
    if (!(error instanceof Problem)) throw error;
    if (turn !== shown.turn || !error.status) return;
    Object.assign(shown, { shop: null, isMissing: isRefusal(error) });
    show();
    refreshReadiness();
  }
}

/** Shows the shop's state that the service sent. */
export function takeShop(shop) {
  shown.turn += 1;
  shown.shop = shop;
  show();
}

whenKeyChanges(() => {
  Object.assign(shown, { shop: null, isMissing: false, turn: shown.turn + 1 });
  show();
});

whenLanguageChanges(() => {
  show();
  if (shown.isMissing || !$("key-panel").hidden) refreshReadiness();
});
whenConnectionChanges(show);
whenConnected(() => { refreshShop(); refreshPlayer(); });
whenControlled(refreshShop);

/** Returns what is wrong, without a code: the service may tell of something that this page has no words for. */
function nameOf({ code }) {
  const name = named("shop.problem", code);
  return name === code ? t("shop.something") : name;
}

/** Returns what is wrong, since when, and who did it. */
function headline(problem) {
  const [name, { since, by }] = [nameOf(problem), problem];
  if (!since) return name;
  const values = { problem: name, time: dayMinute(since), name: by };
  return by ? t("shop.since_by", values) : t("shop.since", values);
}

function show() {
  const { shop } = shown;
  const problems = isConnected() ? shop?.problems ?? [] : [];
  const [worst] = problems;
  const state = isConnected() ? shop?.state ?? "good" : "bad";
  if (shop && isConnected()) showPill($("ready"), worst ? nameOf(worst) : t("shop.good"), PILLS[state]);
  showTitle(worst, shop?.waiting ?? 0);
  $("icon").href = $("icon").href.replace(/fill='%23[0-9a-f]{6}'/, `fill='${encodeURIComponent(COLOURS[state])}'`);
  showBar(state, problems, shop?.waiting ?? 0);
  // A screen reader says what is wrong once, and not again with each payment that waits.
  const said = isConnected() ? worst && headline(worst) : lostText();
  setText($("bar-alert"), state === "bad" && said ? said : "");
  setText($("bar-status"), state === "attention" && said ? said : "");
}

function showTitle(worst, count) {
  const values = { problem: isConnected() ? worst && nameOf(worst) : lostText(), count };
  if (!values.problem) document.title = document.querySelector("h1").textContent;
  else document.title = count && worst ? t("shop.title_count", values) : t("shop.title", values);
}

function showBar(state, problems, waiting) {
  $("bar").hidden = state === "good";
  $("bar").className = `bar ${state}`;
  // The same bar stays, so that the focus on its button stays too.
  const key = JSON.stringify([document.documentElement.lang, state, problems, waiting]);
  if ($("bar").dataset.shown === key) return;
  $("bar").dataset.shown = key;
  const hadFocus = $("bar-list").contains(document.activeElement);
  const items = isConnected() ? problems.map((problem, index) => item(problem, index ? 0 : waiting)) : [lostItem()];
  $("bar-list").replaceChildren(...items);
  if (hadFocus) ($("bar-list").querySelector("button, a") ?? $("bar")).focus();
}

const lostItem = () => make("li", {}, make("div", {},
  make("p", { class: "headline" }, lostText()), make("p", {}, t("shop.remedy.unreachable"))));

function item(problem, waiting) {
  const { code, level } = problem;
  const counts = waiting && SILENCING.includes(code) ? t("shop.waiting", { count: waiting }) : null;
  const remedy = named("shop.remedy", code);
  return make("li", { class: level },
    make("div", {},
      make("p", { class: "headline" }, [headline(problem), counts].filter(Boolean).map(sentence).join(" ")),
      remedy === code ? null : make("p", {}, remedy),
      forExperts(problem)),
    action(code));
}

/** Ends a text with a full stop, as the language writes it. */
const sentence = (text) => t("shop.sentence", { text });

/** What the service says about the problem, for whoever runs it. */
function forExperts({ remedy, cause }) {
  if (!remedy?.text && !cause) return null;
  return make("details", {},
    make("summary", {}, t("shop.experts")),
    remedy?.text ? make("p", { lang: "en" }, remedy.text) : null,
    remedy?.command ? make("code", {}, remedy.command) : null,
    cause ? make("code", {}, cause) : null);
}

function action(code) {
  if (code === "paused") {
    const button = make("button", { type: "button", id: "bar-resume", class: "primary" }, t("player.resume"));
    button.addEventListener("click", () => busy(button, resume));
    return button;
  }
  const link = document.querySelector(`#views a[href="#view=${VIEWS[code]}"]:not([hidden])`);
  return link ? make("a", { class: "button", href: link.hash }, t("providers.show")) : null;
}

async function resume() {
  await attempt($("bar-problem"), () => call("/v1/playback/resume", { method: "POST" }));
  await Promise.all([refreshShop(), refreshPlayer()]);
}
